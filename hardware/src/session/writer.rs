//! Decides which commands to send to a board, and when.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_protocol::{ClockMessage, Command, Decoded, Message};

use super::question::{self, MAX_ANSWER_TIME, OPENING_COMMANDS, SIGN_OF_LIFE};
use super::settings::SessionSettings;
use super::watch::Watch;
use crate::facts::INPUT_BUFFER;
use crate::time::Timestamp;

/// The part of a session that writes. It sends one query at a time, and the next after the answer has arrived or timed
/// out.
#[derive(Debug)]
pub(super) struct SessionWriter {
    settings: SessionSettings,
    /// `None` if the port is closed or must be closed.
    open: Option<Open>,
    close: Option<String>,
    /// End of the text that the clock was displaying when the port was closed.
    interrupted_text_end: Option<Timestamp>,
}

#[derive(Debug)]
struct Open {
    watch: Watch,
    agenda: VecDeque<Command>,
    pending_query: Option<PendingQuery>,
    /// Queries for serial numbers that remained unanswered.
    unanswered_numbers: Vec<Command>,
    /// When the serial numbers were last queried. `None` if a dump was requested since.
    numbers_requested_at: Option<Timestamp>,
    number_requests: u8,
    /// Number of consecutive dump requests that were answered by garbage.
    collisions: u8,
    /// Unsent bytes of a command that is too long for the board's input buffer.
    rest: Vec<u8>,
    outbox: Option<Vec<u8>>,
    earliest_write: Timestamp,
    /// When to restore the times on the clock's display.
    text_until: Option<Timestamp>,
    battery_due: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct PendingQuery {
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
            interrupted_text_end: None,
        }
    }

    pub(super) fn handle_opened(&mut self, now: Timestamp) {
        self.close = None;
        self.open = Some(Open {
            watch: Watch::opened(now),
            agenda: OPENING_COMMANDS.into(),
            pending_query: None,
            unanswered_numbers: Vec::new(),
            numbers_requested_at: None,
            number_requests: 0,
            collisions: 0,
            rest: Vec::new(),
            outbox: None,
            earliest_write: now + BETWEEN_COMMANDS,
            text_until: self.interrupted_text_end.take(),
            battery_due: self.settings.battery.map(|_| now),
        });
    }

    pub(super) fn handle_closed(&mut self) {
        self.close_port();
        self.close = None;
    }

    pub(super) fn handle_decoded(&mut self, now: Timestamp, decoded: &Decoded<'_>) {
        let Some(open) = &mut self.open else { return };
        open.watch.handle_decoded(now, decoded);
        if matches!(decoded, Ok(Message::BoardDump(_))) {
            open.collisions = 0;
        }
        if let (Ok(message), Some(pending_query)) = (decoded, &open.pending_query)
            && question::answers(message, &pending_query.command)
        {
            open.pending_query = None;
            open.earliest_write = open.earliest_write.max(now + BETWEEN_COMMANDS);
        }
    }

    /// Notes the arrival of bytes that do not complete a message.
    pub(super) fn handle_partial(&mut self, now: Timestamp) {
        if let Some(open) = &mut self.open {
            open.watch.last_partial_at = now;
        }
    }

    /// Notes that the driver has written the bytes. Starts the timeout of the answer.
    pub(super) fn handle_sent(&mut self, now: Timestamp) {
        let Some(open) = &mut self.open else { return };
        open.earliest_write = open.earliest_write.max(now + BETWEEN_COMMANDS);
        if let Some(pending_query) = &mut open.pending_query {
            pending_query.at = now;
        }
    }

    pub(super) fn show(&mut self, now: Timestamp, text: &str) {
        let Some(open) = self.open.as_mut().filter(|open| open.watch.has_clock()) else {
            return;
        };
        open.agenda
            .retain(|command| !matches!(command, Command::Clock(_)));
        open.agenda.push_back(question::show(text));
        open.earliest_write = open.earliest_write.max(now);
    }

    pub(super) fn recall(&mut self, now: Timestamp, wanted: bool) {
        if let Some(open) = &mut self.open
            && core::mem::replace(&mut open.watch.memory_wanted, wanted) != wanted
        {
            open.earliest_write = open.earliest_write.max(now);
        }
    }

    pub(super) fn handle_deadline(&mut self, now: Timestamp) {
        let Some(open) = &mut self.open else { return };
        if let Err(reason) = open.handle_due(now, &self.settings) {
            self.close = Some(reason.to_owned());
            self.close_port();
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

    fn close_port(&mut self) {
        if let Some(open) = self.open.take() {
            self.interrupted_text_end = open.text_until;
        }
    }
}

impl Open {
    /// Returns when [`handle_due`](Self::handle_due) will have something to do. `None` until the driver has taken the
    /// bytes to write.
    fn deadline(&self, settings: &SessionSettings) -> Option<Timestamp> {
        if self.outbox.is_some() {
            return None;
        }
        if !self.rest.is_empty() {
            return Some(self.earliest_write);
        }
        if let Some(due) = self
            .pending_query
            .as_ref()
            .and_then(|pending_query| self.answer_due(pending_query))
        {
            return Some(due);
        }
        if !self.agenda.is_empty() {
            return Some(self.earliest_write);
        }
        let next_due = [
            self.watch.dump_due(settings),
            self.watch.memory_due(settings),
            self.text_until,
            self.battery_due,
        ]
        .into_iter()
        .flatten()
        .fold(self.watch.silence_due(settings), Timestamp::min);
        Some(next_due.max(self.earliest_write))
    }

    /// Performs the next action if it is due by `now`.
    ///
    /// # Errors
    ///
    /// Fails with the reason if the port must be closed.
    fn handle_due(&mut self, now: Timestamp, settings: &SessionSettings) -> Result<(), &'static str> {
        if self.deadline(settings).is_none_or(|due| now < due) {
            return Ok(());
        }
        if !self.rest.is_empty() {
            self.write(now);
            return Ok(());
        }
        if let Some(pending_query) = self.pending_query.take() {
            return self.unanswered(now, pending_query, settings);
        }
        if self.agenda.is_empty() {
            self.plan(now, settings);
        }
        if self.agenda.front() == Some(&Command::SendBoard) {
            self.recheck_numbers();
            if now < self.earliest_write {
                return Ok(());
            }
        }
        if let Some(command) = self.agenda.pop_front() {
            if matches!(command, Command::Clock(ClockMessage::Text(_))) {
                self.text_until = Some(now + settings.text_time);
            }
            self.send_query(now, command, now, 1);
        }
        Ok(())
    }

    /// Returns when to stop waiting for the answer. Arriving bytes extend the wait: the memory takes 8.3 s, and a board
    /// that is still sending its memory to an earlier host answers the first query only afterwards. The total wait is
    /// limited, because endless garbage is not an answer.
    fn answer_due(&self, pending_query: &PendingQuery) -> Option<Timestamp> {
        let expected = question::expected(&pending_query.command)?;
        let timeout_at = pending_query.at.max(self.watch.last_partial_at) + expected.timeout;
        let limit = match pending_query.command {
            Command::SendVersion | Command::SendEeMoves => MAX_ANSWER_TIME,
            _ => expected.timeout * 3,
        };
        Some(timeout_at.min(pending_query.at + limit))
    }

    fn unanswered(
        &mut self,
        now: Timestamp,
        pending_query: PendingQuery,
        settings: &SessionSettings,
    ) -> Result<(), &'static str> {
        let Some(expected) = question::expected(&pending_query.command) else {
            return Ok(());
        };
        let silent = self.watch.last_message_at < pending_query.first_at;
        // A board that sends other messages is connected. It either missed the query or does not support it.
        let max_tries = if silent {
            expected.tries
        } else {
            expected.tries.min(2)
        };
        // A wrong serial number would identify another board, and without the memory games would be lost. Therefore
        // these queries are repeated if garbage arrived.
        let is_number = matches!(
            pending_query.command,
            Command::ReturnSerialNumber | Command::ReturnLongSerialNumber
        );
        let garbage = self.watch.garbage_at.is_some_and(|at| at >= pending_query.at);
        let garbled = garbage && (is_number || pending_query.command == Command::SendEeMoves);
        if settings.shared && garbage && pending_query.command == Command::SendBoard {
            self.collisions += 1;
            if self.collisions >= MAX_COLLISIONS {
                return Err(SEVERAL_BOARDS);
            }
        }
        let again = pending_query.tries < max_tries || garbled;
        if again && now.saturating_duration_since(pending_query.first_at) < MAX_ANSWER_TIME {
            self.send_query(
                now,
                pending_query.command,
                pending_query.first_at,
                pending_query.tries.saturating_add(1),
            );
        } else if is_number && !self.unanswered_numbers.contains(&pending_query.command) {
            self.unanswered_numbers.push(pending_query.command);
            self.requery_number(pending_query.command);
            self.earliest_write = self.earliest_write.max(now + BETWEEN_COMMANDS);
        } else if pending_query.command == Command::SendBoard && !silent {
            // The board missed the query but has sent messages since. Its memory has the changes that it did not
            // report.
            self.watch.note_loss(now);
            self.earliest_write = self.earliest_write.max(now + BETWEEN_COMMANDS);
        } else if silent && expected.required {
            return Err(self.watch.reason());
        } else if pending_query.command == Command::SendEeMoves && silent {
            // The board has sent nothing at all. The memory is requested again after its next message.
            self.watch.note_loss(now);
            self.watch.memory_requested_at = None;
            self.earliest_write = self.earliest_write.max(now + BETWEEN_COMMANDS);
        } else {
            self.earliest_write = self.earliest_write.max(now + BETWEEN_COMMANDS);
        }
        Ok(())
    }

    /// Queries a serial number once more, after the version. Not every board has serial numbers, but every board has a
    /// version, so the answer to the version query shows that the line works.
    fn requery_number(&mut self, number: Command) {
        let mode = self.agenda.iter().position(|next| *next == Command::UpdateNice);
        let mut rest = self.agenda.split_off(mode.unwrap_or(0));
        if !self.agenda.contains(&Command::SendVersion) {
            self.agenda.push_back(Command::SendVersion);
        }
        self.agenda.push_back(number);
        self.agenda.append(&mut rest);
    }

    /// Queries the serial numbers again before the first dump if garbage arrived around them, after the line has become
    /// calm. A board counts as connected from its first dump, and wrong numbers would identify another board.
    fn recheck_numbers(&mut self) {
        let Some(requested_at) = self.numbers_requested_at.take() else {
            return;
        };
        let calm_at = self.watch.garbage_at.map(|at| at + CALM_TIME);
        let calm_at = calm_at.filter(|at| *at >= requested_at && self.number_requests < MAX_NUMBER_REQUESTS);
        if let Some(calm_at) = calm_at {
            self.agenda.push_front(Command::ReturnLongSerialNumber);
            self.agenda.push_front(Command::ReturnSerialNumber);
            self.earliest_write = self.earliest_write.max(calm_at);
        }
    }

    /// Fills the empty agenda with the commands that are due.
    fn plan(&mut self, now: Timestamp, settings: &SessionSettings) {
        let is_due = |due: Option<Timestamp>| due.is_some_and(|due| due <= now);
        if is_due(Some(self.watch.silence_due(settings))) {
            self.agenda.extend(SIGN_OF_LIFE);
        } else if is_due(self.watch.memory_due(settings)) {
            self.agenda.push_back(Command::SendEeMoves);
        } else if is_due(self.watch.dump_due(settings)) {
            self.agenda.push_back(Command::SendBoard);
        } else if is_due(self.text_until) {
            self.text_until = None;
            self.agenda.push_back(Command::Clock(ClockMessage::End));
        } else if is_due(self.battery_due) {
            self.battery_due = settings.battery.map(|every| now + every);
            self.agenda.push_back(Command::SendBatteryStatus);
        }
    }

    fn send_query(&mut self, now: Timestamp, command: Command, first_at: Timestamp, tries: u8) {
        if command == Command::SendBoard {
            self.watch.dump_requested_at = Some(now);
        }
        if command == Command::ReturnSerialNumber {
            self.numbers_requested_at = Some(now);
            self.number_requests = self.number_requests.saturating_add(1);
        }
        if command == Command::SendEeMoves {
            self.watch.memory_requested_at = Some(now);
            self.watch.memory_wanted = false;
        }
        self.pending_query = question::expected(&command).map(|_| PendingQuery {
            command,
            first_at,
            at: now,
            tries,
        });
        command.encode(&mut self.rest);
        self.write(now);
    }

    /// Passes as many bytes to the driver as the board's buffer holds.
    fn write(&mut self, now: Timestamp) {
        let rest = self.rest.split_off(self.rest.len().min(INPUT_BUFFER));
        self.outbox = Some(core::mem::replace(&mut self.rest, rest));
        self.earliest_write = now + BETWEEN_COMMANDS;
    }
}

/// Time in which the board receives a command and reads it from its buffer. 10 bytes take 10 ms on the line.
const BETWEEN_COMMANDS: Duration = Duration::from_millis(50);
/// Number of consecutive damaged dumps after which another board is assumed on the line.
const MAX_COLLISIONS: u8 = 4;
/// Time after garbage until the line counts as calm. An answer closer to garbage may be damaged.
const CALM_TIME: Duration = Duration::from_secs(1);
/// Maximum number of queries for the serial numbers, so that a line that is never calm does not delay its board
/// forever.
const MAX_NUMBER_REQUESTS: u8 = 4;
const SEVERAL_BOARDS: &str = "the answers are unreadable: perhaps several boards answer at once";
