//! Blitz games on boards that lose their power with the cable, with a short gap every half minute, in virtual time.
//!
//! The memory of each board is full before the first gap, as it is on a board in use.

use core::time::Duration;

use kiebitz::tools::emulate::plies;
use kiebitz_game::events::{Event, EventKind, Incident, Move, Recovery};
use kiebitz_game::hall::{Hall, Names};
use kiebitz_game::laws::{IncidentKind, Severity};
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::emulator::hand::{
    Chance, Color, Deed, Ending, Script, Setting, Sitting, SittingSettings, Temperament, Truth, ms,
};
use kiebitz_hardware::emulator::{BoardSettings, ClockSide, EmulatedClock, Player};
use kiebitz_hardware::{Line, LineSettings, Timestamp};
use kiebitz_protocol::{Decoder, Message};
use shakmaty::{Board, Chess, Position};

use crate::hands::games::{Game, Taste};
use crate::hands::hall::OPENING;

/// Games played before the port is opened. They fill the board's memory.
const WARM_UP: usize = 12;
const GAMES: usize = 6;
/// Largest difference between a published clock time and the true one: a reading is up to a second old, the clock shows
/// whole seconds, and a press is scanned up to 0.6 s later.
const CLOCK_OFF: Duration = Duration::from_millis(2600);

/// Delay of a ply that was not published, in seconds.
const NEVER: f64 = 99.0;

/// A gap, and what became of it.
#[derive(Debug, Clone)]
pub struct Gap {
    pub from: Timestamp,
    pub to: Timestamp,
    /// The game, from 0, among those watched.
    pub game: usize,
    /// Number of plies that were published when the gap began, and that stood when it ended.
    pub plies: (usize, usize),
    /// Whether exactly one legal line of one or two plies leads over the gap.
    pub unique: bool,
    /// Whether all plies over the gap are right in the end.
    pub filled: bool,
    pub undecidable: bool,
    /// The plies that were played over the gap, with those before and after it.
    pub played: Vec<String>,
    /// Number of pressed plies from the one before the gap on, and of those whose published time is right.
    pub clocks: (usize, usize),
    /// The clock times that are wrong: ply, published, true.
    pub off: Vec<(usize, Option<u64>, u64)>,
    /// Plies published after the gap that nobody played.
    pub invented: Vec<String>,
    pub accusations: Vec<String>,
    /// Longest time in seconds from a ply of the following 20 s until its publication; 99 if one was not published.
    pub late: Option<f64>,
}

struct World {
    player: Player,
    /// The same players at another table, where each of their actions is visible.
    truth: Sitting,
    setting: Setting,
    clock: EmulatedClock,
    /// Time on the mover's clock after the press of each ply of each game; `None` if it was not pressed.
    made: Vec<Vec<Option<u64>>>,
    /// When each ply of each game stood.
    stood: Vec<Vec<Timestamp>>,
    /// The presses of the clock, each with the number of plies that stood.
    presses: Vec<(Timestamp, String)>,
}

impl World {
    fn new(seed: u64, temperament: Temperament) -> (Self, Vec<Game>) {
        let mut chance = Chance::new(seed);
        let games: Vec<Game> = (0..WARM_UP + GAMES)
            .map(|nth| {
                let taste = if nth % 2 == 0 { Taste::Any } else { Taste::Special };
                let plies = 40 + chance.below(60);
                Game::random(&mut chance, None, taste, plies)
            })
            .collect();
        let setting = Setting {
            white_side: Some(chance.pick([ClockSide::Left, ClockSide::Right])),
            time: Duration::from_secs(300),
            increment: chance.pick([Duration::ZERO, Duration::from_secs(2), Duration::from_secs(3)]),
            ..Setting::random(&mut chance)
        };
        let settings = SittingSettings {
            setting: setting.clone(),
            temperament,
            thinking: 100 + 50 * chance.below(4) as u32,
            seed: chance.bits(),
        };
        let mut scripts = games.iter().map(script);
        let mut truth = Sitting::new(OPENING, settings, scripts.next().unwrap());
        for script in scripts {
            truth.add(OPENING, script);
        }
        let player = Player::new(OPENING, BoardSettings::default(), truth.clone());
        let clock = EmulatedClock::new(setting.time).with_increment(setting.increment);
        let white = setting.white_side.unwrap();
        let first = if setting.black_presses_first {
            white.other()
        } else {
            white
        };
        let clock = clock.with_lever_high(first);
        let world = Self {
            player,
            truth,
            setting,
            clock,
            made: Vec::new(),
            stood: Vec::new(),
            presses: Vec::new(),
        };
        (world, games)
    }

