//! Values of options: the same parser whether they come from a flag or from the environment.

use clap::builder::{BoolishValueParser, TypedValueParser};
use teetotal::parts::frontends::suggest::nearest;
use teetotal::parts::program::ir::Language;
use teetotal::{BUFFER_MODELS, CheckError, MODELS, MONITORS, ModelId, MonitorId, Program, SearchId, SearchInfo, Takes};

use crate::fault::Fault;

/// The maximum number of workers.
const MAX_JOBS: usize = 1_024;

/// The maximum bug depth; beyond it the guaranteed probability is negligible.
const MAX_DEPTH: u32 = 100;

/// Models, in the order of the table, each once.
#[derive(Clone, Debug)]
pub(crate) struct Models {
    pub(crate) ids: Vec<ModelId>,
    /// Whether all were asked for, so that those that do not apply are left out.
    pub(crate) all: bool,
}

impl Models {
    /// Those that `program` is checked under: of all, a model of a language only where the program is in that.
    pub(crate) fn of(&self, program: &Program) -> impl Iterator<Item = ModelId> + '_ {
        let applies = !self.all || program.language == Language::C;
        self.ids.iter().copied().filter(move |&id| applies || is_of_buffers(id))
    }

    /// Whether an error only says that the search or a check does not take one of all models.
    pub(crate) fn leaves_out(&self, model: ModelId, error: &CheckError) -> bool {
        let does_not_apply = matches!(error, CheckError::NoPrograms { .. } | CheckError::UnknownModel { .. });
        self.all && !is_of_buffers(model) && does_not_apply
    }
}

fn is_of_buffers(model: ModelId) -> bool {
    BUFFER_MODELS.iter().any(|info| info.id == model)
}

/// Monitors, in the order of the table, each once.
#[derive(Clone, Debug)]
pub(crate) struct Checks(pub(crate) Vec<MonitorId>);

/// Parses `sc,tso` or `all`.
pub(crate) fn models(text: &str) -> Result<Models, Fault> {
    let table: Vec<_> = MODELS.iter().map(|info| (info.name, info.id)).collect();
    let all = text.split(',').any(|word| word == "all");
    names("model", text, &table).map(|ids| Models { ids, all })
}

/// Parses one model with store buffers.
pub(crate) fn weak_model(text: &str) -> Result<ModelId, Fault> {
    let names = weak_models();
    match ModelId::by_name(text) {
        Some(id) if names.contains(&text) => Ok(id),
        Some(ModelId::STRONGEST) => {
            let message = format!("every execution of {text} is sequentially consistent, so there is nothing to check");
            Err(Fault::new(message).help(format!("use {}", names.join(" or "))))
        }
        _ => Err(unknown("model with store buffers", text, &names)),
    }
}

/// Parses `assertion,deadlock`, or `all`, the default checks.
pub(crate) fn checks(text: &str) -> Result<Checks, Fault> {
    let table: Vec<_> = MONITORS.iter().map(|info| (info.name, info.id)).collect();
    let defaults = MonitorId::defaults().iter().map(|id| id.info().name).collect::<Vec<_>>().join(",");
    let words = text.split(',').map(|word| if word == "all" { defaults.as_str() } else { word });
    names("check", &words.collect::<Vec<_>>().join(","), &table).map(Checks)
}

/// Parses the name of a search.
pub(crate) fn search(text: &str) -> Result<SearchId, Fault> {
    let names: Vec<&str> = SearchInfo::of_programs().map(|info| info.name).collect();
    match SearchId::by_name(text).map(SearchId::info) {
        None => Err(unknown("search", text, &names)),
        Some(SearchInfo { programs: Takes::No(reason), .. }) => {
            Err(Fault::new(format!("the search `{text}` {reason}")))
        }
        Some(info) => Ok(info.id),
    }
}

/// Returns the help of the option for searches.
pub(crate) fn search_help() -> String {
    let names: Vec<&str> = SearchInfo::of_programs().map(|info| info.name).collect();
    let (last, others) = names.split_last().expect("there are searches");
    format!("Search: {} or {last} [default: {}]", others.join(", "), names[0])
}

