//! The tables `[publish]` and `[lichess]`: where the broadcast goes.

use core::str::FromStr;
use core::time::Duration;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};

use super::document::{Absolute, Text, delay};

/// Where the files of the broadcast go.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publish {
    /// The places that get them.
    #[serde(default, deserialize_with = "one_or_more")]
    pub to: Vec<Target>,
    /// Where they are served over HTTP; `None`: nowhere.
    #[serde(default, deserialize_with = "address")]
    pub listen: Option<SocketAddr>,
    /// Whether the page that shows the games is among the files.
    #[serde(default = "yes")]
    pub page: bool,
    /// How much later than they happened moves are seen, at most two hours; `None`: as in the topics for spectators.
    #[serde(default, deserialize_with = "delay")]
    pub delay: Option<Duration>,
    /// The server of buckets other than Amazon's, as in `https://s3.example`.
    pub s3_endpoint: Option<String>,
    /// The region of the bucket.
    pub s3_region: Option<String>,
    /// The file with the bucket's access key in the first line and the secret key in the second.
    #[serde(default, deserialize_with = "super::document::path")]
    pub s3_key_file: Option<PathBuf>,
    /// The file with the user of the WebDAV server in the first line and the password in the second.
    #[serde(default, deserialize_with = "super::document::path")]
    pub webdav_login_file: Option<PathBuf>,
}

/// A place for files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A folder on this computer, absolute.
    Folder(PathBuf),
    /// A bucket, and the folder in it, which may be empty.
    Bucket {
        /// Its name.
        name: String,
        /// The folder, without slashes around it.
        folder: String,
    },
    /// A folder of a WebDAV server, by its address.
    WebDav(String),
}

/// Broadcasting on Lichess.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lichess {
    /// The file with the token in its first line; `None`: systemd's credential `lichess-token`.
    #[serde(default, deserialize_with = "super::document::path")]
    pub token_file: Option<PathBuf>,
    /// The id of the broadcast, of eight characters; `None`: one is created.
    #[serde(default, deserialize_with = "id")]
    pub broadcast: Option<String>,
    /// How much later than they happened moves are sent, at most two hours. Lichess can hold them back as well.
    #[serde(default, deserialize_with = "delay")]
    pub delay: Option<Duration>,
    /// The address of the server.
    #[serde(default = "lichess")]
    pub server: String,
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
            Some(("http" | "https", rest)) if is_address(rest) && !rest.contains('@') => {
                Ok(Self::WebDav(text.trim_end_matches('/').to_owned()))
            }
            Some(("http" | "https", rest)) if rest.contains('@') => {
                Err("the address must not contain a login: write it to a file, and set `webdav_login_file`")
            }
            _ => Err(
                "expected a folder, as in \"/srv/chess/live\", a bucket, as in \"s3://bucket/folder\", or a \
                 folder of a WebDAV server, as in \"https://dav.example/chess\"",
            ),
        }
    }
}

/// As it is written.
impl core::fmt::Display for Target {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Folder(path) => path.display().fmt(f),
            Self::Bucket { name, folder } if folder.is_empty() => write!(f, "s3://{name}"),
            Self::Bucket { name, folder } => write!(f, "s3://{name}/{folder}"),
            Self::WebDav(url) => f.write_str(url),
        }
    }
}

impl Publish {
    /// Serves the files at an address, and puts them nowhere.
    pub(crate) const fn serving(address: SocketAddr) -> Self {
        Self {
            to: Vec::new(),
            listen: Some(address),
            page: true,
            delay: None,
            s3_endpoint: None,
            s3_region: None,
            s3_key_file: None,
            webdav_login_file: None,
        }
    }

    /// The files with secrets that the table names.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Path> {
        [&self.s3_key_file, &self.webdav_login_file]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
    }
}

fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Target>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMore {
        One(String),
        More(Vec<String>),
    }
    let written = match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(target) => vec![target],
        OneOrMore::More(targets) => targets,
    };
    let read = written
        .iter()
        .map(|text| text.parse().map_err(serde::de::Error::custom));
    read.collect()
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let address = text
        .parse()
        .ok()
        .filter(|address: &SocketAddr| address.port() > 0);
    let wrong =
        "expected an address with a port, as in \"0.0.0.0:8080\" for everybody who can reach this computer";
    address.map(Some).ok_or_else(|| serde::de::Error::custom(wrong))
}

/// What Lichess calls a broadcast: letters and digits, which are in its address.
fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    // The whole address may be pasted.
    let id = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_id = id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let wrong =
        "expected the id of a broadcast, the last eight characters of its address, as in \"QYiOYnl1\"";
    is_id
        .then(|| Some(id.to_owned()))
        .ok_or_else(|| serde::de::Error::custom(wrong))
}

const fn yes() -> bool {
    true
}

fn lichess() -> String {
    "https://lichess.org".to_owned()
}

/// The files of pairings.
pub(super) fn paths<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    let paths = Vec::<Text<Absolute>>::deserialize(deserializer)?;
    Ok(paths.into_iter().map(|path| path.0.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_folder_a_bucket_or_a_server() {
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
        ] {
            assert_eq!(text.parse(), Ok(target), "{text}");
        }
        for text in [
            "",
            "live",
            "s3:///a",
            "ftp://a/b",
            "https://",
            "https://me:secret@dav.example/",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_broadcast_is_named_by_its_id_or_its_address() {
        let read = |value: &str| toml::from_str::<Lichess>(&format!("broadcast = \"{value}\""));
        for value in ["QYiOYnl1", "https://lichess.org/broadcast/open-2026/QYiOYnl1"] {
            let read = read(value).expect("an id");
            assert_eq!(read.broadcast.as_deref(), Some("QYiOYnl1"));
            assert_eq!(read.server, "https://lichess.org");
        }
        assert!(read("open-2026").is_err());
    }
}
