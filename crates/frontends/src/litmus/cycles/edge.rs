//! The edges of cycles and their names.

use std::fmt;

/// What an event does to its location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Access {
    Read,
    Write,
    /// A locked exchange: both in one step.
    Update,
}

/// Where program order leads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Whereto {
    SameLocation,
    OtherLocation,
}

/// A fence between two accesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Barrier {
    /// MFENCE.
    Full,
    /// SFENCE.
    Stores,
    /// LFENCE.
    Loads,
}

/// How two events of a cycle are related.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Relation {
    /// Program order, perhaps with a fence.
    ProgramOrder(Whereto, Option<Barrier>),
    /// The second gets its value from the first.
    ReadsFrom,
    /// The second overwrites what the first got.
    FromRead,
    /// The second overwrites the first, at once or later.
    Coherence,
}

/// One step of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edge {
    pub(super) relation: Relation,
    /// Whether both ends are in one thread, the second next after the first.
    pub(super) internal: bool,
    pub(super) from: Access,
    pub(super) to: Access,
}

const ACCESSES: [Access; 3] = [Access::Read, Access::Write, Access::Update];

impl Edge {
    /// Every edge that there is.
    #[must_use]
    pub fn all() -> Vec<Edge> {
        let barriers = [None, Some(Barrier::Full), Some(Barrier::Stores), Some(Barrier::Loads)];
        let orders = barriers.into_iter().flat_map(|barrier| {
            [Whereto::OtherLocation, Whereto::SameLocation].map(|to| (Relation::ProgramOrder(to, barrier), true))
        });
        let communications = [Relation::ReadsFrom, Relation::FromRead, Relation::Coherence];
        let communications = communications.into_iter().flat_map(|relation| [(relation, false), (relation, true)]);
        let pairs = ACCESSES.into_iter().flat_map(|from| ACCESSES.map(|to| (from, to)));
        let kinds = orders.chain(communications);
        let edges = kinds.flat_map(|(relation, internal)| {
            pairs.clone().map(move |(from, to)| Edge { relation, internal, from, to })
        });
        edges.filter(|edge| edge.is_possible()).collect()
    }

    /// Whether it leads to another thread.
    #[must_use]
    pub fn is_external(&self) -> bool {
        !self.internal
    }

    /// Whether one of its ends is a locked exchange.
    #[must_use]
    pub fn has_update(&self) -> bool {
        self.from == Access::Update || self.to == Access::Update
    }

    /// What it says of its ends.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// What its ends do.
    #[must_use]
    pub fn ends(&self) -> (Access, Access) {
        (self.from, self.to)
    }

    /// Whether it leads to another location.
    pub(super) fn leaves_location(&self) -> bool {
        matches!(self.relation, Relation::ProgramOrder(Whereto::OtherLocation, _))
    }

    fn is_possible(&self) -> bool {
        match self.relation {
            Relation::ProgramOrder(..) => true,
            Relation::ReadsFrom => self.from.writes() && self.to.reads(),
            // What overwrites the source of an exchange overwrites the exchange too, which coherence says already.
            Relation::FromRead => self.from == Access::Read && self.to.writes(),
            Relation::Coherence => self.from.writes() && self.to.writes(),
        }
    }

    /// The accesses that its name need not tell.
    fn usual(&self) -> Option<(Access, Access)> {
        match self.relation {
            Relation::ProgramOrder(..) => None,
            Relation::ReadsFrom => Some((Access::Write, Access::Read)),
            Relation::FromRead => Some((Access::Read, Access::Write)),
            Relation::Coherence => Some((Access::Write, Access::Write)),
        }
    }
}

impl Access {
    pub(super) fn reads(self) -> bool {
        self != Access::Write
    }

    pub(super) fn writes(self) -> bool {
        self != Access::Read
    }

    fn letter(self) -> char {
        match self {
            Access::Read => 'R',
            Access::Write => 'W',
            Access::Update => 'U',
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reach = if self.internal { 'i' } else { 'e' };
        match self.relation {
            Relation::ProgramOrder(whereto, barrier) => {
                let name = match barrier {
                    None => "Po",
                    Some(Barrier::Full) => "MFence",
                    Some(Barrier::Stores) => "SFence",
                    Some(Barrier::Loads) => "LFence",
                };
                let whereto = if whereto == Whereto::SameLocation { 's' } else { 'd' };
                write!(f, "{name}{whereto}")?;
            }
            Relation::ReadsFrom => write!(f, "Rf{reach}")?,
            Relation::FromRead => write!(f, "Fr{reach}")?,
            Relation::Coherence => write!(f, "Co{reach}")?,
        }
        if self.usual() == Some((self.from, self.to)) {
            return Ok(());
        }
        write!(f, "{}{}", self.from.letter(), self.to.letter())
    }
}

/// The edge with this name; `Ws` is another word for `Co`.
pub(super) fn named(word: &str) -> Option<Edge> {
    let word = word.strip_prefix("Ws").map_or_else(|| word.to_owned(), |rest| format!("Co{rest}"));
    Edge::all().into_iter().find(|edge| edge.to_string() == word)
}
