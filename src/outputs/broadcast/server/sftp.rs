//! SFTP: files over SSH (version 3 of the protocol, as OpenSSH has it).

use core::fmt;
use core::time::Duration;
use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use russh::client::{self, AuthResult, Handle, KeyboardInteractiveAuthResponse};
use russh::keys::{
    Algorithm, EcdsaCurve, HashAlg, PrivateKey, PrivateKeyWithHashAlg, PublicKeyOrCertificate,
};
use russh::{AlgorithmKind, MethodKind, Preferred};
use russh_sftp::client::RawSftpSession;
use russh_sftp::client::error::Error as SftpError;
use russh_sftp::extensions::HardlinkExtension;
use russh_sftp::protocol::{FileAttributes, OpenFlags, Packet, Status, StatusCode};
use tokio::net::TcpStream;

use super::{MAX_READ, add_listed, folders_above, partial_path};
use crate::outputs::broadcast::opened::{Listing, MAX_LISTED_BYTES};
use crate::outputs::broadcast::server_folder::ServerFolder;
use crate::outputs::broadcast::settings::{Fingerprint, Publish};
use crate::outputs::broadcast::storage_failure::StorageFailure;
use crate::outputs::broadcast::store::two_lines;
use crate::outputs::shared::answers::shortened;
use crate::text_file;

pub(super) struct Session {
    files: RawSftpSession,
    /// The SSH connection, which ends when this is dropped.
    connection: Handle<HostKeyCheck>,
    /// Whether the server supports [`POSIX_RENAME`].
    has_posix_rename: bool,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

/// Checks the host key of the server.
struct HostKeyCheck {
    accepted: Vec<Fingerprint>,
    /// Fingerprint of the server's key, once it is received.
    received: Arc<OnceLock<String>>,
}

impl client::Handler for HostKeyCheck {
    type Error = russh::Error;

    async fn check_server_key(&mut self, key: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        let fingerprint = key.public_key().fingerprint(HashAlg::Sha256).to_string();
        let is_accepted = self.accepted.iter().any(|accepted| accepted.0 == fingerprint);
        let _ = self.received.set(fingerprint);
        Ok(is_accepted)
    }
}

/// The setting that names the file with user and password.
const LOGIN_FILE: &str = "sftp_login_file";
/// The setting that names the private key.
const KEY_FILE: &str = "sftp_key_file";
/// Extension that renames a file over an existing one. The request has the same fields as that for a hard link.
const POSIX_RENAME: &str = "posix-rename@openssh.com";
/// Size of the content of a write request, in bytes. Every server must accept packets of 34000 bytes.
const CHUNK: usize = 32 * 1024;
/// Time without any packet after which a connection is closed. Without this timeout, russh's task for a server that
/// stalls during the key exchange would never end. A connection in use has packets more often, because the files are
/// checked regularly.
const INACTIVITY_TIMEOUT: Duration = Duration::from_secs(120);
/// Algorithms of host keys, the most preferred first.
const HOST_KEYS: &[Algorithm] = &[
    Algorithm::Ed25519,
    Algorithm::Ecdsa {
        curve: EcdsaCurve::NistP256,
    },
    Algorithm::Ecdsa {
        curve: EcdsaCurve::NistP384,
    },
    Algorithm::Ecdsa {
        curve: EcdsaCurve::NistP521,
    },
];

/// The user with password or key, and the host keys to trust.
pub(super) struct Login {
    user: String,
    key: Option<PrivateKey>,
    password: Option<String>,
    host_keys: Vec<Fingerprint>,
}

/// Omits password and key.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").finish_non_exhaustive()
    }
}

impl Login {
    /// Reads the files of the configuration.
    pub(super) fn read(remote: &ServerFolder, settings: &Publish) -> Result<Self, StorageFailure> {
        let login = match &settings.sftp_login_file {
            Some(file) => Some(two_lines(file).map_err(|error| StorageFailure::Other(format!("{error:#}")))?),
            None => None,
        };
        let key = settings.sftp_key_file.as_deref().map(read_key).transpose()?;
        if login.is_none() && key.is_none() {
            return Err(StorageFailure::NoSshLogin);
        }
        let user = remote
            .user
            .as_ref()
            .or_else(|| login.as_ref().map(|(user, _)| user));
        let user = user.cloned().ok_or(StorageFailure::NoSshUser)?;
        Ok(Self {
            user,
            key,
            password: login.map(|(_, password)| password),
            host_keys: settings.sftp_host_key.clone(),
        })
    }
}

