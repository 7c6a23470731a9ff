//! What others have got, noted in files of the state directory, so that a restart tells nobody anything twice.

use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What was noted; nothing where there is no such file, or it is damaged: then it is told once more.
pub(in crate::outputs) fn read<T: DeserializeOwned + Default>(file: &Path) -> T {
    let text = fs::read(file).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Notes it, in place of what was noted before.
pub(in crate::outputs) fn write(file: &Path, noted: &impl Serialize) -> io::Result<()> {
    let draft = file.with_extension("new");
    fs::write(&draft, serde_json::to_vec(noted)?)?;
    fs::rename(&draft, file)
}
