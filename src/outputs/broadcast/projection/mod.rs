//! The event for people outside the hall: all rounds with all games, as PGN and as the tree of JSON files that relays
//! and viewers poll.
//!
//! The files depend only on the events of all boards and the pairings of the event, so daemon, hub and replay produce
//! the same files. No event is applied before it is [due](crate::outputs::shared::delayed).

mod contents;
pub(in crate::outputs) mod game;
mod previews;
pub(in crate::outputs) mod relayed;
pub(in crate::outputs) mod rounds;
mod standings;
pub(in crate::outputs) mod tree;
mod wall;
mod written;

use core::fmt::Write;
use core::hash::{Hash, Hasher};
use core::ops::Bound;
use core::time::Duration;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kiebitz_game::events::pairing::TableResults;
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{EndReason, Event, EventKind};
use kiebitz_game::laws::{DrawnStart, Regulations, Rounds, TimeControl};
use kiebitz_hardware::Timestamp;

use super::files::{Files, PublishedFile};
use super::page;
use crate::clock::ClockView;
use crate::outputs::pgn;
use crate::outputs::shared::delayed::{Delayed, Due};
use crate::tournament::{Byes, Round, TieBreak, Tournament};
use game::ShownGame;
use rounds::Slot;
use written::WrittenRound;

/// The facts of the event from the configuration. Pairing files may add more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EventFacts {
    pub(crate) name: Option<String>,
    pub(crate) site: Option<String>,
    /// Time control in the format of the PGN tag `TimeControl`.
    pub(crate) time_control: Option<String>,
    pub(crate) start: Option<DrawnStart>,
    /// Planned start times of the rounds.
    pub(crate) rounds: Rounds,
    /// Tie-breaks of the standings; `None` for the defaults of the kind of event.
    pub(crate) tie_breaks: Option<Vec<TieBreak>>,
}

/// The event as seen outside the hall.
#[derive(Debug)]
pub(crate) struct Broadcast {
    delay: Duration,
    facts: EventFacts,
    tournament: Arc<Tournament>,
    /// Whether only `games.pgn` of each round is made.
    only_pgn: bool,
    /// Whether the daemon is still replaying its recordings after a restart.
    restarts: bool,
    boards: BTreeMap<String, BroadcastBoard>,
    games: BTreeMap<String, ShownGame>,
    /// Results entered by arbiters for pairings without a game.
    results: TableResults,
    byes: Byes,
    files: Arc<Files>,
    /// Files of the web page; empty if the page is off.
    page: Files,
    /// The public address of the page; `None` if links have no preview.
    address: Option<String>,
    /// The pictures of the games by round and table, for previews.
    pictures: BTreeMap<(u32, u32), previews::Picture>,
    /// Rounds that have changed since the files were last made.
    changed: BTreeSet<u32>,
    all_changed: bool,
    /// The last content of each round. Games that have not changed are copied from it.
    written: BTreeMap<u32, WrittenRound>,
    /// The latest standings; `None` if unknown.
    standings: Option<WrittenStandings>,
    /// The latest `players.json`, with its version; `None` if no player is known.
    players: Option<(PublishedFile, String)>,
    /// Whether a result or a player may have changed since the standings were made.
    standings_changed: bool,
}

#[derive(Debug)]
struct WrittenStandings {
    content: PublishedFile,
    /// A hash of the content.
    version: String,
    tie_breaks: Vec<TieBreak>,
}

#[derive(Debug)]
struct BroadcastBoard {
    delayed: Delayed,
    serial: Option<String>,
    clock: Option<ClockView>,
    /// Id of the board's latest game that is due.
    game: Option<String>,
}

impl EventFacts {
    /// Creates the facts from the regulations and the tie-breaks of `[event]`.
    pub(crate) fn of(regulations: &Regulations, tie_breaks: Option<&[TieBreak]>) -> Self {
        Self {
            name: regulations.event.clone(),
            site: regulations.site.clone(),
            time_control: regulations.time_control_text(),
            start: regulations.drawn_start.clone(),
            rounds: regulations.rounds.clone(),
            tie_breaks: tie_breaks.map(<[TieBreak]>::to_vec),
        }
    }
}

