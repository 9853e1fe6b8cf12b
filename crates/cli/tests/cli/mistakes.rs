//! Mistakes: each has a clear message and exit code 2.

use expect_test::expect;

use crate::{refuse, run, teetotal};

#[test]
fn an_unknown_program_is_refused() {
    refuse(
        "check foo",
        2,
        expect![[r#"
            error: there is no file or bundled program `foo`
            help: `teetotal list programs` shows the bundled programs
        "#]],
    );
    refuse(
        "check dekker-lop",
        2,
        expect![[r#"
            error: there is no file or bundled program `dekker-lop`
            help: did you mean `dekker-loop`?
            help: `teetotal list programs` shows the bundled programs
        "#]],
    );
    refuse(
        "inspect MPP",
        2,
        expect![[r#"
            error: there is no file or bundled program `MPP`
            help: did you mean `MP`?
            help: `teetotal list programs` shows the bundled programs
        "#]],
    );
}

#[test]
fn one_unknown_program_keeps_the_others_from_being_checked() {
    refuse(
        "check SB foo",
        2,
        expect![[r#"
            error: there is no file or bundled program `foo`
            help: `teetotal list programs` shows the bundled programs
        "#]],
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    refuse(
        "check tests/SB.litmus",
        2,
        expect![[r#"
            error: `tests/SB.litmus` cannot be read: there is no such file
        "#]],
    );
}

#[test]
fn an_unknown_model_is_refused() {
    refuse(
        "check SB --model x86",
        2,
        expect![[r#"
            error: there is no model `x86`
            help: use one of sc, tso, pso, rc11, all
        "#]],
    );
    refuse(
        "check SB --model sc,tsoo",
        2,
        expect![[r#"
        error: there is no model `tsoo`
        help: did you mean `tso`?
    "#]],
    );
}

#[test]
fn an_unknown_check_or_search_is_refused() {
    refuse(
        "check SB --check leaks",
        2,
        expect![[r#"
            error: there is no check `leaks`
            help: use one of assertion, condition, deadlock, races, robustness, sober, sober-as-printed, buffers, all
        "#]],
    );
    refuse(
        "check SB --check assertions",
        2,
        expect![[r#"
        error: there is no check `assertions`
        help: did you mean `assertion`?
    "#]],
    );
    refuse(
        "check SB --search dporr",
        2,
        expect![[r#"
            error: there is no search `dporr`
            help: did you mean `dpor`?
        "#]],
    );
}

#[test]
fn a_limit_of_zero_is_refused() {
    for what in ["states", "steps", "buffer", "memory", "time"] {
        let ran = run(&mut teetotal(&format!("check SB --limit {what}=0")));
        assert_eq!(ran.stderr, format!("error: the limit on {what} is 0, which leaves nothing to search\n"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    }
}

#[test]
fn an_absurd_limit_is_refused() {
    refuse(
        "check SB --limit states=99999999999999999999",
        2,
        expect![[r#"
        error: the limit on states is larger than any search could reach: 99999999999999999999
        help: leave the limit on states out, or use a smaller one
    "#]],
    );
    refuse(
        "check SB --limit memory=99999999999999999",
        2,
        expect![[r#"
        error: the limit on memory is larger than any search could reach: 99999999999999999
        help: leave the limit on memory out, or use a smaller one
    "#]],
    );
    refuse(
        "check SB --limit states=-1",
        2,
        expect![[r#"
        error: the limit on states is not a whole number: `-1`
        help: give it in states, such as states=10
    "#]],
    );
    refuse(
        "check SB --limit states=many",
        2,
        expect![[r#"
        error: the limit on states is not a whole number: `many`
        help: give it in states, such as states=10
    "#]],
    );
    refuse(
        "check SB --limit states=",
        2,
        expect![[r#"
        error: the limit on states is not a whole number: ``
        help: give it in states, such as states=10
    "#]],
    );
}

#[test]
fn limits_that_are_large_but_possible_are_taken() {
    let most = u64::MAX;
    let args = format!("check SB --quiet --limit states={most},steps={most},buffer={most},time={most},memory=1000000");
    let ran = run(&mut teetotal(&args));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn an_unknown_limit_is_refused() {
    refuse(
        "check SB --limit stats=3",
        2,
        expect![[r#"
        error: there is no limit `stats`
        help: did you mean `states`?
    "#]],
    );
    refuse(
        "check SB --limit patience=3",
        2,
        expect![[r#"
            error: there is no limit `patience`
            help: use one of states, executions, steps, buffer, memory, preemptions, time
        "#]],
    );
    refuse(
        "check SB --limit 1000",
        2,
        expect![[r#"
        error: `1000` is not a limit
        help: a limit has the form WHAT=N, such as states=100000
    "#]],
    );
}

#[test]
fn a_limit_that_the_search_does_not_heed_is_refused() {
    refuse(
        "check SB --limit executions=3",
        2,
        expect![[r#"
            error: the search `auto` does not support a limit on executions
            help: its limits are states, steps, buffer, memory, time
        "#]],
    );
    refuse(
        "check SB --search brute --limit states=3",
        2,
        expect![[r#"
        error: the search `brute` does not support a limit on states
        help: its limits are executions, steps, buffer, time
    "#]],
    );
    refuse(
        "check SB --limit states=3 --limit states=4",
        2,
        expect![[r#"
        error: the limit on states is given twice
    "#]],
    );
}

#[test]
fn a_number_of_jobs_is_between_1_and_1024() {
    refuse(
        "check SB --jobs 0",
        2,
        expect![[r#"
        error: the number of jobs is 0; it must be at least 1
    "#]],
    );
    refuse(
        "check SB --jobs 1000000",
        2,
        expect![[r#"
        error: 1000000 jobs are more than the maximum of 1024
    "#]],
    );
    refuse(
        "check SB --jobs 99999999999999999999999",
        2,
        expect![[r#"
        error: invalid number of jobs: `99999999999999999999999`
        help: use a number from 1 to 1024
    "#]],
    );
    refuse(
        "check SB --jobs some",
        2,
        expect![[r#"
        error: invalid number of jobs: `some`
        help: use a number from 1 to 1024
    "#]],
    );
    let ran = run(&mut teetotal("check SB --quiet --jobs 1024"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_width_is_refused_where_nothing_fits() {
    refuse(
        "check SB --width 3",
        2,
        expect![[r#"
        error: a width of 3 columns is out of range
        help: use a number from 20 to 1000
    "#]],
    );
    refuse(
        "demo --width wide",
        2,
        expect![[r#"
        error: invalid number of columns: `wide`
        help: use a number from 20 to 1000
    "#]],
    );
}

#[test]
fn a_bad_value_in_the_environment_is_told_where_it_comes_from() {
    let ran = run(teetotal("check SB").env("TEETOTAL_MODEL", "x86"));
    expect![[r#"
        error: there is no model `x86`
        help: use one of sc, tso, pso, rc11, all
        help: the value comes from the environment variable TEETOTAL_MODEL
    "#]]
    .assert_eq(&ran.stderr);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn an_incomplete_command_is_explained() {
    refuse(
        "check",
        2,
        expect![[r#"
            error: the following required arguments were not provided:
              <PATH|PROGRAM>...

            Usage: teetotal check <PATH|PROGRAM>...

            For more information, try '--help'.
        "#]],
    );
    refuse(
        "chek SB",
        2,
        expect![[r#"
        error: unrecognized subcommand 'chek'

          tip: a similar subcommand exists: 'check'

        Usage: teetotal <COMMAND>

        For more information, try '--help'.
    "#]],
    );
    refuse(
        "list colors",
        2,
        expect![[r#"
            error: invalid value 'colors' for '<WHAT>'
              [possible values: programs, models, checks, searches, limits, frontends]

            For more information, try '--help'.
        "#]],
    );
    assert_eq!(run(&mut teetotal("")).code, Some(2));
}

#[test]
fn an_unknown_topic_is_refused() {
    refuse(
        "explain tos",
        2,
        expect![[r#"
        error: there is no page on `tos`
        help: did you mean `tso`?
        help: `teetotal explain` lists the topics
    "#]],
    );
    refuse(
        "explain memory-model",
        2,
        expect![[r#"
        error: there is no page on `memory-model`
        help: `teetotal explain` lists the topics
    "#]],
    );
    refuse(
        "explain sc tso",
        2,
        expect![[r#"
        error: unexpected argument 'tso' found

        Usage: teetotal explain [TOPIC]

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn a_comparison_of_nothing_is_refused() {
    refuse(
        "compare",
        2,
        expect![[r#"
        error: the following required arguments were not provided:
          <PATH|PROGRAM>...

        Usage: teetotal compare <PATH|PROGRAM>...

        For more information, try '--help'.
    "#]],
    );
    refuse(
        "compare SB foo",
        2,
        expect![[r#"
        error: there is no file or bundled program `foo`
        help: `teetotal list programs` shows the bundled programs
    "#]],
    );
    refuse(
        "compare SB --model rmo",
        2,
        expect![[r#"
            error: there is no model `rmo`
            help: use one of sc, tso, pso, rc11, all
        "#]],
    );
    refuse(
        "compare SB --format herd",
        2,
        expect![[r#"
        error: invalid value 'herd' for '--format <KIND>'
          [possible values: human, json]

        For more information, try '--help'.
    "#]],
    );
    refuse(
        "compare SB --limit executions=3",
        2,
        expect![[r#"
            error: the search `auto` does not support a limit on executions
            help: its limits are states, steps, buffer, memory, time
        "#]],
    );
    refuse(
        "compare SB --quiet --witness",
        2,
        expect![[r#"
        error: the argument '--quiet' cannot be used with '--witness'

        Usage: teetotal compare --quiet <PATH|PROGRAM>...

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn what_cannot_be_generated_is_refused() {
    refuse(
        "generate",
        2,
        expect![[r#"
            Write man pages or shell completions

            Usage: teetotal generate <COMMAND>

            Commands:
              man          Write the man pages, one for each command
              completions  Write completions for a shell

            Options:
              -h, --help  Print help

            Examples:
              teetotal generate man --output ~/.local/share/man/man1
              teetotal generate completions fish > teetotal.fish
              teetotal generate completions --output completions/
        "#]],
    );
    refuse(
        "generate book",
        2,
        expect![[r#"
        error: unrecognized subcommand 'book'

        Usage: teetotal generate <COMMAND>

        For more information, try '--help'.
    "#]],
    );
    refuse(
        "generate completions tcsh",
        2,
        expect![[r#"
        error: invalid value 'tcsh' for '[SHELL]'
          [possible values: bash, elvish, fish, powershell, zsh]

          tip: a similar value exists: 'zsh'

        For more information, try '--help'.
    "#]],
    );
    let ran = run(teetotal("generate completions").env("SHELL", "/bin/tcsh"));
    expect![[r#"
        error: there are no completions for the shell in $SHELL
        help: name one of bash, elvish, fish, powershell, zsh
    "#]]
    .assert_eq(&ran.stderr);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    let ran = run(&mut teetotal("generate man --output /dev/null/man"));
    assert!(ran.stderr.starts_with("error: `/dev/null/man` cannot be written: "), "{}", ran.stderr);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
}

#[test]
fn a_replay_has_no_format_of_herd() {
    refuse(
        "replay SB tso1:6:45f799f4:0.1.0.1w.1.0w --format herd",
        2,
        expect![[r#"
        error: invalid value 'herd' for '--format <KIND>'
          [possible values: human, dot]

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn a_seed_or_a_depth_that_is_none_is_refused() {
    refuse(
        "check SB --search random --seed x",
        2,
        expect![[r#"
        error: invalid seed: `x`
        help: use a number from 0 to 18446744073709551615
    "#]],
    );
    refuse(
        "check SB --search pct --depth 0",
        2,
        expect![[r#"
        error: invalid bug depth: `0`
        help: use a number from 1 to 100
    "#]],
    );
    refuse(
        "check SB --search stateful --limit preemptions=1",
        2,
        expect![[r#"
        error: the search `stateful` does not support a limit on preemptions
        help: its limits are states, steps, buffer, memory, time
    "#]],
    );
}
