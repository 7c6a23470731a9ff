//! Pushes the rounds to Lichess and checks the answer for each game.
//!
//! A changed round is pushed as a whole, because Lichess also uses the neighbours of a game to identify it. The answer
//! contains the number of plies that Lichess has of each game. A round that Lichess has only in part is pushed again;
//! rejected games are reported.
//!
//! A broadcast that kiebitz has created follows the event: its form is sent again when the pairings or the
//! configuration change it. So is the start of a round. Broadcasts and rounds that a person has created stay as they are.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};

use super::client::{LichessClient, LichessFailure, Pushed};
use super::form::LichessForm;
use super::settings::Lichess;
use crate::outputs::broadcast::projection::relayed::{RelayedEvent, RelayedRound};
use crate::outputs::broadcast::recipient::{PAUSE, Recipient, follow as follow_rounds};
use crate::outputs::broadcast::task::RelayedSnapshot;
use crate::outputs::feeds::{Output, Starting};
use crate::outputs::shared::address::token_problem;
use crate::outputs::shared::notes;
use crate::outputs::shared::reports::Reports;
use crate::outputs::shared::trial::Trial;
use crate::system_time::wall_time;

impl Output for Lichess {
    fn start(&self, starting: &mut Starting) {
        let event = starting.relayed(self.delay);
        let notes = starting.notes.join("lichess.json");
        let reports = starting.reports.clone();
        starting.spawn(follow(self.clone(), notes, event, reports));
    }

    fn secrets(&self) -> Vec<&Path> {
        self.token_file.as_deref().into_iter().collect()
    }

    fn file_problems(&self) -> Vec<String> {
        self.token_file
            .as_deref()
            .and_then(token_problem)
            .into_iter()
            .collect()
    }

    fn trials(&self) -> Vec<Trial> {
        let settings = self.clone();
        vec![Trial::new(OUTPUT.to_owned(), move || {
            let tried = try_out(settings.clone());
            async move { tried.await.map(|()| String::new()) }
        })]
    }
}

/// Pushes rounds until the event no longer changes.
async fn follow(settings: Lichess, state: PathBuf, event: RelayedSnapshot, reports: Reports) {
    reports.expect(OUTPUT);
    let relay = Relay {
        client: LichessClient::new(settings),
        notes: LichessNotes::from(notes::read::<NotesFile>(&state)),
        state,
        name: None,
        rounds: BTreeMap::new(),
        sent: BTreeMap::new(),
        tour: None,
        rejected: BTreeMap::new(),
        pause: PAUSE,
        reports,
    };
    follow_rounds(event, relay).await;
}

/// Checks that Lichess accepts the token and knows the configured broadcast. Sends no games.
///
/// # Errors
///
/// Fails with a message for people.
async fn try_out(settings: Lichess) -> Result<(), String> {
    let client = LichessClient::new(settings);
    let tried = async {
        client.check_token().await?;
        if let Some(tour) = client.configured() {
            client.rounds(tour).await?;
        }
        Ok(())
    };
    tried.await.map_err(|failure: LichessFailure| failure.to_string())
}

const OUTPUT: &str = "Lichess";
/// Maximum number of games in a round. Lichess silently drops further ones.
const MAX_GAMES: usize = 100;
/// Maximum size of a round's PGN that Lichess accepts, in bytes.
const MAX_TEXT: usize = 512 << 10;
/// Pause before a round is pushed again that Lichess has only in part.
const INCOMPLETE_PAUSE: Duration = Duration::from_secs(5);
/// Longest pause after a failure. Lichess requires it after too many requests.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Maps the rounds of the event to rounds on Lichess.
struct Relay {
    client: LichessClient,
    /// File with the notes.
    state: PathBuf,
    notes: LichessNotes,
    /// Name of the event that the broadcast belongs to.
    name: Option<String>,
    /// Lichess's ids, by round number.
    rounds: BTreeMap<u32, String>,
    /// The last push of each round.
    sent: BTreeMap<u32, SentRound>,
    /// The id of the broadcast; `None` until the first push.
    tour: Option<String>,
    /// Edits that Lichess rejects, with the reason, by the id of their broadcast or round.
    rejected: BTreeMap<String, (LichessForm, String)>,
    /// Pause after the next failure.
    pause: Duration,
    reports: Reports,
}

/// What kiebitz has created on Lichess.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct LichessNotes {
    /// The broadcasts, by event name.
    broadcasts: BTreeMap<String, NotedBroadcast>,
    /// The starts of the rounds as last sent, in microseconds since 1970, by id.
    rounds: BTreeMap<String, Option<i64>>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct NotedBroadcast {
    id: String,
    /// The form as last sent; empty if unknown.
    form: LichessForm,
}

