//! Random sequences of connections, acknowledgements, reads and events. The broker gets every event, in order.

use std::collections::{BTreeMap, BTreeSet};

use kiebitz_hardware::emulator::hand::Chance;

use super::*;

const BOARDS: usize = 3;
const STEPS: usize = 3000;
const WINDOW: usize = 4;

/// The store and its surroundings: broker, journal and boards.
struct World {
    chance: Chance,
    store: OutboxStore,
    boards: BTreeMap<Arc<str>, Board>,
    /// Messages that were sent but not acknowledged; `None` while there is no connection.
    connection: Option<Vec<Ticket>>,
    /// The page that is being read, with its events; `None` if reading fails.
    reading: Option<(BacklogPage, Option<Vec<BacklogEvent>>)>,
    most: Events,
}

/// A board's events, and the events that the broker has.
#[derive(Default)]
struct Board {
    /// Last event that the broker had at the start.
    before: u64,
    handed_over: u64,
    journaled: u64,
    /// Last seq that a subscriber has received that drops repeated events.
    received: u64,
    acknowledged: BTreeSet<u64>,
    acknowledged_up_to: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            chance: Chance::new(seed),
            store: store(),
            boards: BTreeMap::new(),
            connection: None,
            reading: None,
            most: Events::default(),
        };
        for name in 0..BOARDS {
            let name: Arc<str> = format!("board-{name}").into();
            let before = world.chance.below(3) as u64;
            let last = before + world.chance.below(12) as u64;
            world.store.leave_behind(&name, &"events".into(), before, last);
            let board = Board {
                before,
                handed_over: last,
                journaled: last,
                received: before,
                acknowledged_up_to: before,
                ..Board::default()
            };
            world.boards.insert(name, board);
        }
        world
    }

    fn step(&mut self) {
        match self.chance.below(20) {
            0..=3 => self.happen(),
            4 => self.journal_everything(),
            5 => self.connect(),
            6 if self.chance.percent(30) => self.lose(),
            7..=10 => self.send(),
            11..=14 => self.acknowledge(),
            15 | 16 => self.begin_to_read(),
            17 | 18 => self.end_reading(),
            _ => self.store.end_pause(),
        }
        let events = self.store.queue().events();
        assert!(events.count <= ROOM.count && (events.bytes <= ROOM.bytes || events.count == 1));
        self.most.count = self.most.count.max(events.count);
    }

    /// Publishes events of a board. In most cases the journal stores them first.
    fn happen(&mut self) {
        let nth = self.chance.below(BOARDS);
        let Some((name, board)) = self.boards.iter_mut().nth(nth) else {
            return;
        };
        for _ in 0..=self.chance.below(3) {
            board.handed_over += 1;
            let seq = board.handed_over;
            self.store.push(event(name, seq));
            self.store.push(retained(name, seq));
        }
        if self.chance.percent(70) {
            // Sometimes the journal already has the next event.
            let more = self.chance.below(2) as u64;
            board.journaled = board.journaled.max(board.handed_over + more);
        }
    }

    fn journal_everything(&mut self) {
        for board in self.boards.values_mut() {
            board.journaled = board.journaled.max(board.handed_over);
        }
    }

    fn connect(&mut self) {
        if self.connection.is_none() {
            self.store.restart(Some(retained("daemon", 0)));
            self.connection = Some(Vec::new());
        }
    }

    fn lose(&mut self) {
        if self.connection.take().is_some() {
            self.store.rewind();
        }
    }

    fn send(&mut self) {
        let Some(under_way) = &mut self.connection else {
            return;
        };
        while self.store.queue().window() < WINDOW {
            let Some((ticket, message)) = self.store.send_next() else {
                return;
            };
            under_way.push(ticket);
            if let Delivery::Event { board, seq } = &message.delivery {
                let board = self.boards.get_mut(board).expect("a board");
                assert!(*seq <= board.received + 1, "{seq} comes after {}", board.received);
                board.received = board.received.max(*seq);
            }
        }
    }

    /// Acknowledges a message, in most cases the oldest.
    fn acknowledge(&mut self) {
        let Some(under_way) = &mut self.connection else {
            return;
        };
        if under_way.is_empty() {
            return;
        }
        let nth = if self.chance.percent(80) {
            0
        } else {
            self.chance.below(under_way.len())
        };
        let ticket = under_way.remove(nth);
        let Acknowledged { message, all } = self.store.acknowledge(ticket).expect("it is under way");
        if let Delivery::Event { board, seq } = &message.delivery {
            let board = self.boards.get_mut(board).expect("a board");
            board.acknowledged.insert(*seq);
        }
        if let Some((board, seq)) = all {
            let board = self.boards.get_mut(&board).expect("a board");
            assert!(seq > board.acknowledged_up_to);
            board.acknowledged_up_to = seq;
            assert!((board.before + 1..=seq).all(|seq| board.acknowledged.contains(&seq)));
        }
    }

    /// Reads the events that the journal has now. They are loaded into the store later.
    fn begin_to_read(&mut self) {
        if self.connection.is_none() || self.reading.is_some() {
            return;
        }
        let Some(page) = self.store.next_page() else {
            return;
        };
        let read = if self.chance.percent(10) {
            None
        } else {
            let end = page.after + 1 + self.chance.below(6) as u64;
            let board = &self.boards[&page.board];
            Some(pages(page.after + 1..=end.min(board.journaled)))
        };
        self.reading = Some((page, read));
    }

    fn end_reading(&mut self) {
        match self.reading.take() {
            Some((page, Some(events))) => drop(self.store.load_page(&page, events)),
            Some((page, None)) => self.store.postpone(&page),
            None => {}
        }
    }

    /// Delivers the remaining messages without new events and without losing the connection.
    fn finish(&mut self) {
        self.journal_everything();
        self.connect();
        for _ in 0..100_000 {
            if self.store.is_empty() {
                return;
            }
            self.send();
            self.acknowledge();
            self.begin_to_read();
            self.end_reading();
            self.store.end_pause();
        }
        panic!("the broker never gets everything");
    }
}

#[test]
fn the_broker_gets_every_event_in_order() {
    for seed in 0..40 {
        let mut world = World::new(seed);
        (0..STEPS).for_each(|_| world.step());
        assert_eq!(world.most.count, ROOM.count, "the memory was full");
        world.finish();
        for (name, board) in world.boards {
            let all: BTreeSet<u64> = (board.before + 1..=board.handed_over).collect();
            assert!(all.len() > 100, "seed {seed}: something happened on {name}");
            assert_eq!(board.acknowledged, all, "seed {seed}, {name}");
            assert_eq!(board.acknowledged_up_to, board.handed_over, "seed {seed}, {name}");
            assert_eq!(board.received, board.handed_over, "seed {seed}, {name}");
        }
    }
}
