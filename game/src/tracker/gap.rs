//! A gap: what happened while the board could not be heard, read from the board's own memory.
//!
//! A gap begins when the port closes, or when a board on a bus loses its power. While it is open, time proves nothing:
//! everything is judged as of the last moment at which the board was heard. When the port opens again, the first dump is
//! an observation at its own moment: `examine` looks for the only line of one or two plies that leads to it, and what is
//! reported after it is play from there. If none is found, the tracker wants the board's memory, and longer lines,
//! takebacks, a start position and `joining` wait for it. The session asks for it when no square has changed for a while,
//! because the board reports nothing while it sends its memory.
//!
//! When the memory comes and tells of the gap, the line goes back to where it was (`rewind`) and follows the record like
//! live reports (`playback`); only the difference is announced. The memory has an order but no times. `memory` finds
//! where in it the gap begins: at the position and reports that were known, or, if the last plies were not confirmed, at
//! the alternative that fits best. If reports had been lost before the gap, it is extended back to the last point at
//! which line and memory agree.
//!
//! The memory of a board that had no power in the gap begins with the pieces that it found. That is an observation
//! before the first dump, and is used if the dump has not explained the gap.
//!
//! While a board sends its memory, it holds its reports back. They come in one burst and are judged as they come.
//!
//! A board on a bus reports changes only in its answers. If a dump shows more than the board has told, the dump is kept
//! until the next answer, which tells the order.
//!
//! On a board that is heard for the first time, the memory may lead from a start position to what stands on the board.
//! The game is then taken up from that start.

use core::time::Duration;

use kiebitz_hardware::facts::ONE_SCAN_APART;
use kiebitz_hardware::{Session, Timestamp};
use kiebitz_protocol::{Dump, Element, Field, FieldUpdate};
use shakmaty::Color;

use super::Tracker;
use super::finding::Finding;
use super::hearing::{Hearing, Polled, Unheard};
use super::line::LineOfPlay;
use super::playback::Playback;
use super::rewind::Mark;
use super::sensors::Sensors;
use crate::events::{Recovery, Since};
use crate::model::{IN_HANDS, MAX_GAME_AGE};
use crate::position::start;
use crate::tracker::memory::{self, last_start};

/// Longest wait for the memory after it was requested: as long as a session waits for it, and a little more.
const ANSWER_WITHIN: Duration = Session::MAX_ANSWER_TIME.saturating_add(Duration::from_secs(1));

/// Longest wait for the request of a memory that is wanted. A session sends it at once, if it may read the memory.
const REQUESTED_WITHIN: Duration = Duration::from_secs(1);

/// A polled board cannot date what it recorded before its first poll; the start of that stretch is given as this time.
const UNKNOWN_START: Timestamp = Timestamp::from_micros(0);

impl Tracker {
    /// The port closed: a gap begins.
    pub(super) fn begin_gap(&mut self, now: Timestamp) {
        self.disturbed = true;
        self.memory_requested_at = None;
        self.recalled = false;
        self.held_back = None;
        if self.hearing.unheard().is_some_and(|unheard| unheard.rewinds) {
            self.hearing.stop_waiting();
        }
        let polled = self.polled.take().map(|polled| polled.known_until);
        let heard_until = polled.unwrap_or_else(|| self.heard_until(now));
        self.clock.stop_listening();
        // Where reports were lost, more is missing than what is played from now on.
        let known = self.checkpoint().filter(|_| self.hearing.suspected().is_some());
        let known_until = known.map_or(heard_until, |known| known.heard_until);
        self.gap_since.get_or_insert(known_until);
        let (before, halted, suspected) = (&self.sensors, self.clock.halted(), self.hearing.suspected());
        let line = self.line.as_ref();
        self.hearing.lose(|| Unheard {
            heard_until,
            clock_until: now,
            before: before.clone(),
            halted,
            mark: line.map(LineOfPlay::mark),
            suspected,
            ..Unheard::default()
        });
    }

