//! Three hundred runs in which everything may break. More: `cargo run --release -p throng-sim --example swarm -- 1 20000`.

use throng_sim::swarm::{Case, try_seed};

#[test]
fn three_hundred_seeds() {
    let wrong: Vec<String> = (1..=300).filter_map(|seed| try_seed(seed).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same seed gives the same run, event for event.
#[test]
fn runs_are_reproducible() {
    for seed in 1..=40 {
        let outcomes = [Case::draw(seed).run(), Case::draw(seed).run()];
        assert_eq!(outcomes[0], outcomes[1], "seed {seed}");
    }
}
