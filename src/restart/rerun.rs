//! Replays the recordings of all ports through a hall and yields the events and the daemon's starts.

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

/// A replay of the daemon's inputs. [`next`](Self::next) does one step.
#[derive(Debug)]
pub(super) struct Rerun {
    stream: String,
    hall: Hall,
    /// Seqs that later starts skipped, see [`Run::jumps`].
    jumps: BTreeMap<String, BTreeMap<u64, u64>>,
    /// Recorded packets and the arbiters' commands.
    inputs: Inputs<Recordings>,
    /// The remaining starts of the daemon.
    runs: VecDeque<Run>,
    /// The interface of each port in its last packet.
    ports: BTreeMap<String, Interface>,
    /// Time of the last input so far.
    until: Timestamp,
}

#[derive(Debug)]
pub(super) enum RerunStep {
    /// Events of the boards since the last step, each board's in order.
    Events(Vec<Event>),
    /// A start of the daemon: call [`Rerun::begin`] with this run.
    Start(Run),
}

impl Rerun {
    /// Creates a replay of `recordings`, with the daemon's starts and the arbiters' commands, both in order of time.
    /// `config` applies until the first start.
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

    /// The next step; `None` at the end.
    pub(super) fn next(&mut self) -> Option<RerunStep> {
        let at = self.inputs.next_at();
        if let Some(run) = self.runs.pop_front_if(|run| at.is_none_or(|at| run.began <= at)) {
            return Some(self.end_boards(run));
        }
        let at = at?;
        self.until = self.until.max(at);
        self.hall.advance(at);
        self.step(at);
        Some(RerunStep::Events(self.take_events()))
    }

    fn take_events(&mut self) -> Vec<Event> {
        let explained = self.hall.take_events();
        explained.into_iter().map(|explained| explained.event).collect()
    }

    /// Handles a reload of the configuration: the events up to it come first, under the previous configuration.
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

    /// Handles a start that creates all boards anew: the events of the previous boards up to the start come first.
    /// Drops events that the previous process ended too early to publish.
    fn end_boards(&mut self, run: Run) -> RerunStep {
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

    /// Passes the next packet or command up to the time `at` to the hall.
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

    /// Handles a start of the daemon: applies its configuration, and restores the boards that continue from the journal
    /// alone.
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

    pub(super) fn until(&self) -> Timestamp {
        self.until
    }

    /// The files that could not be read to their end, with the reasons.
    pub(super) fn damaged(&self) -> &[(PathBuf, CaptureError)] {
        self.inputs.packets().damaged()
    }

    /// Seq of a board's last event; 0 if the board is unknown.
    pub(super) fn last_seq(&self, board: &str) -> u64 {
        self.hall.board(board).map_or(0, |board| board.last_seq())
    }

    /// Raises the last seqs of boards to those in `numbers`, unless theirs are higher.
    pub(super) fn count_on_after(&mut self, numbers: &BTreeMap<String, u64>) {
        self.hall.count_on_after(numbers);
    }

    /// Advances the hall after the last step, at least to `known`, a time up to which the daemon was running. Returns
    /// the events of the boards.
    pub(super) fn advance(&mut self, known: Timestamp) -> Vec<Event> {
        self.until = self.until.max(known);
        self.hall.advance(self.until);
        self.take_events()
    }

    /// Closes all open ports. Returns them and the resulting events.
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

    pub(super) fn into_hall(self) -> Hall {
        self.hall
    }
}

/// The commands in the journal that boards took after the seqs in `after`, in order of time.
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
