//! What tasks make must outlive the tier: a task that copies a link instead of the file behind it (`cp -a`, `mv`, `ln -s`) has made something
//! that leads nowhere once the run is over. Such a link becomes the file that it leads to.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::mark::tier_of;

/// Puts files in the place of links into a tier, at a path and below it.
pub(crate) fn settle(path: &Path) -> io::Result<()> {
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(found) = path.symlink_metadata() else { continue };
        if found.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        } else if found.is_symlink()
            && let Some(copy) = behind(&path)
        {
            replace(&path, &copy)?;
        }
    }
    Ok(())
}

/// The file in a tier that a link leads to in the end.
fn behind(link: &Path) -> Option<PathBuf> {
    let end = std::fs::canonicalize(link).or_else(|_| std::fs::read_link(link)).ok()?;
    tier_of(&end).is_some().then_some(end)
}

fn replace(link: &Path, copy: &Path) -> io::Result<()> {
    let mut draft = link.as_os_str().to_owned();
    draft.push(".throng-copying");
    let draft = PathBuf::from(draft);
    let copied = copy_to(copy, &draft).and_then(|()| std::fs::rename(&draft, link));
    if copied.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    copied
}

/// As anybody makes a file, and not as private as in the tier.
fn copy_to(copy: &Path, draft: &Path) -> io::Result<()> {
    let (mut from, mut to) = (File::open(copy)?, File::create_new(draft)?);
    io::copy(&mut from, &mut to)?;
    let mode = to.metadata()?.permissions().mode();
    let is_program = from.metadata()?.permissions().mode() & 0o100 != 0;
    // Whoever may read it may execute it.
    if is_program { to.set_permissions(Permissions::from_mode(mode | (mode & 0o444) >> 2)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_into_a_tier_become_files_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (tier, made) = (folder.path().join("throng-tier-0123456789abcdef"), folder.path().join("made"));
        std::fs::create_dir(&tier).unwrap();
        std::fs::create_dir_all(made.join("deep")).unwrap();
        for (name, mode) in [("1", 0o400), ("2", 0o500)] {
            std::fs::write(tier.join(name), name).unwrap();
            std::fs::set_permissions(tier.join(name), Permissions::from_mode(mode)).unwrap();
        }
        std::fs::write(made.join("own"), "own").unwrap();
        symlink(tier.join("1"), made.join("direct")).unwrap();
        symlink("../direct", made.join("deep/round")).unwrap();
        symlink(tier.join("2"), made.join("deep/program")).unwrap();
        symlink("own", made.join("other")).unwrap();
        symlink("nowhere", made.join("dangling")).unwrap();
        settle(&made).unwrap();
        std::fs::remove_dir_all(&tier).unwrap();
        let read = |name: &str| std::fs::read_to_string(made.join(name)).unwrap();
        assert_eq!(["direct", "deep/round", "deep/program"].map(read), ["1", "1", "2"]);
        let mode = |name: &str| made.join(name).metadata().unwrap().permissions().mode() & 0o700;
        assert_eq!((mode("direct"), mode("deep/program")), (0o600, 0o700));
        for link in ["other", "dangling"] {
            assert!(made.join(link).is_symlink(), "{link}");
        }
        // One that was taken away before cannot be had any more.
        symlink(tier.join("1"), made.join("late")).unwrap();
        assert!(settle(&made.join("late")).is_err());
        assert!(settle(&made.join("never made")).is_ok());
    }
}
