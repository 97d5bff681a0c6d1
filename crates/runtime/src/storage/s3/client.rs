//! Three requests are all it takes: look at an object, read one, and list names.
//!
//! They are signed ([`super::signing`]) and sent by a small blocking client, because nothing else in an embedded run needs an async runtime or
//! a second way to wait.

use std::io::{self, ErrorKind};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use throng_core::fingerprint::{Stamp, hash};
use ureq::config::ConfigBuilder;
use ureq::http::Response;
use ureq::typestate::AgentScope;
use ureq::{Agent, Body};

use super::address::Address;
use super::listing::{Listing, strange};
use super::refusal::Refusal;
use super::retry::persist;
use super::signing::{Request, encoded};

/// Answers come from afar: more requests at once than a disk would like.
pub(super) const AT_ONCE: usize = 16;
/// How long a server may take to answer, or to send more: slow is not dead.
const PATIENCE: Duration = Duration::from_secs(30);

/// What asks a bucket.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    pub(super) address: Address,
}

/// Which names are listed.
pub(super) struct Names<'a> {
    /// What their keys begin with.
    pub(super) start: &'a str,
    /// Whether they are listed beyond the next `/`.
    pub(super) is_deep: bool,
    /// Where the last pages ended.
    pub(super) from: Option<String>,
    /// Not more pages than this.
    pub(super) pages: u32,
}

fn config() -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_idle_connections_per_host(AT_ONCE)
        .max_idle_connections(AT_ONCE)
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_per_read(Some(PATIENCE))
        .user_agent(concat!("throng/", env!("CARGO_PKG_VERSION")))
}

impl Client {
    pub(super) fn new(address: Address) -> Client {
        Client { agent: config().build().into(), address }
    }

    /// For a server on this machine, to which no proxy leads.
    #[cfg(test)]
    pub(super) fn without_proxy(address: Address) -> Client {
        Client { agent: config().proxy(None).build().into(), address }
    }

    /// Sends a request once; an answer that says no is an error that says why.
    pub(super) fn once(
        &self,
        method: &str,
        key: &str,
        query: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> io::Result<Response<Body>> {
        let Address { endpoint, base, region, credentials, .. } = &self.address;
        let path = format!("{base}{}", encoded(key, true));
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let request = Request { method, host: self.address.host(), path: &path, query, seconds };
        let mut url = format!("{endpoint}{path}");
        if !query.is_empty() {
            url.push_str(&format!("?{}", request.query_text()));
        }
        let mut builder = if method == "HEAD" { self.agent.head(&url) } else { self.agent.get(&url) };
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        for (name, value) in credentials.iter().flat_map(|credentials| request.signed(credentials, region)) {
            builder = builder.header(name, value);
        }
        let response = builder.call().map_err(in_words)?;
        match response.status().is_success() {
            true => Ok(response),
            false => Err(Refusal::read(response, region, credentials.is_some()).into()),
        }
    }

    /// What an object is, if it is there.
    pub(super) fn look(&self, key: &str) -> io::Result<Stamp> {
        match persist(&|| true, || self.once("HEAD", key, &[], &[])) {
            Ok(response) => stamp_of(&response),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Stamp::ABSENT),
            Err(error) => Err(self.explained(key, error)),
        }
    }

    /// An answer to a look has no body, and so no reason: the same refusal of a read has one.
    fn explained(&self, key: &str, error: io::Error) -> io::Error {
        let Some(refusal) = Refusal::of(&error).filter(|refusal| !refusal.is_passing()) else { return error };
        let told = persist(&|| true, || self.once("GET", key, &[], &[("range", "bytes=0-0")]));
        match told {
            Err(told) if Refusal::of(&told).is_some_and(|told| told.status == refusal.status) => told,
            _ => error,
        }
    }

    /// One page of names.
    pub(super) fn page(
        &self,
        start: &str,
        is_deep: bool,
        most: Option<u32>,
        token: Option<&str>,
    ) -> io::Result<Listing> {
        let most = most.map(|most| most.to_string());
        let mut query = vec![("list-type", "2"), ("encoding-type", "url"), ("prefix", start)];
        query.extend((!is_deep).then_some(("delimiter", "/")));
        query.extend(most.as_deref().map(|most| ("max-keys", most)));
        query.extend(token.map(|token| ("continuation-token", token)));
        query.sort_unstable();
        // With its body: half a page is asked for again.
        persist(&|| true, || {
            let body = self.once("GET", "", &query, &[])?.body_mut().read_to_string();
            Listing::read(&body.map_err(in_words)?)
        })
    }

    /// Lists names; says where to go on if there are more.
    pub(super) fn list(&self, names: Names<'_>, found: &mut dyn FnMut(&str, Stamp)) -> io::Result<Option<String>> {
        let mut token = names.from;
        for _ in 0..names.pages {
            let listing = self.page(names.start, names.is_deep, None, token.as_deref())?;
            for (key, size, etag) in listing.objects {
                // A name that ends so stands for a directory, as some programs make them.
                if let Some(name) = key.strip_prefix(&self.address.prefix).filter(|name| !name.ends_with('/')) {
                    found(name, stamp(size, &etag).ok_or_else(|| without_tag(&key))?);
                }
            }
            if listing.next.is_some() && listing.next == token {
                return Err(strange("it lists the same names again instead of the next"));
            }
            token = listing.next;
            if token.is_none() {
                break;
            }
        }
        Ok(token)
    }
}

