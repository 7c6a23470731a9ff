//! The daemon is stopped and started again while games begin, go on and end. Every game is published as it would be
//! without the stops. In virtual time.

#[cfg(target_os = "linux")]
mod day;
mod rebuilt;
#[cfg(target_os = "linux")]
mod reloads;
mod world;

use core::time::Duration;
use std::path::Path;

use kiebitz::restart::Alone;
use kiebitz_game::events::Event;
use kiebitz_hardware::Timestamp;

use crate::is_full;
use kiebitz_workbench::soak::table::Dealer;
use kiebitz_workbench::soak::verdict::{self, Published, Wrong};
use world::{Hall, World, names};

/// Connection of the boards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wiring {
    /// Each board has its own port, which is configured as single.
    Single,
    /// Each board has its own port, whose mode must be detected.
    Auto,
    /// All boards are on one bus.
    Bus,
}

/// An end of the daemon.
#[derive(Debug, Clone, Copy)]
struct Stop {
    at: Timestamp,
    /// Time until the daemon is started again.
    down: Duration,
    /// Whether the daemon gets SIGTERM instead of SIGKILL.
    terminated: bool,
}

/// A round with stops.
#[derive(Debug, Clone, Copy)]
struct Round {
    seed: u64,
    wiring: Wiring,
    boards: usize,
    lasting: Duration,
    /// Whether the daemon is stopped. Without stops the round shows the undisturbed results.
    stops: bool,
    /// Damage to the files during the stops.
    damage: Option<Damage>,
}

/// Damage to a daemon's files while it is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    /// All recordings are removed.
    NoRecordings,
    /// The last kilobyte of every recording is removed.
    ShortRecordings,
    /// A hundred bytes in the middle of every recording are changed.
    OtherRecordings,
}

/// Result of a round.
struct Outcome {
    dealers: Vec<Dealer>,
    events: Vec<Vec<Event>>,
    alone: Vec<(String, Alone)>,
    stops: Vec<Stop>,
}

impl Round {
    fn play(self) -> Outcome {
        let directory = tempfile::tempdir().unwrap();
        let mut world = World::new(self, &directory);
        let stops: Vec<Stop> = world.stops.iter().copied().collect();
        world.play_to_the_end();
        let boards = 0..self.boards;
        let events = boards.map(|nth| world.events(nth)).collect();
        let dealers = match world.hall {
            Hall::Ports(tables) => tables.into_iter().map(|table| table.dealer).collect(),
            Hall::Line { seats, .. } => seats.into_iter().map(|(_, _, dealer)| dealer).collect(),
        };
        Outcome {
            dealers,
            events,
            alone: world.watcher.alone,
            stops,
        }
    }

    /// Plays the round and returns all errors in its games.
    fn judge(self) -> (Outcome, Vec<Wrong>) {
        let outcome = self.play();
        let boards = outcome.dealers.iter().zip(&outcome.events).enumerate();
        let wrong =
            boards.flat_map(|(nth, (dealer, events))| verdict::not_exactly_right(nth, dealer, events));
        let wrong = wrong.collect();
        (outcome, wrong)
    }
}

/// Limits on games that are published differently than without stops, per thousand games: in total, and of those that
/// are not reported as uncertain. After a gap, the last ply cannot be distinguished from setting up the pieces: the
/// board does not store the times of moves, and on a bus not even every press.
const MAX_DIFFERENT: [(Wiring, usize, usize); 3] = [
    (Wiring::Single, 10, 0),
    (Wiring::Auto, 10, 0),
    (Wiring::Bus, 25, 0),
];

/// Compares rounds with stops to the same rounds without stops.
fn rounds(wiring: Wiring) {
    let (mut games, mut stops, mut unreported, mut reported) = (0, 0, Vec::new(), Vec::new());
    for seed in 1..=if is_full() { 5 } else { 1 } {
        let round = Round {
            seed,
            wiring,
            boards: 12,
            lasting: Duration::from_secs(1500),
            stops: true,
            damage: None,
        };
        let (outcome, wrong) = round.judge();
        let (calm, known) = Round {
            stops: false,
            ..round
        }
        .judge();
        assert_eq!(outcome.alone, [], "every restart is a replay");
        games += outcome
            .dealers
            .iter()
            .map(|dealer| dealer.dealt.len())
            .sum::<usize>();
        stops += outcome.stops.len();
        let known: Vec<_> = known.iter().map(|wrong| (wrong.board, &wrong.words)).collect();
        for wrong in wrong {
            if known.contains(&(wrong.board, &wrong.words)) {
                continue;
            }
            assert!(
                outcome.is_at_a_stop(wrong.at),
                "seed {seed}: {} has nothing to do with a stop",
                wrong.words
            );
            let list = if wrong.reported {
                &mut reported
            } else {
                &mut unreported
            };
            list.push(format!("seed {seed}, board-{}: {}", wrong.board + 1, wrong.words));
        }
        for (game, words) in other_results(&outcome, &calm) {
            let list = if game.end_in_doubt {
                &mut reported
            } else {
                &mut unreported
            };
            list.push(format!("seed {seed}: {words}"));
        }
    }
    let (_, max_total, max_unreported) = MAX_DIFFERENT.into_iter().find(|(of, ..)| *of == wiring).unwrap();
    let report = format!(
        "{games} games, {stops} stops\nin doubt, as is stated:\n{}\nnot stated:\n{}",
        reported.join("\n"),
        unreported.join("\n")
    );
    assert!(
        (reported.len() + unreported.len()) * 1000 <= max_total * games,
        "{report}"
    );
    assert!(unreported.len() * 1000 <= max_unreported * games, "{report}");
}

