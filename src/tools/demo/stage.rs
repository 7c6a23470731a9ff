//! Layout of the demonstration on a terminal or in a file.

use std::io::{self, Write};

use kiebitz_game::clock::Clock;
use kiebitz_game::events::record::Games;
use kiebitz_game::events::{EventKind, ExplainedEvent};
use kiebitz_game::hall::Board;
use kiebitz_game::laws::Severity;
use shakmaty::Bitboard;

use super::broker::DemoBroker;
use super::{Act, Speed};
use crate::outputs::mqtt::Message;
use crate::outputs::shared::wrap::wrapped;
use crate::outputs::terminal::{self, Pen, Scene, StyledLine};

#[derive(Debug)]
pub(super) struct Stage {
    pen: Pen,
    /// Speed from the command line; `speed` is that of the current recording.
    requested_speed: Speed,
    speed: Speed,
    caption: &'static str,
    port: Option<u16>,
    /// Lines with the addresses of the web pages.
    pages: Vec<String>,
    placement: shakmaty::Board,
    differs: Bitboard,
    clock: Option<Clock>,
    last_move: Bitboard,
    games: Games,
    /// Topic and payload of the event published last.
    published: Option<(String, String)>,
    /// Lines of the latest remark about an incident or a changed move.
    remark: Vec<String>,
    /// Result of the first game; `None` until the next recording begins.
    outcome: Option<String>,
    plies: usize,
    ended: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ReplayStep<'s> {
    pub(super) board: &'s Board,
    pub(super) explained: &'s [ExplainedEvent],
    pub(super) published: &'s [Message],
}

/// Output into a file or a pipe, with one block per move.
#[derive(Debug)]
pub(super) struct Paper<'w, W> {
    out: &'w mut W,
    plies: usize,
    ended: bool,
    remark: Vec<String>,
}

/// Width of a remark, in columns.
const REMARK_WIDTH: usize = 78;
/// Width of a payload, in columns, on a terminal of 80 columns.
const PAYLOAD_WIDTH: usize = 74;

impl Stage {
    pub(super) fn new(pen: Pen, speed: Speed, broker: &DemoBroker, pages: &[String]) -> Self {
        Self {
            pen,
            requested_speed: speed,
            speed,
            caption: "",
            port: broker.port(),
            pages: pages.to_vec(),
            placement: shakmaty::Board::empty(),
            differs: Bitboard::EMPTY,
            clock: None,
            last_move: Bitboard::EMPTY,
            games: Games::new(),
            published: None,
            remark: Vec::new(),
            outcome: None,
            plies: 0,
            ended: false,
        }
    }

    /// Resets the state for the next recording.
    pub(super) fn begin(&mut self, act: &Act) {
        if let (None, Some(game)) = (&self.outcome, self.games.current()) {
            let moves = game.moves.len().div_ceil(2);
            self.outcome = Some(format!(
                "{}, in {moves} moves.",
                crate::outputs::sheet::result_text(game)
            ));
        }
        self.caption = act.caption;
        self.speed = act.speed(self.requested_speed);
        self.placement = shakmaty::Board::empty();
        self.last_move = Bitboard::EMPTY;
        self.games = Games::new();
        self.remark.clear();
        (self.plies, self.ended) = (0, false);
    }

    pub(super) fn update(&mut self, step: &ReplayStep<'_>) {
        let board = step.board;
        self.placement.clone_from(board.placement());
        self.differs = board.expected().map_or(Bitboard::EMPTY, |(_, differs)| differs);
        self.clock = board.clock().map(|face| face.clock);
        for explained in step.explained {
            if let Some(remark) = remark(&explained.event.kind, &self.games) {
                self.remark = wrapped(&remark, REMARK_WIDTH, 1, 1);
            }
            self.games.apply(&explained.event);
            if let Some(uci) = explained.ply.as_ref().and_then(|ply| ply.uci) {
                self.last_move = squares(uci);
            }
        }
        if let Some(game) = self.games.current() {
            self.plies = game.moves.len();
            self.ended = game.ended.is_some();
        }
        if let Some(event) = step.published.iter().rfind(|message| !message.is_retained()) {
            self.published = Some((event.topic.to_string(), shortened(&event.payload)));
        }
    }