impl Session {
    pub(super) async fn open(stream: TcpStream, login: &Login) -> Result<Self, StorageFailure> {
        let mut connection = connect(stream, &login.host_keys, INACTIVITY_TIMEOUT).await?;
        log_in(
            &mut connection,
            &login.user,
            login.key.clone(),
            login.password.clone(),
        )
        .await?;
        let channel = connection
            .channel_open_session()
            .await
            .map_err(|error| ssh_failure(&error))?;
        channel
            .request_subsystem(true, "sftp")
            .await
            .map_err(|error| ssh_failure(&error))?;
        let files = RawSftpSession::new(channel.into_stream());
        let version = files.init().await.map_err(|_| StorageFailure::NoSftp)?;
        Ok(Self {
            files,
            connection,
            has_posix_rename: version.extensions.contains_key(POSIX_RENAME),
        })
    }

    pub(super) async fn is_alive(&mut self) -> bool {
        !self.connection.is_closed() && self.files.realpath(".").await.is_ok()
    }

    pub(super) async fn put(&mut self, path: &str, content: &[u8]) -> Result<(), StorageFailure> {
        let part = partial_path(path);
        match self.upload(&part, content).await {
            Ok(()) => {}
            // The generic code, for failures that have no code of their own, such as a full disk.
            Err(SftpError::Status(status)) if status.status_code == StatusCode::Failure => {
                let is_full = self.is_full(&part).await;
                // Delete the partial file, which takes up space.
                let _ = self.files.remove(&*part).await;
                return Err(if is_full {
                    StorageFailure::Full
                } else {
                    StorageFailure::NotStored(status_message(&status))
                });
            }
            Err(error) => return Err(failure(error)),
        }
        self.rename(&part, path).await.map_err(failure)
    }

