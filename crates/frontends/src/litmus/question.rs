//! Resolves the condition of a test, and what its outcomes show.

use std::collections::{BTreeMap, BTreeSet};

use teetotal_program::condition::{Condition, Formula, Operand, Term};
use teetotal_program::ir::Builder;
use teetotal_program::{Loc, Span, ThreadId, Type, Width};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::litmus::locations::{Locations, fits};
use crate::litmus::syntax::{Code, Entry, Flavor, Located, Named, Place, Proposition, Quantifier, Side, Test};
use crate::litmus::x86::Line;
use crate::litmus::x86::access;
use crate::litmus::x86::register::{Family, Register};
use crate::suggest::nearest;

/// Gives `builder` the condition of `test`; without `diagnostics`, what is unknown goes unsaid.
pub(super) fn ask(
    test: &Test,
    locations: &Locations,
    locals: &Locals,
    builder: &mut Builder,
    diagnostics: Option<&mut Diagnostics>,
) {
    let mut unsaid = Diagnostics::default();
    let diagnostics = diagnostics.unwrap_or(&mut unsaid);
    let mut resolver = Resolver { test, locations, locals, written: written(test), builder, diagnostics };
    let formula = resolver.formula(&test.proposition);
    let filter = test.filter.as_ref().map(|filter| resolver.formula(filter));
    let places = places(test);
    let observed: BTreeMap<_, _> = places.iter().filter_map(|place| resolver.observed(place)).collect();
    // A test that asks nothing and names nothing shows everything.
    if test.quantifier.is_some() || !places.is_empty() {
        builder.observe(observed.into_values());
    }
    if let Some(filter) = filter {
        builder.filter(filter);
    }
    builder.condition(match test.quantifier {
        Some(Quantifier::Exists) => Condition::Exists(formula),
        Some(Quantifier::NotExists) => Condition::NotExists(formula),
        Some(Quantifier::ForAll) | None => Condition::ForAll(formula),
    });
}

/// Every place that is named after the code.
pub(super) fn named(test: &Test) -> Vec<Located<Place>> {
    let mut places = places(test);
    if let Some(filter) = &test.filter {
        collect(filter, &mut places);
    }
    places
}

/// Every place that the condition or `locations` names: outcomes show these, and not those of the filter.
fn places(test: &Test) -> Vec<Located<Place>> {
    let mut places = test.shown.clone();
    collect(&test.proposition, &mut places);
    places
}

fn collect(proposition: &Proposition, places: &mut Vec<Located<Place>>) {
    match proposition {
        Proposition::True => {}
        Proposition::Not(inner) => collect(inner, places),
        Proposition::And(parts) | Proposition::Or(parts) => parts.iter().for_each(|part| collect(part, places)),
        Proposition::Compare(left, _, right) => {
            places.push(left.clone());
            if let Side::Place(place) = &right.it {
                places.push(Located { it: place.clone(), span: right.span });
            }
        }
    }
}

/// For each thread the registers that it writes.
fn written(test: &Test) -> Vec<BTreeSet<Family>> {
    let of = |lines: &Vec<Line>| {
        lines.iter().filter_map(|line| line.instruction.as_ref()).flat_map(access::written).collect()
    };
    match &test.code {
        Code::X86(threads) => threads.iter().map(of).collect(),
        // What a local variable of C holds is not asked of its code.
        Code::C(_) => Vec::new(),
    }
}

/// That a test has no such thread.
pub(super) fn no_thread(test: &Test, thread: usize, span: Span) -> Diagnostic {
    let unknown = Diagnostic::new(span, format!("this test has no thread {thread}"));
    match test.n_threads() {
        1 => unknown.help("its only thread is 0"),
        n => unknown.help(format!("its threads are 0 to {}", n.saturating_sub(1))),
    }
}

/// `value` as a register of this width holds it.
pub(super) fn register_constant(flavor: Flavor, width: Width, value: u64) -> u64 {
    let ty = match flavor {
        Flavor::X86 => Type { width: width.min(Width::W32), signed: true },
        Flavor::X86_64 | Flavor::C => Type { width, signed: width == Width::W64 },
    };
    if fits(value, ty.width) { ty.wrap(value) } else { value }
}

/// For each thread its local variables, which tests for x86 do not have.
pub(super) type Locals = Vec<BTreeMap<String, Type>>;

struct Resolver<'a> {
    test: &'a Test,
    locations: &'a Locations,
    locals: &'a Locals,
    /// For each thread the registers that it writes.
    written: Vec<BTreeSet<Family>>,
    builder: &'a Builder,
    diagnostics: &'a mut Diagnostics,
}

/// Registers first, by thread and name, then memory by name.
type Rank = (bool, usize, String, u32);

