//! Rebuilds what the tracker and the referee know of a game from its events.

use kiebitz_hardware::Timestamp;
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{Board, CastlingMode, Color, Role};

use super::Verdict;
use crate::clock::Side;
use crate::events::record::{GameRecord, MoveRecord};
use crate::events::{DoubtfulPlies, Evidence, Players, Ply, ResumableGame};
use crate::laws::TimeControl;
use crate::position::{Orientation, State, Variant};
use crate::tracker::Start;

/// A game to take up again.
#[derive(Debug, Clone)]
pub(crate) struct Resumed {
    /// Its id.
    pub id: String,
    /// Its number on the board, from 1.
    pub number: u32,
    /// When it began.
    pub started: Timestamp,
    /// The time of its last event.
    pub last_ts: Timestamp,
    /// Its start position.
    pub start: Start,
    /// What was played, with what settled and completed each ply.
    pub plies: Vec<(Ply, MoveRecord)>,
    /// White's side of the clock, if it was known.
    pub white_side: Option<Side>,
    /// How it ended.
    pub verdict: Option<Verdict>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// Who plays it.
    pub players: Option<Players>,
    /// Positions that the arbiter set, each with the number of the ply before it.
    pub placed: Vec<(u32, State)>,
    /// The time control that the arbiter set during the game.
    pub time_control: Option<TimeControl>,
    /// Plies that were reconstructed and not confirmed yet.
    pub doubt: Option<DoubtfulPlies>,
    /// Whose clock did not run last, and its time in milliseconds, if that is known.
    pub halted: Option<(Color, u64)>,
    /// What stood at the end of the game before it, if that is known.
    pub before: Option<Board>,
}

impl Resumed {
    /// A game of the journal; `None` where its positions are invalid.
    #[must_use]
    pub(crate) fn new(game: &ResumableGame) -> Option<Self> {
        let record = &game.record;
        let variant = record.variant;
        let by_variant = variant.castling_mode();
        let mode = by_variant.or_else(|| castling_mode(&record.start_fen))?;
        let mut state = State::from_fen(&record.start_fen, mode)?;
        if variant == Variant::FromPosition {
            state = state.with_unknown_past();
        }
        let placed = record.positions.iter();
        let placed = placed.map(|set| Some((set.ply, State::from_fen(&set.fen, mode)?)));
        let placed: Vec<(u32, State)> = placed.collect::<Option<_>>()?;
        let mut before = state.clone();
        let mut plies = Vec::new();
        for entry in &record.moves {
            let set = placed.iter().rfind(|(ply, _)| ply.saturating_add(1) == entry.ply);
            let ply = ply(record, entry, set.map_or(&before, |(_, state)| state), mode)?;
            before = ply.after.clone();
            plies.push((ply, entry.clone()));
        }
        Some(Self {
            id: record.game.clone(),
            number: game.number,
            started: record.started,
            last_ts: game.last_ts,
            start: Start {
                variant,
                state,
                turned: record.orientation == Orientation::Turned,
                goes_on: false,
            },
            plies,
            white_side: record.white_side,
            verdict: record.reason.zip(record.by).map(|(reason, by)| Verdict {
                result: record.result,
                reason,
                by,
                confirmed: record.confirmed,
                decided: record.decided.clone(),
            }),
            ended: record.ended,
            players: record.players.clone(),
            placed,
            time_control: game
                .time_control
                .as_ref()
                .and_then(|set| TimeControl::from_event(set).ok()),
            doubt: game.doubt,
            halted: game.halted,
            before: None,
        })
    }

    /// The same, played after that one.
    #[must_use]
    pub(crate) fn after(mut self, before: Option<&ResumableGame>) -> Self {
        self.before = before.and_then(|game| {
            let record = &game.record;
            let last = record.moves.last().map_or(&record.start_fen, |last| &last.fen);
            Some(last.parse::<Fen>().ok()?.into_setup().board)
        });
        self
    }

    /// The side of the clock that did not run last, and its time in seconds, as far as is known.
    #[must_use]
    pub(crate) fn halted(&self) -> Option<(Side, u32)> {
        let (color, ms) = self.halted?;
        Some((self.white_side?.of(color), u32::try_from(ms / 1000).ok()?))
    }

    /// The start and the plies with the positions expected on the board: those that the arbiter set, where there are any.
    #[must_use]
    pub(crate) fn line(&self) -> (Start, Vec<Ply>) {
        let stood = |ply: u32, state: &State| {
            let set = self.placed.iter().rfind(|(at, _)| *at == ply);
            set.map_or(state, |(_, state)| state).clone()
        };
        let start = Start {
            state: stood(0, &self.start.state),
            ..self.start.clone()
        };
        let plies = self.plies.iter().map(|(ply, _)| Ply {
            after: stood(ply.number, &ply.after),
            ..ply.clone()
        });
        (start, plies.collect())
    }
}

/// The castling mode of a game from a position: that of Chess960 where the castling rights need it.
fn castling_mode(fen: &str) -> Option<CastlingMode> {
    let setup = fen.parse::<Fen>().ok()?.into_setup();
    Some(CastlingMode::detect(&setup))
}

fn ply(record: &GameRecord, entry: &MoveRecord, before: &State, mode: CastlingMode) -> Option<Ply> {
    let uci: Option<UciMove> = entry.uci.as_ref().and_then(|uci| uci.parse().ok());
    let played = uci.as_ref().and_then(|uci| before.move_of_uci(uci));
    Some(Ply {
        number: entry.ply,
        color: entry.color,
        played: played.filter(|_| entry.legal),
        uci,
        san: entry.san.clone(),
        after: State::from_fen(&entry.fen, mode)?.following(before),
        captured: entry
            .captured
            .as_ref()
            .and_then(|letter| Role::from_char(letter.chars().next()?)),
        lifted_at: record.started,
        stood_at: record.started,
        inferred: entry.inferred,
        recovered: false,
        any_order: false,
        clock: None,
        evidence: Evidence::default(),
    })
}
