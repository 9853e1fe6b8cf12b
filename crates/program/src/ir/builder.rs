//! Writes programs in Rust.
//!
//! ```
//! use teetotal_program::ir::Builder;
//!
//! let mut p = Builder::new("store buffering");
//! let x = p.shared("x", 0);
//! let y = p.shared("y", 0);
//! p.thread("P0", |t| {
//!     t.store(x, 1);
//!     t.load("r0", y);
//! });
//! p.thread("P1", |t| {
//!     t.store(y, 1);
//!     t.load("r1", x);
//! });
//! let program = p.build()?;
//! assert_eq!(program.n_operations(), 4);
//! # Ok::<(), teetotal_program::ir::ProgramError>(())
//! ```

use std::panic::Location;

use crate::condition::{Condition, Formula, Term};
use crate::ir::address::{Address, AddressMap};
use crate::ir::expr::Expr;
use crate::ir::footprint::Footprints;
use crate::ir::forgotten::Forgotten;
use crate::ir::instruction::Instruction;
use crate::ir::program::{Language, LocationInfo, Place, Program, RegisterInfo, ThreadCode};
use crate::ir::validate::{ProgramError, validate};
use crate::names::{Loc, Reg, ThreadId, Value};
use crate::span::{Source, Span};
use crate::width::Type;

mod statements;

/// A program in the making.
#[derive(Clone, Debug)]
pub struct Builder {
    name: String,
    sources: Vec<Source>,
    locations: Vec<LocationInfo>,
    threads: Vec<ThreadCode>,
    observed: Option<Vec<Term>>,
    condition: Option<Condition>,
    filter: Option<Formula>,
    names_addresses: bool,
    quotes_source: bool,
    language: Language,
    forgets: bool,
    read_with: Vec<String>,
}

/// An array of shared locations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Array {
    pub base: Loc,
    pub length: u32,
}

impl Array {
    /// The element at a computed index; past the end it is an error of the program.
    #[must_use]
    pub fn at(self, index: impl Into<Expr>) -> Address {
        match index.into() {
            Expr::Const(index) if index < u64::from(self.length) => Address::Static(Loc(self.base.0 + index as u32)),
            index => Address::Indexed { base: self.base, length: self.length, index },
        }
    }

    /// The element at a fixed index.
    #[must_use]
    pub fn element(self, index: u32) -> Loc {
        Loc(self.base.0 + index)
    }
}

impl Builder {
    #[must_use]
    pub fn new(name: &str) -> Self {
        Builder {
            name: name.to_owned(),
            sources: Vec::new(),
            locations: Vec::new(),
            threads: Vec::new(),
            observed: None,
            condition: None,
            filter: None,
            names_addresses: false,
            quotes_source: false,
            language: Language::default(),
            forgets: false,
            read_with: Vec::new(),
        }
    }

    /// Declares a shared location of 64 signed bits.
    pub fn shared(&mut self, name: &str, initial: impl Into<Constant>) -> Loc {
        self.shared_as(name, Type::I64, initial)
    }

    /// Declares a shared location of any type.
    pub fn shared_as(&mut self, name: &str, ty: Type, initial: impl Into<Constant>) -> Loc {
        let initial = ty.wrap(initial.into().0);
        self.locations.push(LocationInfo { name: name.to_owned(), ty, initial, element: None });
        Loc::at(self.locations.len() - 1)
    }

    /// Declares an array of 64 signed bits each, all zero.
    pub fn array(&mut self, name: &str, length: u32) -> Array {
        self.array_as(name, Type::I64, &vec![0; length as usize])
    }

    /// Declares an array of any type with these values in it.
    pub fn array_as(&mut self, name: &str, ty: Type, initial: &[Value]) -> Array {
        let base = Loc::at(self.locations.len());
        for (element, &value) in initial.iter().enumerate() {
            let name = format!("{name}[{element}]");
            let element = Some(element as u32);
            self.locations.push(LocationInfo { name, ty, initial: ty.wrap(value), element });
        }
        Array { base, length: initial.len() as u32 }
    }

    /// The address of a location, as a value.
    ///
    /// Only the locations declared so far count for it, and later declarations do not change it.
    #[must_use]
    pub fn address_of(&self, loc: Loc) -> Value {
        self.layout().address(loc)
    }

