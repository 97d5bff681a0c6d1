//! A server on this machine that gives each reader so many bytes a second, and all of them together no more than so many, which can change.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const CHUNK: usize = 32 * 1024;

/// What a server gives.
#[derive(Debug)]
struct Shared {
    /// All that a reader wants.
    bytes: usize,
    each_per_s: f64,
    all_per_s: AtomicU64,
    given: AtomicU64,
    /// When the line is free for the next chunk.
    free: Mutex<Instant>,
    is_over: AtomicBool,
}

/// A server, as long as it is kept.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Server {
    /// Starts one whose readers want so many bytes, get so many a second each, and so many all together.
    pub fn start(bytes: usize, each_per_s: f64, all_per_s: u64) -> std::io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            bytes,
            each_per_s,
            all_per_s: AtomicU64::new(all_per_s),
            given: AtomicU64::new(0),
            free: Mutex::new(Instant::now()),
            is_over: AtomicBool::new(false),
        });
        let own = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if own.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let shared = own.clone();
                // A reader that has gone away is no business of anybody's.
                std::thread::spawn(move || drop(shared.serve(stream)));
            }
        });
        Ok(Server { address, shared })
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// From now on, all readers together get so much.
    pub fn set_capacity(&self, all_per_s: u64) {
        self.shared.all_per_s.store(all_per_s, Ordering::Relaxed);
    }

    /// All that was given up to now.
    pub fn given(&self) -> u64 {
        self.shared.given.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Somebody has to come so that it looks.
        drop(TcpStream::connect(self.address));
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let chunk = vec![7u8; CHUNK];
        let mut own = Instant::now();
        let mut left = self.bytes;
        while left > 0 {
            let length = left.min(CHUNK);
            own = own.max(Instant::now() - Duration::from_millis(20))
                + Duration::from_secs_f64(length as f64 / self.each_per_s);
            let turn = {
                let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
                let all = self.all_per_s.load(Ordering::Relaxed) as f64;
                *free = (*free).max(Instant::now()) + Duration::from_secs_f64(length as f64 / all);
                *free
            };
            std::thread::sleep(own.max(turn).saturating_duration_since(Instant::now()));
            stream.write_all(&chunk[..length])?;
            self.given.fetch_add(length as u64, Ordering::Relaxed);
            left -= length;
        }
        Ok(())
    }
}
