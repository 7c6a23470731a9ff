//! User and password for the broker.

use core::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::text_file;

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct BrokerLogin {
    pub(crate) user: String,
    pub(crate) password: Password,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Password {
    /// In the URL.
    Given(String),
    /// In the first line of this file.
    File(PathBuf),
    /// In the first line of systemd's credential `mqtt-password`; empty if the credential does not exist.
    Credential,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum LoginError {
    #[error("cannot read the broker's password from {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("there is no password in the first line of {}", path.display())]
    Empty { path: PathBuf },
}

const CREDENTIAL: &str = "mqtt-password";
/// Maximum length of a password in bytes, which is also the limit of MQTT. Protects against endless files.
const LONGEST: u64 = 65_536;

impl BrokerLogin {
    /// Returns user and password. Files are read for each connection, so that a new password needs no restart.
    ///
    /// # Errors
    ///
    /// Fails if the password's file cannot be read or its first line is empty.
    pub(crate) fn read(&self) -> Result<(String, String), LoginError> {
        let credentials = std::env::var_os("CREDENTIALS_DIRECTORY");
        self.read_in(credentials.as_deref().map(Path::new))
    }

    /// Like [`read`](Self::read), for the given directory of systemd's credentials.
    fn read_in(&self, credentials: Option<&Path>) -> Result<(String, String), LoginError> {
        let password = match &self.password {
            Password::Given(password) => password.clone(),
            Password::File(path) => first_line(path)?,
            Password::Credential => match credentials.map(|directory| directory.join(CREDENTIAL)) {
                Some(path) if path.exists() => first_line(&path)?,
                _ => String::new(),
            },
        };
        Ok((self.user.clone(), password))
    }

    /// The configured password file, if any.
    pub(crate) fn password_file(&self) -> Option<&Path> {
        match &self.password {
            Password::File(path) => Some(path),
            Password::Given(_) | Password::Credential => None,
        }
    }
}

/// Omits the password.
impl fmt::Debug for BrokerLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut login = f.debug_struct("Login");
        login.field("user", &self.user);
        if let Some(path) = self.password_file() {
            login.field("password_file", &path);
        }
        login.finish_non_exhaustive()
    }
}

fn first_line(path: &Path) -> Result<String, LoginError> {
    let path_of = || path.to_owned();
    let password = text_file::read_first_line(path, LONGEST).map_err(|source| LoginError::Unreadable {
        path: path_of(),
        source,
    })?;
    match password.is_empty() {
        true => Err(LoginError::Empty { path: path_of() }),
        false => Ok(password),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(password: Password) -> BrokerLogin {
        let user = "club".to_owned();
        BrokerLogin { user, password }
    }

    fn password_of(content: &[u8]) -> Result<String, String> {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("password");
        std::fs::write(&path, content).expect("room");
        let read = login(Password::File(path)).read_in(None);
        read.map(|(_, password)| password)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn password_is_the_first_line_of_its_file() {
        assert_eq!(password_of(b"secret"), Ok("secret".to_owned()));
        assert_eq!(password_of(b"secret\n"), Ok("secret".to_owned()));
        assert_eq!(password_of(b" sec ret \r\nmore\n"), Ok(" sec ret ".to_owned()));
    }

    #[test]
    fn file_without_a_password_is_an_error() {
        for content in ["", "\n", "\r\nsecret\n"] {
            let error = password_of(content.as_bytes()).expect_err("no password");
            assert!(
                error.starts_with("there is no password in the first line of "),
                "{error}"
            );
        }
        let error = password_of(b"s\xffecret\n").expect_err("no text");
        assert!(
            error.contains("cannot read") && !error.contains("ecret"),
            "{error}"
        );
        let missing = login(Password::File("/nonexistent/password".into()));
        let error = missing.read_in(None).expect_err("no file").to_string();
        assert!(
            error.starts_with("cannot read the broker's password from /nonexistent/password: "),
            "{error}"
        );
    }

    #[test]
    fn credential_of_systemd_is_found() {
        let directory = tempfile::tempdir().expect("a directory");
        let credential = login(Password::Credential);
        let read = |directory| credential.read_in(directory).expect("readable").1;
        assert_eq!(read(Some(directory.path())), "");
        std::fs::write(directory.path().join(CREDENTIAL), "secret\n").expect("room");
        assert_eq!(read(Some(directory.path())), "secret");
        assert_eq!(read(None), "");
    }

    #[test]
    fn password_is_not_shown() {
        let shown = format!("{:?}", login(Password::Given("secret".to_owned())));
        assert!(shown.contains("club") && !shown.contains("secret"), "{shown}");
    }
}