    /// Lets time pass up to `now`.
    fn advance(&mut self, now: Timestamp) {
        self.player.advance(now);
        while let Some((at, deed)) = self.truth.poll_deed(now) {
            self.setting.perform_on_clock(&mut self.clock, at, deed);
            self.note(at);
            let Truth { plies, .. } = self.truth.truth();
            let Some(made) = self.made.last_mut() else {
                continue;
            };
            if let Deed::Press(color) = deed {
                let white = self.setting.white_side.unwrap();
                let side = if color == Color::White {
                    white
                } else {
                    white.other()
                };
                let left = self.clock.remaining(at, side).as_secs_f64();
                self.presses.push((
                    at,
                    format!("{color:?} presses after ply {plies}, {left:.1} s left"),
                ));
                let last = (0..plies).rev().find(|ply| color_of(*ply) == color);
                if let Some(pressed) = last.and_then(|ply| made.get_mut(ply)) {
                    pressed.get_or_insert_with(|| millis(self.clock.remaining(at, side)));
                }
            }
        }
        self.note(now);
    }

    fn note(&mut self, at: Timestamp) {
        let Truth { games, plies, .. } = self.truth.truth();
        self.made.resize(games, Vec::new());
        self.stood.resize(games, Vec::new());
        if let (Some(made), Some(stood)) = (self.made.last_mut(), self.stood.last_mut()) {
            made.resize(plies, None);
            stood.resize(plies, at);
        }
    }

    /// Number of games begun, and of plies that stand in the last one.
    fn stands(&self) -> (usize, usize) {
        let Truth { games, plies, .. } = self.truth.truth();
        (games, plies)
    }
}

/// Plays the games of a seed. Returns the gaps of one ply or more after a right record, all events, and the presses of
/// the clock.
pub fn play(seed: u64, temperament: Temperament) -> (Vec<Gap>, Vec<Event>, Vec<(Timestamp, String)>) {
    let (mut world, games) = World::new(seed, temperament);
    let mut chance = Chance::new(seed ^ 0x6761_7073);
    let mut hall = Hall::new("live", Names::Recorded);
    let line = hall.add("/dev/ttyEMU0", Line::keeping(LineSettings::of(LineMode::Single)));
    let (mut events, mut gaps): (Vec<Event>, Vec<Gap>) = (Vec::new(), Vec::new());
    let mut decoder = Decoder::new();
    let mut now = OPENING;
    // `None` if no opening of the port is planned.
    let mut opens_at = None;
    let mut opened = false;
    let mut unplugs_at: Option<Timestamp> = None;
    let mut gap: Option<(Timestamp, (usize, usize))> = None;
    let mut over_at = None;
    loop {
        let due = [
            world.player.poll_deadline(),
            world.truth.poll_deadline(),
            hall.poll_deadline(),
        ];
        let due = due.into_iter().chain([opens_at, unplugs_at]).flatten().min();
        now = due.unwrap_or(now).max(now);
        if world.player.is_done() && now > *over_at.get_or_insert(now) + Duration::from_secs(60)
            || due.is_none()
        {
            break;
        }
        hall.advance(now);
        world.advance(now);
        let games_begun = world.stands().0;
        if !opened && games_begun == WARM_UP && world.truth.truth().over {
            opened = true;
            opens_at = Some(now);
        }
        if opens_at.is_some_and(|at| at <= now) {
            opens_at = None;
            if gap.is_some() {
                world.player.plug(now, false);
            }
            hall.open(now, line);
            unplugs_at.get_or_insert_with(|| now + chance.time(ms(60_000, 90_000)));
        }
        if opened && opens_at.is_none() {
            while let Some((_, bytes)) = world.player.poll_transmit(now) {
                let mut dumped = false;
                decoder.feed(&bytes, |decoded| {
                    dumped |= matches!(decoded, Ok(Message::BoardDump(_)))
                });
                hall.receive(now, line, &bytes);
                if let Some((from, (game, plies))) = gap.take_if(|_| dumped) {
                    let (game_now, plies_now) = world.stands();
                    if game_now == game && plies_now > plies && game > WARM_UP {
                        gaps.push(Gap::new(game - 1 - WARM_UP, (from, now), (plies, plies_now)));
                    }
                    unplugs_at = Some(now + chance.time(ms(20_000, 40_000)));
                }
            }
        } else {
            while world.player.poll_transmit(now).is_some() {}
        }
        if unplugs_at.is_some_and(|at| at <= now) {
            unplugs_at = None;
            world.player.unplug(now);
            hall.close(now, line, "unplugged");
            gap = Some((now, world.stands()));
            opens_at = Some(now + chance.time(ms(1_000, 4_000)));
        }
        while let Some((_, bytes)) = hall.poll_write(now) {
            world.player.handle_bytes(now, &bytes);
            hall.sent(now, line, &bytes);
        }
        while let Some((_, reason)) = hall.poll_close() {
            hall.close(now, line, &reason);
            opens_at = Some(now + chance.time(ms(100, 3_000)));
        }
        events.extend(hall.take_events().into_iter().map(|explained| explained.event));
    }
    let ends: Vec<Timestamp> = gaps.iter().skip(1).map(|next| next.from).chain([now]).collect();
    let mut until = ends.into_iter();
    gaps.retain_mut(|gap| {
        let (game, made) = (&games[gap.game + WARM_UP], &world.made[gap.game + WARM_UP]);
        let stood = &world.stood[gap.game + WARM_UP];
        gap.judge(game, (made, stood), until.next().unwrap(), &events)
    });
    (gaps, events, world.presses)
}

