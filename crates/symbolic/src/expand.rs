//! The steps that are possible from a symbolic state, and where they lead.
//!
//! One operation may be several symbolic steps, one for each value that it may read; each has its effects on the buffer
//! languages, and all contents for which it is possible go along at once.

use teetotal_memory::{Model, Step};
use teetotal_program::{ExplicitState, Failure, Loc, OnFailure, Op, Order, Status, ThreadId, Value};

use super::automaton::Language;
use super::buffer_language::{Buffers, Effect};
use super::keys::{Key, Keys};
use super::point::Point;
use super::search::Settings;

/// A symbolic step as it was taken.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Taken {
    /// The step of the machine.
    pub(super) step: Step,
    /// What it read.
    pub(super) seen: Vec<Value>,
    /// What it does to buffers, in this order.
    pub(super) effects: Vec<(ThreadId, Effect)>,
    /// Whether the thread then waits for its buffer to be empty.
    pub(super) drains: bool,
}

/// A symbolic state that a step leads to.
#[derive(Clone, Debug)]
pub(super) struct Successor {
    pub(super) taken: Taken,
    pub(super) key: Key,
    pub(super) languages: Box<[Language]>,
    /// The thread that goes wrong in the step, and how.
    pub(super) failure: Option<(ThreadId, Failure)>,
    /// Whether the thread goes back in a loop by it.
    goes_back: bool,
}

/// One way in which an operation may go.
pub(super) struct Way {
    alternative: u32,
    pub(super) effects: Vec<(ThreadId, Effect)>,
    /// What the thread is answered.
    answer: Vec<Value>,
    /// What it writes to memory at once.
    write: Option<(Loc, Value)>,
    /// Whether the thread then waits for its buffer to be empty.
    drains: bool,
}

/// Effects that leave a part of the contents.
pub(super) type Part = Vec<(ThreadId, Effect)>;

/// Threads, memory and buffers of one program under the model `M`.
#[derive(Debug)]
pub(super) struct World<S, M> {
    pub(super) buffers: Buffers<M>,
    pub(super) keys: Keys,
    /// The state whose steps are looked at.
    pub(super) at: Point<S>,
    pub(super) next: Point<S>,
    bytes: Vec<u8>,
    /// No buffer holds more stores than this.
    pub(super) buffer_limit: Option<u32>,
    /// Whether a store was ever held back because of the limit.
    pub(super) limit_reached: bool,
    /// Whether it matters what a store passes when it leaves.
    tells_passed: bool,
    /// An automaton with more states than this is taken for one that never stops growing.
    pub(super) automaton_states: usize,
}

