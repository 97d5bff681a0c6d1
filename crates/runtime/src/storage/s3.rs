//! Storage that speaks the protocol of Amazon S3: a bucket, and what its names begin with.
//!
//! Three requests are all it takes: look at an object, read one, and list names. They are signed here ([`signing`]) and sent by a small
//! blocking client, because nothing else in an embedded run needs an async runtime or a second way to wait.

mod listing;
mod signing;

use std::collections::{HashMap, HashSet};
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use throng_core::fingerprint::{Stamp, hash};
use throng_core::workflow::path;
use ureq::http::Response;
use ureq::{Agent, Body};

use super::{Opened, Storage, StorageError};
use crate::surroundings::MATCHING;
use listing::Listing;
use signing::{Credentials, Request, encoded};

/// Answers come from afar: more requests at once than a disk would like.
const AT_ONCE: usize = 16;
/// After so many objects of a directory have been looked at one by one, all of it is listed: one request for a thousand.
const LOOKS_BEFORE_LISTING: u32 = 16;
/// How long a server may take to answer, or to send more: slow is not dead.
const PATIENCE: Duration = Duration::from_secs(30);
/// A server that is busy or restarts is asked again after these pauses.
const PAUSES: [Duration; 3] = [Duration::from_millis(100), Duration::from_millis(400), Duration::from_millis(1600)];

#[derive(Debug)]
struct S3 {
    agent: Agent,
    bucket: String,
    /// What names begin with: empty, or ending with `/`.
    prefix: String,
    /// `https://host`, without a path.
    endpoint: String,
    /// What comes before a name in a path: `/`, or with the bucket.
    base: String,
    region: String,
    credentials: Option<Credentials>,
    known: Mutex<Known>,
}

/// What has been seen, so that nothing is asked twice while a workflow is read and judged.
#[derive(Debug, Default)]
struct Known {
    stamps: HashMap<String, Stamp>,
    /// How often something in a directory was looked at.
    looks: HashMap<String, u32>,
    /// Directories of which all is known, or that may not be listed.
    listed: HashSet<String>,
    unlisted: HashSet<String>,
}

/// Opens `s3://bucket/prefix`, as the environment says: `AWS_ACCESS_KEY_ID` and the like.
pub(super) fn open(url: &str) -> Result<Arc<dyn Storage>, StorageError> {
    let storage = S3::from_environment(url, |name| std::env::var(name).ok().filter(|value| !value.is_empty()))?;
    // Now, and not when the first task needs something: whether the server, the bucket and the keys are right.
    match storage.list(&storage.prefix.clone(), None, Some(1), &mut |_, _| ()) {
        // Some may read what they know the name of, and not list.
        Err(error) if error.kind() != ErrorKind::PermissionDenied || storage.credentials.is_none() => {
            Err(StorageError::Io { place: url.to_owned(), error })
        }
        Err(error) if !error.to_string().contains("AccessDenied") => {
            Err(StorageError::Io { place: url.to_owned(), error })
        }
        _ => Ok(Arc::new(storage)),
    }
}

impl S3 {
    fn from_environment(url: &str, variable: impl Fn(&str) -> Option<String>) -> Result<S3, StorageError> {
        let bad = |why: &str| StorageError::BadUrl { url: url.to_owned(), why: why.to_owned() };
        let rest = url.strip_prefix("s3://").ok_or_else(|| bad("it does not begin with s3://"))?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        if bucket.is_empty() || !bucket.chars().all(is_plain) {
            return Err(bad("write s3://BUCKET/PREFIX"));
        }
        let prefix = prefix.trim_matches('/');
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let region = variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"));
        let region = region.unwrap_or_else(|| "us-east-1".to_owned());
        let endpoint = variable("AWS_ENDPOINT_URL_S3").or_else(|| variable("AWS_ENDPOINT_URL"));
        let (endpoint, base) = match endpoint {
            // Elsewhere, a bucket seldom has a host name of its own.
            Some(endpoint) => {
                let endpoint = endpoint.trim_end_matches('/');
                let (scheme, host) = endpoint.split_once("://").ok_or_else(|| bad("AWS_ENDPOINT_URL is no URL"))?;
                let (host, path) = host.split_once('/').unwrap_or((host, ""));
                let host = host.strip_suffix(if scheme == "https" { ":443" } else { ":80" }).unwrap_or(host);
                let path = if path.is_empty() { String::new() } else { format!("/{path}") };
                (format!("{scheme}://{host}"), format!("{path}/{bucket}/"))
            }
            // No certificate covers a name with more dots.
            None if bucket.contains('.') => (format!("https://s3.{region}.amazonaws.com"), format!("/{bucket}/")),
            None => (format!("https://{bucket}.s3.{region}.amazonaws.com"), "/".to_owned()),
        };
        let credentials = match (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY")) {
            (Some(id), Some(secret)) => Some(Credentials { id, secret, token: variable("AWS_SESSION_TOKEN") }),
            // What everybody may read needs no signature.
            (None, None) => None,
            _ => return Err(bad("only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set")),
        };
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections_per_host(AT_ONCE)
            .max_idle_connections(AT_ONCE)
            .timeout_connect(Some(PATIENCE))
            .timeout_recv_response(Some(PATIENCE))
            .timeout_per_read(Some(PATIENCE))
            .user_agent(concat!("throng/", env!("CARGO_PKG_VERSION")))
            .build();
        let bucket = bucket.to_owned();
        let known = Mutex::default();
        Ok(S3 { agent: agent.into(), bucket, prefix, endpoint, base, region, credentials, known })
    }

