//! What the README shows is what the command prints.

use crate::{run, teetotal};

#[test]
fn every_example_of_the_readme_is_real() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(path).expect("there is a README");
    let mut examples = 0;
    for block in readme.split("```console\n").skip(1) {
        let block = block.split("```").next().expect("a block ends");
        let (command, output) = block.split_once('\n').expect("a command and its output");
        let args = command.strip_prefix("$ teetotal ").expect("a command of teetotal");
        assert_eq!(run(&mut teetotal(args)).stdout, output, "{command}");
        examples += 1;
    }
    assert!(examples > 0, "the README shows no example");
}
