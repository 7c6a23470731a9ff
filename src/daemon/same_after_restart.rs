//! Plays a round with unusual games on several boards. After each event, the outputs of a daemon that restarts from the
//! journal are compared with those of a daemon that has been running throughout.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kiebitz_game::events::samples::{ply, started};
use kiebitz_game::events::{DecidedBy, EndReason, Event, EventKind, GameResult, LIVE_STREAM, Move, Players};
use kiebitz_game::hall::{Board, Hall, Names};
use kiebitz_game::position::Variant;
use kiebitz_hardware::Timestamp;

use super::mqtt::Mqtt;
use super::pairings::Pairings;
use super::start::Beginning;
use crate::config::Config;
use crate::journal::Journal;
use crate::outputs::broadcast::Broadcast;
use crate::outputs::mqtt::{Delivery, Message, Outbox};
use crate::restart::past;
use crate::tournament::{Tournament, read_bytes};

const PAIRINGS: &str = "round,board,white,black\n1,1,Adler,Berg\n1,2,Clausen,Dorn\n1,3,Ebert,Falk\n1,4,Graf,Horn\n\
    2,1,Dorn,Adler\n2,2,Berg,Clausen\n";
const BOARDS: [&str; 3] = ["board-1", "board-2", "board-4"];
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/// The spectators' delay in seconds.
const DELAY: u64 = 7;

fn config() -> Config {
    let text = format!(
        "[mqtt]\nurl = \"mqtt://localhost\"\npublic_delay = \"{DELAY} s\"\n[event]\nname = \"Test Open\"\n\
         [[board]]\nserial = \"1\"\nname = \"board-1\"\n[[board]]\nserial = \"2\"\nname = \"board-2\"\n\
         [[board]]\nserial = \"4\"\nname = \"board-4\"\n"
    );
    Config::parse("test.toml".as_ref(), &text).expect("a configuration")
}

fn tournament() -> Arc<Tournament> {
    let (tournament, _) = read_bytes("r.csv", PAIRINGS.as_bytes()).expect("pairings");
    Arc::new(tournament)
}

fn at(second: u64) -> Timestamp {
    Timestamp::from_micros(1_795_269_600_000_000) + Duration::from_secs(second)
}

#[derive(Default)]
struct Script {
    events: Vec<Event>,
    seqs: BTreeMap<&'static str, u64>,
    games: BTreeMap<&'static str, u32>,
}

impl Script {
    fn push(&mut self, board: &'static str, game: Option<u32>, kind: EventKind) {
        let seq = self.seqs.entry(board).or_default();
        *seq += 1;
        self.events.push(Event {
            v: 1,
            stream: LIVE_STREAM.to_owned(),
            seq: *seq,
            ts: at(self.events.len() as u64),
            at: None,
            board: board.to_owned(),
            game: game.map(|game| format!("2026-11-21-{board}-{game}")),
            kind,
        });
    }

    fn begins(&mut self, board: &'static str, paired: Option<(u32, u32)>) {
        let game = self.games.entry(board).or_default();
        *game += 1;
        let game = *game;
        let mut kind = started(START, Variant::Standard);
        if let EventKind::GameStarted {
            players, event, site, ..
        } = &mut kind
        {
            *players = paired.map(players_of);
            (*event, *site) = (Some("Test Open".to_owned()), None);
        }
        self.push(board, Some(game), kind);
    }

    fn plays(&mut self, board: &'static str, plies: u32) {
        let game = self.games.get(board).copied();
        for number in 1..=plies {
            // Clock readings are left out, since the journal does not store all of them.
            let made = Move {
                clock: None,
                ..ply(number, "e2e4", "e4")
            };
            self.push(board, game, EventKind::MoveMade(made));
        }
    }

    fn ends(&mut self, board: &'static str, result: GameResult, reason: EndReason) {
        let game = self.games.get(board).copied();
        let kind = EventKind::GameEnded {
            result,
            reason,
            by: DecidedBy::Board,
            confirmed: false,
            end_certain: true,
            decided_by: None,
        };
        self.push(board, game, kind);
    }