/// The file with the notes.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum NotesFile {
    Current(LichessNotes),
    /// The format of version 0.1.0: the ids of the broadcasts, by event name.
    First(BTreeMap<String, String>),
}

#[derive(Debug, Default)]
struct SentRound {
    text: Arc<str>,
    /// Whether Lichess has all plies.
    whole: bool,
    /// Problems to report, as messages for people.
    problems: Vec<String>,
}

/// The PGN of all games of a round, within Lichess's limits.
#[derive(Debug, PartialEq, Eq)]
struct RoundText {
    text: String,
    games: Vec<LichessGame>,
    problems: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct LichessGame {
    /// Name in messages, for example "3.7, Adler, J. - Berg, I.".
    name: String,
    plies: usize,
}

impl Default for NotesFile {
    fn default() -> Self {
        Self::First(BTreeMap::new())
    }
}

impl From<NotesFile> for LichessNotes {
    fn from(file: NotesFile) -> Self {
        let ids = match file {
            NotesFile::Current(notes) => return notes,
            NotesFile::First(ids) => ids,
        };
        let form = LichessForm::default;
        let noted = |(name, id)| (name, NotedBroadcast { id, form: form() });
        Self {
            broadcasts: ids.into_iter().map(noted).collect(),
            rounds: BTreeMap::new(),
        }
    }
}

impl Recipient<RelayedEvent> for Relay {
    async fn deliver(&mut self, event: &RelayedEvent) -> Option<Duration> {
        match self.send_changes(event).await {
            Ok(true) => {
                self.pause = PAUSE;
                None
            }
            Ok(false) => Some(INCOMPLETE_PAUSE),
            Err(failure) => {
                self.fail(&failure);
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                Some(failure.pause().unwrap_or(self.pause))
            }
        }
    }
}

impl Relay {
    /// Pushes the rounds that have changed or are incomplete, and updates broadcast and rounds. Returns whether Lichess
    /// then has everything.
    async fn send_changes(&mut self, event: &RelayedEvent) -> Result<bool, LichessFailure> {
        let mut whole = true;
        self.follow_name(event);
        for (&number, round) in &event.rounds {
            let known = self.sent.get(&number);
            if known.is_some_and(|sent| sent.whole && sent.text == round.pgn) || round.pgn.is_empty() {
                continue;
            }
            let id = self.id_of(event, number, round.starts).await?;
            let text = RoundText::of(&round.pgn);
            let pushed = match self.client.push(&id, &text.text).await {
                Ok(pushed) => pushed,
                Err(failure) => {
                    // The round may have been deleted on Lichess. Without the known ids, the next attempt reads the
                    // list again.
                    if failure.is_missing() {
                        self.rounds.clear();
                    }
                    return Err(failure);
                }
            };
            let (complete, mut problems) = text.compare(&pushed);
            problems.splice(0..0, text.problems.iter().cloned());
            whole &= complete;
            let sent = SentRound {
                text: Arc::clone(&round.pgn),
                whole: complete,
                problems,
            };
            self.sent.insert(number, sent);
            self.report(number, text.games.len());
        }
        self.update_tour(event).await?;
        self.update_rounds(&event.rounds).await?;
        Ok(whole)
    }

    /// Forgets the broadcast of another event. The name decides which broadcast belongs to an event, as after a restart.
    fn follow_name(&mut self, event: &RelayedEvent) {
        if self.client.configured().is_none() && self.name != event.name {
            self.name.clone_from(&event.name);
            self.tour = None;
            self.rounds.clear();
            self.sent.clear();
        }
    }

    /// Sends the form of the broadcast if the event has changed it. Leaves a configured broadcast as it is.
    async fn update_tour(&mut self, event: &RelayedEvent) -> Result<(), LichessFailure> {
        let Some(tour) = self.tour.clone() else {
            return Ok(());
        };
        let form = LichessForm::of_event(event);
        let noted = self.notes.broadcasts.values().find(|noted| noted.id == tour);
        let is_due = noted.is_some_and(|noted| noted.form != form);
        if self.client.configured().is_some() || !is_due || self.is_rejected(&tour, &form) {
            return Ok(());
        }
        let edited = self.client.edit_tour(&tour, &form).await;
        if self.was_accepted("the broadcast", &tour, &form, edited)?
            && let Some(noted) = self.notes.broadcasts.values_mut().find(|noted| noted.id == tour)
        {
            noted.form = form;
            self.write_notes();
        }
        Ok(())
    }