impl Broadcast {
    /// Creates the broadcast of an event without games. `delay` applies to all boards.
    pub(crate) fn new(delay: Duration, facts: EventFacts) -> Self {
        Self {
            delay,
            facts,
            tournament: Arc::default(),
            only_pgn: false,
            restarts: false,
            boards: BTreeMap::new(),
            games: BTreeMap::new(),
            results: TableResults::default(),
            byes: Byes::default(),
            files: Arc::default(),
            page: Files::new(),
            address: None,
            pictures: BTreeMap::new(),
            changed: BTreeSet::new(),
            all_changed: true,
            written: BTreeMap::new(),
            standings: None,
            players: None,
            standings_changed: true,
        }
    }

    /// Sets whether only `games.pgn` of each round is made. The other files take several times its memory.
    pub(crate) fn set_only_pgn(&mut self, only_pgn: bool) {
        self.all_changed |= self.only_pgn != only_pgn;
        self.only_pgn = only_pgn;
    }

    /// Adds the web page to the files. `address` is its public address, for previews of links.
    pub(crate) fn bring_page(&mut self, address: Option<String>) {
        self.page = page::files();
        self.address = address;
        self.all_changed = true;
    }

    /// Sets whether the daemon is still replaying its recordings after a restart.
    pub(crate) fn set_restarting(&mut self, restarts: bool) {
        self.all_changed |= self.restarts != restarts;
        self.restarts = restarts;
    }

    pub(crate) fn pair(&mut self, tournament: Arc<Tournament>) {
        self.all_changed |= self.tournament != tournament;
        self.tournament = tournament;
    }

    /// Replaces the facts of the event.
    pub(crate) fn set_facts(&mut self, facts: EventFacts) {
        self.all_changed |= self.facts != facts;
        self.facts = facts;
    }

    /// Queues an event, which was published at `at`, until it is due.
    pub(crate) fn queue(&mut self, at: Timestamp, event: &Event) {
        let board = self.board(&event.board);
        if let EventKind::BoardConnected { serial, .. } = &event.kind {
            // A board that is plugged in again may not report its number: keep the known one.
            board.serial = serial.clone().or_else(|| board.serial.take());
        }
        board.delayed.take(at, event);
    }

    pub(crate) fn set_serial(&mut self, board: &str, serial: &str) {
        self.board(board).serial = Some(serial.to_owned());
    }

    /// Queues a board's clock reading of time `now`, until it is due.
    pub(crate) fn queue_clock(&mut self, now: Timestamp, board: &str, clock: &ClockView) {
        self.board(board).delayed.take_clock(now, clock);
    }

    /// Queues the journal's events of a board, as of `now`.
    pub(crate) fn resume(&mut self, now: Timestamp, board: &str, events: &[Event]) {
        self.board(board).delayed.resume(now, events);
        self.advance(now);
    }

    fn board(&mut self, name: &str) -> &mut BroadcastBoard {
        let delay = self.delay;
        self.boards
            .entry(name.to_owned())
            .or_insert_with(|| BroadcastBoard {
                delayed: Delayed::by(delay),
                serial: None,
                clock: None,
                game: None,
            })
    }

    /// Compensates for a step of the computer's clock, forward by `by`, so that the delay stays the same in real time.
    pub(crate) fn set_forward(&mut self, by: Duration) {
        for board in self.boards.values_mut() {
            board.delayed.set_forward(by);
        }
    }

