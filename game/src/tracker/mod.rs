//! The tracker: finds the most credible line of play from a board's observations.
//!
//! A tracker follows one board all the time, during games and between them. It takes observations
//! ([`Tracker::observe`]) and reports findings to the referee ([`Tracker::poll_finding`]): plies that were made,
//! confirmed, amended or retracted, results that the board shows, and gaps. Time is an argument. Between observations,
//! [`Tracker::poll_deadline`] returns the time at which to call [`Tracker::handle_deadline`].
//!
//! # How a move is found
//!
//! A board scans its squares one after another, which takes up to a quarter of a second. A piece that moves may be
//! reported on two squares or on none, and the departure of a captured piece may never be reported. So no single report
//! becomes a move. The tracker keeps several candidate lines of play and compares them:
//!
//! 1. `sensors` keeps the content of each square, and the interval in which it last changed.
//! 2. `tree` keeps the candidate lines. Each node is a position, reached by one ply from its parent. After every
//!    change, the tree adds the plies that the squares now show or have shown, cheapest lines first, and drops hopeless
//!    lines.
//! 3. `credible` computes the cost of each line: unexplained squares, unlikely plies, and announced plies that the line
//!    would withdraw. The line with the lowest cost is the best line.
//! 4. `judgement` compares the best line with the announced one and decides the next step: announce the next ply, amend
//!    or withdraw an announced one, confirm one, or wait.
//! 5. `announcements` compares the announced plies with the plies that now count as played and reports the difference.
//!
//! A ply is first a candidate, then announced (`move.made`), then confirmed (`move.settled`). Costs decide which plies
//! count as played. Presses, replies and resting times decide when a ply is announced and confirmed. All costs and
//! times are in the one table of `model.rs`; the constants in bold below are names in it.
//!
//! # Rules that change the line
//!
//! Apart from a start position that is set up and from an arbiter's corrections (`given`), only these rules change
//! which plies count as played:
//!
//! | change | decided in | condition |
//! | --- | --- | --- |
//! | a ply is announced, amended or withdrawn | `judgement` | the best line has this ply, has another one in its place, or has none there; `credible` charges a line for every announced ply that it lacks |
//! | a ply is confirmed | `press`, `judgement` | it was pressed, it was answered, or the board has rested for **doubt**; not while an equally credible line has a piece on a square that does not read it |
//! | confirmed plies are opened again | `reopen` | the line leaves squares unexplained, and another line of the last plies explains more of them |
//! | an earlier position is restored | `examine` | withdrawing the plies after it costs less than the squares that the line leaves unexplained; in a gap, only plies that were not pressed, and at most as many plies as remain |
//! | plies are inferred over a gap | `over_gap` | the play after the first dump is more credible with them than with any others |
//! | | `examine` | the shortest line to the first dump, to the pieces that the board listed when its power came back, or to the present placement is the only one of its length, and the clock agrees |
//! | inferred plies are withdrawn | `examine` | a piece stands on a square that they leave empty, or the plies after them are unusual |
//! | the last plies before an undecidable gap are withdrawn | `examine` | they are unconfirmed, the piece of the first of them has left its square, and this costs more than withdrawing them |
//! | plies turn out to be pieces being set up | `signals` | for each ply from the last one back: its cost as play against its cost as setting up |
//! | pieces count as having slid because somebody ran into the table | `jolt` | the squares that this explains cost more than a jolt |
//! | play is joined in the middle | `joining` | one side's tree is credible and the other side's is not |
//! | the board's memory fills a gap or replaces lost reports | `gap`, `rewind` | the record is followed like live reports, in place of the plies assumed since |
//! | a game in the board's memory ends | `memory/game_end.rs` | after its last press and a few more moves, when kings show the result, or when pieces go to their squares for the next game |
//!
//! # Files
//!
//! | | |
//! | --- | --- |
//! | board | `sensors`, `made` (when a ply was made), `motion` and `way` (how its piece travelled), `unread` (squares that show nothing) |
//! | candidate lines | `tree`, `node`, `credible`, `irregular` (illegal play) |
//! | when to announce | `judgement`, `patience`, `press`, `describe` (a ply with its evidence), `announcements` |
//! | a line and its doubts | `line`, `examine`, `reopen` |
//! | gaps and lost reports | `hearing`, `gap`, `over_gap`, `rewind`, `playback`, `held_back`, `joining` |
//! | set-up, results and jolts | `signals`, `jolt` |
//! | input from outside | `given` (an arbiter), `resume` (the journal) |
//! | output | `finding` |
//!
//! # Finding out why a move was announced
//!
//! `kiebitz replay --explain FILE` prints for each ply when and why it was announced, the changes of squares behind it,
//! the log-odds against the other lines, and the reason why the ply was confirmed or withdrawn.

