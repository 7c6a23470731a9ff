//! FTP, with or without encryption (RFC 959, RFC 4217).

use core::fmt;
use core::pin::Pin;
use std::io;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::version::TLS12;
use suppaftp::tokio::{AsyncRustlsFtpStream, AsyncRustlsStream, AsyncTlsConnector};
use suppaftp::tokio_rustls::TlsConnector;
use suppaftp::types::{FileType, Response};
use suppaftp::{FtpError, FtpResult, Mode, Status};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{MAX_READ, add_listed, folders_above, partial_path};
use crate::outputs::broadcast::opened::{Listing, MAX_LISTED_BYTES};
use crate::outputs::broadcast::server_folder::{Protocol, ServerFolder};
use crate::outputs::broadcast::settings::Publish;
use crate::outputs::broadcast::storage_failure::StorageFailure;
use crate::outputs::broadcast::store::two_lines;
use crate::outputs::mqtt::tls::{Tls, TlsRefusal};
use crate::outputs::shared::answers::shortened;

pub(super) struct Session {
    stream: AsyncRustlsFtpStream,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

/// The setting that names the login file.
const LOGIN_FILE: &str = "ftp_login_file";

/// User and password, and the certificates to trust.
pub(super) struct Login {
    user: String,
    password: String,
    /// `None` if the connection is not encrypted.
    encryption: Option<Connector>,
}

/// Omits the password.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").finish_non_exhaustive()
    }
}

impl Login {
    /// Reads the files of the configuration.
    pub(super) fn read(remote: &ServerFolder, settings: &Publish) -> Result<Self, StorageFailure> {
        let Some(file) = &settings.ftp_login_file else {
            return Err(StorageFailure::NoLogin(LOGIN_FILE));
        };
        let (user, password) =
            two_lines(file).map_err(|error| StorageFailure::Other(format!("{error:#}")))?;
        let is_encrypted = remote.protocol == Protocol::Ftps;
        Ok(Self {
            user,
            password,
            encryption: is_encrypted.then(|| Connector::new(settings)).transpose()?,
        })
    }
}

impl Session {
    pub(super) async fn open(
        stream: TcpStream,
        remote: &ServerFolder,
        login: &Login,
    ) -> Result<Self, StorageFailure> {
        // Only EPSV supports IPv6. The reply to PASV contains an address, which may be a private one behind NAT. The
        // workaround below connects to the address of the control connection instead.
        let mode = match stream.peer_addr() {
            Ok(peer) if peer.is_ipv6() => Mode::ExtendedPassive,
            _ => Mode::Passive,
        };
        let mut stream = AsyncRustlsFtpStream::connect_with_stream(stream)
            .await
            .map_err(failure)?;
        stream.set_mode(mode);
        stream.set_passive_nat_workaround(true);
        if let Some(connector) = &login.encryption {
            stream = encrypted(stream, remote, connector.with_own_sessions()).await?;
        }
        stream
            .login(&*login.user, &*login.password)
            .await
            .map_err(|error| match error {
                FtpError::UnexpectedResponse(response) if response.status != Status::NotAvailable => {
                    StorageFailure::Login {
                        setting: LOGIN_FILE,
                        text: reply_text(&response),
                    }
                }
                error => failure(error),
            })?;
        stream.transfer_type(FileType::Binary).await.map_err(failure)?;
        Ok(Self { stream })
    }

    pub(super) async fn is_alive(&mut self) -> bool {
        self.stream.noop().await.is_ok()
    }

    pub(super) async fn put(&mut self, path: &str, content: &[u8]) -> Result<(), StorageFailure> {
        self.try_put(path, content).await.map_err(failure)
    }

