//! A program as data.

use crate::condition::{Condition, FinalState, Formula, Term};
use crate::ir::address::AddressMap;
use crate::ir::footprint::Footprints;
use crate::ir::forgotten::Forgotten;
use crate::ir::instruction::Instruction;
use crate::names::{Loc, Reg, ThreadId, Value};
use crate::span::{Source, Span};
use crate::width::Type;

/// A program: shared locations, threads, and what to ask of its final states.
///
/// [`crate::ir::Builder::build`] makes it and promises that it is well formed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub name: String,
    pub sources: Vec<Source>,
    pub locations: Vec<LocationInfo>,
    pub threads: Vec<ThreadCode>,
    /// What an outcome shows, in this order.
    pub observed: Vec<Term>,
    pub condition: Option<Condition>,
    /// Final states that do not satisfy it do not count: their executions are discarded.
    pub filter: Option<Formula>,
    /// Whether a value that is the address of a location is shown as its name.
    pub names_addresses: bool,
    /// Whether people know the program by its source, so that its statements are shown as they stand there.
    pub quotes_source: bool,
    /// What it is written in.
    pub language: Language,
    /// The options of a command line with which its source was read, other than the usual ones.
    pub read_with: Vec<String>,
    pub addresses: AddressMap,
    /// Whether registers that are set again before they are used count for nothing, so that fewer states differ.
    pub forgets: bool,
    pub(super) footprints: Footprints,
    pub(super) forgotten: Forgotten,
}

/// What a program is written in, which decides whether a model of a language gives it a meaning.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Language {
    /// The intermediate representation, by way of the builder.
    #[default]
    Builder,
    /// C11.
    C,
    /// C with operations of the Linux kernel, which has a memory model of its own.
    KernelC,
    /// Instructions of x86.
    X86,
    /// Statements of Promela.
    Promela,
}

/// A shared location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocationInfo {
    /// As in the source; an element of an array is named `a[2]`.
    pub name: String,
    pub ty: Type,
    pub initial: Value,
    /// Which element of its array it is.
    pub element: Option<u32>,
}

/// The code of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadCode {
    pub name: String,
    pub code: Vec<Instruction>,
    /// One for each instruction.
    pub places: Vec<Place>,
    pub registers: Vec<RegisterInfo>,
    /// Whether it runs from the beginning; otherwise some thread spawns it.
    pub starts: bool,
}

/// What is known of an instruction beside what it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Place {
    pub span: Option<Span>,
    /// Whether the thread, having come here, goes on without a switch to another thread.
    pub exclusive: bool,
    /// Whether a thread that waits here forever has done its work, as at an `end` label of Promela.
    pub may_rest: bool,
}

/// A register of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisterInfo {
    pub name: String,
    pub initial: Value,
    /// Made by the builder for an intermediate value, so that outcomes do not show it.
    pub temporary: bool,
}

impl ThreadCode {
    /// Whether the instruction at `place` continues an atomic section and may be blocked, so that others run first.
    #[must_use]
    pub fn may_divide_at(&self, place: u32) -> bool {
        let place = place as usize;
        self.places.get(place).is_some_and(|place| place.exclusive)
            && self.code.get(place).is_some_and(Instruction::may_block)
    }
}