mod announcements;
mod credible;
mod describe;
mod examine;
mod finding;
mod gap;
mod given;
mod hearing;
mod held_back;
mod irregular;
mod joining;
mod jolt;
mod judgement;
mod line;
mod made;
mod memory;
mod motion;
mod node;
mod over_gap;
mod patience;
mod playback;
mod press;
mod reopen;
mod resume;
mod rewind;
mod sensors;
mod signals;
mod tree;
mod unread;
mod way;

use std::collections::VecDeque;

use kiebitz_hardware::{Observation, Observed, Timestamp};
use kiebitz_protocol::{Dump, FieldUpdate};
use shakmaty::{Bitboard, Board, KnownOutcome, Piece, Square};

pub(crate) use finding::{Finding, Snapshot, Start};
pub(crate) use given::Given;
use hearing::{Hearing, Polled};
use held_back::HeldBack;
use joining::Joining;
use line::LineOfPlay;
use motion::Habits;
use node::put_in_the_centre;
use playback::Playback;
use sensors::Sensors;
use tree::Tree;

use crate::clock::{Clock, ClockChange, ClockFace, ClockReading, ClockWatch, Side};
use crate::events::{EndReason, Recovery, Since};
use crate::model::{IN_HANDS, Model};
use crate::position::start::{self, Drawn};
use crate::position::{Orientation, State, Variant, difference};

#[derive(Debug, Default)]
pub(crate) struct Tracker {
    model: &'static Model,
    /// The start position that games should begin from.
    drawn: Drawn,
    sensors: Sensors,
    clock: ClockWatch,
    line: Option<LineOfPlay>,
    /// The announced result, while the board shows it.
    shown: Option<(KnownOutcome, EndReason)>,
    /// Whether the game of the line has ended.
    ended: bool,
    habits: Habits,
    /// Time of the last change of any square.
    quiet_since: Timestamp,
    /// Whether bytes or reports were lost on the line and no dump has come since, so that the sensors may be wrong.
    disturbed: bool,
    hearing: Hearing,
    /// Start of the open gap, since when any number of plies may have been played unobserved; `None` if no gap is open.
    gap_since: Option<Timestamp>,
    /// The placements from which play may go on, oldest first, while no line leads to the board.
    joining: Vec<Joining>,
    playback: Option<Playback>,
    /// `None` unless the memory has been requested and has not come yet.
    memory_requested_at: Option<Timestamp>,
    /// Whether the memory has been requested since the port was opened, or the time for that is over.
    recalled: bool,
    /// Whether the board loses its power with the cable, so that its memory has nothing of its gaps; `None` if unknown.
    /// Set by the last memory that showed it.
    loses_power: Option<bool>,
    /// `Some` during the burst of reports after the board's memory.
    held_back: Option<HeldBack>,
    /// `Some` if the board reports changes only when it is polled.
    polled: Option<Polled>,
    /// The pieces on unread squares in the last reported snapshot.
    unread_shown: Vec<(Square, Piece)>,
    /// Time of the last observation or deadline. No finding outside playback is dated before it.
    observed_at: Timestamp,
    findings: VecDeque<(Timestamp, Finding)>,
    wake: Option<Timestamp>,
}

