//! A program as Rust code.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use teetotal::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, TrySendError, channel, sync_channel,
};
use teetotal::sync::{Arc, Barrier, Condvar, Mutex, MutexGuard, Once, OnceLock, TryLockError, Weak};
use teetotal::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use teetotal::thread::{self, ScopedJoinHandle, Thread};

use super::program::{Channel, Op, Program};

/// What each operation of each thread returned.
pub(crate) type Outcome = Vec<Vec<u8>>;

/// Results that are no numbers.
pub(crate) const OK: u8 = 100;
pub(crate) const DISCONNECTED: u8 = 101;
pub(crate) const EMPTY: u8 = 102;
pub(crate) const TIMED_OUT: u8 = 103;

/// What is added where a lock is poisoned.
pub(crate) const BROKEN: u8 = 20;

/// What a thread adds that was woken after the end.
pub(crate) const CLOSED: u8 = 50;

const TIME: Duration = Duration::from_millis(1);

struct Shared {
    mutex: Mutex<(u8, bool)>,
    condvar: Condvar,
    lock: RwLock<u8>,
    barrier: Barrier,
    once: Once,
    cell: OnceLock<u8>,
    fragile: Mutex<u8>,
    brittle: Once,
}

enum Guard<'s> {
    Read(RwLockReadGuard<'s, u8>),
    Write(RwLockWriteGuard<'s, u8>),
}

enum Tx {
    Unbounded(Sender<u8>),
    Bounded(SyncSender<u8>),
}

impl Clone for Tx {
    fn clone(&self) -> Self {
        match self {
            Tx::Unbounded(sender) => Tx::Unbounded(sender.clone()),
            Tx::Bounded(sender) => Tx::Bounded(sender.clone()),
        }
    }
}

impl Tx {
    fn send(&self, value: u8) -> u8 {
        let sent = match self {
            Tx::Unbounded(sender) => sender.send(value),
            Tx::Bounded(sender) => sender.send(value),
        };
        if let Err(error) = sent {
            assert_eq!(error.0, value);
            return DISCONNECTED;
        }
        OK
    }

    fn try_send(&self, value: u8) -> u8 {
        let Tx::Bounded(sender) = self else { return self.send(value) };
        match sender.try_send(value) {
            Ok(()) => OK,
            Err(TrySendError::Full(back)) if back == value => EMPTY,
            Err(TrySendError::Disconnected(back)) if back == value => DISCONNECTED,
            Err(other) => panic!("another message came back: {other:?}"),
        }
    }
}

/// What a thread reads that has been woken.
fn count(&(count, is_closed): &(u8, bool)) -> u8 {
    count + if is_closed { CLOSED } else { 0 }
}

/// What a thread is given.
struct Share {
    sender: Option<Tx>,
    receiver: Option<Receiver<u8>>,
    arcs: Vec<Arc<u8>>,
    weaks: Vec<Weak<u8>>,
    /// The threads that it knows.
    threads: Vec<Thread>,
}

/// What a thread has.
struct Own<'s, 'h> {
    shared: &'s Shared,
    guard: Option<MutexGuard<'s, (u8, bool)>>,
    guards: Vec<Guard<'s>>,
    share: Share,
    /// The threads that it has started, and what they returned.
    handles: Vec<Option<ScopedJoinHandle<'h, Vec<u8>>>>,
    results: Outcome,
}

impl<'s> Own<'s, '_> {
    fn new(shared: &'s Shared, share: Share) -> Self {
        Own { shared, guard: None, guards: Vec::new(), share, handles: Vec::new(), results: Vec::new() }
    }

    fn perform(&mut self, op: Op) -> Option<u8> {
        match op {
            Op::Lock | Op::TryLock | Op::Unlock => self.with_mutex(op),
            Op::Wait | Op::WaitTimeout | Op::NotifyOne | Op::NotifyAll | Op::Close => self.with_condvar(op),
            Op::Read | Op::Write | Op::TryRead | Op::TryWrite => self.with_lock(op),
            Op::Downgrade | Op::Release | Op::ReleaseAll => self.with_guards(op),
            Op::Barrier => Some(self.shared.barrier.wait().is_leader().into()),
            Op::CallOnce | Op::IsCompleted | Op::Set(_) | Op::Get | Op::GetOrInit(_) => Some(self.with_once(op)),
            Op::Send(value) => Some(self.share.sender.as_ref()?.send(value)),
            Op::TrySend(value) => Some(self.share.sender.as_ref()?.try_send(value)),
            Op::Recv | Op::TryRecv | Op::RecvTimeout => self.receive(op),
            Op::DropSender => self.share.sender.take().map(|_| OK),
            Op::DropReceiver => self.share.receiver.take().map(|_| OK),
            Op::Park | Op::ParkTimeout | Op::Unpark(_) => self.with_tokens(op),
            Op::Fragile | Op::TryFragile | Op::Break | Op::IsBroken | Op::Mend => Some(self.with_fragile(op)),
            Op::CallBrittle | Op::PanicBrittle | Op::ForceBrittle => Some(self.with_brittle(op)),
            Op::IsFinished(child) => Some(self.handles[child].as_ref()?.is_finished().into()),
            Op::Join(child) => {
                self.results[child] = self.handles[child].take()?.join().expect("no thread panics");
                Some(OK)
            }
            _ => self.with_arcs(op),
        }
    }

    fn with_mutex(&mut self, op: Op) -> Option<u8> {
        if op == Op::Unlock {
            return self.guard.take().map(|_| OK);
        }
        if op == Op::Lock {
            if self.guard.is_some() {
                return None;
            }
            self.guard = Some(self.shared.mutex.lock().expect("no thread panics"));
        } else {
            let Ok(guard) = self.shared.mutex.try_lock() else { return Some(0) };
            self.guard = Some(guard);
        }
        let count = self.guard.as_mut()?;
        count.0 += 1;
        Some(count.0)
    }

    fn with_condvar(&mut self, op: Op) -> Option<u8> {
        let condvar = &self.shared.condvar;
        match op {
            Op::NotifyOne => condvar.notify_one(),
            Op::NotifyAll => condvar.notify_all(),
            Op::Close => {
                self.shared.mutex.lock().expect("no thread panics").1 = true;
                condvar.notify_all();
            }
            Op::Wait if self.guard.as_ref()?.1 => return Some(EMPTY),
            Op::Wait => {
                self.guard = Some(condvar.wait(self.guard.take()?).expect("no thread panics"));
                return self.guard.as_deref().map(count);
            }
            _ => {
                let (guard, result) = condvar.wait_timeout(self.guard.take()?, TIME).expect("no thread panics");
                let count = count(&guard);
                self.guard = Some(guard);
                return Some(if result.timed_out() { TIMED_OUT + count } else { count });
            }
        }
        Some(OK)
    }

    fn with_lock(&mut self, op: Op) -> Option<u8> {
        let has_written = matches!(self.guards.last(), Some(Guard::Write(_)));
        let lock = &self.shared.lock;
        match op {
            Op::Read if has_written => return None,
            Op::Write if !self.guards.is_empty() => return None,
            Op::Read => self.guards.push(Guard::Read(lock.read().expect("no thread panics"))),
            Op::Write => self.guards.push(Guard::Write(lock.write().expect("no thread panics"))),
            Op::TryRead => match lock.try_read() {
                Ok(guard) => self.guards.push(Guard::Read(guard)),
                Err(_) => return Some(EMPTY),
            },
            _ => match lock.try_write() {
                Ok(guard) => self.guards.push(Guard::Write(guard)),
                Err(_) => return Some(EMPTY),
            },
        }
        Some(match self.guards.last_mut()? {
            Guard::Read(value) => **value,
            Guard::Write(value) => {
                **value += 1;
                **value
            }
        })
    }

    fn with_guards(&mut self, op: Op) -> Option<u8> {
        match op {
            Op::Downgrade => match self.guards.pop()? {
                Guard::Write(guard) => self.guards.push(Guard::Read(RwLockWriteGuard::downgrade(guard))),
                other => {
                    self.guards.push(other);
                    return None;
                }
            },
            Op::Release => drop(self.guards.pop()?),
            _ => {
                while let Some(guard) = self.guards.pop() {
                    drop(guard);
                }
            }
        }
        Some(OK)
    }

    fn with_once(&self, op: Op) -> u8 {
        let Shared { once, cell, .. } = self.shared;
        match op {
            Op::CallOnce => {
                let mut is_called = 0;
                once.call_once(|| is_called = 1);
                is_called
            }
            Op::IsCompleted => once.is_completed().into(),
            Op::Set(value) => cell.set(value).map_or_else(|back| back, |()| OK),
            Op::GetOrInit(value) => *cell.get_or_init(|| value),
            _ => cell.get().copied().unwrap_or(EMPTY),
        }
    }

    fn with_fragile(&self, op: Op) -> u8 {
        let mutex = &self.shared.fragile;
        if op == Op::IsBroken {
            return mutex.is_poisoned().into();
        }
        if op == Op::Mend {
            mutex.clear_poison();
            return OK;
        }
        let (mut guard, was_broken) = match op {
            Op::TryFragile => match mutex.try_lock() {
                Ok(guard) => (guard, 0),
                Err(TryLockError::Poisoned(poisoned)) => (poisoned.into_inner(), BROKEN),
                Err(TryLockError::WouldBlock) => return EMPTY,
            },
            _ => mutex.lock().map_or_else(|poisoned| (poisoned.into_inner(), BROKEN), |guard| (guard, 0)),
        };
        *guard += 1;
        let result = *guard + was_broken;
        if op == Op::Break {
            let unwound = catch_unwind(AssertUnwindSafe(move || {
                let _guard = guard;
                resume_unwind(Box::new(()));
            }));
            assert!(unwound.is_err());
        }
        result
    }

    fn with_brittle(&self, op: Op) -> u8 {
        let (once, mut result) = (&self.shared.brittle, 0);
        let returned = catch_unwind(AssertUnwindSafe(|| match op {
            Op::CallBrittle => once.call_once(|| result = 1),
            Op::ForceBrittle => once.call_once_force(|state| result = if state.is_poisoned() { BROKEN } else { 1 }),
            _ => once.call_once(|| {
                result = 1;
                resume_unwind(Box::new(()));
            }),
        }));
        if returned.is_err() { result + 2 } else { result }
    }

    fn receive(&self, op: Op) -> Option<u8> {
        let receiver = self.share.receiver.as_ref()?;
        Some(match op {
            Op::Recv => receiver.recv().unwrap_or(DISCONNECTED),
            Op::TryRecv => receiver.try_recv().unwrap_or_else(|error| match error {
                TryRecvError::Empty => EMPTY,
                TryRecvError::Disconnected => DISCONNECTED,
            }),
            _ => receiver.recv_timeout(TIME).unwrap_or_else(|error| match error {
                RecvTimeoutError::Timeout => TIMED_OUT,
                RecvTimeoutError::Disconnected => DISCONNECTED,
            }),
        })
    }

    fn with_tokens(&self, op: Op) -> Option<u8> {
        match op {
            Op::Park => thread::park(),
            Op::ParkTimeout => thread::park_timeout(TIME),
            Op::Unpark(other) => self.share.threads.get(other)?.unpark(),
            _ => unreachable!("{op:?} is no matter of tokens"),
        }
        Some(OK)
    }

    fn with_arcs(&mut self, op: Op) -> Option<u8> {
        Some(match op {
            Op::CloneArc => {
                self.share.arcs.push(Arc::clone(self.share.arcs.last()?));
                OK
            }
            Op::DropArc => {
                drop(self.share.arcs.pop()?);
                OK
            }
            Op::DropArcs => {
                while let Some(arc) = self.share.arcs.pop() {
                    drop(arc);
                }
                OK
            }
            Op::IntoInner => Arc::into_inner(self.share.arcs.pop()?).is_some().into(),
            Op::TryUnwrap => match Arc::try_unwrap(self.share.arcs.pop()?) {
                Ok(_) => 1,
                Err(arc) => {
                    self.share.arcs.push(arc);
                    0
                }
            },
            Op::GetMut => Arc::get_mut(self.share.arcs.last_mut()?).is_some().into(),
            Op::StrongCount => Arc::strong_count(self.share.arcs.last()?) as u8,
            Op::WeakCount => Arc::weak_count(self.share.arcs.last()?) as u8,
            Op::MakeWeak => {
                self.share.weaks.push(Arc::downgrade(self.share.arcs.last()?));
                OK
            }
            Op::Upgrade => {
                let arc = self.share.weaks.last()?.upgrade();
                let is_some = arc.is_some();
                self.share.arcs.extend(arc);
                is_some.into()
            }
            Op::DropWeak => {
                drop(self.share.weaks.pop()?);
                OK
            }
            Op::DropWeaks => {
                while let Some(weak) = self.share.weaks.pop() {
                    drop(weak);
                }
                OK
            }
            _ => unreachable!("{op:?} is no matter of references"),
        })
    }

    /// Does everything; returns the results of what could be done.
    fn run(&mut self, ops: &[Op]) -> Vec<u8> {
        let mut log = Vec::new();
        for &op in ops {
            log.extend(self.perform(op));
        }
        log
    }
}

