//! What the threads of a trace did, as a subject that does just that, so that the machine can perform it.

use teetotal_memory::{Event, EventId, EventKind, Machine, Model, ModelVisitor, Recorder, Step, Trace};
use teetotal_program::{Loc, OnFailure, Op, Order, Status, Subject, ThreadId, Value};

use super::candidates::Part;
use super::layout::Layout;
use super::question::{Demand, Question};

/// The execution of these steps, if the machine performs them, each thread does what it did, and the demands are met.
pub(super) fn perform(layout: &Layout<'_>, part: &Part, question: &Question<'_>, steps: &[Step]) -> Option<Trace> {
    layout.model.visit(Performing { layout, part, question, steps })
}

struct Performing<'c> {
    layout: &'c Layout<'c>,
    part: &'c Part,
    question: &'c Question<'c>,
    steps: &'c [Step],
}

impl ModelVisitor for Performing<'_> {
    type Output = Option<Trace>;

    fn visit<M: Model>(self) -> Option<Trace> {
        let mut script = Script::new(self.layout, self.part, self.question);
        let mut machine = Machine::<M>::new(&script);
        let mut trace = Trace::default();
        let mut enabled = Vec::new();
        for &step in self.steps {
            enabled.clear();
            machine.enabled(&script, &mut enabled);
            if !enabled.contains(&step) {
                return None;
            }
            machine.perform(&mut script, step, &mut trace);
        }
        let is_over = script.is_over() && machine.is_drained();
        (is_over && meets(self.layout, &trace, self.question.demands)).then_some(trace)
    }
}

/// Whether an execution, in which each thread does what it did in the trace of the layout, meets the demands.
pub(super) fn meets(layout: &Layout<'_>, trace: &Trace, demands: &[Demand]) -> bool {
    let find = |id: EventId| {
        let event = layout.trace.event(id);
        trace.operation(event.thread, event.index)
    };
    let when = |event: &Event| if event.is_store() { event.committed.unwrap_or(u32::MAX) } else { event.step };
    demands.iter().all(|demand| match *demand {
        Demand::Value { read, value } => find(read).is_some_and(|event| event.read == Some(value)),
        Demand::Before { earlier, later } => {
            find(earlier).zip(find(later)).is_some_and(|(earlier, later)| when(earlier) < when(later))
        }
        Demand::Source { read, source } => find(read).and_then(|event| event.source).is_some_and(|found| {
            let wanted = layout.trace.writer(source);
            wanted == trace.writer(found)
        }),
    })
}

/// The threads of a trace, each a list of operations.
#[derive(Clone)]
pub(super) struct Script {
    threads: Vec<Vec<Item>>,
    /// How many operations each thread has performed, if it was started.
    positions: Vec<Option<usize>>,
    /// Which threads are started by others.
    is_spawned: Vec<bool>,
    /// Whether a thread read something else than it did in the trace.
    is_wrong: bool,
    initial: Vec<Value>,
}

/// An operation, and what it reads and writes.
#[derive(Clone)]
struct Item {
    op: Op,
    reads: Vec<(Loc, Expected)>,
    written: Option<(Loc, Value)>,
    /// Where in the program it is.
    place: u32,
    /// The alternative that it takes, if it is an await.
    taken: u32,
}

/// What a read is to return.
#[derive(Clone, Copy)]
enum Expected {
    Value(Value),
    /// Whatever the source that was demanded holds.
    Anything,
}

impl Script {
    pub(super) fn new(layout: &Layout<'_>, part: &Part, question: &Question<'_>) -> Self {
        let mut threads = Vec::new();
        for (thread, &count) in part.counts.iter().enumerate() {
            let events = &layout.threads[thread][..count];
            let same_step = |a: &EventId, b: &EventId| layout.trace.event(*a).step == layout.trace.event(*b).step;
            let items = events.chunk_by(same_step).map(|events| item(layout, events, question.demands));
            threads.push(items.collect());
        }
        let is_spawned: Vec<bool> = layout.starters.iter().map(Option::is_some).collect();
        let initial = layout.locations.iter().map(|location| location.initial).collect();
        let mut script = Script { threads, positions: Vec::new(), is_spawned, is_wrong: false, initial };
        script.restart();
        script
    }

    /// Whether each thread has done all that it did, and read what it is to read.
    pub(super) fn is_over(&self) -> bool {
        let is_over = |(items, position): (&Vec<Item>, &Option<usize>)| position.unwrap_or(0) == items.len();
        !self.is_wrong && self.threads.iter().zip(&self.positions).all(is_over)
    }

    fn item(&self, thread: ThreadId) -> Option<&Item> {
        let position = (*self.positions.get(thread.index())?)?;
        self.threads[thread.index()].get(position)
    }
}