impl Tracker {
    #[must_use]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub(crate) fn following(model: &'static Model) -> Self {
        Self {
            model,
            ..Self::default()
        }
    }

    pub(crate) fn expect_start(&mut self, drawn: Drawn) {
        self.drawn = drawn;
    }

    /// Sets whether the game of the line has ended. A start position that is set up afterwards is the next game's, even
    /// if the plies of the line were so few that they could have been taken back.
    pub(crate) fn set_ended(&mut self, ended: bool) {
        self.ended = ended;
    }

    pub(crate) fn observe(&mut self, observed: &Observed) {
        let now = observed.at;
        self.observed_at = now;
        if self.hold_back(now, &observed.observation) {
            return;
        }
        let mut changed = false;
        match &observed.observation {
            Observation::Field { update, .. } => changed = self.field_updated(now, now.into(), *update),
            Observation::Board { dump, .. } => changed = self.dump_received(now, dump),
            Observation::Clock { times, .. } => self.clock_read(now, Some(*times)),
            Observation::ClockAbsent => self.clock_read(now, None),
            Observation::Disturbed { .. } => self.disturbed = true,
            Observation::Closed { .. } => {
                self.begin_gap(now);
                self.announce(now, Finding::Away);
            }
            Observation::MemoryAsked => self.memory_requested(now),
            Observation::Memory { elements } => {
                self.memory_received(now, elements);
                // The next download of the memory goes on from here.
                self.sensors.recorded(memory::changes(elements));
            }
            Observation::Changes {
                elements,
                not_before,
                not_after,
                from_before,
            } => {
                let kept = *from_before && self.keep_from_before(elements);
                if !kept {
                    self.changes_polled(now, elements, *not_before, *not_after);
                }
            }
            _ => {}
        }
        if changed && !self.hearing.is_away() {
            self.squares_changed(now);
        }
        self.conclude(now);
    }

    /// Returns whether the placement changed.
    fn field_updated(&mut self, now: Timestamp, when: Since, update: FieldUpdate) -> bool {
        let repeats = self.sensors.fields()[update.field.index()] == update.contents;
        let changed = self.sensors.set_field(when, update.field, update.contents);
        if repeats {
            self.field_repeated(now, update.field);
        } else if !changed && self.sensors.has_untaken() && self.hearing.unheard().is_none() {
            self.show_squares(now);
        }
        changed
    }

    /// Returns whether the placement changed.
    fn dump_received(&mut self, now: Timestamp, dump: &Dump) -> bool {
        if self.keep_dump(dump) {
            return false;
        }
        self.disturbed = false;
        if let Some(polled) = &mut self.polled {
            polled.known_until = now;
        }
        let is_first = self.hearing.is_away();
        self.hearing.dump_received(now, dump, now + self.model.rest);
        let known = self.sensors.known();
        let changed = self.sensors.set_all(now, dump);
        if changed {
            self.joining.clear();
        }
        if is_first {
            self.find(now);
            self.look_over_gap(now);
            self.join_from_dump(now);
        }
        self.check_dump(now, known && !changed);
        changed
    }

    fn clock_read(&mut self, now: Timestamp, reading: ClockReading) {
        for (at, reading) in self.clock.weigh(now, reading) {
            self.clock_shows(now, at, reading);
        }
    }

    /// Processes a trusted clock reading that arrived at `at`.
    fn clock_shows(&mut self, now: Timestamp, at: Timestamp, reading: ClockReading) {
        let Some(times) = reading else {
            if self.clock.disconnected() {
                self.announce(now, Finding::Clock(ClockChange::Disconnected));
            }
            return;
        };
        let was_unheard = self.clock.is_unheard();
        let changes = self.clock.read(at, times);
        if was_unheard {
            // The clock's turn rules out lines in `examine` (`View::turn_fits`), so the search starts again.
            self.note_examined(0);
            if self.gap_since.is_none() {
                self.complete_missed_presses(now);
            }
        }
        if let Some(clock) = self.clock.shown() {
            let sure = self.clock.is_sure();
            self.announce(now, Finding::Times { clock, sure });
        }
        for change in changes {
            self.clock_changed(now, change);
        }
    }

    fn squares_changed(&mut self, now: Timestamp) {
        self.quiet_since = now;
        self.note_examined(0);
        self.show_squares(now);
        self.doubt_unseen(now);
        let jolted = self.follow_jolt(now);
        if let Some(line) = &mut self.line {
            if jolted {
                line.tree.measure(&self.sensors, now);
            } else {
                line.tree.update(&self.sensors, now);
            }
        }
        self.follow_joining(now);
        self.follow_over_gap(now);
    }

    fn show_squares(&mut self, now: Timestamp) {
        let unread = self.unread_pieces();
        let mut board = self.sensors.board().clone();
        for (square, piece) in &unread {
            board.set_piece_at(*square, *piece);
        }
        // An unread square is reported as unseen once it is unread in the tree's root, several plies back.
        let dead = self
            .line
            .as_ref()
            .map(|line| line.tree.node(line.tree.root()).unread);
        let squares: Bitboard = unread.iter().map(|(square, _)| *square).collect();
        let snapshot = Snapshot {
            changes: self.sensors.take_changes(),
            board,
            watched: !self.recovering(),
            unseen: self.sensors.unseen() | (squares & dead.unwrap_or(Bitboard::EMPTY)),
            turned: self.sensors.turned(),
            dumped_at: self.sensors.dumped_at(),
        };
        self.unread_shown = unread;
        self.announce(now, Finding::Squares(Box::new(snapshot)));
    }

    fn unread_pieces(&self) -> Vec<(Square, Piece)> {
        let Some(line) = &self.line else { return Vec::new() };
        let tip = line.tree.node(line.tree.tip());
        let unread = tip.unread.without(self.sensors.board().occupied());
        let pieces = unread.into_iter();
        pieces
            .filter_map(|square| Some((square, tip.state.board().piece_at(square)?)))
            .collect()
    }

    /// Returns the time at which to call [`handle_deadline`](Self::handle_deadline) if nothing is observed before.
    #[must_use]
    pub(crate) fn poll_deadline(&self) -> Option<Timestamp> {
        let wake = self.wake.filter(|_| self.known_until().is_none());
        let burst_ends = self.held_back.as_ref().map(|held| held.until);
        let deadlines = [wake, burst_ends, self.clock.proved_at(self.polled.is_some())];
        deadlines.into_iter().flatten().min()
    }

    /// Returns the time until which the board's changes are known, if the board may have changed since without a
    /// report: it is polled, is away, or may still send its memory. `None` if the board reports every change at once.
    pub(crate) fn silent_since(&self) -> Option<Timestamp> {
        match (self.hearing.unheard(), &self.polled) {
            (Some(unheard), _) => Some(unheard.heard_until),
            (None, polled) => polled.as_ref().map(|polled| polled.known_until),
        }
    }

    /// Like [`silent_since`](Self::silent_since), but `None` while the memory may still come, and the time of its request
    /// during the burst of reports after it.
    fn known_until(&self) -> Option<Timestamp> {
        let awaited = matches!(self.hearing, Hearing::Back(..));
        let held_since = self.held_back.as_ref().map(|held| held.since);
        held_since.or_else(|| self.silent_since().filter(|_| !awaited))
    }

    pub(crate) fn handle_deadline(&mut self, now: Timestamp) {
        self.observed_at = now;
        if self.held_back.as_ref().is_some_and(|held| held.until <= now) {
            self.play_back_held(now);
        }
        if self
            .clock
            .proved_at(self.polled.is_some())
            .is_some_and(|at| at <= now)
            && let Some((at, reading)) = self.clock.proved()
        {
            self.clock_shows(now, at, reading);
        }
        self.conclude(now);
    }

    fn conclude(&mut self, now: Timestamp) {
        self.decide(self.known_until().unwrap_or(now));
        // The announced line may have changed, and with it the pieces on unread squares.
        if !self.hearing.is_away() && self.unread_pieces() != self.unread_shown {
            self.show_squares(now);
        }
    }

    pub(crate) fn poll_finding(&mut self) -> Option<(Timestamp, Finding)> {
        self.findings.pop_front()
    }

    /// Returns the placement without result pieces.
    #[must_use]
    pub(crate) fn placement(&self) -> &Board {
        self.sensors.board()
    }

    /// Returns the placement after the last announced ply, and the squares on which the board differs from it.
    #[must_use]
    pub(crate) fn expected(&self) -> Option<(&Board, Bitboard)> {
        let tree = self.tree()?;
        let tip = tree.node(tree.tip());
        let board = tip.state.board();
        let kings = put_in_the_centre(board, self.sensors.board());
        Some((board, tip.differs | kings))
    }

    /// `None` until a line has begun.
    #[must_use]
    pub(crate) fn orientation(&self) -> Option<Orientation> {
        let line = self.line.as_ref();
        line.map(|_| Orientation::of(self.sensors.turned()))
    }

    #[must_use]
    pub(crate) fn has_clock(&self) -> bool {
        self.clock.running().is_some()
    }

    /// `None` until White's side is known.
    #[must_use]
    pub(crate) fn clock(&self) -> Option<ClockFace> {
        self.clock.face()
    }

    /// `None` until there is evidence.
    #[must_use]
    pub(crate) fn white_side(&self) -> Option<Side> {
        self.clock.white_side()
    }

    pub(crate) fn standing_ms(&self) -> Option<[u64; 2]> {
        self.clock.standing_ms()
    }

    /// Returns the side that did not press last, whose lever is up; `None` without a clock.
    #[must_use]
    pub(crate) fn lever_up(&self) -> Option<Side> {
        self.clock.turn()
    }

    /// `None` during playback of the memory, which records times only for presses.
    fn face_now(&self) -> Option<Clock> {
        self.clock.shown().filter(|_| !self.recovering())
    }

    fn recovering(&self) -> bool {
        self.playback.is_some_and(|playback| playback.recovered)
    }

    /// Always false during playback, because records have no transmission errors.
    fn may_miss_reports(&self) -> bool {
        self.disturbed && self.playback.is_none()
    }

    fn announce(&mut self, at: Timestamp, finding: Finding) {
        let at = self
            .playback
            .map_or_else(|| at.max(self.observed_at), |playback| playback.known_at);
        self.findings.push_back((at, finding));
    }

    /// Whether `now` is before `at`. If so, the tracker asks to be called at `at`.
    fn waits(&mut self, now: Timestamp, at: Timestamp) -> bool {
        if now < at {
            self.wake_at(at);
        }
        now < at
    }

    fn wake_at(&mut self, at: Timestamp) {
        self.wake = Some(self.wake.map_or(at, |earlier| earlier.min(at)));
    }

    /// Begins a new line from a position given by an arbiter, whatever the board shows.
    pub(crate) fn set_position(&mut self, now: Timestamp, state: State) {
        self.gap_since = None;
        if let Some(line) = &mut self.line {
            line.lost = None;
        }
        if self.fits_turned(state.board()) {
            self.sensors.turn();
            self.show_squares(now);
        }
        let variant = start::recognise(state.board()).map_or(Variant::FromPosition, |(variant, _)| variant);
        self.begin(now, now, variant, state);
        if let Some(line) = &mut self.line {
            line.awaited = !line.tree.node(line.tree.root()).differs.is_empty();
        }
        self.decide(now);
    }

    /// Whether the board, read the other way round, differs from this placement on at most [`IN_HANDS`] squares, and on
    /// less than a quarter of the squares on which it differs as it is read now.
    fn fits_turned(&self, placement: &Board) -> bool {
        let mut turned = self.sensors.board().clone();
        turned.rotate_180();
        let differs = difference(&turned, placement).count();
        let as_read = difference(self.sensors.board(), placement).count();
        self.sensors.known() && differs <= IN_HANDS && differs * 4 < as_read
    }

    fn begin(&mut self, now: Timestamp, since: Timestamp, variant: Variant, state: State) {
        let mut tree = Tree::new(self.model, state, 0, since);
        tree.update(&self.sensors, now);
        self.begin_with(now, variant, tree);
    }

    fn begin_with(&mut self, now: Timestamp, variant: Variant, tree: Tree) {
        let state = tree.node(tree.root()).state.clone();
        let goes_on = self.is_lost() && variant == Variant::FromPosition;
        if variant != Variant::FromPosition {
            self.withdraw_setting_up(now, state.board());
        }
        // The plies since the previous line was lost, or in a gap after it, remain unknown.
        let lost = self.line.as_ref().and_then(|line| line.lost);
        let began = tree.node(tree.root()).landed.at;
        self.gap_since = self.gap_since.or_else(|| lost.filter(|lost| *lost < began));
        self.close_gap(now, Recovery::Undecidable);
        self.announce_held(now);
        self.follow(LineOfPlay::new(Vec::new(), tree));
        self.ended = false;
        if !goes_on {
            self.clock.forget_sides();
        }
        // During playback, the clock's reading is from another time than the position.
        let runs = self.clock.turn().filter(|_| self.clock.running() == Some(true));
        if let Some(side) = runs.filter(|_| self.playback.is_none()) {
            self.clock.vote_white(side.of(state.turn()), 1);
        }
        self.set_checkpoint(now);
        let turned = self.sensors.turned();
        self.announce(
            now,
            Finding::Start(Start {
                variant,
                state,
                turned,
                goes_on,
            }),
        );
    }
}

#[cfg(test)]
mod tests;
