//! Addresses of folders on FTP and SFTP servers.

use core::fmt;
use core::str::FromStr;

/// A folder on an FTP or SFTP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFolder {
    /// The protocol.
    pub protocol: Protocol,
    /// The user in the address of an SFTP server.
    pub user: Option<String>,
    /// The host without brackets.
    pub host: String,
    /// The port; `None` for the default port of the protocol.
    pub port: Option<u16>,
    /// The path of the folder, without a trailing slash. Unless it begins with a slash, it is relative to the initial
    /// folder of the login. May be empty.
    pub folder: String,
}

/// A protocol of file servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// FTP without encryption.
    Ftp,
    /// FTP with explicit TLS: the client requests encryption after connecting.
    Ftps,
    /// Files over SSH.
    Sftp,
}

impl Protocol {
    const fn scheme(self) -> &'static str {
        match self {
            Self::Ftp => "ftp",
            Self::Ftps => "ftps",
            Self::Sftp => "sftp",
        }
    }
}

impl FromStr for ServerFolder {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected a folder on a server, as in \"ftps://ftp.example/chess\" or \
                                \"sftp://user@ssh.example/chess\"";
        let (scheme, rest) = text.split_once("://").ok_or(EXPECTED)?;
        let protocol = [Protocol::Ftp, Protocol::Ftps, Protocol::Sftp]
            .into_iter()
            .find(|protocol| protocol.scheme() == scheme)
            .ok_or(EXPECTED)?;
        if text.chars().any(char::is_control) {
            return Err("the address must not contain line breaks or other control characters");
        }
        let (authority, folder) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, address) = match authority.rsplit_once('@') {
            Some((user, address)) => (Some(user), address),
            None => (None, authority),
        };
        match (protocol, user) {
            (_, None) => {}
            (Protocol::Ftp | Protocol::Ftps, Some(_)) => {
                return Err(
                    "the address must not contain a login: write it to a file, and set `ftp_login_file`",
                );
            }
            (Protocol::Sftp, Some(user)) if user.contains(':') => {
                return Err(
                    "the address must not contain a password: write the user and the password to a file, and \
                            set `sftp_login_file`",
                );
            }
            (Protocol::Sftp, Some("")) => return Err(EXPECTED),
            (Protocol::Sftp, Some(_)) => {}
        }
        let (host, port) = match address.strip_prefix('[') {
            Some(inner) => {
                let (host, after) = inner.split_once(']').ok_or(EXPECTED)?;
                match after.strip_prefix(':') {
                    Some(port) => (host, Some(port)),
                    None if after.is_empty() => (host, None),
                    None => return Err(EXPECTED),
                }
            }
            None => match address.split_once(':') {
                Some((_, port)) if port.contains(':') => {
                    return Err("write an IPv6 address in brackets, as in \"ftp://[2001:db8::1]/chess\"");
                }
                Some((host, port)) => (host, Some(port)),
                None => (address, None),
            },
        };
        if host.is_empty() {
            return Err(EXPECTED);
        }
        let port = match port.map(str::parse) {
            None => None,
            Some(Ok(port @ 1..)) => Some(port),
            Some(_) => return Err("the port must be a number from 1 to 65535"),
        };
        let folder = match folder.trim_end_matches('/') {
            "" if folder.is_empty() => "",
            "" => "/",
            folder => folder,
        };
        Ok(Self {
            protocol,
            user: user.map(str::to_owned),
            host: host.to_owned(),
            port,
            folder: folder.to_owned(),
        })
    }
}

/// Formats the address as in the configuration.
impl fmt::Display for ServerFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.protocol.scheme())?;
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        match self.host.contains(':') {
            true => write!(f, "[{}]", self.host)?,
            false => f.write_str(&self.host)?,
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        match self.folder.is_empty() {
            true => Ok(()),
            false => write!(f, "/{}", self.folder),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_protocol_host_and_folder() {
        let read = |text: &str| text.parse::<ServerFolder>().expect("an address");
        let folder = read("ftps://ftp.example:2121/chess/2026/");
        assert_eq!(
            (folder.protocol, folder.port, &*folder.folder),
            (Protocol::Ftps, Some(2121), "chess/2026")
        );
        let absolute = read("sftp://club@[2001:db8::1]//srv/chess");
        assert_eq!(
            (absolute.user.as_deref(), &*absolute.host),
            (Some("club"), "2001:db8::1")
        );
        assert_eq!((absolute.port, &*absolute.folder), (None, "/srv/chess"));
        assert_eq!(read("sftp://ssh.example//").folder, "/");
        for text in [
            "ftp://ftp.example",
            "ftps://ftp.example:2121/chess/2026",
            "sftp://club@[2001:db8::1]//srv/chess",
            "sftp://ssh.example//",
        ] {
            assert_eq!(read(text).to_string(), text);
        }
    }

    #[test]
    fn a_wrong_address_is_answered_with_the_right_form() {
        for (text, word) in [
            ("ftp://", "expected a folder"),
            ("ftp:///chess", "expected a folder"),
            ("ssh://host/chess", "expected a folder"),
            ("ftp://me:secret@ftp.example/chess", "`ftp_login_file`"),
            ("sftp://me:secret@ssh.example/chess", "`sftp_login_file`"),
            ("sftp://@ssh.example/chess", "expected a folder"),
            ("ftp://2001:db8::1/chess", "in brackets"),
            ("ftp://[2001:db8::1/chess", "expected a folder"),
            ("ftp://ftp.example:0/chess", "the port"),
            ("ftp://ftp.example:ftp/chess", "the port"),
            ("ftp://ftp.example/a\r\nDELE b", "control characters"),
        ] {
            let error = text.parse::<ServerFolder>().expect_err("not an address");
            assert!(
                error.contains(word) && !error.contains("secret"),
                "{text}: {error}"
            );
        }
    }
}
