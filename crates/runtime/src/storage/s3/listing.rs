//! What a server answers when it is asked for names: a small and regular kind of XML.

/// One page of names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Name, size and tag of each object.
    pub(super) objects: Vec<(String, u64, String)>,
    /// By what the next page is asked for, if there is one.
    pub(super) next: Option<String>,
}

impl Listing {
    pub(super) fn read(xml: &str) -> Listing {
        // Names are asked for in this form, in which no letter can be mistaken for XML; not every server knows it.
        let is_encoded = text_of(xml, "EncodingType").is_some_and(|kind| kind == "url");
        let parts = xml.split("<Contents>").skip(1).filter_map(|part| part.split("</Contents>").next());
        let objects = parts.filter_map(|part| {
            let key = text_of(part, "Key")?;
            let key = if is_encoded { decoded(&key) } else { key };
            Some((key, text_of(part, "Size")?.parse().ok()?, text_of(part, "ETag").unwrap_or_default()))
        });
        let is_cut = text_of(xml, "IsTruncated").is_some_and(|cut| cut == "true");
        Listing { objects: objects.collect(), next: text_of(xml, "NextContinuationToken").filter(|_| is_cut) }
    }
}

/// The text of the first element of a name.
pub(super) fn text_of(xml: &str, element: &str) -> Option<String> {
    let (_, rest) = xml.split_once(&format!("<{element}>"))?;
    let (text, _) = rest.split_once(&format!("</{element}>"))?;
    let plain = [("&quot;", "\""), ("&#34;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">")];
    let text = plain.iter().fold(text.to_owned(), |text, (written, meant)| text.replace(written, meant));
    // Last, so that what it makes is not read again.
    Some(text.replace("&amp;", "&"))
}

/// Text as it was before it was written for an address.
fn decoded(text: &str) -> String {
    let (mut out, bytes) = (Vec::with_capacity(text.len()), text.as_bytes());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *byte == b'%');
        out.push(match (byte, hex) {
            (_, Some(meant)) => meant,
            (b'+', None) => b' ',
            (byte, None) => *byte,
        });
        at += if hex.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_names() {
        let page = |encoding: &str, key: &str| {
            format!(
                "<?xml version=\"1.0\"?><ListBucketResult><Name>b</Name>{encoding}<IsTruncated>true</IsTruncated>\
                 <Contents><Key>{key}</Key><Size>12</Size><ETag>&quot;x&quot;</ETag></Contents>\
                 <NextContinuationToken>t&amp;1</NextContinuationToken></ListBucketResult>"
            )
        };
        let expected =
            Listing { objects: vec![("p/a b&<ü+".to_owned(), 12, "\"x\"".to_owned())], next: Some("t&1".to_owned()) };
        assert_eq!(Listing::read(&page("<EncodingType>url</EncodingType>", "p/a+b%26%3C%C3%BC%2B")), expected);
        assert_eq!(Listing::read(&page("", "p/a b&amp;&lt;ü+")), expected);
        assert_eq!(Listing::read("what is this?"), Listing::default());
        assert_eq!(decoded("100%"), "100%");
    }
}
