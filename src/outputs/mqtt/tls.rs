//! Encrypted connections of MQTT and FTP: trusted CAs, client certificates, and readable errors about them.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, Error, InvalidMessage, PeerIncompatible, RootCertStore,
    SupportedProtocolVersion,
};

use super::url::without_brackets;
use crate::text_file;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tls {
    /// PEM file with the CAs that may sign the server's certificate; `None` for the system's trusted CAs.
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) client: Option<ClientFiles>,
}

/// PEM files of a client certificate and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientFiles {
    /// The certificate, followed by intermediate certificates, if any.
    pub(crate) certificate: PathBuf,
    /// The key, which must not have a passphrase.
    pub(crate) key: PathBuf,
}

/// Reason why encryption cannot be set up, as a sentence for the server's administrator.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("there is no certificate in {}: it must be a PEM file, with a line BEGIN CERTIFICATE", path.display())]
    NoCertificate { path: PathBuf },
    #[error("a certificate in {} is damaged", path.display())]
    DamagedCertificate { path: PathBuf },
    #[error(
        "the certificate in {} has X.509 version 1, but TLS needs version 3: make a new one; `openssl x509 -req` makes \
         version 3 with `-extfile FILE`, where FILE has the line extendedKeyUsage=clientAuth", path.display()
    )]
    OldCertificate { path: PathBuf },
    #[error("there is no private key in {}: it must be a PEM file, with a line BEGIN PRIVATE KEY", path.display())]
    NoKey { path: PathBuf },
    #[error("the key in {} has a passphrase, which kiebitz cannot ask for: save the key without it", path.display())]
    KeyWithPassphrase { path: PathBuf },
    #[error("the key in {} cannot be used: {reason}", path.display())]
    UnusableKey { path: PathBuf, reason: Error },
    #[error("the key in {} does not belong to the certificate in {}", key.display(), certificate.display())]
    KeyDoesNotFit { key: PathBuf, certificate: PathBuf },
    #[error(
        "this computer has no list of trusted CAs: install it (on Debian the package ca-certificates), or set ca_file"
    )]
    NoSystemCas,
    #[error(transparent)]
    Refused(TlsRefusal),
}

/// Reason why the client rejects the server, or the server the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TlsRefusal {
    #[error("the server's certificate is not signed by the CA in {}", ca_file.display())]
    OtherCa { ca_file: PathBuf },
    #[error(
        "the server's certificate is not signed by a CA that this computer trusts: if the server has its own \
         CA, set ca_file"
    )]
    UnknownCa,
    #[error(
        "the server's certificate is not for {host}, but for {names}: use a name from the certificate in the URL"
    )]
    WrongName { host: String, names: String },
    #[error(
        "the server's certificate names the address {address} as a DNS name, which is not valid for addresses: make a \
         new one with subjectAltName=IP:{address} in place of subjectAltName=DNS:{address}"
    )]
    AddressAsName { address: IpAddr },
    #[error(
        "the server's certificate has X.509 version 1, but TLS needs version 3: make a new one; `openssl x509 -req` \
         makes version 3 with `-extfile FILE`, where FILE has the line subjectAltName={name}"
    )]
    OldCertificate { name: String },
    #[error("the server's certificate has expired{on}: renew it, or correct this computer's clock")]
    Expired { on: String },
    #[error("the server's certificate is not valid yet{until}: check this computer's clock")]
    NotYetValid { until: String },
    #[error(
        "the server presents the certificate of a CA: give it a certificate of its own, signed by that CA"
    )]
    CaAsBroker,
    #[error("the server's certificate cannot be used: {reason}")]
    Certificate { reason: String },
    #[error("the server requires a client certificate: set client_certificate and client_key")]
    WantsClientCertificate,
    #[error("the server rejects the client certificate in {}: {reason}", certificate.display())]
    ClientCertificate { certificate: PathBuf, reason: String },
    #[error("the server offers no safe encryption: enable TLS 1.2 or 1.3 there")]
    Outdated,
    #[error(
        "the server at this address does not speak TLS: check that this is its port for encrypted \
        connections"
    )]
    NotTls,
    #[error("cannot encrypt the connection: {reason}")]
    Other { reason: String },
}