impl Program {
    /// The number of threads.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.threads.len()
    }

    /// Whether an execution that ends in `state` counts.
    #[must_use]
    pub fn admits(&self, state: &dyn FinalState) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.holds(state))
    }

    /// The locations whose final values an outcome shows, or the condition or the filter asks for.
    #[must_use]
    pub fn locations_at_end(&self) -> Vec<Loc> {
        let mut locations = Vec::new();
        let mut add = |term| {
            if let Term::Memory(loc) = term {
                locations.push(loc);
            }
        };
        self.observed.iter().for_each(|&term| add(term));
        let formulas = self.condition.iter().map(Condition::formula).chain(&self.filter);
        formulas.for_each(|formula| formula.for_each_term(&mut add));
        locations.sort_unstable();
        locations.dedup();
        locations
    }

    /// How many operations on memory and choices there are in the code.
    #[must_use]
    pub fn n_operations(&self) -> usize {
        self.threads.iter().flat_map(|thread| &thread.code).filter(|i| i.is_visible()).count()
    }

    /// Whether a thread may fail, as far as is known without running it.
    #[must_use]
    pub fn may_fail(&self) -> bool {
        let divides = |i: &Instruction| {
            let mut divides = false;
            i.expressions(|expr| expr.walk(&mut |part| divides |= part.divides()));
            divides
        };
        let asserts = |i: &Instruction| {
            matches!(i, Instruction::Assert { .. } | Instruction::Unlock { .. } | Instruction::Spawn { .. })
        };
        let mut code = self.threads.iter().flat_map(|thread| &thread.code);
        code.any(|i| asserts(i) || divides(i) || i.is_visible() && i.may_fail())
    }

    /// Whether an atomic section may be divided even under sequential consistency, because it may be blocked inside.
    #[must_use]
    pub fn may_divide_sections(&self) -> bool {
        self.threads.iter().any(|thread| (0..thread.code.len()).any(|place| thread.may_divide_at(place as u32)))
    }

    /// Whether no thread ever goes back, so that every execution ends after a bounded number of steps.
    #[must_use]
    pub fn is_loop_free(&self) -> bool {
        self.threads.iter().all(|thread| {
            let goes_on = |(at, i): (usize, &Instruction)| i.targets().all(|target| target as usize > at);
            thread.code.iter().enumerate().all(goes_on)
        })
    }

    /// What `term` is called: `0:r1` for a register, `[x]` for a location.
    #[must_use]
    pub fn term_name(&self, term: Term) -> String {
        match term {
            Term::Register(thread, reg) => format!("{thread}:{}", self.register_name(thread, reg)),
            Term::Memory(loc) => format!("[{}]", self.location_name(loc)),
        }
    }

    /// The value of `term` as its type shows it; an address is shown as the name of its location.
    ///
    /// A number is taken for an address only in a program that uses addresses as values: elsewhere it is a number that
    /// happens to be the same.
    #[must_use]
    pub fn show_value(&self, term: Term, value: Value) -> String {
        match (self.addresses.location(value), term) {
            (Some(loc), _) if self.names_addresses || self.has_pointers() => self.location_name(loc).to_owned(),
            (_, Term::Register(..)) => (value as i64).to_string(),
            (_, Term::Memory(loc)) => self.locations[loc.index()].ty.show(value),
        }
    }

    /// Whether an address is a value somewhere: at the beginning, or where an instruction uses one.
    #[must_use]
    pub fn has_pointers(&self) -> bool {
        let is_address = |value: Value| self.addresses.location(value).is_some();
        let registers = self.threads.iter().flat_map(|thread| &thread.registers).map(|register| register.initial);
        let initial = self.locations.iter().map(|location| location.initial).chain(registers).any(is_address);
        initial || self.threads.iter().flat_map(|thread| &thread.code).any(Instruction::uses_pointer)
    }

    /// An outcome as `0:r0=0; [x]=1;`, in the order of [`Program::observed`].
    #[must_use]
    pub fn show_outcome(&self, values: &[Value]) -> String {
        let parts = self.observed.iter().zip(values);
        parts.map(|(&t, &v)| format!("{}={};", self.term_name(t), self.show_value(t, v))).collect::<Vec<_>>().join(" ")
    }

    #[must_use]
    pub fn location_name(&self, loc: Loc) -> &str {
        &self.locations[loc.index()].name
    }

    #[must_use]
    pub fn register_name(&self, thread: ThreadId, reg: Reg) -> &str {
        &self.threads[thread.index()].registers[reg.index()].name
    }

    /// A number that tells programs apart: equal for equal code, whatever the names of registers and sources.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fnv::default();
        for location in &self.locations {
            hash.add(&location.name);
            hash.add(&format!("{:?}{}", location.ty, location.initial));
        }
        for thread in &self.threads {
            hash.add(&format!("{}{:?}", thread.starts, thread.code));
            let initial: Vec<_> = thread.registers.iter().map(|r| r.initial).collect();
            hash.add(&format!("{initial:?}"));
        }
        hash.0
    }
}

/// FNV-1a, which stays the same on every machine and in every version.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
