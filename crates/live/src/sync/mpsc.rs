//! Replacements for `std::sync::mpsc`.
//!
//! A message has the number that its sender got when it sent it, and is stored under it until the receiver reaches it.

use std::fmt;
use std::panic::Location;
use std::sync::mpsc as real;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use teetotal_program::{OnFailure, Order, Value};

use super::channel;
use crate::hidden::{Kind, Name};
use crate::hint::is_time_over;
use crate::identity::Identity;
use crate::request::{Cell, Function, Until, Update, What};
use crate::runtime::{current, is_active, note_effect, perform, perform_in_drop, refuse_captured, running};
use crate::thread::unmodeled;

/// Creates an unbounded channel.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    if is_active() {
        let shared = unmodeled(|| Arc::new(Shared::new(None)));
        return (Sender(Way::Modeled(Arc::clone(&shared))), Receiver(End::Modeled(shared)));
    }
    let (sender, receiver) = real::channel();
    (Sender(Way::Real(sender)), Receiver(End::Real(receiver)))
}

/// Creates a channel that holds at most `bound` messages; with a bound of 0, a send waits for its receive.
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    if is_active() {
        let shared = unmodeled(|| Arc::new(Shared::new(Some(bound))));
        return (SyncSender(Way::Modeled(Arc::clone(&shared))), Receiver(End::Modeled(shared)));
    }
    let (sender, receiver) = real::sync_channel(bound);
    (SyncSender(Way::Real(sender)), Receiver(End::Real(receiver)))
}

/// Returns the name that is concrete if a thread can observe whether the receiver of a rendezvous channel is blocked.
fn is_receiver_blocked() -> Name {
    static BLOCKED: u8 = 0;
    Name::new(Kind::Thing, &BLOCKED)
}

/// A channel under the checker.
struct Shared<T> {
    identity: Identity,
    bound: Option<usize>,
    messages: Mutex<Messages<T>>,
}

struct Messages<T> {
    /// By their numbers.
    list: Vec<Option<T>>,
    /// The number of messages that the receiver has taken.
    taken: usize,
}

impl<T> Shared<T> {
    fn new(bound: Option<usize>) -> Self {
        Shared { identity: Identity::new(), bound, messages: Mutex::new(Messages { list: Vec::new(), taken: 0 }) }
    }

    fn cell(&self) -> Cell {
        Cell { key: self.identity.key(), initial: channel::SENDER, may_race: false }
    }

    fn rmw(&self, function: Function, operand: Value, order: Order) -> What {
        let update = Update::new(function, operand, 64);
        What::Rmw { at: self.cell(), update, order, on_failure: OnFailure::Load(Order::Acquire) }
    }

