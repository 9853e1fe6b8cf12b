//! Files, folders and lists of them, and what is wrong with some.

use expect_test::expect;

use crate::Folder;

/// A test with this name in which one thread sets `x` and another reads it.
fn simple(name: &str) -> String {
    format!("X86 {name}\n{{ }}\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[x] ;\nexists (1:EAX=1)\n")
}

#[test]
fn a_file_is_checked_under_the_name_of_its_test_and_replayed_by_its_path() {
    let folder = Folder::new("file").file("some tests/A.litmus", simple("A")).file("B.litmus", simple("B"));
    folder.check(
        "check B.litmus",
        0,
        expect![[r#"
        B: observed under tso (complete, 6 states)
          asks: exists (1:EAX=1)
          show: teetotal replay B.litmus tso1:3:0ce715a5:0.0w.1
    "#]],
        expect![[""]],
    );
    folder.check(
        "inspect B.litmus",
        0,
        expect![[r#"
        program B
          shared x = 0
        thread P0
              x = 1
        thread P1
              EAX = x
        exists (1:EAX=1)
    "#]],
        expect![[""]],
    );
    let shown = folder.run("check B.litmus").stdout;
    let (_, command) = shown.split_once("show: teetotal ").expect("there is a witness");
    let again = folder.run(command);
    assert_eq!((again.code, again.stderr.as_str()), (Some(0), ""));
    assert!(again.stdout.ends_with("it satisfies exists (1:EAX=1)\n"), "{}", again.stdout);
    assert!(folder.run("check .").stdout.contains("teetotal replay './some tests/A.litmus' tso1:"));
}

#[test]
fn a_folder_is_searched_in_order() {
    let folder = Folder::new("folder")
        .file("tests/b.litmus", simple("second"))
        .file("tests/c/a.litmus", simple("third"))
        .file("tests/a.litmus", simple("first"))
        .file("tests/notes.txt", "nothing to check");
    folder.check(
        "check tests SB --quiet",
        0,
        expect![[r#"
        first: observed under tso (complete, 6 states)
        second: observed under tso (complete, 6 states)
        third: observed under tso (complete, 6 states)
        SB: observed under tso (complete, 15 states)
    "#]],
        expect![[""]],
    );
}

#[test]
fn a_list_names_files_beside_it() {
    let folder = Folder::new("list")
        .file("tests/a.litmus", simple("A"))
        .file("tests/b.litmus", simple("B"))
        .file("tests/list", "# Both of them.\nb.litmus\n\n  a.litmus \nc.litmus\n")
        .file("tests/@all", "a.litmus\n")
        .file("empty", "# Nothing.\n")
        .file("round", "@round\n");
    folder.check(
        "check @tests/list --quiet",
        2,
        expect![[r#"
        B: observed under tso (complete, 6 states)
        A: observed under tso (complete, 6 states)
    "#]],
        expect![[r#"
        error: `tests/c.litmus` cannot be read: there is no such file
    "#]],
    );
    folder.check(
        "check tests/@all --quiet",
        0,
        expect![[r#"
        A: observed under tso (complete, 6 states)
    "#]],
        expect![[""]],
    );
    folder.check(
        "check @empty @nothing @round",
        2,
        expect![[""]],
        expect![[r#"
        error: the list `empty` names no file
        error: `nothing` cannot be read: there is no such file
        error: the list `round` is nested too deeply
    "#]],
    );
}

#[test]
fn a_refused_file_does_not_keep_the_others_from_being_checked() {
    let wrong = simple("wrong").replace("MOV [x],$1", "MOVE [x],$1").replace("[x] ;", "[x ;");
    let folder = Folder::new("refused").file("a.litmus", wrong).file("b.litmus", simple("B"));
    folder.check(
        "check a.litmus b.litmus --quiet",
        2,
        expect![[r#"
        B: observed under tso (complete, 6 states)
    "#]],
        expect![[r#"
            error: the instruction `MOVE` is not supported
              --> a.litmus:4:2
               |
             4 |  MOVE [x],$1 | MOV EAX,[x ;
               |  ^^^^
            help: did you mean `mov`?

            error: `;` stands where `]` is expected
              --> a.litmus:4:27
               |
             4 |  MOVE [x],$1 | MOV EAX,[x ;
               |                           ^
        "#]],
    );
    folder.check("check a.litmus b.litmus --format json", 2, expect![[r#"
        {"format":1,"file":"b.litmus","test":"B","model":"tso","check":["assertion","condition","deadlock"],"search":"stateful","search_reason":"there are few states","verdict":"holds","coverage":{"complete":true,"stopped":null},"condition":"exists (1:EAX=1)","observation":"sometimes","ends":"always","states":["1:EAX=0;","1:EAX=1;"],"stats":{"states":6,"executions":2,"completed":2,"blocked":0,"discarded":0,"failed":0,"abandoned":0,"steps":5,"bytes":524,"pending":0,"satisfying":1,"falsifying":1},"witness":{"state":"1:EAX=1;","token":"tso1:3:0ce715a5:0.0w.1","events":[{"step":1,"thread":"P0","kind":"store","statement":"x = 1","place":"b.litmus:4:2","location":"x","written":1,"reaches_memory":2},{"step":3,"thread":"P1","kind":"load","statement":"EAX = x","place":"b.litmus:4:15","location":"x","read":1,"from":1}]}}
    "#]], expect![[r#"
        error: the instruction `MOVE` is not supported
          --> a.litmus:4:2
           |
         4 |  MOVE [x],$1 | MOV EAX,[x ;
           |  ^^^^
        help: did you mean `mov`?

        error: `;` stands where `]` is expected
          --> a.litmus:4:27
           |
         4 |  MOVE [x],$1 | MOV EAX,[x ;
           |                           ^
    "#]]);
    let ran = folder.run("inspect a.litmus");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = Folder::new("unreadable")
        .file("bytes.litmus", b"X86 A\n{}\n P0 ;\n MOV [x],$\xff ;\n")
        .file("b.litmus", simple("B"))
        .file("nothing/here.txt", "");
    folder.check(
        "check nothing bytes.litmus missing.litmus no/such b.litmus --quiet",
        2,
        expect![[r#"
        B: observed under tso (complete, 6 states)
    "#]],
        expect![[r#"
            error: the folder `nothing` has no file that ends in .litmus or .pml
            error: `bytes.litmus` is not valid UTF-8: line 4 has an invalid byte
            help: save the file as UTF-8
            error: `missing.litmus` cannot be read: there is no such file
            error: `no/such` cannot be read: there is no such file
        "#]],
    );
    folder.check(
        "inspect .",
        2,
        expect![[""]],
        expect![[r#"
        error: `.` names 2 programs
        help: name one of them
    "#]],
    );
    folder.check(
        "replay missing.litmus tso1:0:00000000:",
        2,
        expect![[""]],
        expect![[r#"
        error: `missing.litmus` cannot be read: there is no such file
    "#]],
    );
}

#[test]
fn texts_of_all_kinds_are_refused_with_a_message() {
    for (index, text) in ["", "\n", "X86", "X86 A\n{", "\t\t|;\u{feff}\u{4e00}", "C A\n{}\n"].into_iter().enumerate() {
        let ran = Folder::new(&format!("odd-{index}")).file("a.litmus", text).run("check a.litmus");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{text:?}");
        assert!(ran.stderr.starts_with("error: "), "{text:?}: {}", ran.stderr);
    }
}

#[test]
fn a_file_goes_before_a_bundled_program_and_a_folder_after_it() {
    let folder = Folder::new("order").file("SB", simple("mine")).file("MP/a.litmus", simple("inside"));
    folder.check(
        "check SB MP MP/ --quiet",
        0,
        expect![[r#"
        mine: observed under tso (complete, 6 states)
        MP: never observed under tso (complete, 14 states)
        inside: observed under tso (complete, 6 states)
    "#]],
        expect![[""]],
    );
}
