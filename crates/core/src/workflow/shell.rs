//! Values inside shell text: wherever the workflow's author has put them, they stay plain data.
//!
//! `echo {x}`, `echo "{x}"` and `echo '{x}'` all have to mean the same, and none of them may run what is in
//! `x`. So the text before a value is followed as a shell would read it, and the value is written as its
//! surroundings demand: quoted by itself, escaped within double quotes, or cut out of single quotes.

/// What a shell is in the middle of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Within {
    /// Plain text; the number counts open parentheses of a `$(` around it.
    Plain(u32),
    SingleQuotes,
    DoubleQuotes,
    /// Between `$((` and `))`; the number counts open parentheses.
    Arithmetic(u32),
    /// Between backquotes.
    Backquotes,
    /// From `#` to the end of the line.
    Comment,
    /// Between `<<` and the end of the word after it.
    HereWord {
        word: String,
        is_quoted: bool,
        strips_tabs: bool,
    },
    /// Text up to a line that is this word; values in it are expanded by the shell unless the word was quoted.
    HereText {
        word: String,
        is_quoted: bool,
        strips_tabs: bool,
        line: String,
    },
}

/// Follows shell text up to the place where a value is to be written.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// What it is in, the innermost last.
    within: Vec<Within>,
    /// A here-document whose text begins on the next line.
    announced: Option<(String, bool, bool)>,
    /// The letter before, if it stands for itself.
    before: Option<char>,
    is_escaped: bool,
}

impl Default for Surroundings {
    fn default() -> Self {
        Surroundings { within: vec![Within::Plain(0)], announced: None, before: None, is_escaped: false }
    }
}

impl Surroundings {
    /// Follows the author's own text.
    pub(crate) fn follow(&mut self, text: &str) {
        for letter in text.chars() {
            self.step(letter);
        }
    }

    /// Writes a value so that the shell takes it as data.
    pub(crate) fn write(&mut self, value: &str, out: &mut String) {
        match self.within.last() {
            Some(Within::SingleQuotes) => write_in_single_quotes(value, out),
            Some(Within::DoubleQuotes) => write_escaped(value, &['"', '$', '`', '\\'], out),
            Some(Within::HereText { is_quoted: false, .. }) => write_escaped(value, &['$', '`', '\\'], out),
            // A line end would leave the comment, and nothing after it could be trusted.
            Some(Within::Comment) => out.push_str(&value.replace(['\n', '\r'], " ")),
            Some(Within::HereText { is_quoted: true, .. }) => out.push_str(value),
            // What is no number is refused by the shell between `$((` and `))`, quoted or not.
            Some(Within::Plain(_) | Within::Arithmetic(_) | Within::Backquotes | Within::HereWord { .. }) | None => {
                if std::mem::take(&mut self.is_escaped) {
                    // The author's backslash would take the opening quote for a letter.
                    out.push('\\');
                }
                write_word(value, out);
            }
        }
        self.before = Some('x');
    }

    fn step(&mut self, letter: char) {
        let before = self.before.replace(letter);
        if std::mem::take(&mut self.is_escaped) {
            self.before = Some('x');
            return;
        }
        let depth = self.within.len();
        let innermost = self.within.last_mut().expect("the outermost is never left");
        match innermost {
            Within::SingleQuotes => {
                if letter == '\'' {
                    self.within.pop();
                }
            }
            Within::Comment => {
                if letter == '\n' {
                    self.within.pop();
                    self.line_end();
                }
            }
            Within::HereText { word, line, strips_tabs, .. } => {
                if letter != '\n' {
                    line.push(letter);
                } else {
                    let content = if *strips_tabs { line.trim_start_matches('\t') } else { line.as_str() };
                    if content == word {
                        self.within.pop();
                    } else {
                        line.clear();
                    }
                }
            }
            Within::Arithmetic(open) => match letter {
                '(' => *open += 1,
                ')' if *open > 1 => *open -= 1,
                ')' => drop(self.within.pop()),
                _ => {}
            },
            // `<<<` takes a word, not a text.
            Within::HereWord { word, .. } if letter == '<' && word.is_empty() => drop(self.within.pop()),
            Within::HereWord { word, is_quoted, strips_tabs } => match letter {
                '-' if word.is_empty() && !*is_quoted && before == Some('<') => *strips_tabs = true,
                ' ' | '\t' if word.is_empty() => {}
                '\'' | '"' | '\\' => *is_quoted = true,
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '>' | '<' | '(' | ')' => {
                    self.announced = Some((std::mem::take(word), *is_quoted, *strips_tabs));
                    self.within.pop();
                    if letter == '\n' {
                        self.line_end();
                    }
                }
                letter => word.push(letter),
            },
            Within::DoubleQuotes => match letter {
                '"' => drop(self.within.pop()),
                '\\' => self.is_escaped = true,
                '`' => self.within.push(Within::Backquotes),
                '(' if before == Some('$') => self.within.push(Within::Plain(1)),
                _ => {}
            },
            Within::Backquotes if letter == '`' => drop(self.within.pop()),
            Within::Plain(_) | Within::Backquotes => {
                match (&mut *innermost, letter) {
                    (Within::Plain(1), '(') if before == Some('(') => {
                        *innermost = Within::Arithmetic(2);
                        return;
                    }
                    (Within::Plain(open), '(') if *open > 0 => *open += 1,
                    (Within::Plain(open), ')') if *open > 0 => {
                        *open -= 1;
                        if *open == 0 && depth > 1 {
                            self.within.pop();
                        }
                        return;
                    }
                    _ => {}
                }
                match letter {
                    '\\' => self.is_escaped = true,
                    '\'' => self.within.push(Within::SingleQuotes),
                    '"' => self.within.push(Within::DoubleQuotes),
                    '`' => self.within.push(Within::Backquotes),
                    '(' if before == Some('$') && !matches!(self.within.last(), Some(Within::Plain(1..))) => {
                        self.within.push(Within::Plain(1));
                    }
                    '#' if before.is_none_or(|before| {
                        before.is_whitespace() || matches!(before, ';' | '&' | '|' | '(' | ')')
                    }) =>
                    {
                        self.within.push(Within::Comment);
                    }
                    '<' if before == Some('<') => {
                        let (word, is_quoted, strips_tabs) = (String::new(), false, false);
                        self.within.push(Within::HereWord { word, is_quoted, strips_tabs });
                    }
                    '\n' => self.line_end(),
                    _ => {}
                }
            }
        }
    }

