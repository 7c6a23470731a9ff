//! Decides what to send to a board, and when.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_protocol::{ClockMessage, Command, Decoded, Message};

use super::question::{self, MAX_ANSWER_TIME, OPENING, SIGN_OF_LIFE};
use super::settings::SessionSettings;
use super::watch::Watch;
use crate::facts::INPUT_BUFFER;
use crate::time::Timestamp;

/// The half of a session that writes. It sends one query at a time, and the next when the answer has come or was given
/// up.
#[derive(Debug)]
pub(super) struct SessionWriter {
    settings: SessionSettings,
    /// `None` while the port is closed, or once it is given up.
    open: Option<Open>,
    close: Option<String>,
    /// When the text is to end that the clock was displaying when the port was closed.
    text_left: Option<Timestamp>,
}

#[derive(Debug)]
struct Open {
    watch: Watch,
    agenda: VecDeque<Command>,
    /// The query that waits for its answer.
    asked: Option<Asked>,
    /// Serial numbers that the board did not give when queried.
    ungiven: Vec<Command>,
    /// When the serial numbers were last queried. `None` after the first dump request that follows.
    numbers_asked_at: Option<Timestamp>,
    /// How many times the serial numbers were queried.
    numbers_asked: u8,
    /// Consecutive dump requests answered by garbage.
    collisions: u8,
    /// Remainder of a command that was too long for the board's input buffer.
    rest: Vec<u8>,
    outbox: Option<Vec<u8>>,
    /// Nothing more is sent before this time.
    free_at: Timestamp,
    /// When the clock's display is to show its times again.
    text_until: Option<Timestamp>,
    battery_due: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    command: Command,
    first_at: Timestamp,
    at: Timestamp,
    tries: u8,
}

impl SessionWriter {
    pub(super) fn new(settings: SessionSettings) -> Self {
        Self {
            settings,
            open: None,
            close: None,
            text_left: None,
        }
    }

    pub(super) fn handle_opened(&mut self, now: Timestamp) {
        let memory = self.settings.read_memory;
        self.close = None;
        self.open = Some(Open {
            watch: Watch::opened(now),
            agenda: OPENING
                .into_iter()
                .filter(|command| memory || *command != Command::SendEeMoves)
                .collect(),
            asked: None,
            ungiven: Vec::new(),
            numbers_asked_at: None,
            numbers_asked: 0,
            collisions: 0,
            rest: Vec::new(),
            outbox: None,
            free_at: now + BETWEEN_COMMANDS,
            text_until: self.text_left.take(),
            battery_due: self.settings.battery.map(|_| now),
        });
    }

    pub(super) fn handle_closed(&mut self) {
        self.shut();
        self.close = None;
    }

    /// Takes in a decoded message or a decoding error.
    pub(super) fn hear(&mut self, now: Timestamp, decoded: &Decoded<'_>) {
        let Some(open) = &mut self.open else { return };
        open.watch.hear(now, decoded);
        if matches!(decoded, Ok(Message::BoardDump(_))) {
            open.collisions = 0;
        }
        if let (Ok(message), Some(asked)) = (decoded, &open.asked)
            && question::answers(message, &asked.command)
        {
            open.asked = None;
            open.free_at = open.free_at.max(now + BETWEEN_COMMANDS);
        }
    }

    /// Notes that bytes came that do not complete a message.
    pub(super) fn hear_part(&mut self, now: Timestamp) {
        if let Some(open) = &mut self.open {
            open.watch.busy_at = now;
        }
    }

    /// Notes that the driver has written the bytes. The time-out of the answer starts now.
    pub(super) fn handle_sent(&mut self, now: Timestamp) {
        let Some(open) = &mut self.open else { return };
        open.free_at = open.free_at.max(now + BETWEEN_COMMANDS);
        if let Some(asked) = &mut open.asked {
            asked.at = now;
        }
    }

    pub(super) fn show(&mut self, now: Timestamp, text: &str) {
        let Some(open) = self.open.as_mut().filter(|open| open.watch.has_clock()) else {
            return;
        };
        open.agenda
            .retain(|command| !matches!(command, Command::Clock(_)));
        open.agenda.push_back(question::show(text));
        open.free_at = open.free_at.max(now);
    }

    pub(super) fn handle_deadline(&mut self, now: Timestamp) {
        let Some(open) = &mut self.open else { return };
        if let Err(reason) = open.work(now, &self.settings) {
            self.close = Some(reason.to_owned());
            self.shut();
        }
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.open.as_ref()?.deadline(&self.settings)
    }

