//! Signatures of requests, version 4, as Amazon describes them: for requests without a body.

use ring::{digest, hmac};

use crate::clock::date;

/// By what a server knows who asks.
pub(super) struct Credentials {
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) token: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Credentials({})", self.id)
    }
}

/// A request to be signed.
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) host: &'a str,
    /// As it is sent.
    pub(super) path: &'a str,
    /// Sorted by name.
    pub(super) query: &'a [(&'a str, &'a str)],
    /// Since 1970.
    pub(super) seconds: u64,
}

/// The hash of no body.
const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

impl Request<'_> {
    /// The query as it is sent.
    pub(super) fn query_text(&self) -> String {
        let parts =
            self.query.iter().map(|(name, value)| format!("{}={}", encoded(name, false), encoded(value, false)));
        parts.collect::<Vec<_>>().join("&")
    }

    /// The headers that a signed request has.
    pub(super) fn signed(&self, credentials: &Credentials, region: &str) -> Vec<(&'static str, String)> {
        let (year, month, day) = date((self.seconds / 86400) as i64);
        let day = format!("{year:04}{month:02}{day:02}");
        let of_day = self.seconds % 86400;
        let moment = format!("{day}T{:02}{:02}{:02}Z", of_day / 3600, of_day % 3600 / 60, of_day % 60);
        let mut headers = vec![("x-amz-content-sha256", NOTHING.to_owned()), ("x-amz-date", moment.clone())];
        headers.extend(credentials.token.iter().map(|token| ("x-amz-security-token", token.clone())));
        let all = || [("host", self.host.to_owned())].into_iter().chain(headers.iter().cloned());
        let lines: String = all().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let names = all().map(|(name, _)| name).collect::<Vec<_>>().join(";");
        let canonical = format!("{}\n{}\n{}\n{lines}\n{names}\n{NOTHING}", self.method, self.path, self.query_text());
        let scope = format!("{day}/{region}/s3/aws4_request");
        let canonical = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let text = format!("AWS4-HMAC-SHA256\n{moment}\n{scope}\n{canonical}");
        let mut key = format!("AWS4{}", credentials.secret).into_bytes();
        for part in [day.as_str(), region, "s3", "aws4_request"] {
            key = keyed(&key, part);
        }
        let signature = hex(&keyed(&key, &text));
        let by = &credentials.id;
        let authorization =
            format!("AWS4-HMAC-SHA256 Credential={by}/{scope},SignedHeaders={names},Signature={signature}");
        headers.push(("authorization", authorization));
        headers
    }
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Text as it stands in an address; slashes are kept in a path.
pub(super) fn encoded(text: &str, is_path: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte as char),
            b'/' if is_path => out.push('/'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of a listing in Amazon's description of signatures.
    #[test]
    fn the_published_example() {
        let credentials = Credentials {
            id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            token: None,
        };
        let request = Request {
            method: "GET",
            host: "examplebucket.s3.amazonaws.com",
            path: "/",
            query: &[("max-keys", "2"), ("prefix", "J")],
            seconds: 1_369_353_600,
        };
        let headers = request.signed(&credentials, "us-east-1");
        assert_eq!(headers[1].1, "20130524T000000Z");
        let signature = headers.last().unwrap().1.rsplit_once('=').unwrap().1.to_owned();
        assert_eq!(signature, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
        assert!(!format!("{credentials:?}").contains("wJal"), "a secret is not shown");
    }

    /// Figures by another implementation of the same description.
    #[test]
    fn tokens_strange_names_and_empty_values_are_signed_too() {
        let signature = |method, host, name: &str, query: &[(&str, &str)], token: Option<&str>| {
            let credentials = Credentials {
                id: "AKIDEXAMPLE".to_owned(),
                secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
                token: token.map(str::to_owned),
            };
            let request = Request { method, host, path: &encoded(name, true), query, seconds: 1_709_251_199 };
            let headers = request.signed(&credentials, "eu-central-1");
            assert_eq!(headers[1].1, "20240229T235959Z");
            assert_eq!(headers.iter().find(|(name, _)| *name == "x-amz-security-token").map(|it| it.1.as_str()), token);
            headers.last().unwrap().1.rsplit_once('=').unwrap().1.to_owned()
        };
        let (here, amazon) = ("127.0.0.1:9000", "bucket.s3.eu-central-1.amazonaws.com");
        let (name, token) = ("/bucket/data/a+b ü.txt", Some("tok/en+="));
        assert_eq!(
            signature("GET", here, name, &[], token),
            "6bd9c20b214598de6caa3cad9be9c49f7922b6150a48d683897f80248c91d266"
        );
        assert_eq!(
            signature("HEAD", here, name, &[], token),
            "e0e4cc6d107145766b9de19384469e8ba1a3c5bbf95d229fb91e6cfbfc2a8125"
        );
        let all = [("delimiter", "/"), ("encoding-type", "url"), ("list-type", "2"), ("prefix", "")];
        assert_eq!(
            signature("GET", amazon, "/", &all, None),
            "a92eef329cb5688738f85cc19f4ef1921db5877910937800bcbaf3d1d5e88756"
        );
        let next = [("continuation-token", "a/b=="), ("list-type", "2"), ("prefix", "ü +&=~")];
        assert_eq!(
            signature("GET", amazon, "/", &next, token),
            "c3865d9edda763fb0974f63c593b48f9736fc3ccda12b022830b8f361f488803"
        );
    }

    #[test]
    fn names_in_addresses() {
        assert_eq!(encoded("a b/ü+c~", true), "a%20b/%C3%BC%2Bc~");
        assert_eq!(encoded("a/b", false), "a%2Fb");
    }
}
