//! Programs for which a careless reduction would lose executions, each with both searches.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_check::{Options, SearchId, check};
use teetotal_generate::program;
use teetotal_memory::BUFFER_MODELS;

/// Checks that the search over states finds what brute force finds.
fn loses_nothing(text: &str) {
    let program = Arc::new(program(text));
    for model in BUFFER_MODELS {
        let [states, brute] = [SearchId::Stateful, SearchId::Brute].map(|search| {
            let options = Options { search, ..Options::new(model.id) };
            let outcome = check(&program, &options, &|| None).expect("the program can be checked");
            let mut found: BTreeSet<String> = outcome.states.keys().map(|state| format!("{state:?}")).collect();
            found.extend(outcome.violations.iter().map(|violation| format!("{:?}", violation.finding)));
            found
        });
        assert_eq!(states, brute, "{text} under {}", model.name);
    }
}

#[test]
fn a_lock_may_be_freed_by_a_store() {
    loses_nothing("lock l; y=1 || lock l; r0=x || l=0; x=1");
    loses_nothing("lock l; y=1 || lock l; r0=x; r1=y || r0=x; x=1; l=0");
    loses_nothing("{l=1} y=1 || lock l; r0=y || y=2; l=0");
    loses_nothing("{l=9} lock l; r0=x || x=1; r0=xchg(l,0); x=2");
}

#[test]
fn who_spawns_a_thread_first_may_matter() {
    loses_nothing("spawn P2 || spawn P2 || x=1");
    loses_nothing("r0=x; spawn P2 || spawn P2; r0=x || x=1");
}

#[test]
fn a_waiting_thread_is_not_put_off_by_a_busy_one() {
    loses_nothing("await x==1; y=1 || x=1; r0=y; x=2; r1=y");
    loses_nothing("await x==0 && y==1; z=1 || x=1; y=1; x=0; r0=z");
}

#[test]
fn locations_that_are_equal_modulo_64_are_not_told_apart_and_nothing_is_lost() {
    let many: Vec<String> = (0..70).map(|i| format!("v{i}=0")).collect();
    let text = format!("{{{}}} v1=1; r0=v65 || v65=1; r0=v1; v1=2", many.join(", "));
    loses_nothing(&text);
}