    async fn upload(&mut self, path: &str, content: &[u8]) -> Result<(), SftpError> {
        let flags = OpenFlags::CREATE | OpenFlags::TRUNCATE | OpenFlags::WRITE;
        let opened = match self.files.open(path, flags, FileAttributes::empty()).await {
            Err(SftpError::Status(status)) if status.status_code == StatusCode::NoSuchFile => {
                for folder in folders_above(path) {
                    // The folder usually exists already. If it is still missing, opening the file fails.
                    match self.files.mkdir(folder, FileAttributes::empty()).await {
                        Ok(_) | Err(SftpError::Status(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
                self.files.open(path, flags, FileAttributes::empty()).await?
            }
            opened => opened?,
        };
        let mut offset = 0;
        for chunk in content.chunks(CHUNK) {
            self.files.write(&*opened.handle, offset, chunk.to_vec()).await?;
            offset += CHUNK as u64;
        }
        self.files.close(opened.handle).await?;
        Ok(())
    }

    async fn rename(&mut self, from: &str, to: &str) -> Result<(), SftpError> {
        if self.has_posix_rename {
            let paths = HardlinkExtension {
                oldpath: from.to_owned(),
                newpath: to.to_owned(),
            };
            return match self.files.extended(POSIX_RENAME, paths.try_into()?).await? {
                Packet::Status(status) if status.status_code == StatusCode::Ok => Ok(()),
                Packet::Status(status) => Err(status.into()),
                _ => Err(SftpError::UnexpectedPacket),
            };
        }
        match self.files.rename(from, to).await {
            Err(SftpError::Status(_)) if self.try_has(to).await? => {
                self.files.remove(to).await?;
                self.files.rename(from, to).await.map(drop)
            }
            renamed => renamed.map(drop),
        }
    }

    /// Asks the server whether its disk is full, since the status of a failed write does not show it.
    async fn is_full(&mut self, path: &str) -> bool {
        let space = self.files.statvfs(path).await;
        space.is_ok_and(|space| space.blocks_avail == 0 || (space.inodes > 0 && space.inodes_avail == 0))
    }

    pub(super) async fn get(&mut self, path: &str) -> Result<Vec<u8>, StorageFailure> {
        self.try_get(path).await.map_err(failure)
    }

    async fn try_get(&mut self, path: &str) -> Result<Vec<u8>, SftpError> {
        let opened = self
            .files
            .open(path, OpenFlags::READ, FileAttributes::empty())
            .await?;
        let mut content = Vec::new();
        while content.len() < MAX_READ {
            match self
                .files
                .read(&*opened.handle, content.len() as u64, CHUNK as u32)
                .await
            {
                Ok(data) if data.data.is_empty() => break,
                Ok(data) => content.extend(data.data),
                Err(SftpError::Status(status)) if status.status_code == StatusCode::Eof => break,
                Err(error) => return Err(error),
            }
        }
        self.files.close(opened.handle).await?;
        Ok(content)
    }

    pub(super) async fn delete(&mut self, path: &str) -> Result<(), StorageFailure> {
        match self.files.remove(path).await {
            Ok(_) => Ok(()),
            Err(SftpError::Status(status)) if status.status_code == StatusCode::NoSuchFile => Ok(()),
            Err(error) => Err(failure(error)),
        }
    }

    pub(super) async fn list(&mut self, folder: &str) -> Result<Listing, StorageFailure> {
        list(&self.files, folder).await
    }

    pub(super) async fn has(&mut self, path: &str) -> Result<bool, StorageFailure> {
        self.try_has(path).await.map_err(failure)
    }

    async fn try_has(&mut self, path: &str) -> Result<bool, SftpError> {
        match self.files.stat(path).await {
            Ok(_) => Ok(true),
            Err(SftpError::Status(status)) if status.status_code == StatusCode::NoSuchFile => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Lists the files in a folder by name.
async fn list(files: &RawSftpSession, folder: &str) -> Result<Listing, StorageFailure> {
    let folder = if folder.is_empty() { "." } else { folder };
    let opened = files.opendir(folder).await.map_err(failure)?;
    let (mut listing, mut bytes) = (Listing::new(), 0);
    loop {
        match files.readdir(&*opened.handle).await {
            Ok(listed) if listed.files.is_empty() => break,
            Ok(listed) => {
                for file in listed.files {
                    bytes += file.filename.len();
                    if bytes > MAX_LISTED_BYTES {
                        return Err(StorageFailure::ListTooLong);
                    }
                    add_listed(&mut listing, file.filename, file.attrs.size)?;
                }
            }
            Err(SftpError::Status(status)) if status.status_code == StatusCode::Eof => break,
            Err(error) => return Err(failure(error)),
        }
    }
    files.close(opened.handle).await.map_err(failure)?;
    Ok(listing)
}

/// Connects to a server whose host key has one of the fingerprints. The connection ends after the time `inactivity`
/// without any packet.
async fn connect(
    stream: TcpStream,
    accepted: &[Fingerprint],
    inactivity: Duration,
) -> Result<Handle<HostKeyCheck>, StorageFailure> {
    let config = client::Config {
        preferred: Preferred {
            key: Cow::Borrowed(HOST_KEYS),
            ..Preferred::DEFAULT
        },
        nodelay: true,
        inactivity_timeout: Some(inactivity),
        ..client::Config::default()
    };
    let received = Arc::new(OnceLock::new());
    let host_key = HostKeyCheck {
        accepted: accepted.to_owned(),
        received: Arc::clone(&received),
    };
    let connected = client::connect_stream(Arc::new(config), stream, host_key).await;
    connected.map_err(|error| match (error, received.get()) {
        (russh::Error::UnknownKey, Some(fingerprint)) if accepted.is_empty() => {
            StorageFailure::UnknownHostKey(fingerprint.clone())
        }
        (russh::Error::UnknownKey, Some(fingerprint)) => StorageFailure::OtherHostKey(fingerprint.clone()),
        (error, _) => ssh_failure(&error),
    })
}

async fn log_in(
    connection: &mut Handle<HostKeyCheck>,
    user: &str,
    key: Option<PrivateKey>,
    password: Option<String>,
) -> Result<(), StorageFailure> {
    let setting = if password.is_some() { LOGIN_FILE } else { KEY_FILE };
    if let Some(key) = key {
        let key = PrivateKeyWithHashAlg::new(Arc::new(key), None);
        let result = connection.authenticate_publickey(user, key).await;
        if result.map_err(|error| ssh_failure(&error))?.success() {
            return Ok(());
        }
    }
    if let Some(password) = password {
        let result = connection.authenticate_password(user, &*password).await;
        match result.map_err(|error| ssh_failure(&error))? {
            AuthResult::Success => return Ok(()),
            AuthResult::Failure {
                remaining_methods, ..
            } if remaining_methods.contains(&MethodKind::KeyboardInteractive)
                && !remaining_methods.contains(&MethodKind::Password) =>
            {
                if answer_prompts(connection, user, &password)
                    .await
                    .map_err(|error| ssh_failure(&error))?
                {
                    return Ok(());
                }
            }
            AuthResult::Failure { .. } => {}
        }
    }
    Err(StorageFailure::Login { setting, text: None })
}

/// Answers all prompts of the server with the password, since some servers accept it only in this way. Returns whether
/// the login succeeds.
async fn answer_prompts(
    connection: &mut Handle<HostKeyCheck>,
    user: &str,
    password: &str,
) -> Result<bool, russh::Error> {
    const MAX_ROUNDS: usize = 3;
    let mut answer = connection
        .authenticate_keyboard_interactive_start(user, None)
        .await?;
    for _ in 0..MAX_ROUNDS {
        match answer {
            KeyboardInteractiveAuthResponse::Success => return Ok(true),
            KeyboardInteractiveAuthResponse::Failure { .. } => return Ok(false),
            KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } => {
                let answers = prompts.iter().map(|_| password.to_owned()).collect();
                answer = connection
                    .authenticate_keyboard_interactive_respond(answers)
                    .await?;
            }
        }
    }
    Ok(matches!(answer, KeyboardInteractiveAuthResponse::Success))
}

fn read_key(path: &Path) -> Result<PrivateKey, StorageFailure> {
    let problem = |reason: String| StorageFailure::SshKey {
        path: path.to_owned(),
        reason,
    };
    let text = text_file::read(path).map_err(|error| problem(error.to_string()))?;
    let key = russh::keys::decode_secret_key(&text, None).map_err(|error| match error {
        russh::keys::Error::KeyIsEncrypted => problem(
            "it has a passphrase, which kiebitz cannot ask for; remove it with `ssh-keygen -p`".to_owned(),
        ),
        error => problem(format!(
            "{error}; it must be a private key of OpenSSH, as `ssh-keygen -t ed25519` makes one"
        )),
    })?;
    match key.algorithm() {
        Algorithm::Ed25519 | Algorithm::Ecdsa { .. } => Ok(key),
        other => Err(problem(format!(
            "kiebitz does not support {other}; make another key with `ssh-keygen -t ed25519`"
        ))),
    }
}

/// Reports a missing setting.
pub(super) fn missing_setting(remote: &ServerFolder, settings: &Publish) -> Option<StorageFailure> {
    match (&settings.sftp_login_file, &settings.sftp_key_file) {
        (None, None) => Some(StorageFailure::NoSshLogin),
        (None, Some(_)) if remote.user.is_none() => Some(StorageFailure::NoSshUser),
        _ if settings.sftp_host_key.is_empty() => Some(StorageFailure::NoHostKey),
        _ => None,
    }
}

/// Checks a key file. Returns the problem; `None` if the key can be used.
pub(super) fn key_problem(path: &Path) -> Option<String> {
    read_key(path).err().map(|failure| failure.to_string())
}

/// Whether an algorithm of host keys is RSA, such as "rsa-sha2-512" or "ssh-rsa". russh can support it only with the
/// crate rsa, which has a known vulnerability (RUSTSEC-2023-0071).
fn is_rsa(algorithm: &str) -> bool {
    algorithm.starts_with("rsa-") || algorithm.starts_with("ssh-rsa")
}

fn ssh_failure(error: &russh::Error) -> StorageFailure {
    match error {
        russh::Error::NoCommonAlgo {
            kind: AlgorithmKind::Key,
            theirs,
            ..
        } if theirs.iter().all(|algorithm| is_rsa(algorithm)) => StorageFailure::RsaHostKey,
        russh::Error::NoCommonAlgo { kind, theirs, .. } => StorageFailure::NoCommonAlgorithm {
            kind: format!("{kind:?}"),
            theirs: theirs.join(", "),
        },
        russh::Error::Disconnect | russh::Error::HUP | russh::Error::SendError | russh::Error::RecvError => {
            StorageFailure::Lost("the server closed it".to_owned())
        }
        error => StorageFailure::Lost(error.to_string()),
    }
}

/// Returns the message of the server, unless it only repeats the code.
fn status_message(status: &Status) -> Option<String> {
    let words = shortened(&status.error_message);
    let words = words.trim_end_matches('.');
    (!words.is_empty() && words != status.status_code.to_string()).then(|| words.to_owned())
}

fn failure(error: SftpError) -> StorageFailure {
    match error {
        SftpError::Status(status) => match status.status_code {
            StatusCode::PermissionDenied => StorageFailure::LoginPermission(None),
            code => StorageFailure::Answer {
                status: code.to_string(),
                text: status_message(&status),
            },
        },
        SftpError::Timeout => StorageFailure::Lost("the server does not answer".to_owned()),
        error => StorageFailure::Lost(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use russh::server::{self, Auth, Response};
    use russh::{Error, MethodSet};
    use russh_sftp::protocol::{File, Handle as FolderHandle, Name, Version};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    const FINGERPRINT: &str = "SHA256:0odfdEQMFxBmigsQg1pLP2SXkdGOMcnmFkYC0RQwWCM";

    /// A server that accepts a password only as the answer to a prompt.
    struct PromptingServer;

    impl server::Handler for PromptingServer {
        type Error = Error;

        async fn auth_password(&mut self, _: &str, _: &str) -> Result<Auth, Error> {
            Ok(Auth::Reject {
                proceed_with_methods: Some(MethodSet::from(&[MethodKind::KeyboardInteractive][..])),
                partial_success: false,
            })
        }

        async fn auth_keyboard_interactive<'a>(
            &'a mut self,
            _: &str,
            _: &str,
            response: Option<Response<'a>>,
        ) -> Result<Auth, Error> {
            let answers = response.map(|response| response.collect::<Vec<_>>());
            Ok(match answers.as_deref() {
                None => Auth::Partial {
                    name: "".into(),
                    instructions: "".into(),
                    prompts: vec![("Password: ".into(), false)].into(),
                },
                Some([answer]) if answer == "open-sesame" => Auth::Accept,
                Some(_) => Auth::reject(),
            })
        }
    }

    /// Connects to a new server, and accepts these fingerprints.
    async fn connected(accepted: &[&str]) -> Result<Handle<HostKeyCheck>, StorageFailure> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let key = russh::keys::decode_secret_key(include_str!("keys/plain.key"), None).expect("a key");
        let config = server::Config {
            auth_rejection_time: Duration::ZERO,
            keys: vec![key],
            ..server::Config::default()
        };
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.expect("a client");
            if let Ok(session) = server::run_stream(Arc::new(config), stream, PromptingServer).await {
                let _ = session.await;
            }
        });
        let accepted: Vec<Fingerprint> = accepted
            .iter()
            .map(|text| text.parse().expect("a fingerprint"))
            .collect();
        let stream = TcpStream::connect(address).await.expect("a server");
        connect(stream, &accepted, INACTIVITY_TIMEOUT).await
    }

    #[tokio::test]
    async fn a_server_is_trusted_only_if_its_key_is_configured() {
        let other = "SHA256:0cLhazrdCUAUBMkKofLmV1VvgzuISX+fvlkJiQ9b4gU";
        let unknown = connected(&[]).await.err().expect("no key is configured");
        assert_eq!(unknown, StorageFailure::UnknownHostKey(FINGERPRINT.to_owned()));
        let sentence = unknown.to_string();
        assert!(
            sentence.contains(&format!("write `sftp_host_key = \"{FINGERPRINT}\"` under")),
            "{sentence}"
        );
        let wrong = connected(&[other])
            .await
            .err()
            .expect("another key is configured");
        assert_eq!(wrong, StorageFailure::OtherHostKey(FINGERPRINT.to_owned()));
        assert!(connected(&[other, FINGERPRINT]).await.is_ok());
    }

    #[tokio::test]
    async fn a_connection_to_a_server_that_stalls_in_the_key_exchange_is_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let client = TcpStream::connect(address).await.expect("a server");
        let connecting =
            tokio::spawn(async move { connect(client, &[], Duration::from_millis(100)).await.is_ok() });
        let (mut server, _) = listener.accept().await.expect("a client");
        server.write_all(b"SSH-2.0-stalling\r\n").await.expect("sent");
        // The identification of the client, and then the first bytes of its key exchange.
        let mut received = Vec::new();
        let has_both = |received: &[u8]| {
            let end = received.iter().position(|byte| *byte == b'\n');
            end.is_some_and(|end| end + 1 < received.len())
        };
        while !has_both(&received) {
            let read = server.read_buf(&mut received).await;
            assert!(matches!(read, Ok(1..)), "{read:?}");
        }
        connecting.abort();
        let closed = tokio::time::timeout(Duration::from_secs(60), async {
            while matches!(server.read(&mut [0; 4096]).await, Ok(1..)) {}
        });
        closed.await.expect("the connection is closed");
    }

    #[tokio::test]
    async fn a_server_that_asks_for_the_password_gets_it() {
        for (password, is_right) in [("open-sesame", true), ("wrong", false)] {
            let mut connection = connected(&[FINGERPRINT]).await.expect("a connection");
            let login = log_in(&mut connection, "club", None, Some(password.to_owned())).await;
            let expected = StorageFailure::Login {
                setting: LOGIN_FILE,
                text: None,
            };
            assert_eq!(login, if is_right { Ok(()) } else { Err(expected) });
        }
    }

    /// A server with one folder.
    struct FolderServer {
        /// Names of the files in the folder; without end if `None`.
        names: Option<Vec<String>>,
        /// Minimum length of the names in a list without end.
        width: usize,
        /// Number of messages with names so far.
        sent: usize,
    }

    impl russh_sftp::server::Handler for FolderServer {
        type Error = StatusCode;

        fn unimplemented(&self) -> StatusCode {
            StatusCode::OpUnsupported
        }

        async fn init(&mut self, _: u32, _: HashMap<String, String>) -> Result<Version, StatusCode> {
            Ok(Version::new())
        }

        async fn opendir(&mut self, id: u32, _: String) -> Result<FolderHandle, StatusCode> {
            let handle = "folder".to_owned();
            Ok(FolderHandle { id, handle })
        }

        async fn readdir(&mut self, id: u32, _: String) -> Result<Name, StatusCode> {
            self.sent += 1;
            let names = match &self.names {
                None => (0..7)
                    .map(|file| format!("{:0>width$}", 7 * self.sent + file, width = self.width))
                    .collect(),
                Some(names) if self.sent == 1 => names.clone(),
                Some(_) => return Err(StatusCode::Eof),
            };
            let files = names.into_iter().map(File::dummy).collect();
            Ok(Name { id, files })
        }

        async fn close(&mut self, id: u32, _: String) -> Result<Status, StatusCode> {
            Ok(Status {
                id,
                status_code: StatusCode::Ok,
                error_message: String::new(),
                language_tag: String::new(),
            })
        }
    }

    #[tokio::test]
    async fn a_list_of_too_many_files_is_given_up() {
        let listed = async |names, width| {
            let (client, server) = tokio::io::duplex(1 << 16);
            let folder = FolderServer {
                names,
                width,
                sent: 0,
            };
            russh_sftp::server::run(server, folder).await;
            let files = RawSftpSession::new(client);
            files.init().await.expect("a session");
            let listed = list(&files, "").await;
            listed.map(|listing| listing.into_keys().collect::<Vec<_>>())
        };
        let few = vec!["game-1.pgn".to_owned(), "games.pgn".to_owned()];
        assert_eq!(listed(Some(few.clone()), 0).await, Ok(few));
        for width in [1, 30_000] {
            assert_eq!(
                listed(None, width).await,
                Err(StorageFailure::ListTooLong),
                "{width}"
            );
        }
    }

    #[test]
    fn a_server_with_rsa_keys_only_is_told_which_key_to_make() {
        let failure = |theirs: &[&str]| {
            ssh_failure(&Error::NoCommonAlgo {
                kind: AlgorithmKind::Key,
                ours: vec!["ssh-ed25519".to_owned()],
                theirs: theirs.iter().map(|name| (*name).to_owned()).collect(),
            })
        };
        let only_rsa = failure(&["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"]);
        assert_eq!(only_rsa, StorageFailure::RsaHostKey);
        assert!(
            only_rsa.to_string().contains("`ssh-keygen -t ed25519 "),
            "{only_rsa}"
        );
        assert!(matches!(
            failure(&["ssh-dss", "ssh-rsa"]),
            StorageFailure::NoCommonAlgorithm { .. }
        ));
    }
}
