//! Finds the program that an argument names.

use std::path::Path;
use std::sync::Arc;

use teetotal::{Program, gallery};

use crate::fault::Fault;
use crate::suggest::nearest;

/// The bundled program called `name`, under the name of its entry.
pub(crate) fn load(name: &str) -> Result<Arc<Program>, Fault> {
    let Some(entry) = gallery::by_name(name) else { return Err(missing(name)) };
    let mut program = (entry.build)();
    entry.name.clone_into(&mut program.name);
    Ok(Arc::new(program))
}

fn missing(name: &str) -> Fault {
    let list = "`teetotal list programs` shows the bundled programs";
    if looks_like_a_file(name) {
        return Fault::new(format!(
            "`{name}` looks like a file; this version checks only the programs bundled with it"
        ))
        .help(list);
    }
    let fault = Fault::new(format!("there is no program `{name}`"));
    match nearest(name, gallery::PROGRAMS.iter().map(|entry| entry.name)) {
        Some(meant) => fault.help(format!("did you mean `{meant}`?")).help(list),
        None => fault.help(list),
    }
}

fn looks_like_a_file(name: &str) -> bool {
    let path = Path::new(name);
    name.contains(['/', '\\']) || path.extension().is_some() || path.exists()
}
