//! The broker's URL.

use std::net::Ipv6Addr;

pub(super) struct BrokerUrl {
    pub(super) encrypted: bool,
    /// The host, with brackets if it is an IPv6 address.
    pub(super) host: String,
    pub(super) port: u16,
    /// The user, and the password after the colon.
    pub(super) user: Option<(String, Option<String>)>,
}

/// Why a broker's URL is invalid. The messages do not repeat parts of the URL that may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// The URL has no scheme.
    #[error("the broker's URL must begin with mqtt:// or mqtts://, as in mqtt://localhost:1883")]
    NoScheme,
    /// The scheme is not MQTT.
    #[error("the broker's URL must begin with mqtt:// or mqtts://, not {scheme}://")]
    Scheme {
        /// The scheme of the URL.
        scheme: String,
    },
    /// The host is missing.
    #[error("the broker's URL names no host; expected for example mqtt://localhost:1883")]
    NoHost,
    /// The connection would be encrypted, but the address in brackets cannot be in a certificate.
    #[error(
        "in the URL of an encrypted connection, write an IPv6 address in [ ] and without a zone (%...): the \
         broker's certificate is checked against it"
    )]
    EncryptedAddress,
    /// The port is not a number from 1 to 65535.
    #[error("the broker's port must be a number from 1 to 65535; with a user it is USER:PASSWORD@HOST:PORT")]
    Port,
    /// There is text after the port.
    #[error("the broker's URL must end with the port; the prefix is a separate option")]
    Rest,
    /// There is a password without a user.
    #[error("the broker's URL has a password but no user in front of it")]
    NoUser,
    /// User or password contain an invalid percent code, a character that must be encoded, or bytes that are not UTF-8.
    #[error(
        "user and password in the broker's URL must be percent-encoded UTF-8: / is written as %2F, ? as %3F, # as %23 \
         and % as %25"
    )]
    Encoding,
}

/// Port registered for MQTT.
const PORT: u16 = 1883;
/// Port registered for MQTT over TLS.
const ENCRYPTED_PORT: u16 = 8883;

impl BrokerUrl {
    pub(super) fn parse(url: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = url.split_once("://").ok_or(UrlError::NoScheme)?;
        let encrypted = match scheme {
            "mqtt" | "tcp" => false,
            "mqtts" | "ssl" | "tls" => true,
            _ => return Err(no_scheme(scheme)),
        };
        let (authority, after) = match rest.find(['/', '?', '#']) {
            Some(end) => rest.split_at(end),
            None => (rest, ""),
        };
        if after.contains('@') {
            return Err(UrlError::Encoding);
        }
        if !matches!(after, "" | "/") {
            return Err(UrlError::Rest);
        }
        let (user, address) = authority
            .rsplit_once('@')
            .map_or((None, authority), |(u, a)| (Some(u), a));
        let (host, port) = split_port(address);
        if host.is_empty() || host == "[]" {
            return Err(UrlError::NoHost);
        }
        if encrypted && host.starts_with('[') && without_brackets(host).parse::<Ipv6Addr>().is_err() {
            return Err(UrlError::EncryptedAddress);
        }
        let port = match port {
            None if encrypted => ENCRYPTED_PORT,
            None => PORT,
            Some(port) => port
                .parse()
                .ok()
                .filter(|number: &u16| *number > 0)
                .ok_or(UrlError::Port)?,
        };
        Ok(Self {
            encrypted,
            host: host.to_owned(),
            port,
            user: user.map(login).transpose()?.flatten(),
        })
    }
}

/// Repeats the text before "://" only if it can only be a scheme.
fn no_scheme(scheme: &str) -> UrlError {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    if scheme.bytes().all(plain) {
        let scheme = scheme.to_owned();
        UrlError::Scheme { scheme }
    } else {
        UrlError::NoScheme
    }
}

/// Splits an address into host and port. An IPv6 address keeps its brackets.
fn split_port(address: &str) -> (&str, Option<&str>) {
    let after_host = address.rfind(']').map_or(0, |bracket| bracket + 1);
    match address[after_host..].find(':') {
        Some(colon) => {
            let (host, port) = address.split_at(after_host + colon);
            (host, Some(&port[1..]))
        }
        None => (address, None),
    }
}

/// The host, without brackets if it is an IPv6 address.
pub(super) fn without_brackets(host: &str) -> &str {
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.unwrap_or(host)
}

/// Splits and decodes user and password; `None` if both are missing.
fn login(user: &str) -> Result<Option<(String, Option<String>)>, UrlError> {
    let (user, password) = match user.split_once(':') {
        Some((user, password)) => (user, Some(decoded(password)?)),
        None => (user, None),
    };
    match (user, password) {
        ("", Some(_)) => Err(UrlError::NoUser),
        ("", None) => Ok(None),
        (user, password) => Ok(Some((decoded(user)?, password))),
    }
}

