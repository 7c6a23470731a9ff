//! Encrypted connections to a real broker, and logins.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rumqttc::v5::mqttbytes::v5::Publish;
use tempfile::TempDir;

use crate::mosquitto::{Mosquitto, free_port};
use crate::mqtt_world::{Listener, json, topic};
use crate::outage::Program;

const PASSWORD: &str = "rook-on-h9";

/// A broker with a second listener for encrypted connections, and the files of both sides.
struct Club {
    directory: TempDir,
    broker: Mosquitto,
    port: u16,
}

impl Club {
    /// Opens the broker with a certificate for "localhost". `settings` are further lines for the encrypted listener.
    async fn open(settings: &str) -> Self {
        Self::open_as("basicConstraints=CA:FALSE", settings).await
    }

    /// Like [`open`](Self::open), with an extension of the broker's certificate.
    async fn open_as(extension: &str, settings: &str) -> Self {
        let extensions = format!("subjectAltName=DNS:localhost\n{extension}\n");
        Self::open_at("127.0.0.1", &extensions, settings).await
    }

    /// Like [`open`](Self::open), at an address of this computer and with all extensions of the certificate.
    async fn open_at(address: &str, extensions: &str, settings: &str) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = directory.path();
        for name in ["club", "other"] {
            make_ca(path, name);
        }
        sign(path, "broker", "club", extensions);
        let port = free_port();
        let (ca, certificate, key) = (
            path.join("club.pem"),
            path.join("broker.pem"),
            path.join("broker.key"),
        );
        let listener = format!(
            "listener {port} {address}\ncafile {}\ncertfile {}\nkeyfile {}\n{settings}\n",
            ca.display(),
            certificate.display(),
            key.display(),
        );
        let broker = Mosquitto::start_with(&listener).await;
        Self {
            directory,
            broker,
            port,
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A line of the configuration that names a file.
    fn line(&self, key: &str, name: &str) -> String {
        format!("{key} = {:?}\n", self.file(name))
    }

    /// Configures kiebitz for the encrypted listener, with all log levels.
    fn configure(&self, authority: &str, lines: &str) {
        let config = format!(
            "[daemon]\nname = \"pi\"\nstate_directory = {:?}\nlog = \"trace\"\n[ports]\nusb = false\n\
             [mqtt]\nurl = \"mqtts://{authority}:{}\"\n{lines}",
            self.file("state"),
            self.port
        );
        fs::write(self.file("kiebitz.toml"), config).unwrap();
        self.set_mode("kiebitz.toml", 0o600);
    }

    fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.file(name), Permissions::from_mode(mode)).unwrap();
    }

    fn start(&self) -> Program {
        Program::start(self.directory.path())
    }

    fn log(&self) -> String {
        fs::read_to_string(self.file("log")).unwrap_or_default()
    }

    /// Waits until a client of the plain listener receives that kiebitz is online.
    async fn until_online(&self) {
        let listener = Listener::start("listener", self.broker.address()).await;
        let is_online =
            |publish: &Publish| topic(publish) == "daemons/pi/state" && json(publish)["state"] == "online";
        listener
            .until("online", |inbox| inbox.iter().any(is_online))
            .await;
        let log = self.log();
        assert!(!log.contains(PASSWORD), "no password is logged: {log}");
    }

    async fn until_logged(&self, words: &str) {
        let in_log = async {
            while !self.log().contains(words) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let in_log = tokio::time::timeout(crate::eventually::PATIENCE, in_log).await;
        let log = self.log();
        assert!(in_log.is_ok(), "not in time: {words:?} in {log}");
        assert!(!log.contains(PASSWORD), "no password is logged: {log}");
    }

    /// Number of warnings with these words. Repetitions of a warning are logged at a lower level.
    fn warnings(&self, words: &str) -> usize {
        let log = self.log();
        let lines = log.lines();
        lines
            .filter(|line| line.contains("WARN") && line.contains(words))
            .count()
    }
}

