//! Workers that share the walk.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::job::Job;

/// Jobs that wait for a worker.
pub(super) struct Pool {
    inner: Mutex<Inner>,
    changed: Condvar,
    /// Whether some worker has nothing to do.
    hungry: AtomicBool,
    /// Whether the workers are to give their jobs back.
    recalled: AtomicBool,
}

struct Inner {
    jobs: Vec<Job>,
    n_workers: usize,
    n_idle: usize,
    /// No job after this one counts any more: a violation was found in it, and the search ends with the first.
    last: Option<Job>,
}

impl Pool {
    /// No job after `last` counts.
    pub(super) fn new(jobs: Vec<Job>, n_workers: usize, last: Option<Job>) -> Self {
        Pool {
            inner: Mutex::new(Inner { jobs, n_workers, n_idle: 0, last }),
            changed: Condvar::new(),
            hungry: AtomicBool::new(false),
            recalled: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A worker that panics has left the pool as it should be.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a worker that has something to share should.
    pub(super) fn is_hungry(&self) -> bool {
        self.hungry.load(Ordering::Relaxed)
    }

    /// Whether jobs are to be given back.
    pub(super) fn is_recalled(&self) -> bool {
        self.recalled.load(Ordering::Relaxed)
    }

    /// Wants all jobs back.
    pub(super) fn recall(&self) {
        // Nobody is between looking at this and waiting while the lock is held.
        let _inner = self.lock();
        self.recalled.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Adds a job.
    pub(super) fn put(&self, job: Job) {
        let mut inner = self.lock();
        if inner.last.as_ref().is_some_and(|last| job.order(last).is_gt()) {
            return;
        }
        inner.jobs.push(job);
        self.hungry.store(inner.jobs.len() < inner.n_idle, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Ends the search after `job`.
    pub(super) fn end_after(&self, job: &Job) {
        let mut inner = self.lock();
        if inner.last.as_ref().is_none_or(|last| job.order(last).is_lt()) {
            inner.jobs.retain(|other| other.order(job).is_le());
            inner.last = Some(job.clone());
        }
    }

    /// Whether a job that begins there still counts.
    pub(super) fn counts(&self, job: &Job) -> bool {
        self.lock().last.as_ref().is_none_or(|last| job.order(last).is_le())
    }

    /// The first job there is; waits for one while others may still share. None when all is done or recalled.
    pub(super) fn take(&self) -> Option<Job> {
        let mut inner = self.lock();
        loop {
            if self.is_recalled() {
                return None;
            }
            if let Some(first) = (0..inner.jobs.len()).min_by(|&a, &b| inner.jobs[a].order(&inner.jobs[b])) {
                return Some(inner.jobs.swap_remove(first));
            }
            inner.n_idle += 1;
            if inner.n_idle == inner.n_workers {
                self.changed.notify_all();
                return None;
            }
            self.hungry.store(true, Ordering::Relaxed);
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
            if inner.n_idle == inner.n_workers {
                return None;
            }
            inner.n_idle -= 1;
            self.hungry.store(inner.jobs.len() < inner.n_idle, Ordering::Relaxed);
        }
    }

    /// What is left, in the order of the walk, and the last job that counts.
    pub(super) fn into_rest(self) -> (Vec<Job>, Option<Job>) {
        let Inner { mut jobs, last, .. } = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        jobs.sort_by(Job::order);
        (jobs, last)
    }
}
