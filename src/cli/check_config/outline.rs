//! Describes the effect of a configuration on `kiebitz run`, one line per topic.

use core::time::Duration;

use bytesize::ByteSize;
use kiebitz_game::laws::{Mode, Regulations};

use super::broadcast;
use crate::config::{
    Config, JournalSettings, KnownBy, LiveChessSettings, NamedBoard, PortMode, RecorderSettings,
};
use crate::outputs::mqtt::MqttConfig;

/// Mark of settings that have their default values.
const DEFAULT: &str = " (default)";

pub(super) fn of(config: &Config) -> Vec<(&'static str, String)> {
    let broadcast = broadcast::lines(config);
    let mut lines = vec![
        ("event", event(config)),
        ("boards", boards(config)),
        ("ports", ports(config)),
    ];
    match &config.mqtt {
        None if broadcast.is_empty() => lines.push((
            "broker",
            "none: nothing is published; games are stored in the journal".to_owned(),
        )),
        None => lines.push(("broker", "none: nothing is published over MQTT".to_owned())),
        Some(broker) => {
            lines.push(("broker", self::broker(broker)));
            lines.push(("spectators", spectators(config)));
        }
    }
    lines.extend(broadcast);
    if let Some(livechess) = &config.livechess {
        lines.push(("LiveChess", self::livechess(livechess)));
    }
    let state = config.state_directory().display().to_string();
    let is_default = config.daemon.state_directory.is_none();
    lines.push(("state", marked(state, is_default)));
    lines.push(("journal", journal(config.journal)));
    lines.push(("recordings", recordings(config)));
    lines
}

fn marked(text: String, is_default: bool) -> String {
    text + if is_default { DEFAULT } else { "" }
}

fn event(config: &Config) -> String {
    let event = &config.event;
    let names = [&event.event, &event.site].into_iter().flatten().cloned();
    let mut parts: Vec<String> = names.collect();
    parts.push(rules(event));
    marked(parts.join(", "), *event == Regulations::default())
}

fn rules(regulations: &Regulations) -> String {
    let rules = &regulations.rules;
    let unsupervised = match (rules.mode, rules.supervised) {
        (Mode::Standard, _) | (_, true) => "",
        (_, false) => " without supervision",
    };
    let time = match &regulations.time_control {
        Some(control) => format!("time control {control}"),
        None => "no time control, so clocks are not checked".to_owned(),
    };
    format!("{}, {}{unsupervised}, {time}", rules.edition, rules.mode)
}

fn boards(config: &Config) -> String {
    let named: Vec<String> = config.boards.iter().map(|board| named(board, config)).collect();
    match named.as_slice() {
        [] => "named by their serial numbers (default)".to_owned(),
        named => format!("{}; others are named by their serial numbers", named.join(", ")),
    }
}

fn named(board: &NamedBoard, config: &Config) -> String {
    let known_by = match &board.known_by {
        KnownBy::Serial(serial) => serial.to_string(),
        KnownBy::Port(port) => port.display().to_string(),
    };
    let other = if board.regulations == config.event {
        String::new()
    } else {
        format!(": {}", rules(&board.regulations))
    };
    format!("{} ({known_by}{other})", board.name)
}

fn ports(config: &Config) -> String {
    let ports = &config.ports;
    let found = if ports.usb {
        "finds boards on USB and bound Bluetooth links"
    } else {
        "no search for boards"
    };
    let listed = ports.listed.iter().map(|port| {
        let mode = match port.mode {
            PortMode::Auto => "",
            PortMode::Single => " (one board)",
            PortMode::Bus => " (a row in bus mode)",
        };
        format!("{}{mode}", port.path.display())
    });
    let mut parts = vec![found.to_owned()];
    parts.extend(listed);
    if !ports.ignore.is_empty() {
        parts.push(format!("{} never opened", ports.ignore.len()));
    }
    marked(parts.join("; "), ports.usb && parts.len() == 1)
}

/// Describes address and user of the broker, never a password.
fn broker(broker: &MqttConfig) -> String {
    let encrypted = if broker.is_encrypted() {
        ", encrypted"
    } else {
        ", not encrypted"
    };
    let user = broker.user().map_or_else(
        || ", without a login".to_owned(),
        |user| format!(", as user {user}"),
    );
    let commands = if broker.takes_commands() {
        "; accepts commands"
    } else {
        ""
    };
    format!(
        "{}{encrypted}{user}; topics under {}{commands}",
        broker.broker(),
        broker.prefix()
    )
}

fn spectators(config: &Config) -> String {
    let usual = config
        .mqtt
        .as_ref()
        .map(MqttConfig::public_delay)
        .unwrap_or_default();
    let others = config.boards.iter().filter_map(|board| {
        let own = board.public_delay.filter(|own| *own != usual)?;
        Some(format!("{}: {}", board.name, later(own)))
    });
    let parts: Vec<String> = core::iter::once(later(usual)).chain(others).collect();
    marked(parts.join("; "), usual.is_zero() && parts.len() == 1)
}