fn openssl(directory: &Path, args: &[&str]) {
    let output = Command::new("openssl").args(args).current_dir(directory).output();
    let output = output.expect("these tests need openssl, which is not installed: run tests/run");
    assert!(
        output.status.success(),
        "openssl {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

const NEW_KEY: [&str; 5] = [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
];

pub(crate) fn make_ca(directory: &Path, name: &str) {
    let (key, certificate, subject) = (
        format!("{name}.key"),
        format!("{name}.pem"),
        format!("/CN={name}"),
    );
    let mut args = vec!["req", "-x509", "-days", "2", "-subj", &subject];
    args.extend(NEW_KEY);
    args.extend(["-keyout", &key, "-out", &certificate]);
    openssl(directory, &args);
}

/// Creates a key, and a certificate with extensions that is signed by the CA.
pub(crate) fn sign(directory: &Path, name: &str, ca: &str, extensions: &str) {
    let (key, certificate, subject) = (
        format!("{name}.key"),
        format!("{name}.pem"),
        format!("/CN={name}"),
    );
    let (ca_key, ca_certificate) = (format!("{ca}.key"), format!("{ca}.pem"));
    let mut args = vec!["req", "-subj", &subject];
    args.extend(NEW_KEY);
    args.extend(["-keyout", &key, "-out", "request"]);
    openssl(directory, &args);
    fs::write(directory.join("extensions"), extensions).unwrap();
    openssl(
        directory,
        &[
            "x509",
            "-req",
            "-in",
            "request",
            "-days",
            "2",
            "-extfile",
            "extensions",
            "-CA",
            &ca_certificate,
            "-CAkey",
            &ca_key,
            "-CAcreateserial",
            "-out",
            &certificate,
        ],
    );
}

#[tokio::test]
async fn a_broker_with_a_private_ca_is_trusted_once_the_ca_is_configured() {
    let club = Club::open("allow_anonymous true").await;
    fs::copy(club.file("other.pem"), club.file("ca.pem")).unwrap();
    club.configure("localhost", &club.line("ca_file", "ca.pem"));
    let _kiebitz = club.start();
    let words = "the server's certificate is not signed by the CA in ";
    club.until_logged(words).await;
    // kiebitz retries, so no restart is needed once the file is right.
    fs::copy(club.file("club.pem"), club.file("ca.pem")).unwrap();
    club.until_online().await;
    assert_eq!(club.warnings(words), 1, "{}", club.log());
}

#[tokio::test]
async fn certificate_errors_are_explained() {
    let club = Club::open("allow_anonymous true").await;
    let ca = club.line("ca_file", "club.pem");
    fs::write(club.file("empty.pem"), "nothing\n").unwrap();
    let client = |certificate, key| {
        let (certificate, key) = (
            club.line("client_certificate", certificate),
            club.line("client_key", key),
        );
        format!("{ca}{certificate}{key}")
    };
    for (host, lines, words) in [
        (
            "localhost",
            String::new(),
            "is not signed by a CA that this computer trusts",
        ),
        ("127.0.0.1", ca.clone(), "is not for 127.0.0.1, but for localhost"),
        ("localhost", club.line("ca_file", "none.pem"), "cannot read "),
        (
            "localhost",
            club.line("ca_file", "empty.pem"),
            "there is no certificate in ",
        ),
        (
            "localhost",
            client("broker.pem", "other.key"),
            "does not belong to the certificate in ",
        ),
        (
            "localhost",
            client("broker.pem", "empty.pem"),
            "there is no private key in ",
        ),
    ] {
        club.configure(host, &lines);
        let _ = fs::remove_file(club.file("log"));
        let _kiebitz = club.start();
        club.until_logged(words).await;
    }
}

#[tokio::test]
async fn a_certificate_must_be_for_the_address_of_the_broker() {
    // Not every computer has IPv6.
    let (address, authority, other) = match std::net::TcpListener::bind("[::1]:0") {
        Ok(_) => ("::1", "[::1]", "2001:db8::7"),
        Err(_) => ("127.0.0.1", "127.0.0.1", "192.0.2.7"),
    };
    for (name, is_right) in [(address, true), (other, false)] {
        let extensions = format!("subjectAltName=IP:{name}\nbasicConstraints=CA:FALSE\n");
        let club = Club::open_at(address, &extensions, "allow_anonymous true").await;
        club.configure(authority, &club.line("ca_file", "club.pem"));
        let _kiebitz = club.start();
        match is_right {
            true => club.until_online().await,
            false => {
                let words = format!("certificate is not for {authority}, but for {name}: ");
                club.until_logged(&words).await;
            }
        }
    }
}

#[tokio::test]
async fn a_broker_that_presents_a_ca_certificate_is_explained() {
    let club = Club::open_as("basicConstraints=critical,CA:TRUE", "allow_anonymous true").await;
    club.configure("localhost", &club.line("ca_file", "club.pem"));
    let _kiebitz = club.start();
    club.until_logged("the server presents the certificate of a CA")
        .await;
}

#[tokio::test]
async fn a_certificate_that_names_an_address_as_a_host_is_explained() {
    let extensions = "subjectAltName=DNS:127.0.0.1\nbasicConstraints=CA:FALSE\n";
    let club = Club::open_at("127.0.0.1", extensions, "allow_anonymous true").await;
    club.configure("127.0.0.1", &club.line("ca_file", "club.pem"));
    let _kiebitz = club.start();
    club.until_logged("make a new one with subjectAltName=IP:127.0.0.1")
        .await;
}

#[tokio::test]
async fn certificates_of_x509_version_1_are_explained() {
    // Without extensions, openssl makes version 1.
    let club = Club::open_at("127.0.0.1", "", "allow_anonymous true").await;
    let ca = club.line("ca_file", "club.pem");
    sign(club.directory.path(), "kiebitz", "club", "");
    let client = format!(
        "{ca}{}{}",
        club.line("client_certificate", "kiebitz.pem"),
        club.line("client_key", "kiebitz.key")
    );
    for (host, lines, words) in [
        ("127.0.0.1", &ca, "has the line subjectAltName=IP:127.0.0.1"),
        ("localhost", &ca, "has the line subjectAltName=DNS:localhost"),
        ("localhost", &client, "kiebitz.pem has X.509 version 1"),
    ] {
        club.configure(host, lines);
        let _ = fs::remove_file(club.file("log"));
        let _kiebitz = club.start();
        club.until_logged(words).await;
    }
}

#[tokio::test]
async fn a_server_without_tls_is_explained() {
    let club = Club::open("allow_anonymous true").await;
    club.configure("localhost", &club.line("ca_file", "club.pem"));
    let config = fs::read_to_string(club.file("kiebitz.toml")).unwrap();
    let open = club.broker.address().port();
    let other_door = config.replace(&club.port.to_string(), &open.to_string());
    fs::write(club.file("kiebitz.toml"), other_door).unwrap();
    let kiebitz = club.start();
    club.until_logged("the server at this address does not speak TLS")
        .await;
    drop(kiebitz);
    let plain = config.replace("mqtts://", "mqtt://");
    let plain: Vec<&str> = plain
        .lines()
        .filter(|line| !line.starts_with("ca_file"))
        .collect();
    fs::write(club.file("kiebitz.toml"), plain.join("\n")).unwrap();
    let _kiebitz = club.start();
    club.until_logged("if this port is for encrypted connections, the URL must begin with mqtts://")
        .await;
}

#[tokio::test]
async fn a_broker_that_requires_a_client_certificate_gets_it() {
    let club = Club::open("require_certificate true\nallow_anonymous true").await;
    for (name, ca) in [("kiebitz", "club"), ("stranger", "other")] {
        sign(club.directory.path(), name, ca, "extendedKeyUsage=clientAuth\n");
    }
    let ca = club.line("ca_file", "club.pem");
    club.configure("localhost", &ca);
    let kiebitz = club.start();
    club.until_logged("require").await;
    club.until_logged("a client certificate").await;
    drop(kiebitz);
    let client = |name: &str| {
        let (pem, key) = (format!("{name}.pem"), format!("{name}.key"));
        format!(
            "{ca}{}{}",
            club.line("client_certificate", &pem),
            club.line("client_key", &key)
        )
    };
    club.configure("localhost", &client("kiebitz"));
    let _kiebitz = club.start();
    club.until_online().await;
}

/// Creates a file with users of a broker, all with the same password.
pub(crate) fn make_users(file: &Path, users: &[&str], password: &str) {
    fs::write(file, "").expect("a file");
    for user in users {
        let made = Command::new("mosquitto_passwd")
            .arg("-b")
            .arg(file)
            .args([user, password])
            .output();
        let made = made.expect("mosquitto_passwd comes with mosquitto");
        assert!(made.status.success());
    }
}

#[tokio::test]
async fn the_password_comes_from_a_file_or_from_systemd_and_is_never_logged() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let users = directory.path().join("users");
    make_users(&users, &["club"], PASSWORD);
    let club = Club::open(&format!(
        "allow_anonymous false\npassword_file {}",
        users.display()
    ))
    .await;
    let ca = club.line("ca_file", "club.pem");
    let user = format!("{ca}user = \"club\"\n");
    let with_file = format!("{user}{}", club.line("password_file", "password"));

    club.configure("localhost", &ca);
    let kiebitz = club.start();
    club.until_logged("the broker requires a user and a password")
        .await;
    drop(kiebitz);

    fs::write(club.file("password"), "rook-on-a1\n").unwrap();
    club.set_mode("password", 0o644);
    club.configure("localhost", &with_file);
    let kiebitz = club.start();
    club.until_logged("the broker rejects the user \"club\" or the password")
        .await;
    club.until_logged("readable by every user of this computer").await;
    // A new password needs no restart.
    fs::write(club.file("password"), format!("{PASSWORD}\n")).unwrap();
    club.until_online().await;
    drop(kiebitz);

    fs::create_dir(club.file("credentials")).unwrap();
    fs::write(club.file("credentials/mqtt-password"), PASSWORD).unwrap();
    club.configure("localhost", &user);
    let credentials = club.file("credentials");
    let variables = [("CREDENTIALS_DIRECTORY", &*credentials)];
    let kiebitz = Program::start_with(club.directory.path(), &variables);
    club.until_online().await;
    drop(kiebitz);

    let _ = fs::remove_file(club.file("log"));
    club.configure(&format!("club:{PASSWORD}@localhost"), &ca);
    let kiebitz = club.start();
    club.until_online().await;
    assert_eq!(club.warnings("readable by every user of this computer"), 0);
    drop(kiebitz);
    club.set_mode("kiebitz.toml", 0o644);
    let _kiebitz = club.start();
    club.until_logged("contains a password").await;
}
