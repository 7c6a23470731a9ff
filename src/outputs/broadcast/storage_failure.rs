//! Errors of folders, buckets and servers, as one sentence each.

use core::error::Error;
use std::path::PathBuf;

use thiserror::Error;

use super::settings::Target;
use crate::outputs::shared::answers::shortened;

/// The reason why a target does not accept a file.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub(super) enum StorageFailure {
    #[error("the bucket {0} does not exist: create it, or correct `to` under [publish]")]
    NoBucket(String),
    #[error(
        "the folder does not exist, and the server did not create it: create {0}, or correct `to` under [publish]"
    )]
    NoFolder(String),
    #[error("there is no key for the bucket: write it to a file, and set `s3_key_file` under [publish]")]
    NoKey,
    #[error("the server rejects the key{}: correct the file `s3_key_file` under [publish]", reason(.0))]
    Key(ServerMessage),
    #[error("the key has no permission{}: allow it to list, read, write and delete the files of the bucket", reason(.0))]
    KeyPermission(ServerMessage),
    #[error("the bucket is in another region: set `s3_region` under [publish]")]
    Region,
    #[error("the server rejects the login{}: correct the file `{setting}` under [publish]", reason(.text))]
    Login {
        setting: &'static str,
        text: ServerMessage,
    },
    #[error("the login has no permission to change the folder{}: allow it on the server", reason(.0))]
    LoginPermission(ServerMessage),
    #[error("there is no login: write the user and the password to a file, and set `{0}` under [publish]")]
    NoLogin(&'static str),
    #[error(
        "there is no login: set `sftp_key_file` under [publish], or write the user and the password to a file, and set \
         `sftp_login_file`"
    )]
    NoSshLogin,
    #[error("there is no user: write it into the address in `to`, as in sftp://USER@ssh.example/chess")]
    NoSshUser,
    #[error("the key in {} cannot be used: {reason}", path.display())]
    SshKey { path: PathBuf, reason: String },
    #[error(
        "`sftp_host_key` is missing under [publish]: start kiebitz, which logs what the server shows and what to write"
    )]
    NoHostKey,
    #[error(
        "the server shows the host key {0}: check with its operator that this is the right one, and write \
         `sftp_host_key = \"{0}\"` under [publish]"
    )]
    UnknownHostKey(String),
    #[error(
        "the server shows the host key {0}, which is not in `sftp_host_key` under [publish]: ask its operator whether \
         the key has changed; if it has not, this is not the right server"
    )]
    OtherHostKey(String),
    #[error(
        "the server offers only algorithms that kiebitz does not have ({kind}: {theirs}): allow newer ones on the server"
    )]
    NoCommonAlgorithm { kind: String, theirs: String },
    #[error(
        "the server has only RSA host keys, which kiebitz does not support: make one more there with `ssh-keygen -t \
         ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key`, and restart its SSH server"
    )]
    RsaHostKey,
    #[error("the server has no SFTP for this login: enable it on the server")]
    NoSftp,
    #[error(
        "the server does not encrypt{}: use another server, or write ftp:// in `to` under [publish], which sends the \
         password unencrypted", reason(.0)
    )]
    NoEncryption(ServerMessage),
    #[error("cannot connect: {0}")]
    Unreachable(String),
    #[error("the connection is lost: {0}")]
    Lost(String),
    #[error("the server has no space left: delete files there")]
    Full,
    #[error("the server could not store the file{}: check that its disk has space left", reason(.0))]
    NotStored(ServerMessage),
    #[error("the server answered {status}{}", reason(.text))]
    Answer { status: String, text: ServerMessage },
    #[error(
        "the folder, or a file with a login or key, does not answer: check the disk or network share it is on"
    )]
    Hangs,
    #[error(
        "the folder contains too many files to list: publish to a folder without other files; until then, missing files \
         are not written again"
    )]
    ListTooLong,
    #[error("the server returned a larger file than was written")]
    TooLong,
    #[error("no answer")]
    NoAnswer,
    #[error("{0}")]
    Other(String),
}

/// The text of a server's error message; `None` if the server sent none.
type ServerMessage = Option<String>;

/// Prefix of object_store's message about an error status.
const STATUS: &str = "Server returned non-2xx status code: ";
/// Prefix of object_store's message about a redirect without an address, which Amazon sends if the region is wrong.
const REDIRECT: &str = "Received redirect without LOCATION";
/// Address of the metadata service on Amazon's own computers, which object_store asks for a key if none is configured.
const METADATA_SERVICE: &str = "169.254.169.254";

