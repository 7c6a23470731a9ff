//! Targets on FTP and SFTP servers.

use core::time::Duration;
use std::sync::{Mutex, PoisonError};

use tokio::net::TcpStream;

use super::opened::{Listing, MAX_LISTED, MAX_READ};
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
    remote: ServerFolder,
    login: Login,
    /// The connection while it is not in use. An operation removes it and puts it back only if it succeeds, so that the
    /// connection of a failed or interrupted operation is closed.
    idle: Mutex<Option<Session>>,
}

/// Login data and trusted keys for a server, read from the files of the configuration.
#[derive(Debug)]
enum Login {
    Ftp(ftp::Login),
    Sftp(Box<sftp::Login>),
}

/// A connection that is logged in.
#[derive(Debug)]
enum Session {
    Ftp(ftp::Session),
    Sftp(sftp::Session),
}

/// Timeout of the check that an idle connection is still alive.
const PROBE_PATIENCE: Duration = Duration::from_secs(5);

impl FileServer {
    /// Reads the files with logins, keys and certificates. Blocks until the disk answers.
    pub(super) fn new(remote: ServerFolder, settings: &Publish) -> Result<Self, StorageFailure> {
        let login = match remote.protocol {
            Protocol::Ftp | Protocol::Ftps => Login::Ftp(ftp::Login::read(&remote, settings)?),
            Protocol::Sftp => Login::Sftp(Box::new(sftp::Login::read(&remote, settings)?)),
        };
        Ok(Self {
            remote,
            login,
            idle: Mutex::new(None),
        })
    }

    pub(super) async fn connect(&self) -> Result<(), StorageFailure> {
        let session = self.session().await?;
        self.put_back(session);
        Ok(())
    }

    /// Replaces a file. Readers see the old content or the new one. Creates missing folders.
    pub(super) async fn put(&self, file: &str, content: &[u8]) -> Result<(), StorageFailure> {
        let (mut session, path) = (self.session().await?, self.remote.path(file));
        match &mut session {
            Session::Ftp(session) => session.put(&path, content).await?,
            Session::Sftp(session) => session.put(&path, content).await?,
        }
        self.put_back(session);
        Ok(())
    }

    pub(super) async fn get(&self, file: &str) -> Result<Vec<u8>, StorageFailure> {
        let (mut session, path) = (self.session().await?, self.remote.path(file));
        let content = match &mut session {
            Session::Ftp(session) => session.get(&path).await?,
            Session::Sftp(session) => session.get(&path).await?,
        };
        self.put_back(session);
        Ok(content)
    }

    /// Deletes a file if it exists.
    pub(super) async fn delete(&self, file: &str) -> Result<(), StorageFailure> {
        let (mut session, path) = (self.session().await?, self.remote.path(file));
        match &mut session {
            Session::Ftp(session) => session.delete(&path).await?,
            Session::Sftp(session) => session.delete(&path).await?,
        }
        self.put_back(session);
        Ok(())
    }

    /// Lists the files in a folder by name.
    pub(super) async fn list(&self, folder: &str) -> Result<Listing, StorageFailure> {
        let mut session = self.session().await?;
        let path = match folder {
            "" => self.remote.folder.clone(),
            folder => self.remote.path(folder),
        };
        let names = match &mut session {
            Session::Ftp(session) => session.list(&path).await?,
            Session::Sftp(session) => session.list(&path).await?,
        };
        self.put_back(session);
        Ok(names)
    }

    pub(super) async fn has(&self, file: &str) -> Result<bool, StorageFailure> {
        let (mut session, path) = (self.session().await?, self.remote.path(file));
        let found = match &mut session {
            Session::Ftp(session) => session.has(&path).await?,
            Session::Sftp(session) => session.has(&path).await?,
        };
        self.put_back(session);
        Ok(found)
    }

    /// Returns the idle connection if it is still alive, since servers close idle connections. Otherwise opens a new
    /// one.
    async fn session(&self) -> Result<Session, StorageFailure> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut session) = idle {
            let probe = async {
                match &mut session {
                    Session::Ftp(session) => session.is_alive().await,
                    Session::Sftp(session) => session.is_alive().await,
                }
            };
            if matches!(tokio::time::timeout(PROBE_PATIENCE, probe).await, Ok(true)) {
                return Ok(session);
            }
        }
        let stream = TcpStream::connect((&*self.remote.host, self.remote.port())).await;
        let stream = stream.map_err(|error| StorageFailure::Unreachable(error.to_string()))?;
        Ok(match &self.login {
            Login::Ftp(login) => Session::Ftp(ftp::Session::open(stream, &self.remote, login).await?),
            Login::Sftp(login) => Session::Sftp(sftp::Session::open(stream, login).await?),
        })
    }

    fn put_back(&self, session: Session) {
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }
}

/// Reports missing settings of the targets on servers, and an SSH key that cannot be used.
pub(super) fn setting_problems(settings: &Publish) -> Vec<String> {
    let targets = settings.to.iter().filter_map(|target| match target {
        Target::Server(remote) => Some(remote),
        _ => None,
    });
    let missing = targets.filter_map(|remote| {
        let failure = match remote.protocol {
            Protocol::Ftp | Protocol::Ftps => ftp::missing_setting(settings)?,
            Protocol::Sftp => sftp::missing_setting(remote, settings)?,
        };
        Some(format!("{remote}: {failure}"))
    });
    let key = settings.sftp_key_file.as_deref().and_then(sftp::key_problem);
    let key = key.map(|problem| format!("{problem}: correct `sftp_key_file`, or that file"));
    missing.chain(key).collect()
}

impl ServerFolder {
    fn port(&self) -> u16 {
        self.port.unwrap_or(match self.protocol {
            Protocol::Ftp | Protocol::Ftps => 21,
            Protocol::Sftp => 22,
        })
    }

    fn path(&self, file: &str) -> String {
        match &*self.folder {
            "" => file.to_owned(),
            folder => format!("{}/{file}", folder.trim_end_matches('/')),
        }
    }
}

/// Adds a file to a listing. Fails if the listing is full.
fn add_listed(listing: &mut Listing, name: String, size: Option<u64>) -> Result<(), StorageFailure> {
    if listing.len() >= MAX_LISTED {
        return Err(StorageFailure::ListTooLong);
    }
    listing.insert(name, size);
    Ok(())
}

/// Returns the temporary path for the upload of a file, which is then renamed.
pub(super) fn partial_path(path: &str) -> String {
    format!("{path}.part")
}

/// Returns the folders above a file, beginning with the uppermost.
fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(end, _)| end);
    ends.filter_map(|end| path.get(..end))
        .filter(|folder| !folder.is_empty() && !folder.ends_with('/'))
}
