//! Whether a model allows the execution of a cycle, by axioms on its few events.
//!
//! The axioms: program order to the same location, reads-from, from-read and coherence have no cycle; an exchange comes
//! next after what it read from; and the global order has no cycle, which is reads-from between threads, from-read,
//! coherence, and what the model keeps of program order. An exchange is one event, ordered with all of its thread.
//! A load that reads from its own thread is not ordered after that store: it may have read it in the buffer.

use crate::litmus::cycles::edge::{Access, Barrier};
use crate::litmus::cycles::skeleton::{Skeleton, Source};

/// For each model whether it allows the cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prediction {
    /// Under sequential consistency; never, because the cycle is one of its order.
    pub sc: bool,
    /// Under total store order.
    pub tso: bool,
    /// Under partial store order.
    pub pso: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Model {
    Sc,
    Tso,
    Pso,
}

/// What the axioms say of the executions that satisfy the condition of `skeleton`.
pub(super) fn of(skeleton: &Skeleton) -> Prediction {
    let mut prediction = Prediction { sc: false, tso: false, pso: false };
    // Where the condition leaves the order of two writes open, either may come first.
    let open: Vec<usize> = (0..skeleton.places.len())
        .filter(|&at| skeleton.places[at].writes.len() == 2 && !skeleton.places[at].is_final_shown)
        .collect();
    for swapped in 0..1_usize << open.len() {
        let mut coherence: Vec<Vec<usize>> = skeleton.places.iter().map(|place| place.writes.clone()).collect();
        for (bit, &at) in open.iter().enumerate() {
            if swapped >> bit & 1 == 1 {
                coherence[at].reverse();
            }
        }
        if let Some(execution) = Execution::new(skeleton, &coherence) {
            prediction.sc |= execution.fits(Model::Sc);
            prediction.tso |= execution.fits(Model::Tso);
            prediction.pso |= execution.fits(Model::Pso);
        }
    }
    prediction
}

/// An execution with every relation between its events.
struct Execution<'s> {
    skeleton: &'s Skeleton,
    /// Coherence and from-read.
    overwrites: Matrix,
    reads_from: Matrix,
}

impl<'s> Execution<'s> {
    /// The execution with this order of writes, if it satisfies the condition and each exchange is one step.
    fn new(skeleton: &'s Skeleton, coherence: &[Vec<usize>]) -> Option<Self> {
        let n = skeleton.events.len();
        let (mut overwrites, mut reads_from) = (Matrix::new(n), Matrix::new(n));
        for (at, event) in skeleton.events.iter().enumerate() {
            let writes = &coherence[event.location];
            let own = writes.iter().position(|&write| write == at);
            if let Some(own) = own {
                writes[own + 1..].iter().for_each(|&later| overwrites.set(at, later));
            }
            if !event.access.reads() {
                continue;
            }
            let before = own.map(|own| if own == 0 { Source::Initial } else { Source::Event(writes[own - 1]) });
            let source = event.read.or(before)?;
            if before.is_some_and(|before| before != source) {
                return None;
            }
            let mut first_later = 0;
            if let Source::Event(write) = source {
                reads_from.set(write, at);
                first_later = writes.iter().position(|&known| known == write)? + 1;
            }
            writes[first_later..].iter().filter(|&&later| later != at).for_each(|&later| overwrites.set(at, later));
        }
        Some(Execution { skeleton, overwrites, reads_from })
    }

    fn fits(&self, model: Model) -> bool {
        let events = &self.skeleton.events;
        let (mut coherent, mut global) = (self.overwrites.clone(), self.overwrites.clone());
        for first in 0..events.len() {
            for second in 0..events.len() {
                let same_thread = events[first].thread == events[second].thread;
                let in_order = same_thread && first < second;
                let reads = self.reads_from.has(first, second);
                if reads || (in_order && events[first].location == events[second].location) {
                    coherent.set(first, second);
                }
                if (reads && !same_thread) || (in_order && self.keeps(model, first, second)) {
                    global.set(first, second);
                }
            }
        }
        coherent.is_acyclic() && global.is_acyclic()
    }

    /// Whether the model keeps the order of two events of one thread.
    fn keeps(&self, model: Model, first: usize, second: usize) -> bool {
        let events = &self.skeleton.events;
        let (from, to) = (events[first].access, events[second].access);
        let fenced = |barrier: Barrier| events[first..second].iter().any(|event| event.barrier == Some(barrier));
        match (from, to) {
            _ if model == Model::Sc || fenced(Barrier::Full) => true,
            (Access::Update, _) | (_, Access::Update) | (Access::Read, _) => true,
            (Access::Write, Access::Write) => model == Model::Tso || fenced(Barrier::Stores),
            (Access::Write, Access::Read) => false,
        }
    }
}

/// A relation between few events.
#[derive(Clone)]
struct Matrix {
    n: usize,
    bits: Vec<bool>,
}

impl Matrix {
    fn new(n: usize) -> Self {
        Matrix { n, bits: vec![false; n * n] }
    }

    fn set(&mut self, first: usize, second: usize) {
        self.bits[first * self.n + second] = true;
    }

    fn has(&self, first: usize, second: usize) -> bool {
        self.bits[first * self.n + second]
    }

    /// Whether it leads from no event back to itself.
    fn is_acyclic(&self) -> bool {
        let mut closed = self.clone();
        for middle in 0..self.n {
            for first in 0..self.n {
                for last in 0..self.n {
                    if closed.has(first, middle) && closed.has(middle, last) {
                        closed.set(first, last);
                    }
                }
            }
        }
        (0..self.n).all(|at| !closed.has(at, at))
    }
}
