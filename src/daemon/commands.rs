//! Carries out commands from the broker and requests from other outputs, each exactly once.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

use anyhow::Result;
use kiebitz_game::command::{
    Answer, Command, InvalidCommand, Order, Paired, Refusal, SetResult, StandingDecision, marks,
};
use kiebitz_game::events::pairing::PAIRINGS;
use kiebitz_game::events::{Action, Event, EventKind, LIVE_STREAM};
use kiebitz_game::hall::{Hall, ROUNDS};
use kiebitz_game::laws::Language;
use kiebitz_hardware::Timestamp;
use ring::digest::{Digest, SHA256, digest};
use serde_json::json;
use tokio::sync::mpsc;

use super::gate::Asker;
use super::pairings::Pairings;
use super::recall::Recall;
use crate::journal::{Journal, JournalError};
use crate::outputs::mqtt::{Received, is_level_of};
use crate::outputs::shared::to_hall::Request;
use crate::tournament::seating::Seating;

#[derive(Debug)]
pub(super) struct Commands {
    received: Option<mpsc::Receiver<Received>>,
    requests: mpsc::Receiver<Request>,
    recall: Recall,
    /// Outcomes of the latest commands, by board and id.
    done: HashMap<CommandKey, Done>,
    /// The keys of commands in `done` that were carried out, oldest first.
    carried_out: VecDeque<CommandKey>,
    /// The keys of refused commands in `done`, oldest first. Many of them do not displace those that were carried out.
    refused: VecDeque<CommandKey>,
}

#[derive(Debug)]
pub(super) enum CommandSource {
    /// A hub requests events that it has missed.
    Resend(Received),
    ToBroker(Received),
    Hall(Request),
    /// A command for a board, which the pairings require.
    Paired(String, Command),
    /// A command that [`Recall`] has completed with the game that it names, if the journal has that game.
    Recalled(Box<PendingCommand>),
}

#[derive(Debug)]
pub(super) struct PendingCommand {
    pub(super) board: String,
    pub(super) command: Command,
    /// `None` if the command was derived from the pairings.
    asker: Option<Asker>,
}

/// Board and id of a command.
type CommandKey = (String, String);

#[derive(Debug)]
struct Done {
    action: Action,
    by: String,
    /// Digest of the arguments, which may be long.
    arguments: Digest,
    answer: Answer,
}

pub(super) const WAITING: usize = 64;
/// Number of commands that are remembered, and of refused ones. A sender repeats a command soon or never.
const REMEMBERED: usize = 1000;
/// Number of events per board that a restart searches for commands. A day has fewer.
const SEARCHED_EVENTS: u64 = 5000;
/// Length to which text from a sender is cut in the log, in characters.
const LONGEST_LOGGED: usize = 1000;

