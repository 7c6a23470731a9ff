use std::collections::BTreeMap;

use kiebitz_game::events::samples::{clock, ply, started};
use kiebitz_game::events::{
    CompletedBy, CorrectionReason, DecidedBy, EndReason, EventKind, GameResult, SettledBy,
};
use kiebitz_game::position::Variant;
use serde_json::Value;

use super::*;
use crate::outputs::mqtt::Prefix;

/// Delay in seconds.
const DELAY: i64 = 900;

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros((1_789_000_000 + second) * 1_000_000)
}

/// An event of a game, published at that second.
fn of_game(game: &str, second: i64, kind: EventKind) -> Event {
    Event {
        ts: at(second),
        game: Some(game.to_owned()),
        ..kiebitz_game::events::samples::event(1, kind)
    }
}

fn event(second: i64, kind: EventKind) -> Event {
    of_game("g", second, kind)
}

fn made(second: i64, number: u32, uci: &str) -> Event {
    event(second, EventKind::MoveMade(ply(number, uci, uci)))
}

fn amended(second: i64, number: u32, uci: &str) -> Event {
    let kind = EventKind::MoveAmended {
        played: ply(number, uci, uci),
        replaces: None,
        reason: CorrectionReason::MovedOn,
    };
    event(second, kind)
}

fn retracted(second: i64, ply: u32) -> Event {
    let reason = CorrectionReason::IllegalRestored;
    event(second, EventKind::MoveRetracted { ply, reason })
}

fn completed(second: i64, ply: u32, seconds: u64) -> Event {
    let kind = EventKind::MoveCompleted {
        ply,
        by: CompletedBy::Press,
        clock: Some(clock(seconds)),
        elapsed_ms: None,
    };
    event(second, kind)
}

fn ended(second: i64, result: GameResult) -> Event {
    let kind = EventKind::GameEnded {
        result,
        reason: EndReason::Kings,
        by: DecidedBy::Board,
        confirmed: false,
        end_certain: true,
        decided_by: None,
    };
    event(second, kind)
}

fn resumed(second: i64, result: GameResult) -> Event {
    let reason = EndReason::Kings;
    event(second, EventKind::GameResumed { result, reason })
}

fn decided(second: i64, result: Option<GameResult>, note: Option<&str>) -> Event {
    let kind = EventKind::GameAmended {
        by: "A. Meier".to_owned(),
        result,
        reason: result.map(|_| EndReason::Resignation),
        players: None,
        time_control: None,
        time_control_typed: None,
        mode: None,
        moves: None,
        position: None,
        note: note.map(str::to_owned),
        assigned: false,
    };
    event(second, kind)
}

fn projection(delay: i64) -> PublicProjection {
    let topics = Prefix::live().board("b").expect("a name");
    let mut projection = PublicProjection::new(&topics);
    projection.set_delay(seconds(delay));
    projection
}

fn seconds(seconds: i64) -> Duration {
    Duration::from_secs(seconds.unsigned_abs())
}

/// Spectators of a board, and the retained messages that they have.
struct Spectators {
    projection: PublicProjection,
    /// Payloads by the last level of the topic.
    retained: BTreeMap<String, String>,
}

impl Spectators {
    fn new(delay: i64) -> Self {
        Self {
            projection: projection(delay),
            retained: BTreeMap::new(),
        }
    }

    /// Publishes the events second by second. Returns the seconds at which there were new messages.
    fn follow(&mut self, seconds: core::ops::RangeInclusive<i64>, events: &[Event]) -> Vec<i64> {
        let mut new = Vec::new();
        for second in seconds {
            let waited = self.is_due(second);
            for event in events.iter().filter(|event| event.ts == at(second)) {
                self.projection.take(at(second), event);
            }
            let due = waited || self.is_due(second);
            let messages = self.projection.release(at(second));
            assert!(due || messages.is_empty(), "only at the deadline");
            if self.receive(messages) {
                new.push(second);
            }
        }
        new
    }

    fn is_due(&self, second: i64) -> bool {
        self.projection
            .poll_deadline()
            .is_some_and(|due| due <= at(second))
    }

    fn receive(&mut self, messages: Vec<Message>) -> bool {
        let any = !messages.is_empty();
        for message in messages {
            let topic = message
                .topic
                .strip_prefix("kiebitz/public/boards/b/")
                .expect("public");
            let text = String::from_utf8(message.payload.to_vec()).expect("text");
            self.retained.insert(topic.to_owned(), text);
        }
        any
    }