    fn amends(
        &mut self,
        board: &'static str,
        game: u32,
        players: Option<Players>,
        result: Option<(GameResult, EndReason)>,
    ) {
        let kind = EventKind::GameAmended {
            by: "A. Meier".to_owned(),
            result: result.map(|(result, _)| result),
            reason: result.map(|(_, reason)| reason),
            assigned: players.is_some(),
            players,
            time_control: None,
            time_control_typed: None,
            mode: None,
            moves: None,
            position: None,
            note: None,
        };
        self.push(board, Some(game), kind);
    }

    fn enters(&mut self, board: &'static str, (round, table): (u32, u32), result: GameResult) {
        let kind = EventKind::TableResult {
            round,
            table,
            result,
            reason: EndReason::Arbiter,
            by: "A. Meier".to_owned(),
        };
        self.push(board, None, kind);
    }
}

fn players_of((round, table): (u32, u32)) -> Players {
    let tournament = tournament();
    let pairing = tournament.pairing(round, table).expect("a pairing");
    pairing.players(round)
}

/// Games that end without a result, are broken off, tried out, interrupted by a gap, played again or corrected late,
/// and a table without a board.
fn round() -> Vec<Event> {
    let mut script = Script::default();
    script.begins("board-1", Some((1, 1)));
    script.begins("board-2", Some((1, 2)));
    script.plays("board-1", 18);
    script.plays("board-2", 4);
    script.ends("board-1", GameResult::Unknown, EndReason::Reset);
    script.ends("board-2", GameResult::Unknown, EndReason::Reset);
    script.begins("board-1", None);
    script.begins("board-2", Some((1, 2)));
    script.enters("board-1", (1, 3), GameResult::Draw);
    script.plays("board-1", 12);
    script.plays("board-2", 14);
    script.ends("board-2", GameResult::WhiteWins, EndReason::Kings);
    script.amends(
        "board-1",
        1,
        None,
        Some((GameResult::BlackWins, EndReason::Resignation)),
    );
    script.begins("board-4", Some((1, 4)));
    script.plays("board-4", 11);
    script.ends("board-4", GameResult::Unknown, EndReason::Gap);
    script.begins("board-4", Some((1, 4)));
    script.plays("board-4", 12);
    // The next game begins before the arbiter has decided the last one.
    script.begins("board-2", Some((2, 2)));
    script.amends("board-2", 2, None, Some((GameResult::Draw, EndReason::Agreement)));
    script.amends("board-1", 2, Some(players_of((1, 1))), None);
    script.enters("board-2", (1, 3), GameResult::WhiteWins);
    script.ends("board-4", GameResult::Draw, EndReason::Kings);
    script.begins("board-4", None);
    script.plays("board-4", 11);
    script.enters("board-1", (1, 3), GameResult::Unknown);
    script.begins("board-1", Some((2, 1)));
    script.amends(
        "board-1",
        2,
        None,
        Some((GameResult::WhiteWins, EndReason::Arbiter)),
    );
    script.plays("board-1", 3);
    script.events
}

struct ShownOutputs {
    mqtt: Mqtt,
    hall: Hall,
    pairings: Pairings,
    broadcasts: [Broadcast; 2],
    retained: BTreeMap<Arc<str>, bytes::Bytes>,
    now: Timestamp,
}

impl ShownOutputs {
    fn new(config: &Config, now: Timestamp) -> Self {
        let broker = config.mqtt.clone().expect("a broker");
        let (outbox, _) = Outbox::connect(broker.clone(), None).expect("topics");
        let facts = config.event_facts();
        let mut broadcasts =
            [0, DELAY].map(|delay| Broadcast::new(Duration::from_secs(delay), facts.clone()));
        for broadcast in &mut broadcasts {
            broadcast.pair(tournament());
        }
        let mut hall = Hall::new(LIVE_STREAM, Names::Configured(config.roster()));
        for board in BOARDS {
            hall.expect(Board::new(board, LIVE_STREAM, config.regulations(board).clone()));
        }
        Self {
            mqtt: Mqtt::new(outbox, config, &broker, now).expect("topics"),
            hall,
            pairings: Pairings::start(config).expect("no files"),
            broadcasts,
            retained: BTreeMap::new(),
            now,
        }
    }

