//! A table for tests. It takes moves by name and returns the referee's events in short form.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use serde_json::json;
use shakmaty::san::San;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Color, KnownOutcome};

use crate::command::Command;
use crate::events::{
    CompletedBy, CorrectionReason, EndReason, Event, EventKind, Evidence, ExplainedEvent, Grounds, Ply,
    SettledBy,
};
use crate::laws::{Edition, Mode, Regulations, Rules};
use crate::position::{State, Variant};
use crate::referee::Referee;
use crate::tracker::{Finding, Start};

pub(in crate::referee) struct Table {
    pub(in crate::referee) referee: Referee,
    pub(in crate::referee) now: Timestamp,
    states: Vec<State>,
}

pub(in crate::referee) const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

pub(in crate::referee) fn rules(edition: Edition, mode: Mode, supervised: bool) -> Rules {
    Rules {
        edition,
        mode,
        supervised,
        ..Rules::default()
    }
}

impl Table {
    pub(in crate::referee) fn new(edition: Edition) -> Self {
        Self::of(STANDARD, rules(edition, Mode::Standard, true))
    }

    pub(in crate::referee) fn of(fen: &str, rules: Rules) -> Self {
        let state = State::from_fen(fen, CastlingMode::Standard).expect("a FEN");
        let regulations = Regulations {
            rules,
            ..Regulations::default()
        };
        let mut table = Self {
            referee: Referee::new("board-1", regulations),
            now: Timestamp::from_micros(1_789_000_000_000_000),
            states: vec![state.clone()],
        };
        table.referee.start_is_given = true;
        table.set_up(state);
        table
    }

    pub(in crate::referee) fn set_up(&mut self, state: State) {
        let variant = if state.fen() == STANDARD {
            Variant::Standard
        } else {
            Variant::FromPosition
        };
        self.set_up_as(variant, state);
    }

    pub(in crate::referee) fn set_up_as(&mut self, variant: Variant, state: State) {
        self.states = vec![state.clone()];
        let start = Start {
            variant,
            state,
            turned: false,
            goes_on: false,
        };
        self.finds(Finding::Start(start));
    }

    pub(in crate::referee) fn finds(&mut self, finding: Finding) -> &mut Self {
        self.referee.handle(self.now, finding);
        self.referee.compare(self.now);
        self
    }

    pub(in crate::referee) fn passes(&mut self, seconds: u64) -> &mut Self {
        self.waits(Duration::from_secs(seconds))
    }

    pub(in crate::referee) fn waits(&mut self, time: Duration) -> &mut Self {
        let until = self.now + time;
        while let Some(due) = self.referee.poll_deadline().filter(|due| *due <= until) {
            self.referee.handle_deadline(due);
        }
        self.now = until;
        self
    }

    pub(in crate::referee) fn last(&self) -> u32 {
        u32::try_from(self.states.len()).expect("few plies") - 1
    }

    pub(in crate::referee) fn placement(&self) -> shakmaty::Board {
        self.states.last().expect("a state").board().clone()
    }

    /// Makes a move on the board, in SAN, or in UCI if the move is not legal.
    pub(in crate::referee) fn makes(&mut self, name: &str) -> &mut Self {
        self.makes_after(name, Duration::from_secs(1))
    }

    /// Makes a move `time` after the previous action.
    pub(in crate::referee) fn makes_after(&mut self, name: &str, time: Duration) -> &mut Self {
        self.waits(time);
        let ply = self.ply(name);
        self.states.push(ply.after.clone());
        self.finds(Finding::Made(Box::new(ply)))
    }

    pub(in crate::referee) fn settles(&mut self) -> &mut Self {
        let (ply, by, odds) = (self.last(), SettledBy::Press, None);
        self.finds(Finding::Settled { ply, by, odds })
    }

    pub(in crate::referee) fn completes(&mut self, ply: u32, by: CompletedBy) -> &mut Self {
        let (clock, elapsed) = (None, None);
        self.finds(Finding::Completed {
            ply,
            by,
            clock,
            elapsed,
        })
    }

    /// Completes a move by a press, after `seconds` of thinking time.
    pub(in crate::referee) fn completes_after(&mut self, ply: u32, seconds: u64) -> &mut Self {
        self.finds(Finding::Completed {
            ply,
            by: CompletedBy::Press,
            clock: None,
            elapsed: Some(Duration::from_secs(seconds)),
        })
    }

    /// Makes, settles and presses the moves.
    pub(in crate::referee) fn plays(&mut self, names: &str) -> &mut Self {
        for name in names.split_whitespace() {
            self.makes(name).settles();
            self.completes(self.last(), CompletedBy::Press);
        }
        self
    }

