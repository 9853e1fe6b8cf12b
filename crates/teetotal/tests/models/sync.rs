//! Channels, barriers, things done once, locks, and waiting with a limit on the time.

use super::common;

use std::time::Duration;

use common::{MODELS, executions, explore, failure};
use teetotal::ModelId;
use teetotal::sync::atomic::{AtomicUsize, Ordering};
use teetotal::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError, channel, sync_channel};
use teetotal::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Notify, Once, OnceLock, RwLock, RwLockWriteGuard};
use teetotal::thread;

#[test]
fn messages_of_one_sender_arrive_in_order() {
    for model in MODELS {
        let report = explore(model, || {
            let (sender, receiver) = channel();
            let other = sender.clone();
            thread::spawn(move || {
                sender.send(1).expect("somebody receives");
                sender.send(2).expect("somebody receives");
            });
            thread::spawn(move || other.send(10).expect("somebody receives"));
            let received: Vec<i32> = receiver.iter().collect();
            let small: Vec<i32> = received.iter().copied().filter(|&n| n < 10).collect();
            assert_eq!((received.len(), small), (3, vec![1, 2]));
        });
        assert_eq!(report.failure, None);
        assert!(report.coverage.is_complete());
    }
}

#[test]
fn a_receiver_without_senders_and_a_sender_without_receiver_are_told() {
    let report = explore(ModelId::Pso, || {
        let (sender, receiver) = channel::<i32>();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        drop(sender);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert!(receiver.recv().is_err());
        let (sender, receiver) = channel();
        drop(receiver);
        assert!(sender.send(1).is_err());
    });
    assert_eq!((report.failure, report.executions), (None, 1));
}

#[test]
fn a_receiver_that_nobody_sends_to_deadlocks() {
    let text = failure(ModelId::Pso, || {
        let (sender, receiver) = channel::<i32>();
        let _ = receiver.recv();
        drop(sender);
    });
    assert!(text.starts_with("deadlock: main is blocked forever"), "{text}");
}

#[test]
fn a_sender_waits_for_room() {
    for bound in 0..=2 {
        for model in MODELS {
            let report = explore(model, move || {
                let sent = Arc::new(AtomicUsize::new(0));
                let other = Arc::clone(&sent);
                let (sender, receiver) = sync_channel(bound);
                let thread = thread::spawn(move || {
                    for message in 0..3 {
                        sender.send(message).expect("somebody receives");
                        other.fetch_add(1, Ordering::Relaxed);
                    }
                });
                assert!(sent.load(Ordering::Relaxed) <= bound.max(1), "{bound} have room");
                assert_eq!((0..3).filter_map(|_| receiver.recv().ok()).collect::<Vec<_>>(), [0, 1, 2]);
                thread.join().expect("it ends");
            });
            assert_eq!(report.failure, None);
        }
    }
}

#[test]
fn there_may_be_no_room() {
    let report = explore(ModelId::Sc, || {
        let (sender, receiver) = sync_channel(1);
        sender.try_send(1).expect("there is room");
        assert!(matches!(sender.try_send(2), Err(TrySendError::Full(2))));
        assert_eq!(receiver.recv(), Ok(1));
        drop(receiver);
        assert!(matches!(sender.try_send(3), Err(TrySendError::Disconnected(3))));
    });
    assert_eq!(report.failure, None);
}

#[test]
fn time_may_be_over_first() {
    let seen: &'static std::sync::Mutex<Vec<Option<i32>>> = Box::leak(Box::default());
    let report = explore(ModelId::Pso, move || {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || {
            sender.send(1).expect("somebody receives");
            sender
        });
        let received = receiver.recv_timeout(Duration::from_secs(1));
        assert_ne!(received, Err(RecvTimeoutError::Disconnected));
        seen.lock().expect("no thread panics").push(received.ok());
        thread.join().expect("it ends");
    });
    assert_eq!(report.failure, None);
    let seen = seen.lock().expect("no thread panics");
    assert!(seen.contains(&None) && seen.contains(&Some(1)), "{seen:?}");
}

#[test]
fn a_barrier_lets_threads_go_on_together() {
    for model in MODELS {
        let report = explore(model, || {
            let barrier = Arc::new(Barrier::new(3));
            let come = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let (barrier, come) = (Arc::clone(&barrier), Arc::clone(&come));
                    thread::spawn(move || {
                        come.fetch_add(1, Ordering::Relaxed);
                        let is_leader = barrier.wait().is_leader();
                        assert_eq!(come.load(Ordering::Relaxed), 3);
                        is_leader
                    })
                })
                .collect();
            let leaders = threads.into_iter().filter_map(|thread| thread.join().ok()).filter(|&leads| leads).count();
            assert_eq!(leaders, 1);
        });
        assert_eq!(report.failure, None);
    }
}

