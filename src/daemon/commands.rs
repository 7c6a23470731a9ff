//! Commands from the broker, each carried out once and answered, and those of programs that set up positions.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

use anyhow::Result;
use kiebitz_game::command::{Answer, Command, Order, Paired, Refusal, SetResult, StandingDecision};
use kiebitz_game::events::{Action, Event, EventKind, LIVE_STREAM};
use kiebitz_game::hall::Hall;
use kiebitz_game::laws::Language;
use kiebitz_hardware::Timestamp;
use serde_json::json;
use tokio::sync::mpsc;

use super::gate::Asker;
use super::pairings::Pairings;
use super::recall::Recall;
use crate::journal::{Journal, JournalError};
use crate::outputs::mqtt::{Received, is_level_of};
use crate::outputs::shared::to_hall::Request;
use crate::tournament::seating::Seating;

/// Takes commands.
#[derive(Debug)]
pub(super) struct Commands {
    received: Option<mpsc::Receiver<Received>>,
    requests: mpsc::Receiver<Request>,
    recall: Recall,
    /// What was done, by board and id.
    done: HashMap<(String, String), Done>,
    /// The same, oldest first.
    order: VecDeque<(String, String)>,
}

/// Where a command comes from.
#[derive(Debug)]
pub(super) enum CommandSource {
    /// A hub wants events once more.
    Resend(Received),
    ToBroker(Received),
    Hall(Request),
    /// A command for a board that follows from the pairings.
    Paired(String, Command),
    /// A command, completed with the game that it names as far as the journal has that game.
    Recalled(Box<PendingCommand>),
}

/// A command for a board, with where its answer goes.
#[derive(Debug)]
pub(super) struct PendingCommand {
    pub(super) board: String,
    pub(super) command: Command,
    /// Who waits for the answer; `None` if the command follows from the pairings.
    asker: Option<Asker>,
}

/// A command that was answered.
#[derive(Debug)]
struct Done {
    action: Action,
    by: String,
    arguments: serde_json::Value,
    answer: Answer,
}

/// So many commands may wait.
pub(super) const WAITING: usize = 64;
/// So many are remembered: a command that comes twice comes soon.
const REMEMBERED: usize = 1000;
/// After a restart, those among so many events of each board: a day has fewer.
const LOOKED_BACK: u64 = 5000;
/// A command is no longer than this, in bytes: one with the moves of the longest game has 10,000.
const MAX_TEXT: usize = 64 << 10;

impl Commands {
    /// `received`: where those of the broker come from; `None`: there are none. `setups`: where positions come from.
    /// `journal` is the file that has the earlier games.
    ///
    /// # Errors
    ///
    /// Fails if a thread cannot be started.
    pub(super) fn new(
        received: Option<mpsc::Receiver<Received>>,
        requests: mpsc::Receiver<Request>,
        journal: PathBuf,
    ) -> Result<Self> {
        Ok(Self {
            received,
            requests,
            recall: Recall::start(journal)?,
            done: HashMap::new(),
            order: VecDeque::new(),
        })
    }

    /// Goes on with the last commands of the journal, so that none of them is carried out twice.
    pub(super) fn go_on(&mut self, journal: &Journal) {
        match last_commands(journal) {
            Ok(events) => events.iter().for_each(|event| self.recall(event)),
            Err(error) => tracing::warn!(
                "cannot read the last commands from the journal; a repeated command is \
                carried out twice: {error}"
            ),
        }
    }

    fn recall(&mut self, event: &Event) {
        let EventKind::CommandTaken {
            id,
            action,
            by,
            arguments,
            error,
            note,
        } = &event.kind
        else {
            return;
        };
        let done = Done {
            action: *action,
            by: by.clone(),
            arguments: arguments.clone(),
            answer: Answer {
                id: Some(id.clone()),
                ok: error.is_none(),
                note: note.clone(),
                error: error.clone(),
                standing: None,
                kept: true,
            },
        };
        self.remember((event.board.clone(), id.clone()), done);
    }

    /// The next one. May be dropped and called again.
    pub(super) async fn next(&mut self) -> CommandSource {
        let received = async {
            match &mut self.received {
                Some(received) => received.recv().await,
                None => None,
            }
        };
        tokio::select! {
            Some(received) = received => {
                if received.is_resend { CommandSource::Resend(received) } else { CommandSource::ToBroker(received) }
            }
            Some(request) = self.requests.recv() => CommandSource::Hall(request),
            Some(asked) = self.recall.next() => CommandSource::Recalled(asked),
            else => core::future::pending().await,
        }
    }