impl<S: ExplicitState, M: Model> World<S, M> {
    pub(super) fn new(subject: S, settings: &Settings) -> Self {
        let at = Point::new(subject);
        World {
            buffers: Buffers::default(),
            keys: Keys::default(),
            next: at.clone(),
            at,
            bytes: Vec::new(),
            buffer_limit: settings.limits.buffer.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX)),
            limit_reached: false,
            tells_passed: settings.coarse.is_none(),
            automaton_states: settings.automaton_states,
        }
    }

    /// The number of threads and memory as they are now.
    pub(super) fn intern(&mut self) -> Key {
        self.bytes.clear();
        self.at.save::<M>(&mut self.bytes);
        self.keys.intern(&self.at, &self.bytes)
    }

    /// Goes to a state that was met before.
    pub(super) fn visit(&mut self, key: Key) {
        self.at.load::<M>(self.keys.bytes_of(key));
    }

    /// Every step from here with these buffers: operations by thread, then stores that leave by thread.
    ///
    /// With reduction, only those of one thread where that is enough.
    pub(super) fn successors(&mut self, languages: &[Language], reduce: bool) -> Vec<Successor> {
        let mut found = Vec::new();
        if reduce && let Some(thread) = self.goes_alone(languages) {
            self.issue(thread, languages, &mut found);
            if !found.iter().any(|successor| successor.goes_back) {
                return found;
            }
            found.clear();
        }
        self.operations(languages, &mut found);
        if M::BUFFERS {
            (0..languages.len()).for_each(|index| self.commits(ThreadId::at(index), languages, &mut found));
        }
        found
    }

    /// The next step, if there is only one thread whose step matters and it has one that does not go back in a loop.
    pub(super) fn slide(&mut self, languages: &[Language]) -> Option<Successor> {
        let thread = self.goes_alone(languages)?;
        let mut found = self.steps_of(thread, languages);
        if found.len() == 1 { found.pop().filter(|successor| !successor.goes_back) } else { None }
    }

    /// The operation of one thread.
    pub(super) fn steps_of(&mut self, thread: ThreadId, languages: &[Language]) -> Vec<Successor> {
        let mut found = Vec::new();
        self.issue(thread, languages, &mut found);
        found
    }

    /// Whether no thread can go on while all buffers are empty.
    pub(super) fn is_final(&mut self) -> bool {
        (0..self.at.subject.n_threads()).map(ThreadId::at).all(|thread| match self.at.subject.status(thread) {
            Status::Ready(Op::Lock { loc, .. }) => self.at.memory[loc.index()] != 0,
            Status::Ready(Op::Join { thread: child, .. }) => self.at.subject.status(child) != Status::Finished,
            Status::Ready(op @ Op::Await { .. }) => self.ways(thread, op, Language::EPSILON).is_empty(),
            Status::Ready(_) => false,
            _ => true,
        })
    }

    fn operations(&mut self, languages: &[Language], found: &mut Vec<Successor>) {
        match self.at.subject.exclusive() {
            Some(exclusive) => self.issue(exclusive, languages, found),
            None => (0..languages.len()).for_each(|index| self.issue(ThreadId::at(index), languages, found)),
        }
    }

    /// Adds what the operation of `thread` leads to.
    fn issue(&mut self, thread: ThreadId, languages: &[Language], found: &mut Vec<Successor>) {
        let Status::Ready(op) = self.at.subject.status(thread) else { return };
        let begin = if self.at.draining[thread.index()] { vec![(thread, Effect::Drained)] } else { Part::new() };
        let mut drained = None;
        if !begin.is_empty() {
            let Some(languages) = self.apply(&begin, languages) else { return };
            drained = Some(languages);
        }
        let languages = drained.as_deref().unwrap_or(languages);
        for mut way in self.ways(thread, op, languages[thread.index()]) {
            let Some(after) = self.apply(&way.effects, languages) else { continue };
            let failure = self.perform(thread, op, &way);
            let goes_back = self.next.subject.position(thread) <= self.at.subject.position(thread);
            if !begin.is_empty() {
                way.effects.splice(0..0, begin.iter().copied());
            }
            let step = Step::Issue { thread, alternative: way.alternative };
            let mut settled = self.settle(after);
            let last = settled.pop();
            for (part, key, languages) in settled {
                let effects = way.effects.iter().copied().chain(part).collect();
                let taken = Taken { step, seen: way.answer.clone(), effects, drains: way.drains };
                found.push(Successor { taken, key, languages, failure, goes_back });
            }
            if let Some((part, key, languages)) = last {
                way.effects.extend(part);
                let taken = Taken { step, seen: way.answer, effects: way.effects, drains: way.drains };
                found.push(Successor { taken, key, languages, failure, goes_back });
            }
        }
    }

    /// Adds what it leads to that a store of `thread` leaves.
    fn commits(&mut self, thread: ThreadId, languages: &[Language], found: &mut Vec<Successor>) {
        let language = languages[thread.index()];
        let leaving =
            if self.tells_passed { self.buffers.leaving(language) } else { self.buffers.leaving_somehow(language) };
        for &(letter, leaves, left) in leaving.iter() {
            let store = self.buffers.alphabet.store(letter).expect("only stores leave");
            self.next.copy_from(&self.at);
            self.next.memory[store.loc.index()] = store.value;
            // That it drains no longer is true of the empty content alone, and so it is part of the step.
            let has_drained = self.at.draining[thread.index()] && left == Language::EPSILON;
            self.next.draining[thread.index()] &= !has_drained;
            let drained = has_drained.then_some((thread, Effect::Drained));
            let mut after: Box<[Language]> = languages.into();
            after[thread.index()] = left;
            let step = Step::Commit { thread, loc: store.loc };
            for (part, key, languages) in self.settle(after) {
                let effects = std::iter::once((thread, leaves)).chain(drained).chain(part).collect();
                let taken = Taken { step, seen: Vec::new(), effects, drains: false };
                found.push(Successor { taken, key, languages, failure: None, goes_back: false });
            }
        }
    }

    /// The languages after some effects, unless one of them is empty then.
    pub(super) fn apply(&mut self, effects: &[(ThreadId, Effect)], languages: &[Language]) -> Option<Box<[Language]>> {
        let mut after: Box<[Language]> = languages.into();
        for &(thread, effect) in effects {
            let language = &mut after[thread.index()];
            *language = self.buffers.apply(effect, *language);
            if language.is_empty() {
                return None;
            }
        }
        Some(after)
    }

    /// Takes a step to the next state; gives the thread that goes wrong in it.
    fn perform(&mut self, thread: ThreadId, op: Op, way: &Way) -> Option<(ThreadId, Failure)> {
        let next = &mut self.next;
        next.copy_from(&self.at);
        next.draining[thread.index()] = way.drains;
        if let Some((loc, value)) = way.write {
            next.memory[loc.index()] = value;
        }
        next.subject.resume(thread, &way.answer);
        let failure_of = |thread| next.subject.failure(thread).map(|failure| (thread, failure));
        failure_of(thread).or_else(|| match op {
            Op::Spawn { thread: child, .. } => failure_of(child),
            _ => None,
        })
    }

    pub(super) fn intern_next(&mut self) -> Key {
        self.bytes.clear();
        self.next.save::<M>(&mut self.bytes);
        self.keys.intern(&self.next, &self.bytes)
    }

    /// The ways in which `op` may go; `own` are the contents of the buffer of its thread.
    pub(super) fn ways(&mut self, thread: ThreadId, op: Op, own: Language) -> Vec<Way> {
        let way = |effects: Vec<(ThreadId, Effect)>| Way::plain(effects, Vec::new());
        let may_update = |loc, order| (thread, Effect::MayUpdate { loc, order });
        match op {
            Op::Load { loc, .. } => {
                let sights = self.sights(own, loc).into_iter();
                sights.map(|(value, effect)| Way::plain(vec![(thread, effect)], vec![value])).collect()
            }
            Op::Store { loc, value, order } => vec![self.store(thread, own, (loc, value), order)],
            Op::Rmw { loc, order, on_failure } => self.update_ways(thread, own, loc, order, on_failure),
            Op::Fence { order: Order::SeqCst } => vec![way(vec![(thread, Effect::Drained)])],
            Op::Fence { order: Order::Release | Order::AcqRel } if M::BARRIERS => {
                vec![way(vec![(thread, Effect::Barrier)])]
            }
            Op::Fence { .. } => vec![way(Vec::new())],
            Op::GlobalFence => {
                let threads = (0..self.at.draining.len()).map(ThreadId::at);
                vec![way(threads.map(|t| (t, Effect::Drained)).collect())]
            }
            Op::Lock { loc, order } if self.at.memory[loc.index()] == 0 => {
                let locked = way(vec![may_update(Some(loc), order)]);
                vec![Way { answer: vec![0], write: Some((loc, thread.as_holder())), ..locked }]
            }
            Op::Lock { .. } => Vec::new(),
            Op::Unlock { loc, order } => {
                let old = self.at.memory[loc.index()];
                let write = self.at.subject.modify(thread, old).map(|new| (loc, new));
                vec![Way { answer: vec![old], write, ..way(vec![may_update(Some(loc), order)]) }]
            }
            Op::Spawn { order, .. } => vec![way(vec![may_update(None, order)])],
            Op::Join { thread: child, order } => {
                let ended = self.at.subject.status(child) == Status::Finished;
                let own = order.releases().then(|| may_update(None, order));
                let joined = || way(std::iter::once((child, Effect::Drained)).chain(own).collect());
                ended.then(joined).into_iter().collect()
            }
            Op::Choose { alternatives } => {
                let take = |alternative: u32| Way { alternative, ..Way::plain(Vec::new(), vec![alternative.into()]) };
                (0..alternatives).map(take).collect()
            }
            Op::Await { alternatives, .. } => self.await_ways(thread, own, alternatives),
        }
    }

    /// One way for each alternative that is open to what is seen.
    fn await_ways(&mut self, thread: ThreadId, own: Language, alternatives: u32) -> Vec<Way> {
        let mut ways = Vec::new();
        for (values, part) in self.looks(thread, own) {
            for alternative in 0..alternatives {
                if !self.at.subject.accepts(thread, &values, alternative) {
                    continue;
                }
                let mut way = match self.at.subject.stores(thread, &values, alternative) {
                    Some(store) => self.store(thread, own, store, Order::Plain),
                    None => Way::plain(Vec::new(), Vec::new()),
                };
                way.alternative = alternative;
                way.effects = part.iter().copied().chain(way.effects).collect();
                way.answer.clone_from(&values);
                way.answer.extend((alternatives > 1).then_some(Value::from(alternative)));
                ways.push(way);
            }
        }
        ways
    }

    /// The values that a load of `loc` may see, each with the contents for which it does.
    pub(super) fn sights(&mut self, own: Language, loc: Loc) -> Vec<(Value, Effect)> {
        let memory = self.at.memory[loc.index()];
        if own == Language::EPSILON {
            return vec![(memory, Effect::Absent { loc, value: memory })];
        }
        let parts = self.buffers.newest(own, loc);
        let has_absent = parts.iter().any(|(value, _)| value.is_none());
        let forwards_memory = parts.iter().any(|&(value, _)| value == Some(memory));
        let effect = |value: Option<Value>| match value {
            None if forwards_memory => None,
            None => Some((memory, Effect::Absent { loc, value: memory })),
            Some(value) if value == memory && has_absent => Some((value, Effect::Seen { loc, value })),
            Some(value) => Some((value, Effect::Newest { loc, value })),
        };
        parts.iter().filter_map(|&(value, _)| effect(value)).collect()
    }

    /// A store joins its buffer, or memory where the model has none.
    fn store(&mut self, thread: ThreadId, own: Language, (loc, value): (Loc, Value), order: Order) -> Way {
        if !M::BUFFERS {
            return Way { write: Some((loc, value)), ..Way::plain(Vec::new(), Vec::new()) };
        }
        let mut effects = Vec::new();
        if let Some(limit) = self.buffer_limit {
            let fits = Effect::Shorter(limit);
            self.limit_reached |= self.buffers.apply(fits, own) != own;
            effects.push((thread, fits));
        }
        let letter = self.buffers.alphabet.letter(loc, value, order);
        effects.push((thread, Effect::Append(letter)));
        Way { drains: order == Order::SeqCst, ..Way::plain(effects, Vec::new()) }
    }

    fn update_ways(
        &mut self,
        thread: ThreadId,
        own: Language,
        loc: Loc,
        order: Order,
        on_failure: OnFailure,
    ) -> Vec<Way> {
        let may_update = (thread, Effect::MayUpdate { loc: Some(loc), order });
        let old = self.at.memory[loc.index()];
        let write = self.at.subject.modify(thread, old).map(|new| (loc, new));
        let fails_as_load = M::FAILURE_IS_LOAD && matches!(on_failure, OnFailure::Load(_));
        let at_once = Way { write, ..Way::plain(vec![may_update], vec![old]) };
        if !fails_as_load {
            return vec![at_once];
        }
        let fails = |world: &Self, value| world.at.subject.modify(thread, value).is_none();
        let mut ways = Vec::new();
        for (value, effect) in self.sights(own, loc) {
            if fails(self, value) {
                ways.push(Way::plain(vec![(thread, effect)], vec![value]));
            }
        }
        if write.is_some() {
            ways.push(at_once);
        }
        ways
    }

    /// What an await of `thread` may see, each with the contents for which it does.
    pub(super) fn looks(&mut self, thread: ThreadId, own: Language) -> Vec<(Vec<Value>, Part)> {
        let mut locations = Vec::new();
        self.at.subject.awaited(thread, &mut locations);
        let mut looks = vec![(Vec::with_capacity(locations.len()), Part::with_capacity(locations.len() + 1), own)];
        for loc in locations {
            let mut longer = Vec::with_capacity(looks.len());
            for (mut values, mut part, language) in looks {
                let mut sights = self.sights(language, loc);
                let last = sights.pop();
                for (value, effect) in sights {
                    let (mut values, mut part) = (values.clone(), part.clone());
                    values.push(value);
                    part.push((thread, effect));
                    longer.push((values, part, self.buffers.apply(effect, language)));
                }
                if let Some((value, effect)) = last {
                    values.push(value);
                    part.push((thread, effect));
                    longer.push((values, part, self.buffers.apply(effect, language)));
                }
            }
            looks = longer;
        }
        looks.into_iter().map(|(values, part, _)| (values, part)).collect()
    }
}

impl Way {
    /// A way that writes nothing at once.
    fn plain(effects: Vec<(ThreadId, Effect)>, answer: Vec<Value>) -> Self {
        Way { alternative: 0, effects, answer, write: None, drains: false }
    }
}
