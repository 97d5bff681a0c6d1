//! The tasks that are measured: what each does, and how many of them take about twenty seconds at the best.

use std::fmt::{Display, Write as _};

use super::server::Server;
use super::{BLOCK_BYTES, Result};
use crate::random;

/// What a reader wants of the server, and what it and all readers get in a second.
pub const FETCHED_BYTES: usize = 3_750_000;
/// What each reader gets.
pub const EACH_PER_S: f64 = 15e6;
/// What all get.
pub const ALL_PER_S: u64 = 75_000_000;

/// The memory of those that need much of it.
pub const MEMORY_BYTES: u64 = 1 << 30;

/// Tasks of one kind.
#[derive(Clone, Debug)]
pub struct Load {
    /// What it is called.
    pub name: &'static str,
    /// What `work` is told.
    pub arguments: String,
    /// How many.
    pub tasks: u32,
    /// With how many at once a sweep begins.
    pub about: u32,
    /// Whether its memory is limited.
    pub is_limited: bool,
}

/// What loads need of the machine.
#[derive(Debug)]
pub struct Place {
    /// The program that does the tasks.
    pub work: std::path::PathBuf,
    /// The remote system.
    pub server: Server,
    /// A file to read from.
    pub file: tempfile::NamedTempFile,
}

impl Place {
    /// Starts a server and writes a file of a gigabyte.
    pub fn new() -> Result<Place> {
        use std::io::Write;
        let mut file = tempfile::NamedTempFile::new()?;
        let mut piece = vec![0u8; 1 << 20];
        for megabyte in 0..1024u64 {
            for (at, bytes) in piece.chunks_mut(8).enumerate() {
                bytes.copy_from_slice(&random::number_at(megabyte, at as u64).to_le_bytes());
            }
            file.write_all(&piece)?;
        }
        file.as_file().sync_all()?;
        let work = std::env::current_exe()?.with_file_name("work");
        Ok(Place { work, server: Server::start(FETCHED_BYTES, EACH_PER_S, ALL_PER_S)?, file })
    }

    /// All kinds of tasks.
    pub fn loads(&self) -> Vec<Load> {
        let load = |name, arguments: String, tasks, about| Load { name, arguments, tasks, about, is_limited: false };
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let file = self.file.path().display();
        vec![
            load("computes", "compute=250".to_owned(), 80 * cores, cores),
            load("sleeps", "wait=1000".to_owned(), 5_300, 256),
            load("half and half", "turns=5 compute=50 wait=50".to_owned(), 80 * cores, 2 * cores),
            load("disk", format!("read={file} blocks={} seed={{i}}", (128 << 20) / BLOCK_BYTES), 180, 8),
            load("remote", format!("fetch={}", self.server.port()), 410, 8),
            Load { is_limited: true, ..load("memory", "hold=150 grow=300 wait=700".to_owned(), 125, 6) },
        ]
    }

    /// A workflow of all tasks of some loads, those of each after those of the one before.
    pub fn workflow(&self, loads: &[&Load]) -> String {
        let mut text = "tasks:\n".to_owned();
        for load in loads {
            let arguments = load.arguments.replace(' ', "', '");
            let (name, tasks) = (load.name.replace(' ', "-"), load.tasks);
            let work = self.work.display();
            let _ = writeln!(
                text,
                "  {name}: {{ foreach: {{ i: 1..{tasks} }}, exec: ['{work}', '{arguments}', 'task={{i}}'] }}"
            );
        }
        text
    }

    /// Tasks of one kind with random peaks of memory between 20 and 200 MB, whose sum is many times what there is. If it is known what each needs,
    /// each is said to need that.
    pub fn memories(&self, tasks: u64, seed: u64, is_known: bool) -> String {
        let plans: Vec<[u64; 3]> = (0..tasks)
            .map(|task| {
                let chance = |which: u64, least: u64, most: u64| {
                    least + random::number_at(seed, task * 2 + which) % (most - least + 1)
                };
                let (megabytes, total) = (chance(0, 20, 200), chance(1, 1000, 3000));
                [megabytes, total / 3, total - total / 3]
            })
            .collect();
        let work = self.work.display();
        let exec = |[megabytes, grow, wait]: [&dyn Display; 3]| {
            format!("exec: ['{work}', 'hold={megabytes}', 'grow={grow}', 'wait={wait}']")
        };
        if is_known {
            let task = |(at, [megabytes, grow, wait]): (usize, &[u64; 3])| {
                let exec = exec([megabytes, grow, wait]);
                // What the program itself takes comes on top.
                format!("  t{at}: {{ {exec}, cpus: 0.001, memory: {}MB }}\n", megabytes + 3)
            };
            return format!("tasks:\n{}", plans.iter().enumerate().map(task).collect::<String>());
        }
        let column = |at: usize| plans.iter().map(|plan| plan[at].to_string()).collect::<Vec<_>>().join(", ");
        let exec = exec([&"{megabytes}", &"{grow}", &"{wait}"]);
        let (megabytes, grow, wait) = (column(0), column(1), column(2));
        format!(
            "tasks:\n  hold:\n    foreach:\n      zip:\n        megabytes: [{megabytes}]\n        grow: [{grow}]\n        wait: [{wait}]\n    {exec}\n"
        )
    }
}
