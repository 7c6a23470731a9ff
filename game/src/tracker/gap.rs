//! Handles gaps, in which the board could not be heard, and fills them from the board's own memory.
//!
//! A gap begins when the port closes, or when a board on a bus loses its power. While the gap is open, a board at rest
//! is no evidence: the tracker judges as of the last moment at which the board was heard. When the port opens again,
//! `examine` searches for lines of one or two plies that lead to the first dump. If there is exactly one, later reports
//! continue it; `over_gap` also finds lines while play goes on. Otherwise the tracker wants the board's memory, and longer
//! lines, takebacks and start positions wait for it. The memory is not read after every opening, and not while hands are
//! moving, because the board reports nothing while it sends its memory. A board that is known to lose its power with the
//! cable is not asked, because its memory has nothing of the gap. If this is not known, plies are inferred as if it did,
//! and those of which the order or the number is not certain are checked with the memory later.
//!
//! When the memory comes, the line goes back to its state before the gap (`rewind`) and follows the record like live
//! reports (`playback`); only the difference is announced. The memory records the order of changes, but not their
//! times. `memory` finds the element at which the gap begins, by the last known placement and the last reports. If the
//! last plies were not confirmed, the placements after each of them are alternatives, and the one that fits best is
//! used. If reports had been lost before, the gap is extended back to the last point at which line and memory agree.
//!
//! Special cases:
//!
//! - A board without power in the gap: its memory begins with the pieces that it found when the power came back. They
//!   count as an observation before the first dump, if the dump has not explained the gap.
//! - A board that is sending its memory holds its reports back: see `held_back`.
//! - A board on a bus reports changes only in its answers. A dump with further changes is kept until the next answer,
//!   which has their order.
//! - A board that is heard for the first time: if its memory leads from a start position to the present placement, the
//!   game is taken up from that start.

use core::time::Duration;

use kiebitz_hardware::{Session, Timestamp};
use kiebitz_protocol::{Dump, Element, Field};
use shakmaty::Color;

use super::Tracker;
use super::finding::Finding;
use super::hearing::{Hearing, Polled, Unheard};
use super::held_back::HeldBack;
use super::line::LineOfPlay;
use super::playback::Playback;
use super::rewind::Mark;
use super::sensors::Sensors;
use crate::events::Recovery;
use crate::model::{IN_HANDS, MAX_GAME_AGE, MAX_UNSEEN_PLIES, PLIES_OF_PROOF};
use crate::position::start;
use crate::tracker::memory::{self, last_start};

/// Longest wait for the memory after the request: a little longer than the session's own wait.
const ANSWER_WITHIN: Duration = Session::MAX_ANSWER_TIME.saturating_add(Duration::from_secs(1));

/// Longest wait for the session to request a wanted memory. It does so at once, if it may read the memory.
const REQUESTED_WITHIN: Duration = Duration::from_secs(1);

/// Start of the time covered by the first poll of a board, which cannot date the changes recorded before it.
const UNKNOWN_START: Timestamp = Timestamp::from_micros(0);