    /// Until when a board was heard whose port closes: while the clock runs, a reading of it comes every second.
    fn heard_until(&self, now: Timestamp) -> Timestamp {
        let runs = self.clock.running() == Some(true);
        let read = self.clock.reading().filter(|_| runs).map(|(at, _)| at);
        read.map_or(now, |read| {
            read.max(self.quiet_since).max(self.sensors.dumped_at()).min(now)
        })
    }

    /// The host has requested the memory. Without a gap, it did so because reports were lost.
    pub(super) fn memory_requested(&mut self, now: Timestamp) {
        self.memory_requested_at = Some(now);
        self.recalled = true;
        let within = now + ANSWER_WITHIN;
        match &mut self.hearing {
            Hearing::Back(_, until) => *until = within,
            Hearing::Sure | Hearing::Suspect(_) => {
                let known = self.gap_since.is_none();
                if let Some(unheard) = known.then(|| self.rewinding()).flatten() {
                    self.hearing = Hearing::Back(Box::new(unheard), within);
                } else {
                    // With nothing to go back to, the next dump shows what was lost.
                    self.disturbed = true;
                }
            }
            _ => {}
        }
    }

    /// What is unheard when the memory is requested while the port is open, as it is when reports were lost: the line then
    /// goes back to the last checkpoint.
    fn rewinding(&self) -> Option<Unheard> {
        let suspected = self.hearing.suspected();
        self.checkpoint().map(|known| Unheard {
            suspected,
            ..known.clone()
        })
    }

    /// Whether a gap is open, and the board's memory may yet tell of it: only a line that leads over it is announced before.
    pub(super) fn recalls(&mut self, now: Timestamp) -> bool {
        let Hearing::Back(_, mut until) = self.hearing else {
            return false;
        };
        if self.memory_is_missing() {
            self.waits(now, until);
            until = until + REQUESTED_WITHIN;
        }
        if self.waits(now, until) {
            return self.gap_since.is_some();
        }
        self.recalled = true;
        if self.hearing.stop_waiting().is_some_and(|unheard| unheard.refuted) {
            self.give_up_line(now);
        }
        false
    }

    /// Wants the board's memory for a gap whose reconstructed plies have been refuted.
    pub(super) fn ask_memory(&mut self, now: Timestamp, from: Timestamp, unheard: Box<Unheard>) {
        self.recalled = false;
        // Plies of an earlier gap, before a restart, may be among the refuted ones.
        let earlier = (from < unheard.heard_until).then_some(from);
        let refuted = Unheard {
            refuted: true,
            suspected: unheard.suspected.or(earlier),
            ..*unheard
        };
        self.hearing = Hearing::Back(Box::new(refuted), now);
    }

    /// Whether the board's memory is to be read. After a gap, the first dump has a while to explain it: a piece may be in the
    /// air.
    #[must_use]
    pub(crate) fn wants_memory(&self) -> bool {
        let explains_by = self.hearing.tells_by().unwrap_or_default();
        self.memory_is_missing() && self.observed_at >= explains_by
    }

    /// Whether the board's memory has not been requested and may tell what nothing else has told: what was played in a gap
    /// that no short line leads over, which reports were lost before it, or how a game began whose board is heard for the
    /// first time.
    fn memory_is_missing(&self) -> bool {
        if self.recalled || self.hearing.is_away() || !self.sensors.known() {
            return false;
        }
        let back = match &self.hearing {
            Hearing::Back(unheard, _) => Some(unheard),
            _ => None,
        };
        let Some(line) = &self.line else {
            let board = self.sensors.board();
            // A game that is going on has two kings, and has begun.
            let begun = board.kings().count() == Color::ALL.len() && start::recognise(board).is_none();
            return begun && back.is_none_or(|unheard| unheard.before.fields() != self.sensors.fields());
        };
        back.is_some_and(|unheard| {
            let unknown = unheard.refuted || !self.stands_over_gap(line);
            unheard.suspected.is_some() || self.gap_since.is_some() && unknown
        })
    }

