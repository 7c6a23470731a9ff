//! Proxies in front of a server of kiebitz, and the clients that they name.

use std::net::IpAddr;

#[cfg(target_os = "linux")]
use axum::http::{HeaderMap, HeaderName};
use serde::Deserialize;

/// Addresses of proxies, whose headers about their clients are believed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<IpAddr>")]
pub struct Proxies(Vec<IpAddr>);

/// Header in which proxies pass on the addresses of their clients.
#[cfg(target_os = "linux")]
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

impl From<Vec<IpAddr>> for Proxies {
    fn from(addresses: Vec<IpAddr>) -> Self {
        Self(addresses.iter().map(IpAddr::to_canonical).collect())
    }
}

impl Proxies {
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(target_os = "linux")]
impl Proxies {
    pub(in crate::outputs) fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }

    /// Returns the address of the client: the last one that a proxy has passed on and that is not itself a proxy.
    pub(in crate::outputs) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let values = headers.get_all(FORWARDED_FOR).iter();
        let passed_on: Option<Vec<&str>> = values.map(|value| value.to_str().ok()).collect();
        let passed_on = passed_on.unwrap_or_default();
        let mut hops = passed_on.iter().flat_map(|value| value.split(',')).rev();
        let mut client = peer;
        while self.contains(client)
            && let Some(hop) = hops.next()
            && let Ok(hop) = hop.trim().parse::<IpAddr>()
        {
            client = hop.to_canonical();
        }
        client
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_client_is_the_last_address_before_the_proxies() {
        let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
        let proxies = Proxies::from(vec![ip("127.0.0.1"), ip("::ffff:10.0.0.5")]);
        let client = |peer: &str, passed_on| {
            let headers = HeaderMap::from_iter([(FORWARDED_FOR, HeaderValue::from_static(passed_on))]);
            proxies.client(ip(peer), &headers).to_string()
        };
        assert_eq!(client("127.0.0.1", "192.0.2.7"), "192.0.2.7");
        // The client can send such a header itself; a proxy adds to it.
        assert_eq!(client("127.0.0.1", "192.0.2.1, 192.0.2.7"), "192.0.2.7");
        assert_eq!(client("127.0.0.1", "192.0.2.7,10.0.0.5"), "192.0.2.7");
        assert_eq!(client("192.0.2.9", "192.0.2.7"), "192.0.2.9", "not a proxy");
        assert_eq!(client("127.0.0.1", "unknown"), "127.0.0.1");
        assert_eq!(
            proxies.client(ip("127.0.0.1"), &HeaderMap::new()),
            ip("127.0.0.1")
        );
    }
}
