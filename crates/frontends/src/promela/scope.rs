//! What names stand for, where they can be seen.

use std::collections::BTreeMap;

use crate::promela::syntax::{Kind, Name, Variable};

/// The names that are known at one place of a model.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) globals: Vec<Variable>,
    /// How many names `mtype` has declared.
    pub(super) n_mtypes: i64,
    shared: BTreeMap<String, Known>,
    /// Of the process that is being read.
    pub(super) locals: Vec<Variable>,
    /// One for each block around this place, the innermost last.
    blocks: Vec<BTreeMap<String, usize>>,
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    Global(usize),
    Constant(i64),
    Local(usize),
}

impl Scope {
    /// Adds a name that all processes see; gives whether it is there already.
    pub(super) fn add(&mut self, name: &str, known: Known) -> bool {
        self.shared.insert(name.to_owned(), known).is_some()
    }

    /// Adds a variable of the process; gives its number, and whether its block has the name already.
    pub(super) fn add_local(&mut self, name: &str, ty: Kind, length: Option<u32>) -> (usize, bool) {
        let number = self.locals.len();
        let same = self.locals.iter().filter(|other| other.name.split('\'').next() == Some(name)).count();
        // Registers have one name each, so that a variable of the same name in another block gets another.
        let shown = if same == 0 { name.to_owned() } else { format!("{name}'{}", same + 1) };
        let initial = vec![0; length.unwrap_or(1) as usize];
        self.locals.push(Variable { name: shown, ty, length, initial });
        let twice = self.blocks.last_mut().is_some_and(|block| block.insert(name.to_owned(), number).is_some());
        (number, twice)
    }

    /// What `name` stands for.
    pub(super) fn find(&self, name: &str) -> Option<Known> {
        let local = self.blocks.iter().rev().find_map(|block| block.get(name));
        local.map(|&number| Known::Local(number)).or_else(|| self.shared.get(name).copied())
    }

    /// All names, for suggestions.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().rev().flat_map(BTreeMap::keys).chain(self.shared.keys()).map(String::as_str)
    }

    pub(super) fn variable(&self, name: Name) -> &Variable {
        match name {
            Name::Global(number) => &self.globals[number],
            Name::Local(number) => &self.locals[number],
        }
    }

    pub(super) fn open_process(&mut self) {
        self.locals.clear();
        self.blocks = vec![BTreeMap::new()];
    }

    /// Gives the variables of the process that ends here.
    pub(super) fn close_process(&mut self) -> Vec<Variable> {
        self.blocks.clear();
        std::mem::take(&mut self.locals)
    }

    pub(super) fn open_block(&mut self) {
        self.blocks.push(BTreeMap::new());
    }

    pub(super) fn close_block(&mut self) {
        self.blocks.pop();
    }
}

impl Known {
    /// The variable, if it is one.
    pub(super) fn name(self) -> Option<Name> {
        match self {
            Known::Global(number) => Some(Name::Global(number)),
            Known::Local(number) => Some(Name::Local(number)),
            Known::Constant(_) => None,
        }
    }

    pub(super) fn is_variable(self) -> bool {
        self.name().is_some()
    }
}
