//! Commands from the desk, on their way to the daemons and back.

use core::time::Duration;

use kiebitz_game::command::{Answer, Command, Order};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::outputs::shared::to_hall::{Request, RequestOutcome, Unanswered};
use crate::system_time::Moment;

/// Identifies a board: index of its hall, and level in its topics.
pub(super) type HallBoard = (usize, String);

/// Commands that wait for an answer, oldest first.
#[derive(Debug, Default)]
pub(super) struct Errands {
    waiting: Vec<Errand>,
}

#[derive(Debug)]
struct Errand {
    key: HallBoard,
    id: String,
    sent: Moment,
    /// The round that the command begins, if any.
    round: Option<u32>,
    answer: oneshot::Sender<RequestOutcome>,
    /// Error to report if no daemon answers in time.
    timeout_error: Unanswered,
}

/// Maximum time for a daemon's answer, over two brokers and a bridge. Messages expire after it, so that a command is
/// not carried out late.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(6);
/// Upper bound for the number of waiting commands, beyond which the oldest is dropped.
const MAX_WAITING: usize = 256;

impl Errands {
    /// Registers a command that was sent, so that its answer reaches the requester.
    pub(super) fn wait(&mut self, now: Moment, key: HallBoard, request: Request, timeout_error: Unanswered) {
        self.waiting.retain(|errand| !errand.answer.is_closed());
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.remove(0);
        }
        let round = match &request.command.order {
            Order::StartRound(start) => start.round,
            _ => None,
        };
        self.waiting.push(Errand {
            key,
            round,
            id: request.command.id,
            sent: now,
            answer: request.answer,
            timeout_error,
        });
    }

    /// Forwards a daemon's answer to its requester. Ignores answers to other clients of the broker. Returns the round
    /// that begins with this answer.
    pub(super) fn answer(&mut self, key: &HallBoard, answer: Answer) -> Option<u32> {
        self.waiting.retain(|errand| !errand.answer.is_closed());
        let mut waiting = self.waiting.iter();
        let position =
            waiting.position(|errand| errand.key == *key && Some(&errand.id) == answer.id.as_ref());
        let errand = self.waiting.remove(position?);
        let round = errand.round.filter(|_| answer.ok);
        let _ = errand.answer.send(Ok(answer));
        round
    }

    /// Reports commands that have waited too long as unanswered.
    pub(super) fn give_up(&mut self, now: Moment) {
        let late = |errand: &mut Errand| now >= errand.sent + ANSWER_TIMEOUT;
        for errand in self.waiting.extract_if(.., late) {
            let _ = errand.answer.send(Err(errand.timeout_error));
        }
    }
}

/// The JSON of a command for the daemon of the board that the hub calls `name`. Game ids are converted to the daemon's,
/// and other fields by `convert`.
///
/// # Errors
///
/// Fails if `convert` does.
pub(super) fn text<E>(
    command: &Command,
    name: &str,
    convert: impl FnOnce(&mut Map<String, Value>) -> Result<(), E>,
) -> Result<String, E> {
    let mut fields = command.arguments.as_object().cloned().unwrap_or_default();
    if let Some(Value::String(game)) = fields.get_mut("game")
        && let Some(own) = game.strip_prefix(&game_of(name, ""))
    {
        *game = own.to_owned();
    }
    convert(&mut fields)?;
    for (field, value) in [
        ("id", &*command.id),
        ("do", command.action.as_str()),
        ("by", &*command.by),
    ] {
        fields.insert(field.to_owned(), value.into());
    }
    Ok(Value::Object(fields).to_string())
}

/// The id of a game in a hub with several halls, whose boards may have the same name.
pub(super) fn game_of(name: &str, game: &str) -> String {
    format!("{name}: {game}")
}

