//! A round in virtual time: boards with players, the daemon that watches them, and the faults between them.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz::config::Config;
use kiebitz::journal::Journal;
use kiebitz::restart;
use kiebitz_game::events::Event;
use kiebitz_game::hall::{Hall, LineId, Names};
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::emulator::hand::Chance;
use kiebitz_hardware::{Line, LineSettings, Timestamp};
use kiebitz_protocol::Decoder;

use super::faults::{Fault, Plan};
use super::known::Power;
use super::table::{self, Pace, ROUND, Table};
use super::verdict::Log;
use crate::hands::hall::OPENING;

#[derive(Debug, Clone, Copy)]
pub struct Round {
    pub seed: u64,
    pub plan: Plan,
    /// Power supply of the boards. Boards with own power keep it while they are unplugged.
    pub power: Power,
    /// Whether every game ends with a shown result.
    pub results: bool,
    /// The board whose log is kept.
    pub logged: Option<usize>,
}

pub struct Outcome {
    pub tables: Vec<Table>,
    pub journal: Journal,
    pub log: Log,
    /// Memory use of the daemon every ten minutes, measured as the length of its `Debug` output.
    pub held: Vec<usize>,
    /// Number of faults that happened: unplugs, restarts, bursts, silences.
    pub happened: [usize; 4],
    _directory: tempfile::TempDir,
}

struct World {
    round: Round,
    now: Timestamp,
    tables: Vec<Table>,
    faults: VecDeque<(Timestamp, Fault)>,
    /// `None` while the daemon is down.
    hall: Option<Hall>,
    lines: Vec<LineId>,
    journal: Journal,
    directory: tempfile::TempDir,
    names: Names,
    /// Events that are not in the journal yet.
    unjournaled: Vec<Event>,
    decoder: Decoder,
    log: Log,
    held: Vec<usize>,
    happened: [usize; 4],
}

const BOARDS: usize = 8;
/// Longest time for which a cable is unplugged, in milliseconds.
const LONGEST_OUT: u64 = 300_000;
/// Grace period after the last game, without faults, until everything has been published.
const AFTERWARDS: Duration = Duration::from_secs(120);
/// Events per commit of the journal, because each commit waits for the disk.
const BATCH: usize = 256;

impl Round {
    /// Plays the round until all games are over and published.
    pub fn play(self) -> Outcome {
        let mut world = World::new(self);
        let last = OPENING + ROUND;
        let mut measured = OPENING;
        let mut over_at = None;
        while let Some(now) = world.next_at() {
            if world.tables.iter().all(|table| table.player.is_done()) && world.faults.is_empty() {
                let over_at = *over_at.get_or_insert(now);
                if now > over_at + AFTERWARDS {
                    break;
                }
            }
            world.step(now, last);
            if now >= measured + Duration::from_secs(600)
                && let Some(hall) = &world.hall
            {
                world.held.push(format!("{hall:?}").len());
                measured = now;
            }
        }
        world.append_to_journal();
        assert_eq!(
            world.hall.as_ref().map(|hall| hall.boards().count()),
            Some(BOARDS)
        );
        Outcome {
            tables: world.tables,
            journal: world.journal,
            log: world.log,
            held: world.held,
            happened: world.happened,
            _directory: world.directory,
        }
    }
}

impl World {
    fn new(round: Round) -> Self {
        let mut chance = Chance::new(round.seed);
        let tables = (0..BOARDS)
            .map(|nth| Table::new(OPENING, nth, Pace::ROUND, round.results, &mut chance))
            .collect();
        let faults = round
            .plan
            .schedule(&mut chance, BOARDS, LONGEST_OUT, (OPENING, ROUND));
        let directory = tempfile::tempdir().unwrap();
        let mut world = Self {
            round,
            now: OPENING,
            tables,
            faults: faults.into(),
            hall: None,
            lines: Vec::new(),
            journal: Journal::open(&directory.path().join("journal.sqlite")).unwrap(),
            directory,
            names: names(),
            unjournaled: Vec::new(),
            decoder: Decoder::new(),
            log: Vec::new(),
            held: Vec::new(),
            happened: [0; 4],
        };
        world.start();
        world
    }

    fn next_at(&self) -> Option<Timestamp> {
        let tables = self.tables.iter().flat_map(|table| [table.due, table.opens_at]);
        let fault = self.faults.front().map(|(at, _)| *at);
        let hall = self.hall.as_ref().and_then(Hall::poll_deadline);
        tables.chain([fault, hall]).flatten().min()
    }

    fn step(&mut self, now: Timestamp, last: Timestamp) {
        assert!(now >= self.now, "time goes on");
        self.now = now;
        if let Some(hall) = &mut self.hall {
            hall.advance(now);
        }
        while let Some((_, fault)) = self.faults.pop_front_if(|(at, _)| *at <= now) {
            self.inject(fault);
        }
        for nth in 0..self.tables.len() {
            if self.tables[nth].opens_at.is_some_and(|at| at <= now) {
                self.open(nth);
            }
            if self.tables[nth].due.is_some_and(|due| due <= now) {
                self.hear(nth);
                if let Some(words) = self.tables[nth].follow(now, last) {
                    self.note(nth, || format!("truth {words}"));
                }
            }
        }
        self.serve();
    }

