//! The proxy in front of the desk: which requests come from it, and the user and the client that it names.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName, header};

use super::secrets::are_same;
use super::settings::DeskSettings;
use crate::outputs::shared::address::read_token;
use crate::outputs::shared::host_header::{is_own_name, without_port};
use crate::outputs::shared::proxies::Proxies;

/// Header with the secret that proxy and desk share.
pub(super) const SECRET_HEADER: HeaderName = HeaderName::from_static("kiebitz-proxy-secret");

#[derive(Clone)]
pub(super) struct Proxy {
    /// Header with the user's name; `None` if the desk checks passwords itself.
    user_header: Option<String>,
    addresses: Proxies,
    secret: Option<String>,
    /// Names by which the desk is reached, besides those of its own computer.
    hosts: Vec<String>,
}

/// User that the request's headers name, if a proxy checks passwords.
pub(super) enum ProxyUser<'h> {
    /// No proxy is configured; the desk checks passwords itself.
    NoProxy,
    /// The proxy names this user.
    User(&'h str),
    /// The proxy does not name exactly one user.
    Invalid,
}

impl Proxy {
    /// Reads the shared secret. If it cannot be read, every request is refused.
    pub(super) fn of(settings: &DeskSettings) -> Self {
        let secret = settings.proxy_secret_file.as_ref().map(|file| {
            read_token(file).unwrap_or_else(|problem| {
                tracing::warn!("[desk]: nobody can log in: {problem:#}");
                // An empty secret is never accepted.
                String::new()
            })
        });
        Self {
            user_header: settings.user_header.clone(),
            addresses: settings.proxies.clone(),
            secret,
            hosts: settings.hosts.clone(),
        }
    }

    /// Checks that a request comes from the proxy, if the proxy checks passwords. Fails with the reason.
    ///
    /// The `Host` header is checked as well, against DNS rebinding: a page of another site could let its name resolve
    /// to the proxy's computer, and send the headers of any user from a browser there.
    pub(super) fn check(&self, peer: IpAddr, headers: &HeaderMap) -> Result<(), String> {
        if self.user_header.is_none() {
            return Ok(());
        }
        if !self.addresses.is_empty() && !self.addresses.contains(peer) {
            return Err(format!(
                "the desk is reached only through its proxy: {peer} is not one of `proxies` under [desk]"
            ));
        }
        if let Some(secret) = &self.secret {
            let mut sent = headers.get_all(&SECRET_HEADER).iter();
            let is_right = match (sent.next().map(|sent| sent.to_str()), sent.next()) {
                (Some(Ok(sent)), None) => !secret.is_empty() && are_same(sent, secret),
                _ => false,
            };
            if !is_right {
                return Err(format!(
                    "the desk is reached only through its proxy, which has to send the content of `proxy_secret_file` \
                     as {SECRET_HEADER}"
                ));
            }
        }
        let mut hosts = headers.get_all(header::HOST).iter();
        // Proxy and desk could disagree about which of two headers counts.
        let host = hosts.next().filter(|_| hosts.next().is_none());
        let host = host.and_then(|host| host.to_str().ok());
        let host = host.unwrap_or_default().to_ascii_lowercase();
        let name = without_port(&host);
        if !is_own_name(&host) && !self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Err(format!(
                "the desk is not known as {name:?}: let the proxy send `Host: 127.0.0.1`, or add the name to `hosts` \
                 under [desk]"
            ));
        }
        Ok(())
    }

    /// Returns the address of the client.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        self.addresses.client(peer, headers)
    }

    /// Returns the user that the proxy's header names.
    pub(super) fn user<'h>(&self, headers: &'h HeaderMap) -> ProxyUser<'h> {
        let Some(header) = &self.user_header else {
            return ProxyUser::NoProxy;
        };
        let mut names = headers.get_all(header.as_str()).iter();
        // If the header occurs twice, one of them may come from the client instead of the proxy.
        match (names.next().map(|name| name.to_str()), names.next()) {
            (Some(Ok(name)), None) if !name.is_empty() => ProxyUser::User(name),
            _ => ProxyUser::Invalid,
        }
    }
}

impl core::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Proxy")
            .field("user_header", &self.user_header)
            .field("addresses", &self.addresses)
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn proxy(text: &str) -> Proxy {
        let text = format!("users_file = \"/u\"\n{text}");
        Proxy::of(&toml::from_str(&text).expect("settings"))
    }

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let all = all.iter();
        all.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    const USER: &str = "user_header = \"Remote-User\"\n";

    #[test]
    fn only_the_proxy_may_name_users() {
        let host = headers(&[("host", "127.0.0.1:8038")]);
        let by_address = proxy(&format!("{USER}proxies = [\"10.0.0.5\", \"::1\"]"));
        assert_eq!(by_address.check(ip("10.0.0.5"), &host), Ok(()));
        assert_eq!(by_address.check(ip("::1"), &host), Ok(()));
        let refused = by_address
            .check(ip("10.0.0.6"), &host)
            .expect_err("another computer");
        assert!(refused.contains("10.0.0.6 is not one of `proxies`"), "{refused}");

        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("secret");
        std::fs::write(&file, "between-us\n").expect("a file");
        let by_secret = proxy(&format!("{USER}proxy_secret_file = {file:?}"));
        let with = |secret| headers(&[("host", "localhost"), ("kiebitz-proxy-secret", secret)]);
        assert_eq!(by_secret.check(ip("10.0.0.6"), &with("between-us")), Ok(()));
        for wrong in [with(""), with("between-them"), host.clone()] {
            let refused = by_secret.check(ip("127.0.0.1"), &wrong).expect_err("no proxy");
            assert!(refused.contains("proxy_secret_file"), "{refused}");
            assert!(!refused.contains("between-us"), "{refused}");
        }
        let mut two = with("between-us");
        two.append(SECRET_HEADER, HeaderValue::from_static("between-us"));
        assert!(by_secret.check(ip("127.0.0.1"), &two).is_err());
        let unreadable = proxy(&format!("{USER}proxy_secret_file = \"/none\""));
        assert!(unreadable.check(ip("127.0.0.1"), &with("")).is_err());
        assert_eq!(
            proxy("").check(ip("10.0.0.6"), &headers(&[])),
            Ok(()),
            "it asks for passwords"
        );
    }

    #[test]
    fn a_page_of_another_site_cannot_name_users() {
        let proxy = proxy(&format!(
            "{USER}proxies = [\"127.0.0.1\"]\nhosts = [\"desk.club.example\"]"
        ));
        let check = |host| proxy.check(ip("127.0.0.1"), &headers(&[("host", host)]));
        for host in ["localhost:8038", "desk.club.example", "Desk.Club.example:443"] {
            assert_eq!(check(host), Ok(()), "{host}");
        }
        let two = headers(&[("host", "localhost:8038"), ("host", "localhost:8038")]);
        assert!(proxy.check(ip("127.0.0.1"), &two).is_err(), "two headers");
        for host in [
            "evil.example",
            "evil.example:8038",
            "desk.club.example.evil.example",
            "",
        ] {
            let refused = check(host).expect_err(host);
            assert!(refused.contains("add the name to `hosts`"), "{refused}");
        }
        assert!(proxy.check(ip("127.0.0.1"), &headers(&[])).is_err());
    }
}