    /// Sends the starts of rounds that have changed. Leaves rounds that a person has created as they are.
    async fn update_rounds(&mut self, rounds: &BTreeMap<u32, RelayedRound>) -> Result<(), LichessFailure> {
        for (number, id) in self.rounds.clone() {
            let (Some(round), Some(sent)) = (rounds.get(&number), self.notes.rounds.get(&id)) else {
                continue;
            };
            let form = LichessForm::of_start(round.starts);
            if *sent == round.starts.map(Timestamp::as_micros) || self.is_rejected(&id, &form) {
                continue;
            }
            let edited = self.client.edit_round(&id, &form).await;
            if self.was_accepted(&format!("round {number}"), &id, &form, edited)? {
                self.note_round(id, round.starts);
            }
        }
        Ok(())
    }

    fn is_rejected(&self, id: &str, form: &LichessForm) -> bool {
        self.rejected
            .get(id)
            .is_some_and(|(rejected, _)| rejected == form)
    }

    /// Whether Lichess has accepted an edit. A rejected one is reported and not sent again, so that it does not delay
    /// the games.
    fn was_accepted(
        &mut self,
        object: &str,
        id: &str,
        form: &LichessForm,
        edited: Result<(), LichessFailure>,
    ) -> Result<bool, LichessFailure> {
        let was_rejected = self.rejected.remove(id).is_some();
        let accepted = match edited {
            Ok(()) => true,
            Err(failure) if failure.is_rejection() || failure.is_missing() => {
                let problem = format!("cannot update {object}: {failure}; edit it on Lichess");
                self.rejected.insert(id.to_owned(), (form.clone(), problem));
                false
            }
            Err(failure) => return Err(failure),
        };
        if was_rejected || !accepted {
            self.report_problems();
        }
        Ok(accepted)
    }

    fn report(&self, round: u32, games: usize) {
        let summary = format!("round {round}: {games} games");
        if self.reports.done(OUTPUT, wall_time(), summary) {
            tracing::info!("Lichess accepts games again");
        }
        self.report_problems();
    }

    fn report_problems(&self) {
        let of_rounds = self.sent.iter().flat_map(|(round, sent)| {
            let named = move |problem: &String| format!("round {round}: {problem}");
            sent.problems.iter().map(named)
        });
        let of_edits = self.rejected.values().map(|(_, problem)| problem.clone());
        let problems: Vec<String> = of_rounds.chain(of_edits).collect();
        let joined = problems.join("; ");
        if self.reports.problems(OUTPUT, problems) && !joined.is_empty() {
            tracing::warn!("Lichess: {joined}");
        }
    }

    fn fail(&self, failure: &LichessFailure) {
        if self.reports.problems(OUTPUT, vec![failure.to_string()]) {
            tracing::warn!("cannot update Lichess: {failure}; retrying");
        }
    }

    /// Lichess's id of a round. Creates the round if Lichess does not have it.
    async fn id_of(
        &mut self,
        event: &RelayedEvent,
        round: u32,
        starts: Option<Timestamp>,
    ) -> Result<String, LichessFailure> {
        if let Some(id) = self.rounds.get(&round) {
            return Ok(id.clone());
        }
        let tour = self.tour(event).await?;
        let known = match self.client.rounds(&tour).await {
            Ok(known) => known,
            Err(failure) => {
                if failure.is_missing() {
                    self.forget_own_tour(&tour);
                }
                return Err(failure);
            }
        };
        for (name, id) in known {
            if let Some(number) = number_of(&name) {
                self.rounds.entry(number).or_insert(id);
            }
        }
        if let Some(id) = self.rounds.get(&round) {
            return Ok(id.clone());
        }
        let form = LichessForm::of_new_round(round, starts);
        let id = self.client.new_round(&tour, &form).await?;
        tracing::info!(
            "Lichess: created round {round}: {}/broadcast/-/-/{id}",
            self.client.server()
        );
        self.rounds.insert(round, id.clone());
        self.note_round(id.clone(), starts);
        Ok(id)
    }

    /// The id of the broadcast. If none is configured, creates one for each event name.
    async fn tour(&mut self, event: &RelayedEvent) -> Result<String, LichessFailure> {
        if let Some(tour) = &self.tour {
            return Ok(tour.clone());
        }
        self.client.check_token().await?;
        let tour = match self.client.configured() {
            Some(tour) => tour.to_owned(),
            None => self.own_tour(event).await?,
        };
        self.tour = Some(tour.clone());
        Ok(tour)
    }

    async fn own_tour(&mut self, event: &RelayedEvent) -> Result<String, LichessFailure> {
        let name = event.name.as_deref().unwrap_or("kiebitz");
        if let Some(noted) = self.notes.broadcasts.get(name) {
            return Ok(noted.id.clone());
        }
        let form = LichessForm::of_event(event);
        let id = self.client.new_tour(&form).await?;
        tracing::info!(
            "Lichess: created the broadcast: {}/broadcast/-/{id}",
            self.client.server()
        );
        let noted = NotedBroadcast { id: id.clone(), form };
        self.notes.broadcasts.insert(name.to_owned(), noted);
        self.write_notes();
        Ok(id)
    }