    /// Carries out a command at `now`. Returns the answer, which is to leave after the events that follow.
    pub(super) fn carry_out(
        &mut self,
        now: Timestamp,
        hall: &mut Hall,
        pairings: &Pairings,
        source: CommandSource,
    ) -> Option<(Asker, Answer)> {
        let asked = match source {
            CommandSource::ToBroker(received) => match read(&received) {
                Ok(command) => PendingCommand {
                    board: board_of(hall, &received.board),
                    command,
                    asker: Some(Asker::Broker(received.reply)),
                },
                Err(refused) => {
                    tell(&received.board, &refused);
                    return Some((Asker::Broker(received.reply), refused));
                }
            },
            // That is no command: the journal has the answer.
            CommandSource::Resend(_) => return None,
            // Nobody waits for it any more, and was told so.
            CommandSource::Hall(request) if request.answer.is_closed() => return None,
            CommandSource::Hall(request) => PendingCommand {
                board: request.board,
                command: request.command,
                asker: Some(Asker::Hall(request.answer)),
            },
            CommandSource::Paired(board, command) => PendingCommand {
                board,
                command,
                asker: None,
            },
            CommandSource::Recalled(asked) => return self.finish(now, hall, pairings, *asked),
        };
        let asked = match resolved(hall, pairings, asked) {
            Ok(asked) => asked,
            Err(refused) => {
                let (asker, answer) = *refused;
                return asker.map(|asker| (asker, answer));
            }
        };
        let key = (asked.board.clone(), asked.command.id.clone());
        let is_done = asked.asker.is_some() && self.done.contains_key(&key);
        let game = match hall.board(&asked.board) {
            Some(board) => board.lacks(&asked.command),
            None => asked.command.game(),
        };
        match game.map(str::to_owned).filter(|_| !is_done) {
            // Without the game, the board refuses the command.
            Some(game) => match self.recall.ask(game, asked) {
                Ok(()) => None,
                Err(asked) => self.finish(now, hall, pairings, *asked),
            },
            None => self.finish(now, hall, pairings, asked),
        }
    }

    fn finish(
        &mut self,
        now: Timestamp,
        hall: &mut Hall,
        pairings: &Pairings,
        asked: PendingCommand,
    ) -> Option<(Asker, Answer)> {
        let Some(asker) = asked.asker else {
            // The pairings know by the board's events which commands it has taken.
            let PendingCommand { board, command, .. } = asked;
            match hall.command(now, &board, &command).error {
                None => tracing::info!(
                    board,
                    "{board}: command {} of {} carried out",
                    command.action,
                    command.id
                ),
                Some(error) => {
                    tracing::warn!(
                        board,
                        "{board}: command {} of {} refused: {error}",
                        command.action,
                        command.id
                    )
                }
            }
            return None;
        };
        let answer = self.once(now, hall, pairings.seating(), asked.board.clone(), asked.command);
        tell(&asked.board, &answer);
        Some((asker, answer))
    }

    /// Carries out a command, unless that was done before.
    fn once(
        &mut self,
        now: Timestamp,
        hall: &mut Hall,
        seating: &Seating,
        board: String,
        mut command: Command,
    ) -> Answer {
        let key = (board, command.id.clone());
        if let Some(done) = self.done.get(&key) {
            return done.again(&command);
        }
        seating.complete(&mut command);
        let answer = hall.command(now, &key.0, &command);
        if hall.board(&key.0).is_some() {
            let done = Done {
                action: command.action,
                by: command.by,
                arguments: command.arguments,
                answer: answer.clone(),
            };
            self.remember(key, done);
        }
        answer
    }

    fn remember(&mut self, key: (String, String), done: Done) {
        if self.done.insert(key.clone(), done).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > REMEMBERED {
            if let Some(oldest) = self.order.pop_front() {
                self.done.remove(&oldest);
            }
        }
    }
}

impl Done {
    /// The answer to a command that has the id of this one.
    fn again(&self, command: &Command) -> Answer {
        let same = (self.action, &*self.by, as_sent(&self.arguments))
            == (command.action, &*command.by, as_sent(&command.arguments));
        if same {
            return self.answer.clone();
        }
        refused(
            Some(command.id.clone()),
            format!(
                "the id {:?} was already used for another command, {} by {}; every command needs its own id",
                command.id, self.action, self.by
            ),
        )
    }
}

/// The board that a topic names.
fn board_of(hall: &Hall, level: &str) -> String {
    let mut names = hall.names_of_boards().into_iter();
    let board = names.find(|name| is_level_of(level, name));
    board.unwrap_or_else(|| level.to_owned())
}