    /// The addresses of the locations declared so far; later declarations do not change them.
    #[must_use]
    pub fn layout(&self) -> AddressMap {
        AddressMap::new(&self.locations)
    }

    /// Sets what a location holds at the beginning, such as the address of one that is declared later.
    pub fn set_initial(&mut self, loc: Loc, value: impl Into<Constant>) {
        let location = &mut self.locations[loc.index()];
        location.initial = location.ty.wrap(value.into().0);
    }

    /// Declares a text that spans point into.
    pub fn source(&mut self, name: &str, text: Option<&str>) -> u16 {
        self.sources.push(Source { name: name.to_owned(), text: text.map(str::to_owned) });
        (self.sources.len() - 1) as u16
    }

    /// Adds a thread that runs from the beginning.
    pub fn thread(&mut self, name: &str, body: impl FnOnce(&mut ThreadBuilder<'_>)) -> ThreadId {
        self.add_thread(name, true, body)
    }

    /// Adds a thread that some other thread spawns.
    pub fn spawned(&mut self, name: &str, body: impl FnOnce(&mut ThreadBuilder<'_>)) -> ThreadId {
        self.add_thread(name, false, body)
    }

    fn add_thread(&mut self, name: &str, starts: bool, body: impl FnOnce(&mut ThreadBuilder<'_>)) -> ThreadId {
        let code =
            ThreadCode { name: name.to_owned(), code: Vec::new(), places: Vec::new(), registers: Vec::new(), starts };
        let mut thread = ThreadBuilder::new(code, &mut self.sources);
        body(&mut thread);
        let code = thread.finish();
        self.threads.push(code);
        ThreadId::at(self.threads.len() - 1)
    }

    /// Shows these terms in outcomes, instead of all registers but temporaries and then all memory.
    pub fn observe(&mut self, terms: impl IntoIterator<Item = Term>) {
        self.observed = Some(terms.into_iter().collect());
    }

    /// Lets statements be shown as they stand in the source.
    pub fn quote_source(&mut self) {
        self.quotes_source = true;
    }

    /// Says what the program is written in.
    pub fn language(&mut self, language: Language) {
        self.language = language;
    }

    /// Lets registers count for nothing that are set again before they are used.
    pub fn forget_registers(&mut self) {
        self.forgets = true;
    }

    /// Keeps the options with which the source was read, for whoever reads it again.
    pub fn read_with(&mut self, options: Vec<String>) {
        self.read_with = options;
    }

    /// Asks or demands something of final states.
    pub fn condition(&mut self, condition: Condition) {
        self.condition = Some(condition);
    }

    /// Lets only executions count whose final state satisfies a formula.
    pub fn filter(&mut self, filter: Formula) {
        self.filter = Some(filter);
    }

    /// Shows values that are addresses as the names of their locations, though no register holds one at first.
    pub fn name_addresses(&mut self) {
        self.names_addresses = true;
    }

    /// The register called `name` of `thread`, if there is one.
    #[must_use]
    pub fn register(&self, thread: ThreadId, name: &str) -> Option<Term> {
        let registers = &self.threads.get(thread.index())?.registers;
        registers.iter().position(|r| r.name == name).map(|reg| Term::Register(thread, Reg(reg as u16)))
    }

    /// The program, if it is well formed.
    pub fn build(self) -> Result<Program, ProgramError> {
        let observed = self.observed.unwrap_or_else(|| everything(&self.threads, self.locations.len()));
        let addresses = AddressMap::new(&self.locations);
        let mut registers = self.threads.iter().flat_map(|thread| &thread.registers);
        let names_addresses =
            self.names_addresses || registers.any(|register| addresses.location(register.initial).is_some());
        let program = Program {
            name: self.name,
            sources: self.sources,
            observed,
            condition: self.condition,
            filter: self.filter,
            names_addresses,
            quotes_source: self.quotes_source,
            language: self.language,
            read_with: self.read_with,
            addresses,
            forgets: self.forgets,
            footprints: Footprints::default(),
            forgotten: Forgotten::default(),
            locations: self.locations,
            threads: self.threads,
        };
        validate(&program)?;
        let forgotten = Forgotten::new(&program);
        Ok(Program { footprints: Footprints::new(&program.threads), forgotten, ..program })
    }
}

/// All registers but temporaries, then all memory.
fn everything(threads: &[ThreadCode], n_locations: usize) -> Vec<Term> {
    let registers = threads.iter().enumerate().flat_map(|(thread, code)| {
        let shown = code.registers.iter().enumerate().filter(|(_, register)| !register.temporary);
        shown.map(move |(reg, _)| Term::Register(ThreadId::at(thread), Reg(reg as u16)))
    });
    registers.chain((0..n_locations).map(|loc| Term::Memory(Loc::at(loc)))).collect()
}

/// A number given as `1`, `-1` or a [`Value`].
#[derive(Clone, Copy, Debug)]
pub struct Constant(Value);

impl From<i32> for Constant {
    fn from(value: i32) -> Self {
        Constant(i64::from(value) as Value)
    }
}

impl From<Value> for Constant {
    fn from(value: Value) -> Self {
        Constant(value)
    }
}

/// A thread in the making. Its statements are in program order.
#[derive(Debug)]
pub struct ThreadBuilder<'b> {
    code: ThreadCode,
    /// Where each label stands; instructions name labels by number until the thread is finished.
    labels: Vec<Option<u32>>,
    sources: &'b mut Vec<Source>,
    span: Option<Span>,
    exclusive: bool,
    may_rest: bool,
}

/// A place that jumps go to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(u32);

/// The beginning and the end of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopLabels {
    pub start: Label,
    pub exit: Label,
}

/// What stands for the place of a label that was never placed; [`validate`] refuses it.
const NOWHERE: u32 = u32::MAX;

impl<'b> ThreadBuilder<'b> {
    fn new(code: ThreadCode, sources: &'b mut Vec<Source>) -> Self {
        ThreadBuilder { code, labels: Vec::new(), sources, span: None, exclusive: false, may_rest: false }
    }

