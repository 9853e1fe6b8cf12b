//! The pages, and that they tell the truth.

use crate::{check_file, run, teetotal};

/// The names of all topics.
fn topics() -> Vec<String> {
    let listed = run(&mut teetotal("explain")).stdout;
    let indented = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let named = indented.filter(|line| !line.starts_with(' '));
    named.map(|line| line.split_whitespace().next().expect("a line has a word").to_owned()).collect()
}

#[test]
fn the_topics_are_listed() {
    check_file("explain", 0, "explain");
}

#[test]
fn each_topic_has_a_page_that_opens_with_it() {
    for topic in topics() {
        let ran = run(&mut teetotal(&format!("explain {topic}")));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{topic}");
        assert!(ran.stdout.starts_with(&format!("{topic}: ")), "{topic}");
    }
    assert_eq!(run(&mut teetotal("explain TSO")), run(&mut teetotal("explain tso")));
}

#[test]
fn every_example_of_a_page_is_real() {
    let mut examples = 0;
    for topic in topics() {
        let page = run(&mut teetotal(&format!("explain {topic}"))).stdout;
        let block: Vec<&str> = page.lines().map(|line| line.strip_prefix("    ").unwrap_or("")).collect();
        for (index, line) in block.iter().enumerate() {
            let Some(args) = line.strip_prefix("$ teetotal ") else { continue };
            let shown: Vec<&str> = block[index + 1..]
                .iter()
                .copied()
                .take_while(|line| !line.is_empty() && !line.starts_with("$ "))
                .collect();
            let ran = run(&mut teetotal(args)).stdout;
            assert_eq!(ran.lines().collect::<Vec<_>>(), shown, "{topic}: {line}");
            examples += 1;
        }
    }
    assert!(examples > 12, "only {examples} examples");
}

#[test]
fn each_search_and_model_that_is_listed_can_be_explained() {
    let known = topics();
    for table in ["models", "searches", "frontends"] {
        let listed = run(&mut teetotal(&format!("list {table}"))).stdout;
        for line in listed.lines().filter(|line| !line.starts_with(' ')) {
            let name = line.split_whitespace().next().expect("a row has a name");
            assert!(known.iter().any(|topic| topic == name), "{name} has no page");
        }
    }
}
