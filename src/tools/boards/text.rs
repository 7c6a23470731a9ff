//! Reports as text, 80 columns wide.

use kiebitz_game::clock::Side;
use kiebitz_game::position::Orientation;
use kiebitz_hardware::capture::LineMode;
use shakmaty::{Board, Square};

use super::board::BoardChange;
use super::report::{BatteryReport, BoardReport, ClockReport, PortReport};
use super::trouble::TroubleReport;
use crate::outputs::shared::wrap;
use crate::outputs::sheet::{self, piece_name};

/// Formats the report on a port, with a paragraph for each board and each problem.
pub(super) fn block(report: &PortReport) -> Vec<String> {
    let mut lines = wrapped(&heading(report), 0, 2);
    if let Some(process) = report.used_by_kiebitz {
        let text = format!(
            "kiebitz uses this port (process {process}), so all is well. To check the port from here, stop \
             kiebitz first; the service with `sudo systemctl stop kiebitz`."
        );
        lines.extend(wrapped(&text, 2, 4));
    }
    for board in &report.boards {
        lines.extend(wrapped(&board_line(board), 2, 4));
        board
            .troubles
            .iter()
            .for_each(|problem| lines.extend(trouble(problem, 4)));
    }
    report
        .troubles
        .iter()
        .for_each(|problem| lines.extend(trouble(problem, 2)));
    lines
}

