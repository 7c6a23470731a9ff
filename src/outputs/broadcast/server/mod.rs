//! Targets on FTP and SFTP servers.

use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tokio::net::TcpStream;

use super::server_folder::{Protocol, ServerFolder};
use super::settings::{Publish, Target};
use super::storage_failure::StorageFailure;

mod ftp;
mod sftp;

#[cfg(test)]
mod tests;

/// A folder on a server, and the connection to the server.
#[derive(Debug)]
pub(super) struct FileServer {
    place: ServerFolder,
    settings: Publish,
    /// A connection that is not in use. An operation takes it and returns it only if it succeeds, so that the
    /// connection of an interrupted operation is closed.
    idle: Mutex<Option<Session>>,
}

/// A connection with a login.
#[derive(Debug)]
enum Session {
    Ftp(ftp::Session),
    Sftp(sftp::Session),
}

/// Limit for a file that is read, in bytes. Only the file of a trial is read, and a wrong server may send without end.
const MAX_READ: usize = 64 << 10;
/// Maximum time in which a server must answer on a connection that has been idle.
const PROBE_PATIENCE: Duration = Duration::from_secs(5);

impl FileServer {
    pub(super) const fn new(place: ServerFolder, settings: Publish) -> Self {
        Self {
            place,
            settings,
            idle: Mutex::new(None),
        }
    }

    pub(super) async fn connect(&self) -> Result<(), StorageFailure> {
        let session = self.session().await?;
        self.keep(session);
        Ok(())
    }

    /// Replaces a file. Readers see the old content or the new one. Creates missing folders.
    pub(super) async fn put(&self, file: &str, content: &[u8]) -> Result<(), StorageFailure> {
        let (mut session, path) = (self.session().await?, self.place.path(file));
        match &mut session {
            Session::Ftp(session) => session.put(&path, content).await?,
            Session::Sftp(session) => session.put(&path, content).await?,
        }
        self.keep(session);
        Ok(())
    }

    pub(super) async fn get(&self, file: &str) -> Result<Vec<u8>, StorageFailure> {
        let (mut session, path) = (self.session().await?, self.place.path(file));
        let content = match &mut session {
            Session::Ftp(session) => session.get(&path).await?,
            Session::Sftp(session) => session.get(&path).await?,
        };
        self.keep(session);
        Ok(content)
    }

    /// Deletes a file if it exists.
    pub(super) async fn delete(&self, file: &str) -> Result<(), StorageFailure> {
        let (mut session, path) = (self.session().await?, self.place.path(file));
        match &mut session {
            Session::Ftp(session) => session.delete(&path).await?,
            Session::Sftp(session) => session.delete(&path).await?,
        }
        self.keep(session);
        Ok(())
    }

    /// The names of the files in a folder.
    pub(super) async fn list(&self, folder: &str) -> Result<BTreeSet<String>, StorageFailure> {
        let mut session = self.session().await?;
        let path = match folder {
            "" => self.place.folder.clone(),
            folder => self.place.path(folder),
        };
        let names = match &mut session {
            Session::Ftp(session) => session.list(&path).await?,
            Session::Sftp(session) => session.list(&path).await?,
        };
        self.keep(session);
        Ok(names)
    }

    /// Whether the server has a file.
    pub(super) async fn has(&self, file: &str) -> Result<bool, StorageFailure> {
        let (mut session, path) = (self.session().await?, self.place.path(file));
        let found = match &mut session {
            Session::Ftp(session) => session.has(&path).await?,
            Session::Sftp(session) => session.has(&path).await?,
        };
        self.keep(session);
        Ok(found)
    }

    /// The idle connection if the server still answers on it, otherwise a new one. Servers close idle connections.
    async fn session(&self) -> Result<Session, StorageFailure> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut session) = idle {
            let answers = async {
                match &mut session {
                    Session::Ftp(session) => session.answers().await,
                    Session::Sftp(session) => session.answers().await,
                }
            };
            if matches!(tokio::time::timeout(PROBE_PATIENCE, answers).await, Ok(true)) {
                return Ok(session);
            }
        }
        let stream = TcpStream::connect((&*self.place.host, self.place.port())).await;
        let stream = stream.map_err(|error| StorageFailure::Unreachable(error.to_string()))?;
        Ok(match self.place.protocol {
            Protocol::Ftp | Protocol::Ftps => {
                Session::Ftp(ftp::Session::open(stream, &self.place, &self.settings).await?)
            }
            Protocol::Sftp => Session::Sftp(sftp::Session::open(stream, &self.place, &self.settings).await?),
        })
    }

    fn keep(&self, session: Session) {
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }
}

/// Settings that the targets on servers lack, and an SSH key that cannot be used.
pub(super) fn setting_problems(settings: &Publish) -> Vec<String> {
    let targets = settings.to.iter().filter_map(|target| match target {
        Target::Server(place) => Some(place),
        _ => None,
    });
    let lacking = targets.filter_map(|place| {
        let failure = match place.protocol {
            Protocol::Ftp | Protocol::Ftps => ftp::lacking(settings)?,
            Protocol::Sftp => sftp::lacking(place, settings)?,
        };
        Some(format!("{place}: {failure}"))
    });
    let key = settings.sftp_key_file.as_deref().and_then(sftp::key_problem);
    let key = key.map(|problem| format!("{problem}: correct `sftp_key_file`, or that file"));
    lacking.chain(key).collect()
}

impl ServerFolder {
    fn port(&self) -> u16 {
        self.port.unwrap_or(match self.protocol {
            Protocol::Ftp | Protocol::Ftps => 21,
            Protocol::Sftp => 22,
        })
    }

    /// The path of a file on the server.
    fn path(&self, file: &str) -> String {
        match &*self.folder {
            "" => file.to_owned(),
            folder => format!("{}/{file}", folder.trim_end_matches('/')),
        }
    }
}

/// The name under which a file is uploaded before it is renamed.
fn part(path: &str) -> String {
    format!("{path}.part")
}

/// The folders above a file, beginning with the uppermost.
fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(end, _)| end);
    ends.filter_map(|end| path.get(..end))
        .filter(|folder| !folder.is_empty() && !folder.ends_with('/'))
}