/// What is said of the option for models.
pub(crate) fn models_help() -> String {
    let names: Vec<&str> = MODELS.iter().map(|info| info.name).collect();
    format!("Models: {}, a list, or all (that apply)", names.join(", "))
}

/// What is said of the option for a model with store buffers.
pub(crate) fn weak_model_help() -> String {
    format!("Model in question: {}", weak_models().join(" or "))
}

/// The names of the models with store buffers.
fn weak_models() -> Vec<&'static str> {
    MODELS.iter().filter(|info| info.has_buffers()).map(|info| info.name).collect()
}

/// Returns the help of the option for checks.
pub(crate) fn checks_help() -> String {
    let defaults: Vec<&str> = MonitorId::defaults().iter().map(|id| id.info().name).collect();
    format!("Checks: {}, races, robustness, or a list [default: all but the last two]", defaults.join(", "))
}

/// Parses the number of cores.
pub(crate) fn jobs(text: &str) -> Result<usize, Fault> {
    match text.parse::<usize>() {
        Ok(0) => Err(Fault::new("the number of jobs is 0; it must be at least 1")),
        Ok(n) if n <= MAX_JOBS => Ok(n),
        Ok(_) => Err(Fault::new(format!("{text} jobs are more than the maximum of {MAX_JOBS}"))),
        Err(_) => {
            Err(Fault::new(format!("invalid number of jobs: `{text}`"))
                .help(format!("use a number from 1 to {MAX_JOBS}")))
        }
    }
}

/// Parses the seed of a sampling search.
pub(crate) fn seed(text: &str) -> Result<u64, Fault> {
    text.parse()
        .map_err(|_| Fault::new(format!("invalid seed: `{text}`")).help(format!("use a number from 0 to {}", u64::MAX)))
}

/// Parses the bug depth.
pub(crate) fn depth(text: &str) -> Result<u32, Fault> {
    match text.parse() {
        Ok(depth) if (1..=MAX_DEPTH).contains(&depth) => Ok(depth),
        _ => {
            Err(Fault::new(format!("invalid bug depth: `{text}`")).help(format!("use a number from 1 to {MAX_DEPTH}")))
        }
    }
}

/// Parses a flag from the environment: `1`, `true` and `yes` set it.
pub(crate) fn flag() -> impl TypedValueParser<Value = bool> {
    BoolishValueParser::new()
}

/// Parses the number of columns.
pub(crate) fn width(text: &str) -> Result<usize, Fault> {
    let range = "use a number from 20 to 1000";
    match text.parse::<usize>() {
        Ok(n) if (20..=1_000).contains(&n) => Ok(n),
        Ok(_) => Err(Fault::new(format!("a width of {text} columns is out of range")).help(range)),
        Err(_) => Err(Fault::new(format!("invalid number of columns: `{text}`")).help(range)),
    }
}

/// Parses a list of names of one table.
fn names<T: Copy + PartialEq>(what: &str, text: &str, table: &[(&'static str, T)]) -> Result<Vec<T>, Fault> {
    let mut wanted = Vec::new();
    for word in text.split(',') {
        match table.iter().find(|(name, _)| *name == word) {
            Some((_, id)) => wanted.push(*id),
            None if word == "all" => wanted.extend(table.iter().map(|(_, id)| *id)),
            None => {
                let names: Vec<&str> = table.iter().map(|(name, _)| *name).chain(["all"]).collect();
                return Err(unknown(what, word, &names));
            }
        }
    }
    Ok(table.iter().map(|(_, id)| *id).filter(|id| wanted.contains(id)).collect())
}

/// Returns the error for an unknown name.
pub(crate) fn unknown(what: &str, word: &str, names: &[&str]) -> Fault {
    let fault = Fault::new(format!("there is no {what} `{word}`"));
    match nearest(word, names.iter().copied()) {
        Some(name) => fault.help(format!("did you mean `{name}`?")),
        None => fault.help(format!("use one of {}", names.join(", "))),
    }
}