    async fn try_put(&mut self, path: &str, content: &[u8]) -> FtpResult<()> {
        let part = partial_path(path);
        let mut uploaded = self.upload(&part, content).await;
        if matches!(&uploaded, Err(FtpError::UnexpectedResponse(response)) if is_permanent(response)) {
            for folder in folders_above(path) {
                // The folder usually exists already. If it is still missing, the upload fails.
                if let Err(error @ (FtpError::ConnectionError(_) | FtpError::BadResponse)) =
                    self.stream.mkdir(folder).await
                {
                    return Err(error);
                }
            }
            // Some servers do not replace a file that an interrupted upload has left.
            let _ = self.stream.rm(&part).await;
            uploaded = self.upload(&part, content).await;
        }
        if let Err(error) = uploaded {
            if matches!(error, FtpError::UnexpectedResponse(_)) {
                // Delete the partial file, which takes up space on a full disk.
                let _ = self.stream.rm(&part).await;
            }
            return Err(error);
        }
        match self.stream.rename(&*part, path).await {
            // Some servers do not rename a file over another.
            Err(FtpError::UnexpectedResponse(_)) if self.try_has(path).await? => {
                self.stream.rm(path).await?;
                self.stream.rename(&*part, path).await
            }
            renamed => renamed,
        }
    }

    async fn upload(&mut self, path: &str, content: &[u8]) -> FtpResult<()> {
        let mut transfer = self.stream.put_with_stream(path).await?;
        let written = transfer.write_all(content).await;
        // The reply explains a failure better than the data connection.
        transfer.finish().await?;
        written.map_err(FtpError::ConnectionError)
    }

    pub(super) async fn get(&mut self, path: &str) -> Result<Vec<u8>, StorageFailure> {
        let mut transfer = self.stream.retr_as_stream(path).await.map_err(failure)?;
        let mut content = Vec::new();
        let read = (&mut transfer)
            .take(MAX_READ as u64)
            .read_to_end(&mut content)
            .await;
        transfer.finish().await.map_err(failure)?;
        read.map_err(|error| failure(FtpError::ConnectionError(error)))?;
        Ok(content)
    }

    pub(super) async fn delete(&mut self, path: &str) -> Result<(), StorageFailure> {
        match self.stream.rm(path).await {
            Err(FtpError::UnexpectedResponse(response)) => match self.try_has(path).await {
                Ok(false) => Ok(()),
                Ok(true) => Err(failure(FtpError::UnexpectedResponse(response))),
                Err(error) => Err(failure(error)),
            },
            deleted => deleted.map_err(failure),
        }
    }

    pub(super) async fn list(&mut self, folder: &str) -> Result<Listing, StorageFailure> {
        let command = match folder {
            "" => "NLST".to_owned(),
            folder => format!("NLST {folder}"),
        };
        // suppaftp's function for this command has no size limit.
        let opened = self
            .stream
            .custom_data_command(command, &[Status::AboutToSend, Status::AlreadyOpen])
            .await;
        let mut transfer = opened.map_err(failure)?.1;
        let mut content = Vec::new();
        let read = (&mut transfer)
            .take(MAX_LISTED_BYTES as u64 + 1)
            .read_to_end(&mut content)
            .await;
        if content.len() > MAX_LISTED_BYTES {
            return Err(StorageFailure::ListTooLong);
        }
        transfer.finish().await.map_err(failure)?;
        read.map_err(|error| failure(FtpError::ConnectionError(error)))?;
        let mut listing = Listing::new();
        for path in String::from_utf8_lossy(&content).lines() {
            // Some servers list whole paths.
            let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
            add_listed(&mut listing, name.to_owned(), None)?;
        }
        Ok(listing)
    }

    pub(super) async fn has(&mut self, path: &str) -> Result<bool, StorageFailure> {
        self.try_has(path).await.map_err(failure)
    }

