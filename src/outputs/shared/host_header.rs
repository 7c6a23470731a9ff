//! Whose names a request to this computer may have asked for.

/// Whether a request with this header asked for the computer by its own names.
///
/// Somebody else's page, open on this computer, could have its name point here and read what is served: it cannot have
/// this computer's own names.
pub(crate) fn is_own_name(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
        if is_port { name } else { host }
    });
    ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_the_computer_itself_are_its_own() {
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
