//! Runs one case of `teetotal-bench rust` on loom or shuttle: `teetotal-bench-peers LIBRARY SECONDS CASE`.
//!
//! Prints one line: executions of one search, seconds on a core that it took, and how it ended.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[path = "../../src/clock.rs"]
mod clock;
mod on_loom;
mod on_shuttle;

use clock::Clock;

/// A search is repeated for so long.
const ENOUGH: Duration = Duration::from_millis(200);

/// Executions since the search began.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

/// What is run again and again.
type Body = Arc<dyn Fn() + Send + Sync>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, seconds, case] = arguments.as_slice() else {
        eprintln!("usage: teetotal-bench-peers loom|loom-bounded|shuttle SECONDS CASE");
        return ExitCode::FAILURE;
    };
    let (find, check): (fn(&str) -> Option<Body>, fn(Body)) = match library.as_str() {
        "loom" => (on_loom::find, |body| on_loom::check(body, None)),
        "loom-bounded" => (on_loom::find, |body| on_loom::check(body, Some(2))),
        _ => (on_shuttle::find, on_shuttle::check),
    };
    let (Some(body), Ok(seconds)) = (find(case), seconds.parse()) else {
        eprintln!("there is no such case");
        return ExitCode::FAILURE;
    };
    give_up_after(Duration::from_secs(seconds));
    std::panic::set_hook(Box::new(|_| ()));
    let clock = Clock::start();
    let mut searches = 0;
    loop {
        EXECUTIONS.store(0, Ordering::Relaxed);
        let body = Arc::clone(&body);
        let is_right = catch_unwind(AssertUnwindSafe(|| check(body))).is_ok();
        searches += 1;
        if clock.on_core() >= ENOUGH || !is_right {
            let executions = EXECUTIONS.load(Ordering::Relaxed);
            let seconds = clock.on_core().as_secs_f64() / f64::from(searches);
            println!("{executions} {seconds} {}", if is_right { "passes" } else { "fails" });
            return ExitCode::SUCCESS;
        }
    }
}

/// Counts an execution and runs it.
fn counted(body: &Body) {
    EXECUTIONS.fetch_add(1, Ordering::Relaxed);
    body();
}

/// Ends the process when the time is over.
fn give_up_after(time: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(time);
        println!("{} {} unfinished", EXECUTIONS.load(Ordering::Relaxed), time.as_secs_f64());
        std::process::exit(0);
    });
}