impl StorageFailure {
    /// Explains an error of object_store. Its own text contains the whole answer, usually XML.
    pub(super) fn of(error: &object_store::Error, target: &Target) -> Self {
        if error.to_string().contains(METADATA_SERVICE) {
            return Self::NoKey;
        }
        let mut root: &(dyn Error + 'static) = error;
        while let Some(source) = root.source() {
            root = source;
        }
        if let Some(failure) = root.downcast_ref::<Self>() {
            return failure.clone();
        }
        let root = root.to_string();
        if root.starts_with(REDIRECT) {
            return Self::Region;
        }
        match root.strip_prefix(STATUS) {
            Some(answer) => Self::of_answer(answer, target),
            None => Self::Other(shortened(&without_markup(&root))),
        }
    }

    /// Explains an answer, which consists of the status, a colon and the content.
    pub(super) fn of_answer(answer: &str, target: &Target) -> Self {
        let (status, content) = answer.split_once(": ").unwrap_or((answer, ""));
        let number = status.split(' ').next().unwrap_or_default();
        let code = element(content, "Code").unwrap_or_default();
        let text = ["Message", "s:message", "title"]
            .iter()
            .find_map(|name| element(content, name))
            .or_else(|| (!content.contains('<')).then_some(content))
            .map(|text| shortened(&without_markup(text)))
            .map(|text| text.trim_end_matches('.').to_owned())
            .filter(|text| !text.is_empty());
        match (target, number, code) {
            (Target::Bucket { name, .. }, _, "NoSuchBucket") => Self::NoBucket(name.clone()),
            (Target::Bucket { .. }, _, "PermanentRedirect" | "AuthorizationHeaderMalformed") => Self::Region,
            (Target::Bucket { .. }, "403", "AccessDenied" | "AllAccessDisabled") => Self::KeyPermission(text),
            (Target::Bucket { .. }, "401" | "403", _) => Self::Key(text),
            (Target::WebDav(url), "404" | "409", _) => Self::NoFolder(url.clone()),
            (Target::WebDav(_), "401", _) => Self::Login {
                setting: "webdav_login_file",
                text: None,
            },
            (Target::WebDav(_), "403", _) => Self::LoginPermission(None),
            (_, "507", _) => Self::Full,
            _ => Self::Answer {
                status: status.to_owned(),
                text,
            },
        }
    }
}

fn reason(text: &ServerMessage) -> String {
    text.as_ref()
        .map_or_else(String::new, |text| format!(" ({text})"))
}

/// Returns the content of the first element with this name in an XML or HTML text.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(content, _)| content)
}

/// Replaces tags by spaces, and resolves XML entities.
fn without_markup(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        plain.push_str(before);
        plain.push(' ');
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(plain, |plain, (entity, c)| plain.replace(entity, c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket() -> Target {
        "s3://chess/2026".parse().expect("a bucket")
    }

    fn webdav() -> Target {
        "https://dav.example/chess".parse().expect("a folder")
    }

    #[test]
    fn answers_of_servers_are_one_sentence_without_xml() {
        let xml = |code: &str, message: &str| {
            format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{message}</Message>\
                 <RequestId>4442587FB7D0A2F9</RequestId></Error>"
            )
        };
        let html =
            "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body></body>\r\n</html>".to_owned();
        let dav = "<d:error xmlns:d=\"DAV:\"><s:message>Quota &amp; more.</s:message></d:error>".to_owned();
        for (target, status, content, sentence) in [
            (
                bucket(),
                "404 Not Found",
                xml("NoSuchBucket", "The specified bucket does not exist"),
                "the bucket chess does not exist: create it, or correct `to` under [publish]",
            ),
            (
                bucket(),
                "403 Forbidden",
                xml(
                    "SignatureDoesNotMatch",
                    "The signature does not match.\n Check it.",
                ),
                "the server rejects the key (The signature does not match. Check it): correct the file `s3_key_file` \
                 under [publish]",
            ),
            (
                bucket(),
                "403 Forbidden",
                xml("AccessDenied", "Access Denied"),
                "the key has no permission (Access Denied): allow it to list, read, write and delete the files of \
                 the bucket",
            ),
            (
                bucket(),
                "301 Moved Permanently",
                xml("PermanentRedirect", "The bucket is elsewhere"),
                "the bucket is in another region: set `s3_region` under [publish]",
            ),
            (
                bucket(),
                "503 Service Unavailable",
                xml("SlowDown", "Reduce your &quot;request&quot; rate."),
                "the server answered 503 Service Unavailable (Reduce your \"request\" rate)",
            ),
            (
                bucket(),
                "503 Service Unavailable",
                String::new(),
                "the server answered 503 Service Unavailable",
            ),
            (
                webdav(),
                "409 Conflict",
                dav.clone(),
                "the folder does not exist, and the server did not create it: create https://dav.example/chess, or \
                 correct `to` under [publish]",
            ),
            (
                webdav(),
                "401 Unauthorized",
                html.clone(),
                "the server rejects the login: correct the file `webdav_login_file` under [publish]",
            ),
            (
                webdav(),
                "502 Bad Gateway",
                html,
                "the server answered 502 Bad Gateway (502 Bad Gateway)",
            ),
            (
                webdav(),
                "500 Internal Server Error",
                dav,
                "the server answered 500 Internal Server Error (Quota & more)",
            ),
            (
                webdav(),
                "507 Insufficient Storage",
                "<a".to_owned(),
                "the server has no space left: delete files there",
            ),
            (
                webdav(),
                "500 Internal Server Error",
                "<a".to_owned(),
                "the server answered 500 Internal Server Error",
            ),
            (
                webdav(),
                "418 I'm a teapot",
                "tea\nonly.".to_owned(),
                "the server answered 418 I'm a teapot (tea only)",
            ),
        ] {
            let failure = object_store::Error::Generic {
                store: "S3",
                source: format!("{STATUS}{status}: {content}").into(),
            };
            assert_eq!(StorageFailure::of(&failure, &target).to_string(), sentence);
        }
    }

    #[test]
    fn other_errors_are_reduced_to_their_cause() {
        let failure = |text: &str| object_store::Error::Generic {
            store: "S3",
            source: text.into(),
        };
        let explained = |text| StorageFailure::of(&failure(text), &bucket());
        assert_eq!(
            explained("error sending request for url (http://169.254.169.254/latest/api/token)"),
            StorageFailure::NoKey
        );
        assert_eq!(
            explained("Received redirect without LOCATION, this normally indicates ..."),
            StorageFailure::Region
        );
        assert_eq!(
            explained("invalid <xml/> here"),
            StorageFailure::Other("invalid here".to_owned())
        );
    }
}