impl Gap {
    fn new(game: usize, (from, to): (Timestamp, Timestamp), plies: (usize, usize)) -> Self {
        Self {
            from,
            to,
            game,
            plies,
            unique: false,
            filled: false,
            undecidable: false,
            played: Vec::new(),
            clocks: (0, 0),
            off: Vec::new(),
            invented: Vec::new(),
            accusations: Vec::new(),
            late: None,
        }
    }

    /// Compares the events from the gap until the next one, and the final record of its plies, with the truth. Returns
    /// `false` if the record was wrong before the gap.
    fn judge(
        &mut self,
        game: &Game,
        (made, stood_at): (&[Option<u64>], &[Timestamp]),
        until: Timestamp,
        events: &[Event],
    ) -> bool {
        let uci = game.uci();
        let (stood, after) = self.plies;
        let near = stood.saturating_sub(1)..(after + 2).min(uci.len());
        self.played = near.map(|ply| format!("{} {}", ply + 1, uci[ply])).collect();
        let mut before = 0;
        let begun = events
            .iter()
            .rfind(|event| event.ts <= self.from && matches!(event.kind, EventKind::GameStarted { .. }));
        let Some(id) = begun.map(|event| &event.game) else {
            return false;
        };
        let mut record: Vec<Move> = Vec::new();
        let mut was_right = true;
        let is_right =
            |record: &[Move], ply: usize| record.get(ply).is_some_and(|m| m.uci.as_ref() == uci.get(ply));
        for event in events {
            let here = (self.from..until).contains(&event.ts);
            if let EventKind::BoardRecovered {
                by: Recovery::Undecidable,
                from,
                ..
            } = event.kind
            {
                self.undecidable |= here && from < self.to;
            }
            if let EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident) = &event.kind
                && here
                && accuses(incident)
            {
                self.accusations.push(incident.kind.to_string());
            }
            if event.game != *id {
                continue;
            }
            match &event.kind {
                EventKind::MoveMade(m) | EventKind::MoveAmended { played: m, .. } => {
                    record.truncate(m.ply as usize - 1);
                    record.push(m.clone());
                    let ply = m.ply as usize - 1;
                    // The order of plies over a gap may be unknown.
                    let near = ply.saturating_sub(4)..(ply + 5).min(uci.len());
                    let played = near
                        .clone()
                        .any(|other| (other + ply).is_multiple_of(2) && uci.get(other) == m.uci.as_ref());
                    if here && !played {
                        let uci = m.uci.as_deref().unwrap_or("irregular");
                        self.invented.push(format!("{} {uci}", m.ply));
                    }
                }
                EventKind::MoveCompleted {
                    ply,
                    clock: Some(clock),
                    ..
                } => {
                    if let Some(m) = record.get_mut(*ply as usize - 1) {
                        m.clock = Some(*clock);
                    }
                }
                EventKind::MoveRetracted { ply, .. } => record.truncate(*ply as usize - 1),
                _ => {}
            }
            if event.ts <= self.from {
                before = record.len();
                was_right = (0..before).all(|ply| is_right(&record, ply)) && before + 1 >= stood;
            }
        }
        self.plies.0 = before.min(stood);
        self.unique = was_right && is_only_line(game, self.plies);
        self.filled = !self.undecidable && (before..after).all(|ply| is_right(&record, ply));
        for ply in before.saturating_sub(1)..after {
            let (Some(pressed), true) = (made[ply], is_right(&record, ply)) else {
                continue;
            };
            self.clocks.0 += 1;
            let clock = record[ply].clock.map(|clock| match color_of(ply) {
                Color::White => clock.white_ms,
                Color::Black => clock.black_ms,
            });
            if clock.is_some_and(|clock| u128::from(clock.abs_diff(pressed)) <= CLOCK_OFF.as_millis()) {
                self.clocks.1 += 1;
            } else {
                self.off.push((ply + 1, clock, pressed));
            }
        }
        let followed = self.to..until.min(self.to + Duration::from_secs(20));
        let published = |ply: usize| {
            // After an undecidable gap, the numbers differ.
            let made = events.iter().filter(|event| event.ts >= stood_at[ply]);
            let same = |event: &&Event| matches!(&event.kind, EventKind::MoveMade(m) | EventKind::MoveAmended { played: m, .. } if m.uci.as_ref() == uci.get(ply));
            made.into_iter()
                .find(same)
                .map(|event| event.ts.saturating_duration_since(stood_at[ply]).as_secs_f64())
        };
        let late = (0..stood_at.len()).filter(|ply| followed.contains(&stood_at[*ply]));
        self.late = late
            .filter(|ply| stood_at.get(ply + 3).is_some())
            .map(|ply| published(ply).unwrap_or(NEVER))
            .reduce(f64::max);
        was_right
    }
}

