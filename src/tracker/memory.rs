//! What happened while nobody listened, from the board's own memory.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::{ClockTimes, Dump, Element, FieldUpdate, Piece, SideTime};

use super::clock::Side;
use super::finding::{Finding, Ply, Recovery, Start};
use super::pace;
use super::rewind::Checkpoint;
use super::sensors::{Sensors, difference};
use super::start;
use super::state::{Footprint, State};
use super::tree::{Played, Standing, Tree};
use super::{Line, Tracker, sensors};

/// A gap in what was heard from the board.
#[derive(Debug)]
pub(super) struct Gap {
    /// The port went away then.
    closed_at: Timestamp,
    /// What the sensors had shown.
    before: Sensors,
    /// The side whose clock stood, and its time in seconds.
    halted: Option<(Side, u32)>,
    /// Until when the board's memory is waited for; `None` while the board is away.
    wait_until: Option<Timestamp>,
    /// The port was open: some of what is missing was heard, and told.
    rewinds: bool,
    /// A dump has come since.
    dumped: bool,
}

/// Reports that come right behind the memory's answer: they were made while it held the line.
#[derive(Debug)]
pub(super) struct Late {
    since: Timestamp,
    until: Timestamp,
    latest: Timestamp,
    changes: Vec<Element>,
    /// The last of the clock's readings among them.
    reading: Option<(Timestamp, ClockTimes)>,
}

/// A game that was begun before anybody listened has been going on for less.
const LONG_AGO: Duration = Duration::from_secs(6 * 3600);

/// What waited begins to come within this time.
const LATE_FOR: Duration = Duration::from_millis(150);
/// One report follows the other as fast as the line takes them: 5 ms each, and what the port adds.
const LATE_ONE_BY_ONE: Duration = Duration::from_millis(50);
/// Hands cannot have done more while the memory was read.
const LATE_AT_MOST: Duration = Duration::from_millis(1000);

/// What is being played back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Playback {
    /// It came to be known then; nothing is told before.
    pub(super) heard_at: Timestamp,
    /// From the board's memory after a gap, not as it happened.
    pub(super) recovered: bool,
}

/// After the first dump the host is given this long to ask for the memory.
const ASKED_WITHIN: Duration = Duration::from_secs(1);
/// A full read takes about 8.3 s on the line.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// The flickering of one piece is merged in the memory: so many squares may be off where the gap begins.
const MERGED: usize = 3;
/// Castling has four squares under way at most.
const IN_THE_AIR: usize = 4;

impl Gap {
    /// Reports were lost since a checkpoint.
    pub(super) fn since(checkpoint: &Checkpoint) -> Self {
        Self {
            closed_at: checkpoint.at,
            before: checkpoint.sensors.clone(),
            halted: checkpoint.halted,
            wait_until: None,
            rewinds: true,
            dumped: false,
        }
    }
}

