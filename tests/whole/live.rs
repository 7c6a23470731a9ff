//! Minutes of a round with all kinds of faults, on pseudo-terminals and in real time: the built `kiebitz run`, a real
//! broker, and a subscriber.

mod daemon;
mod room;

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz::journal::Journal;
use kiebitz::system_time::LiveTime;
use kiebitz_game::events::{Event, EventKind, Recovery};
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::emulator::hand::{Chance, ms};
use rumqttc::v5::mqttbytes::v5::Publish;

use crate::is_full;
use crate::mosquitto::{Mosquitto, Proxy, ProxyState};
use crate::mqtt_world::{Listener, topic};
use daemon::Daemon;
use kiebitz_workbench::soak::faults::{AWAY, Plan};
use kiebitz_workbench::soak::table::{self, Table};
use kiebitz_workbench::soak::verdict;
use room::Room;

/// Parameters of a soak test.
#[derive(Debug, Clone, Copy)]
struct Soak {
    seed: u64,
    minutes: u32,
    boards: usize,
    /// Faults in each minute.
    minute: Plan,
    broker: Broker,
}

/// Faults of the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Broker {
    /// None.
    Steady,
    /// A proxy in front of the broker loses its answers, and resets connections.
    BehindProxy,
    /// The broker is stopped by SIGSTOP again and again.
    Frozen,
    /// The broker cannot be reached except for the first and last seconds, during more moves than an hour of play has.
    Gone,
}

const BOARDS: usize = 6;
/// Twice as many faults as in the simulated round of two hours.
const MINUTE: Plan = Plan {
    unplugs: 3,
    restarts: 1,
    bursts: 2,
    silences: 1,
    away: AWAY,
};
/// The daemon is stopped or killed all the time, and nothing else fails.
const KILLS: Plan = Plan {
    unplugs: 0,
    restarts: 25,
    bursts: 0,
    silences: 0,
    away: (10, 800),
};
/// Timeout for the last events; only failing soaks wait this long.
const PATIENCE: Duration = Duration::from_secs(300);
/// Limit on the daemon's memory with these boards, in KiB, in an unoptimised build.
const MEMORY: u64 = 64 * 1024;

/// Unplugged cables, garbage, silence, and a daemon that is killed and started again.
#[tokio::test]
async fn minutes_on_pseudo_terminals_leave_every_game_right_or_its_gap_reported() {
    Soak::usual(7, if is_full() { 2 } else { 1 }).run().await;
}

/// A soak of any length: `SOAK_MINUTES=60 SOAK_SEED=2 cargo test -p kiebitz-whole live::by_hand -- --ignored
/// --nocapture`.
#[tokio::test]
#[ignore = "ten minutes, for those who look for a fault"]
async fn by_hand() {
    let number = |name: &str| std::env::var(name).ok().map(|value| value.parse().expect(name));
    let (seed, minutes) = (number("SOAK_SEED"), number("SOAK_MINUTES"));
    Soak::usual(seed.unwrap_or(1).into(), minutes.unwrap_or(10))
        .run()
        .await;
}

// The tests below end the daemon 125 times (375 in a full run) at random moments, mostly by SIGKILL. A subscriber that
// drops repeated numbers gets each event once, in order and without a gap, and every game is right.

#[tokio::test]
async fn kills_leave_no_trace() {
    Soak::kills(1, Broker::Steady).run().await;
}

#[tokio::test]
async fn other_kills_leave_no_trace() {
    Soak::kills(2, Broker::Steady).run().await;
}

#[tokio::test]
async fn kills_leave_no_trace_behind_a_proxy_that_drops_and_resets() {
    Soak::kills(3, Broker::BehindProxy).run().await;
}

#[tokio::test]
async fn kills_leave_no_trace_beside_a_broker_that_freezes() {
    Soak::kills(4, Broker::Frozen).run().await;
}

#[tokio::test]
async fn kills_leave_no_trace_while_the_broker_is_gone() {
    Soak::kills(5, Broker::Gone).run().await;
}

impl Soak {
    const fn usual(seed: u64, minutes: u32) -> Self {
        Self {
            seed,
            minutes,
            boards: BOARDS,
            minute: MINUTE,
            broker: Broker::Steady,
        }
    }

    /// 25 ends of the daemon per minute and no other faults.
    fn kills(seed: u64, broker: Broker) -> Self {
        Self {
            seed,
            minutes: if is_full() { 3 } else { 1 },
            boards: 3,
            minute: KILLS,
            broker,
        }
    }

