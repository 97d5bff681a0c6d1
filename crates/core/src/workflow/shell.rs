//! Values inside shell text: wherever the workflow's author has put them, they stay plain data.
//!
//! `echo {x}`, `echo "{x}"` and `echo '{x}'` all have to mean the same, and none of them may run what is in
//! `x`. So the text before a value is followed as a shell would read it, and the value is written as its place
//! demands: quoted by itself, escaped within double quotes, or cut out of single quotes. A shell has darker
//! corners than these (here-documents, backquotes, arithmetic, `case` inside `$(`); there only values of
//! harmless letters are let in, and the builder refuses others.

/// What a shell is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// Plain text; the number counts open parentheses since a `$(`, and is zero outside of any.
    Plain(u32),
    SingleQuotes,
    DoubleQuotes,
    /// After `${`, as long as only a name has come.
    Parameter,
    /// From `#` to the end of the line.
    Comment,
    /// Up to the next backquote.
    Backquotes,
    /// Between `$((` and `))`; the number counts open parentheses.
    Arithmetic(u32),
    /// Between `[` behind a word and `]`: a subscript, which is arithmetic.
    Subscript,
    /// Between `[[` and `]]`, where some shells calculate.
    Test,
    /// Somewhere this does not try to understand, until the end.
    Unclear,
}

/// How a value has to be written at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// As a word of its own.
    Word,
    SingleQuotes,
    DoubleQuotes,
    Comment,
    /// As it is, if it is harmless; not at all otherwise.
    Corner,
    /// Behind a `$`, where it would become the name of a variable or worse: not at all.
    Dollar,
}

/// Follows shell text up to the place where a value is to be written.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// What it is in, the innermost last.
    within: Vec<Within>,
    /// The letter before, if it stands for itself.
    before: Option<char>,
    /// The letters of the word that is being read, if it is in plain text.
    word: String,
    is_escaped: bool,
    /// Whether the last letters are the name of a variable, which a value would prolong.
    in_name: bool,
}

impl Default for Surroundings {
    fn default() -> Self {
        Surroundings {
            within: vec![Within::Plain(0)],
            before: None,
            word: String::new(),
            is_escaped: false,
            in_name: false,
        }
    }
}

/// Whether a value means nothing to a program that is no shell: a number, or a name. Where a slash is only a slash, paths too.
pub(crate) fn is_plain(value: &str, with_slashes: bool) -> bool {
    let plain =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.') || with_slashes && letter == '/';
    !value.is_empty() && value.chars().all(plain)
}

/// Whether a value means nothing to a shell, wherever it stands.
pub(crate) fn is_harmless(value: &str) -> bool {
    let harmless = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | ',' | ':' | '+' | '@' | '%')
    };
    !value.is_empty() && value.chars().all(harmless)
}

impl Surroundings {
    /// The beginning of a text; if it is not known to be a shell's, no place in it is clear.
    pub(crate) fn new(is_known: bool) -> Self {
        let outermost = if is_known { Within::Plain(0) } else { Within::Unclear };
        Surroundings { within: vec![outermost], ..Surroundings::default() }
    }

    /// Follows the author's own text.
    pub(crate) fn follow(&mut self, text: &str) {
        for letter in text.chars() {
            self.step(letter);
        }
    }

    /// How a value has to be written here.
    pub(crate) fn place(&self) -> Place {
        match self.within.last() {
            // A backslash before a value would take away the first letter of whatever protects it.
            _ if self.is_escaped => Place::Corner,
            Some(Within::Plain(_) | Within::DoubleQuotes) if self.before == Some('$') => Place::Dollar,
            Some(Within::Plain(_)) => Place::Word,
            Some(Within::SingleQuotes) => Place::SingleQuotes,
            Some(Within::DoubleQuotes) => Place::DoubleQuotes,
            Some(Within::Comment) => Place::Comment,
            _ => Place::Corner,
        }
    }

    /// Writes a value so that the shell takes it as data; `next` is the letter that follows it.
    pub(crate) fn write(&mut self, value: &str, next: Option<char>, out: &mut String) {
        // `1>file` would not print a one, and `$A` and a value would be another variable.
        let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        let is_mixed = self.in_name || is_number && matches!(next, Some('<' | '>'));
        match self.place() {
            Place::SingleQuotes => write_in_single_quotes(value, out),
            Place::DoubleQuotes => {
                out.push_str(if self.in_name { "\"\"" } else { "" });
                write_escaped(value, out);
            }
            // A line end would leave the comment, and nothing after it could be trusted.
            Place::Comment => out.push_str(&value.replace(['\n', '\r'], " ")),
            Place::Corner if is_harmless(value) => out.push_str(value),
            Place::Word if !is_mixed && is_harmless(value) => out.push_str(value),
            Place::Word | Place::Corner | Place::Dollar => write_quoted(value, out),
        }
        self.is_escaped = false;
        self.in_name = false;
        self.before = Some('x');
        self.word.push('x');
    }

