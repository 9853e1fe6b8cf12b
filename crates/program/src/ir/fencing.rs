//! Puts fences into a program.

use std::collections::BTreeSet;

use crate::ir::footprint::Footprints;
use crate::ir::forgotten::Forgotten;
use crate::ir::instruction::Instruction;
use crate::ir::program::{Program, ThreadCode};
use crate::names::ThreadId;
use crate::op::Order;

impl Program {
    /// The same with a full fence directly after each of these instructions.
    ///
    /// Jumps go where they went; one that leads to the instruction after such a place passes by the fence. A guarded
    /// step has a fence on each of its ways on.
    #[must_use]
    pub fn with_fences_after(&self, after: &BTreeSet<(ThreadId, u32)>) -> Program {
        let mut fenced = self.clone();
        for (index, thread) in fenced.threads.iter_mut().enumerate() {
            fence_thread(thread, |instruction| after.contains(&(ThreadId::at(index), instruction)));
        }
        let forgotten = Forgotten::new(&fenced);
        Program { footprints: Footprints::new(&fenced.threads), forgotten, ..fenced }
    }
}

fn fence_thread(thread: &mut ThreadCode, wanted: impl Fn(u32) -> bool) {
    let (code, places) = (std::mem::take(&mut thread.code), std::mem::take(&mut thread.places));
    let fence = || Instruction::Fence { order: Order::SeqCst };
    // Where each instruction, and the end, now stands, and the guarded steps with fences on their ways on.
    let (mut moved, mut fenced_ways) = (Vec::with_capacity(code.len() + 1), BTreeSet::new());
    for (index, (instruction, place)) in code.into_iter().zip(places).enumerate() {
        let at = thread.code.len() as u32;
        moved.push(at);
        let targets: Vec<u32> = instruction.targets().collect();
        let is_guarded = matches!(instruction, Instruction::Guarded { .. });
        thread.code.push(instruction);
        match (wanted(index as u32), is_guarded) {
            (false, _) => {}
            (true, false) => thread.code.push(fence()),
            // Nothing falls through a guarded step, so that there is room behind it.
            (true, true) => {
                fenced_ways.insert(at);
                thread.code.extend(targets.into_iter().flat_map(|target| [fence(), Instruction::Jump { target }]));
            }
        }
        thread.places.resize(thread.code.len(), place);
    }
    moved.push(thread.code.len() as u32);
    for (at, instruction) in (0..).zip(&mut thread.code) {
        for (way, target) in (0..).zip(instruction.targets_mut()) {
            *target = if fenced_ways.contains(&at) { at + 1 + 2 * way } else { moved[*target as usize] };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Builder;

    #[test]
    fn jumps_go_where_they_went() {
        let mut p = Builder::new("test");
        let x = p.shared("x", 0);
        let thread = p.thread("P0", |t| {
            t.repeat(|t, labels| {
                t.store(x, 1);
                let r = t.load("r", x);
                t.branch(r, labels.exit);
            });
            t.store(x, 2);
        });
        let program = p.build().expect("well formed");
        let store = |i: &Instruction| matches!(i, Instruction::Store { .. });
        let first = program.threads[0].code.iter().position(store).expect("there is a store") as u32;
        let fenced = program.with_fences_after(&BTreeSet::from([(thread, first)]));
        let code = &fenced.threads[0].code;
        assert_eq!(code.len(), program.threads[0].code.len() + 1);
        assert_eq!(code[first as usize + 1], Instruction::Fence { order: Order::SeqCst });
        let target = |code: &[Instruction]| {
            code.iter()
                .find_map(|i| if let Instruction::Branch { target, .. } = i { Some(*target as usize) } else { None })
        };
        let lands = |p: &Program| p.threads[0].code[target(&p.threads[0].code).expect("there is a branch")].clone();
        assert_eq!(lands(&fenced), lands(&program));
    }
}