    fn json(&self, topic: &str) -> Value {
        serde_json::from_str(&self.retained[topic]).expect("JSON")
    }

    fn moves(&self) -> Vec<String> {
        let game = self.json("game");
        let moves = game["moves"].as_array().expect("moves");
        let uci = |entry: &Value| entry["uci"].as_str().expect("UCI").to_owned();
        moves.iter().map(uci).collect()
    }
}

fn start() -> Event {
    event(0, started("start", Variant::Standard))
}

#[test]
fn a_longer_delay_applies_to_everything_not_published_yet() {
    let mut spectators = Spectators::new(DELAY);
    let events = [start(), made(10, 1, "e2e4"), made(20, 2, "e7e5")];
    assert_eq!(spectators.follow(0..=915, &events), [900, 910]);
    spectators.projection.set_delay(seconds(2 * DELAY));
    let later = [made(1000, 3, "g1f3")];
    assert_eq!(spectators.follow(916..=1819, &later), Vec::<i64>::new());
    assert_eq!(
        spectators.moves(),
        ["e2e4"],
        "what was seen is not taken back, and nothing comes before it is due"
    );
    assert_eq!(spectators.follow(1820..=4000, &[]), [1820, 2800]);
    assert_eq!(spectators.moves(), ["e2e4", "e7e5", "g1f3"]);
}

#[test]
fn a_shorter_delay_publishes_everything_that_is_then_due() {
    let mut spectators = Spectators::new(DELAY);
    let events = [start(), made(10, 1, "e2e4"), made(55, 2, "e7e5")];
    assert_eq!(spectators.follow(0..=70, &events), Vec::<i64>::new());
    // No time passes while the computer's clock is set.
    spectators.projection.set_forward(seconds(5));
    spectators.projection.set_delay(seconds(30));
    assert!(spectators.is_due(75));
    assert_eq!(spectators.follow(75..=1000, &[]), [75, 90]);
    assert_eq!(spectators.moves(), ["e2e4", "e7e5"]);
    spectators.projection.set_delay(Duration::ZERO);
    assert_eq!(spectators.follow(1001..=1003, &[made(1002, 3, "g1f3")]), [1002]);
}

#[test]
fn nothing_is_published_before_it_is_due() {
    let mut spectators = Spectators::new(DELAY);
    let events = [
        start(),
        made(10, 1, "e2e4"),
        completed(12, 1, 590),
        ended(50, GameResult::WhiteWins),
    ];
    assert_eq!(spectators.follow(0..=909, &events), [900]);
    assert!(spectators.moves().is_empty());
    assert_eq!(spectators.follow(910..=949, &[]), [910, 912]);
    assert_eq!(spectators.json("game")["moves"][0]["clock"]["white_ms"], 590_000);
    assert_eq!(spectators.json("game")["result"], "*");
    assert_eq!(spectators.follow(950..=3000, &[]), [950]);
    let game = spectators.json("game");
    assert_eq!(game["result"], "1-0");
    assert_eq!(
        game["ended"],
        kiebitz_game::events::time_text(at(50)),
        "not when it is published"
    );
    assert!(spectators.retained["pgn"].contains("1-0"));
    assert_eq!(spectators.projection.poll_deadline(), None);
}

#[test]
fn move_retracted_while_it_is_held_is_never_published() {
    let mut spectators = Spectators::new(DELAY);
    let events = [
        start(),
        made(10, 1, "e2e4"),
        made(20, 2, "e7e4"),
        completed(22, 2, 500),
        made(24, 3, "g1f3"),
        retracted(60, 2),
        made(80, 2, "e7e5"),
    ];
    assert_eq!(spectators.follow(0..=979, &events), [900, 910]);
    assert_eq!(spectators.moves(), ["e2e4"]);
    assert_eq!(spectators.json("game")["revision"], 2);
    assert_eq!(spectators.follow(980..=3000, &[]), [980]);
    assert_eq!(spectators.moves(), ["e2e4", "e7e5"]);
    assert_eq!(
        spectators.json("game")["revision"],
        3,
        "nothing shows that there was more"
    );
}

