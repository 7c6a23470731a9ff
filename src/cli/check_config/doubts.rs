//! Finds problems of a configuration, as far as this is possible without opening ports or connecting to a broker.

use core::time::Duration;
use std::net::ToSocketAddrs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::mpsc;

use rustix::fs::Access;

use crate::config::{Config, KnownBy, NamedBoard};
use crate::outputs::mqtt::MqttConfig;
use crate::secret_file::{SecretReader, exposed, is_open_to_all};
use crate::text_file;

/// Timeout of looking up the broker's name.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(3);
/// Name of the content of a file in the message that all users may read it.
const SECRET: &str = "a secret";

/// Returns the problems with their next steps. `named` is the path from the command line.
pub(super) fn of(config: &Config, named: Option<&Path>) -> Vec<String> {
    let mut doubts = ports(config);
    doubts.extend(config.boards.iter().filter_map(|board| board_port(board, config)));
    let reader = SecretReader::of_state(&config.state_directory());
    if let Some(file) = config.exposed_file(named) {
        doubts.push(exposed(file, "a password", reader.as_ref()));
    }
    if let Some(broker) = &config.mqtt {
        doubts.extend(secrets(broker, reader.as_ref()));
        doubts.extend(topics(broker));
        doubts.extend(host(broker));
    }
    doubts.extend(output_files(config, reader.as_ref()));
    doubts.extend(config.pairings.iter().filter_map(|file| pairing_file(file)));
    doubts.extend(not_writable(&config.state_directory()));
    doubts.extend(crate::folder::exposed(&config.state_directory()));
    if config.recorder.enabled && config.recorder.directory.is_some() {
        doubts.extend(not_writable(&config.recordings()));
    }
    doubts
}

fn ports(config: &Config) -> Vec<String> {
    let ports = &config.ports;
    if !ports.usb && ports.listed.is_empty() {
        return vec![
            "no port is ever opened: `usb` is false and there is no [[port]]; set one of the two".to_owned(),
        ];
    }
    let wrong = ports.listed.iter().filter_map(|port| {
        let path = port.path.display();
        match std::fs::metadata(&port.path) {
            Ok(file) if file.file_type().is_char_device() => None,
            Ok(_) => Some(format!(
                "{path} is not a serial port: correct the path; `ls -l /dev/serial/by-id` lists those on USB"
            )),
            Err(_) => Some(format!(
                "{path} does not exist now: plug the device in, or correct the path; `ls -l /dev/serial/by-id` \
                 lists what is plugged in"
            )),
        }
    });
    wrong.collect()
}

/// Checks the port by which a board is identified.
fn board_port(board: &NamedBoard, config: &Config) -> Option<String> {
    let KnownBy::Port(path) = &board.known_by else {
        return None;
    };
    let listed = &config.ports.listed;
    if listed.iter().any(|port| port.path == *path) {
        return None;
    }
    let (name, shown) = (&board.name, path.display());
    let device = path.canonicalize().ok();
    let same = |other: &Path| device.is_some() && other.canonicalize().ok() == device;
    if let Some(other) = listed.iter().find(|port| same(&port.path)) {
        return Some(format!(
            "{name} is identified by {shown}, but [[port]] lists that port as {0}: write `port = \"{0}\"`",
            other.path.display()
        ));
    }
    if !config.ports.usb {
        return Some(format!(
            "{name} is identified by {shown}, which is not opened: add a [[port]] with that path"
        ));
    }
    match &device {
        None => Some(format!(
            "{name} is identified by {shown}, which does not exist now: plug the board in, or correct the path"
        )),
        // The search reports a port under the path of its device.
        Some(device) if device != path => Some(format!(
            "{name} is identified by {shown}, which leads to {}: add a [[port]] with the path {shown}",
            device.display()
        )),
        Some(_) => None,
    }
}

/// Checks the files of password, certificates and key. They are read, but their contents are never printed.
fn secrets(broker: &MqttConfig, reader: Option<&SecretReader>) -> Vec<String> {
    let files = broker.exposed_files();
    let mut doubts: Vec<String> = files.iter().map(|path| exposed(path, SECRET, reader)).collect();
    if let Some(Err(error)) = broker.login.as_ref().map(|login| login.read()) {
        doubts.push(error.to_string());
    }
    if let Some(Err(error)) = broker.tls.as_ref().map(|tls| tls.client_config()) {
        doubts.push(error.to_string());
    }
    doubts
}

