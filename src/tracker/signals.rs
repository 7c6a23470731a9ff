//! What the board signals besides moves: a start position set up, a result shown.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board, Color, KnownOutcome, Role, Square};

use super::Tracker;
use super::finding::{Finding, Recovery, ResultSign, Withdrawal};
use super::sensors::difference;
use super::start::{self, Variant};
use super::state::State;
use super::tree::{NodeId, Played, Standing};

/// Signals already given, so that each is given once.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// What stood on a quiet board before a line of play was known.
    standing: Option<(Board, Timestamp)>,
    shown: Option<(KnownOutcome, ResultSign)>,
}

/// A start position counts when the hands have left it alone for this long.
const START_STANDS: Duration = Duration::from_millis(400);
/// Kings in the centre and result pieces count when they have stood for this long.
const RESULT_STANDS: Duration = Duration::from_millis(700);
/// A position without history is taken as one when nothing has moved for this long.
const POSITION_STANDS: Duration = Duration::from_secs(2);
/// What a gap left behind counts as undecidable when nothing has moved for this long.
const GAP_STANDS: Duration = Duration::from_secs(10);
/// Hands that set pieces up rest for less.
const SET_UP_RESTS: Duration = Duration::from_millis(1500);
/// The four centre squares, on which kings show a result.
pub(crate) const CENTRE: [Square; 4] = [Square::D4, Square::E4, Square::D5, Square::E5];

impl Tracker {
    /// Looks for a start position that is not just the line of play come back to it. Returns whether a line began.
    pub(super) fn look_for_start(&mut self, now: Timestamp) -> bool {
        let result_pieces = self.sensors.token_squares().any();
        if self.stands_as_expected() {
            if let Some(line) = &mut self.line {
                line.awaited = false;
            }
            return false;
        }
        let awaits_another = self.line.as_ref().is_some_and(|line| line.awaited);
        if !self.sensors.known() || result_pieces || awaits_another {
            return false;
        }
        let mut turned_board = self.sensors.board().clone();
        turned_board.rotate_180();
        let here = start::recognise(self.sensors.board()).map(|found| (found, false));
        let found = here.or_else(|| start::recognise(&turned_board).map(|found| (found, true)));
        let Some(((variant, state), turn)) = found else {
            return false;
        };
        let ready = self.quiet_since + START_STANDS;
        if self.line.is_some() && now < ready {
            self.wake_at(ready);
            return false;
        }
        if turn {
            self.sensors.turn();
            self.show_squares(now);
        }
        self.begin(now, now, variant, state);
        true
    }

    /// Without a line, or where it is lost behind a gap, a legal move out of the placement that stood on the board tells
    /// whose turn it was: the game goes on from there. Returns whether a line began.
    pub(super) fn look_for_position(&mut self, now: Timestamp) -> bool {
        let lost = self.astray || self.line.is_none();
        // How long anything stood that is played back nobody knows.
        if !lost || self.disturbed || !self.sensors.known() || self.playback.is_some() {
            return false;
        }
        if self.line.is_none() && start::seems_turned(self.sensors.board()) {
            self.sensors.turn();
            self.signals.standing = None;
            self.show_squares(now);
        }
        let board = self.sensors.board();
        if let Some((standing, since)) = self
            .signals
            .standing
            .as_ref()
            .filter(|(standing, _)| standing != board)
        {
            let since = *since;
            let played = |state: &State| {
                state.moves().iter().any(|candidate| {
                    candidate.footprint.squares() == difference(standing, board)
                        && candidate.footprint.fits(board)
                })
            };
            let last = self.line.as_ref().map(|line| {
                let tree = &line.tree;
                &tree.node(tree.tip()).state
            });
            let sides = Color::ALL.into_iter().filter_map(|turn| match last {
                Some(last) => start::after_gap(standing, turn, last),
                None => start::without_history(standing, turn),
            });
            if let Some(state) = sides.into_iter().find(played) {
                self.signals.standing = None;
                self.close_gap(now, Recovery::Undecidable);
                self.begin(now, since, Variant::FromPosition, state);
                return true;
            }
        }
        let ready = self.quiet_since + POSITION_STANDS;
        if now < ready {
            self.wake_at(ready);
        } else if self
            .signals
            .standing
            .as_ref()
            .is_none_or(|(standing, _)| standing != board)
        {
            self.signals.standing = Some((board.clone(), self.quiet_since));
        }
        if self.gap.is_some() {
            let given_up = self.quiet_since + GAP_STANDS;
            if now >= given_up {
                self.close_gap(now, Recovery::Undecidable);
            } else {
                self.wake_at(given_up);
            }
        }
        false
    }

    /// Reports were lost: what stood may have been a piece on its way.
    pub(super) fn nothing_stands(&mut self) {
        self.signals.standing = None;
    }