    fn send(&self, method: &str, key: &str, query: &[(&str, &str)]) -> io::Result<Response<Body>> {
        let path = format!("{}{}", self.base, encoded(key, true));
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let host = self.endpoint.split_once("://").map_or("", |(_, host)| host);
        let request = Request { method, host, path: &path, query, seconds };
        let mut url = format!("{}{path}", self.endpoint);
        if !query.is_empty() {
            url.push_str(&format!("?{}", request.query_text()));
        }
        let mut builder = if method == "HEAD" { self.agent.head(&url) } else { self.agent.get(&url) };
        if let Some(credentials) = &self.credentials {
            for (name, value) in request.signed(credentials, &self.region) {
                builder = builder.header(name, value);
            }
        }
        builder.call().map_err(|error| match error {
            ureq::Error::Io(error) => error,
            other => io::Error::other(other.to_string()),
        })
    }

    /// Sends a request, and again if the server was busy or did not answer.
    fn ask(&self, method: &str, key: &str, query: &[(&str, &str)]) -> io::Result<Response<Body>> {
        let mut pauses = PAUSES.iter();
        loop {
            let answer = self.send(method, key, query);
            let is_passing = match &answer {
                Ok(response) => matches!(response.status().as_u16(), 429 | 500 | 502 | 503 | 504),
                Err(error) => error.kind() != ErrorKind::InvalidInput,
            };
            match pauses.next().filter(|_| is_passing) {
                Some(pause) => std::thread::sleep(*pause),
                None => return answer.and_then(|response| self.judged(response)),
            }
        }
    }

    /// Turns an answer that says no into an error that says why.
    fn judged(&self, mut response: Response<Body>) -> io::Result<Response<Body>> {
        let status = response.status().as_u16();
        if (200..300).contains(&status) {
            return Ok(response);
        }
        let region = response.headers().get("x-amz-bucket-region").and_then(|value| value.to_str().ok());
        let elsewhere = region.filter(|region| *region != self.region);
        let elsewhere = elsewhere.map_or(String::new(), |region| format!("; the bucket is in AWS_REGION={region}"));
        let body = response.body_mut().read_to_string().unwrap_or_default();
        let code = listing::text_of(&body, "Code").unwrap_or_default();
        let message = listing::text_of(&body, "Message").unwrap_or_default();
        let told = if code.is_empty() { String::new() } else { format!(" {code}: {message}") };
        let why = format!("the server says {status}{told}{elsewhere}");
        Err(match status {
            404 if code != "NoSuchBucket" => io::Error::new(ErrorKind::NotFound, why),
            401 | 403 => io::Error::new(ErrorKind::PermissionDenied, why),
            _ => io::Error::other(why),
        })
    }

    /// Lists what begins with a key, up to the next `/` or all of it.
    fn list(
        &self,
        start: &str,
        delimiter: Option<&str>,
        most: Option<u32>,
        found: &mut dyn FnMut(&str, Stamp),
    ) -> io::Result<()> {
        let mut token: Option<String> = None;
        let most_text = most.map(|most| most.to_string());
        loop {
            let mut query = vec![("list-type", "2"), ("encoding-type", "url"), ("prefix", start)];
            query.extend(delimiter.map(|delimiter| ("delimiter", delimiter)));
            query.extend(most_text.as_deref().map(|most| ("max-keys", most)));
            query.extend(token.as_deref().map(|token| ("continuation-token", token)));
            query.sort_unstable();
            let body = self.ask("GET", "", &query)?.body_mut().read_to_string().map_err(io::Error::other)?;
            let listing = Listing::read(&body);
            for (key, size, etag) in listing.objects {
                // A name that ends so stands for a directory, as some programs make them.
                if let Some(name) = key.strip_prefix(&self.prefix).filter(|name| !name.ends_with('/')) {
                    found(name, stamp(size, &etag));
                }
            }
            token = listing.next.filter(|_| most.is_none());
            if token.is_none() {
                return Ok(());
            }
        }
    }

    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().expect("no thread panics while it holds this")
    }

    /// Lists a directory once; false if that is not allowed.
    fn list_directory(&self, directory: &str) -> io::Result<bool> {
        let start = if directory == "." { self.prefix.clone() } else { self.key(&format!("{directory}/")) };
        let mut found = Vec::new();
        match self.list(&start, Some("/"), None, &mut |name, stamp| found.push((name.to_owned(), stamp))) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                self.known().unlisted.insert(directory.to_owned());
                Ok(false)
            }
            Err(error) => Err(error),
            Ok(()) => {
                let mut known = self.known();
                known.stamps.extend(found);
                known.listed.insert(directory.to_owned());
                Ok(true)
            }
        }
    }

    fn look(&self, name: &str) -> io::Result<Stamp> {
        match self.ask("HEAD", &self.key(name), &[]) {
            Ok(response) => Ok(stamp_of(&response)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Stamp::ABSENT),
            Err(error) => Err(error),
        }
    }
}