impl Tracker {
    pub(super) fn begin_gap(&mut self, now: Timestamp) {
        self.disturbed = true;
        self.memory_requested_at = None;
        self.recalled = false;
        if self.hearing.unheard().is_some_and(|unheard| unheard.rewinds) {
            self.hearing.stop_waiting();
        }
        let polled = self.polled.take().map(|polled| polled.known_until);
        let heard_until = polled.unwrap_or_else(|| self.heard_until(now));
        self.clock.stop_listening();
        // If reports were lost before, the gap begins at the last checkpoint.
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
            before_gap: true,
            ..Unheard::default()
        });
    }

    /// Returns the time until which the board was certainly heard. A running clock sends a reading every second, so a
    /// board whose clock runs may have been lost soon after its last reading, change or dump. Without a running clock,
    /// this is `now`.
    fn heard_until(&self, now: Timestamp) -> Timestamp {
        let runs = self.clock.running() == Some(true);
        let read = self.clock.reading().filter(|_| runs).map(|(at, _)| at);
        read.map_or(now, |read| {
            read.max(self.quiet_since).max(self.sensors.dumped_at()).min(now)
        })
    }

    /// Handles the session's request for the memory. If no gap is open, the session requests it because reports were
    /// lost.
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
                    // Without a checkpoint to go back to, the next dump shows the lost changes.
                    self.disturbed = true;
                }
            }
            _ => {}
        }
    }

    /// Returns the state of knowledge to which the line goes back if the memory is requested because of lost reports, or
    /// to check the plies of a gap.
    fn rewinding(&mut self) -> Option<Unheard> {
        let suspected = self.hearing.suspected();
        let line = self.line.as_mut()?;
        let unchecked = line.unchecked.take().map(|unchecked| *unchecked);
        unchecked
            .or_else(|| line.checkpoint.clone())
            .map(|known| Unheard {
                suspected,
                rewinds: true,
                ..known
            })
    }

    /// Whether a gap is open that the board's memory may still fill. Until then, only a line over the gap is announced.
    /// Ends the wait for the memory once its time is over.
    pub(super) fn recalls(&mut self, now: Timestamp) -> bool {
        let Hearing::Back(_, mut until) = self.hearing else {
            return false;
        };
        if self.memory_is_missing() {
            until = self.asks_memory_at();
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

    /// Makes the tracker want the board's memory, after the inferred plies of a gap have been refuted, unless the memory has
    /// nothing of the gap.
    pub(super) fn ask_memory(&mut self, now: Timestamp, from: Timestamp, unheard: Box<Unheard>) {
        self.recalled = false;
        // After a restart, the refuted plies may include plies of an earlier gap.
        let earlier = (from < unheard.heard_until).then_some(from);
        let refuted = Unheard {
            refuted: true,
            suspected: unheard.suspected.or(earlier),
            ..*unheard
        };
        self.hearing = Hearing::Back(Box::new(refuted), now);
    }

    /// Whether to request the board's memory now.
    #[must_use]
    pub(crate) fn wants_memory(&self) -> bool {
        let checks = self.checks_gap_at().is_some_and(|at| self.observed_at >= at);
        checks || self.memory_is_missing() && self.observed_at >= self.asks_memory_at()
    }

    /// Returns the time at which to check the plies that were inferred over a gap with the board's memory; `None` if
    /// there are none to check. The check waits until no square has changed for **doubt**, or the game has ended.
    pub(super) fn checks_gap_at(&self) -> Option<Timestamp> {
        let line = self.line.as_ref()?;
        let known = self.hearing.is_sure() && self.gap_since.is_none();
        let rest = if self.ended {
            Duration::ZERO
        } else {
            self.model.doubt
        };
        (known && line.unchecked.is_some()).then(|| self.quiet_since + rest)
    }

    /// Whether the board may have been without power in a gap, so that its memory has nothing of it.
    pub(super) fn may_lack_power(&self) -> bool {
        let powered = self.hearing.unheard().is_some_and(|unheard| unheard.powered);
        self.loses_power.unwrap_or(!powered)
    }

    /// Returns the time at which to request the board's memory. After a gap, the request waits for a while after the
    /// first dump, because a piece may be in the air, and the dump may explain the gap once the piece has landed. It
    /// also waits while hands are moving, because the board reports nothing while it sends its memory: until no square
    /// has changed for **doubt**, or play shows that no short line leads over the gap, for **patience** at most.
    fn asks_memory_at(&self) -> Timestamp {
        let Hearing::Back(unheard, until) = &self.hearing else {
            return Timestamp::default();
        };
        let longest = match self.may_lack_power() {
            true => MAX_UNSEEN_PLIES,
            false => PLIES_OF_PROOF,
        };
        let line = self.line.as_ref();
        let searched = line.is_some_and(|line| {
            let played_on = line.found.as_ref().is_some_and(|found| found.played_on);
            played_on && line.examined >= longest
        });
        let asked = unheard.refuted || unheard.suspected.is_some() || line.is_none() || searched;
        if asked {
            return *until;
        }
        let quiet = self.quiet_since + self.model.doubt;
        let latest = self.sensors.dumped_at() + self.model.patience;
        quiet.min(latest).max(*until)
    }

    /// Whether the board's memory is needed and has not been requested yet. It is needed for a gap that no short line
    /// leads over, unless the board loses its power with the cable. It is also needed for reports that were lost before a
    /// gap, and for the start of a game in progress on a board that is heard for the first time.
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
            let begun = board.kings().count() == Color::ALL.len() && start::recognise(board).is_none();
            return begun && back.is_none_or(|unheard| unheard.before.fields() != self.sensors.fields());
        };
        back.is_some_and(|unheard| {
            let unknown = unheard.refuted || !self.stands_over_gap(line);
            unheard.suspected.is_some()
                || self.gap_since.is_some() && unknown && self.loses_power != Some(true)
        })
    }

    /// Whether the first dump after a gap agreed with the line, and nothing suggests further plies.
    fn stands_over_gap(&self, line: &LineOfPlay) -> bool {
        let tip = line.tree.node(line.tree.tip());
        let stood = match &line.found {
            Some(found) => tip.state.board() == &found.board,
            None => tip.differs.is_empty(),
        };
        let as_it_stood = self.recovery_as_it_stood(self.observed_at) == Recovery::Inferred;
        stood && as_it_stood && !self.clock.both_presses_missed()
    }

    pub(super) fn memory_received(&mut self, now: Timestamp, elements: &[Element]) {
        // The memory ends at its request.
        let requested_at = self.memory_requested_at.take();
        self.held_back = requested_at.map(|since| HeldBack::new(since, now));
        let until = requested_at.unwrap_or(now);
        let Some(unheard) = self.hearing.stop_waiting() else {
            self.take_up_from_memory(now, until, elements);
            return;
        };
        let unheard = unheard.likeliest(elements);
        if unheard.before_gap {
            let lost = memory::lost_power(elements, unheard.missed(elements));
            self.loses_power = lost.or(self.loses_power);
        }
        let mut unheard = self.extend_back(unheard, elements);
        let Some(missed) = unheard.covered_by(elements) else {
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
        // The apparent jolt was play whose reports were lost.
        if self.is_jolted() {
            self.steady(now);
        }
        if let Some(mark) = unheard.mark.take_if(|_| unheard.rewinds) {
            self.rewind(unheard.heard_until, mark);
        }
        self.recover_gap(now, until, unheard, missed, by);
    }

    /// Plays back a gap in which the board lost its power.
    fn recover_without_power(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        unheard: Unheard,
        elements: &[Element],
    ) {
        let shown = unheard.first_dump.is_some().then_some(*self.sensors.fields());
        // The power came back at least **rest** before the first dump, because the board must be found and queried
        // first.
        let before_asked =
            |(dumped, _): (Timestamp, Dump)| unheard.heard_until.max(dumped.saturating_sub(self.model.rest));
        let powered_by = unheard
            .first_dump
            .map(before_asked)
            .filter(|_| self.polled.is_none());
        // The record may contradict a line that was found over the gap in the meantime.
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

    /// Extends a gap back to the last point at which line and memory agree, if the memory never shows the last known
    /// placement, lost reports were suspected, or the line left more than [`IN_HANDS`] squares unexplained.
    fn extend_back(&self, unheard: Unheard, elements: &[Element]) -> Unheard {
        let since = unheard.missed(elements);
        // If the first dump still shows the last known placement, the memory lacks it only because of damage.
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

    /// Takes up a game in progress from its start position in the memory, on a board that is heard for the first time.
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
                // The memory belongs to another game.
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

    /// Keeps a polled board's answer to a query from before the gap until the next answer, because it does not cover
    /// the gap. Returns false if no answer is awaited.
    pub(super) fn keep_from_before(&mut self, elements: &[Element]) -> bool {
        let unheard = self.hearing.unheard_mut();
        unheard
            .map(|unheard| unheard.from_before.extend(elements))
            .is_some()
    }

    /// Keeps a dump of a polled board if it shows unreported changes, which the next answer may report in order.
    /// Returns whether the dump was kept.
    pub(super) fn keep_dump(&mut self, dump: &Dump) -> bool {
        let awaits = self.hearing.unheard().is_none() && self.sensors.known();
        let Some(polled) = self.polled.as_mut().filter(|_| awaits) else {
            return false;
        };
        let more = dump != self.sensors.fields();
        polled.dump = more.then_some(*dump);
        more
    }

    /// Processes a kept dump, except for the squares whose changes the answer after it reports.
    fn process_kept_dump(&mut self, at: Timestamp, mut dump: Dump, reported: &[Element]) {
        let before = *self.sensors.fields();
        for (field, _) in memory::changes(reported) {
            dump[field.index()] = before[field.index()];
        }
        self.disturbed = false;
        let changed = self.sensors.set_all(at, &dump);
        self.check_dump(at, !changed);
        if changed {
            self.squares_changed(at);
        }
    }

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
            // The first answer to a query after a gap covers the whole gap.
            let mut missed = core::mem::take(&mut unheard.from_before);
            missed.extend(elements);
            if missed.is_empty() {
                // Nothing has changed: the dumps since are judged as they are.
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
                self.process_kept_dump(from, dump, elements);
            }
            self.play_back_polled(now, (from, not_after.max(from)), None, elements);
        }
    }

    /// Plays back the changes of a polled board, or of a board that lost its power in a gap. `powered_by` is the
    /// latest time at which the power can have come back; `None` if unknown, and for a polled board.
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
            // If no change was recorded before the loss of power, a board at rest is not evidence.
            if memory::changes(&elements[..failed]).next().is_some() {
                self.play_back_by(from, from + third, &elements[..failed], &mut touched);
            }
            since = powered_by.unwrap_or_else(|| until.saturating_sub(third));
            elements = self.lost_power(from, since, &elements[failed..]);
            if self.polled.is_some() {
                // A polled board may have found the pieces just before its answer.
                self.quiet_since = until;
            }
            touched = None;
        }
        if until > since + self.model.patience {
            // In more than **patience**, a game may have ended.
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

    /// Handles a loss of power after `from`. The gap lasts until about `at`, when the board listed the pieces that it
    /// found. Returns the elements after this list.
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

    /// Plays back a whole gap, and announces `by` as the way of its recovery.
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
        // An earlier gap that is still open is not covered by this record.
        let covers = self.gap_since.is_none_or(|began| began >= from);
        let announced = self.findings.len();
        if covers {
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
            // After a restart, the chosen alternative shows which of the last plies were on the board.
            line.tree.update(&self.sensors, from);
            self.quiet_since = from;
        }
        let began = self.gap_since.take_if(|began| *began >= from);
        let pressed = missed
            .iter()
            .any(|element| matches!(element, Element::ClockTime { .. }));
        // If nobody pressed, the clock may have been stopped during the whole gap; otherwise it was stopped after the
        // last press.
        let last = until.saturating_sub((until.saturating_duration_since(from) / 3).min(self.model.patience));
        let stopped_since = self.clock.stopped_since().map(|since| since.max(from).min(last));
        let stopped_since = match stopped_since {
            Some(since) if pressed && since <= clock_until => reading.map(|_| last),
            since => since,
        };
        let with_clock = unheard.halted.is_some() || self.clock.running().is_some() || pressed;
        if let Some(halted) = unheard.halted {
            self.clock.restore_halted_time(halted);
        }
        // Pieces from before the gap rested until the first recorded change.
        self.wake = Some(from);
        self.play_back_games(from, until, missed, stopped_since, with_clock);
        self.playback = None;
        self.set_checkpoint(until);
        if dumped {
            self.sensors.set_all(until, &shown);
        }
        // Without a line, the changes do not show which plies were played.
        if covers
            && changes > 0
            && self.line.is_none()
            && let Some((_, Finding::Recovered { by, .. })) = self.findings.get_mut(announced)
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

    /// Returns the number of squares on which the best line differed from the board at the last update of the lines.
    pub(super) fn unexplained(&self) -> usize {
        self.tree()
            .map_or(0, |tree| tree.node(tree.best()).differs.count())
    }

    fn unexplained_now(&self) -> usize {
        let best = self.tree().map(|tree| tree.node(tree.best()));
        best.map_or(0, |best| self.sensors.differing(best.state.board()).count())
    }
}