/// Runs the program once.
pub(crate) fn run(program: &Program) -> Outcome {
    let shared = Shared {
        mutex: Mutex::new((0, false)),
        condvar: Condvar::new(),
        lock: RwLock::new(0),
        barrier: Barrier::new(2),
        once: Once::new(),
        cell: OnceLock::new(),
        fragile: Mutex::new(0),
        brittle: Once::new(),
    };
    let n_threads = program.threads.len();
    let (sender, receiver) = match program.channel {
        Channel::Unbounded => {
            let (sender, receiver) = channel();
            (Tx::Unbounded(sender), receiver)
        }
        Channel::Bounded(bound) => {
            let (sender, receiver) = sync_channel(bound);
            (Tx::Bounded(sender), receiver)
        }
    };
    let arc = Arc::new(7);
    let mut receiver = Some(receiver);
    thread::scope(|scope| {
        let mut threads = vec![thread::current()];
        let make = |thread: usize| Share {
            sender: program.has_sender[thread].then(|| sender.clone()),
            receiver: if thread == program.receiver { receiver.take() } else { None },
            arcs: if program.has_arc[thread] { vec![Arc::clone(&arc)] } else { Vec::new() },
            weaks: if program.has_weak[thread] { vec![Arc::downgrade(&arc)] } else { Vec::new() },
            threads: Vec::new(),
        };
        let mut all: Vec<_> = (0..n_threads).map(make).collect();
        drop((sender, arc));
        let (mut handles, shared) = (vec![None], &shared);
        for (thread, mut share) in all.drain(1..).enumerate() {
            share.threads.clone_from(&threads);
            let ops = program.all(thread + 1);
            let handle = scope.spawn(move || Own::new(shared, share).run(&ops));
            threads.push(handle.thread().clone());
            handles.push(Some(handle));
        }
        let mut own = Own::new(shared, all.pop().expect("there is a main thread"));
        (own.share.threads, own.handles, own.results) = (threads, handles, vec![Vec::new(); n_threads]);
        let log = own.run(&program.all(0));
        own.results[0] = log;
        own.results
    })
}