/// Checks the files of tokens, logins and users that the tables of outputs name. Their contents are never printed.
fn output_files(config: &Config, reader: Option<&SecretReader>) -> Vec<String> {
    let outputs = config.outputs(None).outputs;
    let mut doubts = Vec::new();
    for output in &outputs {
        let secrets = output.secrets().into_iter();
        doubts.extend(
            secrets
                .filter(|path| path.is_file() && is_open_to_all(path))
                .map(|path| exposed(path, SECRET, reader)),
        );
        doubts.extend(output.file_problems());
    }
    doubts
}

/// Checks that a file of pairings can be opened. `kiebitz event check` checks its contents.
fn pairing_file(file: &Path) -> Option<String> {
    let error = text_file::open(file).err()?;
    Some(format!(
        "cannot read the pairings in {}: {error}; correct `pairings` under [event], or export the file before the round",
        file.display()
    ))
}

/// Checks that the daemon's name can be part of a topic, because otherwise kiebitz does not start.
fn topics(broker: &MqttConfig) -> Option<String> {
    let topic = broker.prefix().daemon_state(broker.daemon());
    topic
        .err()
        .map(|error| format!("{error}; set another `name` under [daemon]"))
}

/// Checks that the broker's host name resolves. Nothing is sent to the broker.
fn host(broker: &MqttConfig) -> Option<String> {
    let host = broker
        .host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned();
    let (sender, answer) = mpsc::channel();
    let address = (host.clone(), broker.port);
    // The lookup may block for a long time; the thread ends with the program.
    std::thread::spawn(move || sender.send(address.to_socket_addrs().map(|mut found| found.next())));
    match answer.recv_timeout(LOOKUP_TIMEOUT) {
        Ok(Ok(Some(_))) => None,
        Ok(Ok(None)) => Some(format!("the broker {host} has no address: check its name")),
        Ok(Err(error)) => Some(format!(
            "cannot look up the broker {host} ({error}): check its name and the network"
        )),
        Err(_) => Some(format!(
            "cannot look up the broker {host}: no answer within {} s; check the network",
            LOOKUP_TIMEOUT.as_secs()
        )),
    }
}

