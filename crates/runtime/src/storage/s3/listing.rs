//! What a server answers when it is asked for names: a small and regular kind of XML.
//!
//! What is missing from a list counts as absent, so that nothing may be overlooked: an answer that is anything else than a whole list is an error.

use std::io::{self, ErrorKind};

/// One page of names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Name, size and tag of each object.
    pub(super) objects: Vec<(String, u64, String)>,
    /// By what the next page is asked for, if there is one.
    pub(super) next: Option<String>,
}

impl Listing {
    pub(super) fn read(xml: &str) -> io::Result<Listing> {
        let Some((_, xml)) = xml.split_once("<ListBucketResult") else {
            return Err(strange("it answers with something else than a list of names, as if it did not speak S3"));
        };
        let Some((xml, _)) = xml.rsplit_once("</ListBucketResult>") else {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the server's list of names breaks off"));
        };
        // Names are asked for in this form, in which no letter can be mistaken for XML; not every server knows it.
        let is_encoded = text_of(xml, "EncodingType").is_some_and(|kind| kind == "url");
        let parts = xml.split("<Contents>").skip(1);
        let objects = parts.map(|part| object(part.split("</Contents>").next().unwrap_or(part), is_encoded));
        let objects = objects.collect::<io::Result<_>>()?;
        let is_cut = text_of(xml, "IsTruncated").is_some_and(|cut| cut == "true");
        let next = text_of(xml, "NextContinuationToken").filter(|token| is_cut && !token.is_empty());
        if is_cut && next.is_none() {
            return Err(strange("it has more names than it lists, and does not say how to ask for them"));
        }
        Ok(Listing { objects, next })
    }
}

fn object(part: &str, is_encoded: bool) -> io::Result<(String, u64, String)> {
    let key = text_of(part, "Key").ok_or_else(|| strange("it lists an object without a name"))?;
    let key = if is_encoded { decoded(&key) } else { key };
    let size = text_of(part, "Size").and_then(|size| size.trim().parse().ok());
    let size = size.ok_or_else(|| strange(&format!("it does not say in its list how large `{key}` is")))?;
    Ok((key, size, text_of(part, "ETag").unwrap_or_default()))
}

/// An answer that cannot be used: asking again would not help.
pub(super) fn strange(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the server's answer cannot be used: {why}"))
}

/// The text of the first element of a name.
pub(super) fn text_of(xml: &str, element: &str) -> Option<String> {
    let (_, rest) = xml.split_once(&format!("<{element}>"))?;
    let (text, _) = rest.split_once(&format!("</{element}>"))?;
    Some(unescaped(text))
}

/// Text as it was before it was written for XML.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let meant = after.split_once(';').and_then(|(name, after)| Some((entity(name)?, after)));
        let (letter, after) = meant.unwrap_or(('&', after));
        out.push(letter);
        rest = after;
    }
    out + rest
}

fn entity(name: &str) -> Option<char> {
    let number = |digits: &str, base| match digits.starts_with('+') {
        true => None,
        false => char::from_u32(u32::from_str_radix(digits, base).ok()?),
    };
    match name {
        "quot" => Some('"'),
        "apos" => Some('\''),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        _ => match name.strip_prefix("#x") {
            Some(digits) => number(digits, 16),
            None => number(name.strip_prefix('#')?, 10),
        },
    }
}

/// Text as it was before it was written for an address.
fn decoded(text: &str) -> String {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let (mut out, bytes) = (Vec::with_capacity(text.len()), text.as_bytes());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let (meant, length) = match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => ((high * 16 + low) as u8, 3),
            (b'+', ..) => (b' ', 1),
            _ => (*byte, 1),
        };
        out.push(meant);
        at += length;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(inside: &str) -> String {
        format!("<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"x\"><Name>b</Name>{inside}</ListBucketResult>\n")
    }

    #[test]
    fn a_page_of_names() {
        let page = |encoding: &str, key: &str| {
            page(&format!(
                "{encoding}<IsTruncated>true</IsTruncated>\
                 <Contents><Key>{key}</Key><Size>12</Size><ETag>&quot;x&quot;</ETag></Contents>\
                 <NextContinuationToken>t&amp;1</NextContinuationToken>"
            ))
        };
        let expected =
            Listing { objects: vec![("p/a b&<ü+".to_owned(), 12, "\"x\"".to_owned())], next: Some("t&1".to_owned()) };
        let encoded = page("<EncodingType>url</EncodingType>", "p/a+b%26%3C%C3%BC%2B");
        assert_eq!(Listing::read(&encoded).unwrap(), expected);
        assert_eq!(Listing::read(&page("", "p/a b&amp;&lt;ü+")).unwrap(), expected);
        assert_eq!(Listing::read(&super::tests::page("")).unwrap(), Listing::default());
    }

    #[test]
    fn what_is_no_whole_list_is_an_error() {
        let cut = "<ListBucketResult><Contents><Key>a</Key><Size>1</Size></Contents>";
        let kind = |xml: &str| Listing::read(xml).unwrap_err().kind();
        assert_eq!(kind(cut), ErrorKind::UnexpectedEof, "it may be asked for again");
        for strange in [
            "",
            "<html><body>It works!</body></html>",
            "<Error><Code>SlowDown</Code></Error>",
            &page("<Contents><Key>a</Key><Size>many</Size></Contents>"),
            &page("<Contents><Key>a</Key></Contents>"),
            &page("<Contents><Size>1</Size></Contents>"),
            &page("<IsTruncated>true</IsTruncated>"),
            &page("<IsTruncated>true</IsTruncated><NextContinuationToken></NextContinuationToken>"),
        ] {
            assert_eq!(kind(strange), ErrorKind::InvalidData, "{strange}");
        }
    }

    #[test]
    fn letters_that_are_written_otherwise() {
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%+1%1+%2g%2"), "% 1%1 %2g%2");
        assert_eq!(decoded("%e4%BD%a0ü"), "你ü");
        assert_eq!(unescaped("&#38;lt;&#x26;amp;&#xFC;&#252;&quot;&apos;"), "&lt;&amp;üü\"'");
        assert_eq!(unescaped("a & b &amp &unknown; &#x110000; &#+65; &"), "a & b &amp &unknown; &#x110000; &#+65; &");
    }
}
