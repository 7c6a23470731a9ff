//! The `[publish]` table.

use core::str::FromStr;
use core::time::Duration;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer};

use super::server_folder::ServerFolder;
use crate::outputs::shared::proxies::Proxies;
use crate::settings::{delay, path};

/// Targets and options of the broadcast.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publish {
    /// The targets of the files.
    #[serde(default, deserialize_with = "one_or_more")]
    pub to: Vec<Target>,
    /// The address at which the files are served over HTTP; `None` to not serve them.
    #[serde(default, deserialize_with = "address")]
    pub listen: Option<SocketAddr>,
    /// Addresses of proxies, whose headers about their clients are believed.
    #[serde(default)]
    pub proxies: Proxies,
    /// Whether the files include the web page.
    #[serde(default = "yes")]
    pub page: bool,
    /// The public address of the page, without a trailing slash; `None` if links have no preview.
    #[serde(default, deserialize_with = "page_address")]
    pub address: Option<String>,
    /// Delay of moves, at most two hours; `None` for the delay of the MQTT topics for spectators.
    #[serde(default, deserialize_with = "delay")]
    pub delay: Option<Duration>,
    /// The server of buckets, if not Amazon's, as in `https://s3.example`.
    pub s3_endpoint: Option<String>,
    /// The region of the bucket.
    pub s3_region: Option<String>,
    /// A file with the bucket's access key in the first line and the secret key in the second.
    #[serde(default, deserialize_with = "path")]
    pub s3_key_file: Option<PathBuf>,
    /// A file with the user of the WebDAV server in the first line and the password in the second.
    #[serde(default, deserialize_with = "path")]
    pub webdav_login_file: Option<PathBuf>,
    /// A file with the user of the FTP server in the first line and the password in the second.
    #[serde(default, deserialize_with = "path")]
    pub ftp_login_file: Option<PathBuf>,
    /// PEM file with the CAs that may sign the certificate of the FTP server; `None` for the system's trusted CAs.
    #[serde(default, deserialize_with = "path")]
    pub ca_file: Option<PathBuf>,
    /// A file with the user of the SFTP server in the first line and the password in the second.
    #[serde(default, deserialize_with = "path")]
    pub sftp_login_file: Option<PathBuf>,
    /// A file with a private SSH key for the SFTP server.
    #[serde(default, deserialize_with = "path")]
    pub sftp_key_file: Option<PathBuf>,
    /// The fingerprints of the SFTP servers' host keys, as in `SHA256:...`.
    #[serde(default, deserialize_with = "one_or_more")]
    pub sftp_host_key: Vec<Fingerprint>,
}

/// A destination of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// An absolute path of a folder on this computer.
    Folder(PathBuf),
    /// A bucket of an S3 server.
    Bucket {
        /// The name of the bucket.
        name: String,
        /// The folder in the bucket, without leading or trailing slash; may be empty.
        folder: String,
    },
    /// The URL of a folder on a WebDAV server.
    WebDav(String),
    /// A folder on an FTP or SFTP server.
    Server(ServerFolder),
}

/// The fingerprint of an SSH host key, as `ssh-keygen -l` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(pub String);

impl FromStr for Fingerprint {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A SHA-256 in base64 without padding.
        let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/');
        match text.trim_end_matches('=').strip_prefix("SHA256:") {
            Some(hash) if hash.len() == 43 && hash.chars().all(is_base64) => {
                Ok(Self(format!("SHA256:{hash}")))
            }
            _ => Err(
                "expected the fingerprint of a host key, which is SHA256: and 43 characters; without this setting, \
                 kiebitz logs the one that the server shows",
            ),
        }
    }
}

impl FromStr for Target {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_address = |rest: &str| !rest.is_empty() && !rest.starts_with('/');
        if text.starts_with('/') {
            return Ok(Self::Folder(text.into()));
        }
        match text.split_once("://") {
            Some(("s3", rest)) if is_address(rest) => {
                let (name, folder) = rest.split_once('/').unwrap_or((rest, ""));
                let folder = folder.trim_matches('/').to_owned();
                let name = name.to_owned();
                Ok(Self::Bucket { name, folder })
            }
            Some(("ftp" | "ftps" | "sftp", _)) => text.parse().map(Self::Server),
            Some(("http" | "https", rest)) if is_address(rest) && !rest.contains('@') => {
                Ok(Self::WebDav(text.trim_end_matches('/').to_owned()))
            }
            Some(("http" | "https", rest)) if rest.contains('@') => {
                Err("the address must not contain a login: write it to a file, and set `webdav_login_file`")
            }
            _ => Err(
                "expected a folder, as in \"/srv/chess/live\", a bucket, as in \"s3://bucket/folder\", or a \
                 folder of a server: WebDAV, as in \"https://dav.example/chess\", FTP, as in \
                 \"ftps://ftp.example/chess\", or SFTP, as in \"sftp://user@ssh.example/chess\"",
            ),
        }
    }
}

