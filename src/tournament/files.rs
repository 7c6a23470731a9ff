//! Sources of pairings: the files that the configuration names, and a folder with the files uploaded at the desk.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use thiserror::Error;

use crate::text_file;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PairingFiles {
    configured: Vec<PathBuf>,
    /// Folder of uploaded files. If `None`, files cannot be uploaded.
    folder: Option<PathBuf>,
}

/// Name of an uploaded file. It contains no folder and ends with a known file extension.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileName(String);

/// Error of parsing a [`FileName`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "a pairing file needs a name such as round-5.csv: at most 80 letters, digits, spaces, dots, hyphens, \
     underscores and brackets, with .csv, .tsv, .pgn, .trf, .trfx or .txt at the end"
)]
pub(crate) struct NoFileName;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dropped {
    pub(crate) name: FileName,
    pub(crate) bytes: u64,
    pub(crate) changed: SystemTime,
}

/// Limit of uploaded files, more than a season needs.
pub(crate) const MAX_FILES: usize = 100;
/// Limit of a file name, in characters.
const LONGEST_NAME: usize = 80;
const ENDINGS: [&str; 6] = ["csv", "tsv", "pgn", "trf", "trfx", "txt"];
/// Name of a file that is being written. It is not a valid [`FileName`], so such a file is never read.
const DRAFT: &str = ".new";

impl PairingFiles {
    pub(crate) fn new(configured: Vec<PathBuf>, folder: Option<PathBuf>) -> Self {
        Self { configured, folder }
    }

    /// Returns whether there is no source at all.
    pub(crate) fn are_none(&self) -> bool {
        self.configured.is_empty() && self.folder.is_none()
    }

    pub(crate) fn configured(&self) -> &[PathBuf] {
        &self.configured
    }

    /// Returns all files in the order of precedence: uploaded files first, the newest of them at the front.
    pub(crate) fn all(&self) -> Vec<PathBuf> {
        self.others_than(None)
    }

    /// Returns the files like [`all`](Self::all), without the uploaded file `replaced`.
    pub(crate) fn others_than(&self, replaced: Option<&FileName>) -> Vec<PathBuf> {
        // Ignore errors: callers that list the uploads with `dropped` report an unreadable folder.
        let dropped = self.dropped().unwrap_or_default();
        let folder = self.folder.as_deref().unwrap_or_else(|| Path::new(""));
        let dropped = dropped.iter().filter(|file| Some(&file.name) != replaced);
        let dropped = dropped.map(|file| folder.join(&file.name.0));
        dropped.chain(self.configured.iter().cloned()).collect()
    }