    /// Applies everything that is due by `now`. Returns whether the files have changed.
    pub(crate) fn advance(&mut self, now: Timestamp) -> bool {
        for board in self.boards.values_mut() {
            while let Some(due) = board.delayed.poll(now) {
                match due {
                    Due::Event(event) | Due::Earlier(event) => {
                        let entered = self.results.apply(&event);
                        let entered = entered.or_else(|| self.byes.apply(&event));
                        self.standings_changed |= entered.is_some() || changes_results(&event.kind);
                        self.changed.extend(entered);
                        if let Some(game) = ShownGame::begin(&event, board.serial.clone()) {
                            board.game = Some(game.record.game.clone());
                            self.games.insert(game.record.game.clone(), game);
                        }
                        let Some(game) = event.game.as_ref().and_then(|game| self.games.get_mut(game)) else {
                            continue;
                        };
                        // If the event moves the game to another round, both rounds change.
                        self.changed.extend(round_of(game));
                        game.apply(&event);
                        self.changed.extend(round_of(game));
                    }
                    Due::Clock(clock) => {
                        board.clock = Some(clock);
                        let game = board.game.as_ref().and_then(|game| self.games.get(game));
                        let live = game.filter(|game| game.record.ended.is_none());
                        self.changed.extend(live.and_then(round_of));
                    }
                }
            }
        }
        self.all_changed || !self.changed.is_empty()
    }

    /// Returns all files as of the last [`advance`](Self::advance).
    pub(crate) fn files(&mut self) -> &Arc<Files> {
        if !self.all_changed && self.changed.is_empty() {
            return &self.files;
        }
        if self.all_changed {
            self.written.clear();
        }
        if (self.all_changed || self.standings_changed) && !self.only_pgn {
            let tie_breaks = self.facts.tie_breaks.as_deref();
            let rounds = self.rounds();
            let standings = standings::standings(&self.tournament, &rounds, &self.byes, tie_breaks);
            let players = standings::players(&self.tournament, &rounds, &self.byes, standings.as_ref());
            self.players = players.map(|content| {
                let version = version_of(&content);
                (PublishedFile::new(content), version)
            });
            self.standings = WrittenStandings::of(standings);
        }
        let mut written = core::mem::take(&mut self.written);
        let mut pictures = core::mem::take(&mut self.pictures);
        let rounds = self.rounds();
        let mut files = self.page.clone();
        for (number, slots) in &rounds {
            let folder = format!("round-{number}/");
            if self.all_changed || self.changed.contains(number) {
                let before = written.remove(number).unwrap_or_default();
                let round = self.put_round(*number, &folder, slots, &mut files, before);
                written.insert(*number, round);
                self.put_previews(slots, &mut files, &mut pictures);
            } else {
                let from = (Bound::Included(&*folder), Bound::Unbounded);
                let round_files = self.files.range::<str, _>(from);
                let round_files = round_files.take_while(|(path, _)| path.starts_with(&folder));
                files.extend(round_files.map(|(path, file)| (Arc::clone(path), file.clone())));
            }
        }
        if !self.only_pgn {
            self.put_lists(&rounds, &mut files);
        }
        self.files = Arc::new(files);
        self.written = written;
        self.pictures = pictures;
        self.changed.clear();
        self.all_changed = false;
        self.standings_changed = false;
        &self.files
    }

    /// Adds the files about all rounds, and those of rounds without pairings.
    fn put_lists(&self, rounds: &BTreeMap<u32, Vec<Slot<'_>>>, files: &mut Files) {
        // Readers fetch every round of the list, and some give up at the first one that is missing.
        for number in contents::listed_rounds(rounds).filter(|number| !rounds.contains_key(number)) {
            let index = tree::index(self.date(number, &[]).as_deref(), &[]);
            files.insert(
                format!("round-{number}/index.json").into(),
                PublishedFile::new(index),
            );
        }
        let summary = serde_json::to_vec(&self.summary(rounds)).unwrap_or_default();
        files.insert("tournament.json".into(), PublishedFile::new(summary));
        if let Some(standings) = &self.standings {
            files.insert("standings.json".into(), standings.content.clone());
        }
        if let Some((file, _)) = &self.players {
            files.insert("players.json".into(), file.clone());
        }
        let contents = serde_json::to_vec(&self.contents(rounds)).unwrap_or_default();
        files.insert("wall.json".into(), PublishedFile::new(contents));
        self.put_preview_of_page(rounds, files);
    }

