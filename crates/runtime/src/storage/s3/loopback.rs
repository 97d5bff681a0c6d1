//! A server for tests, which answers as badly as it is told to.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use super::address::Address;
use super::client::Client;

/// It serves a bucket named `b`, with the prefix `p`.
pub(super) struct Server {
    url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

/// A whole answer.
pub(super) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

impl Server {
    /// Answers each request, which comes alone on its connection.
    pub(super) fn start(mut answer: impl FnMut(&str) -> String + Send + 'static) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heads = Arc::new(Mutex::new(Vec::new()));
        let noted = heads.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let head: String = lines.take_while(|line| !line.is_empty()).map(|line| line + "\r\n").collect();
                noted.lock().unwrap().push(head.clone());
                let _ = (&stream).write_all(answer(&head).as_bytes());
            }
        });
        Server { url, heads }
    }

    /// Answers each request with the next of these, the last again and again.
    pub(super) fn in_turn(answers: Vec<String>) -> Server {
        let mut at = 0;
        Server::start(move |_| {
            at += 1;
            answers[(at - 1).min(answers.len() - 1)].clone()
        })
    }

    /// What it has been asked so far.
    pub(super) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    pub(super) fn client(&self) -> Client {
        let variable = |name: &str| match name {
            "AWS_ENDPOINT_URL" => Some(self.url.clone()),
            "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("key".to_owned()),
            _ => None,
        };
        Client::without_proxy(Address::new("s3://b/p", variable).unwrap())
    }
}
