//! What the README shows is what the command prints.

use crate::Folder;

#[test]
fn every_example_of_the_readme_is_real() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(path).expect("there is a README");
    let mut folder = Folder::new("readme");
    // A test that it shows is saved under its name.
    for text in blocks(&readme, "litmus") {
        let name = text.split_whitespace().nth(1).expect("a test has a name");
        folder = folder.file(&format!("{name}.litmus"), text);
    }
    let mut examples = 0;
    for block in blocks(&readme, "console") {
        let (command, output) = block.split_once('\n').expect("a command and its output");
        let args = command.strip_prefix("$ teetotal ").expect("a command of teetotal");
        assert_eq!(folder.run(args).stdout, output, "{command}");
        examples += 1;
    }
    assert!(examples > 0, "the README shows no example");
}

/// The blocks of code in `language`.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    text.split(&begin).skip(1).map(|rest| rest.split("```").next().expect("a block ends")).collect()
}
