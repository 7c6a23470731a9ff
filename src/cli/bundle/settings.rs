//! Removes secrets from the configuration and from other texts of a bundle.

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::outputs::desk::CODE_INTRO;

/// Addresses of the configuration that contain secrets, with their replacements. The name of an ntfy topic, for example,
/// is all that protects its messages.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    addresses: Vec<(String, String)>,
}

/// Replacement of a secret.
const HIDDEN: &str = "***";
/// Parts of the names of settings whose values are secrets, unless they name a file.
const SECRET_KEYS: [&str; 3] = ["password", "secret", "token"];

/// Returns a configuration without comments and secrets, and the removed secrets. Comments may contain former
/// passwords. Addresses keep only scheme and host.
pub(super) fn without_secrets(text: &str) -> Result<(String, Secrets)> {
    // The error of the parser is dropped, because it quotes the line.
    let table = text.parse::<Table>().ok();
    let mut table = table.context("the file has a mistake; `kiebitz check-config` shows where")?;
    let mut secrets = Secrets::default();
    secrets.hide_in_table(&mut table);
    // The longest first, because an address may be the prefix of another one.
    secrets
        .addresses
        .sort_by_key(|(address, _)| core::cmp::Reverse(address.len()));
    Ok((table.to_string(), secrets))
}

impl Secrets {
    fn hide_in_table(&mut self, table: &mut Table) {
        for (key, value) in table.iter_mut() {
            let is_secret = SECRET_KEYS.iter().any(|word| key.contains(word)) && !key.ends_with("_file");
            match value {
                Value::String(text) if is_secret => HIDDEN.clone_into(text),
                value => self.hide_in_value(value),
            }
        }
    }

    fn hide_in_value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let redacted = redacted(text);
                if redacted != *text {
                    self.addresses
                        .push((core::mem::replace(text, redacted.clone()), redacted));
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.hide_in_value(value)),
            Value::Table(table) => self.hide_in_table(table),
            _ => {}
        }
    }

    /// Replaces the secrets in a text, including the code for the first operator of the desk.
    pub(super) fn hide_in(&self, text: &str) -> String {
        let mut redacted = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(CODE_INTRO) {
            redacted.push_str(before);
            redacted.push_str(CODE_INTRO);
            redacted.push_str(HIDDEN);
            rest = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        }
        redacted.push_str(rest);
        for (address, replacement) in &self.addresses {
            redacted = redacted.replace(address.as_str(), replacement);
        }
        redacted
    }
}

/// Reduces an address to scheme and host. Other texts are unchanged, unless they may be an address with a password.
fn redacted(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return match text.contains('@') {
            true => HIDDEN.to_owned(),
            false => text.to_owned(),
        };
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{HIDDEN}@{host}{}", hidden_path(path)),
        // The password may contain a slash, in which case `authority` is not the host.
        None if path.contains('@') => format!("{scheme}://{HIDDEN}"),
        None => format!("{scheme}://{authority}{}", hidden_path(path)),
    }
}

fn hidden_path(path: &str) -> &'static str {
    match path {
        "" => "",
        "/" => "/",
        _ => "/***",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_configuration_are_not_shown() {
        let text = r#"# The password was geheim-1.
[mqtt] # geheim-2
url = "mqtt://club:geheim-3@broker.example:1883" # mqtt://club:geheim-4@broker.example
password_file = "/etc/kiebitz/mqtt-password"
[publish]
to = ["s3://bucket/geheim-5", "sftp://geheim-6@ssh.example/chess", "https://dav.example/geheim-7", "/srv/chess"]
[[webhook]]
name = "club"
url = "https://club.example/hooks/geheim-8?token=geheim-9"
[[alarm]]
send = "ntfy"
url = "https://ntfy.sh/geheim-10"
token = "geheim-11"
"#;
        let (redacted, secrets) = without_secrets(text).expect("a configuration");
        assert!(
            !redacted.contains("geheim") && !redacted.contains('#'),
            "{redacted}"
        );
        for kept in [
            "mqtt://***@broker.example:1883",
            "/etc/kiebitz/mqtt-password",
            "s3://bucket/***",
            "sftp://***@ssh.example/***",
            "https://dav.example/***",
            "/srv/chess",
            "https://club.example/***",
            "https://ntfy.sh/***",
        ] {
            assert!(redacted.contains(kept), "{kept}: {redacted}");
        }
        let log = "kiebitz: cannot send to https://ntfy.sh/geheim-10: timeout\nupdate https://dav.example/geheim-7\n";
        assert_eq!(
            secrets.hide_in(log),
            "kiebitz: cannot send to https://ntfy.sh/***: timeout\nupdate https://dav.example/***\n"
        );
    }

    #[test]
    fn an_address_that_is_not_understood_is_hidden() {
        for text in [
            "mqtt:/club:geheim@host",
            "mqtt://club:ge/heim@host",
            "club:geheim@host",
        ] {
            assert!(!redacted(text).contains("heim"), "{}", redacted(text));
        }
        let error = without_secrets("url = geheim\n").expect_err("a mistake");
        assert!(!format!("{error:#}").contains("geheim"), "{error:#}");
    }

    #[test]
    fn the_code_of_the_first_operator_is_hidden() {
        let log = format!("a\n[desk]: open http://pi:8038/ and {CODE_INTRO}ABCDEFGH23\nb {CODE_INTRO}XYZ\n");
        let redacted = Secrets::default().hide_in(&log);
        assert_eq!(
            redacted,
            format!("a\n[desk]: open http://pi:8038/ and {CODE_INTRO}***\nb {CODE_INTRO}***\n")
        );
    }
}
