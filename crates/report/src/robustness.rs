//! The report on programs that are not robust.

use teetotal_check::Outcome;
use teetotal_judge::Finding;
use teetotal_judge::monitors::robustness::{Delay, Site};
use teetotal_program::ir::{Instruction, Program, printer};

use crate::json::Json;
use crate::words;

/// Describes the reordering: the store that is still in its buffer, the access that overtakes it, and where a fence
/// helps.
pub(crate) fn not_robust(program: &Program, delay: &Delay) -> Vec<String> {
    let location = program.location_name(delay.loc);
    let (store, access) = (delay.store_at, delay.access_at);
    let thread = |site: Site| program.threads[site.thread.index()].name.as_str();
    let mut lines = vec![format!(
        "not robust: `{}` of {} can still be in its buffer when {} reaches `{}`",
        statement(program, store),
        thread(store),
        thread(access),
        statement(program, access),
    )];
    let code = &program.threads[access.thread.index()].code;
    let consequence = match code.get(access.place as usize) {
        Some(Instruction::Store { .. }) => format!("so it overwrites what {} stores", thread(access)),
        _ => format!("so {} reads the previous value of {location}", thread(access)),
    };
    lines.push(format!("  although it happened before; {consequence}"));
    lines.extend(place(program, store).map(|place| format!("  --> {place}, the store")));
    lines.extend(place(program, access).map(|place| format!("  --> {place}, the access")));
    lines.extend(delay.fence_helps.map(|helps| {
        match helps {
            true => {
                format!("  help: a full fence after `{}` in {} prevents this", statement(program, store), thread(store))
            }
            false => {
                "  note: no fence after the store prevents this: a step that is atomic under sc is several steps here"
                    .to_owned()
            }
        }
    }));
    lines
}

/// Returns every fence that is needed, each once, if all violations of robustness are known and fences suffice.
pub(crate) fn fences(program: &Program, outcome: &Outcome) -> Vec<String> {
    if !outcome.fences_suffice || !outcome.coverage.is_complete() {
        return Vec::new();
    }
    let delays = outcome.violations.iter().filter_map(|violation| match &violation.finding {
        Finding::NotRobust(delay) => Some(delay.store_at),
        _ => None,
    });
    let mut stores: Vec<Site> = delays.collect();
    stores.sort_unstable();
    stores.dedup();
    let name = |site: &Site| &program.threads[site.thread.index()].name;
    stores.iter().map(|site| format!("after `{}` in {}", statement(program, *site), name(site))).collect()
}

/// Renders the pairs of places that are not robust, and where fences help.
pub(crate) fn record(program: &Program, outcome: &Outcome) -> Json {
    let site = |site: Site| {
        let mut members = vec![
            ("thread", Json::text(&program.threads[site.thread.index()].name)),
            ("statement", Json::text(statement(program, site))),
        ];
        members.extend(place(program, site).map(|place| ("place", Json::Text(place))));
        Json::Object(members)
    };
    let pairs = outcome.violations.iter().filter_map(|violation| {
        let Finding::NotRobust(delay) = &violation.finding else { return None };
        Some(Json::Object(vec![
            ("store", site(delay.store_at)),
            ("access", site(delay.access_at)),
            ("location", Json::text(program.location_name(delay.loc))),
            ("executions", Json::number(violation.executions)),
            ("token", Json::text(violation.token.to_string())),
            ("seen_in", violation.seen_in.as_ref().map_or(Json::Null, |token| Json::text(token.to_string()))),
        ]))
    });
    let pairs = pairs.collect();
    let fences = fences(program, outcome).into_iter().map(Json::Text).collect();
    Json::Object(vec![("pairs", Json::List(pairs)), ("fences", Json::List(fences))])
}

fn statement(program: &Program, site: Site) -> String {
    printer::shown(program, site.thread, site.place as usize, None)
}

fn place(program: &Program, site: Site) -> Option<String> {
    words::place(program, site.thread, site.place as usize)
}