/// Whether an incident calls for action against a player.
fn accuses(incident: &Incident) -> bool {
    let neutral = [
        IncidentKind::SensorFault,
        IncidentKind::BoardDisconnected,
        IncidentKind::TimeTrouble,
    ];
    incident.severity >= Severity::Advice && !neutral.contains(&incident.kind)
}

/// Whether no other line of at most the same number of plies leads to the placement after the gap. Gaps of more than
/// two plies count as not unique.
fn is_only_line(game: &Game, (before, after): (usize, usize)) -> bool {
    let mut position = game.start.clone();
    for m in &game.moves[..before] {
        position.play_unchecked(*m);
    }
    let mut last = position.clone();
    for m in &game.moves[before..after] {
        last.play_unchecked(*m);
    }
    after - before <= 2 && lines_to(&position, last.board(), after - before) == 1
}

/// Number of lines of at most `plies` plies to a placement.
fn lines_to(position: &Chess, placement: &Board, plies: usize) -> usize {
    let here = usize::from(position.board() == placement);
    if plies == 0 {
        return here;
    }
    let moves = position.legal_moves();
    let next = moves.iter().map(|m| {
        let mut next = position.clone();
        next.play_unchecked(*m);
        lines_to(&next, placement, plies - 1)
    });
    here + next.sum::<usize>()
}

fn script(game: &Game) -> Script {
    let mut position = game.start.clone();
    let mut script = Script {
        start: plies::dump(position.board()),
        plies: Vec::new(),
        ending: Ending::Draw,
    };
    for m in &game.moves {
        script.plies.push(plies::ply(&position, *m));
        position.play_unchecked(*m);
    }
    if position.is_game_over() {
        script.ending = Ending::Stops;
    }
    script
}

/// The player of a ply, counted from 0.
fn color_of(ply: usize) -> Color {
    if ply.is_multiple_of(2) {
        Color::White
    } else {
        Color::Black
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap()
}