impl Commands {
    /// `received` yields the commands from the broker, `requests` those from other outputs. `journal` is the path of
    /// the journal, for commands about earlier games.
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
            carried_out: VecDeque::new(),
            refused: VecDeque::new(),
        })
    }

    /// Reads the latest commands from the journal, so that none of them is carried out again.
    pub(super) fn restore(&mut self, journal: &Journal) {
        match last_commands(journal) {
            Ok(commands) => commands
                .into_iter()
                .for_each(|(_, key, done)| self.remember(key, done)),
            Err(error) => tracing::warn!(
                "cannot read the last commands from the journal; a repeated command is \
                carried out twice: {error}"
            ),
        }
    }

    /// The next command. Cancel safe.
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
            Some(pending) = self.recall.next() => CommandSource::Recalled(pending),
            else => core::future::pending().await,
        }
    }

    /// Carries out a command at the time `now`. Returns the answer, which must leave after the resulting events.
    /// Returns `None` if there is no answer to send now.
    pub(super) fn carry_out(
        &mut self,
        now: Timestamp,
        hall: &mut Hall,
        pairings: &Pairings,
        source: CommandSource,
    ) -> Option<(Asker, Answer)> {
        let pending = match source {
            CommandSource::ToBroker(received) => match read(&received) {
                Ok(command) => PendingCommand {
                    board: board_of(hall, &received.board),
                    command,
                    asker: Some(Asker::Broker(received.reply)),
                },
                Err(refused) => {
                    log_outcome(&received.board, &refused);
                    return Some((Asker::Broker(received.reply), refused));
                }
            },
            // [`Resend`](super::resend::Resend) answers it from the journal.
            CommandSource::Resend(_) => return None,
            // The requester no longer waits and has reported a failure.
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
            CommandSource::Recalled(pending) => return self.finish(now, hall, pairings, *pending),
        };
        let resolved = pending
            .not_as_pairings()
            .and_then(|pending| resolved(pairings, pending));
        let pending = match resolved {
            Ok(pending) => pending,
            Err(refused) => {
                let (asker, answer) = *refused;
                return asker.map(|asker| (asker, answer));
            }
        };
        let key = (pending.board.clone(), pending.command.id.clone());
        let is_done = pending.asker.is_some() && self.done.contains_key(&key);
        let game = match hall.board(&pending.board) {
            Some(board) => board.lacks(&pending.command),
            None => pending.command.game(),
        };
        match game.map(str::to_owned).filter(|_| !is_done) {
            // A board refuses a command about a game that the journal does not have.
            Some(game) => match self.recall.request(game, pending) {
                Ok(()) => None,
                Err(pending) => self.finish(now, hall, pairings, *pending),
            },
            None => self.finish(now, hall, pairings, pending),
        }
    }

    fn finish(
        &mut self,
        now: Timestamp,
        hall: &mut Hall,
        pairings: &Pairings,
        pending: PendingCommand,
    ) -> Option<(Asker, Answer)> {
        let Some(asker) = pending.asker else {
            // The pairings learn from the board's events which commands it has carried out.
            let PendingCommand { board, command, .. } = pending;
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
        let answer = self.carry_out_once(
            now,
            hall,
            pairings.seating(),
            pending.board.clone(),
            pending.command,
        );
        log_outcome(&pending.board, &answer);
        Some((asker, answer))
    }

    /// Carries out a command, or repeats the earlier answer if it was carried out before.
    fn carry_out_once(
        &mut self,
        now: Timestamp,
        hall: &mut Hall,
        seating: &Seating,
        board: String,
        mut command: Command,
    ) -> Answer {
        let key = (board, command.id.clone());
        if let Some(done) = self.done.get(&key) {
            return done.answer_again(&command);
        }
        seating.complete(&mut command);
        let answer = hall.command(now, &key.0, &command);
        if hall.board(&key.0).is_some() {
            let done = Done {
                action: command.action,
                by: command.by,
                arguments: as_sent(&command.arguments),
                answer: answer.clone(),
            };
            self.remember(key, done);
        }
        answer
    }

    fn remember(&mut self, key: CommandKey, done: Done) {
        let order = if done.answer.ok {
            &mut self.carried_out
        } else {
            &mut self.refused
        };
        if self.done.insert(key.clone(), done).is_none() {
            order.push_back(key);
        }
        while order.len() > REMEMBERED {
            if let Some(oldest) = order.pop_front() {
                self.done.remove(&oldest);
            }
        }
    }
}

impl Done {
    /// The outcome that an event records, with its board and id. `None` if the event is not about a command.
    fn recorded(event: &Event) -> Option<(CommandKey, Self)> {
        let EventKind::CommandTaken {
            id,
            action,
            by,
            arguments,
            error,
            note,
        } = &event.kind
        else {
            return None;
        };
        let done = Self {
            action: *action,
            by: by.clone(),
            arguments: as_sent(arguments),
            answer: Answer {
                id: Some(id.clone()),
                ok: error.is_none(),
                note: note.clone(),
                error: error.clone(),
                standing: None,
                kept: true,
            },
        };
        Some(((event.board.clone(), id.clone()), done))
    }