impl Tracker {
    /// Goes on with a line of play that was followed until `at`, from its start over each ply, with whether it was
    /// settled: the daemon's journal has it. What was played since is looked for as behind any other gap.
    pub fn resume<'s>(
        &mut self,
        at: Timestamp,
        start: &'s Start,
        plies: impl IntoIterator<Item = (&'s Ply, bool)>,
        white_side: Option<Side>,
    ) {
        let plies: Vec<(&Ply, bool)> = plies.into_iter().collect();
        let settled = plies
            .iter()
            .rposition(|(_, settled)| *settled)
            .map_or(0, |last| last + 1);
        let (settled, open) = plies.split_at(settled);
        let states = settled.iter().map(|(ply, _)| &ply.after);
        let mut passed: Vec<State> = core::iter::once(&start.state).chain(states).cloned().collect();
        let Some(last) = passed.pop() else { return };
        let ply = u32::try_from(passed.len()).unwrap_or(u32::MAX);
        // What was told last and not settled was perhaps still in the hand.
        let before = Sensors::showing(at, last.board(), start.turned);
        *self = Self::new();
        self.sensors = Sensors::turned_like(start.turned);
        if let Some(side) = white_side {
            self.clock.vote_white(side, 1);
        }
        let mut tree = Tree::new(last, ply, at);
        let mut tip = tree.root();
        for (ply, _) in open {
            let went = ply.uci.and_then(|uci| Some((uci.from()?, uci.to()?)));
            let played = ply.played.map_or(Played::Irregular(went), Played::Move);
            let squares = difference(tree.node(tip).state.board(), ply.after.board());
            let footprint = Footprint::of_squares(squares, ply.after.board());
            tip = tree.add(tip, played, ply.after.clone(), footprint, &before, at);
            let node = tree.node_mut(tip);
            node.standing = Standing::Told;
            node.inferred = ply.inferred;
        }
        self.line = Some(Line {
            passed,
            tree,
            awaited: false,
        });
        self.gap_begins(at);
        if let Some(gap) = &mut self.missing {
            gap.before = before;
        }
    }

    /// Goes on at a board of which no line of play is known, and that was listened to until `at`.
    pub fn resume_without_line(&mut self, at: Timestamp) {
        *self = Self::new();
        self.gap = Some(at);
    }

    pub(super) fn gap_begins(&mut self, now: Timestamp) {
        self.disturbed = true;
        self.play_late(now);
        self.asked_memory = None;
        if self.missing.as_ref().is_some_and(|gap| gap.rewinds) {
            self.missing = None;
        }
        self.asked = false;
        self.clock.unheard();
        self.gap.get_or_insert(now);
        // A port that opens and closes again before the memory has come is still the same gap.
        let (before, halted) = (&self.sensors, self.clock.halted());
        let gap = self.missing.get_or_insert_with(|| Gap {
            closed_at: now,
            before: before.clone(),
            halted,
            wait_until: None,
            rewinds: false,
            dumped: false,
        });
        gap.wait_until = None;
        gap.dumped = false;
    }

    /// The board is back: what it shows is not judged before its memory had the time to come.
    pub(super) fn gap_dumped(&mut self, now: Timestamp) {
        if let Some(gap) = &mut self.missing {
            gap.wait_until.get_or_insert(now + ASKED_WITHIN);
            gap.dumped = true;
        }
    }

    pub(super) fn memory_asked(&mut self, now: Timestamp) {
        self.asked_memory = Some(now);
        if self.missing.is_none() && self.gap.is_none() {
            self.missing = self.rewinds_to().map(|gap| Gap {
                wait_until: Some(now),
                ..gap
            });
        }
        if let Some(until) = self.missing.as_mut().and_then(|gap| gap.wait_until.as_mut()) {
            *until = now + ANSWERED_WITHIN;
        }
    }

    /// Whether judgement still waits for the board's memory.
    pub(super) fn waits_for_memory(&mut self, now: Timestamp) -> bool {
        let Some(gap) = &self.missing else { return false };
        let Some(until) = gap.wait_until else { return false };
        if now < until {
            self.wake_at(until);
            return true;
        }
        self.missing = None;
        self.squares_changed(now);
        false
    }

