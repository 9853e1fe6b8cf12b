//! From a delay that was seen under sequential consistency to an execution of the model that shows it.

use teetotal_judge::monitors::robustness::Delay;
use teetotal_memory::{Step, Trace};

/// Makes executions of a model out of delays.
pub trait Construct: Send {
    /// Performs `delay`, which was seen in `trace`, an execution of sequential consistency.
    fn construct(&mut self, trace: &Trace, delay: &Delay) -> Constructed;

    /// Whether it was ever given up to find an execution that counts.
    fn gave_up(&self) -> bool;

    /// One for the same program and model that has made nothing yet.
    fn afresh(&self) -> Box<dyn Construct>;
}

/// What became of a delay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Constructed {
    /// An execution of the model in which happens-before has a cycle.
    Execution(Vec<Step>),
    /// The access is not possible so early, or every execution that goes on from there is discarded.
    Impossible,
}
