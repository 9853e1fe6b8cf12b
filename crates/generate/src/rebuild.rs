//! Makes a program of the changed parts of another.

use teetotal_program::Loc;
use teetotal_program::ir::{Builder, Program, ProgramError, ThreadBuilder, ThreadCode};

/// `program` as its public fields now say, checked, and with everything that follows from them computed again.
pub fn rebuild(program: &Program) -> Result<Program, ProgramError> {
    let mut p = Builder::new(&program.name);
    for source in &program.sources {
        p.source(&source.name, source.text.as_deref());
    }
    declare_locations(&mut p, program);
    for thread in &program.threads {
        let body = |t: &mut ThreadBuilder<'_>| copy_thread(t, thread);
        if thread.starts {
            p.thread(&thread.name, body)
        } else {
            p.spawned(&thread.name, body)
        };
    }
    if program.quotes_source {
        p.quote_source();
    }
    if program.forgets {
        p.forget_registers();
    }
    p.read_with(program.read_with.clone());
    p.observe(program.observed.iter().copied());
    if let Some(condition) = &program.condition {
        p.condition(condition.clone());
    }
    if let Some(filter) = &program.filter {
        p.filter(filter.clone());
    }
    if program.names_addresses {
        p.name_addresses();
    }
    p.build()
}

fn declare_locations(p: &mut Builder, program: &Program) {
    let mut at = 0;
    while let Some(location) = program.locations.get(at) {
        if location.element.is_none() {
            p.shared_as(&location.name, location.ty, location.initial);
            at += 1;
            continue;
        }
        let array =
            program.locations[at..].iter().zip(0..).take_while(|(info, element)| info.element == Some(*element));
        let initial: Vec<_> = array.map(|(info, _)| info.initial).collect();
        let name = location.name.strip_suffix("[0]").unwrap_or(&location.name);
        let array = p.array_as(name, location.ty, &initial);
        assert_eq!(array.base, Loc::at(at), "an array begins with its element 0");
        at += initial.len().max(1);
    }
}

fn copy_thread(t: &mut ThreadBuilder<'_>, thread: &ThreadCode) {
    for register in &thread.registers {
        let reg = if register.temporary { t.temporary() } else { t.reg(&register.name) };
        t.initial(reg, register.initial);
    }
    // Label number n stands before instruction n, so that targets are labels and labels are targets.
    let labels: Vec<_> = (0..=thread.code.len()).map(|_| t.label()).collect();
    let mut at = 0;
    while at < thread.code.len() {
        let rest = &thread.places[at + 1..];
        let end = at + 1 + rest.iter().take_while(|place| place.exclusive).count();
        let stretch = |t: &mut ThreadBuilder<'_>| {
            for (index, &label) in labels.iter().enumerate().take(end).skip(at) {
                t.place(label);
                t.at(thread.places[index].span);
                if thread.places[index].may_rest {
                    t.may_rest();
                }
                t.push(thread.code[index].clone());
            }
        };
        if end > at + 1 {
            t.exclusive(stretch)
        } else {
            stretch(t)
        }
        at = end;
    }
    t.place(labels[thread.code.len()]);
}