    /// Plays back what the memory holds of the gap.
    pub(super) fn remember(&mut self, now: Timestamp, elements: &[Element]) {
        // It holds what was until it was asked for.
        let asked = self.asked_memory.take();
        self.late = asked.map(|since| Late {
            since,
            until: now + LATE_FOR,
            latest: now + LATE_AT_MOST,
            changes: Vec::new(),
            reading: None,
        });
        let until = asked.unwrap_or(now);
        let Some(gap) = self.missing.take() else {
            self.recall(now, until, elements);
            return;
        };
        let heard =
            missed(elements, gap.before.fields(), gap.halted).filter(|(_, missed)| !missed.is_empty());
        if let (Some((1.., _)), Some(checkpoint), false) = (heard, &self.checkpoint, gap.rewinds) {
            // What was heard last never stood like that: reports were lost before the line went away.
            let before = Gap {
                wait_until: gap.wait_until,
                dumped: true,
                ..Gap::since(checkpoint)
            };
            let since = missed(elements, before.before.fields(), before.halted);
            if let Some((0, since)) = since.filter(|(_, since)| !since.is_empty()) {
                let followed = self.rewind();
                self.recover(now, until, before, since);
                if let Some(followed) = followed {
                    self.set_against(followed);
                }
                return;
            }
        }
        match heard.map(|(_, missed)| missed) {
            Some(missed) if gap.rewinds => {
                let followed = self.rewind();
                self.recover(now, until, gap, missed);
                if let Some(followed) = followed {
                    self.set_against(followed);
                }
            }
            Some(missed) => self.recover(now, until, gap, missed),
            None => self.squares_changed(now),
        }
    }

    /// A board met for the first time remembers how it came to show what it does: a game in progress is taken up from
    /// its start position.
    fn recall(&mut self, now: Timestamp, until: Timestamp, elements: &[Element]) {
        let Some(at) = elements.iter().rposition(is_start) else {
            return;
        };
        let (tag, since) = (elements[at], &elements[at + 1..]);
        if self.line.is_some() || since.is_empty() || since.contains(&Element::PowerUp) {
            return;
        }
        let known = self.sensors.known();
        let shown = *self.sensors.fields();
        let (told, sensors) = (self.findings.len(), self.sensors.clone());
        let from = until.saturating_sub(LONG_AGO);
        self.playback = Some(Playback {
            heard_at: now,
            recovered: true,
        });
        let began = self.gap.take();
        self.sensors = Sensors::new();
        self.sensors.set_all(from, &tagged(tag));
        self.squares_changed(from);
        self.decide(from);
        self.play_back(from, until, since);
        self.playback = None;
        if known {
            self.sensors.set_all(until, &shown);
            self.squares_changed(until);
            if self.differs() > IN_THE_AIR {
                // It remembers something else.
                self.findings.truncate(told);
                self.sensors = sensors;
                self.line = None;
                self.gap = began;
                return;
            }
        }
        if let Some(from) = began {
            self.tell(
                now,
                Finding::Recovered {
                    by: Recovery::Memory,
                    changes: since.len(),
                    from,
                    to: now,
                },
            );
        }
    }

    /// A report that had to wait behind the memory's answer came to be before it arrived. Returns whether it is one.
    pub(super) fn is_late(&mut self, now: Timestamp, update: FieldUpdate) -> bool {
        let Some(late) = self.late.as_mut().filter(|late| now < late.until) else {
            return false;
        };
        late.until = late.until.max(now + LATE_ONE_BY_ONE).min(late.latest);
        late.changes.push(Element::PieceChange {
            field: update.field,
            contents: update.contents,
            quick: false,
        });
        true
    }

    /// The same for a reading of a running clock: whether it shows a press before or after the pieces around it.
    pub(super) fn is_late_reading(&mut self, now: Timestamp, times: ClockTimes) -> bool {
        let running = self.clock.running() == Some(true);
        let last = self.clock.reading();
        let Some(late) = self.late.as_mut().filter(|late| running && now < late.until) else {
            return false;
        };
        let before = late.reading.or(last);
        if before.is_some_and(|(_, before)| before.lever_right_high != times.lever_right_high) {
            let left = times.lever_right_high;
            let side = if left { times.left } else { times.right };
            late.changes.push(Element::ClockTime {
                left,
                hours: side.hours,
                minutes: side.minutes,
                seconds: side.seconds,
            });
        }
        if !times.running && before.is_some_and(|(_, before)| before.running) {
            // What comes behind it was not done in haste.
            late.changes.push(Element::Nothing);
        }
        late.until = late.until.max(now + LATE_ONE_BY_ONE).min(late.latest);
        late.reading = Some((now, times));
        true
    }

