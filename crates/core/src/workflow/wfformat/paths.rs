//! From the id of a file to a path inside the replay's own directory, and back.
//!
//! An id may begin with `/`, climb with `..`, have empty parts, be the directory of another id, or be too long for a file
//! system. What is harmless stays as it is, so that people recognise it; everything else begins with `%`:
//!
//! | `%`XX | a letter that a path cannot have, as two digits for each of its bytes (`%` itself, and the dots of `..`) |
//! | `%` alone | an empty part: `/a` is `%/a` |
//! | `%` at the end | a file whose name others have as their directory |
//! | `%-/` | nothing: a part that is too long goes on in another directory |
//! | `%v`N at the end | what was in the file before it was written again, from `%v0` for what came from outside |

use std::fmt::Write;

/// Linux takes 255 bytes; there is room for what is put behind a name.
const PART_BYTES: usize = 200;

/// The path of an id, if no other file has it as its directory.
pub(super) fn encode(id: &str) -> String {
    let mut path = String::with_capacity(id.len() + 2);
    for (at, part) in id.split('/').enumerate() {
        if at > 0 {
            path.push('/');
        }
        encode_part(part, &mut path);
    }
    path
}

fn encode_part(part: &str, path: &mut String) {
    if part.is_empty() {
        return path.push('%');
    }
    let is_dots = part == "." || part == "..";
    let mut start = path.len();
    for letter in part.chars() {
        if path.len() - start > PART_BYTES {
            path.push_str("%-/");
            start = path.len();
        }
        if letter == '%' || letter.is_control() || is_dots {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                write!(path, "%{byte:02X}").expect("writing to a string cannot fail");
            }
        } else {
            path.push(letter);
        }
    }
}

/// What is put behind a path that others have as their directory.
pub(super) const IS_DIRECTORY_TOO: char = '%';

/// What is put behind the path of an earlier version of a file.
pub(super) fn version_mark(version: u32) -> String {
    format!("%v{version}")
}

/// The id that a path was made of, whatever version it is.
pub(super) fn decode(path: &str) -> String {
    let whole = match path.rfind("%v") {
        Some(at) if path[at + 2..].bytes().all(|byte| byte.is_ascii_digit()) && at + 2 < path.len() => &path[..at],
        _ => path,
    };
    let joined = whole.replace("%-/", "");
    let parts: Vec<String> = joined.split('/').map(decode_part).collect();
    parts.join("/")
}

fn decode_part(part: &str) -> String {
    let part = part.trim_end_matches('%').as_bytes();
    let mut bytes = Vec::with_capacity(part.len());
    let mut at = 0;
    while at < part.len() {
        let digits = part.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| part[at] == b'%') {
            Some(byte) => {
                bytes.push(byte);
                at += 3;
            }
            None => {
                bytes.push(part[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::super::path::{is_inside, normalize};
    use super::*;

    #[test]
    fn what_is_harmless_stays() {
        for id in ["a.fits", "c3/93/x.yml", "a:b#1", ".hidden", "x y", "..a", "…/ä"] {
            assert_eq!(encode(id), id);
        }
        assert_eq!(encode("/c3/x"), "%/c3/x");
        assert_eq!(encode("../x"), "%2E%2E/x");
        assert_eq!(encode("100%"), "100%25");
        assert_eq!(decode(&(encode("a/b") + &version_mark(12))), "a/b");
        assert_eq!(decode("a%%v0"), "a");
    }

    #[test]
    fn every_id_has_its_own_path_inside_and_comes_back() {
        let long = "ä".repeat(1000);
        let ids = [
            "/",
            "//",
            "a//b",
            "a/",
            "a",
            "/a",
            "./a",
            "a/.",
            "a/..",
            "..",
            ".",
            "../../etc/passwd",
            "%",
            "%%",
            "%2E",
            "a%v1",
            "a%-/b",
            "a%",
            "a\nb",
            "\u{7f}",
            "%v0",
            "a/%v0",
            &long,
            "é%",
            "a%4",
        ];
        let mut paths: Vec<String> = ids.iter().map(|id| encode(id)).collect();
        for (id, path) in ids.iter().zip(&paths) {
            assert_eq!(decode(path), *id, "{path}");
            assert_eq!(decode(&format!("{path}{IS_DIRECTORY_TOO}")), *id, "{path}");
            assert_eq!(decode(&format!("{path}{IS_DIRECTORY_TOO}{}", version_mark(3))), *id, "{path}");
            assert!(is_inside(path) && normalize(path) == *path, "{path}");
            assert!(path.split('/').all(|part| part.len() < 255), "{path}");
        }
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), ids.len());
    }
}