/// The operation that these events are of, all of one step.
fn item(layout: &Layout<'_>, events: &[EventId], demands: &[Demand]) -> Item {
    let expected = |id: EventId, event: &Event| {
        let demanded = demands.iter().find_map(|demand| match *demand {
            Demand::Value { read, value } if read == id => Some(Expected::Value(value)),
            Demand::Source { read, .. } if read == id => Some(Expected::Anything),
            _ => None,
        });
        demanded.or(event.read.map(Expected::Value))
    };
    let all = || events.iter().map(|&id| (id, layout.trace.event(id)));
    let reads = all().filter(|(_, event)| event.is_read());
    let reads = reads.filter_map(|(id, event)| Some((event.loc?, expected(id, event)?))).collect();
    let written = all().find_map(|(_, event)| event.loc.zip(event.written));
    let first = layout.trace.event(events[0]);
    // An await that has a choice has taken one, and offers no more than that.
    let choice = all().find(|(_, event)| event.kind == EventKind::Choose).and_then(|(_, event)| event.read);
    let taken = choice.map_or(0, |value| value as u32);
    let alternatives = if choice.is_some() { (taken + 1).max(2) } else { 1 };
    let op = if events.len() > 1 { Op::Await { alternatives, order: Order::Plain } } else { op_of(first) };
    Item { op, reads, written, place: first.place, taken }
}

fn op_of(event: &Event) -> Op {
    let Event { order, .. } = *event;
    let loc = event.loc.unwrap_or(Loc(0));
    match event.kind {
        EventKind::Load => Op::Load { loc, order },
        EventKind::Store => Op::Store { loc, value: event.written.unwrap_or(0), order },
        EventKind::Rmw | EventKind::FailedRmw => Op::Rmw { loc, order, on_failure: OnFailure::Locked },
        EventKind::Lock => Op::Lock { loc, order },
        EventKind::Unlock => Op::Unlock { loc, order },
        EventKind::Fence => Op::Fence { order },
        EventKind::GlobalFence => Op::GlobalFence,
        EventKind::Spawn(thread) => Op::Spawn { thread, order },
        EventKind::Join(thread) => Op::Join { thread, order },
        EventKind::Choose => Op::Choose { alternatives: event.read.map_or(1, |value| value as u32 + 1) },
    }
}

impl Subject for Script {
    fn n_threads(&self) -> usize {
        self.threads.len()
    }

    fn n_locations(&self) -> usize {
        self.initial.len()
    }

    fn initial(&self, loc: Loc) -> Value {
        self.initial[loc.index()]
    }

    fn status(&self, thread: ThreadId) -> Status {
        if self.is_wrong {
            return Status::Discarded;
        }
        match (self.positions[thread.index()], self.item(thread)) {
            (None, _) => Status::NotStarted,
            (_, Some(item)) => Status::Ready(item.op),
            (_, None) => Status::Finished,
        }
    }

    fn modify(&self, thread: ThreadId, old: Value) -> Option<Value> {
        let item = self.item(thread)?;
        let is_free = old == 0 || !matches!(item.op, Op::Lock { .. });
        item.written.filter(|_| is_free).map(|(_, value)| value)
    }

    fn awaited(&self, thread: ThreadId, locations: &mut Vec<Loc>) {
        locations.extend(self.item(thread).into_iter().flat_map(|item| item.reads.iter().map(|(loc, _)| *loc)));
    }

    fn accepts(&self, thread: ThreadId, values: &[Value], alternative: u32) -> bool {
        self.item(thread).is_some_and(|item| item.taken == alternative && item.is_content(values))
    }

    fn stores(&self, thread: ThreadId, _: &[Value], _: u32) -> Option<(Loc, Value)> {
        self.item(thread)?.written
    }

    fn resume(&mut self, thread: ThreadId, answer: &[Value]) {
        let Some(item) = self.item(thread) else { return };
        let child = match item.op {
            Op::Spawn { thread, .. } => Some(thread),
            _ => None,
        };
        self.is_wrong |= !item.is_content(answer);
        if let Some(position) = &mut self.positions[thread.index()] {
            *position += 1;
        }
        if let Some(position) = child.and_then(|child| self.positions.get_mut(child.index())) {
            position.get_or_insert(0);
        }
    }

    fn restart(&mut self) {
        self.is_wrong = false;
        self.positions.clear();
        self.positions.extend(self.is_spawned.iter().map(|&is_spawned| (!is_spawned).then_some(0)));
    }

    fn place(&self, thread: ThreadId) -> u32 {
        self.item(thread).map_or(0, |item| item.place)
    }
}

impl Item {
    /// Whether it is to return these values.
    fn is_content(&self, values: &[Value]) -> bool {
        self.reads.iter().zip(values).all(|((_, expected), value)| match expected {
            Expected::Value(expected) => expected == value,
            Expected::Anything => true,
        })
    }
}
