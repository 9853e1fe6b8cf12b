//! The current activity of models, for the watchdog on another OS thread.

use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use teetotal_program::ThreadId;

use crate::surroundings::place_of;

/// The pulse of an OS thread that runs models.
#[derive(Debug, Default)]
pub struct Pulse {
    /// Odd while code of a model runs; incremented whenever it starts or stops.
    beats: AtomicU64,
    thread: AtomicUsize,
    /// The operation that the thread of the model performed last, if there is one.
    place: AtomicPtr<Location<'static>>,
    /// The name of the OS thread, which is that of the test.
    name: Option<String>,
    /// The number that the system has for the OS thread on which the code runs, where that is known.
    task: AtomicU64,
}

/// A running thread of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Running {
    /// The count of the pulse since which it runs.
    pub beat: u64,
    pub thread: ThreadId,
    /// The operation that it performed last, if there is one.
    pub place: Option<&'static Location<'static>>,
}

static ALL: Mutex<Vec<Weak<Pulse>>> = Mutex::new(Vec::new());

/// Returns where the pulses are stored: models on other threads of the process write there.
#[cfg_attr(not(all(target_os = "linux", target_pointer_width = "64")), allow(dead_code))]
pub(crate) fn place() -> Range<usize> {
    place_of(&ALL)
}

thread_local! {
    static OWN: Arc<Pulse> = register();
}

fn register() -> Arc<Pulse> {
    let name = std::thread::current().name().map(str::to_owned);
    let own = Arc::new(Pulse { name, task: task().unwrap_or(0).into(), ..Pulse::default() });
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|other| other.strong_count() > 0);
    all.push(Arc::downgrade(&own));
    own
}

/// Returns the id of this OS thread in the system.
fn task() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: it takes nothing and only returns a number.
        u64::try_from(unsafe { libc::gettid() }).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        None
    }
}

/// Returns the pulses of all OS threads that run models.
#[must_use]
pub fn pulses() -> Vec<Arc<Pulse>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect()
}

impl Pulse {
    /// Returns the name of the OS thread, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns how often the OS thread on which the code runs has gone to sleep, if it is sleeping, as far as the
    /// system reports it.
    #[must_use]
    pub fn asleep(&self) -> Option<u64> {
        let task = self.task.load(Ordering::Relaxed);
        let status = std::fs::read_to_string(format!("/proc/self/task/{task}/status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let sleeps = field("State:")?.starts_with('S');
        if sleeps { field("voluntary_ctxt_switches:")?.parse().ok() } else { None }
    }

    /// Records that the code runs on this OS thread from now on.
    pub(crate) fn move_here(&self) {
        self.task.store(task().unwrap_or(0), Ordering::Relaxed);
    }

    /// Returns the running thread of a model, if any.
    #[must_use]
    pub fn running(&self) -> Option<Running> {
        let beat = self.beats.load(Ordering::Acquire);
        let thread = ThreadId::at(self.thread.load(Ordering::Relaxed));
        let place = self.place.load(Ordering::Relaxed);
        // SAFETY: places in the source are there as long as the program.
        let place = unsafe { place.as_ref() };
        let is_same = self.beats.load(Ordering::Acquire) == beat;
        (is_same && beat % 2 == 1).then_some(Running { beat, thread, place })
    }

    fn beat(&self) {
        // Only this OS thread writes.
        self.beats.store(self.beats.load(Ordering::Relaxed) + 1, Ordering::Release);
    }
}

/// Returns the pulse of this OS thread; none while the thread ends.
pub(crate) fn own_pulse() -> Option<Arc<Pulse>> {
    OWN.try_with(Arc::clone).ok()
}

/// Runs `f`, which is code of `thread` after the operation at `place`, on the OS thread with this pulse.
#[inline(always)]
pub(crate) fn with_pulse<R>(
    pulse: Option<&Pulse>,
    thread: ThreadId,
    place: Option<&'static Location<'static>>,
    f: impl FnOnce() -> R,
) -> R {
    if let Some(own) = pulse {
        own.thread.store(thread.index(), Ordering::Relaxed);
        let place = place.map_or(std::ptr::null_mut(), |place| std::ptr::from_ref(place).cast_mut());
        own.place.store(place, Ordering::Relaxed);
        own.beat();
    }
    let result = f();
    if let Some(own) = pulse {
        own.beat();
    }
    result
}
