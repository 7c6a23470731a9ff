//! What is shown of the demonstration.

use std::io::{self, Write};

use shakmaty::Bitboard;

use super::broker::Broker;
use super::{Speed, Venue};
use crate::events::ExplainedEvent;
use crate::events::record::Games;
use crate::hall::Board;
use crate::output::mqtt::Message;
use crate::output::terminal::{self, Pen, Scene};
use crate::tracker::ClockFace;

/// Everything on the screen.
#[derive(Debug)]
pub(super) struct Stage {
    pen: Pen,
    speed: Speed,
    port: Option<u16>,
    placement: shakmaty::Board,
    differs: Bitboard,
    clock: Option<ClockFace>,
    last_move: Bitboard,
    games: Games,
    /// The topic and the payload of the event published last.
    published: Option<(String, String)>,
    /// Plies of the current game.
    plies: usize,
    ended: bool,
}

/// One step of the replay, and what came of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'s> {
    pub(super) board: &'s Board,
    pub(super) said: &'s [ExplainedEvent],
    pub(super) published: &'s [Message],
}

/// A file or a pipe: one block per move.
#[derive(Debug)]
pub(super) struct Paper<'w, W> {
    out: &'w mut W,
    plies: usize,
    ended: bool,
}

/// Columns for a payload in a terminal of 80.
const PAYLOAD_WIDTH: usize = 74;

impl Stage {
    pub(super) fn new(pen: Pen, speed: Speed, broker: &Broker) -> Self {
        Self {
            pen,
            speed,
            port: broker.port(),
            placement: shakmaty::Board::empty(),
            differs: Bitboard::EMPTY,
            clock: None,
            last_move: Bitboard::EMPTY,
            games: Games::new(),
            published: None,
            plies: 0,
            ended: false,
        }
    }

    pub(super) fn update(&mut self, step: &Step<'_>) {
        let tracker = step.board.tracker();
        self.placement.clone_from(tracker.placement());
        self.differs = tracker.expected().map_or(Bitboard::EMPTY, |(_, differs)| differs);
        self.clock = tracker.clock();
        for said in step.said {
            self.games.apply(&said.event);
            if let Some(uci) = said.ply.as_ref().and_then(|ply| ply.uci) {
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

    /// The whole screen.
    pub(super) fn frame(&self) -> Vec<String> {
        let mut lines = vec![format!(" {}", self.title()), String::new()];
        lines.extend(terminal::draw(&self.scene(), self.pen));
        lines.push(String::new());
        lines.push(format!(" {}", terminal::legend(self.pen)));
        lines.push(String::new());
        if let Some((topic, payload)) = &self.published {
            lines.push(format!(" {topic}"));
            lines.push(format!("   {payload}"));
            lines.push(String::new());
        }
        lines.extend(self.subscribe());
        lines
    }

    fn title(&self) -> String {
        let speed = match self.speed {
            Speed::Max => "as fast as it goes".to_owned(),
            Speed::Times(1.0) => "as fast as it was played".to_owned(),
            Speed::Times(times) => format!("{times} times as fast as it was played"),
        };
        format!("kiebitz demo: a recorded game, {speed}")
    }

    /// How to see what is published.
    fn subscribe(&self) -> Vec<String> {
        match self.port {
            Some(port) => vec![
                " Everything is published over MQTT. To see it, run this in another window:".to_owned(),
                format!("   mosquitto_sub -h 127.0.0.1 -p {port} -V 5 -v -t 'kiebitz/#'"),
            ],
            None => vec![
                " This kiebitz was built without its MQTT broker: nothing is published. With another:"
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

    /// Prints the end of the demonstration; on a terminal the last frame as well, which leaving the alternate screen
    /// has removed.
    pub(super) fn farewell(&self, out: &mut impl Write, venue: Venue, wait: bool) -> io::Result<()> {
        if venue != Venue::Paper {
            for line in terminal::draw(&self.scene(), self.pen) {
                writeln!(out, "{line}")?;
            }
            writeln!(out)?;
        }
        if let Some(game) = self.games.current() {
            writeln!(
                out,
                "{}, in {} moves.",
                crate::output::sheet::result_text(game),
                game.moves.len().div_ceil(2)
            )?;
        }
        writeln!(out, "\nTo replay a recording from your own board:")?;
        writeln!(out, "  kiebitz replay FILE.pcapng")?;
        match (self.port, wait) {
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
        writeln!(out, "{}", stage.title())?;
        for line in stage.subscribe() {
            writeln!(out, "{}", line.trim_start_matches(' '))?;
        }
        writeln!(out)?;
        out.flush()?;
        Ok(Self {
            out,
            plies: 0,
            ended: false,
        })
    }

    /// Prints a block if a move was made or the game ended.
    pub(super) fn print(&mut self, stage: &Stage) -> io::Result<()> {
        if stage.plies == self.plies && stage.ended == self.ended {
            return Ok(());
        }
        (self.plies, self.ended) = (stage.plies, stage.ended);
        for line in terminal::draw(&stage.scene(), stage.pen) {
            writeln!(self.out, "{line}")?;
        }
        writeln!(self.out)?;
        self.out.flush()
    }
}

/// The squares that a move in UCI names.
fn squares(uci: shakmaty::uci::UciMove) -> Bitboard {
    match uci {
        shakmaty::uci::UciMove::Normal { from, to, .. } => [from, to].into_iter().collect(),
        shakmaty::uci::UciMove::Put { to, .. } => Bitboard::from_square(to),
        shakmaty::uci::UciMove::Null => Bitboard::EMPTY,
    }
}

/// As much of an event as fits into a line, without the fields that all events begin with.
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