    /// Lists the uploaded files, the newest first. Fails if the folder cannot be read. A missing folder counts as
    /// empty.
    pub(crate) fn dropped(&self) -> io::Result<Vec<Dropped>> {
        let Some(folder) = &self.folder else {
            return Ok(Vec::new());
        };
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().into_string().ok();
            let Some(name) = name.and_then(|name| name.parse().ok()) else {
                continue;
            };
            // The file may have been removed meanwhile.
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_file() {
                files.push(Dropped {
                    name,
                    bytes: metadata.len(),
                    changed: metadata.modified()?,
                });
            }
        }
        files.sort_by(|one, other| (other.changed, &one.name).cmp(&(one.changed, &other.name)));
        Ok(files)
    }

    /// Returns the content of an uploaded file; `None` if it does not exist. Fails if the file cannot be read.
    pub(crate) fn content(&self, name: &FileName) -> io::Result<Option<Vec<u8>>> {
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            text_file::open(&self.folder()?.join(&name.0))?.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        match read() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores an uploaded file and replaces one with the same name. The replacement is atomic, even in a power failure.
    /// Fails if the file cannot be written, or if there are too many files.
    pub(crate) fn keep(&self, name: &FileName, bytes: &[u8]) -> io::Result<()> {
        let folder = self.folder()?;
        fs::create_dir_all(folder)?;
        let others = self.dropped()?;
        let others: Vec<&Dropped> = others.iter().filter(|file| file.name != *name).collect();
        if others.len() >= MAX_FILES {
            return Err(io::Error::other(format!(
                "there are already {MAX_FILES} files: remove some of them"
            )));
        }
        let draft = folder.join(DRAFT);
        let mut file = File::create(&draft)?;
        file.write_all(bytes)?;
        // The order of upload must hold even if the computer's clock was ahead when an earlier file was uploaded.
        let newest = others.first().map(|file| file.changed);
        if let Some(newest) =
            newest.filter(|newest| file.metadata().is_ok_and(|meta| is_before(&meta, *newest)))
        {
            file.set_modified(newest + Duration::from_millis(1))?;
        }
        file.sync_all()?;
        fs::rename(&draft, folder.join(&name.0))?;
        sync_folder(folder)
    }

    /// Removes an uploaded file. Returns `false` if it did not exist. Fails if the file cannot be removed.
    pub(crate) fn remove(&self, name: &FileName) -> io::Result<bool> {
        let folder = self.folder()?;
        match fs::remove_file(folder.join(&name.0)) {
            Ok(()) => sync_folder(folder).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn folder(&self) -> io::Result<&Path> {
        let none = || io::Error::new(io::ErrorKind::NotFound, "there is no folder for pairing files");
        self.folder.as_deref().ok_or_else(none)
    }
}

fn is_before(metadata: &fs::Metadata, other: SystemTime) -> bool {
    metadata.modified().is_ok_and(|changed| changed <= other)
}

/// Syncs a folder, so that a rename or a removal survives a power failure.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

impl FromStr for FileName {
    type Err = NoFileName;

    fn from_str(name: &str) -> Result<Self, NoFileName> {
        let is_usual = |c: char| c.is_alphanumeric() || " ._-()".contains(c);
        let ending = name
            .rsplit_once('.')
            .map(|(_, ending)| ending.to_ascii_lowercase());
        let is_name = name.starts_with(char::is_alphanumeric)
            && name.chars().all(is_usual)
            && name.chars().count() <= LONGEST_NAME
            && !name.contains("..")
            && ending.is_some_and(|ending| ENDINGS.contains(&&*ending));
        is_name.then(|| Self(name.to_owned())).ok_or(NoFileName)
    }
}

impl FileName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> FileName {
        name.parse().expect("a name")
    }

    #[test]
    fn only_plain_file_names_are_accepted() {
        for good in ["round-5.csv", "Runde 5 (Süd).PGN", "r.trf", "1.2.trfx", "a.txt"] {
            assert!(good.parse::<FileName>().is_ok(), "{good}");
        }
        let long = format!("{}.csv", "a".repeat(LONGEST_NAME));
        for bad in [
            "",
            ".csv",
            "csv",
            "../x.csv",
            "..csv",
            "a..csv",
            "a/b.csv",
            "/a.csv",
            "a\\b.csv",
            "a\0.csv",
            "a\n.csv",
            "-a.csv",
            " a.csv",
            ".new",
            "a.sh",
            "a.csv ",
            "a%2Fb.csv",
            "~a.csv",
            &long,
        ] {
            assert_eq!(bad.parse::<FileName>(), Err(NoFileName), "{bad:?}");
        }
    }

    #[test]
    fn newest_upload_comes_first_and_configured_files_last() {
        let state = tempfile::tempdir().expect("a folder");
        let folder = state.path().join("pairings");
        let files = PairingFiles::new(vec!["/srv/round.pgn".into()], Some(folder.clone()));
        assert!(!files.are_none());
        assert_eq!(files.dropped().expect("no folder yet"), []);
        assert_eq!(files.all(), [PathBuf::from("/srv/round.pgn")]);
        let (one, other) = (name("b.csv"), name("a.csv"));
        files.keep(&one, b"1").expect("kept");
        // Simulates an upload while the computer's clock was ahead.
        let later = SystemTime::UNIX_EPOCH + Duration::from_secs(10_000_000_000);
        let file = File::options()
            .write(true)
            .open(folder.join("b.csv"))
            .expect("it is there");
        file.set_modified(later).expect("set");
        files.keep(&other, b"22").expect("kept");
        fs::write(folder.join(DRAFT), "half").expect("written");
        let sizes: Vec<(String, u64)> = files
            .dropped()
            .expect("a folder")
            .iter()
            .map(|file| (file.name.to_string(), file.bytes))
            .collect();
        assert_eq!(sizes, [("a.csv".to_owned(), 2), ("b.csv".to_owned(), 1)]);
        let beside = files.others_than(Some(&other));
        assert_eq!(beside, [folder.join("b.csv"), "/srv/round.pgn".into()]);
        files.keep(&one, b"333").expect("replaced");
        assert_eq!(files.all().first(), Some(&folder.join("b.csv")));
        assert_eq!(files.content(&one).expect("read").as_deref(), Some(&b"333"[..]));
        assert!(files.remove(&one).expect("removed"));
        assert!(!files.remove(&one).expect("it was removed"));
        assert_eq!(files.content(&one).expect("none"), None);
    }

    #[test]
    fn uploads_fail_without_a_folder() {
        let files = PairingFiles::default();
        assert!(files.are_none());
        assert!(files.keep(&name("a.csv"), b"1").is_err());
        assert!(files.remove(&name("a.csv")).is_err());
        assert_eq!(files.all(), Vec::<PathBuf>::new());
    }
}