#[test]
fn amended_move_is_published_when_its_correction_is_due() {
    let mut spectators = Spectators::new(DELAY);
    let events = [
        start(),
        made(10, 1, "d1d3"),
        made(20, 2, "e7e5"),
        amended(30, 1, "d1d4"),
        amended(31, 1, "d1d5"),
        made(31, 2, "e7e6"),
    ];
    assert_eq!(spectators.follow(0..=3000, &events), [900, 931]);
    assert_eq!(spectators.moves(), ["d1d5", "e7e6"]);
}

#[test]
fn published_move_is_removed_when_its_retraction_is_due() {
    let mut spectators = Spectators::new(DELAY);
    let events = [
        start(),
        made(10, 1, "e2e4"),
        made(20, 2, "e7e5"),
        made(30, 3, "g1f3"),
        // By now, spectators have two plies, but not the third.
        retracted(925, 1),
        made(940, 1, "d2d4"),
        retracted(960, 1),
    ];
    assert_eq!(spectators.follow(0..=1824, &events), [900, 910, 920]);
    assert_eq!(spectators.moves(), ["e2e4", "e7e5"]);
    assert_eq!(spectators.follow(1825..=3000, &[]), [1825]);
    assert!(spectators.moves().is_empty());
    // A correction of a correction: the original move is gone, although neither replacement is published yet.
    let events = [
        made(3100, 1, "c2c4"),
        amended(4050, 1, "a2a4"),
        amended(4060, 1, "b2b4"),
    ];
    spectators.follow(3001..=4959, &events);
    assert!(spectators.moves().is_empty());
    spectators.follow(4960..=4960, &[]);
    assert_eq!(spectators.moves(), ["b2b4"]);
}

#[test]
fn result_that_the_arbiter_replaces_is_never_published() {
    let mut spectators = Spectators::new(DELAY);
    let events = [
        start(),
        ended(100, GameResult::WhiteWins),
        decided(110, Some(GameResult::Draw), None),
        decided(130, Some(GameResult::BlackWins), None),
    ];
    assert_eq!(spectators.follow(0..=3000, &events), [900, 1030]);
    let mut spectators = Spectators::new(DELAY);
    spectators.follow(0..=1029, &events);
    assert_eq!(spectators.json("game")["result"], "*");
    spectators.follow(1030..=1030, &[]);
    assert_eq!(spectators.json("game")["result"], "0-1");

    // A result that the arbiter confirms is published at the time of the board's result.
    let mut spectators = Spectators::new(DELAY);
    spectators.follow(
        0..=1000,
        &[
            start(),
            ended(100, GameResult::WhiteWins),
            decided(110, Some(GameResult::WhiteWins), None),
        ],
    );
    assert_eq!(spectators.json("game")["result"], "1-0");
}

/// The players correct the kings, and continue after an end: results that are withdrawn while they are held are neither
/// published nor counted.
#[test]
fn result_withdrawn_while_it_is_held_is_never_published() {
    let mut spectators = Spectators::new(DELAY);
    let events = [
        start(),
        ended(10, GameResult::Draw),
        ended(15, GameResult::WhiteWins),
        resumed(60, GameResult::WhiteWins),
        made(61, 1, "e2e4"),
        ended(90, GameResult::Draw),
        ended(95, GameResult::BlackWins),
    ];
    assert_eq!(spectators.follow(0..=994, &events), [900, 961]);
    assert_eq!(spectators.json("game")["revision"], 2);
    assert_eq!(spectators.follow(995..=3000, &[]), [995]);
    assert_eq!(spectators.json("game")["result"], "0-1");
    assert_eq!(
        spectators.follow(3001..=5000, &[resumed(3001, GameResult::BlackWins)]),
        [3901]
    );
    assert_eq!(spectators.json("game")["ended"], Value::Null);
}

#[test]
fn arbiters_notes_are_not_published_to_spectators() {
    let mut spectators = Spectators::new(0);
    let events = [start(), decided(5, None, Some("White complains of noise"))];
    assert_eq!(spectators.follow(0..=100, &events), [0]);
    assert!(!spectators.retained["game"].contains("noise"));
}

#[test]
fn without_a_delay_everything_is_published_at_once() {
    let mut spectators = Spectators::new(0);
    let events = [
        start(),
        made(10, 1, "e2e3"),
        amended(11, 1, "e2e4"),
        retracted(12, 1),
    ];
    assert_eq!(spectators.follow(0..=20, &events), [0, 10, 11, 12]);
    assert_eq!(spectators.json("game")["revision"], 4);
}