    /// Looks for a result shown on the board. Returns whether that changed the line.
    pub(super) fn look_for_result(&mut self, now: Timestamp) -> bool {
        let Some((outcome, by)) = self.result_on_board() else {
            self.signals.shown = None;
            return false;
        };
        if self.signals.shown == Some((outcome, by)) {
            return false;
        }
        let ready = self.quiet_since + RESULT_STANDS;
        if now < ready {
            self.wake_at(ready);
            return false;
        }
        self.signals.shown = Some((outcome, by));
        if by == ResultSign::Kings {
            self.withdraw_king_walks(now);
        }
        self.tell(now, Finding::ResultShown { outcome, by });
        true
    }

    fn stands_as_expected(&self) -> bool {
        self.line
            .as_ref()
            .is_some_and(|line| line.tree.node(line.tree.best()).differs.is_empty())
    }

    /// Kings side by side in the centre cannot arise in play: they show the result by the colour of their
    /// squares, light for White, dark for Black, one of each for a draw.
    fn result_on_board(&self) -> Option<(KnownOutcome, ResultSign)> {
        self.line.as_ref()?;
        if let Some(outcome) = self.sensors.token_result() {
            return Some((outcome, ResultSign::Piece));
        }
        let centre: Bitboard = CENTRE.into_iter().collect();
        let kings = self.sensors.board().kings() & centre;
        if kings.count() != 2
            || Color::ALL
                .iter()
                .any(|c| (kings & self.sensors.board().by_color(*c)).count() != 1)
        {
            return None;
        }
        let outcome = match kings.into_iter().filter(|square| square.is_light()).count() {
            2 => KnownOutcome::Decisive { winner: Color::White },
            0 => KnownOutcome::Decisive { winner: Color::Black },
            _ => KnownOutcome::Draw,
        };
        Some((outcome, ResultSign::Kings))
    }

    /// Takes back the last plies if pieces were put back to where the next game wants them: the clock stood before them,
    /// or, without a clock, all was put home in one go to this start position.
    pub(super) fn withdraw_setting_up(&mut self, now: Timestamp, start: &Board) {
        if self.recovering() {
            return;
        }
        let first = match self.clock.stands_since() {
            Some(since) => self.made_behind(since),
            None if self.clock.running().is_none() => self.put_home_to(start),
            None => None,
        };
        let (Some(first), Some(line)) = (first, &mut self.line) else {
            return;
        };
        let tree = &mut line.tree;
        let ply = tree.node(first).ply;
        let certain = tree.node(first).standing == Standing::Settled;
        tree.remove(first, tree.root());
        let reason = if certain {
            Withdrawal::Recovered
        } else {
            Withdrawal::SetUp
        };
        self.tell(now, Finding::Retracted { ply, reason });
    }

    /// The first of the last plies that were made behind a clock that stood since then.
    fn made_behind(&self, since: Timestamp) -> Option<NodeId> {
        let tree = &self.line.as_ref()?.tree;
        let told = tree.path(tree.tip());
        let made = |id: &NodeId| {
            let node = tree.node(*id);
            node.lifted_at > since && !node.completed
        };
        let last = told.iter().rposition(|id| !made(id))?;
        // A clock that did not run for the ply before says nothing.
        let before = tree.node(told[last]).since;
        let ran = self.clock.ran_at(before) && before <= since;
        told.get(last + 1).copied().filter(|_| ran)
    }

    /// The first of the last plies that put a piece where it stands in the start position, without a rest before the others
    /// were put there as well.
    fn put_home_to(&self, start: &Board) -> Option<NodeId> {
        let tree = &self.line.as_ref()?.tree;
        let mut since: Option<Timestamp> = None;
        for change in self.sensors.recent().rev() {
            if since.is_some_and(|since| since > change.at + SET_UP_RESTS) {
                break;
            }
            since = Some(change.at);
        }
        let since = since?;
        let put_home = |id: &NodeId| {
            let node = tree.node(*id);
            let home = |m: shakmaty::Move| start.piece_at(m.to()) == Some(m.role().of(node.mover()));
            node.lifted_at >= since && matches!(node.played, Played::Move(m) if home(m))
        };
        let told = tree.path(tree.tip());
        let last = told.iter().rev().take_while(|id| put_home(id)).count();
        told.get(told.len() - last).copied()
    }

    /// Takes back the last plies if they were kings on their way to show the result.
    fn withdraw_king_walks(&mut self, now: Timestamp) {
        let Some(line) = &mut self.line else { return };
        let tree = &mut line.tree;
        let walks: Vec<NodeId> = tree
            .path(tree.tip())
            .into_iter()
            .rev()
            .take_while(|id| {
                let node = tree.node(*id);
                let to_centre = |m: shakmaty::Move| m.role() == Role::King && CENTRE.contains(&m.to());
                !node.completed && matches!(node.played, Played::Move(m) if to_centre(m))
            })
            .collect();
        let Some(first) = walks.last().copied() else {
            return;
        };
        let ply = tree.node(first).ply;
        let told = tree.node(first).standing >= Standing::Told;
        tree.remove(first, tree.root());
        if told {
            self.tell(
                now,
                Finding::Retracted {
                    ply,
                    reason: Withdrawal::Kings,
                },
            );
        }
    }
}