    /// Whether the first dump after a gap showed what the line leads to, and nothing says that more was played.
    fn stands_over_gap(&self, line: &LineOfPlay) -> bool {
        let tip = line.tree.node(line.tree.tip());
        let stood = match &line.found {
            Some(found) => tip.state.board() == &found.board,
            None => tip.differs.is_empty(),
        };
        let as_it_stood = self.recovery_as_it_stood(self.observed_at) == Recovery::Inferred;
        stood && as_it_stood && !self.clock.both_pressed_unheard()
    }

    /// When a change that is reported now was made. What comes right after the memory was held back while it was sent; what
    /// one player did before the other one's hand came had come to rest.
    pub(super) fn reported_at(&mut self, now: Timestamp, update: FieldUpdate) -> Since {
        let Some((since, until)) = self.held_back.take_if(|(_, until)| now < *until) else {
            return Since::at(now);
        };
        self.held_back = Some((since, until.max(now + self.model.settle)));
        let piece = update
            .contents
            .or_else(|| self.sensors.fields()[update.field.index()]);
        let last = self.sensors.recent().next_back();
        let last = last.and_then(|change| change.after.or(change.before));
        if last
            .is_some_and(|last| piece.is_some_and(|piece| memory::is_white(piece) != last.color.is_white()))
        {
            self.playback = Some(Playback::new(now, false));
            self.decide_when_due(now + self.model.doubt);
            self.playback = None;
        }
        Since::recorded(since, now)
    }

    /// Plays back what the memory holds of the gap.
    pub(super) fn memory_received(&mut self, now: Timestamp, elements: &[Element]) {
        // It holds what happened until it was requested.
        let requested_at = self.memory_requested_at.take();
        self.held_back = requested_at.map(|since| (since, now + ONE_SCAN_APART));
        let until = requested_at.unwrap_or(now);
        let Some(unheard) = self.hearing.stop_waiting() else {
            self.take_up_from_memory(now, until, elements);
            return;
        };
        let mut unheard = self.extend_back(unheard.likeliest(elements), elements);
        let Some(missed) = unheard.told_by(elements) else {
            if unheard.refuted {
                self.give_up_line(now);
                return;
            }
            let power_up = elements.iter().rposition(|element| *element == Element::PowerUp);
            let since = power_up.map_or(&[][..], |power_up| &elements[power_up..]);
            let open = self.gap_since.is_some() && self.line.is_some() && !unheard.rewinds;
            if open && !since.is_empty() && !since.contains(&Element::Downloaded) {
                self.recover_without_power(now, until, unheard, since);
            }
            return;
        };
        let by = match !unheard.rewinds && memory::begins_with_power(elements, missed) {
            true => self.recovery_as_it_stood(now),
            false => Recovery::Memory,
        };
        // What looked like a jolt is what was not reported.
        if self.is_jolted() {
            self.steady(now);
        }
        if let Some(mark) = unheard.mark.take_if(|_| unheard.rewinds) {
            self.rewind(unheard.heard_until, mark);
        }
        self.recover_gap(now, until, unheard, missed, by);
    }

    /// The board was without power in a gap. Its record tells what stood when the power came back, and what changed before
    /// and after.
    fn recover_without_power(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        unheard: Unheard,
        elements: &[Element],
    ) {
        let shown = unheard.first_dump.is_some().then_some(*self.sensors.fields());
        // A board takes longer than this to be found and asked.
        let before_asked =
            |(dumped, _): (Timestamp, Dump)| unheard.heard_until.max(dumped.saturating_sub(self.model.rest));
        let powered_by = unheard
            .first_dump
            .map(before_asked)
            .filter(|_| self.polled.is_none());
        // If a line over the gap was found in the meantime, it may be another one.
        if let Some(mark) = unheard.mark.filter(|_| self.gap_since.is_none()) {
            self.rewind(unheard.heard_until, mark);
        }
        self.sensors = unheard.before;
        let began = self.gap_since.take();
        self.play_back_polled(now, (unheard.heard_until, until), powered_by, elements);
        self.gap_since = self.gap_since.and(began);
        if let Some(shown) = shown {
            self.sensors.set_all(until, &shown);
            self.squares_changed(until);
        }
        self.announce_held(now);
    }