fn decoded(text: &str) -> Result<String, UrlError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        let code = part
            .get(..2)
            .filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let byte = code
            .and_then(|code| u8::from_str_radix(code, 16).ok())
            .ok_or(UrlError::Encoding)?;
        bytes.push(byte);
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).map_err(|_| UrlError::Encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> BrokerUrl {
        BrokerUrl::parse(url).expect(url)
    }

    #[test]
    fn url_is_split_into_its_parts() {
        let url = parsed("mqtt://k%C3%B6nig:p%40ss:word@broker.example:2883/");
        assert_eq!((&*url.host, url.port), ("broker.example", 2883));
        assert_eq!(url.user, Some(("könig".to_owned(), Some("p@ss:word".to_owned()))));
        assert_eq!(
            parsed("mqtt://club@host").user,
            Some(("club".to_owned(), None)),
            "the password is elsewhere"
        );
        assert_eq!(parsed("mqtt://@host").user, None);
    }

    #[test]
    fn port_may_be_left_out() {
        let address = |url| {
            let BrokerUrl {
                encrypted,
                host,
                port,
                ..
            } = parsed(url);
            (encrypted, host, port)
        };
        for (url, encrypted, host, port) in [
            ("mqtt://localhost", false, "localhost", 1883),
            ("tcp://localhost", false, "localhost", 1883),
            ("mqtts://localhost", true, "localhost", 8883),
            ("ssl://localhost", true, "localhost", 8883),
            ("tls://localhost:1883", true, "localhost", 1883),
            ("mqtt://[::1]", false, "[::1]", 1883),
            ("mqtt://[::1]:1884", false, "[::1]", 1884),
            ("mqtt://[fe80::1%eth0]", false, "[fe80::1%eth0]", 1883),
            ("mqtts://[2001:db8::7]", true, "[2001:db8::7]", 8883),
            ("mqtts://[::1]:8884", true, "[::1]", 8884),
        ] {
            assert_eq!(address(url), (encrypted, host.to_owned(), port), "{url}");
        }
    }

    #[test]
    fn invalid_urls_are_refused_with_a_reason() {
        let http = UrlError::Scheme {
            scheme: "http".to_owned(),
        };
        for (url, expected) in [
            ("localhost:1883", UrlError::NoScheme),
            ("http://localhost", http),
            ("mqtt://", UrlError::NoHost),
            ("mqtt://:1883", UrlError::NoHost),
            ("mqtt://user@", UrlError::NoHost),
            ("mqtt://[]:1", UrlError::NoHost),
            ("mqtts://[fe80::1%eth0]", UrlError::EncryptedAddress),
            ("mqtts://[host]", UrlError::EncryptedAddress),
            ("mqtts://[127.0.0.1]", UrlError::EncryptedAddress),
            ("mqtts://[::1", UrlError::EncryptedAddress),
            ("mqtts://[::1]x", UrlError::EncryptedAddress),
            ("mqtt://host:", UrlError::Port),
            ("mqtt://host:0", UrlError::Port),
            ("mqtt://host:65536", UrlError::Port),
            ("mqtt://host:abc", UrlError::Port),
            ("mqtt://host/kiebitz", UrlError::Rest),
            ("mqtt://:word@host", UrlError::NoUser),
            ("mqtt://a%2@host", UrlError::Encoding),
            ("mqtt://a%+1@host", UrlError::Encoding),
            ("mqtt://a%ff@host", UrlError::Encoding),
            ("mqtt://a%é@host", UrlError::Encoding),
        ] {
            assert_eq!(BrokerUrl::parse(url).err(), Some(expected), "{url}");
        }
    }

    #[test]
    fn no_error_repeats_a_password() {
        for url in [
            "club:secret@host",
            "mqtt//club:secret@host",
            "club:sec://ret@host",
            "mqtt:/club:a://secret@host",
            "mqtt://club:secret",
            "mqtt://club:secret/secret@host",
            "mqtt://club:secret/secret",
            "mqtt://club:?secret@host",
            "mqtt://club:#secret@host",
            "mqtt://club:secret%@host",
            "mqtt://club:secret@host:secret",
            "mqtt://:secret@host",
            "mqtts://club:secret@[fe80::1%eth0]",
        ] {
            let error = BrokerUrl::parse(url).err().expect(url);
            let text = format!("{error} {error:?}");
            assert!(!text.contains("sec") && !text.contains("ret"), "{url}: {text}");
        }
    }
}