#[test]
fn what_is_done_once_is_done_when_others_go_on() {
    static ONCE: Once = Once::new();
    static VALUE: OnceLock<usize> = OnceLock::new();
    static LAZY: LazyLock<AtomicUsize> = LazyLock::new(|| AtomicUsize::new(3));
    for model in MODELS {
        let report = explore(model, || {
            let calls = Arc::new(AtomicUsize::new(0));
            assert_eq!(VALUE.get(), None, "each execution begins without a value");
            let threads: Vec<_> = (0..2)
                .map(|i| {
                    let calls = Arc::clone(&calls);
                    thread::spawn(move || {
                        ONCE.call_once(|| {
                            calls.fetch_add(1, Ordering::Relaxed);
                        });
                        assert_eq!(calls.load(Ordering::Relaxed), 1);
                        LAZY.fetch_add(1, Ordering::Relaxed);
                        *VALUE.get_or_init(|| i)
                    })
                })
                .collect();
            let values: Vec<_> = threads.into_iter().filter_map(|thread| thread.join().ok()).collect();
            assert_eq!(values[0], values[1]);
            assert_eq!(VALUE.set(9), Err(9));
            assert_eq!(LAZY.load(Ordering::Relaxed), 5);
        });
        assert_eq!(report.failure, None);
        assert!(report.coverage.is_complete());
    }
}

#[test]
fn readers_share_and_a_writer_does_not() {
    for model in MODELS {
        let report = explore(model, || {
            let lock = Arc::new(RwLock::new((0, 0)));
            let other = Arc::clone(&lock);
            let writer = thread::spawn(move || {
                let mut guard = other.write().expect("no thread panics");
                guard.0 += 1;
                guard.1 += 1;
                let guard = RwLockWriteGuard::downgrade(guard);
                assert_eq!(*guard, (1, 1));
            });
            let first = lock.read().expect("no thread panics");
            let second = lock.try_read().expect("nobody writes");
            assert_eq!(*first, *second);
            assert!(lock.try_write().is_err());
            drop((first, second));
            writer.join().expect("it ends");
            assert!(lock.try_write().is_ok() && lock.try_read().is_ok());
        });
        assert_eq!(report.failure, None);
    }
}

#[test]
fn a_lock_whose_holder_panicked_is_poisoned_and_free() {
    let report = explore(ModelId::Pso, || {
        let lock = Mutex::new(1);
        let caught = std::panic::catch_unwind(|| {
            let _guard = lock.lock();
            panic!("on purpose");
        });
        assert!(caught.is_err() && lock.is_poisoned());
        assert_eq!(*lock.lock().expect_err("it is poisoned").into_inner(), 1);
        lock.clear_poison();
        assert_eq!(lock.lock().map(|guard| *guard).ok(), Some(1));
    });
    assert_eq!(report.failure, None);
}

#[test]
fn who_waits_is_notified() {
    for model in MODELS {
        let report = explore(model, || {
            let pair = Arc::new((Mutex::new(false), Condvar::new()));
            let other = Arc::clone(&pair);
            thread::spawn(move || {
                *other.0.lock().expect("no thread panics") = true;
                other.1.notify_one();
            });
            let guard = pair.0.lock().expect("no thread panics");
            let guard = pair.1.wait_while(guard, |is_set| !*is_set).expect("no thread panics");
            assert!(*guard);
        });
        assert_eq!(report.failure, None);
    }
}

#[test]
fn a_notification_that_comes_too_early_is_lost() {
    let text = failure(ModelId::Sc, || {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&pair);
        thread::spawn(move || other.1.notify_one());
        let guard = pair.0.lock().expect("no thread panics");
        drop(pair.1.wait(guard));
    });
    assert!(text.starts_with("deadlock"), "{text}");
}

#[test]
fn a_wait_may_time_out_and_is_no_deadlock() {
    let seen: &'static std::sync::Mutex<Vec<bool>> = Box::leak(Box::default());
    let report = explore(ModelId::Sc, move || {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&pair);
        thread::spawn(move || other.1.notify_one());
        let guard = pair.0.lock().expect("no thread panics");
        let (_guard, result) = pair.1.wait_timeout(guard, Duration::from_secs(1)).expect("no thread panics");
        seen.lock().expect("no thread panics").push(result.timed_out());
    });
    assert_eq!(report.failure, None);
    let seen = seen.lock().expect("no thread panics");
    assert!(seen.contains(&true) && seen.contains(&false), "{seen:?}");
}

#[test]
fn notifications_are_kept_for_who_comes_later() {
    assert_eq!(
        executions(ModelId::Pso, || {
            let notify = Arc::new(Notify::new());
            let other = Arc::clone(&notify);
            let thread = thread::spawn(move || other.notify());
            notify.wait();
            thread.join().expect("it ends");
        }),
        1
    );
}

/// From the 65th thread on some are woken together, which a wait must expect.
#[test]
fn more_than_64_threads_may_wait() {
    let mut builder = teetotal::model::Builder::new();
    builder.max_permutations = Some(3);
    let report = builder.explore(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let waiting: Vec<_> = (0..70)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let mut ready = shared.0.lock().expect("no thread panics");
                    while !*ready {
                        ready = shared.1.wait(ready).expect("no thread panics");
                    }
                })
            })
            .collect();
        *shared.0.lock().expect("no thread panics") = true;
        shared.1.notify_all();
        waiting.into_iter().for_each(|thread| thread.join().expect("it ends"));
    });
    assert_eq!(report.failure, None);
    assert_eq!(report.executions, 3);
}