#[cfg(test)]
mod tests {
    use core::convert::Infallible;

    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::after(Duration::from_secs(seconds))
    }

    fn key(board: &str) -> HallBoard {
        (0, board.to_owned())
    }

    fn answer(id: &str, note: &str) -> Answer {
        Answer {
            id: Some(id.to_owned()),
            ok: true,
            note: Some(note.to_owned()),
            error: None,
            standing: None,
            kept: true,
        }
    }

    fn timeout_error() -> Unanswered {
        Unanswered::Silent {
            daemon: "pi".to_owned(),
            topic: "t".to_owned(),
        }
    }

    fn request(errands: &mut Errands, second: u64, board: &str) -> oneshot::Receiver<RequestOutcome> {
        request_with(errands, second, board, r#"{"id":"1","do":"new_game"}"#)
    }

    fn request_with(
        errands: &mut Errands,
        second: u64,
        board: &str,
        command: &str,
    ) -> oneshot::Receiver<RequestOutcome> {
        let command = Command::parse(command).expect("a command");
        let (answer, answered) = oneshot::channel();
        let request = Request {
            board: board.to_owned(),
            command,
            answer,
        };
        errands.wait(at(second), key(board), request, timeout_error());
        answered
    }

    #[test]
    fn each_request_gets_its_own_answer() {
        let mut errands = Errands::default();
        let mut first = request(&mut errands, 0, "a");
        let mut other = request(&mut errands, 0, "b");
        let mut again = request(&mut errands, 1, "a");
        errands.answer(&key("a"), answer("2", "of somebody else"));
        errands.answer(&key("c"), answer("1", "of another board"));
        assert!(first.try_recv().is_err());
        errands.answer(&key("a"), answer("1", "once"));
        errands.answer(&key("a"), answer("1", "twice"));
        errands.answer(&key("a"), answer("1", "nobody waits"));
        assert_eq!(first.try_recv(), Ok(Ok(answer("1", "once"))));
        assert_eq!(again.try_recv(), Ok(Ok(answer("1", "twice"))));
        assert!(other.try_recv().is_err());
    }

    #[test]
    fn unanswered_requests_fail_after_the_maximum_time() {
        let mut errands = Errands::default();
        drop(request(&mut errands, 0, "a"));
        let mut first = request(&mut errands, 0, "a");
        let mut second = request(&mut errands, 3, "a");
        errands.give_up(at(5));
        assert!(first.try_recv().is_err());
        errands.give_up(at(6));
        assert_eq!(first.try_recv(), Ok(Err(timeout_error())));
        errands.answer(&key("a"), answer("1", "late"));
        assert_eq!(second.try_recv(), Ok(Ok(answer("1", "late"))));
    }

    #[test]
    fn a_round_begins_with_a_positive_answer() {
        let mut errands = Errands::default();
        let start = |errands: &mut Errands, ok| {
            let command = r#"{"id":"1","do":"start_round","round":5}"#;
            let _answered = request_with(errands, 0, "a", command);
            let answer = Answer {
                ok,
                ..answer("1", "")
            };
            errands.answer(&key("a"), answer)
        };
        assert_eq!(start(&mut errands, false), None);
        assert_eq!(start(&mut errands, true), Some(5));
        let _answered = request(&mut errands, 0, "a");
        assert_eq!(errands.answer(&key("a"), answer("1", "")), None);
    }

    #[test]
    fn a_command_names_the_sender_and_the_daemons_own_game() {
        let text = |given: &str, name: &str| {
            let command = Command {
                by: "A. Meier".to_owned(),
                ..Command::parse(given).expect("a command")
            };
            let text = text(&command, name, |_| Ok::<_, Infallible>(())).expect("a command");
            serde_json::from_str::<Value>(&text).expect("JSON")
        };
        let given = r#"{"id":"1","do":"set_result","result":"1-0","game":"north/b-1: 2026-11-21-b-1-1"}"#;
        let of_many = text(given, "north/b-1");
        assert_eq!(of_many["game"], "2026-11-21-b-1-1");
        assert_eq!(
            (&of_many["by"], &of_many["do"], &of_many["result"]),
            (&"A. Meier".into(), &"set_result".into(), &"1-0".into())
        );
        let command = Command::parse(&of_many.to_string()).expect("a command");
        assert_eq!(command.by, "A. Meier");
        let of_one = text(&given.replace("north/b-1: ", ""), "b-1");
        assert_eq!(of_one, of_many);
    }
}