    /// Returns all rounds with their tables in order.
    pub(in crate::outputs) fn rounds(&self) -> BTreeMap<u32, Vec<Slot<'_>>> {
        rounds::rounds(&self.tournament, self.games.values(), &self.results)
    }

    /// Returns the game in progress on a board, or else the last one.
    pub(in crate::outputs) fn current(&self, board: &str) -> Option<&GameRecord> {
        let id = self.boards.get(board)?.game.as_ref()?;
        self.games.get(id).map(|game| &game.record)
    }

    pub(in crate::outputs) fn tournament(&self) -> &Tournament {
        &self.tournament
    }

    /// The site of the event: from the configuration, or else from the pairings.
    pub(in crate::outputs) fn site(&self) -> Option<&str> {
        self.facts.site.as_deref().or(self.tournament.site.as_deref())
    }

    /// Adds the files of a round, of which `before` is the last content. Returns the new content.
    fn put_round(
        &self,
        number: u32,
        folder: &str,
        slots: &[Slot<'_>],
        files: &mut Files,
        before: WrittenRound,
    ) -> WrittenRound {
        let games_path: Arc<str> = format!("{folder}games.pgn").into();
        if self.only_pgn {
            let round = self.write_round(None, slots, before);
            files.insert(games_path, PublishedFile::of(round.pgn.clone()));
            return round;
        }
        let date = self.date(number, slots);
        let index = tree::index(date.as_deref(), slots);
        let head = wall::Head {
            round: number,
            date,
            time_control: self.time_control(number).map(usual_notation),
            starts: self.starts(number),
            matches: wall::matches(slots),
        };
        let round = self.write_round(Some(&head), slots, before);
        files.insert(games_path, PublishedFile::of(round.pgn.clone()));
        let mut put = |name: &str, file: PublishedFile| {
            let path = format!("{folder}{name}");
            // A path that is known shares its memory with the earlier files.
            let known = self.files.get_key_value(&*path);
            let path = known.map_or_else(|| path.as_str().into(), |(path, _)| Arc::clone(path));
            files.insert(path, file);
        };
        // Pairings without a game have the same file as all others with the same result.
        let mut unplayed: BTreeMap<Option<&str>, PublishedFile> = BTreeMap::new();
        for (nth, slot) in (1..).zip(slots) {
            if let Some(pgn) = round.pgn_file_of(slot.table) {
                put(&format!("game-{nth}.pgn"), pgn);
            }
            let json = format!("game-{nth}.json");
            if let Some(game) = round.files_of(slot.table) {
                put(&json, game.json.clone());
                put(&format!("board-{nth}.json"), game.moves.clone());
            } else {
                let word = tree::result_word(slot.result(), slot.reason());
                let shared = unplayed.entry(word);
                let shared = shared.or_insert_with(|| PublishedFile::new(self.json_of(slot)));
                put(&json, shared.clone());
            }
        }
        put("index.json", PublishedFile::new(index));
        put("wall.json", PublishedFile::of(round.wall.clone()));
        round
    }

    /// The planned start of a round, in milliseconds since 1970.
    fn starts(&self, round: u32) -> Option<i64> {
        self.facts.rounds.planned_start(round).map(tree::millis)
    }

    /// The date of a round: from the pairings, or else the day of its first game.
    fn date(&self, round: u32, slots: &[Slot<'_>]) -> Option<String> {
        let round_data = self.tournament.rounds.get(&round);
        let date = round_data.and_then(|round| round.date.clone());
        let first_start = || {
            let games = slots.iter().filter_map(|slot| slot.game);
            games.map(|game| game.record.started).min()
        };
        date.or_else(|| first_start().map(day))
    }

    /// The PGN of a game. `None` for a game that has not begun, if its players are unknown or its Chess960 position is
    /// not drawn yet.
    fn pgn(&self, of_round: Option<&Round>, slot: &Slot<'_>) -> Option<String> {
        let id = self.id_of(slot);
        let context = pgn::OfRound {
            place: (slot.round, slot.table),
            id: &id,
            event: self.name(),
            site: self.site(),
            clock: slot.game.and_then(|game| self.clock_of(game)),
        };
        if let Some(game) = slot.game {
            return Some(pgn::broadcast_pgn(&game.record, context));
        }
        if self.facts.start == Some(DrawnStart::Chess960(None)) {
            return None;
        }
        let start_fen = self.unplayed_start();
        let players = slot.players()?;
        let control = self.time_control(slot.round);
        Some(pgn::unplayed_pgn(
            pgn::Unplayed {
                players: &players,
                result: slot.result(),
                reason: slot.reason().unwrap_or(EndReason::Default),
                date: of_round.and_then(|round| round.date.as_deref()),
                time_control: control.as_deref(),
                start_fen: start_fen.as_deref(),
            },
            context,
        ))
    }

    /// The start position drawn for all games, as FEN; `None` for the standard position or an unknown one.
    fn unplayed_start(&self) -> Option<String> {
        match &self.facts.start {
            Some(DrawnStart::Chess960(placement)) => placement
                .as_ref()
                .map(|placement| format!("{placement} w KQkq - 0 1")),
            Some(DrawnStart::Standard) | None => None,
        }
    }

    /// The Chess960 number of the start position of games that have not begun; `None` until it is drawn.
    pub(in crate::outputs) fn unplayed_number(&self) -> Option<u16> {
        match &self.facts.start {
            Some(DrawnStart::Chess960(placement)) => tree::number_of_start(placement.as_deref()?),
            Some(DrawnStart::Standard) | None => Some(tree::USUAL_START),
        }
    }

    /// The id of a game. Corrections of players' names do not change it.
    fn id_of(&self, slot: &Slot<'_>) -> String {
        let name = self.name().unwrap_or("kiebitz");
        let mut id = String::new();
        for c in name.chars() {
            if c.is_alphanumeric() {
                id.extend(c.to_lowercase());
            } else if !id.is_empty() && !id.ends_with('-') {
                id.push('-');
            }
        }
        let _ = write!(
            id,
            "{}{}.{}",
            if id.ends_with('-') { "" } else { "-" },
            slot.round,
            slot.table
        );
        id
    }

    /// The name of the event: from the configuration, or else from the pairings.
    pub(in crate::outputs) fn name(&self) -> Option<&str> {
        self.facts.name.as_deref().or(self.tournament.name.as_deref())
    }

    /// The time control of a round in the format of PGN.
    fn time_control(&self, round: u32) -> Option<String> {
        let own = self.tournament.time_control(round);
        let control = own.and_then(|text| text.parse::<TimeControl>().ok());
        let control = control.and_then(|control| control.pgn());
        control.or_else(|| self.facts.time_control.clone())
    }

    /// The clock of a game, and the time from which a viewer of the delayed broadcast counts down.
    pub(in crate::outputs) fn clock_of(&self, game: &ShownGame) -> Option<(ClockView, Timestamp)> {
        let board = self.boards.get(&game.record.board)?;
        let clock = board
            .clock
            .filter(|_| board.game.as_ref() == Some(&game.record.game))?;
        Some((clock, clock.as_of? + self.delay))
    }
}

impl WrittenStandings {
    fn of(standings: Option<standings::Standings>) -> Option<Self> {
        let standings = standings?;
        let content = serde_json::to_vec(&standings).unwrap_or_default();
        let version = version_of(&content);
        Some(Self {
            content: PublishedFile::new(content),
            version,
            tie_breaks: standings.tie_breaks,
        })
    }
}

/// A version that differs for different contents of a file.
fn version_of(content: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Whether an event may change the result or the players of a game.
const fn changes_results(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::GameStarted { .. }
            | EventKind::GameEnded { .. }
            | EventKind::GameResumed { .. }
            | EventKind::GameAmended { .. }
    )
}

/// The round of a game; round 1 if unknown.
fn round_of(game: &ShownGame) -> Option<u32> {
    Some(game.place().0.unwrap_or(1))
}

fn day(at: Timestamp) -> String {
    let text = kiebitz_game::events::time_text(at);
    text.split('T').next().unwrap_or_default().to_owned()
}

/// Maximum round number. A higher one is an error in a file and must not fill the disk.
pub(in crate::outputs) const MAX_ROUNDS: u32 = 999;

/// Converts a PGN time control into the usual notation: "90+30" for "5400+30".
fn usual_notation(pgn: String) -> String {
    TimeControl::from_pgn(&pgn).map_or(pgn, |control| control.to_string())
}

#[cfg(test)]
mod tests;
