//! The files of a bundle.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use anyhow::{Error, Result, anyhow};

use super::settings::Secrets;

#[derive(Debug)]
pub(super) enum Content {
    /// Text in which names can be replaced.
    Text(String),
    Bytes(Vec<u8>),
    /// A file that is copied as it is.
    File(PathBuf),
}

/// A file of a bundle, or the reason for which it is missing.
#[derive(Debug)]
pub(super) struct Part {
    /// Path within the bundle.
    pub(super) name: String,
    pub(super) content: Result<Content>,
}

pub(super) fn text(name: &str, content: Result<String>) -> Part {
    Part::new(name.to_owned(), content.map(Content::Text))
}

/// A file that ends at the first read error, which is kept.
struct Readable {
    file: File,
    failure: Option<io::Error>,
}

impl Read for Readable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.file.read(buffer) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.failure = Some(error);
                Ok(0)
            }
            read => read,
        }
    }
}

impl Part {
    pub(super) fn new(name: String, content: Result<Content>) -> Self {
        Self { name, content }
    }

    /// The name of a missing part, and the reason.
    pub(super) fn missing(&self) -> Option<(&str, String)> {
        let error = self.content.as_ref().err()?;
        Some((&self.name, format!("{error:#}")))
    }

    /// Removes secrets from a text, or from the error of a missing part.
    pub(super) fn hide(&mut self, secrets: &Secrets) {
        match &mut self.content {
            Ok(Content::Text(text)) => *text = secrets.hide_in(text),
            Ok(Content::Bytes(_) | Content::File(_)) => {}
            Err(error) => *error = anyhow!(secrets.hide_in(&format!("{error:#}"))),
        }
    }

    /// Appends the part to an archive, in a folder and with a time in seconds since 1970. Does nothing if the part is
    /// missing. A file that cannot be read becomes a missing part.
    pub(super) fn append(
        &mut self,
        archive: &mut tar::Builder<impl Write>,
        folder: &str,
        time: u64,
    ) -> Result<()> {
        let path = format!("{folder}/{}", self.name);
        let mut add = |size: u64, data: &mut dyn Read| {
            let mut header = tar::Header::new_gnu();
            header.set_size(size);
            header.set_mode(0o644);
            header.set_mtime(time);
            archive.append_data(&mut header, &path, data)
        };
        match &self.content {
            Err(_) => {}
            Ok(Content::Text(text)) => add(text.len() as u64, &mut text.as_bytes())?,
            Ok(Content::Bytes(bytes)) => add(bytes.len() as u64, &mut bytes.as_slice())?,
            Ok(Content::File(path)) => {
                let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
                let failure = match opened {
                    Ok((size, file)) => {
                        let mut readable = Readable { file, failure: None };
                        // The daemon may be appending to the file. The size is in the archive already, so a file that
                        // ends early is padded with zeros.
                        let mut data = (&mut readable).take(size).chain(io::repeat(0)).take(size);
                        add(size, &mut data)?;
                        readable.failure
                    }
                    Err(error) => Some(error),
                };
                if let Some(failure) = failure {
                    let failure = Error::new(failure).context(format!("cannot read {}", path.display()));
                    self.content = Err(failure);
                }
            }
        }
        Ok::<(), Error>(())
    }
}
