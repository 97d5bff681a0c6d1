//! Storage that speaks the protocol of Amazon S3: a bucket, and what its names begin with.

mod address;
mod client;
mod known;
mod listing;
#[cfg(test)]
mod loopback;
mod reading;
mod refusal;
mod retry;
mod signing;

use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard};

use throng_core::fingerprint::Stamp;
use throng_core::workflow::path;

use super::{Opened, Storage, StorageError};
use crate::surroundings::MATCHING;
use address::Address;
use client::{AT_ONCE, Client, Names};
use known::{Extent, Known, Step};
use reading::Reading;
use refusal::Refusal;

#[derive(Debug)]
struct S3 {
    client: Client,
    known: Mutex<Known>,
}

/// Opens `s3://bucket/prefix`, as the environment says: `AWS_ACCESS_KEY_ID` and the like.
pub(super) fn open(url: &str) -> Result<Arc<dyn Storage>, StorageError> {
    let address = Address::new(url, |name| std::env::var(name).ok())?;
    Ok(Arc::new(S3::checked(url, Client::new(address))?))
}

impl S3 {
    /// Now, and not when the first task needs something: whether the server, the bucket and the keys are right.
    fn checked(url: &str, client: Client) -> Result<S3, StorageError> {
        let Err(error) = client.page(&client.address.prefix, true, Some(1), None) else { return Ok(S3::new(client)) };
        let place = url.to_owned();
        match Refusal::of(&error) {
            // Some may read what they know the name of, and not list.
            Some(refusal) if refusal.is_of_rights() => Ok(S3::new(client)),
            Some(refusal) => match refusal.remedy() {
                Some(remedy) => Err(StorageError::Refused { place, why: refusal.why(), remedy }),
                None => Err(StorageError::Io { place, error }),
            },
            None => Err(StorageError::Io { place, error }),
        }
    }

    fn new(client: Client) -> S3 {
        S3 { client, known: Mutex::default() }
    }

    fn key(&self, name: &str) -> String {
        self.client.address.key(name)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("no thread panics while it holds this")
    }

