//! Literals: a variable, or its opposite.

/// A variable that is to be true, or to be false.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Literal(u32);

impl Literal {
    /// That `variable` has this value.
    pub(super) fn new(variable: usize, value: bool) -> Self {
        let number = u32::try_from(variable).expect("there are fewer variables than pairs of events");
        Literal(2 * number + u32::from(!value))
    }

    #[inline]
    pub(super) fn variable(self) -> usize {
        self.0 as usize / 2
    }

    /// The value that it gives its variable.
    #[inline]
    pub(super) fn value(self) -> bool {
        self.0.is_multiple_of(2)
    }

    #[inline]
    pub(super) fn opposite(self) -> Self {
        Literal(self.0 ^ 1)
    }

    /// A number for it, to index with.
    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}