    fn resumed(config: &Config, journal: &mut Journal, now: Timestamp) -> Self {
        let mut outputs = Self::new(config, now);
        outputs.mqtt.restore(journal, Beginning::Program);
        outputs.pairings.restore(journal);
        for (board, events) in past::of(journal, config, now) {
            for broadcast in &mut outputs.broadcasts {
                broadcast.resume(now, &board, &events);
            }
        }
        outputs.publish(&[]);
        outputs
    }

    fn apply(&mut self, event: &Event) {
        self.now = event.ts;
        self.pairings.apply(event);
        for broadcast in &mut self.broadcasts {
            broadcast.queue(event.ts, event);
        }
        self.publish(core::slice::from_ref(event));
    }

    fn publish(&mut self, events: &[Event]) {
        let touched: BTreeSet<String> = match events {
            [] => BOARDS.map(str::to_owned).into(),
            events => events.iter().map(|event| event.board.clone()).collect(),
        };
        let messages = self
            .mqtt
            .messages(self.now, events, &touched, &self.hall, &self.pairings);
        self.keep(messages);
    }

    fn keep(&mut self, messages: Vec<Message>) {
        for message in messages {
            if message.delivery == Delivery::Retained {
                self.retained.insert(message.topic, message.payload);
            }
        }
    }

    /// Returns all visible outputs of the games as text, by name.
    fn shown(&mut self) -> BTreeMap<String, String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut shown = BTreeMap::new();
        for (nth, broadcast) in self.broadcasts.iter_mut().enumerate() {
            broadcast.advance(self.now);
            for (path, file) in broadcast.files().iter() {
                shown.insert(format!("{nth}/{path}"), text(&file.content));
            }
        }
        let of_games = [
            "game",
            "pgn",
            "result",
            "last_move",
            "turn",
            "white",
            "black",
            "incidents",
        ];
        for (topic, payload) in &self.retained {
            let name = topic.rsplit('/').next().unwrap_or_default();
            if of_games.contains(&name) && !payload.is_empty() {
                shown.insert(topic.to_string(), text(payload));
            }
        }
        for (round, table) in [(1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2)] {
            let game = format!("{:?}", self.pairings.game_of(round, table));
            shown.insert(format!("game of {round}.{table}"), game);
        }
        shown
    }
}

#[test]
fn after_a_restart_at_any_event_every_output_shows_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut journal = Journal::open(&directory.path().join("journal.sqlite")).expect("a journal");
    let config = config();
    let mut live = ShownOutputs::new(&config, at(0));
    live.publish(&[]);
    for event in round() {
        journal.append([&event]).expect("room");
        live.apply(&event);
        let mut resumed = ShownOutputs::resumed(&config, &mut journal, event.ts);
        let (before, after) = (live.shown(), resumed.shown());
        let seen = before.keys().chain(after.keys()).collect::<BTreeSet<_>>();
        for name in seen {
            let (board, seq) = (&event.board, event.seq);
            assert_eq!(
                before.get(name),
                after.get(name),
                "{name}, after event {seq} of {board}: {:?}",
                event.kind
            );
        }
    }
    let shown = live.shown();
    let file = |path: &str| shown.get(path).cloned().unwrap_or_default();
    let result = |table: u32| {
        let pgn = file(&format!("0/round-1/game-{table}.pgn"));
        pgn.lines()
            .find(|line| line.starts_with("[Result"))
            .map(str::to_owned)
    };
    let results = [1, 2, 3, 4].map(|table| result(table).unwrap_or_default());
    assert_eq!(
        results,
        ["1-0", "1/2-1/2", "*", "1/2-1/2"].map(|result| format!("[Result \"{result}\"]"))
    );
}
