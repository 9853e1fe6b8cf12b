//! What the README shows of Rust code is what there is, and what it prints.

use std::thread;

mod try_lock {
    include!("../examples/try_lock.rs");

    pub(super) fn run() {
        main();
    }
}

/// The first block of the README with this mark.
fn block(readme: &str, mark: &str) -> String {
    let (_, rest) = readme.split_once(&format!("```{mark}\n")).expect("there is such a block");
    rest.split_once("```").map(|(block, _)| block.to_owned()).expect("it ends")
}

#[test]
fn the_example_is_the_one_that_is_there_and_prints_what_is_shown() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let readme = std::fs::read_to_string(format!("{folder}/../../README.md")).expect("there is a README");
    let code = std::fs::read_to_string(format!("{folder}/examples/try_lock.rs")).expect("there is an example");
    assert_eq!(block(&readme, "rust"), code);
    // As a program, and not as a test, whose name would be part of what is printed.
    let program = thread::Builder::new().name("main".to_owned()).spawn(try_lock::run).expect("it starts");
    let panic = program.join().expect_err("both may enter");
    let text = panic.downcast_ref::<String>().expect("it panics with a text");
    let text = text.replace("tests/../examples", "examples");
    assert_eq!(block(&readme, "text").trim_end(), text.trim_end());
}
