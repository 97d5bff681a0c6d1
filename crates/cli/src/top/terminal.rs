//! A terminal that is drawn on: another screen than the one with the user's commands, which comes back as it was,
//! however this ends.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use throng_runtime::process;

use super::screen::{Row, Size, Tone};

/// What the user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// To leave.
    Quit,
    /// Nothing that is known here.
    Other,
}

/// How the terminal was before; a program that ends by a bug must find it too.
static BEFORE: OnceLock<Option<Termios>> = OnceLock::new();
static IS_OPEN: AtomicBool = AtomicBool::new(false);
static IS_TOLD_TO_STOP: AtomicBool = AtomicBool::new(false);

/// A changed window or a signal is noticed within this time.
const LONGEST_WAIT: Duration = Duration::from_millis(200);
/// What is assumed of a terminal that does not say.
const USUAL_SIZE: Size = Size { columns: 80, rows: 24 };

/// Without a cursor, and without going on in the next row when one is full.
const OTHER_SCREEN: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const OWN_SCREEN: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// A terminal that is drawn on; given back when dropped.
pub struct Terminal {
    has_keys: bool,
}

impl Terminal {
    /// Takes the terminal over.
    pub fn open() -> io::Result<Terminal> {
        let before = BEFORE.get_or_init(|| termios::tcgetattr(rustix::stdio::stdin()).ok());
        let show = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |about| {
            restore();
            show(about);
        }));
        // What asks to end has to find the way through here, or the terminal would stay as it is.
        process::take_over_signals();
        std::thread::spawn(|| {
            process::next_stop_signal();
            IS_TOLD_TO_STOP.store(true, Ordering::Relaxed);
        });
        IS_OPEN.store(true, Ordering::Relaxed);
        let mut has_keys = false;
        if let Some(before) = before {
            let mut raw = before.clone();
            // Keys come one by one, unseen; Ctrl-C is one of them.
            raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
            raw.special_codes[SpecialCodeIndex::VMIN] = 0;
            raw.special_codes[SpecialCodeIndex::VTIME] = 0;
            has_keys = termios::tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &raw).is_ok();
        }
        write(OTHER_SCREEN)?;
        Ok(Terminal { has_keys })
    }

    /// How large it is now.
    pub fn size(&self) -> Size {
        match termios::tcgetwinsize(rustix::stdio::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                Size { columns: size.ws_col.into(), rows: size.ws_row.into() }
            }
            _ => USUAL_SIZE,
        }
    }

    /// Draws from the top; what was there is written over, so that nothing flickers.
    pub fn draw(&mut self, rows: &[Row]) {
        let mut text = String::from("\x1b[H");
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                text.push_str("\r\n");
            }
            let (on, off) = match row.tone {
                Tone::Plain => ("", ""),
                Tone::Title => ("\x1b[1m", "\x1b[0m"),
                Tone::Bad => ("\x1b[31m", "\x1b[0m"),
                Tone::Faint => ("\x1b[2m", "\x1b[0m"),
            };
            let content = row.text.trim_end();
            text.push_str(on);
            text.push_str(content);
            text.push_str(off);
            // After a full row the cursor still stands on its last letter, which this would delete.
            if content.len() < row.text.len() {
                text.push_str("\x1b[K");
            }
        }
        text.push_str("\x1b[J");
        // A terminal that has gone away will say so by a signal.
        let _ = write(&text);
    }

    /// Waits for a key, but not for longer than this, nor than a changed window may go unnoticed.
    pub fn wait_for_key(&mut self, longest: Duration) -> Option<Key> {
        let deadline = Instant::now() + longest.min(LONGEST_WAIT);
        if IS_TOLD_TO_STOP.load(Ordering::Relaxed) {
            return Some(Key::Quit);
        }
        let wait = deadline.saturating_duration_since(Instant::now());
        if !self.has_keys {
            std::thread::sleep(wait);
            return None;
        }
        let stdin = rustix::stdio::stdin();
        let timeout = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
        if poll(&mut waiting, Some(&timeout)).unwrap_or(0) == 0 {
            return None;
        }
        let mut bytes = [0; 64];
        match rustix::io::read(stdin, &mut bytes) {
            Ok(0) | Err(_) => {
                self.has_keys = false;
                None
            }
            Ok(length) if bytes[..length].iter().any(|byte| matches!(byte, b'q' | b'Q' | 3)) => Some(Key::Quit),
            Ok(_) => Some(Key::Other),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back, once.
fn restore() {
    if !IS_OPEN.swap(false, Ordering::Relaxed) {
        return;
    }
    let _ = write(OWN_SCREEN);
    if let Some(Some(before)) = BEFORE.get() {
        let _ = termios::tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, before);
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
