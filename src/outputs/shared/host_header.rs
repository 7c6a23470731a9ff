//! Checks the `Host` header of requests to services for this computer only.

/// Whether a `Host` header names this computer.
///
/// Prevents DNS rebinding: a web site may let its own host name point to this computer, so that its pages may read the
/// answers. Their requests then carry that host name.
pub(crate) fn is_own_name(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]"].contains(&without_port(host))
}

/// Removes the port from a `Host` header.
pub(crate) fn without_port(host: &str) -> &str {
    host.rsplit_once(':').map_or(host, |(name, port)| {
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
        if is_port { name } else { host }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_localhost_and_loopback_addresses_are_own_names() {
        for host in [
            "localhost",
            "localhost:1982",
            "127.0.0.1:8037",
            "[::1]:1982",
            "[::1]",
        ] {
            assert!(is_own_name(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example:1982",
            "[::2]",
            "127.0.0.1:x",
        ] {
            assert!(!is_own_name(host), "{host}");
        }
    }
}
