//! Random secrets, digests, and the signed cookies of known devices.

use core::fmt;

use anyhow::{Context, Result};
use axum::http::{HeaderMap, header};
use ring::{digest as hash, hmac};
use serde::{Deserialize, Serialize};

use super::limits::Source;

/// A SHA-256 digest.
pub(super) type Digest = [u8; 32];

/// Returns the digest of a name, or of a secret that is too long to be guessed.
pub(super) fn digest(text: &str) -> Digest {
    let mut digest = [0; 32];
    digest.copy_from_slice(hash::digest(&hash::SHA256, text.as_bytes()).as_ref());
    digest
}

pub(super) fn random<const LENGTH: usize>() -> Result<[u8; LENGTH]> {
    let mut random = [0; LENGTH];
    getrandom::fill(&mut random).context("the system provides no random numbers")?;
    Ok(random)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares two texts in a time that does not depend on the position of the first difference.
pub(super) fn are_same(one: &str, other: &str) -> bool {
    let differ = one
        .bytes()
        .zip(other.bytes())
        .fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && differ == 0
}

pub(super) fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let cookies = cookies.filter_map(|cookie| cookie.to_str().ok());
    let mut pairs = cookies.flat_map(|cookie| cookie.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// Key that signs the cookies of known devices.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct DeviceKey([u8; 32]);

/// Beginning of the name of a device's cookie. The id of the desk follows, and a digest of the user's name, as several
/// users may share a device.
const DEVICE_COOKIE: &str = "kiebitz-device-";
/// Time in seconds for which browsers keep a device's cookie: 400 days, the longest that they accept.
const MAX_AGE: u32 = 400 * 24 * 3600;

impl DeviceKey {
    pub(super) fn new() -> Result<Self> {
        random().map(Self)
    }

    /// Creates the cookie of a new device on which `user` has logged in. `attributes` are added to it.
    pub(super) fn issue(&self, user: &str, attributes: &str) -> Result<String> {
        let id = hex(&random::<16>()?);
        let signature = self.signature(user, &id);
        let name = self.cookie_name(user);
        Ok(format!("{name}={id}.{signature}; Max-Age={MAX_AGE}{attributes}"))
    }

    /// Returns the device from which `user` has logged in before; `None` if the request has no valid cookie for this
    /// user.
    pub(super) fn device(&self, headers: &HeaderMap, user: &str) -> Option<Source> {
        let value = cookie(headers, &self.cookie_name(user))?;
        let (id, signature) = value.split_once('.')?;
        // The signature covers the id, so the id cannot have another length.
        are_same(signature, &self.signature(user, id)).then(|| {
            let mut short = [0; 16];
            short.copy_from_slice(&digest(id)[..16]);
            Source::Device(short)
        })
    }

    /// Returns an id of the desk for the names of its cookies. Browsers send a cookie to all ports of a host, where there
    /// may be several desks.
    pub(super) fn desk_id(&self) -> String {
        let digest = digest(&format!("desk {}", hex(&self.0)));
        hex(&digest[..4])
    }

    fn cookie_name(&self, user: &str) -> String {
        format!("{DEVICE_COOKIE}{}-{}", self.desk_id(), hex(&digest(user)[..8]))
    }

    fn signature(&self, user: &str, id: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let signed = format!("device {id} {user}");
        hex(hmac::sign(&key, signed.as_bytes()).as_ref())
    }
}

impl fmt::Debug for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceKey").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_device_is_known_only_by_its_own_cookie() {
        let key = DeviceKey::new().expect("randomness");
        let issue = |user: &str| {
            let cookie = key.issue(user, "; HttpOnly").expect("randomness");
            assert!(cookie.ends_with("; Max-Age=34560000; HttpOnly"), "{cookie}");
            cookie.split(';').next().expect("a pair").to_owned()
        };
        let sent = |key: &DeviceKey, cookies: &str, user: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_str(cookies).expect("text"));
            key.device(&headers, user)
        };
        let (meier, adler) = (issue("meier"), issue("adler"));
        let both = format!("{adler}; kiebitz-desk=1; {meier}");
        let device = sent(&key, &both, "meier");
        assert!(device.is_some_and(Source::is_device), "{device:?}");
        assert_eq!(sent(&key, &meier, "meier"), device);
        assert_ne!(sent(&key, &issue("meier"), "meier"), device, "another device");
        // A user's cookie is of no use for another user.
        let (name, _) = adler.split_once('=').expect("a pair");
        let (_, value) = meier.split_once('=').expect("a pair");
        assert_eq!(sent(&key, &format!("{name}={value}"), "adler"), None);
        let other = DeviceKey::new().expect("randomness");
        let cut = &meier[..meier.len() - 1];
        let longer = format!("{meier}0");
        let moved = meier.replace('.', "0.");
        for wrong in [cut, &longer, &moved, "", &adler] {
            assert_eq!(sent(&key, wrong, "meier"), None, "{wrong}");
        }
        assert_eq!(sent(&other, &meier, "meier"), None);
    }

    #[test]
    fn cookies_of_two_desks_on_one_host_have_different_names() {
        let name = |key: &DeviceKey| {
            let cookie = key.issue("meier", "").expect("randomness");
            cookie.split('=').next().expect("a name").to_owned()
        };
        let (one, other) = (DeviceKey([1; 32]), DeviceKey([2; 32]));
        assert_ne!(name(&one), name(&other));
        assert_eq!(name(&one), name(&one.clone()), "the same after a restart");
        assert_ne!(one.desk_id(), other.desk_id());
        let key = hex(&[1; 32]);
        assert!(!key.contains(&one.desk_id()), "the id does not show the key");
    }

    #[test]
    fn secrets_are_compared_in_full() {
        assert!(are_same("a secret", "a secret"));
        for other in ["", "a secre", "a secrets", "b secret", "a secreT"] {
            assert!(!are_same("a secret", other), "{other}");
        }
        assert_eq!(hex(&digest("abc")[..4]), "ba7816bf");
        assert_ne!(random::<32>().ok(), random::<32>().ok());
    }
}
