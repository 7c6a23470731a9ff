//! Records a game: an emulated board and clock, and a host that queries them and stores the bytes.

use core::time::Duration;

use kiebitz::tools::emulate::plies;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{CaptureWriter, Direction, Interface, LineMode};
use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard};
use kiebitz_protocol::{Command, Dump};
use shakmaty::Board;

use super::play::Play;

/// Start of virtual time: 2026-11-21, 14:00 UTC.
pub const OPENING: Timestamp = Timestamp::from_micros(1_795_269_600_000_000);

/// Commands of the host, with their times in milliseconds.
const COMMANDS: [(u64, Command); 8] = [
    (300, Command::Reset),
    (500, Command::SendVersion),
    (700, Command::ReturnSerialNumber),
    (900, Command::ReturnLongSerialNumber),
    (1100, Command::SendBoard),
    (1400, Command::SendClock),
    (1600, Command::UpdateNice),
    (1700, Command::SendBoard),
];

/// Plays a game and returns its capture.
pub fn record(play: &Play) -> Vec<u8> {
    let mut board = play.setting.board(OPENING, BoardSettings::default(), &play.first);
    let mut recording = BoardRecording::new();
    let mut commands = COMMANDS.iter().peekable();
    for step in &play.steps {
        while let Some((millis, command)) =
            commands.next_if(|(millis, _)| Duration::from_millis(*millis) <= step.at)
        {
            recording.command(&mut board, *millis, command);
        }
        recording.listen(&mut board, OPENING + step.at);
        play.setting.perform(&mut board, OPENING + step.at, step.deed);
    }
    for (millis, command) in commands {
        recording.command(&mut board, *millis, command);
    }
    recording.listen(&mut board, OPENING + play.end);
    recording.writer.into_inner()
}

struct BoardRecording {
    writer: CaptureWriter<Vec<u8>>,
    port: usize,
}

impl BoardRecording {
    fn new() -> Self {
        let mut writer = CaptureWriter::new(Vec::new()).unwrap();
        let interface = Interface {
            name: "board-1".to_owned(),
            mode: LineMode::Single,
        };
        let port = writer.add_interface(&interface).unwrap();
        writer.write_opened(OPENING, port).unwrap();
        Self { writer, port }
    }

    fn command(&mut self, board: &mut EmulatedBoard, millis: u64, command: &Command) {
        let at = OPENING + Duration::from_millis(millis);
        self.listen(board, at);
        let mut bytes = Vec::new();
        command.encode(&mut bytes);
        self.writer
            .write_bytes(at, self.port, Direction::Outbound, &bytes)
            .unwrap();
        board.handle_bytes(at, &bytes);
    }

    fn listen(&mut self, board: &mut EmulatedBoard, until: Timestamp) {
        while let Some((at, bytes)) = board.poll_transmit(until) {
            self.writer
                .write_bytes(at, self.port, Direction::Inbound, &bytes)
                .unwrap();
        }
    }
}

/// Converts a placement to the board's own numbering of squares.
pub fn dump(board: &Board, turned: bool) -> Dump {
    let mut dump = plies::dump(board);
    if turned {
        dump.reverse();
    }
    dump
}
