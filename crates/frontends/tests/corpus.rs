//! Every test of our own corpus is read.

use teetotal_frontends::litmus;

mod common;

use common::{File, corpus};

#[test]
fn every_test_is_read_and_named_as_its_file() {
    for File { path, text } in corpus() {
        let program = litmus::read("test", &text).unwrap_or_else(|errors| panic!("{}: {}", path.display(), errors[0]));
        assert_eq!(path.file_stem().expect("it has a name").to_string_lossy(), program.name);
        assert!(program.condition.is_some());
        assert!(program.threads.iter().flat_map(|thread| &thread.places).all(|place| place.span.is_some()));
    }
}