    /// Calls `f` with the messages, which it may change.
    fn with<R>(&self, f: impl FnOnce(&mut Messages<T>) -> R) -> R {
        note_effect();
        f(&mut self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the number of messages that the channel can hold.
    fn room(&self) -> Value {
        self.bound.map_or(Value::MAX, |bound| bound.max(1) as Value)
    }

    /// Stores a message for the receiver; returns it if the receiver was dropped.
    fn put(&self, state: Value, message: T) -> Result<Value, T> {
        if channel::is_closed(state) {
            return Err(message);
        }
        let number = channel::sent(state);
        self.with(|messages| {
            unmodeled(|| messages.list.resize_with(messages.list.len().max(number as usize + 1), || None));
            messages.list[number as usize] = Some(message);
        });
        Ok(number)
    }

    fn send(&self, message: T, place: &'static Location<'static>) -> Result<(), SendError<T>> {
        if !is_active() {
            return Err(SendError(message));
        }
        let what = match self.bound {
            None => self.rmw(Function::Send, self.room(), Order::Release),
            Some(_) => {
                let update = Update::new(Function::Send, self.room(), 64);
                What::Lock { at: self.cell(), update, order: Order::AcqRel, timed: false }
            }
        };
        let number = self.put(perform(what, place), message).map_err(SendError)?;
        if self.bound == Some(0) {
            let until = Until::Taken(number);
            let state = perform(What::Await { at: self.cell(), until, order: Order::Acquire, timed: false }, place);
            if channel::taken(state) <= number {
                let message = self.with(|messages| messages.list[number as usize].take());
                return Err(SendError(message.expect("a message that is not taken is still there")));
            }
        }
        Ok(())
    }

    fn try_send(&self, message: T, place: &'static Location<'static>) -> Result<(), TrySendError<T>> {
        if !is_active() {
            return Err(TrySendError::Disconnected(message));
        }
        let function = if self.bound == Some(0) { Function::Hand } else { Function::Send };
        if self.bound == Some(0) {
            current(|execution| execution.expose(is_receiver_blocked()));
        }
        let what = self.rmw(function, self.room(), Order::AcqRel);
        let state = perform(what, place);
        if Update::new(function, self.room(), 64).apply(state).is_none() {
            return Err(TrySendError::Full(message));
        }
        self.put(state, message).map(drop).map_err(TrySendError::Disconnected)
    }

    /// Returns the next message of the receiver, given the state that it read.
    fn get(&self, state: Value) -> Option<T> {
        let taken = self.messages.lock().unwrap_or_else(PoisonError::into_inner).taken;
        if channel::sent(state) as usize <= taken {
            return None;
        }
        self.with(|messages| {
            let message = messages.list.get_mut(messages.taken)?.take();
            messages.taken += 1;
            message
        })
    }

    /// Waits for a message; a `timed` wait ends without one if none can arrive.
    fn recv(&self, timed: bool, place: &'static Location<'static>) -> Result<T, RecvTimeoutError> {
        if !is_active() {
            return Err(RecvTimeoutError::Disconnected);
        }
        let at = self.cell();
        if self.bound == Some(0) && current(|execution| execution.is_open(is_receiver_blocked())).unwrap_or(false) {
            let state = perform(self.rmw(Function::TakeOrWait, 0, Order::AcqRel), place);
            if channel::take(state).is_some() {
                return self.get(state).ok_or(RecvTimeoutError::Disconnected);
            }
        }
        let what = match self.bound {
            None => {
                let taken = self.messages.lock().unwrap_or_else(PoisonError::into_inner).taken;
                let until = Until::Sent(taken as Value);
                What::Await { at, until, order: Order::Acquire, timed }
            }
            Some(_) => What::Lock { at, update: Update::new(Function::Take, 0, 64), order: Order::AcqRel, timed },
        };
        let state = perform(what, place);
        let is_connected = channel::senders(state) > 0;
        self.get(state).ok_or(if is_connected { RecvTimeoutError::Timeout } else { RecvTimeoutError::Disconnected })
    }

    fn try_recv(&self, place: &'static Location<'static>) -> Result<T, TryRecvError> {
        if !is_active() {
            return Err(TryRecvError::Disconnected);
        }
        let at = self.cell();
        let what = match self.bound {
            None => What::Load { at, order: Order::Acquire },
            Some(_) => self.rmw(Function::Take, 0, Order::AcqRel),
        };
        let state = perform(what, place);
        match self.get(state) {
            Some(message) => Ok(message),
            None => Err(if channel::senders(state) == 0 { TryRecvError::Disconnected } else { TryRecvError::Empty }),
        }
    }

    fn recv_timeout(&self, place: &'static Location<'static>) -> Result<T, RecvTimeoutError> {
        if is_active() && is_time_over(place) {
            return self.try_recv(place).map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            });
        }
        self.recv(true, place)
    }

    /// Changes the number of senders.
    fn count(&self, function: Function, order: Order, place: &'static Location<'static>) {
        if running().is_some() {
            perform_in_drop(self.rmw(function, channel::SENDER, order), place);
        }
    }
}