impl Resolver<'_> {
    fn observed(&mut self, place: &Located<Place>) -> Option<(Rank, Term)> {
        let term = self.term(place)?;
        let rank = match &place.it {
            Place::Register(thread, register) => (false, *thread, register.shown(self.test.flavor), 0),
            Place::Memory(name, element) => (true, 0, name.clone(), element.unwrap_or(0)),
        };
        Some((rank, term))
    }

    /// What is unknown is said and then taken for true.
    fn formula(&mut self, proposition: &Proposition) -> Formula {
        match proposition {
            Proposition::True => Formula::True,
            Proposition::Not(inner) => Formula::Not(Box::new(self.formula(inner))),
            Proposition::And(parts) => Formula::And(parts.iter().map(|part| self.formula(part)).collect()),
            Proposition::Or(parts) => Formula::Or(parts.iter().map(|part| self.formula(part)).collect()),
            Proposition::Compare(left, comparison, right) => {
                // Both sides are looked at, so that both can be wrong.
                let (term, side) = (self.term(left), self.side(&left.it, right));
                if let Place::Register(thread, Named::Register(register)) = left.it {
                    self.demand_written(thread, register, left.span);
                }
                match (term, side) {
                    (Some(term), Some(side)) => Formula::Compare(Operand::Term(term), *comparison, side),
                    _ => Formula::True,
                }
            }
        }
    }

    /// Refuses a register that nothing gives a value: most likely another one is meant.
    fn demand_written(&mut self, thread: usize, register: Register, span: Span) {
        let Some(written) = self.written.get(thread) else { return };
        let is_set = |entry: &Entry| match entry.place.it {
            Place::Register(at, Named::Register(set)) => at == thread && set.family == register.family,
            Place::Register(_, Named::Local(_)) | Place::Memory(..) => false,
        };
        if written.contains(&register.family) || self.diagnostics.is_full() || self.test.init.iter().any(is_set) {
            return;
        }
        let full = self.test.flavor.full();
        let name = register.family.name(full);
        let names: Vec<String> = written.iter().map(|family| family.name(full)).collect();
        let meant = nearest(&name, names.iter().map(String::as_str)).map(|meant| format!("{thread}:{meant}"));
        let writes = match &names[..] {
            [] => format!("thread {thread} writes no register"),
            [only] => format!("thread {thread} writes {only}"),
            [others @ .., last] => format!("thread {thread} writes {} and {last}", others.join(", ")),
        };
        let never = Diagnostic::new(span, format!("the register `{name}` of thread {thread} is never written"));
        self.diagnostics.add(never.label(writes).meant(meant.as_deref()));
    }

    fn side(&mut self, left: &Place, right: &Located<Side>) -> Option<Operand> {
        match &right.it {
            Side::Number(number) => Some(Operand::Constant(self.constant(left, *number))),
            Side::Place(place) => {
                let place = Located { it: place.clone(), span: right.span };
                self.term(&place).map(Operand::Term)
            }
            Side::Name(name) => {
                let symbol = self.locations.symbols.get(name);
                if symbol.is_some_and(|symbol| !symbol.address_taken) {
                    let message = format!("`{name}` on this side is its address, which no thread has");
                    let help = format!("write `[{name}]` for what it holds");
                    self.diagnostics.add(Diagnostic::new(right.span, message).help(help));
                    return None;
                }
                let known = Located { it: Place::Memory(name.clone(), None), span: right.span };
                self.term(&known)?;
                self.locations.address(name, 0).map(Operand::Constant)
            }
        }
    }

    fn constant(&self, place: &Place, number: u64) -> u64 {
        match place {
            Place::Register(_, Named::Register(register)) => {
                register_constant(self.test.flavor, register.width, number)
            }
            Place::Register(thread, Named::Local(name)) => {
                let ty = self.locals.get(*thread).and_then(|locals| locals.get(name)).copied();
                ty.filter(|ty| fits(number, ty.width)).map_or(number, |ty| ty.wrap(number))
            }
            Place::Memory(name, _) => {
                let ty = self.locations.symbols.get(name).map(|symbol| symbol.ty);
                ty.filter(|ty| fits(number, ty.width)).map_or(number, |ty| ty.wrap(number))
            }
        }
    }

    fn term(&mut self, place: &Located<Place>) -> Option<Term> {
        if self.diagnostics.is_full() {
            return None;
        }
        match &place.it {
            Place::Register(thread, register) => {
                if *thread >= self.test.n_threads() {
                    self.diagnostics.add(no_thread(self.test, *thread, place.span));
                    return None;
                }
                let known = self.builder.register(ThreadId::at(*thread), &register.shown(self.test.flavor));
                if let (None, Named::Local(name)) = (known, register) {
                    self.no_local(*thread, name, place.span);
                }
                known
            }
            Place::Memory(name, element) => self.memory(name, *element, place.span),
        }
    }

    fn no_local(&mut self, thread: usize, name: &str, span: Span) {
        let unknown = Diagnostic::new(span, format!("thread {thread} has no local variable `{name}`"));
        let names = self.locals.get(thread).into_iter().flat_map(|locals| locals.keys()).map(String::as_str);
        self.diagnostics.add(unknown.meant(nearest(name, names)));
    }

    fn memory(&mut self, name: &str, element: Option<u32>, span: Span) -> Option<Term> {
        let Some(symbol) = self.locations.symbols.get(name) else {
            let unknown = Diagnostic::new(span, format!("this test has no location `{name}`"));
            let names = self.locations.symbols.keys().map(String::as_str);
            self.diagnostics.add(unknown.meant(nearest(name, names)));
            return None;
        };
        let index = element.unwrap_or(0);
        if index >= symbol.length || (element.is_some() && !symbol.is_array) {
            self.diagnostics.add(Diagnostic::new(span, format!("`{name}` has no element {index}")));
            return None;
        }
        Some(Term::Memory(Loc(symbol.base.0 + index)))
    }
}