    #[expect(clippy::print_stdout, reason = "a run by hand reports")]
    async fn run(self) {
        let mut directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let broker = Mosquitto::start().await;
        let listener = Listener::start("soak", broker.address()).await;
        let proxy = Proxy::to(broker.address()).await;
        let broker_address = match self.broker {
            Broker::BehindProxy | Broker::Gone => proxy.address(),
            Broker::Steady | Broker::Frozen => broker.address(),
        };
        let time = LiveTime::start();
        let mut room = Room::new(self, &time, directory.path());
        let mut daemon = Daemon::new(directory.path(), broker_address, self.boards);
        let mut trouble = Trouble::new(self, time.now());
        while !room.is_over(&time) {
            room.advance(&time, &mut daemon).await;
            trouble.advance(time.now(), &broker, &proxy);
        }
        trouble.end(&broker, &proxy).await;
        if self.broker != Broker::Steady {
            // The daemon is not started again after the test, so pending messages must be delivered before its end.
            room.play_for(&time, &mut daemon, MAX_PAUSE).await;
        }
        // The last moves may not be published yet, and the memory of an unplugged board may not have been read yet.
        let end = time.now() + PATIENCE;
        let mut wrong = vec!["nothing was published".to_owned()];
        while !wrong.is_empty() && time.now() < end {
            room.play_for(&time, &mut daemon, SETTLING).await;
            wrong = judge(&room, &listener, &self.kept(&daemon));
        }
        let report = format!("{} {}", room.report(), daemon.report());
        if !wrong.is_empty() {
            // Keep the recordings for the analysis.
            directory.disable_cleanup(true);
            let kept = directory.path().display();
            panic!(
                "{report}\n{}\n{}all is kept in {kept}",
                wrong.join("\n"),
                room.log()
            );
        }
        println!("seed {}: {report}", self.seed);
        let is_missing = |daemon: &Daemon| {
            let inbox = by_board(&listener.inbox());
            let is_received = |board, seq| inbox.get(board).is_some_and(|events| events.contains_key(seq));
            let kept = self.kept(daemon);
            kept.iter()
                .any(|(board, kept)| !kept.keys().all(|seq| is_received(board, seq)))
        };
        while is_missing(&daemon) && time.now() < end {
            room.play_for(&time, &mut daemon, SETTLING).await;
        }
        assert!(daemon.peak_memory < MEMORY, "{report}");
        assert_eq!(
            daemon.ports_open(),
            vec![true; self.boards],
            "one open port a board, none that is gone"
        );
        assert_eq!(daemon.end().await, Some(0));
        // The broker has all messages; wait until it has delivered them.
        let end = time.now() + SETTLING;
        while is_missing(&daemon) && time.now() < end {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let (inbox, kept) = (by_board(&listener.inbox()), self.kept(&daemon));
        for (board, kept) in &kept {
            let empty = BTreeMap::new();
            let inbox = inbox.get(board).unwrap_or(&empty);
            let published = |seq| inbox.get(seq).map(|event| &event.payload);
            let other = kept.iter().find(|(seq, payload)| published(seq) != Some(payload));
            assert_eq!(other, None, "of {board}, is not published\n{}", daemon.log_tail());
            let lost = inbox
                .iter()
                .find(|(seq, event)| event.kept && !kept.contains_key(seq));
            assert!(lost.is_none(), "of {board}, is not stored: {lost:?}");
            let (jumps, outages) = (jumps(inbox.keys().copied()), daemon.outages);
            assert!(
                jumps <= outages,
                "{board}: {jumps} jumps, {outages} outages of the journal"
            );
        }
        room.all_happened(self.plan());
    }

    /// Events in the journal, by board and number.
    fn kept(self, daemon: &Daemon) -> BTreeMap<String, BTreeMap<u64, String>> {
        let journal = Journal::open(&daemon.journal()).unwrap();
        let kept = (0..self.boards).map(|nth| {
            let name = table::name(nth);
            let events = journal.events_after("live", &name, 0, usize::MAX >> 1).unwrap();
            (
                name,
                events
                    .into_iter()
                    .map(|event| (event.seq, event.payload))
                    .collect(),
            )
        });
        kept.collect()
    }

    fn plan(self) -> Plan {
        let minutes = self.minutes as usize;
        Plan {
            unplugs: self.minute.unplugs * minutes,
            restarts: self.minute.restarts * minutes,
            bursts: self.minute.bursts * minutes,
            silences: self.minute.silences * minutes,
            away: self.minute.away,
        }
    }
}

/// Faults of the connection to the broker, in turn.
struct Trouble {
    broker: Broker,
    chance: Chance,
    next: Timestamp,
    step: usize,
}

impl Trouble {
    fn new(soak: Soak, now: Timestamp) -> Self {
        Self {
            broker: soak.broker,
            chance: Chance::new(soak.seed),
            next: now + Duration::from_secs(5),
            step: 0,
        }
    }

