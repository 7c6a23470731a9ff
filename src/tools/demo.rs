//! `kiebitz demo`: replays recorded games at a readable pace. The first game runs from beginning to end; three more
//! excerpts each show an incident that no move list contains.
//!
//! src/tools/demo/game.pcapng is number 019 of the "clean" captures of the project's corpus: simulated hands on a
//! simulated board, with a game from the Lichess open database (CC0), <https://lichess.org/6dhFDWgL>. The other
//! recordings are captures of the tests: dragged-queen, dragged-to-capture and king-left-in-check-pressed.

mod broker;
mod pages;
mod part;
mod stage;

use std::io::{self, Write};

use anyhow::Result;
use kiebitz_game::events::EventKind;
use kiebitz_game::laws::{IncidentKind, Severity};

use crate::Exit;
use crate::exit::Stop;
use crate::outputs::mqtt::Message;
use crate::outputs::terminal::Pen;
use crate::replay::publish::BrokerConnection;
use crate::system_time::{Pace, Speed};
use broker::DemoBroker;
use pages::Pages;
use part::Part;
use stage::{Paper, Stage};

/// Options of the demonstration.
#[derive(Debug, Clone)]
pub struct Demo {
    /// Replay speed.
    pub speed: Speed,
    /// Port of the MQTT broker. If `None`, the broker uses 1883 or, if that port is taken, any free port.
    pub port: Option<u16>,
    /// Whether the demonstration keeps running after the last recording, until Ctrl-C.
    pub wait: bool,
    /// Whether to draw pieces as letters.
    pub ascii: bool,
}

/// Kind of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Venue {
    /// A terminal. Frames are drawn in place.
    Screen {
        /// Whether the terminal shows colours.
        colors: bool,
    },
    /// A file or a pipe. One block of text is printed per move.
    Paper,
}

#[derive(Debug, Clone, Copy)]
struct Act {
    capture: &'static [u8],
    stream: &'static str,
    /// Invented names of White and Black.
    players: (&'static str, &'static str),
    caption: &'static str,
    /// Upper limit of the replay speed, as a multiple of the original speed.
    max_speed: f64,
}

const ACTS: [Act; 4] = [
    Act {
        capture: include_bytes!("demo/game.pcapng"),
        stream: "demo",
        players: ("Albers, Frieda", "Brandt, Ole"),
        caption: "a recorded game",
        max_speed: f64::INFINITY,
    },
    Act {
        capture: include_bytes!("demo/doubtful.pcapng"),
        stream: "demo-2",
        players: ("Caspari, Lena", "Dietz, Anton"),
        caption: "in move 4 the queen pauses on g6: the move is held back until it is clear",
        max_speed: READABLE_SPEED,
    },
    Act {
        capture: include_bytes!("demo/corrected.pcapng"),
        stream: "demo-3",
        players: ("Ebert, Mara", "Falk, Johann"),
        caption: "in move 2 the queen pauses on d6 for long: the move announced too early is corrected",
        max_speed: READABLE_SPEED,
    },
    Act {
        capture: include_bytes!("demo/illegal.pcapng"),
        stream: "demo-4",
        players: ("Gruber, Paula", "Hansen, Erik"),
        caption: "in move 2 Black leaves the king in check and presses the clock",
        max_speed: READABLE_SPEED,
    },
];
/// Speed limit for recordings with advice to the arbiter, which takes some seconds to read.
const READABLE_SPEED: f64 = 2.0;

impl Act {
    fn speed(&self, requested: Speed) -> Speed {
        match requested {
            Speed::Times(times) => Speed::Times(times.min(self.max_speed)),
            Speed::Max => Speed::Max,
        }
    }
}

/// Runs the demonstration.
///
/// # Errors
///
/// Fails if the broker cannot be started or the output cannot be written.
pub fn run(demo: &Demo, venue: Venue, out: &mut impl Write) -> Result<Exit> {
    let broker = DemoBroker::start(demo.port)?;
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(async {
            let connection = match broker.config()? {
                Some(config) => Some(BrokerConnection::open(config).await?),
                None => None,
            };
            let mut stop = Stop::listen()?;
            let work = run_acts(demo, venue, &broker, connection.as_ref(), out);
            let result = stop.unless_stopped(work).await;
            if let Some(connection) = connection {
                // A second Ctrl-C skips waiting for the broker.
                let _ = stop.unless_stopped(connection.close()).await;
            }
            result.unwrap_or_else(Ok)
        })
}