/// Formats the target as in the configuration.
impl core::fmt::Display for Target {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Folder(path) => path.display().fmt(f),
            Self::Bucket { name, folder } if folder.is_empty() => write!(f, "s3://{name}"),
            Self::Bucket { name, folder } => write!(f, "s3://{name}/{folder}"),
            Self::WebDav(url) => f.write_str(url),
            Self::Server(server) => server.fmt(f),
        }
    }
}

impl Publish {
    /// Creates settings that serve the files at an address, without targets.
    pub(crate) fn serving(address: SocketAddr) -> Self {
        Self {
            to: Vec::new(),
            listen: Some(address),
            proxies: Proxies::default(),
            page: true,
            address: None,
            delay: None,
            s3_endpoint: None,
            s3_region: None,
            s3_key_file: None,
            webdav_login_file: None,
            ftp_login_file: None,
            ca_file: None,
            sftp_login_file: None,
            sftp_key_file: None,
            sftp_host_key: Vec::new(),
        }
    }
}

fn one_or_more<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err = &'static str>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMore {
        One(String),
        More(Vec<String>),
    }
    let texts = match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(text) => vec![text],
        OneOrMore::More(texts) => texts,
    };
    let parsed = texts
        .iter()
        .map(|text| text.parse().map_err(serde::de::Error::custom));
    parsed.collect()
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let address = text
        .parse()
        .ok()
        .filter(|address: &SocketAddr| address.port() > 0);
    let message =
        "expected an address with a port, as in \"0.0.0.0:8080\" for everybody who can reach this computer";
    address.map(Some).ok_or_else(|| serde::de::Error::custom(message))
}

fn page_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    let is_address = rest.is_some_and(|rest| {
        let is_forbidden =
            |c: char| c.is_whitespace() || c.is_control() || matches!(c, '#' | '?' | '@' | '"' | '<' | '>');
        !rest.is_empty() && !rest.starts_with('/') && !rest.contains(is_forbidden)
    });
    let message =
        "expected the address at which spectators find the page, as in \"https://live.example/open\"";
    is_address
        .then(|| Some(text.trim_end_matches('/').to_owned()))
        .ok_or_else(|| serde::de::Error::custom(message))
}

const fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_the_page_is_an_http_url() {
        let address =
            |text: &str| toml::from_str::<Publish>(&format!("address = {text:?}")).map(|read| read.address);
        for text in ["https://live.example", "https://live.example/"] {
            assert_eq!(
                address(text).expect("an address").as_deref(),
                Some("https://live.example")
            );
        }
        for text in [
            "",
            "live.example",
            "https://",
            "https:///open",
            "https://live.example/?a",
            "https://a b",
        ] {
            assert!(address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_target_is_a_folder_a_bucket_or_a_server() {
        let bucket = |name: &str, folder: &str| Target::Bucket {
            name: name.to_owned(),
            folder: folder.to_owned(),
        };
        for (text, target) in [
            ("/srv/chess/live", Target::Folder("/srv/chess/live".into())),
            ("s3://chess", bucket("chess", "")),
            ("s3://chess/2026/open/", bucket("chess", "2026/open")),
            (
                "https://dav.example/a/",
                Target::WebDav("https://dav.example/a".to_owned()),
            ),
            (
                "sftp://club@ssh.example/live",
                Target::Server("sftp://club@ssh.example/live".parse().expect("a folder")),
            ),
        ] {
            assert_eq!(text.parse(), Ok(target), "{text}");
        }
        for text in [
            "",
            "live",
            "s3:///a",
            "ssh://a/b",
            "ftp://me:secret@ftp.example/",
            "https://",
            "https://me:secret@dav.example/",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_fingerprint_has_the_format_of_openssh() {
        let hash = "0cLhazrdCUAUBMkKofLmV1VvgzuISX+fvlkJiQ9b4gU";
        let shown = format!("SHA256:{hash}");
        for text in [shown.clone(), format!("{shown}=")] {
            assert_eq!(text.parse(), Ok(Fingerprint(shown.clone())));
        }
        for text in [
            "",
            hash,
            "SHA256:",
            "MD5:aa:bb",
            &shown[..40],
            &format!("{shown} root@host"),
        ] {
            assert!(text.parse::<Fingerprint>().is_err(), "{text}");
        }
    }
}