    /// The answer to a repeated command, or an error if `command` has the same id but other contents.
    fn answer_again(&self, command: &Command) -> Answer {
        let is_same = (self.action, &*self.by) == (command.action, &*command.by)
            && self.arguments.as_ref() == as_sent(&command.arguments).as_ref();
        if is_same {
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

/// Returns the name of the board for a topic level; the level itself if there is no such board.
fn board_of(hall: &Hall, level: &str) -> String {
    let mut names = hall.names_of_boards().into_iter();
    let board = names.find(|name| is_level_of(level, name));
    board.unwrap_or_else(|| level.to_owned())
}

/// Determines the board of a command. A command about a game goes to the board of that game. A result for a round and a
/// table becomes a result for the game that counts for that pairing. Byes, and results of tables without a game, go to
/// the record of rounds. If the command is refused, the error is the answer.
fn resolved(
    pairings: &Pairings,
    mut pending: PendingCommand,
) -> Result<PendingCommand, Box<(Option<Asker>, Answer)>> {
    // The sender of a command about a game may not know its board.
    let board = pending.command.game().and_then(|game| pairings.board_of(game));
    if let Some(board) = board {
        board.clone_into(&mut pending.board);
    }
    let set = match &mut pending.command.order {
        Order::SetResult(set) => set,
        Order::SetBye(_) => return resolved_bye(pairings, pending),
        _ => return Ok(pending),
    };
    let Some((round, table)) = set.pairing() else {
        return Ok(pending);
    };
    if let Some((board, game)) = pairings.game_of(round, table) {
        set.game = Some(game.to_owned());
        if let Some(arguments) = pending.command.arguments.as_object_mut() {
            arguments.insert("game".to_owned(), json!(game));
        }
        board.clone_into(&mut pending.board);
        return Ok(pending);
    }
    ROUNDS.clone_into(&mut pending.board);
    if !pairings.has_pairing(round, table) {
        let reason = format!(
            "round {round} has no table {table}, neither in a pairing file nor with a game; name the game by \
             its id in \"game\""
        );
        let refused = refused(Some(pending.command.id.clone()), reason);
        return Err(pending.refused(refused));
    }
    match standing(pairings, (round, table), &pending.command.by, set) {
        Some(standing) => Err(pending.refused_for_standing(standing)),
        None => Ok(pending),
    }
}

/// Checks a command about a player without an opponent, and sends it to the record of rounds.
fn resolved_bye(
    pairings: &Pairings,
    mut pending: PendingCommand,
) -> Result<PendingCommand, Box<(Option<Asker>, Answer)>> {
    let Order::SetBye(set) = &pending.command.order else {
        return Ok(pending);
    };
    ROUNDS.clone_into(&mut pending.board);
    if !pairings.seating().is_without_opponent(set.round, &set.player) {
        let reason = format!(
            "{} is not a player without an opponent in round {} of the pairing files: correct the name or the round",
            set.player, set.round
        );
        let refused = refused(Some(pending.command.id.clone()), reason);
        return Err(pending.refused(refused));
    }
    let entered = pairings.seating().bye(set.round, &set.player);
    let other = entered.filter(|(points, _)| Some(*points) != set.points);
    let standing = other.and_then(|(points, decided)| {
        StandingDecision::against(
            Some(decided),
            &pending.command.by,
            set.replace,
            points.to_string(),
        )
    });
    match standing {
        Some(standing) => Err(pending.refused_for_standing(standing)),
        None => Ok(pending),
    }
}

impl PendingCommand {
    /// Refuses a command whose sender claims to be the pairing files. Their commands have effects of their own, and pages
    /// do not show them among those of people.
    fn not_as_pairings(self) -> Result<Self, Box<(Option<Asker>, Answer)>> {
        if self.asker.is_none() || self.command.by != PAIRINGS {
            return Ok(self);
        }
        let reason = format!(
            "{PAIRINGS:?} is the author of the commands from pairing files: send the command under another name"
        );
        let refused = refused(Some(self.command.id.clone()), reason);
        Err(self.refused(refused))
    }

    fn refused(self, answer: Answer) -> Box<(Option<Asker>, Answer)> {
        log_outcome(&self.board, &answer);
        Box::new((self.asker, answer))
    }

    /// Refuses a command that would silently replace another arbiter's entry.
    fn refused_for_standing(self, standing: StandingDecision) -> Box<(Option<Asker>, Answer)> {
        let refusal = Refusal::ResultDecided(standing);
        let answer = self.command.answer(Err(&refusal), Language::default());
        self.refused(answer)
    }
}

/// A message about another arbiter's entry that a result for a pairing without a game would silently replace.
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

/// Returns the digest of a command's arguments without those that kiebitz has added.
fn as_sent(arguments: &serde_json::Value) -> Digest {
    let mut arguments = arguments.clone();
    if let serde_json::Value::Object(fields) = &mut arguments {
        fields.remove(Paired::FIELD);
    }
    digest(&SHA256, arguments.to_string().as_bytes())
}

/// The outcomes of the commands among the latest events of all boards, oldest first, with their keys.
fn last_commands(journal: &Journal) -> Result<Vec<(Timestamp, CommandKey, Done)>, JournalError> {
    let mut commands = Vec::new();
    for (board, last) in journal.boards(LIVE_STREAM)? {
        let events = journal.commands(LIVE_STREAM, &board, last.saturating_sub(SEARCHED_EVENTS))?;
        // The events of all boards at a time, with their arguments, could take a hundred megabytes.
        commands.extend(events.iter().filter_map(|event| {
            let (key, done) = Done::recorded(event)?;
            Some((event.ts, key, done))
        }));
    }
    commands.sort_by_key(|(at, ..)| *at);
    Ok(commands)
}

fn log_outcome(board: &str, answer: &Answer) {
    let (board, id) = (cut(board), answer.id.as_deref().map(cut));
    match &answer.error {
        None => tracing::info!(board, id, "{board}: command carried out"),
        Some(error) => {
            let error = cut(error);
            tracing::warn!(board, id, "{board}: command refused: {error}")
        }
    }
}

/// Cuts text from a sender, which may have made it long, for the log.
fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(LONGEST_LOGGED);
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

fn read(received: &Received) -> Result<Command, Answer> {
    let bytes = received.text.len();
    if bytes > Command::MAX_BYTES {
        return Err(refused(None, InvalidCommand::TooLong { bytes }.to_string()));
    }
    let text = core::str::from_utf8(&received.text);
    let text = text.map_err(|_| refused(None, "the command is not UTF-8 text".to_owned()))?;
    let command = Command::parse(text).map_err(|error| refused(id_of(text), error.to_string()))?;
    if received.retained {
        let error = "a command must not be retained: later subscribers would receive it again";
        return Err(refused(Some(command.id), error.to_owned()));
    }
    let mut claimed = received.by.clone().unwrap_or_else(|| command.by.clone());
    marks::remove(&mut claimed);
    if Command::is_long_name(&claimed) {
        let error = InvalidCommand::LongName("by".to_owned()).to_string();
        return Err(refused(Some(command.id), error));
    }
    let by = match &received.login {
        Some(login) if claimed == Command::ARBITER || claimed == *login => login.clone(),
        // Several people may share a login, and the broker vouches only for the login.
        Some(login) => format!("{claimed} ({login})"),
        None => claimed,
    };
    Ok(Command { by, ..command })
}

/// The id of an invalid command, if it can be read.
fn id_of(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let id = value.get("id")?.as_str()?;
    (!Command::is_long_name(id)).then(|| id.to_owned())
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

        fn send(&mut self, board: &str, login: Option<&str>, text: &[u8]) -> serde_json::Value {
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

        fn events(&mut self) -> Vec<Event> {
            let events = self
                .hall
                .take_events()
                .into_iter()
                .map(|explained| explained.event);
            events
                .filter(|event| matches!(event.kind, EventKind::CommandTaken { .. }))
                .collect()
        }
    }

    const NAMES: &[u8] = br#"{"id":"1","do":"set_players","white":"A","black":"B"}"#;

    #[test]
    fn a_command_is_carried_out_once_over_restarts() {
        let mut world = World::new();
        let answer = world.send("board-1", Some("meier"), NAMES);
        assert_eq!(answer["ok"], true, "{answer}");
        assert_eq!(world.send("board-1", Some("meier"), NAMES), answer);
        let events = world.events();
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].board, "board-1");
        let mut restarted = World::new();
        for (key, done) in events.iter().filter_map(Done::recorded) {
            restarted.commands.remember(key, done);
        }
        assert_eq!(restarted.send("board-1", Some("meier"), NAMES), answer);
        // The same command from another sender is a different command.
        let other = restarted.send("board-1", Some("mayer"), NAMES);
        assert_eq!(other["ok"], false, "{other}");
        assert!(restarted.events().is_empty());
    }

    #[test]
    fn only_the_last_commands_are_remembered() {
        let mut world = World::new();
        for id in 0..=REMEMBERED {
            let text = format!(r#"{{"id":"{id}","do":"annotate","text":"{id}"}}"#);
            world.send("board-1", None, text.as_bytes());
        }
        // Without a game, all of these are refused.
        assert_eq!(world.commands.done.len(), REMEMBERED);
        assert_eq!(world.commands.refused.len(), REMEMBERED);
    }

    /// A sender must not fill the journal, nor make kiebitz forget which commands it has carried out.
    #[test]
    fn a_flood_of_refused_commands_leaves_few_events_and_displaces_no_other() {
        let mut world = World::new();
        let answer = world.send("board-1", None, NAMES);
        assert_eq!(answer["ok"], true, "{answer}");
        for id in 0..3 * REMEMBERED {
            let text = format!(r#"{{"id":"flood-{id}","do":"end_game","reason":"void"}}"#);
            let refused = world.send("board-1", None, text.as_bytes());
            assert_eq!(refused["ok"], false, "{refused}");
        }
        let events = world.events();
        assert!((2..100).contains(&events.len()), "{} events", events.len());
        assert_eq!(world.send("board-1", None, NAMES), answer, "the same answer");
        assert!(world.events().is_empty());
        let named = br#"{"id":"2","do":"set_players","white":"C"}"#;
        assert_eq!(world.send("board-1", None, named)["ok"], true);
        assert_eq!(
            world.events().len(),
            1,
            "commands with an effect are always stored"
        );
    }

    /// A sender must not fill memory, log and journal with commands that are refused.
    #[test]
    fn refused_commands_take_little_memory_and_no_place_in_the_journal_if_they_are_long() {
        let mut world = World::new();
        let close = |id: &str, by: &str, text: &str| {
            json!({"id": id, "do": "close_incident", "by": by, "incident": 99, "decision": text}).to_string()
        };
        let long = "x".repeat(5_000);
        for command in [
            close(&long, "a", "t"),
            close("1", &long, "t"),
            close("1", "a", &long),
        ] {
            let answer = world.send("board-1", None, command.as_bytes());
            assert!(
                answer["error"]
                    .as_str()
                    .is_some_and(|error| error.ends_with("shorten it")),
                "{answer}"
            );
            assert!(answer.to_string().len() < 200, "{answer}");
        }
        assert!(world.events().is_empty() && world.commands.done.is_empty());
        let command = close("2", "a", &long[..2000]);
        let answer = world.send("board-1", None, command.as_bytes());
        assert_eq!(
            (&answer["ok"], answer["id"].as_str()),
            (&false.into(), Some("2")),
            "{answer}"
        );
        let remembered = format!("{:?}", world.commands.done);
        assert!(
            world.commands.done.len() == 1 && remembered.len() < 1_000,
            "{remembered}"
        );
        assert_eq!(
            world.send("board-1", None, command.as_bytes()),
            answer,
            "the same answer"
        );
        let other = world.send("board-1", None, close("2", "a", "t").as_bytes());
        assert!(
            other["error"]
                .as_str()
                .is_some_and(|error| error.contains("already used")),
            "{other}"
        );
        assert_eq!(world.events().len(), 1);
        assert_eq!(cut(&"ä".repeat(LONGEST_LOGGED + 1)), "ä".repeat(LONGEST_LOGGED));
    }

    #[test]
    fn the_sender_is_the_login_with_the_claimed_name() {
        let mut world = World::new();
        let named = br#"{"id":"2","do":"set_players","white":"A","by":"A. Meier"}"#;
        world.send("board-1", Some("meier"), NAMES);
        world.send("board-1", Some("meier"), named);
        world.send(
            "board-1",
            None,
            br#"{"id":"3","do":"set_players","white":"A","by":"A. Meier"}"#,
        );
        let by = world.events().into_iter().filter_map(|event| match event.kind {
            EventKind::CommandTaken { by, .. } => Some(by),
            _ => None,
        });
        assert_eq!(by.collect::<Vec<_>>(), ["meier", "A. Meier (meier)", "A. Meier"]);
    }

    #[test]
    fn nobody_may_send_commands_as_the_pairing_files() {
        let mut world = World::new();
        let named = br#"{"id":"1","do":"set_players","white":"A","by":"pairings"}"#;
        let answer = world.send("board-1", None, named);
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(error.starts_with("\"pairings\" is the author"), "{answer}");
        assert_eq!((&answer["ok"], &answer["id"]), (&false.into(), &"1".into()));
        assert_eq!(world.send("board-1", Some("pairings"), NAMES)["ok"], false);
        let command = Command {
            by: PAIRINGS.to_owned(),
            ..Command::parse(core::str::from_utf8(NAMES).expect("text")).expect("a command")
        };
        let (sender, _receiver) = tokio::sync::oneshot::channel();
        let request = Request {
            board: "board-1".to_owned(),
            command: command.clone(),
            answer: sender,
        };
        let mut carry_out = |source| {
            let done = world
                .commands
                .carry_out(NOW, &mut world.hall, &world.pairings, source);
            done.map(|(_, answer)| answer.ok)
        };
        assert_eq!(carry_out(CommandSource::Hall(request)), Some(false));
        let paired = CommandSource::Paired("board-1".to_owned(), command);
        assert_eq!(carry_out(paired), None, "the pairings get no answer");
        assert_eq!(world.events().len(), 1, "only the command from the pairings");
        let shown = world.send("board-1", Some("meier"), named);
        assert_eq!(shown["ok"], true, "its author is \"pairings (meier)\": {shown}");
    }

    #[test]
    fn invalid_commands_are_answered() {
        let mut world = World::new();
        for (text, id) in [
            (&b"\xff"[..], None),
            (b"[]", None),
            (br#"{"id":"7"}"#, Some("7")),
            (br#"{"id":"7","do":"annotate"}"#, Some("7")),
            (&vec![b' '; Command::MAX_BYTES + 1], None),
        ] {
            let answer = world.send("board-1", None, text);
            assert_eq!(
                (&answer["ok"], answer["id"].as_str()),
                (&false.into(), id),
                "{answer}"
            );
            assert!(answer["error"].is_string());
        }
        let unknown = world.send("board-9", None, NAMES);
        assert!(
            unknown["error"]
                .as_str()
                .is_some_and(|error| error.contains("board-1")),
            "{unknown}"
        );
        assert!(world.events().is_empty());
    }
}