    pub(super) fn frame(&self) -> Vec<StyledLine> {
        let mut lines = vec![
            format!(" {}", self.title()).into(),
            format!(" {}", self.speed()).into(),
            StyledLine::default(),
        ];
        lines.extend(terminal::draw(&self.scene(), self.pen));
        lines.push(StyledLine::default());
        // A terminal of 24 lines has no room for both, so a remark replaces the legend and the event.
        if self.remark.is_empty() {
            lines.push(StyledLine::from(" ").followed_by(terminal::legend(self.pen)));
            lines.push(StyledLine::default());
            if let Some((topic, payload)) = &self.published {
                lines.push(format!(" {topic}").into());
                lines.push(format!("   {payload}").into());
                lines.push(StyledLine::default());
            }
            lines.extend(self.instructions().into_iter().map(StyledLine::from));
        } else {
            lines.extend(self.remark.iter().cloned().map(StyledLine::from));
        }
        lines
    }

    /// Draws the board at the end, followed by an empty line.
    pub(super) fn last_frame(&self) -> Vec<StyledLine> {
        let mut lines = terminal::draw(&self.scene(), self.pen);
        lines.push(StyledLine::default());
        lines
    }

    fn title(&self) -> String {
        format!("kiebitz demo: {}", self.caption)
    }

    fn speed(&self) -> String {
        let speed = match self.speed {
            Speed::Max => "as fast as it goes".to_owned(),
            Speed::Times(1.0) => "as fast as it was played".to_owned(),
            Speed::Times(times) => format!("{times} times as fast as it was played"),
        };
        format!("Shown {speed}.")
    }

    /// Lines that explain how to follow the demonstration in a browser and over MQTT.
    fn instructions(&self) -> Vec<String> {
        let pages = self.pages.iter().map(|page| format!(" {page}"));
        pages.chain(self.mqtt_instructions()).collect()
    }

    fn mqtt_instructions(&self) -> Vec<String> {
        match self.port {
            Some(port) => vec![
                " Everything is published over MQTT. To see it, run this in another window:".to_owned(),
                format!("   mosquitto_sub -h 127.0.0.1 -p {port} -V 5 -v -t 'kiebitz/#'"),
            ],
            None => vec![
                " This kiebitz was built without an MQTT broker: nothing is published. To use another broker:"
                    .to_owned(),
                "   kiebitz replay --speed 5 --mqtt mqtt://localhost FILE.pcapng".to_owned(),
            ],
        }
    }

    fn scene(&self) -> Scene<'_> {
        Scene {
            placement: &self.placement,
            last_move: self.last_move,
            differs: self.differs,
            clock: self.clock,
            game: self.games.current(),
        }
    }

    /// Prints the closing text. `keeps_running` is true if the pages and the broker stay available until Ctrl-C.
    pub(super) fn print_closing(&self, out: &mut impl Write, keeps_running: bool) -> io::Result<()> {
        if let Some(outcome) = &self.outcome {
            writeln!(out, "The first game: {outcome}")?;
        }
        if !self.pages.is_empty() && keeps_running {
            writeln!(
                out,
                "\nThe pages stay until Ctrl-C; at the desk, an illegal move waits for a decision:"
            )?;
            for page in &self.pages {
                writeln!(out, "  {page}")?;
            }
        }
        if !self.pages.is_empty() && !keeps_running {
            writeln!(
                out,
                "\nTo decide about an illegal move at the arbiters' desk, in a browser:"
            )?;
            writeln!(out, "  kiebitz demo --speed max --wait")?;
        }
        writeln!(out, "\nTo replay a recording from your own board:")?;
        writeln!(out, "  kiebitz replay FILE.pcapng")?;
        match (self.port, keeps_running) {
            (Some(port), true) => {
                writeln!(out, "\nThe broker keeps running on port {port} until Ctrl-C:")?;
                writeln!(
                    out,
                    "  mosquitto_sub -h 127.0.0.1 -p {port} -V 5 -v -t 'kiebitz/#'"
                )?;
            }
            (None, true) => writeln!(out, "\nCtrl-C ends the demo.")?,
            (_, false) => {}
        }
        out.flush()
    }
}

