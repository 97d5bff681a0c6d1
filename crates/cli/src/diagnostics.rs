//! What is wrong with a workflow, shown in its text.

use std::io::IsTerminal;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use throng_core::workflow::{Mark, Problem, Problems};

use crate::words;

/// Shows problems as a person wants to see them.
pub fn render(problems: &Problems, file: &Path, text: &str) -> String {
    let renderer = if std::io::stderr().is_terminal() { Renderer::styled() } else { Renderer::plain() };
    render_with(&renderer, problems, &file.display().to_string(), text)
}

fn render_with(renderer: &Renderer, problems: &Problems, file: &str, text: &str) -> String {
    let show = |problem: &Problem| match problem.mark.file.checked_sub(1).map(|number| &problems.files[number as usize])
    {
        // Another place in another file could not be shown in the same picture.
        Some(source) => one(renderer, &nearby(problem, &source.text), &source.name, &source.text),
        None => one(renderer, &nearby(problem, text), file, text),
    };
    let mut shown: Vec<String> = problems.shown.iter().map(show).collect();
    if problems.hidden > 0 {
        shown.push(format!("and {} more of this kind", problems.hidden));
    }
    shown.join("\n\n")
}

/// Moves a problem to the words it is about, if they stand where it is or soon after. What it says of names from the file can be shown on a terminal.
fn nearby(problem: &Problem, text: &str) -> Problem {
    const LOOKED_AT: usize = 100_000;
    let mut problem = problem.clone();
    problem.message = words::printable_lines(&problem.message);
    problem.remedy = words::printable_lines(&problem.remedy);
    problem.related = problem.related.filter(|related| related.0.file == problem.mark.file);
    let Some(words) = problem.words.as_ref().filter(|_| problem.mark.line > 0) else { return problem };
    let line = line_start(text, problem.mark.line);
    let start = line + byte_of_column(&text[line..], problem.mark.column.max(1) - 1);
    let mut end = text.len().min(start + LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if let Some(at) = text[start..end].find(words.as_ref()) {
        let before = &text[line..start + at];
        problem.mark.line += before.matches('\n').count() as u32;
        problem.mark.column = before.rsplit('\n').next().unwrap_or("").chars().count() as u32 + 1;
        problem.length = words.chars().count() as u32;
    }
    problem
}

fn one(renderer: &Renderer, problem: &Problem, file: &str, text: &str) -> String {
    if problem.mark.line == 0 {
        // It is about no place in the file, but about what was asked for.
        let report = Level::ERROR.primary_title(&problem.message).element(Level::HELP.message(&problem.remedy));
        return renderer.render(&[report]).to_string();
    }
    // Only the lines around the problem are handed over: the file may have millions.
    let related = problem.related.as_deref();
    let first = related.map_or(problem.mark.line, |(mark, _)| mark.line.min(problem.mark.line)).max(1);
    let last = related.map_or(problem.mark.line, |(mark, _)| mark.line.max(problem.mark.line)).max(1);
    let is_near = last - first < 50;
    let first = if is_near { first } else { problem.mark.line.max(1) };
    let start = line_start(text, first);
    let end = line_start(text, if is_near { last } else { first } + 1);
    if end - start > EXCERPT_LIMIT {
        // A line that long is a program's, and no picture of it would help.
        let Problem { mark, message, remedy, .. } = problem;
        let around = around(text, mark.line, mark.column);
        return format!(
            "error: {message}\n --> {file}:{}:{}\n  | … {around} …\n  = help: {remedy}",
            mark.line, mark.column
        );
    }
    let excerpt = &text[start..end];
    let place = |mark: Mark, length: u32| {
        let line = line_start(excerpt, mark.line.max(1) - first + 1);
        let from = line + byte_of_column(&excerpt[line..], mark.column.max(1) - 1);
        let to = from + byte_of_column(&excerpt[from..], length);
        from..to.max(from).min(excerpt.len())
    };
    let mut snippet = Snippet::source(excerpt)
        .line_start(first as usize)
        .path(file)
        .annotation(AnnotationKind::Primary.span(place(problem.mark, problem.length)));
    let mut notes = vec![Level::HELP.message(&problem.remedy)];
    let elsewhere;
    if let Some((mark, why)) = related {
        if is_near {
            snippet = snippet.annotation(AnnotationKind::Context.span(place(*mark, 1)).label(why));
        } else {
            elsewhere = format!("{why}: {file}:{}:{}", mark.line, mark.column);
            notes.insert(0, Level::NOTE.message(&elsewhere));
        }
    }
    let group = Level::ERROR.primary_title(&problem.message).element(snippet);
    let report = notes.into_iter().fold(group, |group, note| group.element(note));
    renderer.render(&[report]).to_string()
}

/// Longer excerpts than this are not shown as a picture: a file may be one line of gigabytes.
const EXCERPT_LIMIT: usize = 20_000;

/// A few dozen letters before and after a place.
fn around(text: &str, line: u32, column: u32) -> String {
    let line = &text[line_start(text, line)..];
    let letters = line.chars().skip((column as usize).saturating_sub(31)).take(90);
    letters.map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// The byte at which a line begins, counted from one; the end of the text if there are not so many.
fn line_start(text: &str, line: u32) -> usize {
    if line <= 1 {
        return 0;
    }
    text.match_indices('\n').nth(line as usize - 2).map_or(text.len(), |(at, _)| at + 1)
}

fn byte_of_column(text: &str, columns: u32) -> usize {
    let line = text.lines().next().unwrap_or("");
    line.char_indices().nth(columns as usize).map_or(line.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::workflow::{Format, NoFiles, Workflow};

    #[test]
    fn a_person_sees_file_line_text_and_remedy() {
        let texts = [
            "tasks:\n  a:\n    run: echo\n    outt: [x]\n",
            "tasks:\n  a: { run: x, out: same }\n\n  b:\n    run: y\n    out: same\n",
            "tasks:\n  one: { run: x, in: b, out: a }\n  two: { run: x, in: a, out: b }\n",
            "tasks:\n  a: { run: x }\n  a: { run: y }\n",
            "tasks:\n  a:\n    run: |\n      echo first\n      echo {firts}\n",
        ];
        let shown: Vec<String> = texts
            .iter()
            .map(|text| {
                let problems = Workflow::parse(text, Format::Yaml, "flow", &NoFiles).unwrap_err();
                render_with(&Renderer::plain(), &problems, "flow.yaml", text)
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n\n"));
    }

    #[test]
    fn the_place_in_a_very_long_line_is_right() {
        let many: String = (0..3000).map(|i| format!("\"t{i}\": {{\"run\": \"x\"}}, ")).collect();
        let text = format!("{{\"tasks\": {{{many}\"last\": {{\"rum\": \"x\"}}}}}}");
        let problems = Workflow::parse(&text, Format::Json, "flow", &NoFiles).unwrap_err();
        let shown = render_with(&Renderer::plain(), &problems, "flow.json", &text);
        let column = text.find("\"rum\"").unwrap() + 1;
        assert!(shown.contains(&format!("flow.json:1:{column}")) && shown.contains("{\"rum\": \"x\"}"), "{shown}");
    }
}