impl Storage for S3 {
    fn stamp(&self, name: &str) -> io::Result<Stamp> {
        let directory = path::directory(name);
        let is_worth_listing = {
            let mut known = self.known();
            if let Some(stamp) = known.stamps.get(name) {
                return Ok(*stamp);
            }
            if known.listed.contains(directory) {
                return Ok(Stamp::ABSENT);
            }
            let looks = known.looks.entry(directory.to_owned()).or_default();
            *looks += 1;
            *looks > LOOKS_BEFORE_LISTING && !known.unlisted.contains(directory)
        };
        if is_worth_listing && self.list_directory(directory)? {
            return Ok(self.known().stamps.get(name).copied().unwrap_or(Stamp::ABSENT));
        }
        let stamp = self.look(name)?;
        self.known().stamps.insert(name.to_owned(), stamp);
        Ok(stamp)
    }

    fn open(&self, name: &str) -> io::Result<Opened<'_>> {
        let response = self.ask("GET", &self.key(name), &[])?;
        let stamp = stamp_of(&response);
        Ok(Opened { stamp, is_program: false, reader: Box::new(response.into_body().into_reader()) })
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        let normal = path::normalize(pattern).into_owned();
        let wanted = glob::Pattern::new(&normal).map_err(|error| error.to_string())?;
        let plain = normal.find(['*', '?', '[']).unwrap_or(normal.len());
        let (directory, rest) = normal.split_at(normal[..plain].rfind('/').map_or(0, |slash| slash + 1));
        // Where only the last part is a pattern, what lies deeper does not matter.
        let delimiter = if rest.contains('/') { None } else { Some("/") };
        let mut names = Vec::new();
        let mut known = Vec::new();
        let listed = self.list(&self.key(directory), delimiter, None, &mut |name, stamp| {
            if wanted.matches_with(name, MATCHING) {
                names.push(name.to_owned());
            }
            known.push((name.to_owned(), stamp));
        });
        listed.map_err(|error| format!("cannot list {}: {error}", self.place(directory)))?;
        self.known().stamps.extend(known);
        names.sort_unstable();
        Ok(names)
    }

    fn place(&self, name: &str) -> String {
        format!("s3://{}/{}{name}", self.bucket, self.prefix)
    }

    fn at_once(&self) -> usize {
        AT_ONCE
    }
}

/// An object has no time of modification that could be relied on, but a tag of its content.
fn stamp(size: u64, etag: &str) -> Stamp {
    Stamp { size, modified_ns: (hash(etag.trim_matches('"').as_bytes()) >> 1) as i64 }
}

fn stamp_of(response: &Response<Body>) -> Stamp {
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    stamp(header("content-length").parse().unwrap_or(0), header("etag"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_follow_the_environment() {
        let made = |url: &str, variables: &[(&str, &str)]| {
            let variable = |name: &str| Some(variables.iter().find(|(known, _)| *known == name)?.1.to_owned());
            S3::from_environment(url, variable).map(|s3| format!("{}{}{}", s3.endpoint, s3.base, s3.key("x")))
        };
        let at = |url: &str, variables: &[(&str, &str)]| made(url, variables).unwrap();
        assert_eq!(at("s3://b/p/q/", &[]), "https://b.s3.us-east-1.amazonaws.com/p/q/x");
        assert_eq!(at("s3://b.c", &[("AWS_REGION", "eu-west-1")]), "https://s3.eu-west-1.amazonaws.com/b.c/x");
        assert_eq!(at("s3://b", &[("AWS_ENDPOINT_URL", "http://127.0.0.1:9000/")]), "http://127.0.0.1:9000/b/x");
        assert_eq!(at("s3://b", &[("AWS_ENDPOINT_URL", "https://host:443/s3")]), "https://host/s3/b/x");
        for (url, variables) in [
            ("s3://", &[][..]),
            ("s3://a b/c", &[]),
            ("s3://b", &[("AWS_ACCESS_KEY_ID", "only")]),
            ("s3://b", &[("AWS_ENDPOINT_URL", "host")]),
        ] {
            assert!(made(url, variables).is_err(), "{url}");
        }
    }

    #[test]
    fn tags_tell_contents_apart_however_they_are_written() {
        assert_eq!(stamp(3, "\"abc\""), stamp(3, "abc"));
        assert_ne!(stamp(3, "abc"), stamp(3, "abd"));
        assert!(stamp(0, "").is_present());
    }
}
