use super::*;
use throng_core::workflow::{Format as Text, NoFiles};

fn flow(text: &str) -> Workflow {
    Workflow::parse(text, Text::Yaml, "demo", &NoFiles).unwrap()
}

const DIAMOND: &str = "tasks:
  split: { run: split big.txt, in: big.txt, out: [left.txt, right.txt] }
  left: { run: sort left.txt, in: left.txt, out: left.out }
  right: { run: sort right.txt, in: right.txt, out: right.out }
  join: { run: join left.out right.out, in: [left.out, right.out], out: joined.txt }
  tell: { run: echo done, after: join }";

#[test]
fn a_small_workflow_as_dot() {
    insta::assert_snapshot!(dot(&flow(DIAMOND), &Options::default()));
}

#[test]
fn a_large_workflow_as_dot() {
    let text = "tasks:
      shrink: { foreach: { i: 1..10000 }, run: x, in: 'photos/{i}.jpg', out: 'small/{i}.jpg' }
      sheet: { run: y, in: [{ all: shrink }, style.css], out: sheet.png }";
    insta::assert_snapshot!(dot(&flow(text), &Options::default()));
}

/// Enough of a check that a parser would not stumble: tags nest, and no text breaks out.
fn check_xml(text: &str) {
    let mut open = Vec::new();
    for piece in text.split('<').skip(1) {
        let (tag, content) = piece.split_once('>').unwrap_or_else(|| panic!("no end in <{piece}"));
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        assert!(!content.contains('>') || tag == "style", "{content}");
        assert!(tag.matches('"').count() % 2 == 0, "{tag}");
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn an_svg_is_well_formed_whatever_names_it_holds() {
    let hostile = "name: \"<script>alert('1')</script>\"
tasks:
  a: { kind: 'a\"<b>&', run: echo '</svg>', out: ['x<y>.txt', \"a'b\"] }
  b: { run: cat, in: 'x<y>.txt' }";
    for text in [DIAMOND, hostile] {
        for by in [By::Kind, By::Task] {
            let flow = flow(text);
            let standing = Some(vec![Standing::Failed; flow.task_count()]);
            let svg = svg(&flow, &Options { by: Some(by), standing, ..Options::default() });
            check_xml(&svg);
            assert!(!svg.contains("<script>") && svg.matches("</svg>").count() == 1, "{svg}");
        }
    }
}

#[test]
fn style_stays_inside() {
    let svg = svg(&flow(DIAMOND), &Options::default());
    let style = svg.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let rules = style.split(['{', '}']).step_by(2).flat_map(|selectors| selectors.split(','));
    for selector in rules.map(str::trim).filter(|selector| !selector.is_empty() && !selector.starts_with("@media")) {
        assert!(selector.starts_with(".throng-graph") || selector.starts_with("--"), "{selector}");
    }
    assert!(!svg.contains(" id="), "two pictures in a page must not meet");
}

#[test]
fn targets_limit_the_picture() {
    let flow = flow(DIAMOND);
    let options = Options { targets: flow.find("left").unwrap(), ..Options::default() };
    let picture = picture(&flow, &options, TASKS_DRAWN);
    let names: Vec<&str> = picture.boxes.iter().map(|shown| shown.name.as_str()).collect();
    assert_eq!(names, ["split", "left", "big.txt"]);
    assert_eq!(picture.notes, ["a part of 5 tasks in all"]);
}
