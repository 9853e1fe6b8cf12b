//! Promela, the language of SPIN: processes that share variables.
//!
//! [`read`] cuts the text into tokens, replaces macros, parses, makes a graph of each proctype and a thread of each
//! process. A statement is one step, as SPIN executes it; see `docs/guide/promela.md`.

use teetotal_program::Span;
use teetotal_program::ir::{Builder, Language};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::frontend::{Reading, Settings};
use crate::promela::graph::Graph;
use crate::promela::preprocessor::short;
use crate::promela::syntax::Model;
use crate::suggest::nearest;

mod access;
mod expression;
mod graph;
mod instance;
mod lexer;
mod lower;
mod notice;
mod order;
mod parser;
mod preprocessor;
mod scope;
mod statement;
mod syntax;
mod unfold;
mod value;
mod words;

/// The program of the model `text`; `name` is what its source is called.
pub fn read(name: &str, text: &str, settings: &Settings) -> Result<Reading, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::default();
    let tokens = lexer::tokens(text, &mut diagnostics);
    let tokens = preprocessor::preprocess(&tokens, &mut diagnostics);
    let model = parser::parse(tokens, &mut diagnostics);
    let graphs: Vec<Graph> = model.proctypes.iter().map(|proctype| graph::build(proctype, &mut diagnostics)).collect();
    instance::check_runs(&model, &graphs, &mut diagnostics);
    check_labels(&graphs, &model, settings, &mut diagnostics);
    let beginning = Span { source: 0, line: 1, column: 1, length: 0 };
    if diagnostics.is_empty() && model.proctypes.iter().all(|proctype| proctype.active == 0) {
        let nothing = Diagnostic::new(beginning, "no process of this model runs");
        diagnostics.add(nothing.help("write `active proctype` or `init`"));
    }
    let instances = match diagnostics.is_empty() {
        true => instance::instances(&model, &graphs, &mut diagnostics),
        false => None,
    };
    let Some(instances) = instances else { return Err(diagnostics.sorted()) };
    let mut builder = Builder::new(&stem(name));
    builder.source(name, Some(text));
    builder.quote_source();
    builder.language(Language::Promela);
    builder.forget_registers();
    builder.read_with(settings.options());
    let shared = lower::declare(&model, &mut builder);
    lower::threads(&model, &instances, &shared, settings, &mut builder, &mut diagnostics);
    let program = builder.build().map_err(|error| diagnostics.add(Diagnostic::new(beginning, error.to_string())));
    match program {
        Ok(program) if diagnostics.is_empty() => {
            let notices = if settings.split { Vec::new() } else { notice::notices(&model) };
            Ok(Reading { program, notices })
        }
        _ => Err(diagnostics.sorted()),
    }
}

/// The name of a file without its folder and its ending.
fn stem(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.strip_suffix(".pml").unwrap_or(file).to_owned()
}

/// Refuses to look for a label that no process has.
fn check_labels(graphs: &[Graph], model: &Model, settings: &Settings, diagnostics: &mut Diagnostics) {
    for wanted in &settings.labels {
        let (process, label) = wanted.split_once('@').map_or((None, wanted.as_str()), |(p, l)| (Some(p), l));
        let own = |number: usize| process.is_none_or(|process| model.proctypes[number].name.it == process);
        let graphs = graphs.iter().enumerate().filter(|(number, _)| own(*number)).map(|(_, graph)| graph);
        let labels: Vec<&str> =
            graphs.flat_map(|graph| &graph.nodes).flat_map(|node| &node.labels).map(String::as_str).collect();
        if !labels.contains(&label) && diagnostics.is_empty() {
            let span =
                model.proctypes.first().map_or(Span { source: 0, line: 1, column: 1, length: 0 }, |p| p.name.span);
            let missing = Diagnostic::new(span, format!("no process has the label `{}`", short(wanted)));
            diagnostics.add(missing.meant(nearest(label, labels)));
        }
    }
}
