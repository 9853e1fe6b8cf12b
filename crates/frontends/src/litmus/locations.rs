//! The locations of a test: their names, types and initial values.
//!
//! A location is as wide as its accesses are; where there are none by name, as its declaration says.
//! Each stands alone at a multiple of eight bytes, so an access that is wider than the declaration reaches no other.

use std::collections::BTreeMap;

use teetotal_program::ir::{AddressMap, Builder};
use teetotal_program::{Loc, Type, Width};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::litmus::parser::MOST_ELEMENTS;
use crate::litmus::syntax::{Code, Entry, Flavor, Initial, Located, Place, Test};

/// A name that stands for one location or for an array.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub(super) base: Loc,
    pub(super) length: u32,
    pub(super) ty: Type,
    pub(super) is_array: bool,
    /// Whether its address is a value somewhere.
    pub(super) address_taken: bool,
}

/// The locations of a test by name, and where they are.
#[derive(Debug, Default)]
pub(super) struct Locations {
    pub(super) symbols: BTreeMap<String, Symbol>,
    /// For each location the name that it belongs to.
    owners: Vec<String>,
    /// For each width a name of that width whose address is a value somewhere.
    pub(super) taken: BTreeMap<Width, String>,
    pub(super) layout: AddressMap,
}

impl Locations {
    /// The address of an element, if there is one.
    pub(super) fn address(&self, name: &str, element: u32) -> Option<u64> {
        let symbol = self.symbols.get(name).filter(|symbol| element < symbol.length)?;
        Some(self.layout.address(Loc(symbol.base.0 + element)))
    }

    /// Notes that the address of `name` is a value somewhere.
    pub(super) fn take_address(&mut self, name: &str) {
        if let Some(symbol) = self.symbols.get_mut(name) {
            symbol.address_taken = true;
        }
    }

    /// The number that an initial value is.
    pub(super) fn initial(&self, value: &Located<Initial>, diagnostics: &mut Diagnostics) -> Option<u64> {
        match &value.it {
            Initial::Number(number) => Some(*number),
            Initial::AddressOf(name, element) => {
                let address = self.address(name, *element);
                if address.is_none() {
                    let message = format!("`{name}` has no element {element}");
                    diagnostics.add(Diagnostic::new(value.span, message));
                }
                address
            }
        }
    }

    /// The name that `loc` belongs to, and what it stands for.
    pub(super) fn owner(&self, loc: Loc) -> (&str, &Symbol) {
        let name = &self.owners[loc.index()];
        (name, &self.symbols[name])
    }
}

/// What is known of a name before its type is settled.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) declared: Option<Type>,
    pub(super) length: Option<u32>,
    pub(super) values: Vec<Located<Initial>>,
    /// The width of the accesses by name.
    pub(super) accessed: Option<Width>,
    pub(super) address_taken: bool,
}

/// All names in the order in which they appear.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    order: Vec<String>,
    pub(super) by_name: BTreeMap<String, Draft>,
    /// Accesses through registers.
    pub(super) computed: Option<Width>,
}

/// Declares every location of `test`.
pub(super) fn declare(test: &Test, builder: &mut Builder, diagnostics: &mut Diagnostics) -> Locations {
    let mut drafts = Drafts::default();
    test.init.iter().for_each(|entry| drafts.entry(entry, test.flavor, diagnostics));
    match &test.code {
        Code::X86(threads) => drafts.instructions(threads, test.flavor, diagnostics),
        Code::C(threads) => drafts.parameters(threads, diagnostics),
    }
    let default = drafts.computed.unwrap_or(test.flavor.usual());
    drafts.limit(test, diagnostics);
    let mut locations = Locations::default();
    for name in &drafts.order {
        let draft = &drafts.by_name[name];
        let ty = settle(draft, default);
        let length = draft.length.unwrap_or(1);
        let zeros = vec![0; length as usize];
        let base = match draft.length {
            Some(_) => builder.array_as(name, ty, &zeros).base,
            None => builder.shared_as(name, ty, 0),
        };
        if draft.address_taken {
            locations.taken.entry(ty.width).or_insert_with(|| name.clone());
        }
        let (is_array, address_taken) = (draft.length.is_some(), draft.address_taken);
        locations.owners.extend(zeros.iter().map(|_| name.clone()));
        locations.symbols.insert(name.clone(), Symbol { base, length, ty, is_array, address_taken });
    }
    locations.layout = builder.layout();
    drafts.initialize(&locations, builder, diagnostics);
    locations
}