/// Returns a problem if the current user may not write to a directory or create it.
fn not_writable(directory: &Path) -> Option<String> {
    let shown = directory.display();
    let existing = directory.ancestors().find(|path| path.exists())?;
    if !existing.is_dir() {
        return Some(format!(
            "{} is not a directory, so nothing can be stored in {shown}",
            existing.display()
        ));
    }
    let access = rustix::fs::access(existing, Access::WRITE_OK | Access::EXEC_OK);
    access.is_err().then(|| {
        format!(
            "no permission to write in {}: the user who runs kiebitz needs it for {shown}; `ls -ld` shows the owner",
            existing.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn doubts(text: &str) -> Vec<String> {
        let config = Config::parse("kiebitz.toml".as_ref(), text).expect("a configuration");
        let mut doubts = ports(&config);
        doubts.extend(
            config
                .boards
                .iter()
                .filter_map(|board| board_port(board, &config)),
        );
        doubts
    }

    #[test]
    fn a_configuration_without_ports_is_reported() {
        let found = doubts("[ports]\nusb = false\n");
        assert!(
            matches!(found.as_slice(), [one] if one.starts_with("no port is ever opened")),
            "{found:?}"
        );
        assert!(doubts("").is_empty());
    }

    #[test]
    fn a_board_on_a_port_under_another_path_is_reported() {
        let folder = tempfile::tempdir().expect("a directory");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).expect("a link");
        let link = link.display();
        let by = |port: &str, rest: &str| {
            let found = doubts(&format!("[[board]]\nname = \"b\"\nport = \"{port}\"\n{rest}"));
            assert!(found.len() < 2, "{found:?}");
            found.into_iter().next().unwrap_or_default()
        };
        let listed = format!("[[port]]\npath = \"{link}\"\n");
        assert_eq!(by(&link.to_string(), &listed), "");
        assert!(by("/dev/null", &listed).ends_with(&format!("write `port = \"{link}\"`")));
        assert!(by(&link.to_string(), "").contains("leads to /dev/null"));
        assert!(
            by(
                "/dev/null",
                "[ports]\nusb = false\n[[port]]\npath = \"/dev/zero\"\n"
            )
            .contains("is not opened")
        );
        assert!(by("/dev/ttyNONE", "").contains("does not exist now"));
        assert_eq!(by("/dev/null", ""), "");
    }

    #[test]
    fn files_and_missing_devices_are_not_ports() {
        let found = doubts("[[port]]\npath = \"/dev/ttyNONE\"\n[[port]]\npath = \"/etc/passwd\"\n");
        assert!(
            found[0].contains("does not exist now") && found[1].contains("is not a serial port"),
            "{found:?}"
        );
    }

    /// Files of an output, and of pairings, which are opened only by the daemon.
    #[test]
    fn files_of_outputs_and_pairings_are_checked() {
        let folder = tempfile::tempdir().expect("a directory");
        let file = |name: &str, text: &str, mode| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("room");
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("permissions");
            path
        };
        let users = |line: &str| file("users", &format!("# arbiters\n{line}\n"), 0o600);
        let found = |text: String| {
            let config = Config::parse("kiebitz.toml".as_ref(), &text).expect("a configuration");
            let mut doubts = output_files(&config, None);
            doubts.extend(config.pairings.iter().filter_map(|file| pairing_file(file)));
            doubts
        };
        let lichess = |path: &Path| found(format!("[lichess]\ntoken_file = {path:?}\n"));
        let desk = |path: &Path| found(format!("[desk]\nusers_file = {path:?}\n"));
        let good = file("token", "lip_secret\n", 0o600);
        assert_eq!(lichess(&good), Vec::<String>::new());
        let hash = "chief operator -";
        assert_eq!(desk(&users(hash)), Vec::<String>::new());
        // The desk creates this file, and its folder.
        for missing in ["none", "state/users"] {
            assert_eq!(desk(&folder.path().join(missing)), Vec::<String>::new());
        }
        let open = file("open", "lip_secret\n", 0o644);
        let empty = file("empty", "\n", 0o600);
        for (doubts, start) in [
            (
                lichess(&open),
                "open contains a secret and is readable by every user",
            ),
            (lichess(&empty), "there is no token in the first line of"),
            (lichess(&folder.path().join("no")), "cannot read the token from"),
            (lichess(folder.path()), "this is a directory"),
            (desk(&users("chief boss -")), "users:2: unknown role \"boss\""),
            (
                desk(&users("chief operator $argon2id$half")),
                "chief cannot log in at the desk",
            ),
            (
                desk(&folder.path().join("token/users")),
                "nobody can log in at the desk",
            ),
            (
                found(format!(
                    "[event]\npairings = [{:?}]\n",
                    folder.path().join("r.pgn")
                )),
                "cannot read the pairings in",
            ),
            (
                found(format!(
                    "[[alarm]]\nname = \"a\"\nsend = \"ntfy\"\nurl = \"https://ntfy.example/x\"\ntoken_file = {empty:?}\n"
                )),
                "there is no token in the first line of",
            ),
            (
                found(format!(
                    "[[webhook]]\nname = \"w\"\nurl = \"https://example.org/x\"\ntoken_file = {empty:?}\n"
                )),
                "there is no token in the first line of",
            ),
            (
                found(format!(
                    "[publish]\nto = [\"s3://bucket/x\"]\ns3_key_file = {good:?}\n"
                )),
                "must have two lines",
            ),
            (
                found("[publish]\nto = \"ftps://ftp.example/chess\"\n".to_owned()),
                "ftps://ftp.example/chess: there is no login",
            ),
            (
                found(format!("[publish]\nca_file = {empty:?}\n")),
                "there is no certificate in",
            ),
        ] {
            assert!(
                matches!(doubts.as_slice(), [one] if one.contains(start)),
                "{start}: {doubts:?}"
            );
            assert!(!doubts.concat().contains("lip_secret"));
        }
    }

    #[test]
    fn write_access_is_checked_on_the_nearest_existing_directory() {
        let folder = tempfile::tempdir().expect("a directory");
        assert_eq!(not_writable(&folder.path().join("a/b")), None);
        let file = folder.path().join("file");
        std::fs::write(&file, "").expect("room");
        assert!(not_writable(&file.join("a")).is_some_and(|doubt| doubt.contains("is not a directory")));
    }

    #[test]
    fn an_unknown_broker_host_is_reported() {
        let broker = |host: &str| MqttConfig::from_url(&format!("mqtt://{host}")).expect("a URL");
        assert_eq!(host(&broker("127.0.0.1")), None);
        assert_eq!(host(&broker("[::1]:1883")), None);
        // The domain "invalid" is reserved and never resolves.
        assert!(host(&broker("broker.invalid")).is_some());
    }
}
