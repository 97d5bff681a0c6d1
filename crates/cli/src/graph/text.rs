//! How wide text is, how it is cut, and how it is made safe, for pictures that are drawn without asking a font.

use crate::words;

/// About how wide a text is in a common sans-serif font of this size. Rather too wide than too narrow.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(letter_width).sum::<f64>() * size
}

fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.30,
        'f' | 't' | 'r' | 'I' | ' ' | '/' | '(' | ')' | '-' | '*' => 0.40,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 0.92,
        'A'..='Z' | '&' | '_' => 0.72,
        letter if letter.is_ascii() => 0.60,
        // Scripts whose letters fill a square.
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' => 1.05,
        '\u{1f000}'.. => 1.3,
        _ => 0.68,
    }
}

/// Text as it may stand in XML: nothing in a name becomes an element, an attribute or a broken document.
pub fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in words::printable(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Not allowed in XML at all.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Text between the quotes of a DOT string; lines end with `\l` or `\n` there, as the caller likes.
pub fn escape_dot(text: &str) -> String {
    words::printable(text).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_names() {
        assert_eq!(escape_xml("<a b='1'>\u{1b}&\u{ffff}"), "&lt;a b=&#39;1&#39;&gt;\u{fffd}&amp;\u{fffd}");
        assert_eq!(escape_dot("a\"; b [\\n]\n"), "a\\\"; b [\\\\n]\u{fffd}");
    }
}
