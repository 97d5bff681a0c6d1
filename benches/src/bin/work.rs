//! A task that does just what it is told: the tasks that `widths` measures with.
//!
//! ```text
//!   work turns=5 compute=50 wait=50     five times: compute for 50 ms of processor time, sleep for 50 ms
//!   work fetch=40123                    read all that a server on this machine has to give
//!   work read=FILE blocks=2000 seed=7   read so many blocks of a file from the disk itself, at random places
//!   work hold=150 grow=300 wait=700     come to hold 150 MB within 300 ms, then keep them for 700 ms
//! ```

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Read;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::{Duration, Instant};

use throng_benches::random::SplitMix64;
use throng_benches::widths::BLOCK_BYTES;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |name: &str| arguments.iter().find_map(|argument| argument.strip_prefix(name)?.strip_prefix('='));
    let number = |name: &str| given(name).map_or(Ok(0), str::parse::<u64>);
    let held = hold(number("hold")?, Duration::from_millis(number("grow")?));
    if let Some(port) = given("fetch") {
        fetch(port.parse()?)?;
    }
    if let Some(file) = given("read") {
        read(file, number("blocks")?, number("seed")?)?;
    }
    for _ in 0..number("turns")?.max(1) {
        compute(Duration::from_millis(number("compute")?));
        std::thread::sleep(Duration::from_millis(number("wait")?));
    }
    drop(held);
    Ok(())
}

/// Comes to hold so many megabytes, bit by bit.
fn hold(megabytes: u64, grow: Duration) -> Vec<Vec<u8>> {
    const STEPS: u32 = 20;
    let begun = Instant::now();
    let mut held = Vec::new();
    for step in 1..=STEPS {
        let bytes = (megabytes as usize * 1_000_000).div_ceil(STEPS as usize);
        held.push(vec![1; bytes]);
        std::thread::sleep((begun + grow * step / STEPS).saturating_duration_since(Instant::now()));
    }
    held
}

/// Computes until this thread has been given so much processor time: however many others run, the work is the same.
fn compute(time: Duration) {
    let until = processor_time() + time;
    let mut state = 1u64;
    while processor_time() < until {
        for _ in 0..10_000 {
            state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
}

fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: clock_gettime writes a plain struct.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn fetch(port: u16) -> Result<()> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    let mut piece = vec![0; 256 * 1024];
    while stream.read(&mut piece)? > 0 {}
    Ok(())
}

/// Reads past the page cache, so that each block comes from the disk.
fn read(path: &str, blocks: u64, seed: u64) -> Result<()> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path)?;
    let there = file.metadata()?.len() / BLOCK_BYTES as u64;
    let mut chance = SplitMix64::new(seed);
    let mut room = vec![0; 2 * BLOCK_BYTES];
    // Such reads go to addresses that are multiples of a block of the disk.
    let aligned = room.as_ptr().align_offset(4096);
    for _ in 0..blocks {
        let block = chance.next_number() % there;
        file.read_exact_at(&mut room[aligned..aligned + BLOCK_BYTES], block * BLOCK_BYTES as u64)?;
    }
    Ok(())
}