/// A command about a game goes to the board of that game. A result for a round and a table becomes one for the game that
/// counts for them, on its board. The table itself gets the result if no board has a game of that pairing. An error has
/// the answer.
fn resolved(
    hall: &Hall,
    pairings: &Pairings,
    mut asked: PendingCommand,
) -> Result<PendingCommand, Box<(Option<Asker>, Answer)>> {
    // The sender of a command about a game need not know the game's board.
    let board = asked.command.game().and_then(|game| pairings.board_of(game));
    if let Some(board) = board {
        board.clone_into(&mut asked.board);
    }
    let Order::SetResult(set) = &mut asked.command.order else {
        return Ok(asked);
    };
    let Some((round, table)) = set.pairing() else {
        return Ok(asked);
    };
    if let Some((board, game)) = pairings.game_of(round, table) {
        set.game = Some(game.to_owned());
        if let Some(arguments) = asked.command.arguments.as_object_mut() {
            arguments.insert("game".to_owned(), json!(game));
        }
        board.clone_into(&mut asked.board);
    } else if !pairings.has_pairing(round, table) {
        let why = format!(
            "round {round} has no table {table}, neither in a pairing file nor with a game; name the game by \
             its id in \"game\""
        );
        let refused = refused(Some(asked.command.id.clone()), why);
        tell(&asked.board, &refused);
        return Err(Box::new((asked.asker, refused)));
    } else if let Some(standing) = standing(pairings, (round, table), &asked.command.by, set) {
        let language = Language::default();
        let refused = asked
            .command
            .answer(Err(&Refusal::ResultDecided(standing)), language);
        tell(&asked.board, &refused);
        return Err(Box::new((asked.asker, refused)));
    } else if hall.board(&asked.board).is_none()
        && let Some(board) = hall.names_of_boards().into_iter().next()
    {
        // The pairing has no board of its own: the entry is kept with another one.
        asked.board = board;
    }
    Ok(asked)
}

/// The entry of another arbiter that a result for a pairing without a game would replace unawares.
fn standing(
    pairings: &Pairings,
    (round, table): (u32, u32),
    by: &str,
    set: &SetResult,
) -> Option<StandingDecision> {
    let entered = pairings.seating().entered(round, table)?;
    if set.result == entered.result.as_str() {
        return None;
    }
    let decision = format!("{} {}", entered.result, entered.reason);
    StandingDecision::against(Some(&entered.decided), by, set.replace, decision)
}

/// The arguments of a command without what kiebitz has added.
fn as_sent(arguments: &serde_json::Value) -> serde_json::Value {
    let mut arguments = arguments.clone();
    if let serde_json::Value::Object(fields) = &mut arguments {
        fields.remove(Paired::FIELD);
    }
    arguments
}

/// The commands among the last events of all boards, the oldest first.
fn last_commands(journal: &Journal) -> Result<Vec<Event>, JournalError> {
    let mut events = Vec::new();
    for (board, last) in journal.boards(LIVE_STREAM)? {
        events.extend(journal.commands(LIVE_STREAM, &board, last.saturating_sub(LOOKED_BACK))?);
    }
    events.sort_by_key(|event| event.ts);
    Ok(events)
}

fn tell(board: &str, answer: &Answer) {
    match &answer.error {
        None => tracing::info!(board, id = answer.id, "{board}: command carried out"),
        Some(error) => tracing::warn!(board, id = answer.id, "{board}: command refused: {error}"),
    }
}

/// The command that was sent, with who sent it.
fn read(received: &Received) -> Result<Command, Answer> {
    if received.text.len() > MAX_TEXT {
        let bytes = received.text.len();
        return Err(refused(
            None,
            format!("the command has {bytes} bytes; at most {MAX_TEXT} are allowed"),
        ));
    }
    let text = core::str::from_utf8(&received.text);
    let text = text.map_err(|_| refused(None, "the command is not UTF-8 text".to_owned()))?;
    let command = Command::parse(text).map_err(|error| refused(id_of(text), error.to_string()))?;
    if received.retained {
        let error = "a command must not be retained: later subscribers would receive it again";
        return Err(refused(Some(command.id), error.to_owned()));
    }
    let claimed = received.by.clone().unwrap_or_else(|| command.by.clone());
    let by = match &received.login {
        Some(login) if claimed == Command::ARBITER || claimed == *login => login.clone(),
        // Several people may share a login; the broker vouches for that alone.
        Some(login) => format!("{claimed} ({login})"),
        None => claimed,
    };
    Ok(Command { by, ..command })
}

/// The id of a text that is no command, if it has one.
fn id_of(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    value.get("id")?.as_str().map(str::to_owned)
}

const fn refused(id: Option<String>, error: String) -> Answer {
    Answer {
        id,
        ok: false,
        note: None,
        error: Some(error),
        standing: None,
        kept: true,
    }
}

