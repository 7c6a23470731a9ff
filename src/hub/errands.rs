//! Commands of those at the desk, on their way to the daemons and back.

use core::time::Duration;

use kiebitz_game::command::{Answer, Command, Order};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::outputs::shared::to_hall::{Request, RequestOutcome, Unanswered};
use crate::system_time::Moment;

/// A board: its hall, and the level in its topics.
pub(super) type HallBoard = (usize, String);

/// Commands that wait for an answer, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Errands {
    waiting: Vec<Errand>,
}

#[derive(Debug)]
struct Errand {
    place: HallBoard,
    id: String,
    sent: Moment,
    /// The round that it begins.
    round: Option<u32>,
    answer: oneshot::Sender<RequestOutcome>,
    /// What is said where nobody answers.
    silent: Unanswered,
}

/// A daemon answers within that, over two brokers and a bridge. Later it is not to do anything any more.
pub(super) const PATIENCE: Duration = Duration::from_secs(6);
/// More commands than this wait for nobody.
const MAX_WAITING: usize = 256;

impl Errands {
    /// A command was sent, of which the answer goes back to who gave it.
    pub(super) fn wait(&mut self, now: Moment, place: HallBoard, request: Request, silent: Unanswered) {
        self.waiting.retain(|errand| !errand.answer.is_closed());
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.remove(0);
        }
        let round = match &request.command.order {
            Order::StartRound(start) => start.round,
            _ => None,
        };
        self.waiting.push(Errand {
            place,
            round,
            id: request.command.id,
            sent: now,
            answer: request.answer,
            silent,
        });
    }

    /// A daemon answers. Others may have asked it as well. Returns the round that begins by this.
    pub(super) fn answer(&mut self, place: &HallBoard, answer: Answer) -> Option<u32> {
        self.waiting.retain(|errand| !errand.answer.is_closed());
        let mut waiting = self.waiting.iter();
        let asked =
            waiting.position(|errand| errand.place == *place && Some(&errand.id) == answer.id.as_ref());
        let errand = self.waiting.remove(asked?);
        let round = errand.round.filter(|_| answer.ok);
        let _ = errand.answer.send(Ok(answer));
        round
    }

    /// Says to those who have waited in vain that they did.
    pub(super) fn give_up(&mut self, now: Moment) {
        let late = |errand: &mut Errand| now >= errand.sent + PATIENCE;
        for errand in self.waiting.extract_if(.., late) {
            let _ = errand.answer.send(Err(errand.silent));
        }
    }
}

/// A command as it is sent to the daemon that knows the board `name` by another name, and its games by theirs.
pub(super) fn text(command: &Command, name: &str) -> String {
    let mut fields = command.arguments.as_object().cloned().unwrap_or_default();
    if let Some(Value::String(game)) = fields.get_mut("game")
        && let Some(own) = game.strip_prefix(&game_of(name, ""))
    {
        *game = own.to_owned();
    }
    for (field, value) in [
        ("id", &*command.id),
        ("do", command.action.as_str()),
        ("by", &*command.by),
    ] {
        fields.insert(field.to_owned(), value.into());
    }
    Value::Object(fields).to_string()
}

/// A game's id where boards of several halls may have the same name.
pub(super) fn game_of(name: &str, game: &str) -> String {
    format!("{name}: {game}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::after(Duration::from_secs(seconds))
    }

    fn place(board: &str) -> HallBoard {
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

    fn silent() -> Unanswered {
        Unanswered::Silent {
            daemon: "pi".to_owned(),
            topic: "t".to_owned(),
        }
    }

    fn request(errands: &mut Errands, second: u64, board: &str) -> oneshot::Receiver<RequestOutcome> {
        given(errands, second, board, r#"{"id":"1","do":"new_game"}"#)
    }

    fn given(
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
        errands.wait(at(second), place(board), request, silent());
        answered
    }

    #[test]
    fn each_gets_the_answer_to_what_they_asked() {
        let mut errands = Errands::default();
        let mut first = request(&mut errands, 0, "a");
        let mut other = request(&mut errands, 0, "b");
        let mut again = request(&mut errands, 1, "a");
        errands.answer(&place("a"), answer("2", "of somebody else"));
        errands.answer(&place("c"), answer("1", "of another board"));
        assert!(first.try_recv().is_err());
        errands.answer(&place("a"), answer("1", "once"));
        errands.answer(&place("a"), answer("1", "twice"));
        errands.answer(&place("a"), answer("1", "nobody waits"));
        assert_eq!(first.try_recv(), Ok(Ok(answer("1", "once"))));
        assert_eq!(again.try_recv(), Ok(Ok(answer("1", "twice"))));
        assert!(other.try_recv().is_err());
    }

    #[test]
    fn who_waits_in_vain_is_told_so() {
        let mut errands = Errands::default();
        drop(request(&mut errands, 0, "a"));
        let mut first = request(&mut errands, 0, "a");
        let mut second = request(&mut errands, 3, "a");
        errands.give_up(at(5));
        assert!(first.try_recv().is_err());
        errands.give_up(at(6));
        assert_eq!(first.try_recv(), Ok(Err(silent())));
        errands.answer(&place("a"), answer("1", "late"));
        assert_eq!(second.try_recv(), Ok(Ok(answer("1", "late"))));
    }

    #[test]
    fn a_round_begins_when_it_is_answered_that_it_does() {
        let mut errands = Errands::default();
        let start = |errands: &mut Errands, ok| {
            let command = r#"{"id":"1","do":"start_round","round":5}"#;
            let _answered = given(errands, 0, "a", command);
            let answer = Answer {
                ok,
                ..answer("1", "")
            };
            errands.answer(&place("a"), answer)
        };
        assert_eq!(start(&mut errands, false), None);
        assert_eq!(start(&mut errands, true), Some(5));
        let _answered = request(&mut errands, 0, "a");
        assert_eq!(errands.answer(&place("a"), answer("1", "")), None);
    }

    #[test]
    fn a_daemon_is_told_who_asks_and_its_own_game() {
        let text = |given: &str, name: &str| {
            let command = Command {
                by: "A. Meier".to_owned(),
                ..Command::parse(given).expect("a command")
            };
            serde_json::from_str::<Value>(&text(&command, name)).expect("JSON")
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
