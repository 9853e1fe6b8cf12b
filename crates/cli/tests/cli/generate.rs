//! Man pages and completions, from the one definition.

use std::fs;

use expect_test::expect;

use crate::{Folder, run, teetotal};

const COMMANDS: [&str; 9] = ["demo", "check", "compare", "replay", "monitor", "explain", "list", "inspect", "generate"];

#[test]
fn the_man_pages_have_every_command_and_option() {
    let folder = Folder::new("man");
    folder.check(
        "generate man --output man",
        0,
        expect![[r#"
            man/teetotal.1
            man/teetotal-demo.1
            man/teetotal-check.1
            man/teetotal-compare.1
            man/teetotal-replay.1
            man/teetotal-monitor.1
            man/teetotal-explain.1
            man/teetotal-list.1
            man/teetotal-inspect.1
            man/teetotal-generate.1
            man/teetotal-generate-man.1
            man/teetotal-generate-completions.1
        "#]],
        expect![[""]],
    );
    for command in COMMANDS {
        let page = fs::read_to_string(folder.0.join(format!("man/teetotal-{command}.1"))).expect("it was written");
        let help = run(&mut teetotal(&format!("{command} --help"))).stdout;
        let long = help.split_whitespace().filter(|word| word.starts_with("--")).map(|word| word.trim_matches(','));
        for option in long.filter(|word| word.chars().all(|c| c == '-' || c.is_ascii_lowercase())) {
            assert!(page.contains(&option.replace('-', "\\-")), "{option} is not in the page of {command}");
        }
        assert!(page.contains("Examples:"), "the page of {command} has no examples");
    }
    let all = run(&mut teetotal("generate man")).stdout;
    assert_eq!(all.matches("\n.TH ").count(), 1 + COMMANDS.len() + 2);
}

#[test]
fn every_command_has_help_with_examples_that_fits_in_80_columns() {
    for command in COMMANDS {
        let ran = run(&mut teetotal(&format!("{command} --help")));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        assert!(ran.stdout.contains("\nExamples:\n  teetotal "), "{command}");
        let wide = ran.stdout.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{command}");
    }
}

#[test]
fn completions_are_written_for_every_shell() {
    let folder = Folder::new("completions");
    folder.check(
        "generate completions --output made/here",
        0,
        expect![[r#"
        made/here/teetotal.bash
        made/here/teetotal.elv
        made/here/teetotal.fish
        made/here/_teetotal.ps1
        made/here/_teetotal
    "#]],
        expect![[""]],
    );
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(&mut teetotal(&format!("generate completions {shell}"))).stdout;
        for word in ["compare", "witness", "completions", "allow-incomplete"] {
            assert!(script.contains(word), "{word} is not completed in {shell}");
        }
    }
    let guessed = run(teetotal("generate completions").env("SHELL", "/bin/zsh"));
    assert_eq!(guessed, run(&mut teetotal("generate completions zsh")));
}