impl<'w, W: Write> Paper<'w, W> {
    pub(super) fn begin(out: &'w mut W, stage: &Stage) -> io::Result<Self> {
        for line in stage.instructions() {
            writeln!(out, "{}", line.trim_start_matches(' '))?;
        }
        writeln!(out)?;
        out.flush()?;
        Ok(Self {
            out,
            plies: 0,
            ended: false,
            remark: Vec::new(),
        })
    }

    pub(super) fn begin_act(&mut self, stage: &Stage) -> io::Result<()> {
        (self.plies, self.ended) = (0, false);
        self.remark.clear();
        writeln!(self.out, "{}\n{}\n", stage.title(), stage.speed())?;
        self.out.flush()
    }

    /// Prints a block if there is a new move, result or remark.
    pub(super) fn print(&mut self, stage: &Stage) -> io::Result<()> {
        let remarked = stage.remark != self.remark;
        if stage.plies == self.plies && stage.ended == self.ended && !remarked {
            return Ok(());
        }
        (self.plies, self.ended) = (stage.plies, stage.ended);
        if remarked {
            self.remark.clone_from(&stage.remark);
            for line in &self.remark {
                writeln!(self.out, "{line}")?;
            }
            writeln!(self.out)?;
        }
        for line in terminal::draw(&stage.scene(), stage.pen) {
            writeln!(self.out, "{line}")?;
        }
        writeln!(self.out)?;
        self.out.flush()
    }
}

/// Describes an incident or a changed move in words; `None` for any other event. `games` is the state before the event.
fn remark(kind: &EventKind, games: &Games) -> Option<String> {
    match kind {
        EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident)
            if incident.severity >= Severity::Hint =>
        {
            Some(format!(
                "To the arbiter (Art. {}): {}",
                incident.article, incident.advice
            ))
        }
        EventKind::MoveAmended { played, .. } => {
            let before = games
                .current()?
                .moves
                .iter()
                .find(|entry| entry.ply == played.ply)?;
            let name = |san: &Option<String>, uci: &Option<String>| san.clone().or_else(|| uci.clone());
            let (before, now) = (name(&before.san, &before.uci)?, name(&played.san, &played.uci)?);
            Some(format!("Corrected: {now} was played, not {before}."))
        }
        EventKind::MoveRetracted { .. } => Some("Withdrawn: the move was taken back.".to_owned()),
        _ => None,
    }
}

fn squares(uci: shakmaty::uci::UciMove) -> Bitboard {
    match uci {
        shakmaty::uci::UciMove::Normal { from, to, .. } => [from, to].into_iter().collect(),
        shakmaty::uci::UciMove::Put { to, .. } => Bitboard::from_square(to),
        shakmaty::uci::UciMove::Null => Bitboard::EMPTY,
    }
}

/// Shortens an event to one line and leaves out the fields that all events begin with.
fn shortened(payload: &[u8]) -> String {
    let text = String::from_utf8_lossy(payload);
    let rest = text
        .find("\"type\"")
        .map_or_else(|| text.to_string(), |at| format!("{{... {}", &text[at..]));
    if rest.chars().count() <= PAYLOAD_WIDTH {
        return rest;
    }
    let begin: String = rest.chars().take(PAYLOAD_WIDTH - 3).collect();
    format!("{begin}...")
}
