//! Pieces that the board does not read because of a dead coil in a piece or under a square.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Piece, Square};

use super::book::{Number, ResumedIncident};
use super::{Context, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Situation;

/// Watches unread pieces until the board reads them.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    open: Vec<(Number, Square)>,
    /// Squares that are assumed to have an unread piece, and the time since when.
    since: Option<(Bitboard, Timestamp)>,
    wake: Option<Timestamp>,
}

impl Unseen {
    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        let square = known.squares.single_square();
        self.open.extend(square.map(|square| (known.number, square)));
    }

    pub(super) fn squares(&self) -> Bitboard {
        self.open.iter().map(|(_, square)| *square).collect()
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        self.wake = None;
        if !context.acts.is_whole() {
            return;
        }
        let (now, unseen) = (context.now(), context.acts.unseen());
        let read = |square: Square| context.acts.piece_at(square).is_some() && !unseen.contains(square);
        for (number, _) in self.open.extract_if(.., |(_, square)| read(*square)) {
            context
                .book
                .close(now, number, ClosedBy::Board, IncidentEnd::Restored);
        }
        if matches!(news, News::Started) {
            // A faulty square that is empty now is found again in the next game.
            for (number, _) in self.open.extract_if(.., |(_, square)| !unseen.contains(*square)) {
                context
                    .book
                    .close(now, number, ClosedBy::Laws, IncidentEnd::GameOver);
            }
        }
        let fresh: Bitboard = (unseen & !self.squares())
            .into_iter()
            .filter(|square| !is_read_elsewhere(context, *square))
            .collect();
        if fresh.is_empty() {
            self.since = None;
            return;
        }
        let since = match self.since {
            Some((squares, since)) if squares == fresh && !matches!(news, News::Started) => since,
            _ => now,
        };
        self.since = Some((fresh, since));
        let playing = context.game.begun || context.game.clock.running;
        // Before play, the piece may still be on its way to its square.
        let due = since + context.acts.model().put_right;
        if now < due && !playing {
            self.wake = Some(due);
            return;
        }
        for square in fresh {
            let piece = context.acts.piece_at(square);
            self.open(context, square, piece, since, playing);
        }
    }

    fn open(
        &mut self,
        context: &mut Context<'_>,
        square: Square,
        piece: Option<Piece>,
        from: Timestamp,
        playing: bool,
    ) {
        let Some(piece) = piece else { return };
        let situation = Situation::PieceNotSeen {
            square,
            piece,
            playing,
        };
        let report = context
            .report(situation, from)
            .at_ply(if playing { context.game.due() } else { 0 });
        let number = context.open(report.on(square));
        self.open.push((number, square));
    }
}

/// Whether a piece like the one on `square` was recently read on a square where the line of play has never had one. The
/// piece may be there, and the record may be wrong.
fn is_read_elsewhere(context: &Context<'_>, square: Square) -> bool {
    let (acts, game) = (context.acts, context.game);
    let (Some(piece), Some(first)) = (acts.piece_at(square), game.line.first()) else {
        return false;
    };
    let lately = context.now().saturating_sub(acts.model().unclear);
    let since = lately.max(first.ply.lifted_at);
    let line = game.line.iter().map(|entry| &entry.ply.after);
    let line = line.chain(game.start.map(|start| &start.state));
    let explained = line.fold(Bitboard::EMPTY, |all, state| all | state.board().by_piece(piece));
    !acts.read_since(since, piece).is_subset(explained)
}
