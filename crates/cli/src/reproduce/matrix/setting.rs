//! How experiments are run, and what is said of that at every table.

use super::super::section::OWN;

/// How experiments are run.
pub struct Setting {
    /// Smaller than published.
    pub quick: bool,
    /// What chance is made of; the first seed, if there are several.
    pub seed: u64,
    /// How many seeds are tried.
    pub seeds: u64,
}

impl Setting {
    /// The same, once for each seed.
    pub fn of_each_seed(&self) -> impl Iterator<Item = Setting> + '_ {
        (0..self.seeds).map(|number| Setting { quick: self.quick, seed: self.seed.wrapping_add(number), seeds: 1 })
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

    /// What stands beside the reproduction without being part of it.
    pub fn beside() -> String {
        format!(
            "Rows and columns that begin with {OWN} are not part of the reproduction: they show what Throng does by itself \
             (place fair, order aware) on the same workload and cluster."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_and_what_is_said_of_it() {
        let setting = Setting { quick: true, seed: 5, seeds: 3 };
        assert_eq!(setting.of_each_seed().map(|one| one.seed).collect::<Vec<_>>(), [5, 6, 7]);
        assert_eq!(setting.remark(), " [QUICK: smaller than published] [mean of 3 seeds, ± the farthest]");
        assert_eq!(setting.seeds_in_words(), "seeds 5 to 7");
        let plain = Setting { quick: false, seed: 5, seeds: 1 };
        assert_eq!((plain.remark(), plain.seeds_in_words()), (String::new(), "seed 5".to_owned()));
    }
}