    /// Plays back the reports that were late, once all have come. Returns whether it still waits for some.
    pub(super) fn waits_for_late(&mut self, now: Timestamp) -> bool {
        let Some(late) = &self.late else { return false };
        if now < late.until {
            self.wake_at(late.until);
            return true;
        }
        self.play_late(now);
        false
    }

    /// Plays back the reports that were late, as far as they have come: what comes now is newer.
    pub(super) fn play_late(&mut self, now: Timestamp) {
        let Some(late) = self.late.take() else { return };
        if !late.changes.is_empty() {
            self.playback = Some(Playback {
                heard_at: now,
                recovered: false,
            });
            self.play_back(late.since, now, &late.changes);
            self.playback = None;
        }
        if let Some((_, times)) = late.reading {
            for change in self.clock.read(now, times) {
                self.clock_changed(now, change);
            }
        }
    }

    /// What changed on a board that is asked instead of reporting by itself, since it was asked last.
    pub(super) fn changed_since(&mut self, now: Timestamp, elements: &[Element], not_before: Timestamp) {
        self.clock.presses_are_remembered();
        self.asked = true;
        if let Some(gap) = self.missing.take() {
            // The first answer after a gap holds all of it.
            if elements.contains(&Element::PowerUp) || elements.is_empty() {
                self.squares_changed(now);
            } else {
                self.recover(now, now, gap, elements);
            }
        } else if not_before == NEVER {
            self.recall(now, now, elements);
        } else {
            self.playback = Some(Playback {
                heard_at: now,
                recovered: false,
            });
            self.play_back(not_before.max(self.quiet_since), now, elements);
            self.playback = None;
        }
    }

    /// The placement before the gap, and all that happened since.
    fn recover(&mut self, now: Timestamp, until: Timestamp, gap: Gap, missed: &[Element]) {
        let changes = missed
            .iter()
            .filter(|element| matches!(element, Element::PieceChange { .. }))
            .count();
        let (from, to) = (gap.closed_at, now);
        self.tell(
            now,
            Finding::Recovered {
                by: Recovery::Memory,
                changes,
                from,
                to,
            },
        );
        let shown = *self.sensors.fields();
        let reading = self.clock.reading().filter(|(at, _)| *at > gap.closed_at);
        let dumped = gap.dumped;
        let stated = dumped || gap.rewinds;
        self.sensors = gap.before;
        self.playback = Some(Playback {
            heard_at: now,
            recovered: true,
        });
        let began = self.gap.take();
        if std::env::var("DBG").is_ok() {
            eprintln!("DBG recover {now:?} rewinds {} {missed:?}", gap.rewinds);
        }
        // Pieces that are set up for the next game look like moves of the last one: beside a clock it ends with the
        // last press before a start position stands.
        let next = last_start(self.sensors.fields(), missed);
        let with_clock = gap.halted.is_some();
        let (last_game, next_game) = missed.split_at(next.map_or(0, |(at, _)| at));
        let pressed = last_game
            .iter()
            .rposition(|element| matches!(element, Element::ClockTime { .. }));
        let played = if with_clock {
            pressed.map_or(&[][..], |pressed| &last_game[..=pressed])
        } else {
            last_game
        };
        let half = from + until.saturating_duration_since(from) / 2;
        let (ended, resumed) = if next.is_some() {
            (half, half)
        } else {
            (from, from)
        };
        self.play_back(from, ended, played);
        if let Some((_, standing)) = next {
            self.sensors.set_all(resumed, &standing);
            self.squares_changed(resumed);
        }
        self.play_back(resumed, until, next_game);
        self.playback = None;
        if dumped {
            self.sensors.set_all(until, &shown);
        }
        // A piece may be in the air; more than that the memory has not told.
        self.gap = began.filter(|_| stated && self.differs() > IN_THE_AIR);
        if let Some(reading) = reading {
            self.clock.put_back(reading);
        }
        self.squares_changed(until);
    }

