//! As whom kiebitz logs in at the broker, and where the password is.

use core::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::text_file;

/// A user, and where the password is.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct BrokerLogin {
    pub(crate) user: String,
    pub(crate) password: Password,
}

/// Where a password is.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Password {
    /// Here.
    Given(String),
    /// In the first line of this file.
    File(PathBuf),
    /// In the first line of systemd's credential `mqtt-password`. If there is none, the user has no password.
    Credential,
}

/// Why there is no password.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoginError {
    #[error("cannot read the broker's password from {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("there is no password in the first line of {}", path.display())]
    Empty { path: PathBuf },
}

/// The name of systemd's credential.
const CREDENTIAL: &str = "mqtt-password";
/// No broker takes a longer one, in bytes; a wrong file may be endless.
const LONGEST: u64 = 65_536;

impl BrokerLogin {
    /// User and password. Files are read each time: a new password needs no restart.
    ///
    /// # Errors
    ///
    /// When there should be a password, and is none.
    pub(crate) fn read(&self) -> Result<(String, String), LoginError> {
        let credentials = std::env::var_os("CREDENTIALS_DIRECTORY");
        self.read_in(credentials.as_deref().map(Path::new))
    }

    /// The same with the directory of systemd's credentials.
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

    /// The file that kiebitz reads the password from, if it is one that was configured.
    pub(crate) fn password_file(&self) -> Option<&Path> {
        match &self.password {
            Password::File(path) => Some(path),
            Password::Given(_) | Password::Credential => None,
        }
    }
}

/// Without the password.
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

/// Whether everyone on this computer may read a file. Where that cannot be found out, they may not.
pub(crate) fn is_open_to_all(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let mode = std::fs::metadata(path).map(|metadata| metadata.permissions().mode());
        mode.is_ok_and(|mode| mode & 0o004 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
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
    fn file_without_a_password_is_told() {
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

    #[cfg(unix)]
    #[test]
    fn file_that_everyone_may_read_is_noticed() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("password");
        std::fs::write(&path, "secret").expect("room");
        for (mode, open) in [(0o600, false), (0o640, false), (0o644, true), (0o604, true)] {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, permissions).expect("the test's own file");
            assert_eq!(is_open_to_all(&path), open, "{mode:o}");
        }
        assert!(!is_open_to_all(&directory.path().join("none")));
    }
}