    fn line_end(&mut self) {
        if let Some((word, is_quoted, strips_tabs)) = self.announced.take() {
            self.within.push(Within::HereText { word, is_quoted, strips_tabs, line: String::new() });
        }
    }
}

/// Writes a value as one word.
fn write_word(value: &str, out: &mut String) {
    let is_safe = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | ',' | ':' | '+' | '@' | '%')
    };
    if !value.is_empty() && value.chars().all(is_safe) {
        out.push_str(value);
        return;
    }
    out.push('\'');
    write_in_single_quotes(value, out);
    out.push('\'');
}

fn write_in_single_quotes(value: &str, out: &mut String) {
    for part in value.split_inclusive('\'') {
        match part.strip_suffix('\'') {
            Some(before) => {
                out.push_str(before);
                out.push_str("'\\''");
            }
            None => out.push_str(part),
        }
    }
}

fn write_escaped(value: &str, special: &[char], out: &mut String) {
    for letter in value.chars() {
        if special.contains(&letter) {
            out.push('\\');
        }
        out.push(letter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a value at every `@` of a text.
    fn written(text: &str, value: &str) -> String {
        let (mut surroundings, mut out) = (Surroundings::default(), String::new());
        for (at, part) in text.split('@').enumerate() {
            if at > 0 {
                surroundings.write(value, &mut out);
            }
            surroundings.follow(part);
            out.push_str(part);
        }
        out
    }

    #[test]
    fn a_value_is_written_as_its_place_demands() {
        let value = "a'b$(c)";
        for (text, expected) in [
            ("echo @", "echo 'a'\\''b$(c)'"),
            ("echo '@'", "echo 'a'\\''b$(c)'"),
            ("echo \"@\"", "echo \"a'b\\$(c)\""),
            ("echo \"it's\" @", "echo \"it's\" 'a'\\''b$(c)'"),
            ("echo 'say \"hi\"' @", "echo 'say \"hi\"' 'a'\\''b$(c)'"),
            ("echo \"$(cat @)\"", "echo \"$(cat 'a'\\''b$(c)')\""),
            ("echo \"$(cat @) @\"", "echo \"$(cat 'a'\\''b$(c)') a'b\\$(c)\""),
            ("echo \"$(f (x) \"@\")\" @", "echo \"$(f (x) \"a'b\\$(c)\")\" 'a'\\''b$(c)'"),
            ("echo \\' @", "echo \\' 'a'\\''b$(c)'"),
            ("# it's\necho @", "# it's\necho 'a'\\''b$(c)'"),
            ("echo a#b' @'", "echo a#b' a'\\''b$(c)'"),
            ("echo $((1 << 2)) @", "echo $((1 << 2)) 'a'\\''b$(c)'"),
            ("echo \"$((1 << (2)))\" @", "echo \"$((1 << (2)))\" 'a'\\''b$(c)'"),
            ("cat <<<'x'\necho @", "cat <<<'x'\necho 'a'\\''b$(c)'"),
            ("cat <<E\n@\nE\necho @", "cat <<E\na'b\\$(c)\nE\necho 'a'\\''b$(c)'"),
            ("cat <<-'E'\n@\n\tE\necho @", "cat <<-'E'\na'b$(c)\n\tE\necho 'a'\\''b$(c)'"),
        ] {
            assert_eq!(written(text, value), expected, "{text}");
        }
    }

    #[test]
    fn plain_values_stay_plain() {
        assert_eq!(written("cp @ out/@", "a/b-1.txt"), "cp a/b-1.txt out/a/b-1.txt");
        assert_eq!(written("rm @", ""), "rm ''");
    }

    #[test]
    fn line_ends_do_not_leave_a_comment() {
        assert_eq!(written("true # @\n", "x\ntouch pwned"), "true # x touch pwned\n");
    }
}
