//! Draft of a configuration, based on the boards that are plugged in.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kiebitz_hardware::capture::LineMode;

use super::report::{BoardReport, PortReport};
use super::trouble::TroubleKind;
use crate::config::Serial;

/// A drafted configuration and a summary of its contents.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConfigDraft {
    pub(crate) text: String,
    /// Number of named boards in the configuration.
    pub(crate) boards: usize,
    /// Ports and boards that are not in the configuration, each with the reason.
    pub(crate) left_out: Vec<String>,
}

/// Beginning of the file, before the boards.
const HEAD: &str = r##"# The configuration of kiebitz, written by `kiebitz setup` from the boards that were plugged in then.
#
# Every setting is optional. A line that begins with "#" does nothing: remove the "#" and change what comes after the "=".
# `kiebitz check-config FILE` checks it and shows its effect. These are only the usual settings;
# systemd/kiebitz.toml, which comes with kiebitz, explains all.

# The broker to which games are published. Without one, nothing leaves this computer; games are in the journal
# (`kiebitz games`). Remove the "#" in front of [mqtt] and url, and write the address of your broker.
#[mqtt]
#url = "mqtt://localhost"
# Delay for spectators.
#public_delay = "15 min"

# The event and its rules.
[event]
#name = "Club championship 2026"
#laws = "fide-2023"
# Without a time control, clocks are not checked against the time that has passed.
#time_control = "90+30"
"##;

const NO_BOARD: &str = r##"
# The boards, one block each. None was found: `kiebitz boards` shows serial numbers of boards that are plugged in. A board
# without a name is named by its serial number.
#[[board]]
#serial = "01025"
#name = "board-1"
"##;

const BOARDS: &str = "
# The boards. Their names are part of topics, ids of games and files, and need not be numbers. A board without a name is named by
# its serial number.
";

/// Sorts reports in the order in which their ports were given. Reports on other ports keep their order at the end.
pub(super) fn sort_as_given(reports: &mut [PortReport], ports: &[PathBuf]) {
    reports.sort_by_key(|report| {
        let names = [report.configured.as_deref(), Some(&*report.port)];
        let is_given = |port: &PathBuf| names.contains(&port.to_str());
        ports.iter().position(is_given).unwrap_or(ports.len())
    });
}

impl ConfigDraft {
    pub(super) fn of(reports: &[PortReport]) -> Self {
        let boards = reports.iter().flat_map(|report| &report.boards);
        let mut serials = BTreeMap::new();
        for serial in boards.filter_map(serial) {
            *serials.entry(serial).or_default() += 1;
        }
        let mut writer = DraftWriter {
            serials,
            ..DraftWriter::default()
        };
        for report in reports {
            writer.port(report);
        }
        let DraftWriter {
            ports,
            boards,
            named,
            left_out,
            ..
        } = writer;
        let intro = if named == 0 { NO_BOARD } else { BOARDS };
        Self {
            text: format!("{HEAD}{ports}{intro}{boards}"),
            boards: named,
            left_out,
        }
    }
}

#[derive(Default)]
struct DraftWriter {
    ports: String,
    boards: String,
    named: usize,
    /// Number of boards with each serial number.
    serials: BTreeMap<Serial, usize>,
    left_out: Vec<String>,
}

impl DraftWriter {
    fn port(&mut self, report: &PortReport) {
        let path = path(report);
        let is_port = |kind| !matches!(kind, TroubleKind::NotSerial | TroubleKind::Unlisted);
        if report.configured.is_some() && report.troubles.iter().all(|trouble| is_port(trouble.kind)) {
            // A single board on a line may answer as a bus with one board, so leave the detection to the daemon.
            let is_row = report.mode == Some(LineMode::Bus) && report.boards.len() > 1;
            let mode = if is_row { "mode = \"bus\"\n" } else { "" };
            self.ports
                .push_str(&format!("\n[[port]]\npath = {}\n{mode}", quoted(path)));
        }
        if let Some(process) = report.used_by_kiebitz {
            let reason = format!("{path} is in use by kiebitz (process {process}): stop kiebitz first");
            self.leave_out(reason);
        }
        let troubles = report.troubles.iter();
        for trouble in troubles.filter(|trouble| !trouble.kind.leaves_port_usable()) {
            self.leave_out(format!("{path}: {}. {}", trouble.text, trouble.step));
        }
        for board in &report.boards {
            self.board(board, path, report);
        }
    }