/// Games with the same moves as without stops, but with another result.
fn other_results(outcome: &Outcome, calm: &Outcome) -> impl Iterator<Item = (Published, String)> {
    let boards = outcome.events.iter().zip(&calm.events);
    boards.flat_map(|(events, calm)| {
        let (games, calm) = (verdict::games(events), verdict::games(calm));
        let pairs = games.into_iter().filter_map(move |game| {
            let same = |other: &&Published| {
                let moves =
                    |game: &Published| game.moves.iter().map(|(_, m)| m.san.clone()).collect::<Vec<_>>();
                other.id == game.id && moves(other) == moves(&game)
            };
            let other = calm.iter().find(same)?;
            let (result, without) = (game.result, other.result);
            let words = format!("{}: {result:?} instead of {without:?}", game.id);
            (result != without).then_some((game, words))
        });
        pairs.collect::<Vec<_>>()
    })
}

impl Outcome {
    /// Whether a stop can have affected the moves at this time.
    fn is_at_a_stop(&self, at: Timestamp) -> bool {
        self.stops.iter().any(|stop| {
            let from = stop.at.saturating_sub(BEFORE);
            (from..stop.at + stop.down + AFTER).contains(&at)
        })
    }
}

/// Time before and after a stop within which a move can be affected.
const BEFORE: Duration = Duration::from_secs(10);
const AFTER: Duration = Duration::from_secs(90);

#[test]
fn single_boards_are_stopped_anywhere_in_their_games() {
    rounds(Wiring::Single);
}

#[test]
fn boards_on_ports_of_unknown_mode_are_stopped_anywhere_in_their_games() {
    rounds(Wiring::Auto);
}

#[test]
fn boards_on_a_bus_are_stopped_anywhere_in_their_games() {
    rounds(Wiring::Bus);
}

impl Damage {
    fn apply(self, recordings: &Path) {
        let Ok(files) = std::fs::read_dir(recordings) else {
            return;
        };
        for file in files {
            let path = file.unwrap().path();
            let mut bytes = std::fs::read(&path).unwrap();
            match self {
                Self::NoRecordings => std::fs::remove_file(&path).unwrap(),
                Self::ShortRecordings => {
                    bytes.truncate(bytes.len().saturating_sub(1000));
                    std::fs::write(&path, &bytes).unwrap();
                }
                Self::OtherRecordings => {
                    let at = bytes.len() / 2;
                    bytes.iter_mut().skip(at).take(100).for_each(|byte| *byte ^= 0x5a);
                    std::fs::write(&path, &bytes).unwrap();
                }
            }
        }
    }
}

/// If recordings are damaged, boards go on from the journal, which is reported. Event numbers continue, and every game
/// that no stop affected is right.
fn damaged(damage: Damage) {
    let round = Round {
        seed: 7,
        wiring: Wiring::Single,
        boards: 6,
        lasting: Duration::from_secs(900),
        stops: true,
        damage: Some(damage),
    };
    let (outcome, wrong) = round.judge();
    assert!(!outcome.alone.is_empty(), "that is noticed");
    for events in &outcome.events {
        let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
        assert!(numbers.is_sorted_by(|one, next| *next == one + 1), "{numbers:?}");
        assert!(events.is_sorted_by_key(|event| event.ts), "time goes on");
    }
    for wrong in wrong {
        assert!(outcome.is_at_a_stop(wrong.at), "{}", wrong.words);
    }
}

#[test]
fn boards_go_on_from_the_journal_if_recordings_are_gone() {
    damaged(Damage::NoRecordings);
}

#[test]
fn boards_go_on_from_the_journal_if_recordings_are_short() {
    damaged(Damage::ShortRecordings);
}

#[test]
fn boards_go_on_from_the_journal_if_recordings_are_damaged() {
    damaged(Damage::OtherRecordings);
}
