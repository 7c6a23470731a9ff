//! A server that accepts broadcasts like lichess.org, following its source and documentation: it assigns games to
//! boards, refuses games, and has typical failures.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Visitor};
use serde_json::{Value, json};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Position};
use tokio::net::TcpListener;

pub(crate) const TOKEN: &str = "lip_right";
/// Limit of Lichess on the number of games in one push. Further games are dropped.
const MAX_GAMES: usize = 100;
/// Id of the broadcast.
const TOUR: &str = "tour0001";
/// Limit of Lichess on the number of rounds of a broadcast.
const MAX_ROUNDS: usize = 64;
/// Fields of the form of a broadcast, as in lila's RelayTourForm.scala.
const TOUR_FIELDS: &str = "name info.format info.tc info.fideTC info.location info.timeZone info.players info.website \
    info.standings info.regulations markdown visibility tier showScores showRatingDiffs tiebreaks teamTable players \
    teams showTeamScores spotlight grouping pinnedStream note orphanWarn";
/// Fields of the form of a round, as in lila's RelayRoundForm.scala.
const ROUND_FIELDS: &str = "name caption syncSource syncUrl syncUrls syncIds syncUsers startsAt startsAfterPrevious \
    status period delay onlyRound slices rated customScoring";
/// Limit of Lichess on the length of one push, in bytes.
const MAX_TEXT: usize = 512 << 10;

/// A game of a round, as viewers see it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chapter {
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) moves: Vec<String>,
    /// Clock comment after each move, as written.
    pub(crate) clocks: Vec<Option<String>>,
}

#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Games of each round, by the round's name.
    pub(crate) rounds: BTreeMap<String, Vec<Chapter>>,
    pub(crate) broadcasts: Vec<String>,
    /// The form of the broadcast, edits included.
    pub(crate) tour: Form,
    /// The form of each round, edits included, by the round's name.
    pub(crate) forms: BTreeMap<String, Form>,
    pub(crate) edits: usize,
    /// Whether to refuse all edits of the broadcast.
    pub(crate) refuses_edits: bool,
    /// Whether to answer 503 to all pushes.
    pub(crate) is_unavailable: bool,
    /// Reasons of refused forms.
    pub(crate) refused_forms: Vec<String>,
    pub(crate) pushes: usize,
    /// Reasons of refused games.
    pub(crate) refused: Vec<String>,
    /// Whether two requests overlapped.
    pub(crate) crowded: bool,
    /// Tags of games whose start position changed after they had arrived, or whose Chess960 start position was missing.
    pub(crate) premature: Vec<String>,
}

/// The fields of a form.
pub(crate) type Form = BTreeMap<String, String>;

/// Failure of a push.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Trouble {
    /// Answers 429.
    TooMany,
    /// Answers 502 and stores nothing.
    HangsUp,
    /// Reports success, but stores nothing.
    Forgets,
}

#[derive(Debug, Clone)]
pub(crate) struct Lichess {
    pub(crate) address: SocketAddr,
    pub(crate) held: Arc<Mutex<Held>>,
    busy: Arc<AtomicUsize>,
    troubles: Arc<BTreeMap<usize, Trouble>>,
}