    fn advance(&mut self, now: Timestamp, broker: &Mosquitto, proxy: &Proxy) {
        if now < self.next {
            return;
        }
        self.next = now + self.chance.time(ms(300, 4_000));
        self.step += 1;
        match self.broker {
            Broker::Steady => {}
            Broker::BehindProxy => proxy.set(PROXY_STATES[self.step % PROXY_STATES.len()]),
            Broker::Frozen => broker.freeze(self.step % 2 == 1),
            Broker::Gone => proxy.set(ProxyState::Shut),
        }
    }

    async fn end(&self, broker: &Mosquitto, proxy: &Proxy) {
        // A connection that has lost bytes cannot recover, so it is closed.
        proxy.set(ProxyState::Shut);
        tokio::time::sleep(Duration::from_millis(100)).await;
        proxy.set(ProxyState::Open);
        if self.broker == Broker::Frozen {
            broker.freeze(false);
        }
    }
}

const PROXY_STATES: [ProxyState; 5] = [
    ProxyState::Open,
    ProxyState::OneWay,
    ProxyState::Shut,
    ProxyState::Open,
    ProxyState::Shut,
];

/// Above 15 s, the longest pause before the daemon reconnects.
const MAX_PAUSE: Duration = Duration::from_secs(20);
/// Pause before each verdict, in which pending events arrive.
const SETTLING: Duration = Duration::from_secs(5);

/// An event as received.
#[derive(Debug, PartialEq)]
struct Received {
    payload: String,
    /// Whether the journal had stored the event.
    kept: bool,
}

/// Events of every board by number, without repeated deliveries. Checks that a repeated event is identical, and that
/// each other event has a higher number than all before.
fn by_board(publishes: &[Publish]) -> BTreeMap<String, BTreeMap<u64, Received>> {
    let mut inbox: BTreeMap<String, BTreeMap<u64, Received>> = BTreeMap::new();
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
        let properties = publish.properties.clone().unwrap_or_default().user_properties;
        let kept = !properties.contains(&("kept".to_owned(), "false".to_owned()));
        let events = inbox.entry(board.to_owned()).or_default();
        let last = events.last_key_value().map_or(0, |(last, _)| *last);
        match events.get_mut(&event.seq) {
            Some(before) => {
                assert_eq!(before.payload, payload, "a number was given twice");
                before.kept |= kept;
            }
            None => {
                assert!(event.seq > last, "{board}: {} comes after {last}", event.seq);
                events.insert(event.seq, Received { payload, kept });
            }
        }
    }
    inbox
}

/// Number of gaps in numbers that count from 1. The contract allows one after each run of the program in which the disk
/// did not answer for seconds, so that events were published before the journal had stored them.
fn jumps(seqs: impl Iterator<Item = u64>) -> usize {
    let mut last = 0;
    let is_jump = |seq: &u64| core::mem::replace(&mut last, *seq) + 1 != *seq;
    seqs.filter(is_jump).count()
}

#[test]
fn jumps_are_counted() {
    for (seqs, count) in [
        (vec![1, 2, 3], 0),
        (vec![2, 3], 1),
        (vec![1, 2, 4, 5, 9], 2),
        (vec![], 0),
    ] {
        assert_eq!(jumps(seqs.iter().copied()), count, "{seqs:?}");
    }
}

/// Descriptions of the games that are neither right nor reported with a gap. Events that were published but never stored
/// do not count: the program publishes them again.
fn judge(room: &Room, listener: &Listener, kept: &BTreeMap<String, BTreeMap<u64, String>>) -> Vec<String> {
    let inbox = by_board(&listener.inbox());
    let mut wrong = Vec::new();
    for (nth, table) in room.tables().enumerate() {
        let name = table::name(nth);
        let stored = inbox.get(&name).into_iter().flatten();
        let stored = stored.filter(|(seq, event)| event.kept || kept[&name].contains_key(seq));
        let events: Vec<Event> = stored
            .map(|(_, event)| serde_json::from_str(&event.payload).unwrap())
            .collect();
        let describe = |game| table.describe(game);
        let mut words = verdict::unreported(nth, (&table.played, describe), &events);
        words.retain(|wrong| !has_gap(table, &events, wrong.at));
        wrong.extend(words.into_iter().map(|wrong| {
            let at = room.since_start(wrong.at).as_secs_f64();
            format!("board-{} at {at:.1}: {}", nth + 1, wrong.words)
        }));
    }
    wrong
}

/// Whether the game at that time is reported with a gap.
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

/// Maximum delay between a move on the board and its publication.
const PUBLISHED_WITHIN: Duration = Duration::from_secs(15);
