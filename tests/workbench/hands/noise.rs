//! Input without a game behind it: noise on the line, and pieces moved at random.

use core::time::Duration;

use kiebitz_game::events::Event;
use kiebitz_game::hall::{Board, Hall, LineId, Names};
use kiebitz_game::position::Orientation;
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::emulator::hand::{Chance, ms};
use kiebitz_hardware::{Line, Timestamp};
use kiebitz_protocol::{ClockTimes, Dump, Field, FieldUpdate, Message, Piece, SideTime};
use shakmaty::{Board as Placement, Square};

use super::hall::{OPENING, dump};

/// A hall in virtual time that listens to one line with arbitrary bytes.
struct Listener {
    hall: Hall,
    line: LineId,
    now: Timestamp,
    events: Vec<Event>,
}

impl Listener {
    fn new() -> Self {
        let mut hall = Hall::new("noise", Names::Recorded);
        let line = hall.add("board-1", Line::listening(LineMode::Single));
        hall.open(OPENING, line);
        Self {
            hall,
            line,
            now: OPENING,
            events: Vec::new(),
        }
    }

    fn hear(&mut self, after: Duration, bytes: &[u8]) {
        self.now = self.now + after;
        self.hall.receive(self.now, self.line, bytes);
        self.events.extend(
            self.hall
                .take_events()
                .into_iter()
                .map(|explained| explained.event),
        );
    }

    fn hear_message(&mut self, after: Duration, message: &Message<'_>) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.hear(after, &bytes);
    }

    fn board(&self) -> &Board {
        self.hall.board("board-1").expect("it was opened")
    }

    /// Returns the placement that the tracker assumes, in the board's numbering of squares.
    fn placement(&self) -> Placement {
        let mut placement = self.board().placement().clone();
        if self.board().orientation() == Some(Orientation::Turned) {
            placement.rotate_180();
        }
        placement
    }
}

/// Feeds random bytes and messages from a seed.
fn noise(seed: u64) -> Listener {
    let mut chance = Chance::new(seed);
    let mut listener = Listener::new();
    if chance.percent(70) {
        let start = dump(&Placement::new(), chance.percent(30));
        listener.hear_message(Duration::from_millis(50), &Message::BoardDump(start));
    }
    for _ in 0..300 {
        let longest = if chance.percent(5) { 4000 } else { 120 };
        let after = chance.time(ms(0, longest));
        match chance.below(10) {
            0 => {
                let bytes: Vec<u8> = (0..chance.below(20)).map(|_| chance.bits() as u8).collect();
                listener.hear(after, &bytes);
            }
            1 => listener.hear_message(after, &Message::ClockTimes(any_times(&mut chance))),
            2 if chance.percent(10) => {
                listener.hear_message(after, &Message::BoardDump(any_dump(&mut chance)))
            }
            3 if chance.percent(5) => {
                listener.now = listener.now + after;
                listener.hall.close(listener.now, listener.line, "unplugged");
                listener.hall.open(listener.now, listener.line);
            }
            _ => listener.hear_message(after, &Message::FieldUpdate(any_update(&mut chance))),
        }
    }
    listener
}

fn any_update(chance: &mut Chance) -> FieldUpdate {
    let field = Field::new(chance.below(64) as u8).unwrap();
    let contents = (!chance.percent(50)).then(|| chance.pick(Piece::ALL));
    FieldUpdate::new(field, contents)
}

fn any_dump(chance: &mut Chance) -> Dump {
    let mut dump = [None; Field::COUNT];
    for contents in &mut dump {
        *contents = if chance.percent(40) {
            chance.pick_from(&Piece::ALL[..12])
        } else {
            None
        };
    }
    dump
}

fn any_times(chance: &mut Chance) -> ClockTimes {
    let side = |chance: &mut Chance| SideTime {
        minutes: chance.below(60) as u8,
        ..SideTime::default()
    };
    ClockTimes {
        right: side(chance),
        left: side(chance),
        running: chance.percent(70),
        lever_right_high: chance.percent(50),
        ..ClockTimes::default()
    }
}

fn placement_of(dump: &Dump) -> Placement {
    let mut placement = Placement::empty();
    for (field, contents) in Field::all().zip(dump) {
        if let Some(piece) = contents {
            let square = Square::new(u32::from(field.number())).flip_vertical();
            let (color, code) = if piece.code() > 6 {
                (shakmaty::Color::Black, piece.code() - 6)
            } else {
                (shakmaty::Color::White, piece.code())
            };
            let role = ['p', 'r', 'n', 'b', 'k', 'q'][usize::from(code) - 1];
            placement.set_piece_at(square, shakmaty::Role::from_char(role).unwrap().of(color));
        }
    }
    placement
}

#[test]
fn after_any_noise_the_placement_is_that_of_the_next_dump() {
    for seed in 0..150 {
        let mut listener = noise(seed);
        let mut chance = Chance::new(seed ^ 0xd00d);
        let last = if seed % 3 == 0 {
            dump(&Placement::new(), seed % 2 == 0)
        } else {
            any_dump(&mut chance)
        };
        listener.hear_message(Duration::from_millis(300), &Message::BoardDump(last));
        assert_eq!(listener.placement(), placement_of(&last), "seed {seed}");
        // The placement stays the same while nothing moves.
        listener.hear(Duration::from_secs(20), &[]);
        assert_eq!(listener.placement(), placement_of(&last), "seed {seed}, later");
    }
}

#[test]
fn the_same_noise_gives_the_same_events() {
    for seed in 0..60 {
        assert_eq!(noise(seed).events, noise(seed).events, "seed {seed}");
    }
}

#[test]
fn event_numbers_have_no_gaps_despite_noise() {
    for seed in 0..60 {
        let numbers = noise(seed).events.into_iter().map(|event| event.seq);
        assert!(numbers.eq(1..=noise(seed).events.len() as u64), "seed {seed}");
    }
}

/// Moves pieces of the start position at random, with the time `between` the changes. Returns the number of events.
pub fn shuffle(changes: usize, between: Duration) -> usize {
    let mut chance = Chance::new(7);
    let mut listener = Listener::new();
    let mut real = dump(&Placement::new(), false);
    listener.hear_message(Duration::from_millis(50), &Message::BoardDump(real));
    for _ in 0..changes / 2 {
        let occupied: Vec<usize> = (0..Field::COUNT).filter(|field| real[*field].is_some()).collect();
        let (from, to) = (chance.pick_from(&occupied).unwrap(), chance.below(Field::COUNT));
        let piece = real[from].take();
        real[to] = piece;
        for (field, contents) in [(from, None), (to, piece)] {
            let field = Field::new(field as u8).unwrap();
            let update = Message::FieldUpdate(FieldUpdate::new(field, contents));
            listener.hear_message(between, &update);
        }
    }
    listener.events.len()
}

#[test]
fn pieces_thrown_about_do_not_stop_the_tracker() {
    shuffle(400, Duration::from_millis(50));
    shuffle(100, Duration::from_millis(1500));
}
