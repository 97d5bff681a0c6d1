//! A server on this machine that gives each reader so many bytes a second, and all of them together no more than so many.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is sent at a time.
const CHUNK: usize = 64 * 1024;

/// How much readers get.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// All that a reader wants.
    pub bytes: usize,
    /// How much each gets in a second, at most.
    pub each_per_s: f64,
    /// How much all get together.
    pub all_per_s: f64,
}

/// A server, as long as it is kept.
pub struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Server {
    /// Starts one.
    pub fn start(rates: Rates) -> std::io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (address, is_over) = (listener.local_addr()?, Arc::new(AtomicBool::new(false)));
        let (over, line) = (is_over.clone(), Arc::new(Mutex::new(Instant::now())));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let line = line.clone();
                // A reader that has gone away is no business of anybody's.
                std::thread::spawn(move || drop(serve(stream, rates, &line)));
            }
        });
        Ok(Server { address, is_over })
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Somebody has to come so that it looks.
        drop(TcpStream::connect(self.address));
    }
}

/// Gives a reader all that it wants, each chunk when it is its turn. `line` says when the line is free for the next one.
fn serve(mut stream: TcpStream, rates: Rates, line: &Mutex<Instant>) -> std::io::Result<()> {
    let chunk = vec![7u8; CHUNK];
    let mut own = Instant::now();
    let mut left = rates.bytes;
    while left > 0 {
        let length = left.min(CHUNK);
        own = own.max(Instant::now() - Duration::from_millis(50))
            + Duration::from_secs_f64(length as f64 / rates.each_per_s);
        let turn = {
            let mut free = line.lock().unwrap_or_else(PoisonError::into_inner);
            *free = (*free).max(Instant::now()) + Duration::from_secs_f64(length as f64 / rates.all_per_s);
            *free
        };
        std::thread::sleep(own.max(turn).saturating_duration_since(Instant::now()));
        stream.write_all(&chunk[..length])?;
        left -= length;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn readers_get_no_more_than_they_may() {
        let rates = Rates { bytes: 1_000_000, each_per_s: 5e6, all_per_s: 10e6 };
        let server = Server::start(rates).unwrap();
        let begun = Instant::now();
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let port = server.port();
                std::thread::spawn(move || {
                    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
                    stream.read_to_end(&mut Vec::new()).unwrap()
                })
            })
            .collect();
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() == 1_000_000));
        // Four megabytes at ten in a second.
        let seconds = begun.elapsed().as_secs_f64();
        assert!((0.35..5.0).contains(&seconds), "{seconds}");
    }
}
