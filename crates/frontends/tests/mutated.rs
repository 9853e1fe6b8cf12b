//! No bytes make the front end panic, hang, or refuse without a reason: mutated tests of the corpus, and huge ones.

use teetotal_generate::Rng;

mod common;
#[path = "../../../fuzz/targets/litmus.rs"]
mod target;

use target::Became;

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
    "+",
    "*",
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
    ">>",
    "\n",
    "\r\n",
    "\t",
    "é",
    "\u{0}",
    "\u{feff}",
    "𝔵",
    "8(%rax,%rbx,8)",
    "[x-4*rax]",
    "cmpxchg",
    "sete %al",
    "exists",
    "~exists",
    "forall",
    "final",
    "filter",
    "locations [x;",
    "int *",
    "uint8_t",
    "&x",
    "X86",
    "X86_64",
    "C",
    "\"",
    "true",
    "DWORD PTR [x]",
    "xchg",
    "#",
];

/// The places in `text` at which a character, or the end, is.
fn places(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
}

/// Two places in `text`, in order.
fn stretch(text: &str, rng: &mut Rng) -> (usize, usize) {
    let places = places(text);
    let (one, other) = (rng.pick(&places), rng.pick(&places));
    (one.min(other), one.max(other))
}

/// A word or a sign with the space before it.
fn token(text: &str, rng: &mut Rng) -> (usize, usize) {
    let (start, _) = stretch(text, rng);
    let rest = &text[start..];
    let space = rest.len() - rest.trim_start().len();
    let word = rest[space..].find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len() - space);
    let sign = rest[space..].chars().next().map_or(0, char::len_utf8);
    (start, start + space + word.max(sign))
}

fn mutate(text: &str, other: &str, rng: &mut Rng) -> String {
    let mut text = text.to_owned();
    for _ in 0..rng.between(1, 5) {
        let (from, to) = stretch(&text, rng);
        match rng.below(12) {
            0 => text.truncate(from),
            1 => text.replace_range(..from, ""),
            2 | 3 => {
                let (from, to) = token(&text, rng);
                text.replace_range(from..to, "");
            }
            4 | 5 => {
                let (from, to) = token(&text, rng);
                let twice = text[from..to].repeat(2);
                text.replace_range(from..to, &twice);
            }
            6 => text.insert_str(from, &text[from..to].chars().take(60).collect::<String>()),
            7 => {
                let (start, end) = stretch(other, rng);
                text.replace_range(from..to, &other[start..end]);
            }
            8 => {
                // Lines of two files, one after the other.
                let rows: Vec<&str> = other.lines().collect();
                text.insert_str(from, &format!("\n{}\n", rng.pick(&rows)));
            }
            _ => text.insert_str(from, PIECES[rng.below(PIECES.len())]),
        }
    }
    text
}

/// A file of the corpus with some of its bits turned over.
fn flip(text: &str, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.between(1, 4) {
        let at = rng.below(bytes.len());
        bytes[at] ^= 1 << rng.below(8);
    }
    bytes
}

/// Runs the target; a panic says which seed it was.
fn run(what: &str, bytes: &[u8]) -> Became {
    let result = std::panic::catch_unwind(|| target::litmus(bytes));
    result.unwrap_or_else(|_| panic!("{what} of\n{}", String::from_utf8_lossy(bytes)))
}

#[test]
fn mutated_tests_are_read_or_refused_with_reasons() {
    let corpus = common::corpus();
    let (mut programs, mut refused) = (0, 0);
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let (file, other) = (rng.pick(&corpus), rng.pick(&corpus));
        match run(&format!("seed {seed}"), mutate(&file.text, &other.text, &mut rng).as_bytes()) {
            Became::Program => programs += 1,
            Became::Refused => refused += 1,
            Became::NoText => unreachable!("mutations of text are text"),
        }
    }
    assert!(programs > 1_000 && refused > 5_000, "{programs} were read, {refused} refused");
}

#[test]
fn flipped_bits_are_read_or_refused_with_reasons() {
    let corpus = common::corpus();
    let mut became = Vec::new();
    for seed in 0..10_000 {
        let mut rng = Rng::new(seed);
        let bytes = flip(&rng.pick(&corpus).text, &mut rng);
        became.push(run(&format!("seed {seed}"), &bytes));
    }
    for wanted in [Became::Program, Became::Refused, Became::NoText] {
        assert!(became.iter().filter(|found| **found == wanted).count() > 500, "hardly any is {wanted:?}");
    }
}

#[test]
fn every_beginning_of_a_test_is_read_or_refused_with_reasons() {
    for file in common::corpus() {
        for end in places(&file.text) {
            run("the beginning", &file.text.as_bytes()[..end]);
        }
    }
}

/// A test with `text` in its initial state, in its table, and in its condition.
fn around(text: &str) -> [String; 4] {
    [
        text.to_owned(),
        format!("X86_64 n\n{{ x={text} }}\n P0 ;\n movq $1,(x) ;\nexists (x=1)\n"),
        format!("X86_64 n\n{{ }}\n P0 | P1 ;\n movq $1,(x) | {text} ;\nexists (x=1)\n"),
        format!("X86_64 n\n{{ }}\n P0 ;\n movq $1,(x) ;\nexists (x=1 /\\ {text})\n"),
    ]
}

/// Time that grows with the square of the length would not end before the patience of whoever runs this.
#[test]
fn anything_a_hundred_thousand_times_is_read_or_refused_in_bounded_time_and_stack() {
    for piece in PIECES {
        for (at, text) in around(&piece.repeat(100_000)).iter().enumerate() {
            run(&format!("`{piece}` at {at}"), text.as_bytes());
        }
    }
}

#[test]
fn ten_thousand_lines_are_read_or_refused_in_bounded_time() {
    let rows = [
        " movq $1,(x) | lock incq (x) ;\n",
        " movq $1,(x) | movq (x),%rax | ;\n",
        " L: mowq $1,(x) | jmp M ;\n",
        " movq t+8,%rax | movq %rax,t(,%rbx,8) ;\n",
        "exists (x=1)\n",
        "\n",
        "|;\n",
    ];
    for row in rows {
        let text = format!("X86_64 n\n{{ int64_t t[4]; }}\n P0 | P1 ;\n{}exists (x=1)\n", row.repeat(10_000));
        run(row, text.as_bytes());
    }
    let entries: String = (0..10_000).map(|i| format!("uint64_t v{i}={i};\n")).collect();
    run("many locations", format!("X86_64 n\n{{\n{entries}}}\n P0 ;\n movq $1,(v9999) ;\nexists (v1=1)\n").as_bytes());
    let labels: String = (0..10_000).map(|i| format!(" L{i}: jmp L{} ;\n", i + 1)).collect();
    run("many labels", format!("X86_64 n\n{{ }}\n P0 ;\n{labels} L10000: movq $1,(x) ;\nexists (x=1)\n").as_bytes());
    let terms = vec!["0:rax=1"; 10_000].join(" \\/\n ");
    run("many terms", format!("X86_64 n\n{{ }}\n P0 ;\n movq (x),%rax ;\nexists ({terms})\n").as_bytes());
    let unknown: String = (0..10_000).map(|i| format!(" u{i}=1 /\\\n")).collect();
    run("many unknown names", format!("X86_64 n\n{{ }}\n P0 ;\n movq (x),%rax ;\nexists ({unknown} x=1)\n").as_bytes());
}