    /// Lists an extent, or some pages of it, and notes what is there.
    fn list(&self, extent: Extent, from: Option<String>, pages: u32) -> io::Result<()> {
        let start = if extent.directory == "." { String::new() } else { format!("{}/", extent.directory) };
        let names = Names { start: &self.key(&start), is_deep: extent.is_deep, from, pages };
        let mut found = Vec::new();
        let listed = self.client.list(names, &mut |name, stamp| found.push((name.to_owned(), stamp)));
        let mut known = self.known();
        match listed {
            Ok(next) => known.note_list(extent, found, next),
            Err(error) => {
                let is_refused = error.kind() == ErrorKind::PermissionDenied;
                known.note_failure(extent, is_refused);
                if !is_refused {
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

impl Storage for S3 {
    fn stamp(&self, name: &str) -> io::Result<Stamp> {
        let mut step = self.known().step(name);
        if let Step::List { extent, from, pages } = step {
            self.list(extent, from, pages)?;
            step = self.known().answer(name).map_or(Step::Look, Step::Answer);
        }
        if let Step::Answer(stamp) = step {
            return Ok(stamp);
        }
        let stamp = self.client.look(&self.key(name))?;
        self.known().note(name, stamp);
        Ok(stamp)
    }

    fn open<'a>(&'a self, name: &str, goes_on: &'a dyn Fn() -> bool) -> io::Result<Opened<'a>> {
        let reading = Reading::begin(&self.client, self.key(name), goes_on)?;
        Ok(Opened { stamp: reading.stamp, is_program: false, reader: Box::new(reading) })
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        let normal = path::normalize(pattern).into_owned();
        let wanted = glob::Pattern::new(&normal).map_err(|error| error.to_string())?;
        let plain = normal.find(['*', '?', '[']).unwrap_or(normal.len());
        let (directory, rest) = normal.split_at(normal[..plain].rfind('/').map_or(0, |slash| slash + 1));
        // Where only the last part is a pattern, what lies deeper does not matter.
        let is_deep = rest.contains('/') || rest.contains("**");
        let (mut names, mut found) = (Vec::new(), Vec::new());
        let start = self.key(directory);
        let all = Names { start: &start, is_deep, from: None, pages: u32::MAX };
        let listed = self.client.list(all, &mut |name, stamp| {
            if wanted.matches_with(name, MATCHING) {
                names.push(name.to_owned());
            }
            found.push((name.to_owned(), stamp));
        });
        listed.map_err(|error| format!("cannot list {}: {error}", self.place(directory)))?;
        let directory = if directory.is_empty() { "." } else { directory.trim_end_matches('/') };
        self.known().note_list(Extent { directory: directory.to_owned(), is_deep }, found, None);
        names.sort_unstable();
        Ok(names)
    }

    fn place(&self, name: &str) -> String {
        let Address { bucket, prefix, .. } = &self.client.address;
        format!("s3://{bucket}/{prefix}{name}")
    }

    fn at_once(&self) -> usize {
        AT_ONCE
    }
}

#[cfg(test)]
mod tests {
    use super::loopback::{Server, answer};
    use super::*;

    fn refused(code: &str) -> String {
        answer("403 Forbidden", "", &format!("<Error><Code>{code}</Code><Message>No.</Message></Error>"))
    }

    #[test]
    fn a_storage_that_may_not_be_listed_can_be_used_and_one_with_wrong_keys_cannot() {
        let opened = |code: &str| S3::checked("s3://b/p", Server::in_turn(vec![refused(code)]).client());
        assert!(opened("AccessDenied").is_ok());
        match opened("RequestTimeTooSkewed") {
            Err(StorageError::Refused { remedy, .. }) => assert!(remedy.contains("clock"), "{remedy}"),
            other => panic!("{other:?}"),
        }
        let message = "it mentions AccessDenied, and is something else";
        let body = format!("<Error><Code>Strange</Code><Message>{message}</Message></Error>");
        let server = Server::in_turn(vec![answer("403 Forbidden", "", &body)]);
        assert!(matches!(S3::checked("s3://b/p", server.client()), Err(StorageError::Io { .. })));
    }

    #[test]
    fn a_file_in_each_of_many_directories_takes_few_requests() {
        let page = |start: usize, next: &str| {
            let object = |n| format!("<Contents><Key>p/d/{n}/x</Key><Size>{n}</Size><ETag>{n}</ETag></Contents>");
            let objects: String = (start..start + 500).map(object).collect();
            answer("200 OK", "", &format!("<ListBucketResult>{objects}{next}</ListBucketResult>"))
        };
        let server = Server::start(move |head| match head {
            head if head.starts_with("HEAD") => answer("200 OK", "ETag: \"0\"\r\n", ""),
            head if head.contains("continuation-token=t") => page(500, ""),
            _ => page(0, "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"),
        });
        let storage = S3::new(server.client());
        for n in 0..1000 {
            let stamp = storage.stamp(&format!("d/{n}/x")).unwrap();
            assert!(n < 16 || stamp.size == n, "{n}: {stamp:?}");
        }
        assert_eq!(storage.stamp("d/1000/x").unwrap(), Stamp::ABSENT);
        assert_eq!(server.heads().len(), 16 + 2);
    }

    #[test]
    fn an_answer_from_something_else_does_not_make_files_absent() {
        let server = Server::start(|head| match head.starts_with("HEAD") {
            true => answer("200 OK", "ETag: \"0\"\r\n", ""),
            false => answer("200 OK", "", "<html>Welcome!</html>"),
        });
        let storage = S3::new(server.client());
        let found: Vec<_> = (0..20).map(|n| storage.stamp(&format!("d/{n}"))).collect();
        assert!(found.iter().all(|found| !matches!(found, Ok(stamp) if !stamp.is_present())), "{found:?}");
        assert!(found.iter().any(|found| matches!(found, Err(error) if error.to_string().contains("S3"))), "{found:?}");
        assert!(storage.glob("d/*").is_err());
    }
}
