//! Whether the threads that stand at the end of an execution could wait for good, in another order of the writes.

use teetotal_judge::order::{Answer, Demand, Question, Solver};
use teetotal_memory::{EventId, Source, Step};
use teetotal_program::{Hindsight, Loc};

use super::changes::Changes;

/// How many combinations of last writes are asked about.
const MOST_COMBINATIONS: usize = 64;

/// What is to be at a location at the end.
struct Wish {
    loc: Loc,
    /// Who may have written last.
    last: Vec<Source>,
}

/// Whether memory is at the end as the threads that stand there want it.
pub(super) enum End {
    /// It is.
    AsIs,
    /// It is if the writes come in another order, in which these are the steps.
    Otherwise(Vec<Step>),
    /// It never is.
    Never,
    /// It was not found out.
    Unknown,
}

/// How the execution can end so that every thread that stands there waits for good.
pub(super) fn find<S: Hindsight>(changes: &Changes<'_, S>, solver: &mut Solver<'_>) -> End {
    let wishes = wishes(changes);
    let execution = changes.execution;
    let last = |loc: Loc| {
        let written = execution.trace.coherence(loc).into_iter().rfind(|&id| execution.is_performed(id));
        written.map_or(Source::Initial, Source::Write)
    };
    if wishes.iter().all(|wish| wish.last.contains(&last(wish.loc))) {
        return End::AsIs;
    }
    let n_combinations = wishes.iter().map(|wish| wish.last.len()).try_fold(1_usize, |n, all| n.checked_mul(all));
    let Some(n_combinations) = n_combinations.filter(|&n| n <= MOST_COMBINATIONS) else { return End::Unknown };
    let counts = performed(changes);
    let mut is_known = true;
    for number in 0..n_combinations {
        let mut rest = number;
        let mut demands = Vec::new();
        for wish in &wishes {
            add_demands(changes, wish.loc, wish.last[rest % wish.last.len()], &mut demands);
            rest /= wish.last.len();
        }
        match solver.ask(&Question { events: &counts, demands: &demands }) {
            Answer::Possible(steps) => return End::Otherwise(steps),
            Answer::Impossible => {}
            Answer::Unknown => is_known = false,
        }
    }
    if is_known { End::Never } else { End::Unknown }
}

/// How many events each thread has performed.
fn performed<S: Hindsight>(changes: &Changes<'_, S>) -> Vec<u32> {
    let events = changes.pasts.threads.iter();
    events.map(|events| events.iter().filter(|id| changes.execution.is_performed(**id)).count() as u32).collect()
}

/// For each location that somebody waits at, who may have written last so that everybody waits for good.
fn wishes<S: Hindsight>(changes: &Changes<'_, S>) -> Vec<Wish> {
    let execution = changes.execution;
    let mut wishes: Vec<Wish> = Vec::new();
    let standing = execution.trace.ids().skip(execution.n_performed);
    for (id, loc) in standing.filter_map(|(id, event)| Some((id, event.loc?))) {
        let waits = |source| execution.outcome(changes.subject, changes.failure_is_load, id, source).is_none();
        add_wish(changes, &mut wishes, loc, &waits);
    }
    for &(loc, value) in &execution.wishes {
        add_wish(changes, &mut wishes, loc, &|source| execution.value(loc, source) == value);
    }
    // What a failed await restores it would read from another write next time if that came last, though it is the same value.
    for &(loc, _) in &execution.restored {
        let is_restored = |source| matches!(source, Source::Write(write) if execution.restored.contains(&(loc, write)));
        add_wish(changes, &mut wishes, loc, &is_restored);
    }
    wishes
}

fn add_wish<S: Hindsight>(changes: &Changes<'_, S>, wishes: &mut Vec<Wish>, loc: Loc, suits: &dyn Fn(Source) -> bool) {
    let known = wishes.iter().position(|wish| wish.loc == loc);
    let index = known.unwrap_or_else(|| {
        let all: Vec<Source> = changes.execution.sources(loc).collect();
        // What a location holds at first is what it holds at the end only if nobody writes there.
        let last = if all.len() > 1 { all[1..].to_vec() } else { all };
        wishes.push(Wish { loc, last });
        wishes.len() - 1
    });
    wishes[index].last.retain(|&source| suits(source));
}

/// That nobody writes to `loc` after `last`.
fn add_demands<S: Hindsight>(changes: &Changes<'_, S>, loc: Loc, last: Source, demands: &mut Vec<Demand>) {
    let Source::Write(last) = last else { return };
    let writes = changes.execution.sources(loc).filter_map(|source| match source {
        Source::Write(write) if write != last => Some(write),
        _ => None,
    });
    demands.extend(writes.map(|earlier: EventId| Demand::Before { earlier, later: last }));
}