    pub(in crate::referee) fn repeats(&mut self, names: &str, times: usize) -> &mut Self {
        (0..times).for_each(|_| {
            self.plays(names);
        });
        self
    }

    /// Replaces the last ply by one from the board's memory, made ten seconds ago.
    pub(in crate::referee) fn remembers(&mut self, name: &str) -> &mut Self {
        self.states.pop();
        let ply = Ply {
            lifted_at: self.now.saturating_sub(Duration::from_secs(10)),
            inferred: true,
            recovered: true,
            ..self.ply(name)
        };
        self.states.push(ply.after.clone());
        let (ply, reason) = (Box::new(ply), CorrectionReason::Recovered);
        self.finds(Finding::Amended { ply, reason })
    }

    /// Replaces the last ply by this one: the piece that was lifted at `lifted_at` has moved on.
    pub(in crate::referee) fn goes_on(&mut self, name: &str, lifted_at: Timestamp) -> &mut Self {
        self.states.pop();
        let ply = Ply {
            lifted_at,
            ..self.ply(name)
        };
        self.states.push(ply.after.clone());
        let (ply, reason) = (Box::new(ply), CorrectionReason::Recovered);
        self.finds(Finding::Amended { ply, reason })
    }

    /// Replaces the misread ply `number` by this one.
    pub(in crate::referee) fn rereads(&mut self, number: usize, name: &str) -> &mut Self {
        self.states.truncate(number);
        let ply = self.ply(name);
        self.states.push(ply.after.clone());
        let (ply, reason) = (Box::new(ply), CorrectionReason::Recovered);
        self.finds(Finding::Amended { ply, reason })
    }

    /// Finds these plies in a single observation, together with the content of the squares.
    pub(in crate::referee) fn finds_together(&mut self, squares: Finding, names: &str) -> &mut Self {
        self.referee.handle(self.now, squares);
        for name in names.split_whitespace() {
            let ply = self.ply(name);
            self.states.push(ply.after.clone());
            self.referee.handle(self.now, Finding::Made(Box::new(ply)));
        }
        self.referee.compare(self.now);
        self
    }

    /// Adds a ply from the board's memory, made ten seconds ago.
    pub(in crate::referee) fn recalls(&mut self, name: &str) -> &mut Self {
        self.infers(name, true)
    }

    /// Adds a ply that is announced although others are as credible. Its piece was lifted ten seconds ago.
    pub(in crate::referee) fn infers(&mut self, name: &str, recovered: bool) -> &mut Self {
        let ply = Ply {
            lifted_at: self.now.saturating_sub(Duration::from_secs(10)),
            inferred: true,
            recovered,
            ..self.ply(name)
        };
        self.states.push(ply.after.clone());
        self.finds(Finding::Made(Box::new(ply)))
    }

    /// Adds a ply that is the only explanation of the placement after a gap.
    pub(in crate::referee) fn reconstructs(&mut self, name: &str) -> &mut Self {
        let mut ply = Ply {
            inferred: true,
            ..self.ply(name)
        };
        ply.evidence.grounds = Some(Grounds::OnlyLine);
        self.states.push(ply.after.clone());
        self.finds(Finding::Made(Box::new(ply))).settles()
    }

    pub(in crate::referee) fn takes_back(&mut self) -> &mut Self {
        let (ply, reason, odds) = (self.last(), CorrectionReason::Takeback, None);
        self.states.pop();
        self.finds(Finding::Retracted { ply, reason, odds })
    }

    pub(in crate::referee) fn shows(&mut self, outcome: KnownOutcome) -> &mut Self {
        let by = EndReason::Kings;
        self.finds(Finding::ResultShown { outcome, by })
    }