#[test]
fn the_clock_is_published_with_the_delay() {
    let mut spectators = Spectators::new(DELAY);
    let times = ClockView::of_reading(clock(600), at(4));
    spectators.projection.take_clock(at(5), &times);
    assert!(spectators.follow(5..=904, &[]).is_empty());
    spectators.follow(905..=905, &[]);
    let clock = spectators.json("clock");
    assert_eq!(
        (&clock["white_ms"], &clock["running"]),
        (&600_000.into(), &"white".into())
    );
    assert_eq!(clock["as_of"], kiebitz_game::events::time_text(at(4)));
    assert_eq!(clock["delay_ms"], 900_000);

    let mut spectators = Spectators::new(0);
    spectators.projection.take_clock(at(5), &times);
    spectators.follow(5..=5, &[]);
    assert_eq!(spectators.json("clock")["delay_ms"], Value::Null);
}

/// Two games with corrections and decisions.
fn a_day() -> Vec<Event> {
    let mut events = vec![
        start(),
        made(10, 1, "e2e4"),
        completed(12, 1, 590),
        made(20, 2, "e7e4"),
        retracted(60, 2),
        made(80, 2, "e7e5"),
        made(90, 3, "g1e2"),
        amended(95, 3, "g1f3"),
        retracted(1020, 3),
        made(1021, 3, "f1c4"),
        ended(1100, GameResult::WhiteWins),
        decided(1130, Some(GameResult::BlackWins), Some("resigned at the board")),
    ];
    let of_next = [
        (1200, started("start", Variant::Standard)),
        (1210, EventKind::MoveMade(ply(1, "d2d4", "d4"))),
        (
            1215,
            EventKind::MoveSettled {
                ply: 1,
                by: SettledBy::Press,
            },
        ),
        (1220, EventKind::MoveMade(ply(2, "d7d5", "d5"))),
    ];
    events.extend(of_next.map(|(second, kind)| of_game("h", second, kind)));
    events
}

/// The events that the journal has at a start at `started`: the game that is due then, and all later events until the
/// stop of the previous run.
fn kept(events: &[Event], stopped: i64, started: i64, delay: i64) -> Vec<Event> {
    let published: Vec<Event> = events
        .iter()
        .filter(|event| event.ts <= at(stopped))
        .cloned()
        .collect();
    let begins = |event: &Event| matches!(event.kind, EventKind::GameStarted { .. });
    let due = published
        .iter()
        .rposition(|event| begins(event) && event.ts <= at(started - delay));
    published[due.unwrap_or(0)..].to_vec()
}

#[test]
fn a_restart_at_any_time_changes_nothing() {
    let events = a_day();
    let nobody_plays = |from: i64, to: i64| {
        events
            .iter()
            .all(|event| event.ts <= at(from) || event.ts > at(to))
    };
    let mut restarts = 0;
    for delay in [0, 1, 45, DELAY] {
        // The retained messages that a spectator has at every second without a restart.
        let mut spectators = Spectators::new(delay);
        let day: Vec<_> = (0..2300)
            .map(|second| {
                spectators.follow(second..=second, &events);
                spectators.retained.clone()
            })
            .collect();
        let stops = (0..1300)
            .step_by(23)
            .flat_map(|stop| [1, 100, 800].map(|away| (stop, stop + away)));
        for (stopped, back) in stops.filter(|(stopped, back)| nobody_plays(*stopped, *back)) {
            restarts += 1;
            let mut spectators = Spectators::new(delay);
            let now = at(back);
            spectators
                .projection
                .resume(now, &kept(&events, stopped, back, delay));
            let retained = spectators.projection.release(now);
            spectators.receive(retained);
            for (second, expected) in (0..).zip(&day).skip(usize::try_from(back).expect("a second")) {
                if second > back {
                    spectators.follow(second..=second, &events);
                }
                for topic in ["game", "pgn"] {
                    assert_eq!(
                        spectators.retained.get(topic),
                        expected.get(topic),
                        "{topic} at {second}, {delay} late, away from {stopped} to {back}"
                    );
                }
            }
        }
    }
    assert!(restarts > 200, "{restarts}");
}