pub(super) const NO_PORT: &str = "\
No board found. Searched for USB boards, USB serial converters with FTDI's ids,
bound Bluetooth links (/dev/rfcomm*), and configured ports.

  USB: plug the board in, and check that `lsusb` lists it. A converter of
    another make is used if its id is configured, as in usb_ids = [\"1a86:7523\"].
  RS-232: name the port, as in `kiebitz boards --port /dev/ttyS0`.
  Bluetooth: pair the board, then run `sudo systemctl enable --now
    kiebitz-rfcomm@0-ADDRESS`, as in kiebitz-rfcomm@0-00:06:66:12:34:56, which
    also binds the link when the computer starts.
";

/// Summarises the number of boards and the ports that need attention.
pub(super) fn summary(reports: &[PortReport]) -> Vec<String> {
    let boards: usize = reports.iter().map(|report| report.boards.len()).sum();
    let attention: Vec<&str> = reports
        .iter()
        .filter(|report| !report.is_fine())
        .map(|report| report.port.as_str())
        .collect();
    let mut text = format!(
        "{} on {}",
        counted(boards, "board"),
        counted(reports.len(), "port")
    );
    if attention.is_empty() {
        text.push_str(", all well.");
    } else {
        text.push_str(&format!(". Needs attention: {}", attention.join(", ")));
    }
    wrapped(&text, 0, 2)
}

/// Describes a change of a board in one line.
pub(super) fn change(board: &BoardReport, change: &BoardChange) -> String {
    let text = match change {
        BoardChange::Appeared => format!("is there: {}", state(board)),
        BoardChange::Disappeared(reason) => format!("is gone: {reason}"),
        BoardChange::Square(square, Some(piece)) => format!("{square}: {}", piece_name(*piece)),
        BoardChange::Square(square, None) => format!("{square}: empty"),
        BoardChange::Position => position(board),
        BoardChange::Clock => clock(board.clock),
        BoardChange::Battery => board.battery.map(battery).unwrap_or_default(),
    };
    format!("{}: {text}", board.display_name())
}

/// Describes the state of a port in one line.
pub(super) fn line(report: &PortReport) -> String {
    if let Some(process) = report.used_by_kiebitz {
        return format!("in use by kiebitz (process {process})");
    }
    let boards = report.boards.iter();
    let boards = boards.map(|board| format!("{}: {}", board.display_name(), state(board)));
    let troubles = report.troubles.iter();
    let troubles = troubles.map(|trouble| format!("{}. {}", trouble.text, trouble.step));
    let boards = boards.collect::<Vec<_>>().join("; ");
    let parts = core::iter::once(boards)
        .filter(|boards| !boards.is_empty())
        .chain(troubles);
    parts.collect::<Vec<_>>().join(" ! ")
}

fn heading(report: &PortReport) -> String {
    let mut text = format!("{}: {}", report.port, report.kind_text);
    if report.mode == Some(LineMode::Bus) {
        text.push_str(&format!(", bus with {}", counted(report.boards.len(), "board")));
    }
    if let Some(configured) = report.configured.as_ref().filter(|path| **path != report.port) {
        text.push_str(&format!(" ({configured})"));
    }
    text
}

fn board_line(board: &BoardReport) -> String {
    let serial = board.shown_serial();
    let mut about = Vec::new();
    if board.name.is_some() {
        about.extend(serial.map(|serial| format!("serial number {serial}")));
    }
    about.extend(board.version.as_ref().map(|version| format!("version {version}")));
    let about = if about.is_empty() {
        String::new()
    } else {
        format!(" ({})", about.join(", "))
    };
    format!("{}{about}: {}", board.display_name(), state(board))
}

/// Describes pieces, clock and battery of a board.
fn state(board: &BoardReport) -> String {
    let mut parts = vec![position(board), clock(board.clock)];
    parts.extend(board.battery.map(battery));
    parts.join("; ")
}

fn position(board: &BoardReport) -> String {
    let Some(pieces) = &board.pieces else {
        return "position not reported".to_owned();
    };
    if *pieces == Board::new() {
        return match board.orientation {
            Some(Orientation::Turned) => "start position, connector on White's right".to_owned(),
            Some(Orientation::Normal) | None => "start position".to_owned(),
        };
    }
    if pieces.occupied().is_empty() {
        return "no pieces".to_owned();
    }
    let wrong: Vec<String> = Square::ALL
        .into_iter()
        .filter(|square| pieces.piece_at(*square) != Board::new().piece_at(*square))
        .map(|square| {
            let shown = pieces
                .piece_at(square)
                .map_or_else(|| "empty".to_owned(), piece_name);
            format!("{square} ({shown})")
        })
        .collect();
    if wrong.len() <= MAX_NAMED_SQUARES {
        format!("start position except for {}", wrong.join(", "))
    } else {
        format!("{} pieces, {pieces}", pieces.occupied().count())
    }
}

fn clock(clock: Option<ClockReport>) -> String {
    let Some(clock) = clock else {
        return "clock unknown".to_owned();
    };
    let Some(times) = clock.times else {
        return "no clock".to_owned();
    };
    let side = |side: Side, ms: u64| {
        let runs = if times.running && times.turn == side {
            " running"
        } else {
            ""
        };
        format!("{side} {}{runs}", sheet::clock_text(ms))
    };
    let stopped = if times.running { "" } else { ", stopped" };
    format!(
        "clock {}, {}{stopped}",
        side(Side::Left, times.left_ms),
        side(Side::Right, times.right_ms)
    )
}

fn battery(battery: BatteryReport) -> String {
    let percent = battery
        .percent
        .map_or_else(|| "unknown".to_owned(), |percent| format!("{percent} %"));
    let charging = if battery.charging { ", charging" } else { "" };
    let left = battery.left_minutes.map(|minutes| {
        let until = if battery.charging { "until full" } else { "left" };
        format!(", {}:{:02} h {until}", minutes / 60, minutes % 60)
    });
    format!("battery {percent}{charging}{}", left.unwrap_or_default())
}

fn trouble(trouble: &TroubleReport, indent: usize) -> Vec<String> {
    let mut lines = wrapped(&format!("! {}", trouble.text), indent, indent + 2);
    lines.extend(wrapped(&trouble.step, indent + 2, indent + 2));
    lines
}

fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

fn wrapped(text: &str, first: usize, rest: usize) -> Vec<String> {
    wrap::wrapped(text, WIDTH, first, rest)
}

const WIDTH: usize = 80;
/// Largest number of differences from the start position that are listed. With more, the placement is printed as FEN.
const MAX_NAMED_SQUARES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::boards::report::ClockReading;

    fn board(placement: &str) -> BoardReport {
        let pieces: Board = placement.parse().unwrap();
        BoardReport {
            name: None,
            serial: Some("01025".to_owned()),
            long_serial: None,
            version: Some("1.8".to_owned()),
            trademark: None,
            placement: Some(placement.to_owned()),
            start_position: Some(false),
            orientation: None,
            clock: Some(ClockReport {
                present: true,
                times: Some(ClockReading {
                    left_ms: 5_400_000,
                    right_ms: 5_391_000,
                    running: true,
                    turn: Side::Right,
                    battery_low: false,
                }),
            }),
            battery: Some(BatteryReport {
                percent: Some(64),
                charging: false,
                left_minutes: Some(305),
            }),
            troubles: vec![TroubleReport::clock_battery()],
            pieces: Some(pieces),
        }
    }

    #[test]
    fn a_board_is_a_paragraph_of_80_columns_with_its_problems_below() {
        let report = PortReport {
            kind_text: "USB board".to_owned(),
            troubles: Vec::new(),
            boards: vec![board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R")],
            ..PortReport::missing("/dev/ttyACM0")
        };
        let expected = [
            "/dev/ttyACM0: USB board",
            "  board 01025 (version 1.8): 32 pieces,",
            "    r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R; clock left 1:30:00,",
            "    right 1:29:51 running; battery 64 %, 5:05 h left",
            "    ! the clock's battery is low",
            "      Change the clock's batteries before the round.",
        ];
        assert_eq!(block(&report), expected);
        assert_eq!(
            summary(&[report]),
            ["1 board on 1 port. Needs attention: /dev/ttyACM0"]
        );
    }

    #[test]
    fn missing_and_misplaced_pieces_are_listed() {
        let shown = |placement: &str| position(&board(placement));
        assert_eq!(
            shown("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR"),
            "start position except for d1 (white king), e1 (white queen)"
        );
        assert_eq!(shown("8/8/8/8/8/8/8/8"), "no pieces");
        assert_eq!(shown("4k3/8/8/8/8/8/8/4K3"), "2 pieces, 4k3/8/8/8/8/8/8/4K3");
    }
}
