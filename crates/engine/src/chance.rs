//! The chance of the searches that sample: numbers that look random and follow from a seed.

/// A generator of such numbers: SplitMix64, whose state is a counter.
#[derive(Clone, Debug)]
pub struct Chance(u64);

/// What the counter grows by: odd, so that it passes through every state.
const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

impl Chance {
    /// For the execution with this number of a search with this seed.
    ///
    /// Each execution has its own, so that none depends on those before it.
    pub fn of_execution(seed: u64, number: u64) -> Self {
        let mut of_seed = Chance(seed);
        Chance(of_seed.any() ^ Chance(number).any().rotate_left(32))
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STRIDE);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`, which is not 0; each is equally likely.
    pub fn below(&mut self, limit: u64) -> u64 {
        // Numbers past the last multiple of the limit would favor the small remainders.
        let excess = (u64::MAX % limit + 1) % limit;
        loop {
            let number = self.any();
            if number <= u64::MAX - excess {
                return number % limit;
            }
        }
    }

    /// A position in something of this length, which is not 0.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Chance;

    #[test]
    fn the_first_numbers_are_those_of_splitmix64() {
        let mut chance = Chance(1_234_567);
        assert_eq!([chance.any(), chance.any()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn every_number_below_a_limit_is_about_equally_likely() {
        let mut counts = [0; 7];
        for number in 0..7_000 {
            counts[Chance::of_execution(3, number).index(7)] += 1;
        }
        assert!(counts.iter().all(|&count| (850..1_150).contains(&count)), "{counts:?}");
    }

    #[test]
    fn executions_and_seeds_have_numbers_of_their_own() {
        let first = |seed, number| Chance::of_execution(seed, number).any();
        assert_ne!(first(0, 1), first(1, 0));
        assert_ne!(first(0, 0), first(0, 1));
        assert_ne!(first(5, 5), first(6, 6));
    }
}