#[cfg(test)]
mod tests {
    use kiebitz_game::hall::Names;

    use super::*;
    use crate::config::Config;

    const NOW: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    struct World {
        hall: Hall,
        commands: Commands,
        pairings: Pairings,
    }

    impl World {
        fn new() -> Self {
            let config = "[[board]]\nserial = \"42\"\nname = \"board-1\"\n";
            let config = Config::parse("test.toml".as_ref(), config).expect("a configuration");
            Self {
                hall: Hall::new(LIVE_STREAM, Names::Configured(config.roster())),
                commands: Commands::new(None, mpsc::channel(1).1, "none".into()).expect("a thread"),
                pairings: Pairings::start(&Config::default()).expect("no files"),
            }
        }

        fn says(&mut self, board: &str, login: Option<&str>, text: &[u8]) -> serde_json::Value {
            let received = Received {
                board: board.to_owned(),
                login: login.map(str::to_owned),
                by: None,
                text: text.to_vec().into(),
                retained: false,
                reply: crate::outputs::mqtt::Reply::to("answers"),
                is_resend: false,
            };
            let source = CommandSource::ToBroker(received);
            let (_, answer) = self
                .commands
                .carry_out(NOW, &mut self.hall, &self.pairings, source)
                .expect("an answer");
            serde_json::to_value(&answer).expect("JSON")
        }

        fn taken(&mut self) -> Vec<Event> {
            let said = self.hall.take_events().into_iter().map(|said| said.event);
            said.filter(|event| matches!(event.kind, EventKind::CommandTaken { .. }))
                .collect()
        }
    }

    const NAMES: &[u8] = br#"{"id":"1","do":"set_players","white":"A","black":"B"}"#;

    #[test]
    fn a_command_is_carried_out_once_over_restarts() {
        let mut world = World::new();
        let answer = world.says("board-1", Some("meier"), NAMES);
        assert_eq!(answer["ok"], true, "{answer}");
        assert_eq!(world.says("board-1", Some("meier"), NAMES), answer);
        let taken = world.taken();
        assert_eq!(taken.len(), 1);
        assert_eq!(taken[0].board, "board-1");
        let mut again = World::new();
        taken.iter().for_each(|event| again.commands.recall(event));
        assert_eq!(again.says("board-1", Some("meier"), NAMES), answer);
        // Somebody else cannot mean the same.
        let other = again.says("board-1", Some("mayer"), NAMES);
        assert_eq!(other["ok"], false, "{other}");
        assert!(again.taken().is_empty());
    }

    #[test]
    fn only_the_last_commands_are_remembered() {
        let mut world = World::new();
        for id in 0..=REMEMBERED {
            let text = format!(r#"{{"id":"{id}","do":"annotate","text":"{id}"}}"#);
            world.says("board-1", None, text.as_bytes());
        }
        assert_eq!(world.commands.done.len(), REMEMBERED);
        assert_eq!(world.commands.order.len(), REMEMBERED);
    }

    #[test]
    fn who_sent_it_is_the_login_with_whom_it_names() {
        let mut world = World::new();
        let named = br#"{"id":"2","do":"set_players","white":"A","by":"A. Meier"}"#;
        world.says("board-1", Some("meier"), NAMES);
        world.says("board-1", Some("meier"), named);
        world.says(
            "board-1",
            None,
            br#"{"id":"3","do":"set_players","white":"A","by":"A. Meier"}"#,
        );
        let by = world.taken().into_iter().filter_map(|event| match event.kind {
            EventKind::CommandTaken { by, .. } => Some(by),
            _ => None,
        });
        assert_eq!(by.collect::<Vec<_>>(), ["meier", "A. Meier (meier)", "A. Meier"]);
    }

    #[test]
    fn what_is_no_command_is_answered_all_the_same() {
        let mut world = World::new();
        for (text, id) in [
            (&b"\xff"[..], None),
            (b"[]", None),
            (br#"{"id":"7"}"#, Some("7")),
            (br#"{"id":"7","do":"annotate"}"#, Some("7")),
            (&vec![b' '; MAX_TEXT + 1], None),
        ] {
            let answer = world.says("board-1", None, text);
            assert_eq!(
                (&answer["ok"], answer["id"].as_str()),
                (&false.into(), id),
                "{answer}"
            );
            assert!(answer["error"].is_string());
        }
        let unknown = world.says("board-9", None, NAMES);
        assert!(
            unknown["error"]
                .as_str()
                .is_some_and(|error| error.contains("board-1")),
            "{unknown}"
        );
        assert!(world.taken().is_empty());
    }
}
