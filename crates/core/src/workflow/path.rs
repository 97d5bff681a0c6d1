//! Paths as a workflow names them: relative to its directory, with one spelling for each file.

use std::borrow::Cow;

/// Brings a path to its one spelling: no `.`, no doubled `/`, `..` resolved by name where that is possible.
///
/// Symbolic links are not followed: two names are the same object when they are written the same.
pub fn normalize(path: &str) -> Cow<'_, str> {
    let plain = !path.is_empty()
        && !path.ends_with('/')
        && path.split('/').enumerate().all(|(at, part)| {
            let leading_root = at == 0 && part.is_empty();
            leading_root || !(part.is_empty() || part == "." || part == "..")
        });
    if plain {
        return Cow::Borrowed(path);
    }
    let mut parts: Vec<&str> = Vec::new();
    let absolute = path.starts_with('/');
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    Cow::Owned(if absolute { format!("/{joined}") } else { joined })
}

/// Whether a normalized path stays inside the workflow's directory and names something in it.
pub fn is_inside(normalized: &str) -> bool {
    !normalized.is_empty() && !normalized.starts_with('/') && normalized != ".." && !normalized.starts_with("../")
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The last part of a path without its last extension.
pub fn stem(path: &str) -> &str {
    let name = file_name(path);
    match name.rfind('.') {
        Some(dot) if dot > 0 => &name[..dot],
        _ => name,
    }
}

/// The last extension of a path, with its dot, or nothing.
pub fn extension(path: &str) -> &str {
    &file_name(path)[stem(path).len()..]
}

/// Everything before the last part of a path; `.` when there is nothing.
pub fn directory(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) => "/",
        Some(slash) => &path[..slash],
        None => ".",
    }
}

/// A directory and those around it, the nearest first.
pub fn around(inner: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(inner), |inner| Some(*inner).filter(|inner| !matches!(*inner, "." | "/")).map(directory))
}

/// A path as a program sees it that runs in `directory`; both are normalized and start from the same place.
pub fn seen_from(directory: &str, path: &str) -> String {
    if path.starts_with('/') || directory.is_empty() {
        return path.to_owned();
    }
    // From somewhere else altogether, only the caller could say where the path starts.
    if directory.starts_with('/') || directory.starts_with("..") {
        return path.to_owned();
    }
    let mut from = directory.split('/').peekable();
    let mut to = path.split('/').peekable();
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let up = from.map(|_| "..");
    let parts: Vec<&str> = up.chain(to).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling() {
        for (written, expected) in [
            ("a/b", "a/b"),
            ("./a//b/", "a/b"),
            ("a/../b", "b"),
            ("../a", "../a"),
            ("a/../../b", "../b"),
            ("/a/./b", "/a/b"),
            ("/../a", "/a"),
            (".", ""),
        ] {
            assert_eq!(normalize(written), expected, "{written}");
        }
    }

    #[test]
    fn inside() {
        assert!(is_inside("a/b"));
        assert!(is_inside("..a"));
        for outside in ["", "/a", "..", "../a"] {
            assert!(!is_inside(outside), "{outside}");
        }
    }

    #[test]
    fn from_another_directory() {
        assert_eq!(seen_from("work/1", "data/a"), "../../data/a");
        assert_eq!(seen_from("work/1", "work/1/x"), "x");
        assert_eq!(seen_from("work", "work"), ".");
        assert_eq!(seen_from("work", "/abs"), "/abs");
        assert_eq!(seen_from("work", "../up"), "../../up");
    }

    #[test]
    fn parts() {
        assert_eq!((stem("a/b.tar.gz"), extension("a/b.tar.gz")), ("b.tar", ".gz"));
        assert_eq!((stem(".hidden"), extension(".hidden")), (".hidden", ""));
        assert_eq!((directory("a"), directory("a/b/c"), directory("/a")), (".", "a/b", "/"));
    }
}
