//! The cases that came with the specification, as the example `vectors` runs them.

#[path = "../examples/vectors/check/mod.rs"]
mod check;

use check::Vectors;

/// Runs the cases of a file, and says what is wrong with which of them.
fn failures(text: &str) -> (usize, Vec<String>) {
    let vectors = Vectors::parse(text).expect("a file of cases");
    let check = |case| vectors.check(case).err().map(|why| format!("{}\n{why}", case.name));
    (vectors.cases.len(), vectors.cases.iter().filter_map(check).collect())
}

#[test]
fn data_aware_work_stealing() {
    let (count, failed) = failures(include_str!("vectors/daws.json"));
    assert_eq!(count, 57);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn orders_that_mind_the_cache() {
    let (count, failed) = failures(include_str!("vectors/mpdis.json"));
    assert_eq!(count, 55);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn how_many_at_once() {
    let (count, failed) = failures(include_str!("vectors/weasel.json"));
    assert_eq!(count, 19);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn plans_for_a_budget() {
    let (count, failed) = failures(include_str!("vectors/budget.json"));
    assert_eq!(count, 35);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// A part, an operation and an answer that are expected to fail do, each in its own words.
#[test]
fn what_differs_is_told() {
    let one = |part: &str, request: &str, expect: &str| {
        let text = format!(r#"{{"part":"{part}","cases":[{{"name":"x","request":{request},"expect":{expect}}}]}}"#);
        failures(&text).1.join("\n")
    };
    let neighbours = r#"{"op":"neighbours","n":100}"#;
    for fine in [r#"{"k":10}"#, r#"{"k":10.000000001}"#, "{}"] {
        assert_eq!(one("daws", neighbours, fine), "");
    }
    assert_eq!(one("daws", neighbours, r#"{"k":11}"#), "x\n  k: expected 11, got 10");
    assert_eq!(one("daws", neighbours, r#"{"k":10.0001}"#), "x\n  k: expected 10.0001, got 10");
    assert_eq!(one("daws", neighbours, r#"{"z":[1]}"#), "x\n  z: expected [1], got nothing");
    let wait = r#"{"op":"qwait","k":3,"l":0.5000000001}"#;
    assert_eq!(one("daws", wait, r#"{"wait":0.5}"#), "");
    assert_eq!(one("daws", wait, r#"{"wait":1}"#), "x\n  wait: expected 1, got 0.5000000001");
    assert!(one("daws", r#"{"op":"dance"}"#, "{}").contains("the operation `dance` of `daws` is not implemented"));
    assert!(one("ballet", r#"{"op":"dance"}"#, "{}").contains("the part `ballet` is not implemented"));
    assert!(one("daws", r#"{"op":"neighbours"}"#, "{}").contains("`n` is missing"));
}

#[test]
fn what_is_no_file_of_vectors_is_refused() {
    for text in ["", "[]", "{}", r#"{"part":"daws"}"#, r#"{"part":"daws","cases":[{"name":"x"}]}"#] {
        assert!(Vectors::parse(text).err().unwrap().starts_with("not a file of test vectors"), "{text}");
    }
}
