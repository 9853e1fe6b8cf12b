//! z3, started once, and asked one formula after the other.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::clock::Clock;

/// After so many milliseconds it may give up.
const PATIENCE: u32 = 60_000;

/// It is running, and waits for a formula.
pub(super) struct Z3 {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Z3 {
    /// None if it is not installed.
    pub(super) fn start() -> Option<Z3> {
        let mut command = Command::new("z3");
        let mut child = command.arg("-in").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let (questions, answers) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        let mut z3 = Z3 { child, questions, answers };
        // What it does only once is not to count.
        z3.ask("(check-sat)\n").1.map(|_| z3)
    }

    /// The seconds until it has an answer, and whether it finds the formula satisfiable, if it says so.
    pub(super) fn ask(&mut self, formula: &str) -> (f64, Option<bool>) {
        let text = format!("(reset)\n(set-option :timeout {PATIENCE})\n{formula}");
        let clock = Clock::start();
        let mut answer = String::new();
        let is_asked = self.questions.write_all(text.as_bytes()).and_then(|()| self.questions.flush()).is_ok();
        let is_answered = is_asked && self.answers.read_line(&mut answer).is_ok();
        let seconds = clock.elapsed().as_secs_f64();
        let says = match answer.trim() {
            "sat" => Some(true),
            "unsat" => Some(false),
            _ => None,
        };
        (seconds, says.filter(|_| is_answered))
    }
}

impl Drop for Z3 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
