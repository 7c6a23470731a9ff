//! The commands that a session sends, and the answers to expect.

use core::time::Duration;

use kiebitz_protocol::{ClockMessage, ClockText, Command, Message};

use crate::facts::CLOCK_MESSAGE_TIME;

/// See [`Session::MAX_ANSWER_TIME`](super::Session::MAX_ANSWER_TIME).
pub(super) const MAX_ANSWER_TIME: Duration = Duration::from_secs(12);

/// Commands after the port has been opened, in this order.
///
/// There is no reset (0x40) at the start: it would interrupt a board that is still reporting a game when the daemon
/// restarts, and it is not needed, because update-nice mode replaces every other mode. A reset would also be lost if an
/// earlier host left an incomplete clock message in the board. Instead, the first query is repeated until the board
/// answers it.
///
/// Version and serial numbers come before the dump, because a board counts as connected from its first dump. The mode
/// comes before the dump, so that no change is lost between the two. The memory is requested only if the host asks for
/// it: see [`Session::recall`](super::Session::recall).
pub(super) const OPENING_COMMANDS: [Command; 7] = [
    Command::SendVersion,
    Command::ReturnSerialNumber,
    Command::ReturnLongSerialNumber,
    Command::UpdateNice,
    Command::SendClock,
    Command::SendBoard,
    Command::SendTrademark,
];

/// Commands to a board that has been silent. It may have lost its power and thereby its mode; the dump includes changes
/// that it did not report.
pub(super) const SIGN_OF_LIFE: [Command; 2] = [Command::UpdateNice, Command::SendBoard];

/// Timeout of a query and number of attempts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    /// Maximum time without bytes before and within the answer.
    pub(super) timeout: Duration,
    /// Maximum number of attempts if the board sends nothing at all.
    pub(super) tries: u8,
    /// Whether every board can answer, so that a missing answer means that no board is connected.
    pub(super) required: bool,
}

/// Returns the timeout and attempts for a command, or `None` if the command has no answer.
pub(super) fn expected(command: &Command) -> Option<Expected> {
    let (timeout, tries, required) = match command {
        Command::SendVersion => (Duration::from_millis(1500), 8, true),
        Command::SendBoard => (Duration::from_millis(1000), 5, true),
        Command::SendEeMoves => (Duration::from_millis(1000), 2, false),
        Command::SendClock => (Duration::from_millis(500), 1, false),
        // The description of the protocol requires this pause between clock messages that are not acknowledged.
        Command::Clock(_) => (CLOCK_MESSAGE_TIME, 1, false),
        // Old boards do not support all of these commands.
        Command::SendTrademark | Command::SendBatteryStatus => (Duration::from_millis(500), 2, false),
        // `requery_number` repeats these after a query that every board answers.
        Command::ReturnSerialNumber | Command::ReturnLongSerialNumber => {
            (Duration::from_millis(500), 1, false)
        }
        _ => return None,
    };
    Some(Expected {
        timeout,
        tries,
        required,
    })
}

pub(super) fn answers(message: &Message<'_>, command: &Command) -> bool {
    match message {
        Message::BatteryStatus(_) => matches!(command, Command::SendBatteryStatus),
        Message::BoardDump(_) => matches!(command, Command::SendBoard),
        Message::ClockAbsent(_) | Message::ClockTimes(_) => matches!(command, Command::SendClock),
        Message::ClockAck(ack) => matches!(command, Command::Clock(_)) && !ack.is_unsolicited(),
        Message::EeMoves(_) => matches!(command, Command::SendEeMoves),
        Message::LongSerialNumber(_) => matches!(command, Command::ReturnLongSerialNumber),
        Message::SerialNumber(_) => matches!(command, Command::ReturnSerialNumber),
        Message::Trademark(_) => matches!(command, Command::SendTrademark),
        Message::Version { .. } => matches!(command, Command::SendVersion),
        Message::BusAddress(_) | Message::FieldUpdate(_) | Message::Unknown { .. } => false,
    }
}

/// Returns the clock message that shows a text.
///
/// A board that misses the start of the message would execute the text as commands, and capital letters are commands:
/// N starts the boot loader. Therefore the text is sent as lower-case letters, digits and a few other characters; all
/// others become spaces.
pub(super) fn show(text: &str) -> Command {
    let harmless: String = text
        .chars()
        .map(|character| match character.to_ascii_lowercase() {
            harmless @ ('a'..='z' | '0'..='9' | '.' | ',' | ':' | '-' | '=' | '/') => harmless,
            _ => ' ',
        })
        .collect();
    Command::Clock(ClockMessage::Text(ClockText::new(&harmless, 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(command: Command) -> Vec<u8> {
        let mut bytes = Vec::new();
        command.encode(&mut bytes);
        bytes
    }

    #[test]
    fn no_character_of_a_text_is_a_command_by_itself() {
        for character in (0..=0x2ff_u32).filter_map(char::from_u32) {
            let wire = bytes(show(&character.to_string().repeat(8)));
            assert_eq!(wire.len(), 14);
            for byte in &wire[4..] {
                assert!(
                    Command::decode(&[*byte]).is_err(),
                    "{character:?} is sent as {byte:#04x}"
                );
            }
        }
    }

    #[test]
    fn a_text_is_sent_in_lower_case() {
        assert_eq!(&bytes(show("Board 12"))[4..12], b"board 12");
        assert_eq!(&bytes(show("Weiß+@"))[4..12], b"wei     ");
    }

    #[test]
    fn no_session_command_resets_the_board_or_switches_it_to_bus_mode() {
        for command in OPENING_COMMANDS.iter().chain(&SIGN_OF_LIFE) {
            assert!(
                !matches!(command, Command::Reset | Command::ToBusMode),
                "{command:?}"
            );
        }
    }
}