    /// Extends a gap back to where the line and the memory agree, if reports were lost before the port closed: the memory
    /// never held the last known placement, reports were suspected lost, or the placement made no sense.
    fn extend_back(&self, unheard: Unheard, elements: &[Element]) -> Unheard {
        let since = unheard.missed(elements);
        // Where the board shows it still, the memory came damaged.
        let dumped = unheard
            .first_dump
            .is_some_and(|(_, dump)| dump == *unheard.before.fields());
        let shown = dumped || since.is_some_and(|(off, _)| off == 0);
        let explained = |mark: &Mark| mark.tree.node(mark.tree.best()).differs.count() <= IN_HANDS;
        let agrees =
            shown && self.hearing.suspected().is_none() && unheard.mark.as_ref().is_none_or(explained);
        if agrees || unheard.rewinds {
            return unheard;
        }
        let has = |known: &Unheard| {
            let since = known.missed(elements);
            let since = since.filter(|(_, since)| !memory::begins_with_power(elements, since));
            since.is_some_and(|(off, since)| off == 0 && memory::changes(since).next().is_some())
        };
        let known = self.checkpoint().filter(|known| has(known)).cloned();
        let Some(known) = known.or_else(|| self.earlier(unheard.heard_until).find(has)) else {
            return unheard;
        };
        Unheard {
            first_dump: unheard.first_dump,
            suspected: unheard.suspected,
            ..known
        }
    }

    /// Takes up a game in progress from its start position, on a board that is heard for the first time: its memory holds
    /// how it came to show what it does.
    fn take_up_from_memory(&mut self, now: Timestamp, until: Timestamp, elements: &[Element]) {
        let Some((at, start)) = last_start(&[None; Field::COUNT], elements) else {
            return;
        };
        let since = &elements[at + 1..];
        if self.line.is_some() || since.is_empty() || since.contains(&Element::PowerUp) {
            return;
        }
        let known = self.sensors.known();
        let shown = *self.sensors.fields();
        let (announced, sensors) = (self.findings.len(), self.sensors.clone());
        let from = until.saturating_sub(MAX_GAME_AGE);
        self.playback = Some(Playback::new(now, true));
        let began = self.gap_since.take();
        self.sensors = Sensors::default();
        self.sensors.set_all(from, &start);
        self.squares_changed(from);
        self.decide(from);
        self.play_back(from, until, since);
        self.playback = None;
        if known {
            self.sensors.set_all(until, &shown);
            self.squares_changed(until);
            if self.unexplained_now() > IN_HANDS {
                // The memory is about something else.
                self.findings.truncate(announced);
                self.sensors = sensors;
                self.line = None;
                self.gap_since = began;
                return;
            }
        }
        if let Some(from) = began {
            self.announce_recovered(now, Recovery::Memory, since.len(), from);
        }
    }

    /// Keeps what a polled board had to report from before the gap, until the next answer tells of the gap itself: on its
    /// own it says nothing of it, not even that nothing was played. Returns false if no answer is awaited.
    pub(super) fn keep_from_before(&mut self, elements: &[Element]) -> bool {
        let unheard = self.hearing.unheard_mut();
        unheard
            .map(|unheard| unheard.from_before.extend(elements))
            .is_some()
    }

