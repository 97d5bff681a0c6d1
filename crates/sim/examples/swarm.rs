//! Runs seeds of the swarm: `swarm FIRST LAST`, or one seed with all about it.

use throng_sim::swarm::Case;

fn main() {
    let seeds: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let (first, last) = match seeds[..] {
        [only] => (only, only),
        [first, last] => (first, last),
        _ => (1, 300),
    };
    let mut failed = 0;
    for seed in first..=last {
        let case = Case::draw(seed);
        if first == last {
            println!("{}{:#?}", case.text, case.cluster);
        }
        let told = std::panic::catch_unwind(|| case.run());
        match told {
            Ok(Ok(outcome)) if first == last => println!("{outcome:#?}"),
            Ok(Ok(_)) => {}
            Ok(Err(reason)) => {
                failed += 1;
                println!("seed {seed} ({}): {reason}", case.cluster.place);
            }
            Err(_) => {
                failed += 1;
                println!("seed {seed}: panicked");
            }
        }
    }
    println!("{} passed, {failed} failed", last - first + 1 - failed);
    std::process::exit(i32::from(failed > 0));
}