impl Lichess {
    pub(crate) async fn start(troubles: impl IntoIterator<Item = (usize, Trouble)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let lichess = Self {
            address: listener.local_addr().expect("an address"),
            held: Arc::default(),
            busy: Arc::default(),
            troubles: Arc::new(troubles.into_iter().collect()),
        };
        let router = Router::new()
            .route("/api/token/test", post(test_token))
            .route("/broadcast/new", post(new_broadcast))
            .route("/broadcast/{id}/new", post(new_round))
            .route("/broadcast/{id}/edit", post(edit_broadcast))
            .route("/broadcast/round/{id}/edit", post(edit_round))
            .route("/api/broadcast/{id}", get(broadcast))
            .route("/api/broadcast/round/{id}/push", post(push))
            .layer(DefaultBodyLimit::max(4 << 20))
            .with_state(lichess.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        lichess
    }

    /// Deletes the broadcast with its rounds, as its owner can do on the site.
    pub(crate) fn delete_broadcast(&self) {
        let mut held = self.held.lock().expect("no panic");
        held.broadcasts.clear();
        held.rounds.clear();
        held.forms.clear();
    }

    pub(crate) fn see<T>(&self, read: impl FnOnce(&Held) -> T) -> T {
        read(&self.held.lock().expect("no panic"))
    }
}

async fn test_token(token: String) -> Response {
    let known = (token == TOKEN).then(|| json!({"scopes": "study:read,study:write", "userId": "club"}));
    axum_json(json!({ token: known }))
}

fn axum_json(value: Value) -> Response {
    ([("content-type", "application/json")], value.to_string()).into_response()
}

fn is_allowed(headers: &HeaderMap) -> bool {
    headers
        .get("authorization")
        .is_some_and(|value| value == &format!("Bearer {TOKEN}"))
}

/// Decodes a form (application/x-www-form-urlencoded).
fn decoded(form: &str) -> Form {
    let pairs = form.split('&').map(|pair| pair.split_once('=').expect("a field"));
    let text = |escaped: &str| {
        let mut bytes = Vec::new();
        let mut rest = escaped.bytes();
        while let Some(byte) = rest.next() {
            if byte == b'%' {
                let hex = [rest.next(), rest.next()].into_iter().flatten();
                let hex: String = hex.map(char::from).collect();
                bytes.push(u8::from_str_radix(&hex, 16).expect("two digits"));
            } else {
                bytes.push(if byte == b'+' { b' ' } else { byte });
            }
        }
        String::from_utf8(bytes).expect("UTF-8")
    };
    pairs.map(|(name, value)| (text(name), text(value))).collect()
}

/// The first error of a form. Lichess ignores unknown fields; here they are errors, so that no name is misspelt.
fn error_of(form: &Form, fields: &str) -> Option<String> {
    let is_known = |name: &str| fields.split_whitespace().any(|field| field == name);
    if let Some(unknown) = form.keys().find(|name| !is_known(name)) {
        return Some(format!("{unknown}: unknown"));
    }
    let text = |name: &str| form.get(name).map_or("", |value| value.trim());
    let is_short = |name: &str, max: usize| text(name).encode_utf16().count() <= max;
    if text("name").encode_utf16().count() < 3 || !is_short("name", 80) {
        return Some(format!("name: {:?}", text("name")));
    }
    for (name, max) in [
        ("info.tc", 80),
        ("info.location", 80),
        ("info.format", 80),
        ("info.players", 120),
    ] {
        if !is_short(name, max) {
            return Some(format!("{name}: too long"));
        }
    }
    for name in [
        "showScores",
        "showRatingDiffs",
        "teamTable",
        "showTeamScores",
        "orphanWarn",
        "rated",
    ] {
        if !["", "true", "false"].contains(&text(name)) {
            return Some(format!("{name}: not a boolean"));
        }
    }
    if !["", "new", "started", "finished"].contains(&text("status")) {
        return Some("status: unknown".to_owned());
    }
    let starts = text("startsAt");
    if !starts.is_empty() && starts.parse::<i64>().is_err() {
        return Some("startsAt: not a timestamp".to_owned());
    }
    let is_set = |name: &str| text(name) == "true";
    if is_set("showTeamScores") && !is_set("teamTable") {
        return Some("Team scores can only be shown if team table is enabled".to_owned());
    }
    if !text("tiebreaks").is_empty() && !is_set("showScores") {
        return Some("Tiebreaks submitted without automatic scoring enabled".to_owned());
    }
    None
}

impl Held {
    /// The answer to a form with an error; `None` if Lichess accepts the form.
    fn refusal(&mut self, form: &Form, fields: &str) -> Option<Response> {
        let error = error_of(form, fields)?;
        self.refused_forms.push(error.clone());
        let answer = axum_json(json!({ "error": { "global": [error] } }));
        Some((StatusCode::BAD_REQUEST, answer).into_response())
    }
}

/// The form after an edit. Without the query `patch`, fields that were not sent lose their values.
fn edited(before: &Form, sent: Form, query: Option<&str>) -> Form {
    let is_patch = query == Some("patch=true");
    let before = if is_patch { before.clone() } else { Form::new() };
    before.into_iter().chain(sent).collect()
}

async fn new_broadcast(State(lichess): State<Lichess>, headers: HeaderMap, form: String) -> Response {
    if !is_allowed(&headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let form = decoded(&form);
    let mut held = lichess.held.lock().expect("no panic");
    if let Some(refused) = held.refusal(&form, TOUR_FIELDS) {
        return refused;
    }
    let name = form["name"].clone();
    held.broadcasts.push(name.clone());
    held.tour = form;
    axum_json(json!({"tour": {"id": TOUR, "name": name}, "rounds": []}))
}

async fn edit_broadcast(
    State(lichess): State<Lichess>,
    Path(tour): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    form: String,
) -> Response {
    if !is_allowed(&headers) || tour != TOUR {
        return StatusCode::NOT_FOUND.into_response();
    }
    let mut held = lichess.held.lock().expect("no panic");
    if held.refuses_edits {
        held.refused_forms.push("edit".to_owned());
        return StatusCode::BAD_REQUEST.into_response();
    }
    let form = edited(&held.tour, decoded(&form), query.as_deref());
    if let Some(refused) = held.refusal(&form, TOUR_FIELDS) {
        return refused;
    }
    held.tour = form;
    held.edits += 1;
    axum_json(json!({"ok": true}))
}

async fn edit_round(
    State(lichess): State<Lichess>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    form: String,
) -> Response {
    let mut held = lichess.held.lock().expect("no panic");
    let name = held.forms.keys().find(|name| id_of(name) == id).cloned();
    let Some(name) = name.filter(|_| is_allowed(&headers)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let form = edited(&held.forms[&name], decoded(&form), query.as_deref());
    if let Some(refused) = held.refusal(&form, ROUND_FIELDS) {
        return refused;
    }
    held.forms.insert(name.clone(), form);
    held.edits += 1;
    axum_json(json!({"round": {"id": id, "name": name}}))
}

/// Id of a round: its name, padded to eight characters.
fn id_of(name: &str) -> String {
    format!("{:0>8}", name.replace(' ', ""))
}

async fn new_round(
    State(lichess): State<Lichess>,
    Path(tour): Path<String>,
    headers: HeaderMap,
    form: String,
) -> Response {
    if !is_allowed(&headers) || tour != TOUR {
        return StatusCode::NOT_FOUND.into_response();
    }
    let form = decoded(&form);
    let mut held = lichess.held.lock().expect("no panic");
    if held.rounds.len() >= MAX_ROUNDS {
        return StatusCode::BAD_REQUEST.into_response();
    }
    if let Some(refused) = held.refusal(&form, ROUND_FIELDS) {
        return refused;
    }
    let name = form["name"].clone();
    held.rounds.insert(name.clone(), Vec::new());
    held.forms.insert(name.clone(), form);
    axum_json(json!({"round": {"id": id_of(&name), "name": name}, "tour": {"id": tour}, "study": {}}))
}

async fn broadcast(State(lichess): State<Lichess>, Path(tour): Path<String>) -> Response {
    if lichess.see(|held| held.broadcasts.is_empty()) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let rounds = lichess.see(|held| {
        let names = held.rounds.keys();
        names
            .map(|name| json!({"id": id_of(name), "name": name}))
            .collect::<Vec<_>>()
    });
    axum_json(json!({"tour": {"id": tour}, "rounds": rounds}))
}

async fn push(
    State(lichess): State<Lichess>,
    Path(id): Path<String>,
    headers: HeaderMap,
    text: String,
) -> Response {
    if !is_allowed(&headers) {
        return StatusCode::FORBIDDEN.into_response();
    }
    if lichess.busy.fetch_add(1, Ordering::SeqCst) > 0 {
        lichess.held.lock().expect("no panic").crowded = true;
    }
    tokio::time::sleep(Duration::from_millis(30)).await;
    let response = lichess.take(&id, &text);
    lichess.busy.fetch_sub(1, Ordering::SeqCst);
    response
}

impl Lichess {
    fn take(&self, id: &str, text: &str) -> Response {
        let mut held = self.held.lock().expect("no panic");
        held.pushes += 1;
        if held.is_unavailable {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
        let trouble = self.troubles.get(&held.pushes).copied();
        match trouble {
            Some(Trouble::TooMany) => return StatusCode::TOO_MANY_REQUESTS.into_response(),
            Some(Trouble::HangsUp) => return StatusCode::BAD_GATEWAY.into_response(),
            Some(Trouble::Forgets) | None => {}
        }
        if text.len() > MAX_TEXT {
            return StatusCode::PAYLOAD_TOO_LARGE.into_response();
        }
        let Some(name) = held.rounds.keys().find(|name| id_of(name) == id).cloned() else {
            return StatusCode::NOT_FOUND.into_response();
        };
        let mut boards = held.rounds.remove(&name).unwrap_or_default();
        let (mut taken, mut answers) = (Vec::new(), Vec::new());
        for game in text.split("\n\n[").take(MAX_GAMES) {
            let game = if game.starts_with('[') {
                game.to_owned()
            } else {
                format!("[{game}")
            };
            let read = read(&game);
            let tags = read
                .as_ref()
                .map_or_else(|(tags, _)| tags, |chapter| &chapter.tags);
            let is_chess960 = tags.get("Variant").is_some_and(|variant| variant == "Chess960");
            let is_known = boards
                .iter()
                .find(|board| board.tags.get("GameId") == tags.get("GameId"));
            if is_known.is_some_and(|board| board.tags.get("FEN") != tags.get("FEN"))
                || is_chess960 != tags.contains_key("FEN")
            {
                held.premature.push(format!("{tags:?}"));
            }
            let (chapter, error) = match read {
                Ok(chapter) => (chapter, None),
                Err((tags, error)) => (
                    Chapter {
                        tags,
                        ..Chapter::default()
                    },
                    Some(error),
                ),
            };
            if let Some(error) = error {
                held.refused.push(error.clone());
                answers.push(json!({"tags": chapter.tags, "error": error}));
                continue;
            }
            let found = (0..boards.len())
                .filter(|nth| !taken.contains(nth))
                .find(|nth| is_same_game(&boards[*nth], &chapter));
            let nth = found.unwrap_or(boards.len());
            taken.push(nth);
            if matches!(trouble, Some(Trouble::Forgets)) {
                let moves = boards.get(nth).map_or(0, |board| board.moves.len());
                answers.push(json!({"tags": chapter.tags, "moves": moves}));
                continue;
            }
            answers.push(json!({"tags": chapter.tags, "moves": chapter.moves.len()}));
            match boards.get_mut(nth) {
                Some(board) => *board = chapter,
                None => boards.push(chapter),
            }
        }
        held.rounds.insert(name, boards);
        axum_json(json!({ "games": answers }))
    }
}

/// Whether a game belongs to a board: both have the same id, or the same event, round and table and either the same
/// players or the same moves as far as both go.
fn is_same_game(board: &Chapter, game: &Chapter) -> bool {
    let tag = |name: &str| (board.tags.get(name), game.tags.get(name));
    let equal = |name: &str| matches!(tag(name), (Some(one), Some(other)) if one == other);
    if equal("GameId") {
        return true;
    }
    let place = ["Event", "Site", "Round", "Board"]
        .into_iter()
        .all(|name| tag(name).0 == tag(name).1);
    let players = (equal("WhiteFideId") && equal("BlackFideId")) || (equal("White") && equal("Black"));
    let shorter = board.moves.len().min(game.moves.len());
    place && (players || board.moves[..shorter] == game.moves[..shorter])
}

/// Reads a game. Fails if the game has an illegal move, as Lichess refuses such a game completely.
pub(crate) fn read(game: &str) -> Result<Chapter, (BTreeMap<String, String>, String)> {
    let mut reader = Reader::new(game.as_bytes());
    let read = reader.read_game(&mut Scribe).expect("text").unwrap_or_default();
    match read.error {
        None => Ok(read.chapter),
        Some(error) => Err((read.chapter.tags, error)),
    }
}

#[derive(Default)]
struct Read {
    chapter: Chapter,
    position: Chess,
    error: Option<String>,
}

struct Scribe;

impl Visitor for Scribe {
    type Tags = Read;
    type Movetext = Read;
    type Output = Read;

    fn begin_tags(&mut self) -> ControlFlow<Read, Read> {
        ControlFlow::Continue(Read::default())
    }

    fn tag(&mut self, read: &mut Read, name: &[u8], value: RawTag<'_>) -> ControlFlow<Read> {
        let name = String::from_utf8_lossy(name).into_owned();
        let value = value.decode_utf8_lossy().into_owned();
        if !["", "?", "unknown"].contains(&&*value) {
            read.chapter.tags.insert(name, value);
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, mut read: Read) -> ControlFlow<Read, Read> {
        let tags = &read.chapter.tags;
        let mode =
            CastlingMode::from_chess960(tags.get("Variant").is_some_and(|variant| variant == "Chess960"));
        if let Some(fen) = tags.get("FEN") {
            let position = fen
                .parse::<Fen>()
                .ok()
                .and_then(|fen| fen.into_position(mode).ok());
            match position {
                Some(position) => read.position = position,
                None => read.error = Some("Invalid FEN".to_owned()),
            }
        }
        ControlFlow::Continue(read)
    }

    fn san(&mut self, read: &mut Read, san: SanPlus) -> ControlFlow<Read> {
        match san.san.to_move(&read.position) {
            Ok(played) => {
                read.position.play_unchecked(played);
                read.chapter.moves.push(san.to_string());
                read.chapter.clocks.push(None);
            }
            Err(_) => read.error = read.error.take().or_else(|| Some(format!("Cannot play {san}"))),
        }
        ControlFlow::Continue(())
    }

    fn comment(&mut self, read: &mut Read, comment: RawComment<'_>) -> ControlFlow<Read> {
        let text = String::from_utf8_lossy(comment.as_bytes()).into_owned();
        let clock = text
            .split_once("[%clk ")
            .and_then(|(_, rest)| rest.split_once(']'));
        if let (Some((clock, _)), Some(last)) = (clock, read.chapter.clocks.last_mut()) {
            *last = Some(clock.to_owned());
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, read: Read) -> Read {
        read
    }
}
