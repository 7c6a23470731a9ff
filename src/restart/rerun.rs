//! The recordings of all ports, taken through a hall once more: what the boards said, and when the daemon was started.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use kiebitz_game::command::{Command, Timed};
use kiebitz_game::events::Event;
use kiebitz_game::hall::{Hall, LastSeqs, LineId};
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{CaptureError, Interface};

use super::{HallInput, Inputs, Recordings, names};
use crate::config::Config;
use crate::journal::{Journal, JournalError, Run};

/// A replay of what the daemon was told. [`next`](Self::next) goes on by one step, until there is no more.
#[derive(Debug)]
pub(super) struct Rerun {
    stream: String,
    hall: Hall,
    /// The numbers that later starts left out.
    jumps: BTreeMap<String, BTreeMap<u64, u64>>,
    /// What was recorded and what arbiters commanded.
    inputs: Inputs<Recordings>,
    /// The starts of the daemon that are still to come.
    runs: VecDeque<Run>,
    /// The mode in which each port was last recorded.
    ports: BTreeMap<String, Interface>,
    /// The last of what was recorded.
    until: Timestamp,
}

/// The result of a step.
#[derive(Debug)]
pub(super) enum RerunStep {
    /// The events of the boards since the last step, board by board in order.
    Events(Vec<Event>),
    /// The daemon starts here: call [`Rerun::begin`] with this run.
    Start(Run),
}

impl Rerun {
    /// A replay of these recordings, with the daemon's starts and the arbiter's commands, both in the order of time.
    /// `config` holds until the first start.
    pub(super) fn new(
        stream: &str,
        config: &Config,
        recordings: Recordings,
        runs: Vec<Run>,
        commands: VecDeque<Timed>,
    ) -> Self {
        let mut jumps: BTreeMap<String, BTreeMap<u64, u64>> = BTreeMap::new();
        for run in &runs {
            for (board, (after, to)) in &run.jumps {
                jumps.entry(board.clone()).or_default().insert(*after, *to);
            }
        }
        let mut hall = Hall::new(stream, names(config));
        hall.leave_out(jumps.clone());
        Self {
            stream: stream.to_owned(),
            hall,
            jumps,
            inputs: Inputs::new(recordings).with_commands(commands),
            until: runs
                .first()
                .map_or(Timestamp::from_micros(0), |first| first.began),
            runs: runs.into(),
            ports: BTreeMap::new(),
        }
    }

    /// The next step; `None`: all was played back.
    pub(super) fn next(&mut self) -> Option<RerunStep> {
        let at = self.inputs.next_at();
        if let Some(run) = self.runs.pop_front_if(|run| at.is_none_or(|at| run.began <= at)) {
            return Some(self.end_before(run));
        }
        let at = at?;
        self.until = self.until.max(at);
        self.hall.advance(at);
        self.step(at);
        Some(RerunStep::Events(self.take_events()))
    }

    /// Takes the events of the boards since the last call.
    fn take_events(&mut self) -> Vec<Event> {
        let explained = self.hall.take_events();
        explained.into_iter().map(|explained| explained.event).collect()
    }

    /// Another configuration for boards that go on: what they have said by then is said first, and by the one before.
    fn reload_after(&mut self, run: Run) -> RerunStep {
        self.until = self.until.max(run.began);
        self.hall.advance(run.began);
        let events = self.take_events();
        if events.is_empty() {
            return RerunStep::Start(run);
        }
        self.runs.push_front(run);
        RerunStep::Events(events)
    }

    /// A start with which all boards are made anew: what they have said by then is said first. What the daemon, which had
    /// ended, did not see to its end does not count.
    fn end_before(&mut self, run: Run) -> RerunStep {
        if run.reloaded {
            return self.reload_after(run);
        }
        if !run.whole {
            return RerunStep::Start(run);
        }
        self.hall.advance(run.began);
        let mut events = self.take_events();
        events.retain(|event| {
            let last = [&run.boards, &run.numbers].map(|numbers| numbers.get(&event.board).copied());
            last.into_iter().flatten().max() >= Some(event.seq)
        });
        if events.is_empty() {
            return RerunStep::Start(run);
        }
        self.runs.push_front(run);
        RerunStep::Events(events)
    }