    /// On how many squares the board differs from the reading that fits it best.
    fn differs(&self) -> usize {
        self.line.as_ref().map_or(0, |line| {
            let best = line.tree.node(line.tree.best());
            self.sensors.differing(best.state.board()).count()
        })
    }

    /// Plays elements back at times that hands can have needed; the memory has none.
    fn play_back(&mut self, from: Timestamp, to: Timestamp, missed: &[Element]) {
        let times = pace::times(from, to, missed, self.sensors.fields());
        for (element, now) in missed.iter().zip(times) {
            while let Some(deadline) = self.wake.filter(|deadline| *deadline <= now) {
                self.decide(deadline);
            }
            match *element {
                Element::PieceChange { field, contents, .. } => {
                    self.sensors.set_field(now, field, contents);
                    self.squares_changed(now);
                }
                Element::ClockTime {
                    left,
                    hours,
                    minutes,
                    seconds,
                } => {
                    let side = if left { Side::Left } else { Side::Right };
                    let time = SideTime {
                        hours,
                        minutes,
                        seconds,
                        ..SideTime::default()
                    };
                    self.clock.remember(now, side, time);
                    self.clock_pressed(now, side);
                }
                _ => {}
            }
            self.decide(now);
        }
        while let Some(deadline) = self.wake.filter(|deadline| *deadline <= to) {
            self.decide(deadline);
        }
    }
}

/// The elements after the moment when the board showed `before`; `None` if the memory does not tell: it never shows
/// that placement, or the board was without power since.
///
/// Also on how many squares the memory shows that moment otherwise.
fn missed<'a>(
    elements: &'a [Element],
    before: &Dump,
    halted: Option<(Side, u32)>,
) -> Option<(usize, &'a [Element])> {
    let mut fields: Dump = [None; 64];
    let mut known = [false; 64];
    let mut time = None;
    let mut best = None;
    for (at, element) in elements.iter().enumerate() {
        match *element {
            Element::PieceChange { contents, field, .. } => {
                fields[usize::from(field.number())] = contents;
                known[usize::from(field.number())] = true;
            }
            Element::ClockTime {
                left,
                hours,
                minutes,
                seconds,
            } => {
                let side = if left { Side::Left } else { Side::Right };
                time = Some((side, sensors::seconds(hours, minutes, seconds)));
            }
            Element::StartPosition
            | Element::StartPositionTurned
            | Element::EmptyBoard
            | Element::PowerUp => {
                fields = tagged(*element);
                known = [true; 64];
                // The clock may have been set anew, which the memory does not tell.
                time = None;
            }
            _ => continue,
        }
        let off = (0..64).filter(|i| !known[*i] || fields[*i] != before[*i]).count();
        // Of equal fits the latest: what came before it was heard.
        let rank = (off, contradicts(time, halted));
        if best.is_none_or(|(best, _)| rank <= best) {
            best = Some((rank, at + 1));
        }
    }
    let ((off, _), from) = best.filter(|((off, _), _)| *off <= MERGED)?;
    let missed = elements.get(from..)?;
    (!missed.contains(&Element::PowerUp)).then_some((off, missed))
}

/// Whether two readings of the halted side's time are of different moments; where one is missing they need not be.
fn contradicts(a: Option<(Side, u32)>, b: Option<(Side, u32)>) -> bool {
    a.zip(b)
        .is_some_and(|((side, a), (other, b))| side != other || a.abs_diff(b) > 1)
}

/// Since when a board has recorded what it tells first, nobody knows.
const NEVER: Timestamp = Timestamp::from_micros(0);

fn is_start(element: &Element) -> bool {
    matches!(element, Element::StartPosition | Element::StartPositionTurned)
}