    /// Keeps a dump of a polled board that shows more than the board has told: the next answer may tell of that, in order.
    /// Returns false if it is to be taken in now.
    pub(super) fn keep_dump(&mut self, dump: &Dump) -> bool {
        let awaits = self.hearing.unheard().is_none() && self.sensors.known();
        let Some(polled) = self.polled.as_mut().filter(|_| awaits) else {
            return false;
        };
        let more = dump != self.sensors.fields();
        polled.dump = more.then_some(*dump);
        more
    }

    /// Takes in what a dump has shown that was kept, on the squares that the answer after it does not tell of.
    fn take_in_kept(&mut self, at: Timestamp, mut dump: Dump, told: &[Element]) {
        let before = *self.sensors.fields();
        for (field, _) in memory::changes(told) {
            dump[field.index()] = before[field.index()];
        }
        self.disturbed = false;
        let changed = self.sensors.set_all(at, &dump);
        self.check_dump(at, !changed);
        if changed {
            self.squares_changed(at);
        }
    }

    /// Takes in what changed on a polled board since the last poll.
    pub(super) fn changes_polled(
        &mut self,
        now: Timestamp,
        elements: &[Element],
        not_before: Timestamp,
        not_after: Timestamp,
    ) {
        self.clock.presses_are_recorded();
        let touched = self.polled.as_ref().and_then(|polled| polled.touched);
        let polled = Polled {
            known_until: not_after,
            touched,
            dump: None,
        };
        let kept = self.polled.replace(polled).and_then(|polled| polled.dump);
        if let Some(mut unheard) = self.hearing.stop_waiting() {
            // The first answer to what was asked after a gap holds all of it.
            let mut missed = core::mem::take(&mut unheard.from_before);
            missed.extend(elements);
            if missed.is_empty() {
                // Nothing has changed: what a dump has shown since is judged.
            } else if missed.contains(&Element::PowerUp) {
                self.recover_without_power(now, not_after, unheard, &missed);
            } else {
                self.recover_gap(now, not_after, unheard, &missed, Recovery::Memory);
            }
        } else if not_before == UNKNOWN_START {
            self.take_up_from_memory(now, not_after, elements);
        } else {
            let from = not_before.max(self.quiet_since);
            if let Some(dump) = kept.filter(|_| !elements.contains(&Element::PowerUp)) {
                self.take_in_kept(from, dump, elements);
            }
            self.play_back_polled(now, (from, not_after.max(from)), None, elements);
        }
    }

    /// Plays back what a polled board has recorded between two times, or a board that lost its power in a gap. `powered_by`:
    /// the time of the first dump after the power came back, if there was one.
    fn play_back_polled(
        &mut self,
        now: Timestamp,
        (from, until): (Timestamp, Timestamp),
        powered_by: Option<Timestamp>,
        mut elements: &[Element],
    ) {
        self.playback = Some(Playback::new(now, false));
        let mut touched = self.polled.as_ref().and_then(|polled| polled.touched);
        let mut since = from;
        if let Some(failed) = elements.iter().position(|element| *element == Element::PowerUp) {
            let third = until.saturating_duration_since(from) / 3;
            // Where nothing was recorded before, that does not mean that nothing happened.
            if memory::changes(&elements[..failed]).next().is_some() {
                self.play_back_by(from, from + third, &elements[..failed], &mut touched);
            }
            since = powered_by.unwrap_or_else(|| until.saturating_sub(third));
            elements = self.lost_power(from, since, &elements[failed..]);
            if self.polled.is_some() {
                // It may have found them just before it answered.
                self.quiet_since = until;
            }
            touched = None;
        }
        if until > since + self.model.patience {
            // A game may have ended meanwhile.
            let with_clock = self.clock.running().is_some();
            self.play_back_games(since, until, elements, None, with_clock);
            touched = None;
        } else {
            self.play_back_by(since, until, elements, &mut touched);
        }
        if let Some(polled) = &mut self.polled {
            polled.touched = touched;
        }
        self.playback = None;
    }