#[test]
fn readings_held_at_a_restart_are_published() {
    let mut spectators = Spectators::new(DELAY);
    let events = [
        start(),
        made(10, 1, "e2e4"),
        completed(12, 1, 590),
        completed(500, 1, 580),
        retracted(915, 1),
    ];
    // The previous run has published readings that were due before the last event, perhaps with newer ones.
    spectators.projection.resume(at(920), &events);
    let messages = spectators.projection.release(at(920));
    spectators.receive(messages);
    assert!(!spectators.retained.contains_key("clock"), "due at 912");
    spectators.follow(921..=1399, &[]);
    assert!(!spectators.retained.contains_key("clock"));
    spectators.follow(1400..=1400, &[]);
    assert_eq!(spectators.json("clock")["white_ms"], 580_000);
    // Readings that became due while kiebitz was stopped have not been published.
    let mut spectators = Spectators::new(DELAY);
    spectators.projection.resume(at(1500), &events);
    let messages = spectators.projection.release(at(1500));
    spectators.receive(messages);
    assert_eq!(spectators.json("clock")["white_ms"], 580_000);
}

#[test]
fn setting_the_computers_clock_forward_does_not_shorten_the_delay() {
    let mut spectators = Spectators::new(DELAY);
    spectators.follow(0..=10, &[start(), made(10, 1, "e2e4")]);
    spectators.projection.set_forward(Duration::from_secs(3600));
    assert_eq!(spectators.follow(3610..=6000, &[]), [3600 + 900, 3600 + 910]);
}

#[test]
fn computer_with_a_slow_clock_after_a_restart_holds_no_longer_than_the_delay() {
    let events = [start(), made(10, 1, "e2e4")];
    for delay in [0, DELAY] {
        let mut spectators = Spectators::new(delay);
        spectators.projection.resume(at(-5000), &events);
        let messages = spectators.projection.release(at(-5000));
        assert_eq!(spectators.receive(messages), delay == 0);
        let new = spectators.follow(-5000..=-1, &[]);
        assert_eq!(new.first().copied(), (delay > 0).then_some(-5000 + delay));
        assert_eq!(spectators.moves(), ["e2e4"]);
    }
}

#[test]
fn after_a_day_of_blitz_only_the_last_half_hour_is_held() {
    let mut projection = projection(1800);
    let mut most = 0;
    for second in 0..86_400 {
        let now = at(second);
        let nth = u32::try_from(second / 3).expect("a ply");
        match second % 300 {
            0 => projection.take(now, &event(second, started("start", Variant::Standard))),
            in_game if in_game % 3 == 0 => projection.take(now, &made(second, nth % 100, "e2e4")),
            _ => projection.take(
                now,
                &event(
                    second,
                    EventKind::MoveSettled {
                        ply: nth % 100,
                        by: SettledBy::Press,
                    },
                ),
            ),
        }
        // A clock that counts up.
        projection.take_clock(now, &ClockView::of_reading(clock(600), now));
        projection.release(now);
        most = most.max(projection.delayed.held.len());
    }
    assert_eq!(most, 1800 + 600);
    assert!(projection.delayed.held.capacity() < 2 * 4096);
}

#[test]
fn a_restart_after_a_clock_step_publishes_nothing_early() {
    for (hours, forward) in [(26, 93_600), (10_000, 36_000_000), (-26, 0)] {
        let set = event(
            20 + forward,
            EventKind::TimeSet {
                by_ms: hours * 3_600_000,
            },
        );
        let events = [start(), made(10, 1, "e2e4"), set, made(forward + 30, 2, "e7e5")];
        let mut spectators = Spectators::new(DELAY);
        let restart = forward + 60;
        spectators.projection.resume(at(restart), &events);
        assert_eq!(
            spectators.follow(restart..=restart, &[]),
            Vec::<i64>::new(),
            "{hours} h"
        );
        let due = [900, 910, 930].map(|second| forward + second);
        assert_eq!(spectators.follow(restart..=restart + 2000, &[]), due, "{hours} h");
    }
}

#[test]
fn clock_steps_of_any_size_do_not_change_the_delay() {
    for step in [1, 2, 60, 3600, 93_600, 864_000, 400 * 86_400] {
        let mut spectators = Spectators::new(DELAY);
        spectators.follow(0..=10, &[start(), made(10, 1, "e2e4")]);
        spectators.projection.set_forward(seconds(step));
        let later = [made(step + 20, 2, "e7e5")];
        let due = [900, 910, 920].map(|second| step + second);
        assert_eq!(
            spectators.follow(step + 11..=step + 2000, &later),
            due,
            "{step} s"
        );
    }
}
