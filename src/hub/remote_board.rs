//! The status of a board, from the messages that its daemon publishes besides events.

use anyhow::Result;
use kiebitz_game::position::Seen;
use serde::Deserialize;
use shakmaty::Board;

use crate::clock::ClockView;
use crate::outputs::shared::board_status::{BoardStatus, ClockSetting, HallDesk, Levers};

#[derive(Debug, Default)]
pub(super) struct RemoteBoard {
    /// `None` until the daemon has published the board's state.
    state: Option<ReportedBoard>,
    /// The board was removed from the broker and is hidden until its state is published again.
    forgotten: bool,
    /// Content of the sensors; `None` until published.
    placement: Option<Board>,
    /// Placement that the game expects; `None` until published, or without a game.
    expected: Option<Board>,
    clock: ClockView,
}

/// The used fields of `boards/BOARD/state`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct ReportedBoard {
    /// Host of the board's daemon.
    pub(super) daemon: String,
    connected: bool,
    port: Option<String>,
    serial: Option<String>,
    battery: Option<u8>,
    /// Absent from daemons of older versions.
    table: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct ReceivedPlacement {
    placement: String,
    game_placement: Option<String>,
}

impl RemoteBoard {
    /// Applies a message on the board's topic `topic`. Returns whether it may change the status.
    pub(super) fn apply(&mut self, topic: &str, payload: &[u8]) -> Result<bool> {
        match (topic, payload) {
            ("state", []) => self.forgotten = true,
            // The removal of a board from the broker is complete with the removal of its state.
            (_, []) => return Ok(false),
            ("state", payload) => {
                self.state = Some(serde_json::from_slice(payload)?);
                self.forgotten = false;
            }
            ("placement", payload) => {
                let read: ReceivedPlacement = serde_json::from_slice(payload)?;
                let expected = read.game_placement.as_deref();
                self.placement = Some(Board::from_ascii_board_fen(read.placement.as_bytes())?);
                self.expected = expected
                    .map(|fen| Board::from_ascii_board_fen(fen.as_bytes()))
                    .transpose()?;
            }
            ("clock", payload) => self.clock = serde_json::from_slice(payload)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The published state; `None` until received.
    pub(super) fn state(&self) -> Option<&ReportedBoard> {
        self.state.as_ref()
    }

    /// The status of the board under the name `name`; `None` until its state was received. Without its daemon, the
    /// board counts as disconnected. `desk` is the address of the daemon's desk.
    pub(super) fn status(
        &self,
        name: String,
        daemon_is_there: bool,
        desk: Option<&str>,
    ) -> Option<BoardStatus> {
        let state = self.state.as_ref()?;
        let connected = state.connected && daemon_is_there;
        Some(BoardStatus {
            name,
            serial: state.serial.clone(),
            same_number: Vec::new(),
            port: state.port.clone().unwrap_or_default(),
            table: state.table,
            connected,
            away: (!daemon_is_there).then(|| state.daemon.clone()),
            forgotten: self.forgotten,
            battery: state.battery,
            placement: self.placement.clone().unwrap_or_else(Board::empty),
            expected: self.expected.clone(),
            clock: if connected {
                self.clock
            } else {
                ClockView::default()
            },
            // Only useful at the desk of the board's own daemon.
            levers: Levers::default(),
            setting: ClockSetting::default(),
            hall: Some(HallDesk {
                daemon: state.daemon.clone(),
                desk: desk.map(str::to_owned),
            }),
            seen: Seen::default(),
        })
    }
}

impl ReportedBoard {
    pub(super) fn serial(&self) -> Option<String> {
        self.serial.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: &[u8] =
        br#"{"board":"board-1","stream":"live","daemon":"pi","connected":true,"since":null,"reason":null,
        "port":"/dev/ttyACM0","serial":"0000000042","version":"1.8","orientation":"normal","battery":80,
        "clock":{"present":true,"battery_low":false},"table":51}"#;
    const PLACEMENT: &[u8] =
        br#"{"placement":"8/8/8/8/8/8/8/K6k","game_placement":"8/8/8/8/8/8/K7/7k","differs":["a1","a2"],
        "as_of":"2026-11-21T14:00:22.544000Z"}"#;
    const CLOCK: &[u8] =
        br#"{"white_ms":7189000,"black_ms":7192000,"running":"white","as_of":"2026-11-21T14:00:22.544000Z"}"#;

    fn received() -> RemoteBoard {
        let mut remote = RemoteBoard::default();
        for (topic, payload) in [("placement", PLACEMENT), ("state", STATE), ("clock", CLOCK)] {
            assert!(remote.apply(topic, payload).expect("understood"), "{topic}");
        }
        remote
    }

    #[test]
    fn a_status_has_the_reports_of_the_daemon() {
        let status = received()
            .status("north/board-1".to_owned(), true, Some("http://pi:8038/"))
            .expect("a sight");
        assert_eq!((&*status.name, status.table), ("north/board-1", Some(51)));
        assert_eq!(
            (status.connected, status.away, status.battery),
            (true, None, Some(80))
        );
        assert_eq!(status.placement.to_string(), "8/8/8/8/8/8/8/K6k");
        assert_eq!(
            status.expected.map(|board| board.to_string()).as_deref(),
            Some("8/8/8/8/8/8/K7/7k")
        );
        assert_eq!(status.clock.white_ms, Some(7_189_000));
        assert_eq!(status.port, "/dev/ttyACM0");
        let hall = status.hall.expect("a hall");
        assert_eq!(
            (&*hall.daemon, hall.desk.as_deref()),
            ("pi", Some("http://pi:8038/"))
        );
    }

    #[test]
    fn a_board_whose_daemon_is_away_counts_as_disconnected() {
        let status = received().status("b".to_owned(), false, None).expect("a sight");
        assert!(!status.connected && !status.forgotten);
        assert_eq!(status.away.as_deref(), Some("pi"));
        assert_eq!(status.clock, ClockView::default());
        assert_eq!(
            status.placement.to_string(),
            "8/8/8/8/8/8/8/K6k",
            "that is what stood there"
        );
        assert_eq!(
            RemoteBoard::default().status("b".to_owned(), true, None),
            None,
            "nothing was said of it"
        );
    }

    #[test]
    fn a_board_is_forgotten_until_it_is_there_again() {
        let mut remote = received();
        // The messages that remove a board from the broker.
        for topic in ["state", "placement", "clock", "game"] {
            remote.apply(topic, b"").expect("understood");
        }
        let is_there = |remote: &RemoteBoard| {
            let status = remote.status("b".to_owned(), true, None).expect("a sight");
            status.is_there()
        };
        assert!(!is_there(&remote));
        remote.apply("state", STATE).expect("understood");
        assert!(is_there(&remote));
    }

    #[test]
    fn invalid_messages_change_nothing() {
        let mut remote = received();
        for (topic, payload) in [
            ("state", &b"{}"[..]),
            ("placement", b"{\"placement\":\"9/8\"}"),
            ("clock", b"12:00"),
        ] {
            assert!(remote.apply(topic, payload).is_err(), "{topic}");
        }
        assert!(!remote.apply("pgn", b"1. e4").expect("of no use here"));
        let [now, before] = [remote, received()].map(|remote| remote.status("b".to_owned(), true, None));
        assert_eq!(now, before);
        let mut remote = received();
        remote
            .apply(
                "clock",
                b"{\"white_ms\":null,\"black_ms\":null,\"running\":null,\"as_of\":null}",
            )
            .expect("a clock that is gone");
        let status = remote.status("b".to_owned(), true, None).expect("a sight");
        assert_eq!(status.clock, ClockView::default());
    }
}