    /// A polled board was without power after `from`: anything may have been played until it listed the pieces that it
    /// found, at about `at`. Returns what has changed since.
    fn lost_power<'e>(&mut self, from: Timestamp, at: Timestamp, elements: &'e [Element]) -> &'e [Element] {
        if self.polled.is_some() {
            self.clock.stop_listening();
        }
        self.gap_since.get_or_insert(from);
        let (found, since) = memory::found(elements);
        self.sensors.set_all(at, &found);
        self.find(at);
        self.disturbed = false;
        self.joining.clear();
        self.squares_changed(at);
        self.decide(at);
        since
    }

    /// Plays back all that happened in a gap, from the placement before it on. `by`: what tells of its beginning.
    fn recover_gap(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        unheard: Unheard,
        missed: &[Element],
        by: Recovery,
    ) {
        let changes = memory::changes(missed).count();
        let from = unheard.heard_until;
        let told = self.findings.len();
        // Of an earlier gap that stays open it says nothing.
        if self.gap_since.is_none_or(|began| began >= from) {
            self.announce_recovered(now, by, changes, from);
        }
        let shown = *self.sensors.fields();
        let reading = self.clock.reading().filter(|(at, _)| *at > unheard.clock_until);
        let dumped = unheard.first_dump.is_some();
        let board_known = dumped || unheard.rewinds;
        let clock_until = unheard.clock_until;
        self.forget_presses_after(clock_until);
        self.sensors = unheard.before;
        if let Some(mark) = unheard.mark {
            self.rewind(from, mark);
        }
        self.hearing.trust();
        self.playback = Some(Playback::new(now, true));
        if let Some(line) = &mut self.line {
            // After a restart, which of its last plies stood is known now.
            line.tree.update(&self.sensors, from);
            self.quiet_since = from;
        }
        let began = self.gap_since.take_if(|began| *began >= from);
        let pressed = missed
            .iter()
            .any(|element| matches!(element, Element::ClockTime { .. }));
        // A clock that nobody pressed may have been stopped all the time; else it was stopped after the last press.
        let last = until.saturating_sub((until.saturating_duration_since(from) / 3).min(self.model.patience));
        let stopped_since = self.clock.stopped_since().map(|since| since.max(from).min(last));
        let stopped_since = match stopped_since {
            Some(since) if pressed && since <= clock_until => reading.map(|_| last),
            since => since,
        };
        let with_clock = unheard.halted.is_some() || self.clock.running().is_some() || pressed;
        // What stood before the gap went on standing until hands moved it.
        self.wake = Some(from);
        self.play_back_games(from, until, missed, stopped_since, with_clock);
        self.playback = None;
        self.set_checkpoint(until);
        if dumped {
            self.sensors.set_all(until, &shown);
        }
        // Changes that no line leads to do not tell what was played.
        if changes > 0
            && self.line.is_none()
            && let Some((_, Finding::Recovered { by, .. })) = self.findings.get_mut(told)
        {
            *by = Recovery::Undecidable;
        }
        // A piece may be in the air; if more squares are unexplained, the memory did not cover the gap.
        self.gap_since = self
            .gap_since
            .or_else(|| began.filter(|_| board_known && self.unexplained_now() > IN_HANDS));
        if let Some(reading) = reading {
            self.clock.restore(reading);
        }
        self.squares_changed(until);
        self.announce_held(now);
    }

    /// The number of squares on which the best reading differed from the board when the readings were last measured.
    pub(super) fn unexplained(&self) -> usize {
        self.tree()
            .map_or(0, |tree| tree.node(tree.best()).differs.count())
    }

    /// The same for the board as the sensors show it now.
    fn unexplained_now(&self) -> usize {
        let best = self.tree().map(|tree| tree.node(tree.best()));
        best.map_or(0, |best| self.sensors.differing(best.state.board()).count())
    }
}