/// Returns `real`, a channel that was created outside of all models, which a model cannot use.
#[track_caller]
fn refused<T>(real: &T) -> &T {
    refuse_captured(Location::caller());
    real
}

/// A sender.
enum Way<T, R> {
    Real(R),
    Modeled(Arc<Shared<T>>),
}

/// The sending side of a channel.
pub struct Sender<T>(Way<T, real::Sender<T>>);

/// The sending side of a bounded channel.
pub struct SyncSender<T>(Way<T, real::SyncSender<T>>);

impl<T> Sender<T> {
    /// Sends a message; returns it as an error if the receiver was dropped.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Way::Real(real) => refused(real).send(message),
            Way::Modeled(shared) => shared.send(message, Location::caller()),
        }
    }
}

impl<T> SyncSender<T> {
    /// Sends a message, waiting for room; returns it as an error if the receiver was dropped.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Way::Real(real) => refused(real).send(message),
            Way::Modeled(shared) => shared.send(message, Location::caller()),
        }
    }

    /// Sends a message if there is room and the receiver was not dropped.
    ///
    /// With a bound of 0 there is room only while the receiver is blocked in [`Receiver::recv`].
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            Way::Real(real) => refused(real).try_send(message),
            Way::Modeled(shared) => shared.try_send(message, Location::caller()),
        }
    }
}

macro_rules! sender {
    ($name:ident) => {
        impl<T> Clone for $name<T> {
            #[track_caller]
            fn clone(&self) -> Self {
                $name(match &self.0 {
                    Way::Real(real) => Way::Real(real.clone()),
                    Way::Modeled(shared) => {
                        shared.count(Function::Add, Order::Relaxed, Location::caller());
                        Way::Modeled(Arc::clone(shared))
                    }
                })
            }
        }

        impl<T> Drop for $name<T> {
            #[track_caller]
            fn drop(&mut self) {
                if let Way::Modeled(shared) = &self.0 {
                    shared.count(Function::Sub, Order::Release, Location::caller());
                }
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

sender!(Sender);
sender!(SyncSender);

/// The receiving side of a channel.
pub struct Receiver<T>(End<T>);

enum End<T> {
    Real(real::Receiver<T>),
    Modeled(Arc<Shared<T>>),
}

// SAFETY: as for the receiver of the standard library; it is not shared, and what it holds may be sent.
unsafe impl<T: Send> Send for Receiver<T> {}

impl<T> Receiver<T> {
    /// Waits for a message; returns an error if there is none and all senders were dropped.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.0 {
            End::Real(real) => refused(real).recv(),
            End::Modeled(shared) => shared.recv(false, Location::caller()).map_err(|_| RecvError),
        }
    }

    /// Receives a message if there is one.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.0 {
            End::Real(real) => refused(real).try_recv(),
            End::Modeled(shared) => shared.try_recv(Location::caller()),
        }
    }

    /// Like [`Receiver::recv`], with a time-out, which in a model may elapse at any time.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            End::Real(real) => refused(real).recv_timeout(timeout),
            End::Modeled(shared) => shared.recv_timeout(Location::caller()),
        }
    }

    /// Iterates over messages until all senders were dropped.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// Iterates over the messages that are there, without waiting.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        let End::Modeled(shared) = &self.0 else { return };
        if running().is_some() {
            perform_in_drop(shared.rmw(Function::Or, channel::CLOSED, Order::AcqRel), Location::caller());
        }
        // A message that was not handed over is returned to the blocked sender.
        if shared.bound != Some(0) {
            let rest = shared.with(|messages| std::mem::take(&mut messages.list));
            drop(rest);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// Iterates over messages until all senders were dropped.
#[derive(Debug)]
pub struct Iter<'a, T>(&'a Receiver<T>);

/// Iterates over the messages that are there, without waiting.
#[derive(Debug)]
pub struct TryIter<'a, T>(&'a Receiver<T>);

/// Iterates over messages until all senders were dropped, and owns the receiver.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}