    async fn try_has(&mut self, path: &str) -> FtpResult<bool> {
        match self.stream.size(path).await {
            Ok(_) => Ok(true),
            Err(FtpError::UnexpectedResponse(response)) if response.status == Status::FileUnavailable => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Reports a missing setting.
pub(super) fn missing_setting(settings: &Publish) -> Option<StorageFailure> {
    let is_missing = settings.ftp_login_file.is_none();
    is_missing.then_some(StorageFailure::NoLogin(LOGIN_FILE))
}

/// Encrypts the control connection.
async fn encrypted(
    stream: AsyncRustlsFtpStream,
    remote: &ServerFolder,
    connector: Connector,
) -> Result<AsyncRustlsFtpStream, StorageFailure> {
    stream
        .into_secure(connector, &remote.host)
        .await
        .map_err(|error| match error {
            FtpError::UnexpectedResponse(response) if response.status != Status::NotAvailable => {
                StorageFailure::NoEncryption(reply_text(&response))
            }
            error => failure(error),
        })
}

/// Encrypts a control connection and its data connections. They share one configuration, because servers require that
/// data connections resume the TLS session of the control connection. This works with TLS 1.2 only: in TLS 1.3, every
/// resumption uses up a ticket, and servers do not send new tickets on data connections.
#[derive(Clone)]
struct Connector {
    connector: TlsConnector,
    tls: Tls,
}

impl Connector {
    /// Reads the certificates to trust.
    fn new(settings: &Publish) -> Result<Self, StorageFailure> {
        let tls = Tls {
            ca_file: settings.ca_file.clone(),
            client: None,
        };
        let config = tls
            .client_config_of(&[&TLS12])
            .map_err(|error| StorageFailure::Other(error.to_string()))?;
        Ok(Self {
            connector: TlsConnector::from(Arc::new(config)),
            tls,
        })
    }

    /// Returns a connector for another control connection, which must not resume TLS sessions of earlier ones: the
    /// server would refuse its data connections.
    fn with_own_sessions(&self) -> Self {
        let mut config = rustls::ClientConfig::clone(self.connector.config());
        config.resumption = Resumption::default();
        Self {
            connector: TlsConnector::from(Arc::new(config)),
            tls: self.tls.clone(),
        }
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}

impl AsyncTlsConnector for Connector {
    type Stream = AsyncRustlsStream;

    fn connect<'a, 'd, 'f>(
        &'a self,
        domain: &'d str,
        stream: TcpStream,
    ) -> Pin<Box<dyn Future<Output = FtpResult<Self::Stream>> + Send + 'f>>
    where
        'a: 'f,
        'd: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let name = rustls::pki_types::ServerName::try_from(domain.to_owned())
                .map_err(|error| FtpError::SecureError(error.to_string()))?;
            let connected = self.connector.connect(name, stream).await;
            connected.map(AsyncRustlsStream::from).map_err(|error| {
                let refusal = error.get_ref().and_then(|inner| inner.downcast_ref());
                match refusal {
                    Some(refusal) => FtpError::SecureError(match self.tls.refusal(refusal, domain) {
                        TlsRefusal::Outdated => {
                            "the server does not offer TLS 1.2: enable it there".to_owned()
                        }
                        refusal => refusal.to_string(),
                    }),
                    None => FtpError::ConnectionError(error),
                }
            })
        })
    }
}

/// Whether the server refuses permanently, possibly because of a missing folder.
fn is_permanent(response: &Response) -> bool {
    (500..600).contains(&response.status.code()) && response.status != Status::ExceededStorage
}

/// Returns the text of a reply without its code: the last line, if there are several.
fn reply_text(response: &Response) -> Option<String> {
    let text = String::from_utf8_lossy(&response.body);
    let line = text.trim().lines().last().unwrap_or_default();
    let words = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let words = shortened(words.trim_start_matches('-').trim());
    let words = words.trim_end_matches('.');
    (!words.is_empty()).then(|| words.to_owned())
}

fn failure(error: FtpError) -> StorageFailure {
    match error {
        FtpError::UnexpectedResponse(response) => match response.status {
            Status::ExceededStorage | Status::RequestedActionNotTaken => StorageFailure::Full,
            Status::ActionAborted => StorageFailure::NotStored(reply_text(&response)),
            Status::FileUnavailable | Status::BadFilename | Status::StoringNeedAccount => {
                StorageFailure::LoginPermission(reply_text(&response))
            }
            _ => {
                let text = String::from_utf8_lossy(&response.body);
                StorageFailure::Answer {
                    status: text.chars().take_while(char::is_ascii_digit).collect(),
                    text: reply_text(&response),
                }
            }
        },
        FtpError::ConnectionError(error) => lost(&error),
        FtpError::SecureError(sentence) => StorageFailure::Other(sentence),
        error => StorageFailure::Other(format!("the server does not speak FTP as expected: {error}")),
    }
}

fn lost(error: &io::Error) -> StorageFailure {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => StorageFailure::Lost("the server closed it".to_owned()),
        _ => StorageFailure::Lost(error.to_string()),
    }
}
