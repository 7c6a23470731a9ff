//! Pieces on squares where no move has put them.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Color, Role, Square};

use super::act;
use super::book::{Number, ResumedIncident};
use super::moves::Moves;
use super::{Desk, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Situation;
use crate::tracker::{CENTRE, State, difference};

/// Players put right at once what they have just knocked over.
const GRACE: Duration = Duration::from_millis(2600);
/// A single piece on the square next to its own may be an illegal move that is put right before the press.
const PUSH_GRACE: Duration = Duration::from_millis(9500);
/// A missing piece may be in the hand of its player, who is thinking, or in the opponent's, about to be captured.
const GONE_GRACE: Duration = Duration::from_secs(20);
/// A missing piece that the player on move can neither move nor capture has fallen.
const FALLEN_GRACE: Duration = Duration::from_secs(8);
/// Two pieces in one hand, for a capture or castling, are put down sooner.
const TWO_GRACE: Duration = Duration::from_secs(6);
/// What was displaced when a move was made is checked once more after this time.
const FOUND_GRACE: Duration = Duration::from_millis(900);
/// A piece was displaced before a move if that was at least this long before the move's piece was lifted.
const MIN_BEFORE_LIFT: Duration = Duration::from_millis(300);
/// More squares than this are pieces being set up or cleared away.
const MAX_SQUARES: usize = 10;

/// Follows displaced pieces until they stand where they belong.
#[derive(Debug, Default)]
pub(super) struct Displaced {
    open: Option<Open>,
    /// Squares that differed before a move was made and still do, with the ply and when it was found.
    found: Option<(Bitboard, u32, Timestamp)>,
    /// What looks displaced, how long there is to put it right, and since when it has looked so.
    suspected: Option<(Bitboard, Duration, Timestamp)>,
    wake: Option<Timestamp>,
}

#[derive(Debug)]
struct Open {
    number: Number,
    squares: Bitboard,
    ply: u32,
    from: Timestamp,
    found_later: bool,
}

impl Displaced {
    /// The squares concerned.
    pub(super) fn squares(&self) -> Bitboard {
        self.open.as_ref().map_or(Bitboard::EMPTY, |open| open.squares)
    }

    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        self.open = Some(Open {
            number: known.number,
            squares: known.squares,
            ply: known.ply,
            from: known.from,
            found_later: false,
        });
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News, moves: &Moves) {
        self.wake = None;
        match news {
            News::Played(ply, _) => self.played(desk, *ply),
            News::Started | News::Over => {
                self.found = None;
                if let Some(open) = self.open.take() {
                    desk.book
                        .close(desk.game.now, open.number, ClosedBy::Laws, IncidentEnd::GameOver);
                }
            }
            News::Away => self.found = None,
            _ => {}
        }
        let Some(tip) = desk.game.tip() else { return };
        let all = difference(desk.trace.board(), tip.board());
        if let Some(open) = self.open.take_if(|open| (open.squares & all).is_empty()) {
            desk.book
                .close(desk.game.now, open.number, ClosedBy::Board, IncidentEnd::Restored);
        }
        if desk.sees_play() {
            let differs = all & !desk.set_aside & !moves.open_squares();
            self.inspect(desk, tip, differs);
        }
    }

    /// A move was made while something was displaced: it was not put right before.
    fn played(&mut self, desk: &mut Desk<'_>, ply: u32) {
        let Some(entry) = desk.game.entry(ply) else { return };
        if let Some(open) = self.open.as_mut().filter(|open| !open.found_later) {
            open.found_later = true;
            let report = desk
                .report(Situation::DisplacedPieces { found_later: true }, open.from)
                .at_ply(open.ply)
                .on(open.squares);
            desk.update(open.number, report);
        }
        if entry.ply.inferred || self.found.is_some() {
            return;
        }
        let lifted_at = entry.ply.lifted_at;
        let stale = |square: &Square| desk.trace.changed_at(*square) + MIN_BEFORE_LIFT < lifted_at;
        let squares: Bitboard = desk
            .differs()
            .without(self.squares())
            .into_iter()
            .filter(stale)
            .collect();
        if !squares.is_empty() && desk.castled_behind_rook().is_none() {
            self.found = Some((squares, ply, desk.now()));
        }
    }

    fn inspect(&mut self, desk: &mut Desk<'_>, tip: &State, differs: Bitboard) {
        let now = desk.now();
        let known = self.squares();
        let fresh = differs & !known;
        if let Some((squares, ply, reported_at)) = self.found {
            let still = squares & differs;
            let pair = strays(tip.board(), desk.trace.board(), still);
            if pair.is_empty() || desk.castled_behind_rook().is_some() {
                self.found = None;
            } else if now >= reported_at + found_grace(desk.trace.board(), pair) {
                self.found = None;
                self.open(desk, pair, ply, true);
                return;
            } else {
                self.wake_at(reported_at + found_grace(desk.trace.board(), pair));
            }
        }
        let Some((squares, grace)) = self.suspects(desk, tip, fresh) else {
            self.suspected = None;
            return;
        };
        let since = match self.suspected {
            Some((known, known_grace, since)) if known == squares && known_grace == grace => since,
            _ => desk.trace.stood_since(squares).max(desk.trace.quiet_since),
        };
        self.suspected = Some((squares, grace, since));
        let due = since + grace;
        if now < due {
            self.wake_at(due);
            return;
        }
        let ply = desk.game.due();
        self.open(desk, squares, ply, false);
    }

    /// What no move explains, and how long there is to put it right.
    fn suspects(&self, desk: &Desk<'_>, tip: &State, fresh: Bitboard) -> Option<(Bitboard, Duration)> {
        if fresh.is_empty() || fresh.count() > MAX_SQUARES {
            return None;
        }
        if let Some(act) = act::read(tip, desk.game.last_before(), desk.trace, fresh) {
            let push = act.may_be_a_push(desk.trace) && !act.halfway;
            // The last move appeared in the same scan: both were knocked over.
            let last = desk.game.last_before();
            let expected = last.map_or(Bitboard::EMPTY, |last| difference(last.board(), tip.board()));
            let upset = act.upsets(desk.trace) || (expected.any() && at_once(desk, fresh | expected));
            let grace = if upset { GRACE } else { PUSH_GRACE };
            return push.then_some((act.squares, grace));
        }
        let shown = desk.trace.board();
        if shows_result(shown) || desk.castled_behind_rook().is_some() {
            return None;
        }
        let moves = tip.moves();
        let reached = moves.iter().map(|candidate| candidate.footprint);
        // A move that is not found yet, or one of several pieces that has begun.
        if reached
            .clone()
            .any(|footprint| footprint.squares().count() > 2 && footprint.squares().is_superset(fresh))
        {
            return None;
        }
        let played = reached
            .filter(|footprint| fresh.is_superset(footprint.squares()) && footprint.fits(shown))
            .map(|footprint| footprint.squares())
            .next();
        // Nobody makes a move and pushes another piece within one scan.
        let upset = at_once(desk, fresh) && fresh.count() > 3;
        let rest = fresh & !played.filter(|_| !upset).unwrap_or(Bitboard::EMPTY);
        let strays = strays(tip.board(), shown, rest);
        if let Some(fallen) = strays.single_square() {
            let color = tip.board().color_at(fallen)?;
            let wanted = color == tip.turn() || moves.iter().any(|candidate| candidate.m.to() == fallen);
            let grace = match (
                knocked(desk, fallen, color),
                knocked(desk, fallen, !color),
                wanted,
            ) {
                (true, ..) => GRACE,
                (false, true, _) => TWO_GRACE,
                (false, false, true) => GONE_GRACE,
                (false, false, false) => FALLEN_GRACE,
            };
            let all = self::strays(tip.board(), shown, fresh);
            let counts = fresh == strays || grace == GRACE;
            return (shown.piece_at(fallen).is_none() && counts).then_some((all, grace));
        }
        if strays.is_empty() {
            return None;
        }
        if in_hand(tip.board(), shown, strays) {
            return Some((strays, TWO_GRACE));
        }
        // One piece on the square next to its own, and no other has left its square.
        let gone = |square: &Square| tip.board().piece_at(*square).is_some();
        let alone = strays.count() == 2 && strays.into_iter().filter(gone).count() == 1;
        let grace = if alone { PUSH_GRACE } else { GRACE };
        Some((strays, grace))
    }

    fn open(&mut self, desk: &mut Desk<'_>, squares: Bitboard, ply: u32, found_later: bool) {
        let from = desk.trace.stood_since(squares);
        if let Some(open) = &mut self.open {
            open.squares |= squares;
            let report = desk
                .report(
                    Situation::DisplacedPieces {
                        found_later: open.found_later,
                    },
                    open.from,
                )
                .at_ply(open.ply)
                .on(open.squares);
            desk.update(open.number, report);
            return;
        }
        let report = desk
            .report(Situation::DisplacedPieces { found_later }, from)
            .at_ply(ply)
            .on(squares);
        let number = desk.open(report);
        self.open = Some(Open {
            number,
            squares,
            ply,
            from,
            found_later,
        });
    }

    fn wake_at(&mut self, at: Timestamp) {
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }
}

