//! Each model allows every trace of the stronger ones.

use std::sync::Arc;

use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_program::ir::Program;

use crate::laws::Verdict;
use crate::laws::everything::Everything;

/// SC ⊆ TSO ⊆ PSO, trace by trace and end by end.
pub(super) fn holds(program: &Arc<Program>) -> Verdict {
    let sc = Everything::of::<Sc>(program, &mut |_, _| {});
    let tso = Everything::of::<Tso>(program, &mut |_, _| {});
    let pso = Everything::of::<Pso>(program, &mut |_, _| {});
    for (strong, weak, names) in [(&sc, &tso, "sc but not tso"), (&tso, &pso, "tso but not pso")] {
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
