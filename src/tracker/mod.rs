//! From observations to the most credible line of play.
//!
//! The tracker holds hypotheses, not a guess: a small tree of states that the board can have reached, each measured
//! by the squares on which it differs from the sensors. It follows the board for ever, in play or not, and
//! tells the referee what was played and what the board signals. Time comes with the observations; between them
//! [`Tracker::poll_deadline`] says when the tracker wants to be asked again.

mod clock;
mod describe;
mod examine;
mod finding;
mod gap;
mod given;
mod history;
mod irregular;
mod judgement;
mod late;
mod memory;
mod motion;
mod over;
mod pace;
mod patience;
mod resume;
mod rewind;
mod sensors;
mod signals;
mod start;
mod state;
mod tree;

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_hardware::facts::ONE_SCAN_APART;
use kiebitz_hardware::{Observation, Observed, Timestamp};
use shakmaty::{Bitboard, Board, ByColor, Color};

use clock::ClockWatch;
pub use clock::{ClockChange, ClockFace, Side};
pub use examine::Doubt;
pub use finding::{
    Caution, Completion, Evidence, Finding, Grounds, Look, Ply, Recovery, ResultSign, Rival, Settlement,
    Start, Withdrawal,
};
pub(crate) use given::Given;
use late::Late;
use memory::{Gap, Playback};
use motion::Habits;
use rewind::Checkpoint;
pub use sensors::Change;
use sensors::Sensors;
pub(crate) use sensors::difference;
pub(crate) use signals::CENTRE;
use signals::Signals;
pub use start::{Orientation, Variant};
pub use state::State;
use tree::{Standing, Tree};

/// A press is mostly reported within this time.
const REPORTED_WITHIN: Duration = Duration::from_millis(700);

/// Follows one board.
#[derive(Debug)]
pub struct Tracker {
    sensors: Sensors,
    clock: ClockWatch,
    line: Option<Line>,
    /// When each side was last seen to press.
    pressed: ByColor<Option<Timestamp>>,
    /// How long each side's clock ran until that press.
    last_elapsed: ByColor<Option<Duration>>,
    signals: Signals,
    habits: Habits,
    /// Arrival of the last change of any square.
    quiet_since: Timestamp,
    /// Bytes were lost, and no dump has told since then what stands where.
    disturbed: bool,
    /// Nobody looked from then on: any number of plies may have been played.
    gap: Option<Timestamp>,
    /// A dump has shown what no report had told: reports are lost, and what was told since may be wrong.
    lost: bool,
    /// What the board shows after a gap cannot be explained: play may go on from there.
    astray: bool,
    /// Plies found by reconstruction that nothing has confirmed yet.
    doubt: Option<Doubt>,
    /// Where the line was last known to be right.
    checkpoint: Option<Checkpoint>,
    /// Since then it is known that reports were lost.
    suspect: Option<Timestamp>,
    /// What was not heard, until the board's memory has told it or has had its time.
    missing: Option<Gap>,
    playback: Option<Playback>,
    /// The memory was asked for then, and has not come yet.
    asked_memory: Option<Timestamp>,
    late: Option<Late>,
    /// The board tells what changed only when it is asked.
    asked: bool,
    /// What it did until then it has told.
    known_until: Timestamp,
    /// The last observation; nothing is told before.
    observed_at: Timestamp,
    /// What the hands were doing at the end of its last answer.
    hands: pace::Hands,
    /// The quiet board has been searched for lines of so many plies.
    examined: usize,
    findings: VecDeque<(Timestamp, Finding)>,
    wake: Option<Timestamp>,
}

/// A line of play from its start position.
#[derive(Debug)]
struct Line {
    /// The states before the tree's root, one per ply from the start on: where an irregularity can be taken back to.
    passed: Vec<State>,
    tree: Tree,
    /// It begins with a position that was given by word and that nobody has set up on the board yet.
    awaited: bool,
}

impl Default for Tracker {
    fn default() -> Self {
        Self::new()
    }
}