    fn step(&mut self, letter: char) {
        let before = self.before.replace(letter);
        if std::mem::take(&mut self.is_escaped) {
            self.in_name = false;
            // A line end behind a backslash is not there at all.
            if letter == '\n' {
                self.before = None;
            } else {
                self.before = Some('x');
                self.word.push('x');
            }
            return;
        }
        let is_name_letter = letter.is_ascii_alphanumeric() || letter == '_';
        self.in_name = is_name_letter && (self.in_name || before == Some('$') && !letter.is_ascii_digit());
        // `$$` is a variable, and what follows it begins anew; but not all shells agree on brackets behind it.
        if letter == '$' && before == Some('$') {
            self.before = Some(TWO_DOLLARS);
        }
        let is_open = matches!(self.within.last(), Some(Within::Plain(_) | Within::DoubleQuotes));
        if is_open && before == Some(TWO_DOLLARS) && matches!(letter, '(' | '{' | '[' | '\'') {
            return self.replace(Within::Unclear);
        }
        let innermost = *self.within.last().expect("the outermost is never left");
        match (innermost, letter) {
            (Within::Unclear, _) => {}
            (Within::SingleQuotes, '\'') | (Within::Comment, '\n') => self.leave(),
            (Within::SingleQuotes | Within::Comment, _) => {}
            (Within::Parameter, '}') => self.leave(),
            (Within::Parameter, letter) if letter.is_alphanumeric() || letter == '_' => {}
            (Within::Parameter, _) => self.replace(Within::Unclear),
            (Within::Backquotes, '`') => self.leave(),
            (Within::Backquotes | Within::DoubleQuotes, '\\') => self.is_escaped = true,
            (Within::Backquotes, _) => {}
            (Within::Arithmetic(open), '(') => self.replace(Within::Arithmetic(open + 1)),
            (Within::Arithmetic(1), ')') => self.leave(),
            (Within::Arithmetic(open), ')') => self.replace(Within::Arithmetic(open - 1)),
            (Within::Arithmetic(_), '\'' | '"' | '`' | '\\') => self.replace(Within::Unclear),
            (Within::Arithmetic(_), _) => {}
            (Within::Subscript, ']') => self.leave(),
            (Within::Subscript, letter) if is_blank(letter) => self.leave(),
            (Within::Subscript, _) => {}
            (Within::Test, letter) => self.step_in_test(letter),
            (Within::DoubleQuotes, '"') => self.leave(),
            (Within::DoubleQuotes, '`') => self.within.push(Within::Backquotes),
            (Within::DoubleQuotes, '(') if before == Some('$') => self.enter_substitution(),
            (Within::DoubleQuotes, '{') if before == Some('$') => self.within.push(Within::Parameter),
            (Within::DoubleQuotes, _) => {}
            (Within::Plain(open), letter) => self.step_in_plain(open, letter, before),
        }
    }

    fn step_in_plain(&mut self, open: u32, letter: char, before: Option<char>) {
        // What follows it decides whether it is part of a word at all.
        if letter == '\\' {
            self.is_escaped = true;
            return;
        }
        let is_word_start = self.word.is_empty();
        let ends_word = is_blank(letter) || matches!(letter, ';' | '&' | '|' | '(' | ')' | '<' | '>');
        if ends_word {
            if self.word == "[[" {
                self.word.clear();
                self.within.push(Within::Test);
                return;
            }
            // The `)` of its branches cannot be told from the one that ends the substitution.
            if open > 0 && self.word == "case" {
                return self.replace(Within::Unclear);
            }
            self.word.clear();
        } else {
            self.word.push(letter);
        }
        match letter {
            // Some shells have escapes of their own in it.
            '\'' if before == Some('$') => self.replace(Within::Unclear),
            '[' if before == Some('$') => self.replace(Within::Unclear),
            '[' if !is_word_start && self.word != "[[" => self.within.push(Within::Subscript),
            '\'' => self.within.push(Within::SingleQuotes),
            '"' => self.within.push(Within::DoubleQuotes),
            '`' => self.within.push(Within::Backquotes),
            '{' if before == Some('$') => self.within.push(Within::Parameter),
            '(' if before == Some('$') => self.enter_substitution(),
            '(' if open == 1 && before == Some('(') => self.replace(Within::Arithmetic(2)),
            // Two in a row may be arithmetic.
            '(' if before == Some('(') => self.replace(Within::Unclear),
            '(' if open > 0 => self.replace(Within::Plain(open + 1)),
            ')' if open == 1 => self.leave(),
            ')' if open > 1 => self.replace(Within::Plain(open - 1)),
            '#' if is_word_start => self.within.push(Within::Comment),
            // A here-document, or `<<<`: what follows is text, but where it ends is hard to tell.
            '<' if before == Some('<') => self.replace(Within::Unclear),
            _ => {}
        }
    }

