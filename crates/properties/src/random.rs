//! The laws on random programs, tried by several workers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use teetotal_generate::Coverage;
use teetotal_program::ir::Program;

use crate::{LAWS, first_broken, kind_of, program_for, try_all};

/// What stands between the law and the number of programs in the line that says what [`Sample::quick`] found.
pub const AFTER: &str = ", broken after programs: ";

/// The law that a program breaks whose searches do not end in time.
pub const ENDS: &str = "every search ends";

/// Random programs, and what is asked of them.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The first seed; the others follow it.
    pub seed: u64,
    /// How many programs.
    pub programs: u64,
    /// How many workers try them.
    pub jobs: usize,
    /// Only the laws whose name contains this.
    pub law: Option<String>,
    /// Whether to stop at the first program that breaks a law, and not to make it smaller.
    pub quick: bool,
    /// How long one program may take; if one takes longer, the process ends with an error that says so.
    pub patience: Option<Duration>,
}

impl Sample {
    /// Tries all laws; prints what is broken and a summary, and gives how many programs break one.
    pub fn report(&self) -> u64 {
        let started = Instant::now();
        let progress = Progress::default();
        let in_hand: Vec<InHand> = (0..self.jobs.max(1)).map(|_| InHand::default()).collect();
        let coverage = thread::scope(|scope| {
            let workers: Vec<_> = in_hand.iter().map(|mine| scope.spawn(|| self.work(&progress, mine))).collect();
            if let Some(patience) = self.patience {
                let (in_hand, ended) = (&in_hand, &progress.ended);
                scope.spawn(move || watch(in_hand, patience, ended));
            }
            let coverage = workers.into_iter().fold(Coverage::default(), |mut all, worker| {
                all.merge(&worker.join().expect("a worker does not panic"));
                all
            });
            progress.ended.store(true, Ordering::Relaxed);
            coverage
        });
        let broken = progress.broken.into_inner();
        println!("{coverage}");
        println!(
            "{} random programs from seed {}, {} laws: {broken} broken ({:.0} s)",
            coverage.n_programs(),
            self.seed,
            LAWS.iter().filter(|law| self.law.as_deref().is_none_or(|text| law.name.contains(text))).count(),
            started.elapsed().as_secs_f64()
        );
        broken
    }

    /// Tries programs that no other worker has until there is none left or enough are broken.
    fn work(&self, progress: &Progress, mine: &InHand) -> Coverage {
        let max_broken = if self.quick { 1 } else { 3 };
        let mut coverage = Coverage::default();
        while progress.broken.load(Ordering::Relaxed) < max_broken {
            let number = progress.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.programs {
                break;
            }
            *mine.lock().expect("no worker panics") = Some((number, Instant::now()));
            let program = program_for(self.seed + number);
            coverage.add(&program);
            if let Some(report) = self.try_one(&program, number) {
                progress.broken.fetch_add(1, Ordering::Relaxed);
                println!("{report}");
            }
        }
        *mine.lock().expect("no worker panics") = None;
        coverage
    }

    /// A report if the random program with this number breaks a law.
    fn try_one(&self, program: &Program, number: u64) -> Option<String> {
        let seed = self.seed + number;
        if self.quick {
            let (law, reason) = first_broken(program, kind_of(seed).ends, seed, self.law.as_deref())?;
            return Some(format!("{law}{AFTER}{}\n{reason}", number + 1));
        }
        try_all(program, seed, self.law.as_deref())
    }
}

/// What the workers share.
#[derive(Default)]
struct Progress {
    /// The number of the next program.
    next: AtomicU64,
    /// How many programs break a law.
    broken: AtomicU64,
    /// Whether all workers are done.
    ended: AtomicBool,
}

/// The number of the program that a worker tries, and since when.
type InHand = Mutex<Option<(u64, Instant)>>;

/// Ends the process if a worker has one program in hand for too long, since an endless search cannot be stopped.
#[expect(clippy::exit, reason = "a search without an end cannot be left in another way")]
fn watch(in_hand: &[InHand], patience: Duration, ended: &AtomicBool) {
    while !ended.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(20));
        for mine in in_hand {
            let late = mine.lock().expect("no worker panics").filter(|(_, since)| since.elapsed() > patience);
            if let Some((number, _)) = late {
                println!("{ENDS}{AFTER}{}\nnot after {} s", number + 1, patience.as_secs());
                std::process::exit(1);
            }
        }
    }
}