impl Tracker {
    /// A tracker that knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            sensors: Sensors::new(),
            clock: ClockWatch::default(),
            line: None,
            pressed: ByColor::default(),
            last_elapsed: ByColor::default(),
            signals: Signals::default(),
            habits: Habits::default(),
            quiet_since: Timestamp::from_micros(0),
            disturbed: false,
            gap: None,
            lost: false,
            astray: false,
            doubt: None,
            checkpoint: None,
            suspect: None,
            missing: None,
            playback: None,
            asked_memory: None,
            late: None,
            asked: false,
            known_until: Timestamp::from_micros(0),
            observed_at: Timestamp::from_micros(0),
            hands: pace::Hands::default(),
            examined: 0,
            findings: VecDeque::new(),
            wake: None,
        }
    }

    /// Takes in an observation.
    pub fn observe(&mut self, observed: &Observed) {
        let now = observed.at;
        self.observed_at = now;
        let changed = match &observed.observation {
            Observation::Field { update, .. } => {
                let late = self.is_late(now, *update);
                let changed = !late && self.sensors.set_field(now, update.field, update.contents);
                if !late && !changed {
                    self.told_again(now);
                }
                changed
            }
            Observation::Board { dump, .. } => {
                self.play_late(now);
                self.disturbed = false;
                self.known_until = now;
                self.gap_dumped(now);
                let known = self.sensors.known();
                let changed = self.sensors.set_all(now, dump);
                self.lost |= known && changed && self.gap.is_none();
                if changed {
                    self.nothing_stands();
                }
                self.checked(now, known && !changed);
                changed
            }
            Observation::Clock { times, .. } => {
                if !self.is_late_reading(now, *times) {
                    let changes = self.clock.read(now, *times);
                    if let Some(face) = self.clock.face() {
                        let sure = self.clock.is_sure();
                        self.tell(now, Finding::Times { face, sure });
                    }
                    for change in changes {
                        self.clock_changed(now, change);
                    }
                }
                false
            }
            Observation::ClockAbsent => {
                if self.clock.lost() {
                    self.tell(now, Finding::Clock(ClockChange::Disconnected));
                }
                false
            }
            Observation::Disturbed { .. } => {
                self.disturbed = true;
                false
            }
            Observation::Closed { .. } => {
                self.gap_begins(now);
                self.tell(now, Finding::Away);
                false
            }
            Observation::MemoryAsked => {
                self.memory_asked(now);
                false
            }
            Observation::Memory { elements } => {
                self.remember(now, elements);
                false
            }
            Observation::Changes {
                elements,
                not_before,
                not_after,
            } => {
                self.changed_between(now, elements, *not_before, *not_after);
                false
            }
            _ => false,
        };
        if changed && self.missing.is_none() {
            self.squares_changed(now);
        }
        self.conclude(now);
    }

    /// Measures the readings against what the sensors show now.
    fn squares_changed(&mut self, now: Timestamp) {
        self.quiet_since = now;
        self.examined = 0;
        self.show_squares(now);
        if let Some(line) = &mut self.line {
            line.tree.update(&self.sensors, now);
        }
    }

    /// Tells what the squares show, without a word on what it means.
    fn show_squares(&mut self, now: Timestamp) {
        let look = Look {
            changes: self.sensors.take_changes(),
            board: self.sensors.board().clone(),
            watched: !self.recovering(),
            dumped_at: self.sensors.dumped_at(),
        };
        self.tell(now, Finding::Squares(Box::new(look)));
    }

    /// When the tracker wants [`handle_deadline`](Self::handle_deadline) to be called, unless something is observed
    /// before; `None`: nothing is pending.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake.filter(|_| !self.hears_when_asked())
    }

    /// Whether nothing is heard of the board between two questions: that nothing came then proves nothing.
    fn hears_when_asked(&self) -> bool {
        self.asked && self.missing.is_none()
    }

    /// Time has passed without an observation.
    pub fn handle_deadline(&mut self, now: Timestamp) {
        self.observed_at = now;
        self.conclude(now);
    }

    /// Draws conclusions from all that is known at `now`: of a board that is asked, what it had to tell when it was.
    fn conclude(&mut self, now: Timestamp) {
        let asked = self.hears_when_asked();
        self.decide(if asked { self.known_until } else { now });
    }

    /// The next finding and the time that decided it.
    pub fn poll_finding(&mut self) -> Option<(Timestamp, Finding)> {
        self.findings.pop_front()
    }

    /// What the sensors show; result pieces are left out.
    #[must_use]
    pub fn placement(&self) -> &Board {
        self.sensors.board()
    }

    /// Squares on which the board differs from the line as told, and that line's placement; `None` without a line.
    #[must_use]
    pub fn expected(&self) -> Option<(&Board, Bitboard)> {
        let tree = &self.line.as_ref()?.tree;
        let tip = tree.node(tree.tip());
        Some((tip.state.board(), tip.differs))
    }

    /// Where White sits; `None` before a start position has shown it.
    #[must_use]
    pub fn orientation(&self) -> Option<Orientation> {
        let line = self.line.as_ref();
        line.map(|_| Orientation::of(self.sensors.turned()))
    }

    /// What the clock shows, once White's side is known.
    #[must_use]
    pub fn clock(&self) -> Option<ClockFace> {
        self.clock.face()
    }

    /// White's side of the clock, once known.
    #[must_use]
    pub fn white_side(&self) -> Option<Side> {
        self.clock.white_side()
    }

    /// What the clock shows with what is being told; the board's memory says it of presses only.
    fn face_now(&self) -> Option<ClockFace> {
        self.clock.face().filter(|_| !self.recovering())
    }

    /// Whether what is being told was read from the board's memory.
    fn recovering(&self) -> bool {
        self.playback.is_some_and(|playback| playback.recovered)
    }

    fn tell(&mut self, at: Timestamp, finding: Finding) {
        let at = self
            .playback
            .map_or_else(|| at.max(self.observed_at), |playback| playback.heard_at);
        self.findings.push_back((at, finding));
    }

    fn wake_at(&mut self, at: Timestamp) {
        self.wake = Some(self.wake.map_or(at, |earlier| earlier.min(at)));
    }

    fn clock_changed(&mut self, now: Timestamp, change: ClockChange) {
        match change {
            ClockChange::Connected => self.clock_plugged_in(now),
            ClockChange::Started => self.clock_started(now),
            ClockChange::Pressed(side) => self.clock_pressed(now, side),
            _ => {}
        }
        self.tell(now, Finding::Clock(change));
    }

    /// White's clock runs first (Laws Art. 6.6): a clock started on a start position tells White's side.
    fn clock_started(&mut self, now: Timestamp) {
        let at_start = self.line.as_ref().is_some_and(|line| {
            let tree = &line.tree;
            tree.node(tree.tip()).ply == 0 && tree.best() == tree.root()
        });
        if let (true, Some(side)) = (at_start, self.clock.turn()) {
            self.vote_white(now, side, 3);
        }
    }

    /// A clock that comes to a game in progress and runs: the time of the side to move, if nothing is in the air.
    fn clock_plugged_in(&mut self, now: Timestamp) {
        let turn = self.line.as_ref().and_then(|line| {
            let tip = line.tree.node(line.tree.tip());
            (tip.ply > 0 && tip.differs.is_empty()).then(|| tip.state.turn())
        });
        // The mover of the last ply may not have pressed: where the sides were known, his press tells more.
        let unknown = self.clock.white_side().is_none();
        let runs = self
            .clock
            .turn()
            .filter(|_| unknown && self.clock.running() == Some(true));
        if let Some((turn, runs)) = turn.zip(runs) {
            let white = if turn.is_white() { runs } else { runs.other() };
            self.vote_white(now, white, 1);
        }
    }

    fn clock_pressed(&mut self, now: Timestamp, side: Side) {
        let last_told = self.line.as_ref().and_then(|line| {
            let tip = line.tree.node(line.tree.tip());
            let awaited = tip.standing >= Standing::Told && !tip.completed && tip.since < now;
            (awaited && self.clock.ran_at(tip.since)).then(|| tip.mover())
        });
        if let Some(mover) = last_told {
            let white = if mover.is_white() { side } else { side.other() };
            self.vote_white(now, white, 1);
        }
        let Some(color) = self.clock.color_of(side) else {
            return;
        };
        // Whose turn it is rules lines out: see turn_fits().
        self.examined = 0;
        let elapsed = self.clock.end_turn(now);
        self.last_elapsed[color] = elapsed;
        self.credit_press(now, color, elapsed);
    }

    /// Finds out which ply a press belongs to. What the board reports of the clock is up to a second late, so the press
    /// may be that of the mover's ply before the one he is just making.
    fn credit_press(&mut self, now: Timestamp, color: Color, elapsed: Option<Duration>) {
        let Some(tree) = self.line.as_ref().map(|line| &line.tree) else {
            return;
        };
        // The press confirms what stands on the board, which may not be what was told.
        let (told, reading) = (tree.path(tree.tip()), tree.path(tree.best()));
        let own = told
            .iter()
            .rposition(|id| tree.node(*id).mover() == color && reading.contains(id));
        let own_is_last = own.is_some_and(|own| own + 1 == told.len());
        let untold = reading
            .get(told.len())
            .map(|id| tree.node(*id))
            .filter(|node| node.mover() == color);
        let for_untold = untold.is_some_and(|node| node.lifted_at + REPORTED_WITHIN <= now);
        // What was played before the clock was started waits for no press, but for the last ply.
        let waits = |id: &tree::NodeId| {
            let node = tree.node(*id);
            !node.completed && (own_is_last || self.clock.ran_at(node.since))
        };
        // Presses alternate: where the reply has been pressed, the press before it is not still to come.
        let replied = |own: &usize| told.get(own + 1).is_some_and(|reply| tree.node(*reply).completed);
        let own_pending = own.filter(|own| !replied(own)).map(|own| told[own]).filter(waits);
        if for_untold || own_is_last || own_pending.is_none() {
            self.pressed[color] = Some(now);
        }
        if let Some(own) = own_pending.filter(|_| !for_untold) {
            self.complete(now, own, Completion::Press, elapsed);
        }
    }

    fn vote_white(&mut self, now: Timestamp, side: Side, weight: i8) {
        if self.clock.vote_white(side, weight)
            && let Some(side) = self.clock.white_side()
        {
            self.tell(now, Finding::WhiteSide(side));
        }
    }

    fn complete(&mut self, now: Timestamp, id: tree::NodeId, by: Completion, elapsed: Option<Duration>) {
        let Some(line) = &mut self.line else { return };
        let node = line.tree.node_mut(id);
        node.completed = true;
        let ply = node.ply;
        // The squares are read one after another: within a scan of the press they may still change.
        if by == Completion::Press && now >= node.since + ONE_SCAN_APART {
            self.settle(now, id, Settlement::Press);
        }
        let clock = match by {
            Completion::Press => self.clock.face(),
            Completion::OwnNextMove => self.face_now(),
        };
        let elapsed = elapsed.filter(|_| !self.recovering());
        self.tell(
            now,
            Finding::Completed {
                ply,
                by,
                clock,
                elapsed,
            },
        );
    }

    fn settle(&mut self, now: Timestamp, id: tree::NodeId, by: Settlement) {
        let Some(line) = &mut self.line else { return };
        let node = line.tree.node_mut(id);
        if node.standing == Standing::Told {
            node.standing = Standing::Settled;
            let ply = node.ply;
            self.tell(now, Finding::Settled { ply, by });
        }
    }

    /// The position is this one: an arbiter says so. A new line begins with it, whatever stands on the board.
    pub fn set_position(&mut self, now: Timestamp, state: State) {
        self.gap = None;
        self.astray = false;
        self.doubt = None;
        let variant = start::recognise(state.board()).map_or(Variant::FromPosition, |(variant, _)| variant);
        self.begin(now, now, variant, state);
        if let Some(line) = &mut self.line {
            line.awaited = !line.tree.node(line.tree.root()).differs.is_empty();
        }
        self.decide(now);
    }

    /// Begins a new line of play with what has stood on the board since then.
    fn begin(&mut self, now: Timestamp, since: Timestamp, variant: Variant, state: State) {
        let goes_on = core::mem::take(&mut self.astray) && variant == Variant::FromPosition;
        if variant != Variant::FromPosition {
            self.withdraw_setting_up(now, state.board());
        }
        self.doubt = None;
        self.checkpoint = None;
        self.suspect = None;
        // How the line before it went on in a gap is not found out any more.
        self.close_gap(now, Recovery::Undecidable);
        let mut tree = Tree::new(state.clone(), 0, since);
        tree.update(&self.sensors, now);
        self.line = Some(Line {
            passed: Vec::new(),
            tree,
            awaited: false,
        });
        self.pressed = ByColor::default();
        if !goes_on {
            self.clock.forget_sides();
        }
        if let (Some(true), Some(side)) = (self.clock.running(), self.clock.turn()) {
            self.clock.vote_white(
                if state.turn().is_white() {
                    side
                } else {
                    side.other()
                },
                1,
            );
        }
        if !self.asked && self.playback.is_none() {
            self.set_checkpoint(now);
        }
        let turned = self.sensors.turned();
        self.tell(
            now,
            Finding::Start(Start {
                variant,
                state,
                turned,
                goes_on,
            }),
        );
    }

    /// Whether the mover has pressed since he lifted his piece.
    fn pressed_since(&self, mover: Color, lifted_at: Timestamp) -> Option<Timestamp> {
        self.pressed[mover].filter(|pressed| *pressed >= lifted_at)
    }
}

#[cfg(test)]
mod tests;
