//! Workflows written in JSON, normally by a program, and then often with a million tasks in one file.
//!
//! Written by hand because two things are wanted at once that no crate gives together: every value's line
//! and column, and entries handed over one by one at the speed of a plain scan.

use super::problem::{Mark, Problem};
use super::value::{DEPTH_LIMIT, Item, Seen, Text, Value, entries, not_a_map, note_key, too_deep};

/// Reads a document, handing over its entries in order.
pub(crate) fn read(text: &str, file: u32, take: &mut dyn FnMut(Item)) -> Result<(), Problem> {
    let mut reader = Reader::new(text, file);
    if reader.peek() != Some(b'{') {
        return Err(not_a_map(reader.mark()));
    }
    let mut seen = Seen::default();
    reader.map(|reader, key| {
        note_key(&mut seen, &key)?;
        if key.text == "tasks" && reader.peek() == Some(b'{') {
            reader.map(|reader, name| {
                let value = reader.value(0)?;
                take(Item::Task(name, value));
                Ok(())
            })
        } else {
            let value = reader.value(0)?;
            take(Item::Top(key, value));
            Ok(())
        }
    })?;
    reader.end()
}

/// Reads a document that is a map and nothing more.
pub(crate) fn read_map(text: &str, file: u32) -> Result<Vec<(Text, Value)>, Problem> {
    let mut reader = Reader::new(text, file);
    let value = reader.value(0)?;
    reader.end()?;
    entries(value)
}

/// Reads values one after the other, and knows where it is.
pub(crate) struct Reader<'text> {
    text: &'text str,
    bytes: &'text [u8],
    at: usize,
    line: u32,
    /// Up to where the columns of this line have been counted, and how many there were: a file may be one
    /// line of gigabytes, and must not be counted from its start for every value.
    counted_to: usize,
    columns: u32,
    file: u32,
}

impl<'text> Reader<'text> {
    /// Stands before the first value of a text.
    pub(crate) fn new(text: &'text str, file: u32) -> Self {
        let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, line: 1, counted_to: 0, columns: 0, file };
        reader.space();
        reader
    }

    /// Checks that nothing follows the value.
    pub(crate) fn end(&mut self) -> Result<(), Problem> {
        self.space();
        if self.at < self.bytes.len() { Err(self.unexpected("the end of the file")) } else { Ok(()) }
    }

    pub(crate) fn mark(&mut self) -> Mark {
        if self.at < self.counted_to {
            // Only an error goes back, to the start of what it is about.
            let back = self.text[self.at..self.counted_to].chars().count() as u32;
            return Mark { line: self.line, column: self.columns.saturating_sub(back) + 1, file: self.file };
        }
        self.columns += self.text[self.counted_to..self.at].chars().count() as u32;
        self.counted_to = self.at;
        Mark { line: self.line, column: self.columns + 1, file: self.file }
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Newlines stand only between values in JSON, so this is the one place that counts them.
    fn space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.counted_to = self.at + 1;
                    self.columns = 0;
                }
                b' ' | b'\t' | b'\r' => {}
                _ => break,
            }
            self.at += 1;
        }
    }

    fn unexpected(&mut self, wanted: &str) -> Problem {
        let found = match self.text[self.at..].chars().next() {
            Some(found) => format!("`{found}`"),
            None => "the end of the file".to_owned(),
        };
        Problem::new(
            self.mark(),
            format!("this is not valid JSON: {wanted} was expected, not {found}"),
            "check commas, quotes and brackets just before this place",
        )
    }

    fn expect(&mut self, byte: u8, wanted: &str) -> Result<(), Problem> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(wanted));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a map; `entry` reads each value.
    pub(crate) fn map(&mut self, mut entry: impl FnMut(&mut Self, Text) -> Result<(), Problem>) -> Result<(), Problem> {
        self.expect(b'{', "`{`")?;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.space();
            let mark = self.mark();
            let text = self.string()?;
            self.space();
            self.expect(b':', "`:`")?;
            self.space();
            entry(self, Text { text, mark })?;
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.unexpected("`,` or `}`")),
            }
        }
    }

    /// Reads a list; `item` reads each value.
    pub(crate) fn list(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), Problem>) -> Result<(), Problem> {
        self.expect(b'[', "`[`")?;
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.space();
            item(self)?;
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.unexpected("`,` or `]`")),
            }
        }
    }

    /// Reads the value that comes next.
    pub(crate) fn value(&mut self, depth: usize) -> Result<Value, Problem> {
        let mark = self.mark();
        if depth > DEPTH_LIMIT {
            return Err(too_deep(mark));
        }
        match self.peek() {
            Some(b'"') => Ok(Value::Scalar { text: self.string()?, quoted: true, mark }),
            Some(b'{') => {
                let mut entries: Vec<(Text, Value)> = Vec::new();
                self.map(|reader, key| {
                    entries.push((key, reader.value(depth + 1)?));
                    Ok(())
                })?;
                Ok(Value::Map { entries, mark })
            }
            Some(b'[') => {
                let mut items = Vec::new();
                self.list(|reader| {
                    items.push(reader.value(depth + 1)?);
                    Ok(())
                })?;
                Ok(Value::List { items, mark })
            }
            _ => {
                let text = self.word()?;
                Ok(Value::Scalar { text, quoted: false, mark })
            }
        }
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<String, Problem> {
        let start = self.at;
        let end = self.bytes[start..]
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.'))
            .map_or(self.bytes.len(), |length| start + length);
        let word = &self.text[start..end];
        let digits = word.strip_prefix('-').unwrap_or(word);
        // `01` is no number in JSON, though it could be read as one.
        let is_padded = digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
        let number = digits.starts_with(|first: char| first.is_ascii_digit()) && !is_padded;
        if !(matches!(word, "true" | "false" | "null") || number && word.parse::<f64>().is_ok()) {
            return Err(self.unexpected("a value"));
        }
        self.at = end;
        Ok(word.to_owned())
    }

    fn string(&mut self) -> Result<String, Problem> {
        let start_mark_at = self.at;
        self.expect(b'"', "`\"`")?;
        let mut text = String::new();
        let mut run = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    text.push_str(&self.text[run..self.at]);
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    text.push_str(&self.text[run..self.at]);
                    self.at += 1;
                    text.push(self.escape()?);
                    run = self.at;
                }
                Some(byte) if byte >= b' ' => self.at += 1,
                _ => {
                    self.at = start_mark_at;
                    return Err(Problem::new(
                        self.mark(),
                        "this text in quotes does not end on its line",
                        "close it with `\"`; write a newline inside it as `\\n`",
                    ));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Problem> {
        let letter = self.peek();
        self.at += 1;
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => {
                self.at -= 2;
                return Err(Problem::new(self.mark(), "unknown escape in JSON text", "write `\\\\` for a backslash"));
            }
        })
    }

    fn unicode(&mut self) -> Result<char, Problem> {
        let first = self.hex4()?;
        if (0xD800..0xDC00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
            self.at += 2;
            let second = self.hex4()?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).expect("a pair of surrogates is a character"));
            }
        }
        char::from_u32(first)
            .ok_or_else(|| Problem::new(self.mark(), "half of a surrogate pair", "write the character itself"))
    }

    fn hex4(&mut self) -> Result<u32, Problem> {
        let digits = self.bytes.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            Some(digits) => {
                self.at += 4;
                Ok(u32::from_str_radix(digits, 16).expect("four hexadecimal digits"))
            }
            None => Err(self.unexpected("four hexadecimal digits")),
        }
    }
}
