//! Holds core against cases that were worked out elsewhere.
//!
//! ```sh
//! cargo run --release -p throng-core --example vectors -- FILE…
//! ```
//!
//! A file is `{"part", "cases": [{"name", "request", "expect"}]}`. Every request is put to core, and every field of
//! `expect` is compared with the answer: whole numbers exactly, others to 1e-9 of their size. What differs is printed,
//! and at the end `N passed, M failed`. The exit code is 1 if a case has failed, 2 if a file cannot be used.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "only core itself is without files, arguments and output; this program is built beside it"
)]

mod check;

use std::process::ExitCode;

use check::Vectors;

fn main() -> ExitCode {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        eprintln!("usage: vectors FILE…");
        return ExitCode::from(2);
    }
    let mut read = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).map_err(|error| error.to_string());
        match text.and_then(|text| Vectors::parse(&text)) {
            Ok(vectors) => read.push((file, vectors)),
            Err(why) => {
                eprintln!("{file}: {why}");
                return ExitCode::from(2);
            }
        }
    }
    let (mut passed, mut failed) = (0, 0);
    for (file, vectors) in &read {
        for case in &vectors.cases {
            match vectors.check(case) {
                Ok(()) => passed += 1,
                Err(why) => {
                    failed += 1;
                    println!("{file}: {}\n{why}", case.name);
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}