/// Squares that pieces have left, and squares where pieces of the same kind appeared; a piece that appears without one
/// having left another square was misread.
fn strays(expected: &Board, shown: &Board, differs: Bitboard) -> Bitboard {
    let mut gone: Bitboard = differs
        .into_iter()
        .filter(|square| expected.piece_at(*square).is_some())
        .collect();
    let mut strays = Bitboard::EMPTY;
    for square in differs {
        let Some(piece) = shown.piece_at(square) else {
            continue;
        };
        let from = gone
            .into_iter()
            .find(|from| *from != square && expected.piece_at(*from) == Some(piece));
        if let Some(from) = from {
            gone.discard(from);
            strays.add(Bitboard::from(from).with(square));
        }
    }
    let fallen = gone
        .into_iter()
        .filter(|square| shown.piece_at(*square).is_none());
    strays | fallen.collect::<Bitboard>()
}

/// Whether all these squares came to show what they do in one scan.
fn at_once(desk: &Desk<'_>, squares: Bitboard) -> bool {
    let changed = || squares.into_iter().map(|square| desk.trace.changed_at(square));
    let (first, last) = (changed().min(), changed().max());
    first
        .zip(last)
        .is_some_and(|(first, last)| last.saturating_duration_since(first) <= ONE_SCAN_APART)
}