    /// Hands in what was recorded at that time, or else gives the command of that time.
    fn step(&mut self, at: Timestamp) {
        match self.inputs.next_until(at) {
            Some(HallInput::Recorded(interface, packet)) => {
                self.hall.play_back(&interface, &packet);
                self.ports.insert(interface.name.clone(), interface);
            }
            Some(HallInput::Command(timed)) => {
                self.hall.command(timed.at, &timed.board, &timed.command);
            }
            None => {}
        }
    }

    /// A start of the daemon: another configuration may apply, and boards may go on from the journal alone.
    pub(super) fn begin(&mut self, run: &Run, journal: &Journal) -> Result<(), JournalError> {
        let config = Config::parse("journal".as_ref(), &run.config).unwrap_or_default();
        let names = names(&config);
        if run.reloaded {
            self.hall.reconfigure(run.began, names);
            return Ok(());
        }
        if run.whole {
            self.hall = Hall::new(&self.stream, names.clone());
            self.hall.leave_out(self.jumps.clone());
        }
        self.hall.begin_after(LastSeqs {
            boards: run.numbers.clone(),
            others: run.others,
        });
        self.hall.configure(names.clone());
        for (board, last) in &run.boards {
            self.hall
                .expect(super::board(journal, &self.stream, &names, board, *last)?);
        }
        self.hall.count_on_after(&run.numbers);
        Ok(())
    }

    /// The last of what was recorded.
    pub(super) fn until(&self) -> Timestamp {
        self.until
    }

    /// The files that could not be read to their end, each with the reason.
    pub(super) fn damaged(&self) -> &[(PathBuf, CaptureError)] {
        self.inputs.packets().damaged()
    }

    /// The number of a board's last event.
    pub(super) fn last_seq(&self, board: &str) -> u64 {
        self.hall.board(board).map_or(0, |board| board.last_seq())
    }

    /// Boards go on counting after these numbers, where they are higher.
    pub(super) fn count_on_after(&mut self, numbers: &BTreeMap<String, u64>) {
        self.hall.count_on_after(numbers);
    }

    /// Everything was played back, and the daemon was there until `known` at least. Returns what the boards have said
    /// meanwhile.
    pub(super) fn advance(&mut self, known: Timestamp) -> Vec<Event> {
        self.until = self.until.max(known);
        self.hall.advance(self.until);
        self.take_events()
    }

    /// Closes what is open. Returns the ports, and what the boards say to that.
    pub(super) fn close(&mut self, reason: &str) -> (Vec<(Timestamp, Interface)>, Vec<Event>) {
        let lines = self.hall.open_lines();
        let open: Vec<(LineId, String)> = lines.map(|(line, port)| (line, port.to_owned())).collect();
        let mut closed = Vec::new();
        for (line, port) in open {
            self.hall.close(self.until, line, reason);
            closed.extend(
                self.ports
                    .get(&port)
                    .map(|interface| (self.until, interface.clone())),
            );
        }
        (closed, self.take_events())
    }

    /// The boards as they are now.
    pub(super) fn into_hall(self) -> Hall {
        self.hall
    }
}

/// The commands in the journal that boards took after these numbers, in the order of time.
pub(super) fn commands(
    journal: &Journal,
    stream: &str,
    after: &BTreeMap<String, u64>,
) -> Result<VecDeque<Timed>, JournalError> {
    let mut commands = Vec::new();
    for (board, _) in journal.boards(stream)? {
        let after = after.get(&board).copied().unwrap_or(0);
        for event in journal.commands(stream, &board, after)? {
            let Some(mut command) = Command::taken(&event.kind) else {
                continue;
            };
            if let Some(game) = command.game() {
                let before = journal.past(stream, &board, event.seq);
                command.recalled = before.game(game)?.map(Box::new);
            }
            commands.push(Timed {
                at: event.ts,
                board: board.clone(),
                command,
                line: 0,
            });
        }
    }
    commands.sort_by_key(|timed: &Timed| timed.at);
    Ok(commands.into())
}