async fn run_acts(
    demo: &Demo,
    venue: Venue,
    broker: &DemoBroker,
    connection: Option<&BrokerConnection>,
    out: &mut impl Write,
) -> Result<Exit> {
    let colors = matches!(venue, Venue::Screen { colors: true });
    let mut pages = Pages::start()?;
    let mut parts = vec![open_incident(&mut pages)?];
    let mut stage = Stage::new(
        Pen {
            colors,
            ascii: demo.ascii,
        },
        demo.speed,
        broker,
        pages.addresses(),
    );
    match venue {
        Venue::Screen { .. } => {
            let mut screen = crate::outputs::terminal::Screen::enter(io::stdout())?;
            for act in ACTS {
                stage.begin(&act);
                play(&act, demo.speed, connection, (&mut pages, &mut parts), |scene| {
                    stage.update(scene);
                    screen.show(&stage.frame())
                })
                .await?;
            }
            // Leaving the alternate screen removes the last frame.
            screen.leave(&stage.last_frame())?;
        }
        Venue::Paper => {
            let mut paper = Paper::begin(out, &stage)?;
            for act in ACTS {
                stage.begin(&act);
                paper.begin_act(&stage)?;
                play(&act, demo.speed, connection, (&mut pages, &mut parts), |scene| {
                    stage.update(scene);
                    paper.print(&stage)
                })
                .await?;
            }
        }
    }
    if let Some(connection) = connection {
        connection.drained().await?;
    }
    stage.print_closing(out, demo.wait)?;
    if demo.wait {
        loop {
            pages.handle_next_command(&mut parts).await?;
        }
    }
    Ok(Exit::Fine)
}

/// Replays the last recording up to its illegal move, on an extra board. The incident stays open for a decision at the
/// desk.
fn open_incident(pages: &mut Pages) -> Result<Part> {
    let [.., last] = ACTS;
    let act = Act {
        stream: "demo-5",
        players: ("Ihle, Rosa", "Jansen, Emil"),
        ..last
    };
    let mut part = Part::new(ACTS.len() + 1, &act)?;
    while part.replay.next_at().is_some() {
        let explained = part.step()?;
        pages.show(&part, &explained)?;
        // Before the press the player may still correct the move, so the incident is a violation only afterwards.
        let is_complete = |kind: &EventKind| match kind {
            EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident) => {
                incident.kind == IncidentKind::IllegalMove && incident.severity == Severity::Violation
            }
            _ => false,
        };
        if explained
            .iter()
            .any(|explained| is_complete(&explained.event.kind))
        {
            break;
        }
    }
    // End the replay here, so that no player corrects the move.
    part.replay.end();
    while part.replay.next_at().is_some() {
        let explained = part.step()?;
        pages.show(&part, &explained)?;
    }
    Ok(part)
}

/// Plays a recording up to the end of its game, or else to its own end, and shows every step.
async fn play(
    act: &Act,
    speed: Speed,
    connection: Option<&BrokerConnection>,
    (pages, parts): (&mut Pages, &mut Vec<Part>),
    mut show: impl FnMut(&stage::ReplayStep<'_>) -> io::Result<()>,
) -> Result<()> {
    let nth = parts.len();
    // Part 0 is the extra board with the open incident, so recordings start at 1.
    parts.push(Part::new(nth, act)?);
    let mut pace = Pace::new(act.speed(speed));
    let mut publishing = match connection {
        Some(connection) => Some((connection, connection.publisher(act.stream)?)),
        None => None,
    };
    while let Some(at) = parts[nth].replay.next_at() {
        loop {
            tokio::select! {
                () = pace.pass(at) => break,
                done = pages.handle_next_command(parts) => done?,
            }
        }
        let part = &mut parts[nth];
        let explained = part.step()?;
        pages.show(part, &explained)?;
        let messages: Vec<Message> = match &mut publishing {
            Some((connection, publisher)) => {
                connection
                    .publish(publisher, at, &explained, part.replay.boards())
                    .await?
            }
            None => Vec::new(),
        };
        if let Some(board) = part.board() {
            show(&stage::ReplayStep {
                board,
                explained: &explained,
                published: &messages,
            })?;
        }
        if explained
            .iter()
            .any(|explained| matches!(explained.event.kind, EventKind::GameEnded { .. }))
        {
            break;
        }
    }
    parts[nth].replay.end();
    Ok(())
}