/// Whether another piece of `color` left a square nearby in the same scan: nobody lifts two at once.
fn knocked(desk: &Desk<'_>, fallen: Square, color: Color) -> bool {
    let at = desk.trace.changed_at(fallen);
    desk.trace
        .since(at.saturating_sub(ONE_SCAN_APART))
        .take_while(|shown| shown.at <= at + ONE_SCAN_APART)
        .filter_map(|shown| {
            shown
                .before
                .filter(|_| shown.square != fallen)
                .map(|piece| (shown.square, piece))
        })
        .any(|(square, piece)| piece.color == color && square.distance(fallen) <= 2)
}

/// A piece that appears elsewhere was displaced; a missing one may be a misread square.
fn found_grace(shown: &Board, squares: Bitboard) -> Duration {
    if (squares & shown.occupied()).any() {
        FOUND_GRACE
    } else {
        FALLEN_GRACE
    }
}

/// Whether both kings stand in the centre, as they are put there to show the result.
fn shows_result(shown: &Board) -> bool {
    let centre: Bitboard = CENTRE.into_iter().collect();
    (shown.kings() & centre).count() == 2
}

/// Whether all missing pieces may be in somebody's hand: one piece of each colour, or king and rook.
fn in_hand(expected: &Board, shown: &Board, strays: Bitboard) -> bool {
    if (strays & shown.occupied()).any() {
        return false;
    }
    Color::ALL.into_iter().all(|color| {
        let own = strays & expected.by_color(color);
        let castles = own.count() == 2
            && (own & expected.by_role(Role::King)).any()
            && (own & expected.by_role(Role::Rook)).any();
        own.count() <= 1 || castles
    })
}
