//! What the parameters of functions say of locations: which there are, and how wide.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::litmus::c::syntax::{Parameter, Thread};
use crate::litmus::locations::Drafts;

impl Drafts {
    /// Takes in the parameters of every thread.
    pub(in crate::litmus) fn parameters(&mut self, threads: &[Thread], diagnostics: &mut Diagnostics) {
        for parameter in threads.iter().flat_map(|thread| &thread.parameters) {
            self.parameter(parameter, diagnostics);
        }
    }

    fn parameter(&mut self, parameter: &Parameter, diagnostics: &mut Diagnostics) {
        let (name, ty) = (&parameter.name.it, parameter.pointee.value());
        let draft = self.draft(name);
        match draft.declared {
            None => draft.declared = Some(ty),
            Some(before) if before.width != ty.width => {
                let (here, there) = (ty.width.bits(), before.width.bits());
                let mixed = format!("`{name}` has {here} bits here and {there} elsewhere");
                let help = "accesses of mixed size are not supported";
                diagnostics.add(Diagnostic::new(parameter.name.span, mixed).help(help));
            }
            Some(_) => {}
        }
    }
}
