//! An object while it is read: where the connection is cut, reading goes on with another.

use std::io::{self, ErrorKind, Read};

use throng_core::fingerprint::Stamp;
use ureq::BodyReader;

use super::client::{Client, header, stamp_of, tag};
use super::listing::strange;
use super::refusal::Refusal;
use super::retry::{Pauses, is_passing, persist};

/// The bytes of one object, all of the same content.
pub(super) struct Reading<'a> {
    client: &'a Client,
    key: String,
    /// Whether somebody still waits for it.
    goes_on: &'a dyn Fn() -> bool,
    pub(super) stamp: Stamp,
    /// The tag as the server wrote it.
    etag: String,
    /// How many bytes have been read.
    at: u64,
    body: Option<BodyReader<'static>>,
    /// Those that are left since bytes came.
    pauses: Pauses,
}

impl<'a> Reading<'a> {
    pub(super) fn begin(client: &'a Client, key: String, goes_on: &'a dyn Fn() -> bool) -> io::Result<Reading<'a>> {
        let response = persist(goes_on, || client.once("GET", &key, &[], &[]))?;
        let (stamp, etag) = (stamp_of(&response)?, header(&response, "etag").to_owned());
        let body = Some(response.into_body().into_reader());
        Ok(Reading { client, key, goes_on, stamp, etag, at: 0, body, pauses: Pauses::new() })
    }

    /// Asks for what has not been read, of the same content.
    fn rest(&self) -> io::Result<BodyReader<'static>> {
        let changed = || io::Error::new(ErrorKind::InvalidData, "it changed while it was read");
        let range = format!("bytes={}-", self.at);
        let mut headers = vec![("range", range.as_str())];
        // A tag that is called weak never matches; what is answered is compared anyway.
        headers.extend((!self.etag.starts_with("W/")).then_some(("if-match", self.etag.as_str())));
        let answer = self.client.once("GET", &self.key, &[], &headers);
        let response = answer.map_err(|error| match Refusal::of(&error) {
            Some(refusal) if matches!(refusal.status, 404 | 412 | 416) => changed(),
            _ => error,
        })?;
        if tag(header(&response, "etag")) != tag(&self.etag) {
            return Err(changed());
        }
        if response.status() == 206 {
            let range = header(&response, "content-range").to_owned();
            let is_right =
                range.starts_with(&format!("bytes {}-", self.at)) && range.ends_with(&format!("/{}", self.stamp.size));
            let wrong = || strange(&format!("asked for the bytes from {}, it sends `{range}`", self.at));
            return if is_right { Ok(response.into_body().into_reader()) } else { Err(wrong()) };
        }
        // Not every server knows ranges: what came before is read again, to no end.
        if stamp_of(&response)? != self.stamp {
            return Err(changed());
        }
        let mut body = response.into_body().into_reader();
        match io::copy(&mut body.by_ref().take(self.at), &mut io::sink())? == self.at {
            true => Ok(body),
            false => Err(ErrorKind::UnexpectedEof.into()),
        }
    }

    fn read_on(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let mut body = match self.body.take() {
            Some(body) => body,
            None => self.rest()?,
        };
        let length = body.read(piece)?;
        self.body = Some(body);
        match length {
            0 => Err(io::Error::new(ErrorKind::UnexpectedEof, "the server broke off")),
            length => Ok(length),
        }
    }
}

impl Read for Reading<'_> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let left = self.stamp.size.saturating_sub(self.at);
        let most = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if most == 0 {
            // To its end, so that the connection can be used again.
            if let Some(mut body) = self.body.take_if(|_| left == 0) {
                let _ = body.read(&mut [0]);
            }
            return Ok(0);
        }
        loop {
            match self.read_on(&mut piece[..most]) {
                Ok(length) => {
                    self.at += length as u64;
                    self.pauses = Pauses::new();
                    return Ok(length);
                }
                Err(error) if !is_passing(&error) || !self.pauses.wait(self.goes_on) => return Err(error),
                Err(_) => self.body = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::loopback::{Server, answer};
    use super::*;

    /// An answer of ten bytes that ends after four.
    const CUT: &str = "HTTP/1.1 200 OK\r\nETag: \"x\"\r\nContent-Length: 10\r\n\r\n0123";

    fn read(server: &Server, goes_on: &dyn Fn() -> bool) -> io::Result<String> {
        let client = server.client();
        let mut text = String::new();
        Reading::begin(&client, "p/a".to_owned(), goes_on)?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn what_is_cut_is_read_to_its_end() {
        let part = |from: usize, to: usize| {
            format!(
                "HTTP/1.1 206 Partial Content\r\nETag: \"x\"\r\nContent-Range: bytes {from}-9/10\r\nContent-Length: {}\r\n\r\n{}",
                10 - from,
                &"0123456789"[from..to]
            )
        };
        let server = Server::in_turn(vec![CUT.to_owned(), part(4, 6), answer("503 Slow Down", "", ""), part(6, 10)]);
        assert_eq!(read(&server, &|| true).unwrap(), "0123456789");
        let heads = server.heads();
        assert!(heads[1].contains("range: bytes=4-\r\n") && heads[1].contains("if-match: \"x\"\r\n"), "{heads:?}");
        assert!(heads[3].contains("range: bytes=6-\r\n"), "{heads:?}");

        let whole = answer("200 OK", "ETag: \"x\"\r\n", "0123456789");
        let server = Server::in_turn(vec![CUT.to_owned(), whole]);
        assert_eq!(read(&server, &|| true).unwrap(), "0123456789", "from a server that knows no ranges");
    }

    #[test]
    fn halves_of_two_contents_are_not_put_together() {
        let other = "HTTP/1.1 206 Partial Content\r\nETag: \"y\"\r\nContent-Range: bytes 4-9/10\r\nContent-Length: 6\r\n\r\n456789";
        let shifted = "HTTP/1.1 206 Partial Content\r\nETag: \"x\"\r\nContent-Range: bytes 0-9/10\r\nContent-Length: 10\r\n\r\n0123456789";
        for (second, why) in [
            (other.to_owned(), "it changed while it was read"),
            (answer("412 Precondition Failed", "", ""), "it changed while it was read"),
            (answer("200 OK", "ETag: \"x\"\r\n", "01234567890"), "it changed while it was read"),
            (shifted.to_owned(), "it sends `bytes 0-9/10`"),
        ] {
            let server = Server::in_turn(vec![CUT.to_owned(), second]);
            let error = read(&server, &|| true).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
            assert_eq!(server.heads().len(), 2);
        }
    }

    #[test]
    fn nobody_asks_again_when_the_run_is_over() {
        let server = Server::in_turn(vec![CUT.to_owned()]);
        assert!(read(&server, &|| false).is_err());
        assert_eq!(server.heads().len(), 1);
        let server = Server::in_turn(vec![answer("503 Slow Down", "", "")]);
        assert!(read(&server, &|| false).unwrap_err().to_string().contains("503"));
        assert_eq!(server.heads().len(), 1);
    }

    #[test]
    fn an_empty_object_and_a_bad_answer() {
        let server = Server::in_turn(vec![answer("200 OK", "ETag: \"x\"\r\n", "")]);
        assert_eq!(read(&server, &|| true).unwrap(), "");
        let server = Server::in_turn(vec![answer("200 OK", "", "0123")]);
        assert!(read(&server, &|| true).unwrap_err().to_string().contains("no ETag"));
    }
}
