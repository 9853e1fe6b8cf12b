//! Where in the walk one is: which alternative was chosen at each level.

use super::consistency::Consistency;
use super::walk::{Reached, Rewindable, Walk};

/// The position of a walk: which alternative was chosen at each level. Positions are in the order of the walk.
pub(super) type Path = Box<[u32]>;

/// Why a walk did not come to a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lost {
    /// A graph on the path is too large for sets of this size.
    NoRoom,
    /// There is no such position.
    NoSuchPath,
}

impl<S: Rewindable, C: Consistency, const N: usize> Walk<S, C, N> {
    /// Goes from wherever the walk is to `path`; returns what it reached.
    ///
    /// A revisit enters two levels at once, so that the walk may end a level below.
    pub(super) fn follow(&mut self, path: &[u32]) -> Result<Reached, Lost> {
        let shared = self.levels.iter().zip(path).take_while(|(level, chosen)| level.chosen == **chosen).count();
        self.leave(shared + 1);
        let mut reached = Reached::Extended;
        for (index, &chosen) in path.iter().enumerate().skip(shared) {
            if self.levels.len() == index {
                reached = match reached {
                    Reached::Extended => self.descend(),
                    _ => return Err(Lost::NoSuchPath),
                };
            }
            match (reached, self.levels.get(index)) {
                (Reached::NoRoom, _) => return Err(Lost::NoRoom),
                (_, Some(level)) if chosen < level.of => {
                    if chosen != level.chosen {
                        reached = self.turn(index, chosen);
                    }
                }
                _ => return Err(Lost::NoSuchPath),
            }
        }
        Ok(reached)
    }
}
