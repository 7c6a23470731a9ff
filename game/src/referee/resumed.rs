//! Rebuilds the tracker's and the referee's state of a game from its events.

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

#[derive(Debug, Clone)]
pub(crate) struct Resumed {
    pub id: String,
    /// Number of the game on the board, from 1.
    pub number: u32,
    pub started: Timestamp,
    pub last_ts: Timestamp,
    pub start: Start,
    /// The plies, each with its settlement and completion.
    pub plies: Vec<(Ply, MoveRecord)>,
    /// White's side of the clock; `None` if unknown.
    pub white_side: Option<Side>,
    /// End of the game; `None` while it is in progress.
    pub verdict: Option<Verdict>,
    pub ended: Option<Timestamp>,
    pub players: Option<Players>,
    /// Positions that the arbiter set, each with the number of the ply before it.
    pub placed: Vec<(u32, State)>,
    /// Time control that the arbiter set during the game.
    pub time_control: Option<TimeControl>,
    /// Reconstructed plies without a confirmation yet.
    pub doubt: Option<DoubtfulPlies>,
    /// Side whose clock was stopped last, and its time in milliseconds; `None` if unknown.
    pub halted: Option<(Color, u64)>,
    /// Placement at the end of the previous game; `None` if unknown.
    pub before: Option<Board>,
}

impl Resumed {
    /// Creates the state from a game of the journal; `None` if its positions are invalid.
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

    /// Adds the placement at the end of the previous game.
    #[must_use]
    pub(crate) fn after(mut self, before: Option<&ResumableGame>) -> Self {
        self.before = before.and_then(|game| {
            let record = &game.record;
            let last = record.moves.last().map_or(&record.start_fen, |last| &last.fen);
            Some(last.parse::<Fen>().ok()?.into_setup().board)
        });
        self
    }

    /// Side of the clock that was stopped last, and its time in seconds; `None` if unknown.
    #[must_use]
    pub(crate) fn halted(&self) -> Option<(Side, u32)> {
        let (color, ms) = self.halted?;
        Some((self.white_side?.of(color), u32::try_from(ms / 1000).ok()?))
    }

    /// Start and plies with the positions expected on the board. Positions set by the arbiter replace those of the
    /// plies.
    #[must_use]
    pub(crate) fn line(&self) -> (Start, Vec<Ply>) {
        let expected_state = |ply: u32, state: &State| {
            let set = self.placed.iter().rfind(|(at, _)| *at == ply);
            set.map_or(state, |(_, state)| state).clone()
        };
        let start = Start {
            state: expected_state(0, &self.start.state),
            ..self.start.clone()
        };
        let plies = self.plies.iter().map(|(ply, _)| Ply {
            after: expected_state(ply.number, &ply.after),
            ..ply.clone()
        });
        (start, plies.collect())
    }
}

/// Castling mode of a game from a position: Chess960 if the castling rights need it.
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
