//! The world around a game: an emulated board and clock, a host that listens, and what it records.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{CaptureWriter, Direction, Interface, LineMode};
use kiebitz_hardware::emulator::{BoardSettings, ClockSide, EmulatedBoard, EmulatedClock};
use kiebitz_protocol::{Command, Contents, Dump, Field, Piece as WirePiece};
use shakmaty::{Board, Color, Piece, Role, Square};

use super::motion::{Deed, Step};
use super::play::{Play, Setting};

/// When everything begins: 2026-11-21, 14:00 UTC.
pub(crate) const OPENING: Timestamp = Timestamp::from_micros(1_795_269_600_000_000);

/// What the host asks for, and when.
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

/// Lets a game happen and returns the capture of it.
pub(crate) fn record(play: &Play) -> Vec<u8> {
    let mut board = board_of(play);
    let mut tape = Tape::new();
    let mut commands = COMMANDS.iter().peekable();
    for step in &play.steps {
        while let Some((millis, command)) =
            commands.next_if(|(millis, _)| Duration::from_millis(*millis) <= step.at)
        {
            tape.command(&mut board, *millis, command);
        }
        tape.listen(&mut board, OPENING + step.at);
        perform(&mut board, step, &play.setting);
    }
    for (millis, command) in commands {
        tape.command(&mut board, *millis, command);
    }
    tape.listen(&mut board, OPENING + play.end);
    tape.writer.into_inner()
}

fn board_of(play: &Play) -> EmulatedBoard {
    let setting = &play.setting;
    let settings = BoardSettings {
        scan_period: setting.scan_period,
        scan_phase: setting.scan_phase,
        clock_period: setting.clock_period,
        ..BoardSettings::default()
    };
    let mut board = EmulatedBoard::with_pieces(OPENING, settings, &dump(&play.first, setting.turned));
    if let Some(white) = setting.white_side {
        let high = if setting.black_presses_first {
            white.other()
        } else {
            white
        };
        let clock = EmulatedClock::new(Duration::from_secs(7200))
            .with_lever_high(high)
            .with_increment(setting.increment);
        board.plug_clock(OPENING, Some(clock));
    }
    board
}

fn perform(board: &mut EmulatedBoard, step: &Step, setting: &Setting) {
    let now = OPENING + step.at;
    match step.deed {
        Deed::Stands(square, piece) => board.set(now, field(square, setting.turned), piece.map(wire_piece)),
        Deed::Token(square, token) => board.set(now, field(square, setting.turned), token),
        Deed::Press(color) => {
            if let (Some(clock), Some(white)) = (board.clock_mut(now), setting.white_side) {
                clock.press(now, side_of(color, white));
            }
        }
        Deed::StartClock => {
            if let Some(clock) = board.clock_mut(now) {
                clock.start(now);
            }
        }
        Deed::StopClock => {
            if let Some(clock) = board.clock_mut(now) {
                clock.stop(now);
            }
        }
    }
}

/// The recorder.
struct Tape {
    writer: CaptureWriter<Vec<u8>>,
    port: usize,
}

impl Tape {
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

fn side_of(color: Color, white: ClockSide) -> ClockSide {
    if color.is_white() { white } else { white.other() }
}

pub(crate) fn field(square: Square, turned: bool) -> Field {
    let field = Field::new(u32::from(square.flip_vertical()) as u8).unwrap();
    if turned { field.turned() } else { field }
}

pub(crate) fn dump(board: &Board, turned: bool) -> Dump {
    let mut dump: Dump = [None; Field::COUNT];
    for square in Square::ALL {
        dump[field(square, turned).index()] = contents(board, square);
    }
    dump
}

fn contents(board: &Board, square: Square) -> Contents {
    board.piece_at(square).map(wire_piece)
}

fn wire_piece(piece: Piece) -> WirePiece {
    let code = match piece.role {
        Role::Pawn => 1,
        Role::Rook => 2,
        Role::Knight => 3,
        Role::Bishop => 4,
        Role::King => 5,
        Role::Queen => 6,
    };
    let code = if piece.color.is_white() { code } else { code + 6 };
    WirePiece::ALL[code - 1]
}
