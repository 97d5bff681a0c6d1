//! Names as ids that WfFormat allows: digits, letters and `_ . # : / -`.
//!
//! Anything else becomes `#` and two hexadecimal digits for each of its bytes; so does a `#` that could be taken for such. That
//! keeps different names different, leaves most as they are, and can be undone.

use std::fmt::Write;

/// Whether a letter may stand in an id as it is.
pub fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_.#:/-".contains(letter)
}

/// A name as an id; `allows` narrows the letters down for formats that take fewer.
pub fn escape(name: &str, allows: impl Fn(char) -> bool) -> String {
    let mut id = String::with_capacity(name.len());
    for (at, letter) in name.char_indices() {
        let is_like_escape = letter == '#' && byte_at(name, at).is_some();
        if allows(letter) && is_plain(letter) && !is_like_escape {
            id.push(letter);
            continue;
        }
        let mut bytes = [0; 4];
        for byte in letter.encode_utf8(&mut bytes).bytes() {
            write!(id, "#{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    id
}

/// The name that an id was made of.
pub fn unescape(id: &str) -> String {
    let mut bytes = Vec::with_capacity(id.len());
    let mut at = 0;
    while at < id.len() {
        match byte_at(id, at) {
            Some(byte) => {
                bytes.push(byte);
                at += 3;
            }
            None => {
                bytes.push(id.as_bytes()[at]);
                at += 1;
            }
        }
    }
    // What is no text was not made by `escape`, and stays as it is.
    String::from_utf8(bytes).unwrap_or_else(|_| id.to_owned())
}

/// The byte that `#` and two digits stand for at this place.
fn byte_at(text: &str, at: usize) -> Option<u8> {
    let bytes = text.as_bytes();
    let digits = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'#')?;
    let is_ours = digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F'));
    is_ours.then(|| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_stays_and_the_rest_comes_back() {
        for name in ["plain_1.x-y", "a:b/c", "x#1", "#", "#zz", "#4"] {
            assert_eq!(escape(name, |_| true), name);
        }
        assert_eq!(escape("x y,z", |_| true), "x#20y#2Cz");
        assert_eq!(escape("a:b/c", |letter| !":/".contains(letter)), "a#3Ab#2Fc");
        assert_eq!(escape("#20", |_| true), "#2320");
        for name in ["", "x y", "#20", "##20", "#2320", "#2#20", "ä→\n", "100%", "#23", "#2", "a#4G", "###"] {
            for allows in [(|_| true) as fn(char) -> bool, |letter| !":/#".contains(letter)] {
                let id = escape(name, allows);
                assert!(id.chars().all(is_plain), "{id}");
                assert_eq!(unescape(&id), name, "{id}");
            }
        }
    }
}
