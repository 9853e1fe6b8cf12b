//! The README and the guide to the command line show what the command prints.

use crate::Folder;

#[test]
fn every_example_of_the_readme_is_real() {
    every_example_is_real("README.md", "readme");
}

#[test]
fn every_example_of_the_guide_to_the_command_line_is_real() {
    every_example_is_real("docs/guide/cli.md", "guide-cli");
}

fn every_example_is_real(page: &str, folder: &str) {
    let path = format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the page exists");
    let mut folder = Folder::new(folder);
    // A test that it shows is saved under its name.
    for test in blocks(&text, "litmus") {
        let name = test.split_whitespace().nth(1).expect("a test has a name");
        folder = folder.file(&format!("{name}.litmus"), test);
    }
    let mut examples = 0;
    for block in blocks(&text, "console") {
        let (command, output) = block.split_once('\n').expect("a command and its output");
        let args = command.strip_prefix("$ teetotal ").expect("a command of teetotal");
        assert_eq!(folder.run(args).stdout, output, "{command}");
        examples += 1;
    }
    assert!(examples > 0, "{page} shows no example");
}

/// The blocks of code in `language`.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    text.split(&begin).skip(1).map(|rest| rest.split("```").next().expect("a block ends")).collect()
}