    fn board(&mut self, board: &BoardReport, path: &str, report: &PortReport) {
        // A block with a serial number takes precedence over one with a port, for each board that has this number.
        let serial = serial(board).filter(|serial| self.serials.get(serial) == Some(&1));
        let known_by = match serial {
            Some(serial) => format!("serial = {}", quoted(&serial.to_string())),
            // The board has no serial number, or the same as another board.
            None if report.mode != Some(LineMode::Bus) => format!("port = {}", quoted(path)),
            None => {
                return self.leave_out(format!("a board on {path} has no serial number of its own"));
            }
        };
        self.named += 1;
        self.boards.push_str(&format!(
            "\n# {}\n[[board]]\n{known_by}\nname = \"board-{}\"\n",
            one_line(&format!("On {path}, {}", report.kind_text)),
            self.named
        ));
    }

    fn leave_out(&mut self, reason: String) {
        self.boards.push_str(&format!("\n# {}\n", one_line(&reason)));
        self.left_out.push(reason);
    }
}

fn serial(board: &BoardReport) -> Option<Serial> {
    board.shown_serial()?.parse().ok()
}

/// Returns the path for the configuration: the path under which the port was given if that is absolute, else its
/// device.
fn path(report: &PortReport) -> &str {
    let named = report.configured.as_deref();
    named.filter(|path| path.starts_with('/')).unwrap_or(&report.port)
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Replaces control characters, because a comment must not continue on another line.
fn one_line(text: &str) -> String {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use kiebitz_hardware::port::{PortError, PortKind};

    use super::super::trouble::TroubleReport;
    use super::*;
    use crate::config::{Config, PortMode};

    fn board(serial: Option<&str>) -> BoardReport {
        BoardReport {
            name: None,
            serial: serial.map(str::to_owned),
            long_serial: None,
            version: None,
            trademark: None,
            placement: None,
            start_position: None,
            orientation: None,
            clock: None,
            battery: None,
            troubles: Vec::new(),
            pieces: None,
        }
    }

    fn port(path: &str, serials: &[Option<&str>]) -> PortReport {
        PortReport {
            configured: None,
            kind: Some(PortKind::Board),
            kind_text: "USB board".to_owned(),
            mode: Some(LineMode::Single),
            boards: serials.iter().copied().map(board).collect(),
            troubles: Vec::new(),
            ..PortReport::missing(path)
        }
    }

    fn read(reports: &[PortReport]) -> (ConfigDraft, Config) {
        let draft = ConfigDraft::of(reports);
        let config = Config::parse("kiebitz.toml".as_ref(), &draft.text);
        (draft, config.unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn boards_are_numbered_in_the_order_of_their_ports() {
        let row = |path: &str, serials: &[Option<&str>]| PortReport {
            mode: Some(LineMode::Bus),
            configured: Some(path.to_owned()),
            ..port(path, serials)
        };
        let (draft, config) = read(&[
            port("/dev/ttyACM0", &[Some("01025")]),
            row("/dev/ttyS0", &[Some("00007"), Some("00008")]),
            row("/dev/ttyS1", &[Some("00009")]),
        ]);
        assert_eq!((draft.boards, draft.left_out.len()), (4, 0));
        let roster = config.roster();
        let name = |serial: &str| roster.board_name([serial], "");
        assert_eq!(
            ["01025", "7", "8"].map(name),
            [Some("board-1"), Some("board-2"), Some("board-3")]
        );
        let modes: Vec<PortMode> = config.ports.listed.iter().map(|port| port.mode).collect();
        assert_eq!(modes, [PortMode::Bus, PortMode::Auto]);
        assert!(
            draft.text.contains("# On /dev/ttyACM0, USB board\n[[board]]\n"),
            "{}",
            draft.text
        );
    }

    #[test]
    fn a_draft_has_no_backslashes() {
        for reports in [vec![], vec![port("/dev/ttyACM0", &[Some("01025")])]] {
            let (draft, _) = read(&reports);
            assert!(!draft.text.contains('\\'), "{}", draft.text);
        }
    }

    #[test]
    fn twelve_ports_are_numbered_in_the_order_given() {
        // The given order is neither that of the ports' names nor that of the serial numbers.
        let given: Vec<PathBuf> = (0..12)
            .map(|nth| format!("/dev/hall/{}", (nth * 7) % 12).into())
            .collect();
        let mut reports: Vec<PortReport> = (0..12)
            .map(|number| PortReport {
                configured: Some(format!("/dev/hall/{number}")),
                ..port(
                    &format!("/dev/ttyACM{number}"),
                    &[Some(&*format!("{:05}", 20_000 - number))],
                )
            })
            .collect();
        sort_as_given(&mut reports, &given);
        let (draft, config) = read(&reports);
        assert_eq!((draft.boards, draft.left_out.len()), (12, 0));
        let roster = config.roster();
        for (nth, number) in (0..12).map(|nth| (nth, (nth * 7) % 12)) {
            let serial = format!("{:05}", 20_000 - number);
            let name = format!("board-{}", nth + 1);
            assert_eq!(roster.board_name([&*serial], ""), Some(&*name), "{serial}");
        }
    }

    #[test]
    fn draft_without_boards_equals_the_default_configuration() {
        let (draft, config) = read(&[]);
        assert_eq!((draft.boards, draft.left_out.len()), (0, 0));
        let meaning = Config {
            of_boards: String::new(),
            ..config
        };
        assert_eq!(meaning, Config::default());
        assert!(draft.text.contains("None was found"));
    }

    /// Removes the "#" from all commented-out settings and parses the result.
    #[test]
    fn commented_out_settings_are_valid() {
        let (draft, _) = read(&[]);
        let lines = draft.text.lines().map(|line| match line.strip_prefix('#') {
            Some(text) if !text.is_empty() && !text.starts_with(' ') => text,
            _ => line,
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let config = Config::parse("kiebitz.toml".as_ref(), &text);
        let config = config.unwrap_or_else(|error| panic!("{error}"));
        assert!(config.mqtt.is_some() && config.event.time_control.is_some());
        assert_eq!(config.boards.len(), 1);
    }

    #[test]
    fn board_without_a_serial_number_of_its_own_is_named_by_its_port() {
        let (draft, config) = read(&[
            port("/dev/ttyACM0", &[Some("01025")]),
            port("/dev/ttyACM1", &[Some("0000001025")]),
            port("/dev/ttyACM2", &[None]),
            port("/dev/ttyACM3", &[Some("\u{1b}[2J\n[mqtt]")]),
        ]);
        assert_eq!(draft.boards, 4);
        let roster = config.roster();
        let name = |port: &str| roster.board_name(["01025"], port);
        assert_eq!(
            ["/dev/ttyACM0", "/dev/ttyACM1", "/dev/ttyACM2", "/dev/ttyACM3"].map(name),
            [Some("board-1"), Some("board-2"), Some("board-3"), Some("board-4")]
        );
        assert!(!draft.text.contains('\u{1b}'));
    }

    /// Paths come from the command line and may contain any character.
    #[test]
    fn any_path_is_quoted() {
        for path in [
            "/dev/a\"b",
            "/dev/a\\b",
            "/dev/a\nb = 1",
            "/dev/a'\u{1b}b",
            "/dev/a\u{85}b",
        ] {
            let named = PortReport {
                configured: Some(path.to_owned()),
                ..port(path, &[None])
            };
            let (_, config) = read(&[named]);
            assert_eq!(config.ports.listed[0].path.to_str(), Some(path));
            assert_eq!(config.board_name([], path).as_deref(), Some("board-1"));
        }
    }

    #[test]
    fn ports_without_answers_are_left_out_with_the_reason() {
        let busy = PortReport {
            used_by_kiebitz: Some(77),
            ..port("/dev/ttyACM0", &[])
        };
        let denied = PortReport {
            troubles: vec![TroubleReport::of(&PortError::Missing {
                device: "/dev/ttyS9".into(),
            })],
            ..PortReport::missing("/dev/ttyS9")
        };
        let file = PortReport {
            troubles: vec![TroubleReport::of(&PortError::NotSerial {
                device: "/etc/passwd".into(),
            })],
            ..PortReport::missing("/etc/passwd")
        };
        let (draft, config) = read(&[busy, denied, file]);
        assert_eq!(draft.left_out.len(), 3);
        assert!(draft.left_out[0].contains("process 77"), "{:?}", draft.left_out);
        // The missing device may be plugged in later, so it is listed; a file that is not a port is not.
        assert_eq!(config.ports.listed.len(), 1);
    }
}
