//! Pushes the rounds to Lichess and checks the answer for each game.
//!
//! A changed round is pushed as a whole, because Lichess also uses the neighbours of a game to identify it. The answer
//! contains the number of plies that Lichess has of each game. A round that Lichess has only in part is pushed again;
//! rejected games are reported.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::client::{LichessClient, LichessFailure, Pushed};
use super::settings::Lichess;
use crate::outputs::broadcast::Files;
use crate::outputs::broadcast::recipient::{PAUSE, Recipient, follow as follow_rounds, rounds};
use crate::outputs::broadcast::task::Snapshot;
use crate::outputs::feeds::{Output, Starting};
use crate::outputs::shared::address::token_problem;
use crate::outputs::shared::notes;
use crate::outputs::shared::reports::Reports;
use crate::outputs::shared::trial::Trial;
use crate::system_time::wall_time;

impl Output for Lichess {
    fn start(&self, starting: &mut Starting) {
        let files = starting.files(self.delay);
        let notes = starting.notes.join("lichess.json");
        let name = starting.facts.name.clone();
        let reports = starting.reports.clone();
        starting.spawn(follow(self.clone(), notes, name, files, reports));
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
        vec![Trial::new(OUTPUT.to_owned(), move || try_out(settings.clone()))]
    }
}

/// Pushes rounds until the files no longer change.
async fn follow(settings: Lichess, state: PathBuf, name: Option<String>, files: Snapshot, reports: Reports) {
    reports.expect(OUTPUT);
    let relay = Relay {
        client: LichessClient::new(settings),
        state,
        name,
        rounds: BTreeMap::new(),
        sent: BTreeMap::new(),
        tour: None,
        pause: PAUSE,
        reports,
    };
    follow_rounds(files, relay).await;
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
    /// File with the ids of the created broadcasts, by event name.
    state: PathBuf,
    name: Option<String>,
    /// Lichess's ids, by round number.
    rounds: BTreeMap<u32, String>,
    /// The last push of each round.
    sent: BTreeMap<u32, SentRound>,
    /// The id of the broadcast; `None` until the first push.
    tour: Option<String>,
    /// Pause after the next failure.
    pause: Duration,
    reports: Reports,
}

#[derive(Debug, Default)]
struct SentRound {
    text: Arc<[u8]>,
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

impl Recipient for Relay {
    async fn deliver(&mut self, files: &Files) -> Option<Duration> {
        match self.send_changes(files).await {
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
    /// Pushes the rounds that have changed or are incomplete. Returns whether Lichess then has everything.
    async fn send_changes(&mut self, files: &Files) -> Result<bool, LichessFailure> {
        let mut whole = true;
        for (round, content) in rounds(files) {
            let known = self.sent.get(&round);
            if known.is_some_and(|sent| sent.whole && sent.text == content) || content.is_empty() {
                continue;
            }
            let id = self.id_of(round).await?;
            let text = RoundText::of(&String::from_utf8_lossy(&content));
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
                text: content,
                whole: complete,
                problems,
            };
            self.sent.insert(round, sent);
            self.report(round, text.games.len());
        }
        Ok(whole)
    }

    fn report(&self, round: u32, games: usize) {
        let summary = format!("round {round}: {games} games");
        if self.reports.done(OUTPUT, wall_time(), summary) {
            tracing::info!("Lichess accepts games again");
        }
        let problems = self.sent.iter().flat_map(|(round, sent)| {
            let named = move |problem: &String| format!("round {round}: {problem}");
            sent.problems.iter().map(named)
        });
        let problems: Vec<String> = problems.collect();
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
    async fn id_of(&mut self, round: u32) -> Result<String, LichessFailure> {
        if let Some(id) = self.rounds.get(&round) {
            return Ok(id.clone());
        }
        let tour = self.tour().await?;
        let known = self.client.rounds(&tour).await?;
        for (name, id) in known {
            if let Some(number) = number_of(&name) {
                self.rounds.entry(number).or_insert(id);
            }
        }
        if let Some(id) = self.rounds.get(&round) {
            return Ok(id.clone());
        }
        let id = self.client.new_round(&tour, &format!("Round {round}")).await?;
        tracing::info!(
            "Lichess: created round {round}: {}/broadcast/-/-/{id}",
            self.client.server()
        );
        self.rounds.insert(round, id.clone());
        Ok(id)
    }

    /// The id of the broadcast. If none is configured, creates one for each event name.
    async fn tour(&mut self) -> Result<String, LichessFailure> {
        if let Some(tour) = &self.tour {
            return Ok(tour.clone());
        }
        self.client.check_token().await?;
        let tour = match self.client.configured() {
            Some(tour) => tour.to_owned(),
            None => self.own_tour().await?,
        };
        self.tour = Some(tour.clone());
        Ok(tour)
    }

    async fn own_tour(&self) -> Result<String, LichessFailure> {
        let name = self.name.as_deref().unwrap_or("kiebitz");
        let noted: BTreeMap<String, String> = notes::read(&self.state);
        if let Some(tour) = noted.get(name) {
            return Ok(tour.clone());
        }
        let tour = self.client.new_tour(name).await?;
        tracing::info!(
            "Lichess: created the broadcast: {}/broadcast/-/{tour}",
            self.client.server()
        );
        let mut noted = noted;
        noted.insert(name.to_owned(), tour.clone());
        if let Err(error) = notes::write(&self.state, &noted) {
            tracing::warn!(
                "cannot write {}: {error}; set broadcast = \"{tour}\" under [lichess], or the next start \
                 creates another broadcast",
                self.state.display()
            );
        }
        Ok(tour)
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
