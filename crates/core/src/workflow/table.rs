//! Files that a `foreach` runs over: lines, and rows of comma or tab separated values.

use super::problem::{Mark, Problem};
use super::spec::{Records, TableFile};
use super::value::Text;

/// The lines of a file, empty ones left out.
pub(crate) fn lines(text: &str, mark: Mark) -> Vec<Text> {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(|line| Text { text: line.to_owned(), mark }).collect()
}

/// The rows of a table. Messages name the line of the file that is wrong.
pub(crate) fn rows(text: &str, table: &TableFile) -> Result<Records, Problem> {
    let file = &table.file;
    let wrong = |message: String, remedy: &str| Err(Problem::new(file.mark, message, remedy).spanning(&file.text));
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(table.separator)
        .has_headers(table.has_header)
        .trim(csv::Trim::All)
        // Quotes are how commas get into values; tab separated files do without.
        .quoting(table.separator == b',')
        .comment(None)
        .from_reader(text.as_bytes());
    let headers = match reader.headers() {
        Ok(headers) => headers.clone(),
        Err(error) => return wrong(format!("`{}` cannot be read: {error}", file.text), "correct the file"),
    };
    let columns: Vec<String> = if table.has_header {
        headers.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect()
    } else {
        (1..=headers.len()).map(|number| number.to_string()).collect()
    };
    if let [only] = &columns[..]
        && let Some(other) = [';', '\t', ','].into_iter().find(|other| only.contains(*other))
    {
        let name = if other == '\t' { "tabs".to_owned() } else { format!("`{other}`") };
        let right = if other == '\t' {
            "write `tsv` instead of `csv`"
        } else {
            "save it with commas, or with tabs and write `tsv`"
        };
        return wrong(format!("the values of `{}` seem to be separated by {name}", file.text), right);
    }
    let mut sorted: Vec<&String> = columns.iter().collect();
    sorted.sort();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return wrong(format!("`{}` has two columns named `{}`", file.text, pair[0]), "rename one of them");
    }
    let mut records = Records { columns, rows: Vec::new() };
    for row in reader.records() {
        let row = match row {
            Ok(row) => row,
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                return match error.kind() {
                    csv::ErrorKind::UnequalLengths { expected_len, len, .. } => wrong(
                        format!(
                            "line {line} of `{}` has {len} values, and the lines before it {expected_len}",
                            file.text
                        ),
                        "give every line as many values, in quotes if they hold a separator",
                    ),
                    _ => wrong(format!("`{}` cannot be read: {error}", file.text), "correct the file"),
                };
            }
        };
        if row.iter().any(|value| value.contains('\0')) {
            return wrong(format!("`{}` contains a NUL character", file.text), "remove it");
        }
        records.rows.push(row.iter().map(|value| Text { text: value.to_owned(), mark: file.mark }).collect());
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(separator: u8, has_header: bool) -> TableFile {
        let file = Text { text: "t".to_owned(), mark: Mark::default() };
        TableFile { file, separator, has_header, column: None, key: Vec::new() }
    }

    fn texts(records: &Records) -> Vec<Vec<&str>> {
        records.rows.iter().map(|row| row.iter().map(|value| value.text.as_str()).collect()).collect()
    }

    #[test]
    fn values_with_and_without_a_header() {
        let records = rows("a,b\n1,\"x, y\"\n2, z\n", &table(b',', true)).unwrap();
        assert_eq!(records.columns, ["a", "b"]);
        assert_eq!(texts(&records), [["1", "x, y"], ["2", "z"]]);
        let records = rows("1\t\"q\n2\tz", &table(b'\t', false)).unwrap();
        assert_eq!(records.columns, ["1", "2"]);
        assert_eq!(texts(&records), [["1", "\"q"], ["2", "z"]]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |text| rows(text, &table(b',', true)).unwrap_err().message;
        assert_eq!(message("a,b\n1,2\n3\n"), "line 3 of `t` has 1 values, and the lines before it 2");
        assert_eq!(message("a,a\n1,2\n"), "`t` has two columns named `a`");
    }

    #[test]
    fn lines_of_a_file() {
        let found: Vec<String> = lines("a\r\n\n b \n", Mark::default()).into_iter().map(|text| text.text).collect();
        assert_eq!(found, ["a", " b"]);
    }
}
