//! The commands of a session, and what may be expected of a board that is sent one.

use core::time::Duration;

use kiebitz_protocol::{ClockMessage, ClockText, Command, Message};

use crate::facts::CLOCK_MESSAGE_TIME;

/// See [`Session::MAX_ANSWER_TIME`](super::Session::MAX_ANSWER_TIME).
pub(super) const MAX_ANSWER_TIME: Duration = Duration::from_secs(12);

/// What is asked once a port is open, in this order.
///
/// No reset (0x40) comes first: it would cut off a board that still reports a game after the daemon was restarted,
/// update-nice mode replaces every other one, and the half of a clock message that a former host may have left
/// would swallow it. Instead the first question is repeated until it is answered.
///
/// Who the board is comes before the dump, with which it counts as connected. The mode comes before the dump, so that
/// no change falls between them. The memory is not read: see [`Session::recall`](super::Session::recall).
pub(super) const OPENING: [Command; 7] = [
    Command::SendVersion,
    Command::ReturnSerialNumber,
    Command::ReturnLongSerialNumber,
    Command::UpdateNice,
    Command::SendClock,
    Command::SendBoard,
    Command::SendTrademark,
];

/// For a board that sends nothing: it may have lost its power and with it its mode, and the dump shows what it did not
/// report.
pub(super) const SIGN_OF_LIFE: [Command; 2] = [Command::UpdateNice, Command::SendBoard];

/// How long and how often an answer is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    /// How long the board may take to begin, and to go on.
    pub(super) patience: Duration,
    /// How often the question is put to a board that sends nothing at all.
    pub(super) tries: u8,
    /// Every board knows the answer: one that owes it is not there.
    pub(super) vital: bool,
}

/// What a command lets expect; `None`: no answer.
pub(super) fn expected(command: &Command) -> Option<Expected> {
    let (patience, tries, vital) = match command {
        Command::SendVersion => (Duration::from_millis(1500), 8, true),
        Command::SendBoard => (Duration::from_millis(1000), 5, true),
        Command::SendEeMoves => (Duration::from_millis(1000), 2, false),
        Command::SendClock => (Duration::from_millis(500), 1, false),
        // As long as the description asks for between clock messages that are not acknowledged.
        Command::Clock(_) => (CLOCK_MESSAGE_TIME, 1, false),
        // Old boards do not know all of them.
        Command::SendTrademark | Command::SendBatteryStatus => (Duration::from_millis(500), 2, false),
        // Asked again after a question that every board answers.
        Command::ReturnSerialNumber | Command::ReturnLongSerialNumber => {
            (Duration::from_millis(500), 1, false)
        }
        _ => return None,
    };
    Some(Expected {
        patience,
        tries,
        vital,
    })
}

/// Whether the message answers the command.
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

/// The clock message that shows a text.
///
/// A board that missed the head of it would take the text for commands, and capitals are commands: N starts the boot
/// loader. So it is sent in small letters, digits, and some of the rest; other characters as spaces.
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
    fn a_text_goes_out_in_small_letters() {
        assert_eq!(&bytes(show("Board 12"))[4..12], b"board 12");
        assert_eq!(&bytes(show("Weiß+@"))[4..12], b"wei     ");
    }

    #[test]
    fn what_a_session_sends_leaves_the_boards_mode_and_loader_alone() {
        for command in OPENING.iter().chain(&SIGN_OF_LIFE) {
            assert!(
                !matches!(command, Command::Reset | Command::ToBusMode),
                "{command:?}"
            );
        }
    }
}
