//! `kiebitz demo`: recorded games go through the whole pipeline at a pace that people can follow: one from beginning to
//! end, and the beginnings of three in which something happens that no move list shows.
//!
//! src/tools/demo/game.pcapng is number 019 of the "clean" captures of the project's corpus: simulated hands on a simulated
//! board, with a game from the Lichess open database (CC0), <https://lichess.org/6dhFDWgL>. The others are among the
//! captures of the tests: dragged-queen, dragged-to-capture and king-left-in-check-pressed.

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

/// How the demonstration is given.
#[derive(Debug, Clone)]
pub struct Demo {
    /// How fast the game is played.
    pub speed: Speed,
    /// Port of the MQTT broker; `None`: 1883 if it is free, else any.
    pub port: Option<u16>,
    /// Whether to keep running after the last recording until Ctrl-C.
    pub wait: bool,
    /// Whether pieces are drawn as letters.
    pub ascii: bool,
}

/// Where it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Venue {
    /// A terminal that shows frames in place.
    Screen {
        /// Whether it shows colours.
        colors: bool,
    },
    /// A file or a pipe: one block of text per move.
    Paper,
}

/// A recording, and what it shows.
#[derive(Debug, Clone, Copy)]
struct Act {
    capture: &'static [u8],
    /// The stream of its events.
    stream: &'static str,
    /// Names for White and Black, who are made up.
    players: (&'static str, &'static str),
    caption: &'static str,
    /// It is not shown faster than that many times as fast as it was played.
    at_most: f64,
}

const ACTS: [Act; 4] = [
    Act {
        capture: include_bytes!("demo/game.pcapng"),
        stream: "demo",
        players: ("Albers, Frieda", "Brandt, Ole"),
        caption: "a recorded game",
        at_most: f64::INFINITY,
    },
    Act {
        capture: include_bytes!("demo/doubtful.pcapng"),
        stream: "demo-2",
        players: ("Caspari, Lena", "Dietz, Anton"),
        caption: "in move 4 the queen pauses on g6: the move is held back until it is clear",
        at_most: SLOWLY,
    },
    Act {
        capture: include_bytes!("demo/corrected.pcapng"),
        stream: "demo-3",
        players: ("Ebert, Mara", "Falk, Johann"),
        caption: "in move 2 the queen pauses on d6 for long: the move announced too early is corrected",
        at_most: SLOWLY,
    },
    Act {
        capture: include_bytes!("demo/illegal.pcapng"),
        stream: "demo-4",
        players: ("Gruber, Paula", "Hansen, Erik"),
        caption: "in move 2 Black leaves the king in check and presses the clock",
        at_most: SLOWLY,
    },
];
/// What kiebitz says to the arbiter takes some seconds to read.
const SLOWLY: f64 = 2.0;

impl Act {
    fn speed(&self, asked: Speed) -> Speed {
        match asked {
            Speed::Times(times) => Speed::Times(times.min(self.at_most)),
            Speed::Max => Speed::Max,
        }
    }
}

/// Gives the demonstration.
///
/// # Errors
///
/// When the broker cannot be started, or the output cannot be written.
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
            let work = give(demo, venue, &broker, connection.as_ref(), out);
            let given = stop.unless_stopped(work).await;
            if let Some(connection) = connection {
                // A second Ctrl-C does not wait for the broker.
                let _ = stop.unless_stopped(connection.close()).await;
            }
            given.unwrap_or_else(Ok)
        })
}

async fn give(
    demo: &Demo,
    venue: Venue,
    broker: &DemoBroker,
    connection: Option<&BrokerConnection>,
    out: &mut impl Write,
) -> Result<Exit> {
    let colors = matches!(venue, Venue::Screen { colors: true });
    let mut pages = Pages::start()?;
    let mut parts = vec![unjudged(&mut pages)?];
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
            // Leaving the second screen removes the last frame.
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
    stage.farewell(out, demo.wait)?;
    if demo.wait {
        loop {
            pages.obey(&mut parts).await?;
        }
    }
    Ok(Exit::Fine)
}

/// The last recording on a board of its own, up to the illegal move: it waits at the desk.
fn unjudged(pages: &mut Pages) -> Result<Part> {
    let [.., last] = ACTS;
    let act = Act {
        stream: "demo-5",
        players: ("Ihle, Rosa", "Jansen, Emil"),
        ..last
    };
    let mut part = Part::new(ACTS.len() + 1, &act)?;
    while part.replay.next_at().is_some() {
        let said = part.step()?;
        pages.show(&part, &said)?;
        // Before the clock is pressed the player may still notice.
        let is_complete = |kind: &EventKind| match kind {
            EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident) => {
                incident.kind == IncidentKind::IllegalMove && incident.severity == Severity::Violation
            }
            _ => false,
        };
        if said.iter().any(|said| is_complete(&said.event.kind)) {
            break;
        }
    }
    // Nobody puts it right.
    part.replay.end();
    while part.replay.next_at().is_some() {
        let said = part.step()?;
        pages.show(&part, &said)?;
    }
    Ok(part)
}

/// Plays a recording to the end of its game, or to its own, and shows every step.
async fn play(
    act: &Act,
    speed: Speed,
    connection: Option<&BrokerConnection>,
    (pages, parts): (&mut Pages, &mut Vec<Part>),
    mut show: impl FnMut(&stage::ReplayStep<'_>) -> io::Result<()>,
) -> Result<()> {
    let nth = parts.len();
    // The first is the one that waits at the desk.
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
                done = pages.obey(parts) => done?,
            }
        }
        let part = &mut parts[nth];
        let said = part.step()?;
        pages.show(part, &said)?;
        let messages: Vec<Message> = match &mut publishing {
            Some((connection, publisher)) => {
                connection
                    .publish(publisher, at, &said, part.replay.boards())
                    .await?
            }
            None => Vec::new(),
        };
        if let Some(board) = part.board() {
            show(&stage::ReplayStep {
                board,
                said: &said,
                published: &messages,
            })?;
        }
        if said
            .iter()
            .any(|said| matches!(said.event.kind, EventKind::GameEnded { .. }))
        {
            break;
        }
    }
    parts[nth].replay.end();
    Ok(())
}