/// What the client says when it gets no answer.
fn in_words(error: ureq::Error) -> io::Error {
    match error {
        ureq::Error::Io(error) => error,
        // These are of our own making, or of the environment's: they stay.
        ureq::Error::Http(_)
        | ureq::Error::BadUri(_)
        | ureq::Error::InvalidProxyUrl
        | ureq::Error::Tls(_)
        | ureq::Error::BodyExceedsLimit(_) => io::Error::new(ErrorKind::InvalidInput, error.to_string()),
        other => io::Error::other(other.to_string()),
    }
}

fn without_tag(key: &str) -> io::Error {
    strange(&format!("it has no ETag for `{key}`, by which Throng notices that a file has changed"))
}

/// A header of an answer; empty if it is not there.
pub(super) fn header<'a>(response: &'a Response<Body>, name: &str) -> &'a str {
    response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().trim()
}

/// A tag without what differs between answers about the same content.
pub(super) fn tag(etag: &str) -> &str {
    etag.trim().trim_start_matches("W/").trim_matches('"')
}

/// An object has no time of modification that could be relied on, but a tag of its content.
fn stamp(size: u64, etag: &str) -> Option<Stamp> {
    let tag = tag(etag);
    (!tag.is_empty()).then(|| Stamp { size, modified_ns: (hash(tag.as_bytes()) >> 1) as i64 })
}

/// What an answer says about an object.
pub(super) fn stamp_of(response: &Response<Body>) -> io::Result<Stamp> {
    let size = header(response, "content-length").parse();
    let size = size.map_err(|_| strange("it does not say how large the file is (no Content-Length)"))?;
    let no_tag = || strange("it has no ETag, by which Throng notices that a file has changed");
    stamp(size, header(response, "etag")).ok_or_else(no_tag)
}

#[cfg(test)]
mod tests {
    use super::super::loopback::{Server, answer};
    use super::*;

    const PAGE: &str =
        "<ListBucketResult><Contents><Key>p/a</Key><Size>1</Size><ETag>x</ETag></Contents></ListBucketResult>";

    fn all(start: &str) -> Names<'_> {
        Names { start, is_deep: true, from: None, pages: 10 }
    }

    #[test]
    fn tags_tell_contents_apart_however_they_are_written() {
        assert_eq!(stamp(3, "\"abc\""), stamp(3, "abc"));
        assert_eq!(stamp(3, "W/\"abc\""), stamp(3, "abc"));
        assert_ne!(stamp(3, "abc"), stamp(3, "abd"));
        assert!(stamp(0, "x").unwrap().is_present());
        assert_eq!((stamp(3, "\"\""), stamp(3, "")), (None, None));
    }

    #[test]
    fn an_answer_says_how_large_and_which() {
        for (headers, expected) in [
            ("Content-Length: 4\r\nETag: W/\"x\"", Ok(stamp(4, "x").unwrap())),
            ("ETag: \"x\"", Err("no Content-Length")),
            ("Content-Length: 4", Err("no ETag")),
        ] {
            let server = Server::start(move |_| format!("HTTP/1.1 200 OK\r\n{headers}\r\nConnection: close\r\n\r\n"));
            match (server.client().look("p/a"), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
                (found, expected) => panic!("{found:?} instead of {expected:?}"),
            }
            assert_eq!(server.heads().len(), 1, "asking again does not help");
        }
    }

    #[test]
    fn a_look_that_is_refused_says_why() {
        for (status, code, remedy) in [
            ("403 Forbidden", "RequestTimeTooSkewed", "the clock"),
            ("400 Bad Request", "ExpiredToken", "AWS_SESSION_TOKEN has expired"),
        ] {
            let server = Server::start(move |head| match head.starts_with("HEAD") {
                true => answer(status, "", ""),
                false => answer(status, "", &format!("<Error><Code>{code}</Code><Message>No.</Message></Error>")),
            });
            let error = server.client().look("p/a").unwrap_err();
            assert!(error.to_string().contains(code) && error.to_string().contains(remedy), "{error}");
            let heads = server.heads();
            assert!(heads.len() == 2 && heads[1].contains("range: bytes=0-0\r\n"), "{heads:?}");
        }
        // What may be read and not be looked at is refused without a reason, not taken for something else.
        let server = Server::start(|head| match head.starts_with("HEAD") {
            true => answer("403 Forbidden", "", ""),
            false => answer("404 Not Found", "", "<Error><Code>NoSuchKey</Code></Error>"),
        });
        assert_eq!(server.client().look("p/a").unwrap_err().to_string(), "the server says 403");
    }

    #[test]
    fn a_busy_server_and_half_a_list_are_asked_again() {
        for first in [
            answer("408 Request Timeout", "", ""),
            answer("400 Bad Request", "", "<Error><Code>RequestTimeout</Code></Error>"),
            answer("503 Slow Down", "", ""),
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", PAGE.len(), &PAGE[..40]),
            format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}", &PAGE[..40]),
        ] {
            let told = first.clone();
            let server = Server::in_turn(vec![first, answer("200 OK", "", PAGE)]);
            let mut names = Vec::new();
            server.client().list(all("p/"), &mut |name, _| names.push(name.to_owned())).unwrap();
            assert_eq!((names, server.heads().len()), (vec!["a".to_owned()], 2), "{told}");
        }
    }

    #[test]
    fn something_else_than_a_list_is_no_empty_list() {
        let cut = "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>";
        for (body, why, requests) in [
            ("<html>It works!</html>".to_owned(), "as if it did not speak S3", 1),
            (PAGE.replace("<ETag>x</ETag>", ""), "no ETag for `p/a`", 1),
            (PAGE.replace("</ListBucketResult>", cut), "the same names again", 2),
        ] {
            let server = Server::start(move |_| answer("200 OK", "", &body));
            let error = server.client().list(all("p/"), &mut |_, _| ()).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
            assert_eq!(server.heads().len(), requests, "{why}");
        }
    }
}
