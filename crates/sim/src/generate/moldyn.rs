//! Molecular dynamics: how readily molecules dissolve, computed for many of them at once.
//!
//! ```text
//!   prepare ─▶ charge ─▶ conform ×7 ─▶ choose ─▶ simulate ×68 ─▶ analyse ×4 ─▶ combine ×2 ─▶ result
//!         once │ for each molecule
//! ```
//!
//! Published (in the MATRIX paper) is that there are eight stages, and that every stage fans out or in. That a molecule
//! has 84 tasks, besides one task for all (20,497 for 244 molecules), is said to be in other reports of the same
//! application; we had no copy to check it. Reconstructed is how the stages share the 84, what they are called, and all
//! times and sizes.

use super::options::{Options, Wrong};
use super::stage::{Key, Stage, key};
use super::{Make, Shape, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "moldyn",
    summary: "molecules, each with eight stages that fan out and in",
    origin: "the MATRIX paper has eight stages, each of which fans out or in. 84 tasks for each molecule and one for \
             all are said to be in other reports, which we could not check. How the stages share them, times and \
             sizes are reconstructed",
    takes: &[
        parameter("molecules", "10"),
        parameter("tasks", ""),
        parameter("times", "60s..240s"),
        parameter("sizes", "100kB..2MB"),
    ],
    make: Make::Stages(stages),
};

/// With 84 tasks each, more would not fit into a workflow.
const MOLECULES_LIMIT: u64 = 2_000_000;
const TASKS_EACH: u64 = 84;
/// A description of a molecule, and what is known of forces between atoms.
const MOLECULE_BYTES: u64 = 10_000;
const FORCES_BYTES: u64 = 1_000_000;

fn stages(options: &Options) -> Result<Vec<Stage>, Wrong> {
    let molecules = options.count_or_tasks("molecules", MOLECULES_LIMIT, |tasks| tasks / TASKS_EACH)?;
    let (times, sizes) = (options.times()?, options.sizes()?);
    // Tasks of a molecule are told apart by numbers below these; what one writes is called by its stage and numbers.
    let step = |name: &str, numbers: &[(&str, u64)]| {
        let molecule = [key("m", molecules)].into_iter();
        let keys: Vec<Key> = molecule.chain(numbers.iter().map(|(name, count)| key(name, *count))).collect();
        let stage = Stage::new(name, keys);
        let path = format!("{name}/{{{}}}", stage.columns[0].name);
        stage.takes(times).writes(path, sizes)
    };
    let gather = |stage: Stage, from: &str, count: u64| {
        (0..count).fold(stage, |stage, number| {
            let path = format!("{from}/{{{}}}.{number}", stage.columns[0].name);
            stage.reads(path)
        })
    };
    let prepare = Stage::new("prepare", Vec::new()).reads_outside("forces.dat", FORCES_BYTES);
    Ok(vec![
        prepare.takes(times).writes("prepared", sizes),
        step("charge", &[]).reads("prepared").reads_outside("molecules/{m}.dat", MOLECULE_BYTES),
        step("conform", &[("k", 7)]).reads("charge/{m}"),
        gather(step("choose", &[]), "conform", 7),
        step("simulate", &[("h", 2), ("g", 2), ("k", 17)]).reads("choose/{m}"),
        gather(step("analyse", &[("h", 2), ("g", 2)]), "simulate", 17),
        gather(step("combine", &[("h", 2)]), "analyse", 2),
        gather(step("result", &[]), "combine", 2),
    ])
}
