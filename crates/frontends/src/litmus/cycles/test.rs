//! The litmus test with the events of a cycle, and the condition that says it is there.

use teetotal_program::condition::Comparison;
use teetotal_program::{Order, Span, Type, Width};

use crate::litmus::cycles::edge::{Access, Barrier};
use crate::litmus::cycles::skeleton::{Event, Skeleton};
use crate::litmus::syntax::{Code, Entry, Flavor, Initial, Located, Named, Place, Proposition, Quantifier, Side, Test};
use crate::litmus::types::CType;
use crate::litmus::x86::opcode::Opcode;
use crate::litmus::x86::syntax::{Operand, Reference, Statement};
use crate::litmus::x86::{Line, Register};

/// The names of locations, as many as a cycle can have.
const LOCATIONS: [&str; 12] = ["x", "y", "z", "a", "b", "c", "d", "e", "f", "g", "h", "i"];

/// The registers of a thread, as many as it can need, by their names of 64 bits.
const REGISTERS: [&str; 12] = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13"];

/// The test called `name`.
pub(super) fn of(skeleton: &Skeleton, name: &str, flavor: Flavor) -> Test {
    let registers = registers(skeleton, flavor);
    let n_threads = skeleton.events.iter().map(|event| event.thread + 1).max().unwrap_or(0);
    let mut threads: Vec<Vec<Line>> = (0..n_threads).map(|_| Vec::new()).collect();
    for (event, &register) in skeleton.events.iter().zip(&registers) {
        threads[event.thread].push(line(access(event, register, flavor)));
        threads[event.thread].extend(event.barrier.map(|barrier| line(fence(barrier))));
    }
    Test {
        name: name.to_owned(),
        flavor,
        header: nowhere(),
        init: init(skeleton, &registers, flavor),
        code: Code::X86(threads),
        shown: Vec::new(),
        quantifier: Some(Quantifier::Exists),
        proposition: condition(skeleton, &registers),
        filter: None,
    }
}

/// Nobody asks for places in what was not written.
fn nowhere() -> Span {
    Span { source: 0, line: 1, column: 1, length: 0 }
}

fn located<T>(it: T) -> Located<T> {
    Located { it, span: nowhere() }
}

/// A register for each event, none twice in a thread.
fn registers(skeleton: &Skeleton, flavor: Flavor) -> Vec<Register> {
    let rank = |at: usize, event: &Event| {
        let earlier = skeleton.events[..at].iter().filter(|other| other.thread == event.thread);
        earlier.filter(|other| other.access.reads()).count()
    };
    let named = |at: usize| {
        let whole = Register::named(REGISTERS[at]).expect("these are registers");
        Register { width: flavor.full(), ..whole }
    };
    skeleton.events.iter().enumerate().map(|(at, event)| named(rank(at, event))).collect()
}

fn location(event: &Event) -> String {
    LOCATIONS[event.location].to_owned()
}

fn line(instruction: Statement) -> Line {
    Line { labels: Vec::new(), instruction: Some(instruction) }
}

fn fence(barrier: Barrier) -> Statement {
    let order = match barrier {
        Barrier::Full => Order::SeqCst,
        Barrier::Stores => Order::Release,
        Barrier::Loads => Order::Acquire,
    };
    Statement { span: nowhere(), locked: false, opcode: Opcode::Fence(order), suffix: None, operands: Vec::new() }
}

fn access(event: &Event, register: Register, flavor: Flavor) -> Statement {
    let memory = Operand::Memory(Reference { symbol: Some(location(event)), ..Reference::default() });
    let (opcode, to, from) = match event.access {
        Access::Read => (Opcode::Move, Operand::Register(register), memory),
        Access::Write => (Opcode::Move, memory, Operand::Number(event.value)),
        Access::Update => (Opcode::Exchange, memory, Operand::Register(register)),
    };
    let suffix = (flavor == Flavor::X86_64).then_some(Width::W64);
    Statement { span: nowhere(), locked: false, opcode, suffix, operands: vec![located(to), located(from)] }
}

/// Locations, then registers: those that are read by the condition, and those that are exchanged.
fn init(skeleton: &Skeleton, registers: &[Register], flavor: Flavor) -> Vec<Entry> {
    let ty = (flavor == Flavor::X86_64).then_some(CType::integer(Type::U64));
    let entry = |place: Place, value: Option<u64>| {
        let values = value.map(|value| located(Initial::Number(value)));
        Entry { ty, place: located(place), length: None, values: values.into_iter().collect() }
    };
    let zero = ty.is_none().then_some(0);
    let names = LOCATIONS.iter().take(skeleton.places.len());
    let mut entries: Vec<Entry> = names.map(|name| entry(Place::Memory((*name).to_owned(), None), zero)).collect();
    for (event, &register) in skeleton.events.iter().zip(registers) {
        let place = Place::Register(event.thread, Named::Register(register));
        match event.access {
            Access::Update => entries.push(entry(place, Some(event.value))),
            Access::Read if ty.is_some() => entries.push(entry(place, None)),
            _ => {}
        }
    }
    entries
}

fn condition(skeleton: &Skeleton, registers: &[Register]) -> Proposition {
    let equal = |place: Place, value: u64| {
        Proposition::Compare(located(place), Comparison::Equal, located(Side::Number(value)))
    };
    let mut parts = Vec::new();
    for (event, &register) in skeleton.events.iter().zip(registers) {
        if let Some(source) = event.read {
            parts.push(equal(Place::Register(event.thread, Named::Register(register)), skeleton.value(source)));
        }
    }
    for (place, name) in skeleton.places.iter().zip(LOCATIONS) {
        if let Some(&last) = place.writes.last().filter(|_| place.is_final_shown) {
            parts.push(equal(Place::Memory(name.to_owned(), None), skeleton.events[last].value));
        }
    }
    if parts.len() == 1 { parts.remove(0) } else { Proposition::And(parts) }
}
