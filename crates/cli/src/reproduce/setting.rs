//! How experiments are run, and what is said of that at every table.

/// How experiments are run.
pub struct Setting {
    /// Smaller than published.
    pub quick: bool,
    /// What chance is made of; the first seed, if there are several.
    pub seed: u64,
    /// How many seeds are tried.
    pub seeds: u64,
    /// Whether another seed came before this one: what leaves nothing to chance need not be run again.
    pub is_again: bool,
}

impl Setting {
    /// The same, once for each seed.
    pub fn of_each_seed(&self) -> impl Iterator<Item = Setting> + '_ {
        let one = |number| Setting {
            quick: self.quick,
            seed: self.seed.wrapping_add(number),
            seeds: 1,
            is_again: number > 0,
        };
        (0..self.seeds).map(one)
    }

    /// What has to be known of every table: a table is often looked at, or copied, without what stands around it.
    pub fn remark(&self) -> String {
        let mut remark = String::new();
        if self.quick {
            remark += " [QUICK: smaller than published]";
        }
        if self.seeds > 1 {
            remark += &format!(" [mean of {} seeds, ± the farthest]", self.seeds);
        }
        remark
    }

    /// What chance was made of, in words.
    pub fn seeds_in_words(&self) -> String {
        match self.seeds {
            1 => format!("seed {}", self.seed),
            several => format!("seeds {} to {}", self.seed, self.seed.wrapping_add(several - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_and_what_is_said_of_it() {
        let setting = Setting { quick: true, seed: 5, seeds: 3, is_again: false };
        assert_eq!(setting.of_each_seed().map(|one| one.seed).collect::<Vec<_>>(), [5, 6, 7]);
        assert_eq!(setting.of_each_seed().map(|one| one.is_again).collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(setting.remark(), " [QUICK: smaller than published] [mean of 3 seeds, ± the farthest]");
        assert_eq!(setting.seeds_in_words(), "seeds 5 to 7");
        let plain = Setting { quick: false, seed: 5, seeds: 1, is_again: false };
        assert_eq!((plain.remark(), plain.seeds_in_words()), (String::new(), "seed 5".to_owned()));
    }
}
