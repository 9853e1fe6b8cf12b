//! Each model allows every trace of the stronger ones.

use teetotal_memory::models::{Pso, Sc, Tso};

use crate::{Case, Verdict, has_exclusive};

/// SC ⊆ TSO ⊆ PSO, trace by trace and end by end.
pub(super) fn holds(case: &Case) -> Verdict {
    // A read-modify-write that waits for its buffer gives up an exclusive region, under TSO more often than under PSO.
    if has_exclusive(&case.program) {
        return Ok(());
    }
    let (sc, tso, pso) = (case.everything::<Sc>(), case.everything::<Tso>(), case.everything::<Pso>());
    for (strong, weak, names) in [(sc, tso, "sc but not tso"), (tso, pso, "tso but not pso")] {
        if let Some((trace, _)) = strong.traces.iter().find(|(key, _)| !weak.traces.contains_key(*key)).map(|(_, t)| t)
        {
            return Err(format!("{names} allows {:?}", trace.steps()));
        }
        if let Some(end) = strong.ends.difference(&weak.ends).next() {
            return Err(format!("{names} ends in {end:?}"));
        }
    }
    Ok(())
}
