//! What happened while nobody listened, from the board's own memory.

use core::time::Duration;

use kiebitz_hardware::{Session, Timestamp};
use kiebitz_protocol::{Dump, Element, Field, SideTime};

use super::Tracker;
use super::clock::Side;
use super::finding::{Finding, Recovery};
use super::history::{last_start, missed, starts, tagged, unmerged};
use super::late::Late;
use super::over;
use super::pace::{self, Hands};
use super::rewind::Checkpoint;
use super::sensors::Sensors;

/// A gap in what was heard from the board.
#[derive(Debug)]
pub(super) struct Gap {
    /// The port went away then.
    closed_at: Timestamp,
    /// What the sensors had shown.
    pub(super) before: Sensors,
    /// What else they may have shown, for what was told last was not certain.
    pub(super) perhaps: Vec<Sensors>,
    /// The side whose clock stood, and its time in seconds.
    halted: Option<(Side, u32)>,
    /// Until when the board's memory is waited for; `None` while the board is away.
    wait_until: Option<Timestamp>,
    /// The port was open: some of what is missing was heard, and told.
    rewinds: bool,
    /// A dump has come since.
    dumped: bool,
}

/// A game that was begun before anybody listened has been going on for less.
const LONG_AGO: Duration = Duration::from_secs(6 * 3600);

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
/// As long as a session waits for the memory, and a little more.
const ANSWERED_WITHIN: Duration = Session::LONGEST_ANSWER.saturating_add(Duration::from_secs(1));
/// Before pieces are set up for another game, or kings are put in the centre.
const AT_REST: Duration = Duration::from_secs(5);
/// Before the first move pieces stand in their start position for as long.
const START_STOOD: Duration = Duration::from_secs(1);
/// What was done before or behind it.
const A_MOMENT: Duration = Duration::from_millis(1);
/// Castling has four squares under way at most.
const IN_THE_AIR: usize = 4;

impl Gap {
    /// Reports were lost since a checkpoint.
    pub(super) fn since(checkpoint: &Checkpoint) -> Self {
        Self {
            closed_at: checkpoint.at,
            before: checkpoint.sensors.clone(),
            perhaps: Vec::new(),
            halted: checkpoint.halted,
            wait_until: None,
            rewinds: true,
            dumped: false,
        }
    }

    /// The same where the memory shows what the sensors had shown: the last that it can have been.
    fn remembered_by(mut self, elements: &[Element]) -> Self {
        let halted = self.halted;
        let off = |shown: &Sensors| missed(elements, shown, halted).map_or(usize::MAX, |(off, _)| off);
        let likeliest = self.perhaps.drain(..).rev().min_by_key(off);
        if let Some(likeliest) = likeliest.filter(|other| off(other) <= off(&self.before)) {
            self.before = likeliest;
        }
        self
    }
}