fn later(delay: Duration) -> String {
    match (delay.as_secs() / 60, delay.as_secs() % 60) {
        (0, 0) => "get everything at once".to_owned(),
        (0, seconds) => format!("get everything {seconds} s later"),
        (minutes, 0) => format!("get everything {minutes} min later"),
        (minutes, seconds) => format!("get everything {minutes} min {seconds} s later"),
    }
}

/// Describes the LiveChess emulation, which serves programs that expect LiveChess.
fn livechess(settings: &LiveChessSettings) -> String {
    let sites = match settings.origins.as_slice() {
        [] => "no web page".to_owned(),
        sites => sites.join(", "),
    };
    let setup = if settings.setup {
        "; clients may begin games"
    } else {
        ""
    };
    let open = if settings.is_open() {
        "; WITHOUT DELAY for everybody who can reach that address"
    } else {
        ""
    };
    let text = format!(
        "boards for programs and {sites} on {}{setup}{open}",
        settings.listen
    );
    marked(text, *settings == LiveChessSettings::default())
}

fn journal(journal: JournalSettings) -> String {
    let days = journal.keep_days;
    let kept = format!(
        "keeps games for {days} {}",
        if days == 1 { "day" } else { "days" }
    );
    marked(kept, journal == JournalSettings::default())
}

fn recordings(config: &Config) -> String {
    let recorder = &config.recorder;
    if !recorder.enabled {
        return "off: after a restart, only the journal is available".to_owned();
    }
    let most = ByteSize::b(recorder.budget).display().si();
    let text = format!("{}, at most {most}", config.recordings().display());
    marked(text, *recorder == RecorderSettings::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> String {
        let config = Config::parse("kiebitz.toml".as_ref(), text).expect("a configuration");
        let lines = of(&config).into_iter();
        let lines = lines.map(|(label, text)| format!("{label}: {text}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn unset_values_are_marked_as_default() {
        let outline = outline("[daemon]\nstate_directory = \"/srv/k\"\n");
        assert_eq!(
            outline,
            "event: fide-2023, standard, no time control, so clocks are not checked (default)\n\
             boards: named by their serial numbers (default)\n\
             ports: finds boards on USB and bound Bluetooth links (default)\n\
             broker: none: nothing is published; games are stored in the journal\n\
             state: /srv/k\n\
             journal: keeps games for 365 days (default)\n\
             recordings: /srv/k/recordings, at most 2.0 GB (default)"
        );
    }

    #[test]
    fn settings_are_described_without_the_password() {
        let outline = outline(
            r#"
            [daemon]
            state_directory = "/srv/k"
            [event]
            name = "Club championship"
            site = "Ulm"
            time_control = "15+10"
            supervised = false
            [mqtt]
            url = "mqtts://club:secret@broker.example"
            public_delay = "15 min"
            commands = true
            [publish]
            to = ["/srv/live", "s3://chess/2026"]
            listen = "0.0.0.0:8080"
            [lichess]
            broadcast = "QYiOYnl1"
            delay = "0 s"
            [[webhook]]
            name = "club"
            url = "https://club.example/secret"
            [[webhook]]
            name = "bell"
            url = "https://bell.example/secret"
            send = "events"
            delay = "90 s"
            [[alarm]]
            name = "phone"
            send = "ntfy"
            url = "https://ntfy.sh/secret"
            kinds = ["flag_fall"]
            [[alarm]]
            name = "lamp"
            send = "mqtt"
            topic = "lamp/{table}"
            [desk]
            users_file = "/etc/kiebitz/desk-users"
            [livechess]
            setup = true
            [journal]
            keep_days = 1
            [recorder]
            enabled = false
            [ports]
            usb = false
            ignore = ["/dev/ttyUSB3"]
            [[port]]
            path = "/dev/ttyS0"
            mode = "bus"
            [[board]]
            serial = "1025"
            name = "board-1"
            public_delay = "90 s"
            [[board]]
            port = "/dev/rfcomm0"
            name = "board-2"
            time_control = "3+2"
            "#,
        );
        assert_eq!(
            outline,
            "event: Club championship, Ulm, fide-2023, rapid without supervision, time control 15+10\n\
             boards: board-1 (01025), board-2 (/dev/rfcomm0: fide-2023, blitz without supervision, time control 3+2); \
             others are named by their serial numbers\n\
             ports: no search for boards; /dev/ttyS0 (a row in bus mode); 1 never opened\n\
             broker: broker.example:8883, encrypted, as user club; topics under kiebitz; accepts commands\n\
             spectators: get everything 15 min later; board-1: get everything 1 min 30 s later\n\
             broadcast: /srv/live, s3://chess/2026, http://0.0.0.0:8080/, 15 min later\n\
             Lichess: broadcast QYiOYnl1, at once\n\
             webhooks: club (rounds, 15 min later), bell (all events, 1 min 30 s later)\n\
             desk: http://127.0.0.1:8038/ for the users in /etc/kiebitz/desk-users\n\
             alarms: phone (ntfy, flag_fall), lamp (lamp, everything)\n\
             LiveChess: boards for programs and https://lichess.org, https://www.chess.com on 127.0.0.1:1982; clients may begin games\n\
             state: /srv/k\n\
             journal: keeps games for 1 day\n\
             recordings: off: after a restart, only the journal is available"
        );
    }
}
