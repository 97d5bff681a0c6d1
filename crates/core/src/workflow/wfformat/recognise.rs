//! Is a text a trace? Told by its outermost keys and not by the name of its file, since both are JSON.

/// Keys that only a trace has, and keys that only a workflow of our own has: the first that comes decides.
const TRACE: [&[u8]; 2] = [b"schemaVersion", b"workflow"];
const OWN: [&[u8]; 4] = [b"tasks", b"params", b"include", b"defaults"];

/// Whether a text is a trace in WfFormat, of whatever version, by its first keys.
pub fn is_trace(text: &str) -> bool {
    find(text).unwrap_or(false)
}

/// Nothing if the text is no JSON as far as one has to look.
fn find(text: &str) -> Option<bool> {
    let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
    scan.expect(b'{')?;
    loop {
        scan.expect(b'"')?;
        let start = scan.at;
        scan.text()?;
        let key = &scan.bytes[start..scan.at - 1];
        scan.expect(b':')?;
        if TRACE.contains(&key) {
            return Some(true);
        }
        if OWN.contains(&key) {
            return Some(false);
        }
        scan.skip()?;
        scan.expect(b',')?;
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn expect(&mut self, wanted: u8) -> Option<()> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        (*self.bytes.get(self.at)? == wanted).then(|| self.at += 1)
    }

    /// Goes behind the end of a text whose quotation mark has been read.
    fn text(&mut self) -> Option<()> {
        loop {
            match self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }

    /// Goes behind a value, whatever it is: it is read properly later.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0u32;
        loop {
            match self.bytes.get(self.at)? {
                b',' | b'}' | b']' if depth == 0 => return Some(()),
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b'"' => {
                    self.at += 1;
                    self.text()?;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_the_first_key_that_tells() {
        for trace in [
            r#"{"schemaVersion":"1.5","#,
            r#" { "name" : "a\"}", "author": {"tasks": [1, "}"]}, "n": 3, "workflow": {}}"#,
        ] {
            assert!(is_trace(trace), "{trace}");
        }
        for other in [
            r#"{"name": "x", "tasks": {}, "workflow": 1}"#,
            r#"{"params": {"workflow": 1}}"#,
            "tasks: { workflow: 1 }",
            "{ workflow: 1 }",
            r#"{"name": "workflow"}"#,
            r#"{"name": "unclosed"#,
            r#"{"a\"#,
            "",
            "{",
        ] {
            assert!(!is_trace(other), "{other}");
        }
    }
}