/// The type of a location. A declaration that is wider than the accesses keeps what they leave alone at zero.
fn settle(draft: &Draft, default: Width) -> Type {
    match (draft.declared, draft.accessed) {
        (Some(declared), Some(width)) if width < declared.width => Type { width, signed: false },
        (Some(declared), Some(width)) => shown(Type { width, ..declared }),
        (Some(declared), None) => shown(declared),
        (None, Some(width)) => Type { width, signed: true },
        (None, None) => Type { width: default, signed: true },
    }
}

/// Full words print with a sign, whatever their declaration says.
fn shown(ty: Type) -> Type {
    if ty.width == Width::W64 { Type::I64 } else { ty }
}

impl Drafts {
    /// What is known of `name`, which is made at its first use.
    pub(super) fn draft(&mut self, name: &str) -> &mut Draft {
        if !self.by_name.contains_key(name) {
            self.order.push(name.to_owned());
        }
        self.by_name.entry(name.to_owned()).or_default()
    }

    fn entry(&mut self, entry: &Entry, flavor: Flavor, diagnostics: &mut Diagnostics) {
        if let Place::Memory(name, _) = &entry.place.it {
            let draft = self.draft(name);
            let ty = entry.ty.map(|ty| ty.held(flavor.full()));
            if ty.is_some() && draft.declared.is_some_and(|declared| Some(declared) != ty) {
                let twice = format!("`{name}` is declared with two types");
                diagnostics.add(Diagnostic::new(entry.place.span, twice));
            }
            if !entry.values.is_empty() && !draft.values.is_empty() {
                let twice = format!("`{name}` has two initial values");
                diagnostics.add(Diagnostic::new(entry.place.span, twice).help("remove one of them"));
            }
            draft.declared = draft.declared.or(ty);
            draft.length = draft.length.or(entry.length);
            draft.values.extend(entry.values.iter().cloned());
            draft.values.truncate(draft.length.unwrap_or(1) as usize);
        }
        for value in &entry.values {
            if let Initial::AddressOf(name, _) = &value.it {
                self.draft(name).address_taken = true;
            }
        }
    }

    /// Refuses arrays that are too large together, and forgets that they are arrays.
    fn limit(&mut self, test: &Test, diagnostics: &mut Diagnostics) {
        let total: u64 = self.by_name.values().filter_map(|draft| draft.length).map(u64::from).sum();
        let too_large = total > u64::from(MOST_ELEMENTS);
        if too_large {
            let message = format!("the arrays of this test have more than {MOST_ELEMENTS} elements in all");
            diagnostics.add(Diagnostic::new(test.header, message));
        }
        for draft in self.by_name.values_mut().filter(|draft| too_large || draft.length == Some(0)) {
            draft.length = None;
            draft.values.truncate(1);
        }
    }

    /// Puts in the initial values, now that addresses are known.
    fn initialize(&self, locations: &Locations, builder: &mut Builder, diagnostics: &mut Diagnostics) {
        for (name, draft) in &self.by_name {
            let symbol = &locations.symbols[name];
            for (element, value) in draft.values.iter().enumerate() {
                let Some(number) = locations.initial(value, diagnostics) else { continue };
                let width = symbol.ty.width;
                let narrowed = draft.declared.is_some_and(|declared| declared.width > width);
                if !fits(number, width) || (narrowed && symbol.ty.wrap(number) != number) {
                    let message = format!("this value does not fit into the {} bits of `{name}`", width.bits());
                    diagnostics.add(Diagnostic::new(value.span, message));
                }
                builder.set_initial(Loc(symbol.base.0 + element as u32), number);
            }
        }
    }
}

/// Whether `number` can be written with so many bits, with a sign or without.
pub(super) fn fits(number: u64, width: Width) -> bool {
    [true, false].into_iter().any(|signed| Type { width, signed }.wrap(number) == number)
}