impl Tls {
    /// Reads the files. Called for each connection, so that a renewed certificate needs no restart.
    ///
    /// # Errors
    ///
    /// Fails if a file is missing, has the wrong content, or does not match the others.
    pub(crate) fn client_config(&self) -> Result<ClientConfig, TlsError> {
        self.client_config_of(rustls::DEFAULT_VERSIONS)
    }

    /// Like [`client_config`](Self::client_config), for the given versions of TLS.
    pub(in crate::outputs) fn client_config_of(
        &self,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Result<ClientConfig, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .map_err(|error| TlsError::Refused(self.refusal(&error, "")))?
            .with_root_certificates(self.roots()?);
        let Some(ClientFiles { certificate, key }) = &self.client else {
            return Ok(builder.with_no_client_auth());
        };
        let (chain, private) = (certificates(certificate)?, private_key(key)?);
        builder
            .with_client_auth_cert(chain, private)
            .map_err(|error| match error {
                Error::InconsistentKeys(_) => TlsError::KeyDoesNotFit {
                    key: key.clone(),
                    certificate: certificate.clone(),
                },
                Error::InvalidCertificate(error) if is_webpki(&error, "UnsupportedCertVersion") => {
                    TlsError::OldCertificate {
                        path: certificate.clone(),
                    }
                }
                Error::InvalidCertificate(_) => TlsError::DamagedCertificate {
                    path: certificate.clone(),
                },
                reason => TlsError::UnusableKey {
                    path: key.clone(),
                    reason,
                },
            })
    }

