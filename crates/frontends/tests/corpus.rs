//! Every test of our own corpus is read.

use std::fs;
use std::path::{Path, PathBuf};

use teetotal_frontends::litmus;
use teetotal_program::testing::Rng;

fn corpus() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus");
    let entries = fs::read_dir(folder).expect("the corpus is part of the repository");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the folder is readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "litmus"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("tests are text"))).collect()
}

#[test]
fn every_test_is_read_and_named_as_its_file() {
    let corpus = corpus();
    assert!(corpus.len() >= 30, "the corpus is not there");
    for (path, text) in corpus {
        let program = litmus::read("test", &text).unwrap_or_else(|errors| panic!("{}: {}", path.display(), errors[0]));
        assert_eq!(path.file_stem().expect("it has a name").to_string_lossy(), program.name);
        assert!(program.condition.is_some());
        assert!(program.threads.iter().flat_map(|thread| &thread.places).all(|place| place.span.is_some()));
    }
}

/// What a mutation puts in, so that some get past the lexer.
const PIECES: &[&str] = &[
    "{",
    "}",
    ";",
    "|",
    "(",
    ")",
    "[",
    "]",
    "$",
    "%",
    ",",
    "=",
    "-",
    "/\\",
    "\\/",
    "~",
    "not",
    "0:",
    "P1",
    "lock ",
    "movq",
    "movzbl (x),%eax",
    "jmp L",
    "L:",
    "t[3]",
    "={1,2}",
    "99999999999999999999",
    "0x",
    "(*",
    "*)",
    "<<",
    "\n",
    "é",
    "\u{0}",
    "8(%rax,%rbx,8)",
    "cmpxchg",
    "sete %al",
    "exists",
    "locations [x;",
    "int *",
    "&x",
    "X86",
    "\"",
    "C n\n{}\nP0(int *x) {",
    "P1(int **x, long *t) {",
    "int r0 = ",
    "int *r1 = &",
    "*x",
    "x[r0]",
    "atomic_load(",
    "atomic_compare_exchange_weak(x, &r0, ",
    "READ_ONCE(*",
    "spin_lock(",
    "while (",
    "else",
    "for (;;) {",
    "do {",
    "r0 ? ",
    " : ",
    "++",
    "-=",
    "<<=",
    "&&",
    "!",
    "/*",
    "*/",
    "//",
    "(int *)",
    "goto L;",
    "break;",
    "assert(",
    "filter (",
    "1 / 0",
    "0x7fffffffu",
];

fn mutate(text: &str, rng: &mut Rng) -> String {
    let mut text = text.to_owned();
    for _ in 0..rng.between(1, 6) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let (from, to) = (rng.pick(&places), rng.pick(&places));
        let (from, to) = (from.min(to), from.max(to).min(places.last().copied().unwrap_or(0)));
        match rng.below(5) {
            0 => text.truncate(from),
            1 => text.replace_range(from..places.iter().copied().find(|&at| at > from + 3).unwrap_or(from), ""),
            2 => text.insert_str(from, &text[from..to].chars().take(40).collect::<String>().clone()),
            _ => text.insert_str(from, PIECES[rng.below(PIECES.len())]),
        }
    }
    text
}

#[test]
fn no_mutated_test_panics_and_every_refusal_has_a_place() {
    let corpus = corpus();
    let mut refused = 0;
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let text = mutate(&rng.pick(&corpus).1, &mut rng);
        if let Err(errors) = litmus::read("test", &text) {
            assert!(!errors.is_empty(), "seed {seed} is refused without a reason");
            assert!(errors.iter().all(|error| error.span.line > 0 && error.span.column > 0), "seed {seed}");
            refused += 1;
        }
    }
    assert!((1_000..19_900).contains(&refused), "{refused} of 20000 were refused");
}