/// The last start position that stood after `before`: behind which element, and what stood.
fn last_start(before: &Dump, elements: &[Element]) -> Option<(usize, Dump)> {
    let mut fields = *before;
    let mut last = None;
    for (at, element) in elements.iter().enumerate() {
        match *element {
            Element::PieceChange { field, contents, .. } => fields[field.index()] = contents,
            Element::StartPosition | Element::StartPositionTurned => {
                fields = tagged(*element);
                last = Some((at, fields));
            }
            // Chess960, if it is a start position at all.
            Element::FourRowsFilled if is_start_position(&fields) => last = Some((at, fields)),
            _ => {}
        }
    }
    last
}

fn is_start_position(fields: &Dump) -> bool {
    let mut sensors = Sensors::new();
    sensors.set_all(NEVER, fields);
    let board = sensors.board();
    let mut turned = board.clone();
    turned.rotate_180();
    start::recognise(board).is_some() || start::recognise(&turned).is_some()
}

/// What stands on the board where the memory says so in one byte.
fn tagged(element: Element) -> Dump {
    let mut fields: Dump = [None; 64];
    let turned = match element {
        Element::StartPosition => false,
        Element::StartPositionTurned => true,
        _ => return fields,
    };
    for (file, (black, white)) in BACK_RANKS.into_iter().enumerate() {
        let column = [
            (0, black),
            (8, Piece::BlackPawn),
            (48, Piece::WhitePawn),
            (56, white),
        ];
        for (row, piece) in column {
            let field = row + file;
            fields[if turned { 63 - field } else { field }] = Some(piece);
        }
    }
    fields
}

/// From the a to the h file.
const BACK_RANKS: [(Piece, Piece); 8] = [
    (Piece::BlackRook, Piece::WhiteRook),
    (Piece::BlackKnight, Piece::WhiteKnight),
    (Piece::BlackBishop, Piece::WhiteBishop),
    (Piece::BlackQueen, Piece::WhiteQueen),
    (Piece::BlackKing, Piece::WhiteKing),
    (Piece::BlackBishop, Piece::WhiteBishop),
    (Piece::BlackKnight, Piece::WhiteKnight),
    (Piece::BlackRook, Piece::WhiteRook),
];

#[cfg(test)]
mod tests {
    use kiebitz_protocol::{Contents, Field};

    use super::*;

    fn change(field: u8, contents: Contents) -> Element {
        let field = Field::new(field).expect("a field");
        Element::PieceChange {
            contents,
            field,
            quick: false,
        }
    }

    #[test]
    fn what_follows_the_last_placement_seen_was_missed() {
        let (e2, e4, e7) = (52, 36, 12);
        let elements = [
            Element::StartPosition,
            change(e2, None),
            change(e4, Some(Piece::WhitePawn)),
            change(e7, None),
            Element::End,
        ];
        let mut before = tagged(Element::StartPosition);
        before[52] = None;
        before[36] = Some(Piece::WhitePawn);
        assert_eq!(missed(&elements, &before, None), Some((0, &elements[3..])));
    }

    #[test]
    fn a_board_that_lost_power_remembers_nothing() {
        let elements = [
            Element::StartPosition,
            change(52, None),
            Element::PowerUp,
            Element::End,
        ];
        assert_eq!(missed(&elements, &tagged(Element::StartPosition), None), None);
    }

    #[test]
    fn the_clock_tells_a_repeated_placement_from_the_one_seen() {
        let time = |seconds| Element::ClockTime {
            left: true,
            hours: 0,
            minutes: 1,
            seconds,
        };
        let elements = [
            Element::StartPosition,
            time(50),
            change(52, None),
            change(52, Some(Piece::WhitePawn)),
            time(40),
            Element::End,
        ];
        let before = tagged(Element::StartPosition);
        assert_eq!(
            missed(&elements, &before, Some((Side::Left, 110))),
            Some((0, &elements[4..]))
        );
    }
}
