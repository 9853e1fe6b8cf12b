//! Findings in words.

use std::sync::Arc;

use teetotal_judge::Finding;
use teetotal_judge::races::DataRace;
use teetotal_memory::Trace;
use teetotal_program::condition::Term;
use teetotal_program::ir::{Expr, Instruction, Program, printer};
use teetotal_program::{Failure, Reg, ThreadId};

use crate::aftermath::Aftermath;
use crate::robustness;
use crate::words;

/// Describes a finding: the violation in the first line, and the reasons in further, indented lines.
pub(crate) fn describe(program: &Arc<Program>, finding: &Finding, trace: &Trace) -> Vec<String> {
    let after = Aftermath::new(program, trace);
    match finding {
        Finding::Failure { thread, failure } => failed(program, *thread, *failure, &after),
        Finding::Deadlock { blocked } => deadlock(program, blocked, &after),
        Finding::Condition => condition(program, &after),
        Finding::Race(race) => data_race(program, race),
        Finding::NotRobust(delay) => robustness::not_robust(program, delay),
    }
}

fn failed(program: &Program, thread: ThreadId, failure: Failure, after: &Aftermath<'_>) -> Vec<String> {
    let code = &program.threads[thread.index()];
    let at = failure.instruction() as usize;
    let what = match failure {
        Failure::Assertion { .. } => "assertion failed",
        Failure::DivisionByZero { .. } => "division by zero",
        Failure::BadAddress { .. } => "invalid address",
        Failure::BadIndex { .. } => "index past the end of an array",
        Failure::NotHolder { .. } => "unlock without holding the lock",
        Failure::AlreadyStarted { .. } => "spawn of a thread that is already running",
        Failure::EndlessLoop { .. } => "endless loop",
        Failure::Panic { .. } => "panic",
        Failure::Race { .. } => "data race",
    };
    let mut first = format!("{what} in {}", code.name);
    let mut statement = code.code.get(at).map_or_else(String::new, |_| printer::shown(program, thread, at, None));
    if let Some(Instruction::Assert { message, .. }) = code.code.get(at)
        && !message.is_empty()
    {
        first.push_str(&format!(": {message}"));
        let quoted = format!(" \"{message}\"");
        statement.truncate(statement.strip_suffix(&quoted).unwrap_or(&statement).len());
    }
    let registers = code
        .code
        .get(at)
        .map_or_else(Vec::new, registers_in)
        .into_iter()
        .filter(|reg| !(program.quotes_source && code.registers[reg.index()].temporary))
        .map(|reg| (program.register_name(thread, reg), Term::Register(thread, reg), after.register(thread, reg)))
        .map(|(name, term, value)| format!("{name} = {}", program.show_value(term, value)));
    let values = words::list(&registers.collect::<Vec<_>>());
    let mut lines = vec![first];
    lines.push(if values.is_empty() {
        format!("  at `{statement}`")
    } else {
        format!("  at `{statement}`, where {values}")
    });
    lines.extend(words::place(program, thread, at).map(|place| format!("  --> {place}")));
    lines
}

/// Returns the registers that an instruction reads, each once.
fn registers_in(instruction: &Instruction) -> Vec<Reg> {
    let mut registers = Vec::new();
    instruction.expressions(|expr| {
        expr.walk(&mut |part| match part {
            Expr::Reg(reg) if !registers.contains(reg) => registers.push(*reg),
            _ => {}
        });
    });
    registers
}

fn deadlock(program: &Program, blocked: &[ThreadId], after: &Aftermath<'_>) -> Vec<String> {
    let name = |thread: ThreadId| program.threads[thread.index()].name.as_str();
    let names: Vec<&str> = blocked.iter().map(|&thread| name(thread)).collect();
    let verb = if blocked.len() == 1 { "is" } else { "are" };
    let mut lines = vec![format!("deadlock: {} {verb} blocked forever", words::list(&names))];
    for &thread in blocked {
        let at = after.place(thread);
        let statement = printer::shown(program, thread, at, None);
        lines.push(format!("  {} waits at `{statement}`{}", name(thread), after.obstacle(thread)));
        lines.extend(words::place(program, thread, at).map(|place| format!("  --> {place}")));
    }
    lines
}

fn data_race(program: &Program, race: &DataRace) -> Vec<String> {
    let mut lines = vec![format!("data race on {}", program.locations[race.loc.index()].name)];
    for access in &race.accesses {
        let thread = &program.threads[access.thread.index()].name;
        let does = if access.is_write { "writes" } else { "reads" };
        let how = if access.is_plain { "not atomically" } else { "atomically" };
        let statement = printer::shown(program, access.thread, access.place as usize, None);
        lines.push(format!("  {thread} {does} {how} at `{statement}`"));
        let place = words::place(program, access.thread, access.place as usize);
        lines.extend(place.map(|place| format!("  --> {place}")));
    }
    lines
}

fn condition(program: &Program, after: &Aftermath<'_>) -> Vec<String> {
    let Some(condition) = &program.condition else { return vec!["condition violated".to_owned()] };
    let values = teetotal_engine::driver::values(after, &program.observed);
    vec![
        format!("condition violated: {}", printer::condition(program, condition)),
        format!("  the final state is {}", program.show_outcome(&values)),
    ]
}