    /// Writes the daemon's bytes, closes the ports that it gives up, and collects its events.
    fn serve(&mut self) {
        let now = self.now;
        let Some(hall) = &mut self.hall else { return };
        while let Some((line, bytes)) = hall.poll_write(now) {
            let nth = self.lines.iter().position(|id| *id == line).unwrap();
            let table = &mut self.tables[nth];
            table.player.handle_bytes(now, &bytes);
            table.due = table.player.poll_deadline();
            hall.sent(now, line, &bytes);
            if self.round.logged == Some(nth) {
                self.log.push((now, format!("host  {bytes:02x?}")));
            }
        }
        while let Some((line, reason)) = hall.poll_close() {
            let nth = self.lines.iter().position(|id| *id == line).unwrap();
            let table = &mut self.tables[nth];
            hall.close(now, line, &reason);
            table.open = None;
            table.opens_at = Some(table.soon(now));
        }
        let explained = hall.take_events();
        if let Some(logged) = self.round.logged {
            let name = table::name(logged);
            for explained in explained.iter().filter(|explained| explained.event.board == name) {
                self.log.push((
                    now,
                    format!("event {}", serde_json::to_string(&explained.event).unwrap()),
                ));
            }
        }
        self.unjournaled
            .extend(explained.into_iter().map(|explained| explained.event));
        if self.unjournaled.len() >= BATCH {
            self.append_to_journal();
        }
    }

    fn append_to_journal(&mut self) {
        self.journal.append(&self.unjournaled).unwrap();
        self.unjournaled.clear();
    }

    /// Hands the daemon the bytes that a board has sent since the last call.
    fn hear(&mut self, nth: usize) {
        while let Some((_, bytes)) = self.tables[nth].player.poll_transmit(self.now) {
            let table = &mut self.tables[nth];
            let bytes = if table.garbage {
                table.damaged(&bytes)
            } else {
                bytes
            };
            let (Some(hall), Some(line)) = (&mut self.hall, table.open) else {
                continue;
            };
            hall.receive(self.now, line, &bytes);
            if self.round.logged == Some(nth) {
                let (log, now) = (&mut self.log, self.now);
                self.decoder.feed(&bytes, |decoded| {
                    let text = format!("{decoded:?}");
                    let end = (0..=text.len().min(400))
                        .rev()
                        .find(|at| text.is_char_boundary(*at));
                    log.push((now, format!("board {}", &text[..end.unwrap()])));
                });
            }
        }
    }

    fn open(&mut self, nth: usize) {
        let table = &mut self.tables[nth];
        table.opens_at = None;
        if let Some(hall) = self.hall.as_mut().filter(|_| table.plugged) {
            table.open = Some(self.lines[nth]);
            hall.open(self.now, self.lines[nth]);
            self.note(nth, || "port opened".to_owned());
        }
    }

    fn inject(&mut self, fault: Fault) {
        let now = self.now;
        match fault {
            Fault::Unplug(nth) => {
                self.happened[0] += 1;
                let table = &mut self.tables[nth];
                table.plugged = false;
                table.player.unplug(now);
                table.opens_at = None;
                if let (Some(line), Some(hall)) = (table.open.take(), &mut self.hall) {
                    hall.close(now, line, "unplugged");
                }
            }
            Fault::Plug(nth) => {
                let table = &mut self.tables[nth];
                table.plugged = true;
                table.player.plug(now, self.round.power == Power::Own);
                table.opens_at = Some(table.soon(now));
            }
            Fault::Garbage(nth) => {
                self.happened[2] += 1;
                self.tables[nth].garbage = true;
            }
            Fault::Clean(nth) => self.tables[nth].garbage = false,
            Fault::Silent(nth) => {
                self.happened[3] += 1;
                self.tables[nth].player.silence(now, true);
            }
            Fault::Heard(nth) => self.tables[nth].player.silence(now, false),
            Fault::Stop => {
                self.happened[1] += 1;
                self.stop();
            }
            Fault::Start => self.start(),
        }
        for (nth, table) in self.tables.iter_mut().enumerate() {
            table.due = table.player.poll_deadline();
            let concerned = match fault {
                Fault::Stop | Fault::Start => true,
                Fault::Unplug(n) | Fault::Plug(n) | Fault::Garbage(n) => n == nth,
                Fault::Clean(n) | Fault::Silent(n) | Fault::Heard(n) => n == nth,
            };
            if concerned && self.round.logged == Some(nth) {
                self.log.push((now, format!("fault {fault:?}")));
            }
        }
    }

    fn stop(&mut self) {
        if let Some(mut hall) = self.hall.take() {
            self.unjournaled
                .extend(hall.take_events().into_iter().map(|explained| explained.event));
        }
        self.append_to_journal();
        for table in &mut self.tables {
            table.open = None;
            table.opens_at = None;
        }
    }

    fn start(&mut self) {
        let mut hall = Hall::new("live", self.names.clone());
        for board in restart::boards(&self.journal, "live", &self.names, None).unwrap() {
            hall.expect(board);
        }
        let ports = 0..self.tables.len();
        self.lines = ports
            .map(|nth| hall.add(&port(nth), Line::keeping(LineSettings::of(LineMode::Single))))
            .collect();
        self.hall = Some(hall);
        for table in &mut self.tables {
            table.opens_at = Some(table.soon(self.now));
        }
    }

    fn note(&mut self, nth: usize, words: impl FnOnce() -> String) {
        if self.round.logged == Some(nth) {
            self.log.push((self.now, words()));
        }
    }
}

fn names() -> Names {
    let boards: String = (0..BOARDS)
        .map(|nth| {
            format!(
                "[[board]]\nserial = \"{}\"\nname = \"{}\"\n",
                table::serial(nth),
                table::name(nth)
            )
        })
        .collect();
    Names::Configured(Config::parse("soak.toml".as_ref(), &boards).unwrap().roster())
}

fn port(nth: usize) -> String {
    format!("/dev/ttyEMU{nth}")
}
