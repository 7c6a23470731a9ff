//! Configuration table `[http]`.

use core::str::FromStr;
use std::net::SocketAddr;

use serde::Deserialize;

use crate::settings::TextValue;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HttpTable {
    listen: TextValue<Loopback>,
}

impl HttpTable {
    /// Loopback address on which the status is served.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.listen.0.0
    }
}

/// An address that only this computer can reach.
struct Loopback(SocketAddr);

impl FromStr for Loopback {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let address = text.parse().ok();
        let address = address.filter(|address: &SocketAddr| address.ip().is_loopback() && address.port() > 0);
        address.map(Self).ok_or(
            "expected an address of this computer with a port, as in \"127.0.0.1:8037\"; from another computer, \
             use ssh -L 8037:127.0.0.1:8037",
        )
    }
}
