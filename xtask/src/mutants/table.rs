//! The faults.
use super::Mutant;
pub(super) const MUTANTS: &[Mutant] = &[];