    fn roots(&self) -> Result<RootCertStore, TlsError> {
        let mut roots = RootCertStore::empty();
        match &self.ca_file {
            Some(path) => {
                for certificate in certificates(path)? {
                    roots
                        .add(certificate)
                        .map_err(|_| TlsError::DamagedCertificate { path: path.clone() })?;
                }
            }
            // Invalid entries of the system's list are ignored. An error follows only if no valid one is left.
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        if roots.is_empty() {
            return Err(TlsError::NoSystemCas);
        }
        Ok(roots)
    }

    /// Translates a TLS error. `host` is the host in the server's URL.
    pub(crate) fn refusal(&self, error: &Error, host: &str) -> TlsRefusal {
        match error {
            Error::InvalidCertificate(error) => self.certificate_refusal(error, host),
            Error::AlertReceived(alert) => self.alert(*alert),
            Error::PeerIncompatible(
                PeerIncompatible::ServerDoesNotSupportTls12Or13
                | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
            ) => TlsRefusal::Outdated,
            Error::InvalidMessage(
                InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
            ) => TlsRefusal::NotTls,
            error => TlsRefusal::Other {
                reason: error.to_string(),
            },
        }
    }

    fn certificate_refusal(&self, error: &CertificateError, host: &str) -> TlsRefusal {
        match error {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => match self.ca_file.clone() {
                Some(ca_file) => TlsRefusal::OtherCa { ca_file },
                None => TlsRefusal::UnknownCa,
            },
            CertificateError::NotValidForName => wrong_name(host, &[]),
            CertificateError::NotValidForNameContext { presented, .. } => wrong_name(host, presented),
            CertificateError::Expired => TlsRefusal::Expired { on: String::new() },
            CertificateError::ExpiredContext { not_after, .. } => TlsRefusal::Expired {
                on: day(" on", *not_after),
            },
            CertificateError::NotValidYet => TlsRefusal::NotYetValid { until: String::new() },
            CertificateError::NotValidYetContext { not_before, .. } => TlsRefusal::NotYetValid {
                until: day(", not before", *not_before),
            },
            error if is_webpki(error, "CaUsedAsEndEntity") => TlsRefusal::CaAsBroker,
            error if is_webpki(error, "UnsupportedCertVersion") => TlsRefusal::OldCertificate {
                name: match address(host) {
                    Some(address) => format!("IP:{address}"),
                    None => format!("DNS:{host}"),
                },
            },
            error => TlsRefusal::Certificate {
                reason: error.to_string(),
            },
        }
    }

    /// Translates an alert that the server sent before it closed the connection.
    fn alert(&self, alert: AlertDescription) -> TlsRefusal {
        use AlertDescription as Alert;

        match (alert, &self.client) {
            // TLS 1.2 has no specific alert for a missing certificate.
            (Alert::CertificateRequired, _) | (Alert::HandshakeFailure, None) => {
                TlsRefusal::WantsClientCertificate
            }
            (Alert::ProtocolVersion, _) => TlsRefusal::Outdated,
            (alert, Some(files)) if REFUSE_CERTIFICATE.contains(&alert) => TlsRefusal::ClientCertificate {
                certificate: files.certificate.clone(),
                reason: match alert {
                    Alert::UnknownCA => "not signed by a CA that the server trusts".to_owned(),
                    Alert::CertificateExpired => "expired".to_owned(),
                    Alert::CertificateRevoked => "revoked".to_owned(),
                    alert => format!("{alert:?}"),
                },
            },
            (alert, _) => TlsRefusal::Other {
                reason: format!("the server ended the connection: {alert:?}"),
            },
        }
    }
}

/// Alerts by which a server rejects a client certificate.
const REFUSE_CERTIFICATE: [AlertDescription; 9] = [
    AlertDescription::AccessDenied,
    AlertDescription::BadCertificate,
    AlertDescription::CertificateExpired,
    AlertDescription::CertificateRevoked,
    AlertDescription::CertificateUnknown,
    AlertDescription::DecryptError,
    AlertDescription::HandshakeFailure,
    AlertDescription::UnknownCA,
    AlertDescription::UnsupportedCertificate,
];

/// Whether an error is the webpki error `name`, for which rustls has no variant.
fn is_webpki(error: &CertificateError, name: &str) -> bool {
    matches!(error, CertificateError::Other(other) if format!("{other:?}").contains(name))
}

fn address(host: &str) -> Option<IpAddr> {
    without_brackets(host).parse().ok()
}

fn wrong_name(host: &str, presented: &[String]) -> TlsRefusal {
    // The names have the form `DnsName("host")` or `IpAddress(address)`.
    let name = |name: &String| {
        let inner = name.split_once('(').map_or(&**name, |(_, inner)| inner);
        inner.trim_end_matches(')').trim_matches('"').to_owned()
    };
    let names: Vec<String> = presented.iter().map(name).collect();
    if let Some(address) = address(host)
        && names.iter().any(|name| name.parse() == Ok(address))
    {
        return TlsRefusal::AddressAsName { address };
    }
    TlsRefusal::WrongName {
        host: host.to_owned(),
        names: match names.is_empty() {
            true => "no name at all (a subjectAltName is missing)".to_owned(),
            false => names.join(", "),
        },
    }
}

/// Formats a date in UTC after `word`; empty if the time is out of range.
fn day(word: &str, time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).ok();
    let time = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.map(|time| format!("{word} {}", time.strftime("%Y-%m-%d")))
        .unwrap_or_default()
}