    pub(super) fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        self.handle_deadline(now);
        self.open.as_mut()?.outbox.take()
    }

    pub(super) fn poll_close(&mut self) -> Option<String> {
        self.close.take()
    }

    fn shut(&mut self) {
        if let Some(open) = self.open.take() {
            self.text_left = open.text_until;
        }
    }
}

impl Open {
    /// Returns when [`work`](Self::work) will have something to do. `None` until the driver has taken the bytes to
    /// write.
    fn deadline(&self, settings: &SessionSettings) -> Option<Timestamp> {
        if self.outbox.is_some() {
            return None;
        }
        if !self.rest.is_empty() {
            return Some(self.free_at);
        }
        if let Some(due) = self.asked.as_ref().and_then(|asked| self.answer_due(asked)) {
            return Some(due);
        }
        if !self.agenda.is_empty() {
            return Some(self.free_at);
        }
        let occasion = [
            self.watch.dump_due(settings),
            self.watch.memory_due().filter(|_| settings.read_memory),
            self.text_until,
            self.battery_due,
        ]
        .into_iter()
        .flatten()
        .fold(self.watch.silence_due(settings), Timestamp::min);
        Some(occasion.max(self.free_at))
    }

    /// Does everything that is due by `now`.
    ///
    /// # Errors
    ///
    /// Fails with the reason if the port must be given up.
    fn work(&mut self, now: Timestamp, settings: &SessionSettings) -> Result<(), &'static str> {
        if self.deadline(settings).is_none_or(|due| now < due) {
            return Ok(());
        }
        if !self.rest.is_empty() {
            self.write(now);
            return Ok(());
        }
        if let Some(asked) = self.asked.take() {
            return self.unanswered(now, asked, settings);
        }
        if self.agenda.is_empty() {
            self.plan(now, settings);
        }
        if self.agenda.front() == Some(&Command::SendBoard) {
            self.doubt_numbers();
            if now < self.free_at {
                return Ok(());
            }
        }
        if let Some(command) = self.agenda.pop_front() {
            if matches!(command, Command::Clock(ClockMessage::Text(_))) {
                self.text_until = Some(now + settings.text_time);
            }
            self.ask(now, command, now, 1);
        }
        Ok(())
    }

    /// Returns when to stop waiting for the answer. The wait goes on while bytes keep coming: the memory takes 8.3 s,
    /// and a board that is still sending its memory to a former host answers the first query only afterwards. The total
    /// wait is limited, so that endless garbage does not pass for an answer in transit.
    fn answer_due(&self, asked: &Asked) -> Option<Timestamp> {
        let expected = question::expected(&asked.command)?;
        let patient = asked.at.max(self.watch.busy_at) + expected.patience;
        let limit = match asked.command {
            Command::SendVersion | Command::SendEeMoves => MAX_ANSWER_TIME,
            _ => expected.patience * 3,
        };
        Some(patient.min(asked.at + limit))
    }

    fn unanswered(
        &mut self,
        now: Timestamp,
        asked: Asked,
        settings: &SessionSettings,
    ) -> Result<(), &'static str> {
        let Some(expected) = question::expected(&asked.command) else {
            return Ok(());
        };
        let silent = self.watch.heard_at < asked.first_at;
        // A board that sends other messages is connected. It either missed the query or does not know it.
        let max_tries = if silent {
            expected.tries
        } else {
            expected.tries.min(2)
        };
        // With a garbled serial number, the board would be taken for another one; without its memory, games would be
        // lost. So these two are requested again if garbage came.
        let is_number = matches!(
            asked.command,
            Command::ReturnSerialNumber | Command::ReturnLongSerialNumber
        );
        let garbage = self.watch.garbage_at.is_some_and(|at| at >= asked.at);
        let garbled = garbage && (is_number || asked.command == Command::SendEeMoves);
        if settings.shared && garbage && asked.command == Command::SendBoard {
            self.collisions += 1;
            if self.collisions >= MAX_COLLISIONS {
                return Err(SEVERAL_BOARDS);
            }
        }
        let again = asked.tries < max_tries || garbled;
        if again && now.saturating_duration_since(asked.first_at) < MAX_ANSWER_TIME {
            self.ask(now, asked.command, asked.first_at, asked.tries.saturating_add(1));
        } else if is_number && !self.ungiven.contains(&asked.command) {
            self.ungiven.push(asked.command);
            self.requery_number(asked.command);
            self.free_at = self.free_at.max(now + BETWEEN_COMMANDS);
        } else if asked.command == Command::SendBoard && !silent {
            // The board missed the query but has been heard since. Its memory has the changes that it did not report
            // meanwhile.
            self.watch.missed(now);
            self.free_at = self.free_at.max(now + BETWEEN_COMMANDS);
        } else if silent && expected.vital {
            return Err(self.watch.reason());
        } else if asked.command == Command::SendEeMoves && silent {
            // The board has sent nothing at all meanwhile. The memory is requested again once the board is heard.
            self.watch.missed(now);
            self.watch.memory_asked_at = None;
            self.free_at = self.free_at.max(now + BETWEEN_COMMANDS);
        } else {
            self.free_at = self.free_at.max(now + BETWEEN_COMMANDS);
        }
        Ok(())
    }

    /// Queries a serial number once more, after the version. Not every board has serial numbers, but each has a
    /// version, so the version's answer shows that the line is alive.
    fn requery_number(&mut self, number: Command) {
        let mode = self.agenda.iter().position(|next| *next == Command::UpdateNice);
        let mut rest = self.agenda.split_off(mode.unwrap_or(0));
        if !self.agenda.contains(&Command::SendVersion) {
            self.agenda.push_back(Command::SendVersion);
        }
        self.agenda.push_back(number);
        self.agenda.append(&mut rest);
    }

    /// Queries the serial numbers again before the first dump, once the line is calm, if garbage came around them. A
    /// board counts as connected from its first dump, and with garbled numbers it would be taken for another board.
    fn doubt_numbers(&mut self) {
        let Some(asked_at) = self.numbers_asked_at.take() else {
            return;
        };
        let calm_at = self.watch.garbage_at.map(|at| at + CALM);
        let calm_at = calm_at.filter(|at| *at >= asked_at && self.numbers_asked < MAX_NUMBERS_ASKED);
        if let Some(calm_at) = calm_at {
            self.agenda.push_front(Command::ReturnLongSerialNumber);
            self.agenda.push_front(Command::ReturnSerialNumber);
            self.free_at = self.free_at.max(calm_at);
        }
    }

    /// Fills the empty agenda with the commands that are due.
    fn plan(&mut self, now: Timestamp, settings: &SessionSettings) {
        let come = |due: Option<Timestamp>| due.is_some_and(|due| due <= now);
        if come(Some(self.watch.silence_due(settings))) {
            self.agenda.extend(SIGN_OF_LIFE);
        } else if settings.read_memory && come(self.watch.memory_due()) {
            self.agenda.push_back(Command::SendEeMoves);
        } else if come(self.watch.dump_due(settings)) {
            self.agenda.push_back(Command::SendBoard);
        } else if come(self.text_until) {
            self.text_until = None;
            self.agenda.push_back(Command::Clock(ClockMessage::End));
        } else if come(self.battery_due) {
            self.battery_due = settings.battery.map(|every| now + every);
            self.agenda.push_back(Command::SendBatteryStatus);
        }
    }

    fn ask(&mut self, now: Timestamp, command: Command, first_at: Timestamp, tries: u8) {
        if command == Command::SendBoard {
            self.watch.dump_asked_at = Some(now);
        }
        if command == Command::ReturnSerialNumber {
            self.numbers_asked_at = Some(now);
            self.numbers_asked = self.numbers_asked.saturating_add(1);
        }
        if command == Command::SendEeMoves {
            self.watch.memory_asked_at = Some(now);
        }
        self.asked = question::expected(&command).map(|_| Asked {
            command,
            first_at,
            at: now,
            tries,
        });
        command.encode(&mut self.rest);
        self.write(now);
    }

    /// Hands the driver as many bytes as the board's buffer holds.
    fn write(&mut self, now: Timestamp) {
        let rest = self.rest.split_off(self.rest.len().min(INPUT_BUFFER));
        self.outbox = Some(core::mem::replace(&mut self.rest, rest));
        self.free_at = now + BETWEEN_COMMANDS;
    }
}

/// Time for the board to take a command out of its buffer. 10 bytes take 10 ms on the line.
const BETWEEN_COMMANDS: Duration = Duration::from_millis(50);
/// Consecutive damaged dumps after which another board must be colliding.
const MAX_COLLISIONS: u8 = 4;
/// Time after garbage until the line counts as calm. Garbage closer to an answer may have garbled it.
const CALM: Duration = Duration::from_secs(1);
/// Maximum queries for the serial numbers, so that a line that is never calm does not delay its board for good.
const MAX_NUMBERS_ASKED: u8 = 4;
const SEVERAL_BOARDS: &str = "the answers are unreadable: perhaps several boards answer at once";
