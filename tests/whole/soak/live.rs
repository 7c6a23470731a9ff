//! The same on pseudo-terminals and in real time: `kiebitz run` as it is built, a real broker, and a subscriber.

mod daemon;
mod room;

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz::events::{Event, EventKind};
use kiebitz::journal::Journal;
use kiebitz::system_time::LiveTime;
use kiebitz::tracker::Recovery;
use kiebitz_hardware::Timestamp;
use rumqttc::v5::mqttbytes::v5::Publish;

use super::faults::Plan;
use super::table::{self, Table};
use super::verdict;
use crate::mosquitto::Mosquitto;
use crate::mqtt_world::{Listener, topic};
use daemon::Daemon;
use room::Room;

/// What a soak is to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Soak {
    pub(crate) seed: u64,
    pub(crate) minutes: u32,
}

const BOARDS: usize = 6;
/// What goes wrong in a minute: twice what does in the round of two hours.
const MINUTE: Plan = Plan {
    unplugs: 3,
    restarts: 1,
    bursts: 2,
    silences: 1,
};
/// Only a soak that fails waits this long for what is still to be published.
const PATIENCE: Duration = Duration::from_secs(90);
/// What the daemon may have in memory with these boards, in kilobytes, built without optimisation.
const MEMORY: u64 = 64 * 1024;

/// Two minutes with unplugged cables, garbage, silence and a daemon that is killed and started again.
#[tokio::test]
async fn two_minutes_on_pseudo_terminals_leave_every_game_right_or_its_gap_stated() {
    let soak = Soak { seed: 7, minutes: 2 };
    soak.run().await;
}

impl Soak {
    #[expect(clippy::print_stdout, reason = "a run by hand reports")]
    pub(crate) async fn run(self) {
        let mut directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let broker = Mosquitto::start().await;
        let listener = Listener::start("soak", broker.address()).await;
        let time = LiveTime::start();
        let mut room = Room::new(self, &time, directory.path());
        let mut daemon = Daemon::new(directory.path(), broker.address(), BOARDS);
        while !room.is_over(&time) {
            room.go_on(&time, &mut daemon).await;
        }
        // What was played last is still to be published, and a board that was unplugged to be read.
        let end = time.now() + PATIENCE;
        let mut wrong = vec!["nothing was published".to_owned()];
        while !wrong.is_empty() && time.now() < end {
            room.play_for(&time, &mut daemon, SETTLING).await;
            wrong = judge(&room, &listener);
        }
        let report = format!("{} {}", room.report(), daemon.report());
        if !wrong.is_empty() {
            // With its recordings it can be looked into.
            directory.disable_cleanup(true);
            let kept = directory.path().display();
            panic!(
                "{report}\n{}\n{}all is kept in {kept}",
                wrong.join("\n"),
                room.log()
            );
        }
        println!("seed {}: {report}", self.seed);
        assert!(daemon.most_memory < MEMORY, "{report}");
        assert_eq!(
            daemon.ports_open(),
            vec![true; BOARDS],
            "one open port a board, none that is gone"
        );
        assert_eq!(daemon.stop(), Some(0));
        let journal = Journal::open(&daemon.journal()).unwrap();
        let kept: BTreeMap<String, Vec<String>> = (0..BOARDS)
            .map(|nth| {
                let name = table::name(nth);
                let events = journal.events_after("live", &name, 0, usize::MAX >> 1).unwrap();
                (name, events.into_iter().map(|event| event.payload).collect())
            })
            .collect();
        // The broker has all, and passes it on.
        let all: usize = kept.values().map(Vec::len).sum();
        let received = |heard: &[Publish]| by_board(heard).values().map(Vec::len).sum::<usize>();
        listener.until("all events", |heard| received(heard) >= all).await;
        assert!(
            by_board(&listener.heard()) == kept,
            "the journal has what the subscriber has"
        );
        room.all_happened(self.plan());
    }

    fn plan(self) -> Plan {
        let minutes = self.minutes as usize;
        Plan {
            unplugs: MINUTE.unplugs * minutes,
            restarts: MINUTE.restarts * minutes,
            bursts: MINUTE.bursts * minutes,
            silences: MINUTE.silences * minutes,
        }
    }
}

/// Nothing new comes for this long before it is judged.
const SETTLING: Duration = Duration::from_secs(5);

/// The events of every board as a subscriber has them who drops the numbers that are there already; they count
/// from 1 without gaps, whatever was delivered twice.
fn by_board(publishes: &[Publish]) -> BTreeMap<String, Vec<String>> {
    let mut heard: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for publish in publishes {
        let topic = topic(publish);
        let Some(board) = topic
            .strip_prefix("boards/")
            .and_then(|rest| rest.strip_suffix("/events"))
        else {
            continue;
        };
        let payload = String::from_utf8(publish.payload.to_vec()).unwrap();
        let event: Event = serde_json::from_str(&payload).unwrap();
        let payloads = heard.entry(board.to_owned()).or_default();
        match payloads.get(event.seq as usize - 1) {
            Some(before) => assert_eq!(*before, payload, "a number was given twice"),
            None => {
                assert_eq!(
                    event.seq as usize,
                    payloads.len() + 1,
                    "{board} leaves a number out"
                );
                payloads.push(payload);
            }
        }
    }
    heard
}

/// The games that are neither right nor said to have a gap, in words.
fn judge(room: &Room, listener: &Listener) -> Vec<String> {
    let heard = by_board(&listener.heard());
    let mut wrong = Vec::new();
    for (nth, table) in room.tables().enumerate() {
        let payloads = heard.get(&table::name(nth)).map_or(&[][..], Vec::as_slice);
        let events: Vec<Event> = payloads
            .iter()
            .map(|payload| serde_json::from_str(payload).unwrap())
            .collect();
        let mut words = verdict::not_stated(nth, table, &events);
        words.retain(|wrong| !has_gap(table, &events, wrong.at));
        wrong.extend(words.into_iter().map(|wrong| {
            let at = room.since_start(wrong.at).as_secs_f64();
            format!("board-{} at {at:.1}: {}", nth + 1, wrong.words)
        }));
    }
    wrong
}

/// Whether the game that was played then is said to have a gap.
fn has_gap(table: &Table, events: &[Event], at: Timestamp) -> bool {
    let game = table
        .played
        .iter()
        .rfind(|played| played.at <= at)
        .or_else(|| table.played.first());
    let Some(game) = game.map(|played| played.game) else {
        return false;
    };
    let mut plies = table.played.iter().filter(|played| played.game == game);
    let (Some(first), Some(last)) = (plies.next(), plies.next_back()) else {
        return false;
    };
    let mut gaps = events.iter().filter_map(|event| match event.kind {
        EventKind::BoardRecovered {
            by: Recovery::Inferred | Recovery::Undecidable,
            from,
            to,
            ..
        } => Some((from, to)),
        _ => None,
    });
    gaps.any(|(from, to)| from <= last.at + PUBLISHED_WITHIN && to + PUBLISHED_WITHIN >= first.at)
}

/// What is played is published within this time.
const PUBLISHED_WITHIN: Duration = Duration::from_secs(15);
