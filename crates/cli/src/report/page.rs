//! The page: one HTML file with its style, its program and its data inside, which loads nothing from anywhere.
//!
//! Everything that comes from a run (names, texts, figures) is data inside elements that are never run, and the
//! program puts it on the page as text, never as markup. A content security policy forbids the rest.

use serde_json::{Value, json};
use throng_core::account::Stint;

use super::packed::base64;
use super::{Report, figures, graph_svg, names, timeline};

const HTML: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// The parts of the program, in the order in which they need each other.
const PROGRAM: [&str; 7] = [
    include_str!("page/words.js"),
    include_str!("page/data.js"),
    include_str!("page/summary.js"),
    include_str!("page/tables.js"),
    include_str!("page/learning.js"),
    include_str!("page/timeline.js"),
    include_str!("page/main.js"),
];

/// Kinds that are told apart on the page; the rest, those with the least time, are one.
const KINDS_SHOWN: usize = 100;
/// How much of the definition is shown.
const DEFINITION_SHOWN_BYTES: usize = 200_000;

/// Makes the page.
pub fn page(report: &Report) -> String {
    let flow = &report.recording.flow;
    let mut figures = figures::figures(report);
    let shown = keep_the_longest_kinds(&mut figures);
    let number_of_kind: Vec<u64> = (0..flow.kind_count())
        .map(|kind| flow.kind_name(throng_core::ids::KindId::at(kind)))
        .map(|name| shown.iter().position(|shown| shown == name).unwrap_or(shown.len()) as u64)
        .collect();
    let kind_number = |stint: &Stint| number_of_kind[flow.kind(stint.task).index()];
    let (about_timeline, strips) = timeline::pack(&report.account, kind_number);
    let with_stints = flow.tasks().filter(|task| report.account.tasks[task.index()].last_stint.is_some());
    let (definition, is_cut) = cut(report.definition.as_deref().unwrap_or_default());
    let data = json!({
        "figures": figures,
        "timeline": about_timeline,
        "made_by": env!("CARGO_PKG_VERSION"),
        "definition": definition,
        "definition_is_cut": is_cut,
    });
    fill(
        HTML,
        &[
            ("title", &escaped(&title(report))),
            ("style", STYLE),
            ("graph", &graph_svg(&report.recording)),
            ("data", &inside_script(&data)),
            ("names", &base64(&names::pack(flow, with_stints))),
            ("strips", &base64(&strips)),
            ("program", &PROGRAM.concat()),
        ],
    )
}

fn title(report: &Report) -> String {
    let about = &report.recording.about;
    let simulated = if about.simulated.is_some() { "simulated " } else { "" };
    format!("{}, {simulated}run {}", about.workflow, about.run)
}

/// Leaves only the kinds with the most time in the figures, where there are too many; returns their names.
fn keep_the_longest_kinds(figures: &mut Value) -> Vec<String> {
    let time = |kind: &Value| kind["compute_s"].as_f64().unwrap_or(0.0) + kind["engine_s"].as_f64().unwrap_or(0.0);
    for list in ["/kinds", "/path/kinds"] {
        let Some(kinds) = figures.pointer_mut(list).and_then(Value::as_array_mut) else { continue };
        if kinds.len() > KINDS_SHOWN {
            kinds.sort_by(|one, other| time(other).total_cmp(&time(one)));
            kinds.truncate(KINDS_SHOWN);
        }
    }
    let kinds = figures["kinds"].as_array().into_iter().flatten();
    kinds.filter_map(|kind| kind["name"].as_str().map(str::to_owned)).collect()
}

fn cut(text: &str) -> (&str, bool) {
    let end = (0..=DEFINITION_SHOWN_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    (&text[..end], end < text.len())
}

/// Puts texts where the page names them; what is put in is not looked at again.
fn fill(page: &str, texts: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(page.len() + texts.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the page closes what it opens");
        let text = texts.iter().find(|(own, _)| *own == name).expect("the page names only what there is").1;
        filled.push_str(before);
        filled.push_str(text);
        rest = after;
    }
    filled + rest
}

/// JSON that cannot end the element it is in, whatever its texts hold.
fn inside_script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_not_looked_at_again() {
        assert_eq!(fill("a{{one}}b{{two}}", &[("one", "{{two}}"), ("two", "2")]), "a{{two}}b2");
    }

    #[test]
    fn data_cannot_become_markup() {
        let text = "</script><img src=x onerror=alert(1)><!--";
        let inside = inside_script(&json!({ "name": text }));
        assert!(!inside.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<Value>(&inside).unwrap()["name"], text);
    }

    #[test]
    fn a_long_definition_is_cut_between_letters() {
        let text = "ä".repeat(DEFINITION_SHOWN_BYTES);
        let (shown, is_cut) = cut(&text);
        assert!(is_cut && shown.len() == DEFINITION_SHOWN_BYTES);
        assert_eq!(cut("short"), ("short", false));
    }
}