impl Tracker {
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
        // A port that opens and closes again before the memory has come is still the same gap. What a dump has shown
        // meanwhile is not judged without it.
        if let Some(gap) = &self.missing {
            self.sensors = gap.before.clone();
        }
        let (before, halted) = (&self.sensors, self.clock.halted());
        let gap = self.missing.get_or_insert_with(|| Gap {
            closed_at: now,
            before: before.clone(),
            perhaps: Vec::new(),
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
        self.squares_are_judged(now);
        false
    }

    /// Plays back what the memory holds of the gap.
    pub(super) fn remember(&mut self, now: Timestamp, elements: &[Element]) {
        // It holds what was until it was asked for.
        let asked = self.asked_memory.take();
        self.late = asked.map(|since| Late::behind_memory(since, now));
        let until = asked.unwrap_or(now);
        let Some(gap) = self.missing.take() else {
            self.recall(now, until, elements);
            return;
        };
        let uncertain = !gap.perhaps.is_empty();
        let gap = gap.remembered_by(elements);
        if let Some(line) = self.line.as_mut().filter(|_| uncertain) {
            line.tree.update(&gap.before, gap.closed_at);
            self.quiet_since = gap.closed_at;
            // What stood for long before anything followed is certain.
            self.wake = Some(gap.closed_at);
        }
        let gap = self.reaching_back(gap, elements);
        match missed(elements, &gap.before, gap.halted).filter(|(_, missed)| !missed.is_empty()) {
            Some((_, missed)) if gap.rewinds => {
                let followed = self.rewind();
                self.recover(now, until, gap, missed);
                if let Some(followed) = followed {
                    self.set_against(followed);
                }
            }
            Some((_, missed)) => self.recover(now, until, gap, missed),
            None => self.squares_are_judged(now),
        }
    }

    /// Nothing is known of a gap but what the board has shown since.
    fn squares_are_judged(&mut self, now: Timestamp) {
        self.squares_changed(now);
        let last = self.sensors.recent().next_back().map(|change| change.at);
        self.quiet_since = last.map_or(now, |last| last.min(now));
    }

    /// What was heard last never stood like that, was in doubt, or makes no sense: reports were lost before the line went
    /// away, and the gap reaches back to where the line and the memory agree.
    fn reaching_back(&mut self, gap: Gap, elements: &[Element]) -> Gap {
        let heard = missed(elements, &gap.before, gap.halted);
        let shown = heard.is_some_and(|(off, _)| off == 0);
        let agrees = shown && self.suspect.is_none() && self.makes_sense();
        if agrees || gap.rewinds {
            return gap;
        }
        let has = |checkpoint: &Checkpoint| {
            let since = missed(elements, &checkpoint.sensors, checkpoint.halted);
            let told = |since: &[Element]| {
                let change = |element: &Element| matches!(element, Element::PieceChange { .. });
                since.iter().any(change)
            };
            since.is_some_and(|(off, since)| off == 0 && told(since))
        };
        if !self.checkpoint.as_ref().is_some_and(has) {
            let Some(agreed) = self.earlier(gap.closed_at).find(has) else {
                return gap;
            };
            self.checkpoint = Some(agreed);
        }
        let since = self.checkpoint.as_ref().map(|checkpoint| Gap {
            wait_until: gap.wait_until,
            dumped: true,
            ..Gap::since(checkpoint)
        });
        since.unwrap_or(gap)
    }

    /// A board met for the first time remembers how it came to show what it does: a game in progress is taken up from
    /// its start position.
    fn recall(&mut self, now: Timestamp, until: Timestamp, elements: &[Element]) {
        let Some((at, standing)) = last_start(&[None; Field::COUNT], elements) else {
            return;
        };
        let since = &elements[at + 1..];
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
        self.sensors.set_all(from, &standing);
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

    /// What changed on a board that is asked instead of reporting by itself, since it was asked last.
    pub(super) fn changed_between(
        &mut self,
        now: Timestamp,
        elements: &[Element],
        not_before: Timestamp,
        not_after: Timestamp,
    ) {
        self.clock.presses_are_remembered();
        self.asked = true;
        self.known_until = not_after;
        if let Some(gap) = self.missing.take() {
            // The first answer after a gap holds all of it.
            if elements.contains(&Element::PowerUp) || elements.is_empty() {
                self.squares_changed(not_after);
            } else {
                self.recover(now, not_after, gap, elements);
            }
        } else if not_before == NEVER {
            self.recall(now, not_after, elements);
        } else {
            self.playback = Some(Playback {
                heard_at: now,
                recovered: false,
            });
            let mut hands = self.hands;
            let from = not_before.max(self.quiet_since);
            self.play_back_by(from, not_after.max(from), elements, &mut hands);
            self.hands = hands;
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
        self.suspect = None;
        // The memory has what the reports lacked.
        self.lost = false;
        self.playback = Some(Playback {
            heard_at: now,
            recovered: true,
        });
        // A gap before this one, of which the memory does not tell, is still open.
        let began = self.gap.take_if(|began| *began >= from);
        let pressed = missed
            .iter()
            .any(|element| matches!(element, Element::ClockTime { .. }));
        // It may have stood all the time, if nobody pressed it.
        let standing = self.clock.stands_since().map(|since| since.max(from));
        let standing = standing.filter(|since| *since < until && !(pressed && *since == from));
        let with_clock = gap.halted.is_some() || self.clock.running().is_some() || pressed;
        self.play_back_games(from, until, missed, standing, with_clock);
        self.playback = None;
        if !self.asked {
            self.set_checkpoint(until);
        }
        if dumped {
            self.sensors.set_all(until, &shown);
        }
        // A piece may be in the air; more than that the memory has not told.
        self.gap = self
            .gap
            .or_else(|| began.filter(|_| stated && self.differs() > IN_THE_AIR));
        if let Some(reading) = reading {
            self.clock.put_back(reading);
        }
        self.squares_changed(until);
    }

    /// Plays back one game after another. The clock stands since `standing`.
    fn play_back_games(
        &mut self,
        from: Timestamp,
        until: Timestamp,
        missed: &[Element],
        standing: Option<Timestamp>,
        with_clock: bool,
    ) {
        let starts = starts(self.sensors.fields(), missed);
        let is_press = |element: &Element| matches!(element, Element::ClockTime { .. });
        let last_game = starts.last().map_or(missed, |(start, _)| &missed[*start..]);
        let span = standing.unwrap_or(until).saturating_duration_since(from);
        // A clock that has not run since the last start position has stood since the game before it.
        let ended_before = standing.filter(|_| !starts.is_empty() && !last_game.iter().any(is_press));
        let standing = standing.filter(|_| ended_before.is_none());
        let (mut begun, mut at) = (0, from);
        for (nth, (start, stands)) in starts.iter().enumerate() {
            // Pieces that are set up for the next game look like moves of the last one.
            let game = &missed[begun..*start];
            let played = over::played(game, self.sensors.fields(), stands, with_clock);
            let share = span.mul_f64((*start + 1) as f64 / missed.len().max(1) as f64);
            let over = ended_before.filter(|_| nth + 1 == starts.len());
            let ended = over.map_or(from + share, |_| until);
            let stood = ended.saturating_sub(START_STOOD).max(at);
            let over = over.map_or(stood, |over| over.saturating_sub(A_MOMENT));
            self.play_to_the_end(at, over, &game[..played]);
            self.sensors.set_all(stood, stands);
            self.squares_changed(stood);
            self.decide(ended);
            (begun, at) = (*start, ended);
        }
        if let Some(since) = standing {
            let usual = self.usual_start();
            let played = over::played(last_game, self.sensors.fields(), &usual, true);
            let (played, then) = last_game.split_at(played);
            self.play_to_the_end(at, since.saturating_sub(A_MOMENT), played);
            let (result, set_up) = then.split_at(over::until_shown(then, self.sensors.fields()));
            self.play_to_the_end(since + A_MOMENT, until, result);
            self.find_set_up(until, set_up);
        } else {
            let played = if with_clock {
                last_game.len()
            } else {
                over::until_set_up(last_game, self.sensors.fields(), &self.usual_start())
            };
            let (played, set_up) = last_game.split_at(played);
            self.play_back(at, until, played);
            self.find_set_up(until, set_up);
        }
    }

    /// What was set up is found as it stands: nobody played it.
    fn find_set_up(&mut self, now: Timestamp, elements: &[Element]) {
        for element in elements {
            if let Element::PieceChange { field, contents, .. } = *element {
                self.sensors.set_field(now, field, contents);
            }
        }
    }

    /// What the next game most likely starts from.
    fn usual_start(&self) -> Dump {
        tagged(if self.sensors.turned() {
            Element::StartPositionTurned
        } else {
            Element::StartPosition
        })
    }

    /// Whether the line leads to what stands on the board, but for pieces that are in the air.
    pub(super) fn makes_sense(&self) -> bool {
        self.unexplained() <= IN_THE_AIR
    }

    /// On how many squares the board, when it was last judged, differed from the reading that fits it best.
    pub(super) fn unexplained(&self) -> usize {
        let best = self.line.as_ref().map(|line| line.tree.node(line.tree.best()));
        best.map_or(0, |node| node.differs.count())
    }

    /// The same of the board as it is now.
    fn differs(&self) -> usize {
        self.line.as_ref().map_or(0, |line| {
            let best = line.tree.node(line.tree.best());
            self.sensors.differing(best.state.board()).count()
        })
    }

    /// Plays back what nothing followed for a while: the last move has come to rest.
    fn play_to_the_end(&mut self, from: Timestamp, to: Timestamp, missed: &[Element]) {
        let rest = (to.saturating_duration_since(from) / 3).min(AT_REST);
        self.play_back(from, to.saturating_sub(rest), missed);
        self.decide_when_due(to);
    }

    /// Draws the conclusions that fall due until `to`.
    fn decide_when_due(&mut self, to: Timestamp) {
        while let Some(deadline) = self.wake.filter(|deadline| *deadline <= to) {
            self.decide(deadline);
        }
    }

    /// Plays elements back at times that hands can have needed; the memory has none.
    pub(super) fn play_back(&mut self, from: Timestamp, to: Timestamp, missed: &[Element]) {
        self.play_back_by(from, to, missed, &mut Hands::default());
    }

    /// The same for hands that were under way.
    fn play_back_by(&mut self, from: Timestamp, to: Timestamp, missed: &[Element], hands: &mut Hands) {
        let missed = &unmerged(missed, self.sensors.fields());
        let times = pace::times(from, to, missed, self.sensors.fields(), hands);
        for (element, now) in missed.iter().zip(times) {
            self.decide_when_due(now);
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
        self.decide_when_due(to);
    }
}

/// Since when a board has recorded what it tells first, nobody knows.
const NEVER: Timestamp = Timestamp::from_micros(0);
