//! Argument strings, made in the parent: between `vfork` and `execve` a child must not allocate.

use std::ffi::{CString, c_char};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::ptr;

const PLACE: &str = "{}";

/// The arguments of all tasks, with `{}` where the index of the task belongs.
pub struct ArgumentTemplate {
    /// Each argument cut at its `{}`.
    arguments: Vec<Vec<String>>,
}

impl ArgumentTemplate {
    /// Reads `{}` in `arguments`; `name` becomes the program's own name and stays as it is.
    pub fn new(name: &str, arguments: &[String]) -> io::Result<Self> {
        let mut cut = vec![vec![name.to_owned()]];
        cut.extend(arguments.iter().map(|argument| argument.split(PLACE).map(str::to_owned).collect()));
        if cut.iter().flatten().any(|piece| piece.contains('\0')) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an argument holds a zero byte"));
        }
        Ok(Self { arguments: cut })
    }

    /// Buffers for one thread.
    pub fn prepare(&self) -> PreparedArguments<'_> {
        let mut prepared = PreparedArguments {
            template: self,
            texts: vec![Vec::new(); self.arguments.len()],
            pointers: vec![ptr::null_mut(); self.arguments.len() + 1],
        };
        for place in 0..self.arguments.len() {
            prepared.fill(place, 0);
        }
        prepared
    }
}

/// The arguments of one task at a time, in buffers that are used again for the next.
pub struct PreparedArguments<'a> {
    template: &'a ArgumentTemplate,
    texts: Vec<Vec<u8>>,
    pointers: Vec<*mut c_char>,
}

impl PreparedArguments<'_> {
    /// The null-terminated argument vector of task `index`, valid until the next call.
    pub fn pointers_for(&mut self, index: u64) -> *const *mut c_char {
        for place in 0..self.texts.len() {
            if self.template.arguments[place].len() > 1 {
                self.fill(place, index);
            }
        }
        self.pointers.as_ptr()
    }

    fn fill(&mut self, place: usize, index: u64) {
        let text = &mut self.texts[place];
        text.clear();
        for (number, piece) in self.template.arguments[place].iter().enumerate() {
            if number > 0 {
                write!(text, "{index}").expect("writing to memory does not fail");
            }
            text.extend_from_slice(piece.as_bytes());
        }
        text.push(0);
        self.pointers[place] = text.as_mut_ptr().cast();
    }
}

/// The path of `name`, searched in `PATH` once so that no start pays for the search.
pub fn find_program(name: &str) -> io::Result<CString> {
    let found = if name.contains('/') {
        Some(Path::new(name).to_path_buf())
    } else {
        std::env::var_os("PATH").and_then(|path| {
            std::env::split_paths(&path)
                .map(|directory| directory.join(name))
                .find(|candidate| is_executable(candidate))
        })
    };
    let found = found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("no program named {name}")))?;
    Ok(CString::new(found.as_os_str().as_bytes())?)
}

fn is_executable(candidate: &Path) -> bool {
    candidate.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    /// The strings behind an argument vector.
    ///
    /// # Safety
    ///
    /// `pointers` must end with a null pointer and point to zero-terminated strings.
    unsafe fn read_back(mut pointers: *const *mut c_char) -> Vec<String> {
        let mut strings = Vec::new();
        // SAFETY: the caller vouches for the vector and for its strings.
        unsafe {
            while !(*pointers).is_null() {
                let string = CStr::from_ptr(*pointers);
                strings.push(string.to_string_lossy().into_owned());
                pointers = pointers.add(1);
            }
        }
        strings
    }

    #[test]
    fn every_place_gets_the_index() {
        let arguments = ["a{}b{}".to_owned(), "plain".to_owned()];
        let template = ArgumentTemplate::new("x{}", &arguments).expect("no zero bytes");
        let mut prepared = template.prepare();
        for index in [7, 123_456_789, 0] {
            // SAFETY: `pointers_for` gives a null-terminated vector of strings.
            let strings = unsafe { read_back(prepared.pointers_for(index)) };
            assert_eq!(strings[1], format!("a{index}b{index}"));
            assert_eq!(strings[2], "plain");
        }
    }
}
