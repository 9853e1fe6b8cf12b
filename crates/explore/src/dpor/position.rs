//! Where in the walk one is: which alternative was taken at each level.

use teetotal_memory::Model;

use super::walk::{Rewindable, Stand, Walk};

/// The position of a walk: which alternative was taken at each level. Positions are in the order of the walk.
pub(super) type Path = Box<[u32]>;

/// Why a walk did not come to a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lost {
    /// A graph on the way is too large for sets of this size.
    NoRoom,
    /// There is no such position.
    NoSuchPath,
}

impl<S: Rewindable, M: Model, const N: usize> Walk<S, M, N> {
    /// Which alternative was taken at each level.
    pub(super) fn path(&self) -> Path {
        self.levels.iter().map(|level| level.taken).collect()
    }

    /// Goes from wherever the walk is to `path`; gives where it then stands.
    ///
    /// A revisit enters two levels at once, so that the walk may end a level below.
    pub(super) fn follow(&mut self, path: &[u32]) -> Result<Stand, Lost> {
        let shared = self.levels.iter().zip(path).take_while(|(level, taken)| level.taken == **taken).count();
        self.leave(shared + 1);
        let mut stand = Stand::Deeper;
        for (index, &taken) in path.iter().enumerate().skip(shared) {
            if self.levels.len() == index {
                stand = match stand {
                    Stand::Deeper => self.descend(),
                    _ => return Err(Lost::NoSuchPath),
                };
            }
            match (stand, self.levels.get(index)) {
                (Stand::NoRoom, _) => return Err(Lost::NoRoom),
                (_, Some(level)) if taken < level.of => {
                    if taken != level.taken {
                        stand = self.turn(index, taken);
                    }
                }
                _ => return Err(Lost::NoSuchPath),
            }
        }
        Ok(stand)
    }
}
