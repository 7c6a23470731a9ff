//! The recordings since boards last went on from the journal alone, taken through a hall once more.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{Content, Direction, Interface, Packet};

use super::compare::{Comparison, Found};
use super::{Alone, CUT_OFF, Recordings, Sources, TakenUp, disconnection, names};
use crate::config::Config;
use crate::events::Event;
use crate::hall::{Hall, Numbers, resume};
use crate::journal::{JournalError, Run};
use crate::referee::command::Command;

/// A replay of what the daemon was told, beside its journal.
#[derive(Debug)]
pub(super) struct Rerun<'s> {
    sources: &'s Sources<'s>,
    hall: Hall,
    recordings: Recordings,
    /// The starts of the daemon that are still to come in the recordings.
    runs: VecDeque<Run>,
    /// The commands that are still to be given: when, to which board.
    commands: VecDeque<(Timestamp, String, Command)>,
    comparison: Comparison<'s>,
    /// The mode in which each port was last recorded.
    ports: BTreeMap<String, Interface>,
    missing: Vec<Event>,
    alone: BTreeMap<String, Alone>,
    /// The last of what was recorded.
    until: Timestamp,
}

impl<'s> Rerun<'s> {
    /// Begins with the first of the runs, of which there is one at least.
    pub(super) fn new(sources: &'s Sources<'s>, folder: &Path, runs: Vec<Run>) -> Result<Self, JournalError> {
        let mut runs = VecDeque::from(runs);
        let first = runs.pop_front();
        let began = first.as_ref().map_or(Timestamp::from_micros(0), |run| run.began);
        let after = first.as_ref().map(|run| run.boards.clone()).unwrap_or_default();
        let mut rerun = Self {
            sources,
            hall: Hall::new(sources.stream, names(sources.config)),
            recordings: Recordings::after(folder, began, sources.zone),
            runs,
            commands: commands(sources, &after)?,
            comparison: Comparison::new(sources.journal, sources.stream, &after)?,
            ports: BTreeMap::new(),
            missing: Vec::new(),
            alone: BTreeMap::new(),
            until: began,
        };
        if let Some(first) = first {
            rerun.begin(&first)?;
        }
        Ok(rerun)
    }

    /// Plays everything back. The journal says that the daemon was there until `known`, at least.
    pub(super) fn play(mut self, known: Timestamp) -> Result<TakenUp, JournalError> {
        while let Some(at) = self.next_at() {
            while self.runs.front().is_some_and(|run| run.began <= at)
                && let Some(run) = self.runs.pop_front()
            {
                self.begin(&run)?;
            }
            self.until = self.until.max(at);
            self.hall.advance(at);
            self.step(at);
            self.compare()?;
        }
        while let Some(run) = self.runs.pop_front() {
            self.begin(&run)?;
        }
        self.until = self.until.max(known);
        self.hall.advance(self.until);
        let closed = self.close();
        self.compare()?;
        self.finish(closed)
    }

    fn next_at(&self) -> Option<Timestamp> {
        let command = self.commands.front().map(|(at, ..)| *at);
        [self.recordings.next_at(), command].into_iter().flatten().min()
    }

    /// Hands in what was recorded at that time, or else gives the command of that time.
    fn step(&mut self, at: Timestamp) {
        if self.recordings.next_at() == Some(at) {
            if let Some((interface, packet)) = self.recordings.next() {
                self.hand_in(interface, &packet);
            }
        } else if let Some((at, board, command)) = self.commands.pop_front() {
            self.hall.command(at, &board, &command);
        }
    }

    /// A start of the daemon: another configuration may apply, and boards may go on from the journal alone.
    fn begin(&mut self, run: &Run) -> Result<(), JournalError> {
        let config = Config::parse("journal".as_ref(), &run.config).unwrap_or_default();
        let names = names(&config);
        self.hall.begin_after(Numbers {
            boards: run.numbers.clone(),
            others: run.others,
        });
        self.hall.configure(names.clone());
        for (board, last) in &run.boards {
            let Sources { journal, stream, .. } = *self.sources;
            self.hall
                .expect(resume::board(journal, stream, &names, board, *last)?);
            self.alone.remove(board);
        }
        self.hall.count_on_after(&run.numbers);
        Ok(())
    }

    fn hand_in(&mut self, interface: Interface, packet: &Packet) {
        let line = self.hall.listen(&interface.name, interface.mode);
        match &packet.content {
            Content::Opened => self.hall.open(packet.at, line),
            Content::Closed { reason } => self.hall.close(packet.at, line, reason),
            Content::Bytes {
                direction: Direction::Inbound,
                bytes,
            } => self.hall.receive(packet.at, line, bytes),
            Content::Bytes {
                direction: Direction::Outbound,
                bytes,
            } => self.hall.sent(packet.at, line, bytes),
            Content::ClockSet { micros } => self.hall.set_clock(packet.at, *micros),
        }
        self.ports.insert(interface.name.clone(), interface);
    }

    /// Holds what the boards have said against the journal.
    fn compare(&mut self) -> Result<(), JournalError> {
        for said in self.hall.take_events() {
            let event = said.event;
            if self.alone.contains_key(&event.board) {
                continue;
            }
            match self.comparison.find(&event)? {
                Found::Known => {}
                Found::New => self.missing.push(event),
                Found::Other => {
                    self.alone.insert(event.board, Alone::Differs(event.seq));
                }
            }
        }
        Ok(())
    }

    /// Closes what was open when the daemon ended. Returns the ports.
    fn close(&mut self) -> Vec<(Timestamp, Interface)> {
        let open: Vec<_> = self
            .hall
            .open_lines()
            .map(|(line, port)| (line, port.to_owned()))
            .collect();
        let mut closed = Vec::new();
        for (line, port) in open {
            self.hall.close(self.until, line, CUT_OFF);
            closed.extend(
                self.ports
                    .get(&port)
                    .map(|interface| (self.until, interface.clone())),
            );
        }
        closed
    }

    fn finish(mut self, closed: Vec<(Timestamp, Interface)>) -> Result<TakenUp, JournalError> {
        let Sources { journal, stream, .. } = *self.sources;
        for (board, last) in journal.boards(stream)? {
            let replayed = self.hall.board(&board).map_or(0, |board| board.last_seq());
            if replayed < last {
                self.alone.entry(board).or_insert(Alone::Short(last));
            }
        }
        let alone = core::mem::take(&mut self.alone);
        // What a replay that has gone astray has said besides is nothing that anybody saw.
        self.missing.retain(|event| !alone.contains_key(&event.board));
        for board in alone.keys() {
            let last = self.comparison.last(board);
            let number = super::after_all_given(self.sources, board, last) + 1;
            self.missing
                .extend(disconnection(self.sources, board, number, self.until)?);
        }
        Ok(TakenUp {
            events: self.missing,
            closed,
            until: self.until,
            alone,
            hall: self.hall,
            whole: false,
        })
    }
}

/// The commands that boards took after these numbers, in the order of time.
fn commands(
    sources: &Sources<'_>,
    after: &BTreeMap<String, u64>,
) -> Result<VecDeque<(Timestamp, String, Command)>, JournalError> {
    let mut commands = Vec::new();
    for (board, _) in sources.journal.boards(sources.stream)? {
        let after = after.get(&board).copied().unwrap_or(0);
        for event in sources.journal.commands(sources.stream, &board, after)? {
            commands.extend(Command::taken(&event.kind).map(|command| (event.ts, board.clone(), command)));
        }
    }
    commands.sort_by_key(|(at, ..)| *at);
    Ok(commands.into())
}