    /// The register called `name`, made at its first use.
    pub fn reg(&mut self, name: &str) -> Reg {
        match self.code.registers.iter().position(|register| register.name == name) {
            Some(index) => Reg(index as u16),
            None => self.add_register(name.to_owned(), false),
        }
    }

    /// A fresh register that outcomes do not show.
    pub fn temporary(&mut self) -> Reg {
        let is_free = |name: &String| self.code.registers.iter().all(|register| register.name != *name);
        let mut names = (self.code.registers.len()..).map(|number| format!("t{number}"));
        let name = names.find(is_free).expect("there are more numbers than registers");
        self.add_register(name, true)
    }

    /// Sets what a register holds at the beginning.
    pub fn initial(&mut self, reg: Reg, value: impl Into<Constant>) {
        self.code.registers[reg.index()].initial = value.into().0;
    }

    fn add_register(&mut self, name: String, temporary: bool) -> Reg {
        let index = self.code.registers.len();
        self.code.registers.push(RegisterInfo { name, initial: 0, temporary });
        // Past the limit the number repeats; `validate` refuses the thread for having too many.
        Reg(index as u16)
    }

    /// Gives the instructions that follow this place in a source; `None` goes back to the place of the Rust call.
    pub fn at(&mut self, span: Option<Span>) {
        self.span = span;
    }

    /// Appends an instruction.
    #[track_caller]
    pub fn push(&mut self, instruction: Instruction) {
        let caller = Location::caller();
        let span = self.span.or_else(|| self.caller(caller));
        // An exclusive stretch holds back other threads from its second instruction on.
        let (exclusive, may_rest) = (self.exclusive, std::mem::take(&mut self.may_rest));
        self.code.places.push(Place { span, exclusive, may_rest });
        self.code.code.push(instruction);
    }

    fn caller(&mut self, location: &Location<'_>) -> Option<Span> {
        let source = self.sources.iter().position(|s| s.name == location.file()).unwrap_or_else(|| {
            self.sources.push(Source { name: location.file().to_owned(), text: None });
            self.sources.len() - 1
        });
        Some(Span { source: source as u16, line: location.line(), column: location.column(), length: 0 })
    }

    /// A label that stands nowhere yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label((self.labels.len() - 1) as u32)
    }

    /// Lets `label` stand before the next instruction.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.code.code.len() as u32);
    }

    fn finish(mut self) -> ThreadCode {
        for instruction in &mut self.code.code {
            for target in instruction.targets_mut() {
                *target = self.labels.get(*target as usize).copied().flatten().unwrap_or(NOWHERE);
            }
        }
        self.code
    }
}
