//! A failing execution of a model as text.
//!
//! It is performed once more on the machine, and shown as the straight-line program that its threads ran.

use std::panic::Location;

use teetotal_explore::dpor::Move;
use teetotal_explore::driver::{self, Flow, Observer};
use teetotal_explore::stateless::Follow;
use teetotal_explore::{Limits, System};
use teetotal_judge::{Ending, View};
use teetotal_live::Live;
use teetotal_memory::{Event, EventKind, Model, Trace};
use teetotal_program::ir::{Builder, Expr, Instruction, Program, Update};
use teetotal_program::{Loc, OnFailure, Op, Order, Status, Subject, ThreadId};
use teetotal_report::{Options, Timeline};

use super::What;

/// Says what is wrong, and shows the execution.
pub(super) fn show<M: Model>(live: Live, moves: &[Move], what: &What, executions: u64) -> String {
    let mut system = System::<Live, M>::new(live);
    let mut last = Last::default();
    let limits = Limits { steps: None, ..Limits::default() };
    driver::run(&mut system, &mut Follow::new(moves), &mut last, &limits, &|| None);
    let name = M::ID.info().name;
    let mut text = match what {
        What::Failed(message) => format!("{message}\n"),
        What::Deadlock(blocked) => format!("deadlock: {}\n", waiting(&system, blocked)),
        What::Leak(leaks) => {
            let leaks: Vec<String> = leaks.iter().map(|(name, n)| format!("{n} {name}")).collect();
            format!("not given back at the end: {}\n", leaks.join(", "))
        }
    };
    text.push_str(&format!("\nunder {name}, execution {executions} of the search:\n\n"));
    match program(&last.trace) {
        Some(program) => {
            let timeline = Timeline { program: &program, trace: &last.trace, model: M::ID, outcome: None };
            text.push_str(&timeline.render(Options::default()));
        }
        None => text.push_str("(the execution cannot be shown)\n"),
    }
    text
}

/// Who waits where.
fn waiting<M: Model>(system: &System<Live, M>, blocked: &[ThreadId]) -> String {
    let threads = blocked.iter().map(|&thread| {
        let place = system
            .subject()
            .source_place(thread)
            .map_or_else(String::new, |place: &Location<'_>| format!(" at {place}"));
        let what = match system.subject().status(thread) {
            Status::Ready(Op::Lock { .. }) => "for a lock".to_owned(),
            Status::Ready(Op::Join { thread, .. }) => format!("for thread {thread}"),
            _ => "for a value".to_owned(),
        };
        format!("thread {thread} waits {what}{place}")
    });
    threads.collect::<Vec<_>>().join(", ")
}

#[derive(Default)]
struct Last {
    trace: Trace,
}

impl Observer for Last {
    fn end(&mut self, view: &View<'_>, _: &Ending) -> Flow {
        self.trace = view.trace.clone();
        Flow::Continue
    }

    fn abandoned(&mut self, view: &View<'_>, _: teetotal_explore::Abandon) {
        self.trace = view.trace.clone();
    }
}

/// The straight-line program of which `trace` is an execution.
fn program(trace: &Trace) -> Option<Program> {
    let mut builder = Builder::new("model");
    let locations: Vec<Loc> = (0..trace.n_locations()).map(|index| builder.shared(&location_name(index), 0)).collect();
    for index in 0..trace.n_threads() {
        let thread = ThreadId::at(index);
        let events: Vec<&Event> = trace.events().iter().filter(|event| event.thread == thread).collect();
        builder.thread(&format!("T{index}"), |t| {
            for event in events {
                let register = t.temporary();
                let at = || locations[event.loc.map_or(0, Loc::index)].into();
                let instruction = match event.kind {
                    EventKind::Load => Instruction::Load { to: register, from: at(), order: event.order },
                    EventKind::Store => {
                        let value = Expr::Const(event.written.unwrap_or(0));
                        Instruction::Store { to: at(), value, order: event.order }
                    }
                    EventKind::Rmw | EventKind::Lock | EventKind::Unlock => {
                        let update = Update::Exchange(Expr::Const(event.written.unwrap_or(0)));
                        Instruction::Rmw { old: register, at: at(), update, order: event.order }
                    }
                    EventKind::FailedRmw => Instruction::Rmw {
                        old: register,
                        at: at(),
                        update: Update::CompareExchange {
                            expected: Expr::Const(event.read.unwrap_or(0).wrapping_add(1)),
                            new: Expr::Const(0),
                            on_failure: OnFailure::Load(event.order),
                        },
                        order: event.order,
                    },
                    EventKind::Fence => Instruction::Fence { order: event.order },
                    EventKind::GlobalFence => Instruction::GlobalFence,
                    EventKind::Spawn(thread) => Instruction::Spawn { thread, order: Order::Release },
                    EventKind::Join(thread) => Instruction::Join { thread, order: Order::Acquire },
                    EventKind::Choose => Instruction::Choose { to: register, alternatives: 2 },
                };
                t.push(instruction);
            }
        });
    }
    builder.build().ok()
}

/// `a`, `b`, …, `z`, `a1`, …
fn location_name(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}