    /// Carries out a command and applies its tracker input to this table as well. Returns the error, the note, or "".
    pub(in crate::referee) fn command(&mut self, command: &str) -> String {
        self.passes(1);
        let text = format!(r#"{{"id":"1",{command}}}"#);
        let command = Command::parse(&text).expect("a command");
        match self.referee.check(self.now, &command.by, &command.order) {
            Ok(checked) => {
                let note = checked.note().unwrap_or_default().to_owned();
                let given = self.referee.given(&checked);
                self.referee.carry_out(self.now, &command.by, checked);
                match given {
                    Some(crate::tracker::Given::Line(states)) => self.states = states,
                    Some(crate::tracker::Given::Start(state)) => self.set_up(state),
                    _ => {}
                }
                note
            }
            Err(refusal) => refusal.text(self.referee.regulations.language),
        }
    }

    fn ply(&self, name: &str) -> Ply {
        let before = self.states.last().expect("a state");
        let san = San::from_ascii(name.as_bytes()).ok();
        let played = san.and_then(|san| before.move_of_san(&san));
        let (after, uci) = match played {
            Some(m) => (before.after(m), before.uci(m)),
            None => {
                let uci: UciMove = name.parse().expect("SAN of a legal move, or UCI");
                (hand(before, uci), uci)
            }
        };
        let now = self.now;
        Ply {
            number: self.last() + 1,
            color: before.turn(),
            played,
            uci: Some(uci),
            san: played.map(|m| before.san(m)),
            captured: None,
            lifted_at: now,
            stood_at: now,
            inferred: false,
            recovered: false,
            any_order: false,
            clock: None,
            evidence: Evidence::default(),
            after,
        }
    }

    /// Takes the events since the last call in the form of the journal.
    pub(in crate::referee) fn journaled(&mut self) -> Vec<Event> {
        let events = self.referee.take_events();
        let event = |explained: ExplainedEvent| {
            let mut event = serde_json::to_value(&explained.event.kind).expect("JSON");
            let head = json!({
                "v": 1, "stream": "live", "seq": 1, "ts": "2026-11-21T14:03:07.412345Z", "board": "b",
                "game": "2026-11-21-b-1",
            });
            for (key, value) in head.as_object().expect("fields") {
                event[key] = value.clone();
            }
            serde_json::from_value(event).expect("an event")
        };
        events.into_iter().map(event).collect()
    }

    /// Takes the events since the last call in short form. Moves that were just made, settled and pressed are left out.
    pub(in crate::referee) fn published(&mut self) -> Vec<String> {
        let events = self.referee.take_events();
        events
            .into_iter()
            .filter_map(|explained| short(explained.event.kind))
            .collect()
    }
}

fn hand(before: &State, uci: UciMove) -> State {
    let UciMove::Normal { from, to, .. } = uci else {
        panic!("one piece")
    };
    let mut board = before.board().clone();
    let piece = board.remove_piece_at(from).expect("a piece");
    board.set_piece_at(to, piece);
    before.irregular(board)
}

fn short(event: EventKind) -> Option<String> {
    Some(match event {
        EventKind::GameEnded {
            result,
            reason,
            by,
            confirmed,
            end_certain,
            decided_by: _,
        } => {
            let doubt = if confirmed { "" } else { "?" };
            let end = if end_certain { "" } else { ", end not watched" };
            format!("{result} {reason} by {by}{doubt}{end}")
        }
        EventKind::GameResumed { result, reason } => format!("not {result} {reason}"),
        EventKind::ClaimAvailable {
            color,
            ply,
            reason,
            occurrences,
            intended,
            article,
            ..
        } => {
            let intended = intended.map(|san| format!(" with {san}")).unwrap_or_default();
            format!("{color} after {ply}: {reason} {occurrences:?}{intended} ({article})")
        }
        EventKind::GameAmended {
            result,
            reason,
            players,
            time_control,
            time_control_typed: _,
            mode,
            moves,
            position,
            note,
            by,
            assigned,
        } => {
            let players = players.map(|p| {
                format!(
                    "{:?}-{:?}",
                    p.white.unwrap_or_default(),
                    p.black.unwrap_or_default()
                )
            });
            let result =
                result.map(|result| format!("{result} {}", reason.map_or("goes on", EndReason::as_str)));
            let moves = moves.map(|moves| moves.join(" "));
            let mode = mode.map(|mode| mode.as_str().to_owned());
            let assigned = assigned.then(|| "assigned".to_owned());
            let all = [
                result,
                players,
                time_control,
                mode,
                moves,
                position,
                note,
                assigned,
            ];
            let all: Vec<String> = all.into_iter().flatten().collect();
            format!("{by}: {}", all.join(", "))
        }
        EventKind::TableResult {
            round,
            table,
            result,
            reason,
            by,
        } => format!("round {round}, table {table}: {result} {reason} by {by}"),
        EventKind::MoveRetracted { ply, reason } => format!("not {ply}: {reason}"),
        EventKind::MoveAmended {
            played,
            replaces,
            reason,
        } => {
            let (played, replaces) = (played.san.unwrap_or_default(), replaces.unwrap_or_default());
            format!("{played} for {replaces}: {reason}")
        }
        EventKind::MoveCompleted { ply, by, .. } if by != CompletedBy::Press => {
            format!("{ply} completed by {by}")
        }
        _ => return None,
    })
}

pub(in crate::referee) const WHITE_WINS: KnownOutcome = KnownOutcome::Decisive { winner: Color::White };