    fn note_round(&mut self, id: String, starts: Option<Timestamp>) {
        self.notes.rounds.insert(id, starts.map(Timestamp::as_micros));
        self.write_notes();
    }

    /// Forgets a broadcast that kiebitz has created and a person has deleted, so that the next attempt creates another.
    fn forget_own_tour(&mut self, tour: &str) {
        if self.client.configured().is_some() {
            return;
        }
        tracing::warn!("Lichess no longer has the broadcast {tour}: creating another");
        self.notes.broadcasts.retain(|_, noted| noted.id != tour);
        self.write_notes();
        self.tour = None;
    }

    fn write_notes(&self) {
        if let Err(error) = notes::write(&self.state, &self.notes) {
            let tour = self.tour.as_deref().unwrap_or("...");
            tracing::warn!(
                "cannot write {}: {error}; set broadcast = \"{tour}\" under [lichess], or the next start \
                 creates another broadcast",
                self.state.display()
            );
        }
    }
}

/// The last number in the name of a round, for example in "Round 3".
fn number_of(name: &str) -> Option<u32> {
    let mut numbers = name
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty());
    numbers.next_back()?.parse().ok()
}

impl RoundText {
    fn of(pgn: &str) -> Self {
        let mut problems = Vec::new();
        let mut games: Vec<&str> = split(pgn).collect();
        if games.len() > MAX_GAMES {
            let missing = games.len() - MAX_GAMES;
            problems.push(format!(
                "Lichess accepts at most {MAX_GAMES} games in a round: the last {missing} are left out"
            ));
            games.truncate(MAX_GAMES);
        }
        let mut text = games.join("\n");
        if text.len() > MAX_TEXT {
            // Lichess can compute thinking times from the clock times.
            text = without_elapsed(&text);
        }
        if text.len() > MAX_TEXT {
            problems.push("the games together are longer than Lichess accepts".to_owned());
        }
        let games = games.iter().map(|game| LichessGame::of(game)).collect();
        Self {
            text,
            games,
            problems,
        }
    }

    /// Compares Lichess's answer with the round. Returns whether Lichess has all plies, and problems as messages for
    /// people.
    fn compare(&self, pushed: &[Pushed]) -> (bool, Vec<String>) {
        let (mut complete, mut problems) = (true, Vec::new());
        if pushed.len() < self.games.len() {
            problems.push(format!(
                "Lichess has read only {} of {} games",
                pushed.len(),
                self.games.len()
            ));
        }
        for (game, pushed) in self.games.iter().zip(pushed) {
            match pushed {
                Pushed::Refused(error) => problems.push(format!("Lichess rejected {game}: {error}")),
                Pushed::Moves(moves) if *moves < game.plies => complete = false,
                Pushed::Moves(_) => {}
            }
        }
        (complete && pushed.len() >= self.games.len(), problems)
    }
}

impl LichessGame {
    fn of(pgn: &str) -> Self {
        let tag = |name: &str| {
            let line = pgn
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(" \""));
            line.and_then(|line| line.strip_suffix("\"]"))
                .unwrap_or("?")
                .to_owned()
        };
        let moves = pgn.split_once("\n\n").map_or("", |(_, moves)| moves);
        Self {
            name: format!("{}, {} - {}", tag("[Round"), tag("[White"), tag("[Black")),
            plies: plies(moves),
        }
    }
}

impl fmt::Display for LichessGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The number of plies in movetext written by kiebitz: words outside comments that begin with a letter.
fn plies(moves: &str) -> usize {
    let mut depth = 0;
    let mut count = 0;
    for word in moves.split_whitespace() {
        let outside = depth == 0 && !word.starts_with('{');
        depth += word.matches('{').count();
        depth = depth.saturating_sub(word.matches('}').count());
        let is_move = word.starts_with(|c: char| c.is_ascii_alphabetic());
        count += usize::from(outside && is_move);
    }
    count
}

fn split(pgn: &str) -> impl Iterator<Item = &str> {
    let mut rest = pgn;
    core::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.find("\n\n[").map_or(rest.len(), |at| at + 1);
        let (game, after) = rest.split_at(end);
        rest = after.trim_start_matches('\n');
        Some(game)
    })
}

fn without_elapsed(pgn: &str) -> String {
    let mut text = String::with_capacity(pgn.len());
    let mut rest = pgn;
    while let Some(at) = rest.find("[%emt ") {
        let (before, elapsed) = rest.split_at(at);
        text.push_str(before);
        rest = elapsed.split_once(']').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text.replace("{} ", "")
}

#[cfg(test)]
mod tests;
