//! Checks the `Host` header of requests to services of this computer.

/// Whether a `Host` header has one of the computer's own names.
///
/// A page of another site could have its host name point to this computer (DNS rebinding) and so read the answers. Its
/// requests carry that host name, never one of the computer's own.
pub(crate) fn is_own_name(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]"].contains(&without_port(host))
}

/// Returns the name in a `Host` header.
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
