//! Small files in the state directory in which outputs record their deliveries, so that a restart does not repeat them.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads the notes. If the file is missing or damaged, returns the default value: deliveries are then repeated once.
pub(in crate::outputs) fn read<T: DeserializeOwned + Default>(file: &Path) -> T {
    let text = fs::read(file).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

pub(in crate::outputs) fn write(file: &Path, noted: &impl Serialize) -> io::Result<()> {
    let draft = file.with_extension("new");
    fs::write(&draft, serde_json::to_vec(noted)?)?;
    fs::rename(&draft, file)
}

/// Writes notes that only the program's user may read.
pub(in crate::outputs) fn write_secret(file: &Path, noted: &impl Serialize) -> io::Result<()> {
    let draft = file.with_extension("new");
    // A draft that an interrupted write has left may be readable by others.
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    let mut opened = options.write(true).create_new(true).mode(0o600).open(&draft)?;
    opened.write_all(&serde_json::to_vec(noted)?)?;
    fs::rename(&draft, file)
}
