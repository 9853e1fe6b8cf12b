//! Litmus tests in the formats for other programs.

use expect_test::expect;

use crate::{Folder, check};

const SB: &str = "\
X86_64 SB
{}
 P0         | P1         ;
 movl $1,(x)  | movl $1,(y)  ;
 movl (y),%eax | movl (x),%eax ;
exists (0:rax=0 /\\ 1:rax=0)
";

const COHERENCE: &str = "\
X86 CO
{ x=0; }
 P0         | P1         ;
 MOV [x],$1 | MOV [x],$2 ;
forall (x=1 \\/ x=2 /\\ not (x=1))
";

const MP: &str = "\
X86 MP
\"Fre PodWW Rfe PodRR\"
{ }
 P0         | P1         ;
 MOV [x],$1 | MOV EAX,[y] ;
 MOV [y],$1 | MOV EBX,[x] ;
~exists (1:EAX=1 /\\ 1:EBX=0)
";

#[test]
fn store_buffering_in_the_words_of_herd() {
    Folder::new("herd").file("SB.litmus", SB).check(
        "check SB.litmus --model all --format herd",
        0,
        expect![[""]],
        expect![[""]],
    );
}

#[test]
fn a_demand_that_is_met_and_one_that_is_broken() {
    let folder = Folder::new("demands").file("CO.litmus", COHERENCE).file("MP.litmus", MP);
    folder.check("check CO.litmus --format herd", 0, expect![[""]], expect![[""]]);
    folder.check("check MP.litmus --format herd --model tso,pso", 1, expect![[""]], expect![[""]]);
    let broken = COHERENCE.replace("x=1 \\/ x=2 /\\ not (x=1)", "x=1");
    Folder::new("forall").file("CO.litmus", broken).check(
        "check CO.litmus --format herd",
        1,
        expect![[""]],
        expect![[""]],
    );
}

#[test]
fn what_herd_has_no_words_for_is_told_beside_it() {
    let folder = Folder::new("beside");
    folder.check("check MP --format herd --limit states=3", 3, expect![[""]], expect![[""]]);
    folder.check("check ping-pong --format herd", 1, expect![[""]], expect![[""]]);
}

#[test]
fn each_answer_is_a_line_of_json() {
    let folder = Folder::new("json").file("SB.litmus", SB).file("MP.litmus", MP);
    folder.check("check SB.litmus --model sc,tso --format json", 0, expect![[""]], expect![[""]]);
    folder.check("check MP.litmus --model pso --format json", 1, expect![[""]], expect![[""]]);
}

#[test]
fn a_search_that_was_stopped_knows_nothing() {
    check("check MP --format json --limit states=3", 3, expect![[""]]);
}

#[test]
fn the_time_is_told_only_with_statistics() {
    let folder = Folder::new("time").file("SB.litmus", SB);
    assert_eq!(folder.run("check SB.litmus --format herd"), folder.run("check SB.litmus --format herd --jobs 3"));
    assert!(folder.run("check SB.litmus --format herd --stats").stdout.contains("\nTime SB 0."));
}