    /// `[[ … ]]`, to its end.
    fn step_in_test(&mut self, letter: char) {
        if is_blank(letter) || letter == ';' {
            if self.word == "]]" {
                self.leave();
            }
            self.word.clear();
        } else {
            self.word.push(letter);
        }
    }

    fn enter_substitution(&mut self) {
        self.word.clear();
        self.within.push(Within::Plain(1));
    }

    fn leave(&mut self) {
        self.within.pop();
        self.word.push('x');
        if self.before == Some('\n') {
            self.word.clear();
        }
    }

    fn replace(&mut self, within: Within) {
        *self.within.last_mut().expect("the outermost is never left") = within;
    }
}

/// Stands for `$$`, which no single letter is.
const TWO_DOLLARS: char = '\0';

/// What separates words; other white space is part of them.
fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n')
}

/// Writes a value as one word in quotes.
fn write_quoted(value: &str, out: &mut String) {
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

fn write_escaped(value: &str, out: &mut String) {
    for letter in value.chars() {
        if matches!(letter, '"' | '$' | '`' | '\\') {
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
                surroundings.write(value, part.chars().next(), &mut out);
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
            ("echo $((1 + (2))) @", "echo $((1 + (2))) 'a'\\''b$(c)'"),
            ("echo \"${HOME}\" ${HOME} @", "echo \"${HOME}\" ${HOME} 'a'\\''b$(c)'"),
            ("echo `date` @", "echo `date` 'a'\\''b$(c)'"),
            ("case x in x) echo @;; esac", "case x in x) echo 'a'\\''b$(c)';; esac"),
        ] {
            assert_eq!(written(text, value), expected, "{text}");
        }
    }

    #[test]
    fn neighbours_do_not_change_a_value() {
        assert_eq!(written("echo @>o@.txt", "1"), "echo '1'>o1.txt");
        assert_eq!(written("echo @ >o", "1"), "echo 1 >o");
        assert_eq!(written("echo $V@ \"$V@\"", "abc"), "echo $V'abc' \"$V\"\"abc\"");
        assert_eq!(written("echo $1@ $V/@", "abc"), "echo $1abc $V/abc");
        assert_eq!(written("echo start \\\n# it's\necho @", "$(x)"), "echo start \\\n# it's\necho '$(x)'");
        assert_eq!(written("echo \"pid $$ @\"", "$(x)"), "echo \"pid $$ \\$(x)\"");
        assert_eq!(written("echo a\u{a0}#@", "$(x)"), "echo a\u{a0}#'$(x)'");
        assert_eq!(written("[[ -f x ]] && echo @", "a b"), "[[ -f x ]] && echo 'a b'");
        assert_eq!(written("ls a[0-9] @", "a b"), "ls a[0-9] 'a b'");
    }

    #[test]
    fn no_value_stands_behind_a_dollar() {
        for text in ["echo $", "echo \"$", "echo \"a $", "x $$$"] {
            let mut surroundings = Surroundings::default();
            surroundings.follow(text);
            assert_eq!(surroundings.place(), Place::Dollar, "{text}");
        }
        for text in ["echo \\$", "echo '$", "echo $$", "echo \"\\$"] {
            let mut surroundings = Surroundings::default();
            surroundings.follow(text);
            assert_ne!(surroundings.place(), Place::Dollar, "{text}");
        }
    }

    #[test]
    fn dark_corners_are_recognised() {
        for text in [
            "cat <<E\n",
            "cat <<A <<'B'\n",
            "cat <<E\n$(echo ",
            "echo \\",
            "echo \"\\",
            "echo \"$(case a in a) echo ",
            "echo `echo \"",
            "echo \"`echo ",
            "echo $(( ",
            "echo $(( $(cat \"",
            "echo \"${Q:-\"",
            "cat <<<",
            "echo $'",
            "echo \"pid $$(",
            "echo $$(",
            "echo $'it\\'s' ",
            "(( y = ",
            "for ((i=0;i<",
            "echo $[ ",
            "arr[",
            "[[ ",
            "if [[ a -gt ",
        ] {
            let mut surroundings = Surroundings::default();
            surroundings.follow(text);
            assert_eq!(surroundings.place(), Place::Corner, "{text}");
        }
    }

    #[test]
    fn plain_values_stay_plain_everywhere() {
        assert_eq!(written("cp @ out/@", "a/b-1.txt"), "cp a/b-1.txt out/a/b-1.txt");
        assert_eq!(written("echo $(( @ + 1 )) `f @` \"${X:-@}\"", "7"), "echo $(( 7 + 1 )) `f 7` \"${X:-7}\"");
        assert_eq!(written("rm @", ""), "rm ''");
    }

    #[test]
    fn line_ends_do_not_leave_a_comment() {
        assert_eq!(written("true # @\n", "x\ntouch pwned"), "true # x touch pwned\n");
    }
}