/// Reads all certificates of a file. Fails if it has none.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let pem = read(path)?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|_| TlsError::DamagedCertificate {
            path: path.to_owned(),
        })?;
    if certificates.is_empty() {
        return Err(TlsError::NoCertificate {
            path: path.to_owned(),
        });
    }
    Ok(certificates)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let pem = read(path)?;
    let key = PrivateKeyDer::from_pem_slice(&pem);
    let path = path.to_owned();
    // Older files mark encryption only in a header, so the encrypted key alone would look valid.
    if [&b"BEGIN ENCRYPTED"[..], b"Proc-Type: 4,ENCRYPTED"]
        .iter()
        .any(|mark| pem.windows(mark.len()).any(|window| window == *mark))
    {
        return Err(TlsError::KeyWithPassphrase { path });
    }
    key.map_err(|_| TlsError::NoKey { path })
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    text_file::read_bytes(path).map_err(|source| TlsError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::fs;

    use super::*;

    fn refused(error: CertificateError, ca_file: Option<&str>) -> String {
        let tls = Tls {
            ca_file: ca_file.map(PathBuf::from),
            client: None,
        };
        tls.refusal(&Error::InvalidCertificate(error), "pi.local")
            .to_string()
    }

    #[test]
    fn errors_about_certificates_say_how_to_fix_them() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let text = refused(CertificateError::UnknownIssuer, None);
        assert!(text.ends_with("set ca_file"), "{text}");
        let text = refused(CertificateError::UnknownIssuer, Some("/etc/kiebitz/ca.pem"));
        assert!(text.ends_with("by the CA in /etc/kiebitz/ca.pem"), "{text}");
        let (time, day) = (at(1_800_000_000), at(1_790_000_000));
        let expired = CertificateError::ExpiredContext { time, not_after: day };
        let text = refused(expired, None);
        assert!(text.contains("has expired on 2026-09-21: renew it"), "{text}");
        let early = CertificateError::NotValidYetContext {
            time: at(0),
            not_before: day,
        };
        let text = refused(early, None);
        assert!(
            text.contains("not before 2026-09-21: check this computer's clock"),
            "{text}"
        );
        let presented = vec![
            "DnsName(\"broker.example\")".to_owned(),
            "IpAddress(10.0.0.1)".to_owned(),
        ];
        assert_eq!(
            wrong_name("pi.local", &presented).to_string(),
            "the server's certificate is not for pi.local, but for broker.example, 10.0.0.1: use a name from the \
             certificate in the URL"
        );
        let as_name = ["DnsName(\"192.0.2.7\")".to_owned()];
        let text = wrong_name("192.0.2.7", &as_name).to_string();
        assert!(
            text.contains("with subjectAltName=IP:192.0.2.7 in place of"),
            "{text}"
        );
        let text = refused(CertificateError::NotValidForName, None);
        assert!(text.contains("a subjectAltName is missing"), "{text}");
    }

    #[test]
    fn alerts_of_the_server_become_readable_errors() {
        let without = Tls::default();
        let with = Tls {
            ca_file: None,
            client: Some(ClientFiles {
                certificate: "/etc/kiebitz/club.pem".into(),
                key: "/etc/kiebitz/club.key".into(),
            }),
        };
        let text = |tls: &Tls, alert| tls.refusal(&Error::AlertReceived(alert), "pi").to_string();
        let required = text(&without, AlertDescription::CertificateRequired);
        assert!(
            required.starts_with("the server requires a client certificate"),
            "{required}"
        );
        assert_eq!(
            text(&with, AlertDescription::UnknownCA),
            "the server rejects the client certificate in /etc/kiebitz/club.pem: not signed by a CA that the server \
             trusts"
        );
    }

    #[test]
    fn unusable_files_are_errors() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file.pem");
        let certificate = |content: &str| {
            fs::write(&path, content).expect("room");
            certificates(&path)
                .err()
                .map(|error| error.to_string())
                .expect("an error")
        };
        let key = |content: &str| {
            fs::write(&path, content).expect("room");
            private_key(&path)
                .err()
                .map(|error| error.to_string())
                .expect("an error")
        };
        assert!(certificate("").starts_with("there is no certificate in "));
        let damaged = "-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n";
        assert!(certificate(damaged).ends_with(" is damaged"));
        assert!(key(damaged).starts_with("there is no private key in "));
        let locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
        assert!(key(locked).contains("has a passphrase"), "{}", key(locked));
        let wide: Vec<u8> = damaged.encode_utf16().flat_map(u16::to_le_bytes).collect();
        fs::write(&path, wide).expect("room");
        let text = certificates(&path)
            .expect_err("the file is in UTF-16")
            .to_string();
        assert!(text.contains(": the file is in UTF-16"), "{text}");
        let folder = private_key(directory.path())
            .expect_err("a directory")
            .to_string();
        assert!(
            folder.ends_with(": this is a directory: name a file in it"),
            "{folder}"
        );
        // PEM files may contain other text, in any encoding, and may begin with a byte order mark.
        let marked = [b"\xef\xbb\xbf", damaged.as_bytes(), b"M\xfcller\n"].concat();
        fs::write(&path, marked).expect("room");
        assert!(matches!(
            certificates(&path),
            Err(TlsError::DamagedCertificate { .. })
        ));
        fs::remove_file(&path).expect("it is there");
        assert!(matches!(certificates(&path), Err(TlsError::Unreadable { .. })));
    }
}
