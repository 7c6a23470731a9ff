//! `kiebitz demo`: a recorded game goes through the whole pipeline at a pace that people can follow.
//!
//! src/tools/demo/game.pcapng is number 019 of the "clean" captures of the project's corpus: simulated hands on a simulated
//! board, with a game from the Lichess open database (CC0), <https://lichess.org/6dhFDWgL>.

mod broker;
mod stage;

use std::io::{self, Write};

use anyhow::Result;

use crate::Exit;
use crate::events::EventKind;
use crate::exit::Stop;
use crate::output::mqtt::Message;
use crate::output::terminal::Pen;
use crate::replay::Replay;
use crate::replay::publish::Connection;
use crate::system_time::{Pace, Speed};
use broker::Broker;
use stage::{Paper, Stage};

/// How the demonstration is given.
#[derive(Debug, Clone)]
pub struct Demo {
    /// How fast the game is played.
    pub speed: Speed,
    /// Port of the MQTT broker; `None`: 1883 if it is free, else any.
    pub port: Option<u16>,
    /// Whether to keep running after the game until Ctrl-C.
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

const GAME: &[u8] = include_bytes!("demo/game.pcapng");
const STREAM: &str = "demo";

/// Gives the demonstration.
///
/// # Errors
///
/// When the broker cannot be started, or the output cannot be written.
pub fn run(demo: &Demo, venue: Venue, out: &mut impl Write) -> Result<Exit> {
    let broker = Broker::start(demo.port)?;
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(async {
            let connection = match broker.config()? {
                Some(config) => Some(Connection::open(config).await?),
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
    broker: &Broker,
    connection: Option<&Connection>,
    out: &mut impl Write,
) -> Result<Exit> {
    let colors = matches!(venue, Venue::Screen { colors: true });
    let mut stage = Stage::new(
        Pen {
            colors,
            ascii: demo.ascii,
        },
        demo.speed,
        broker,
    );
    match venue {
        Venue::Screen { .. } => {
            let mut screen = crate::output::terminal::Screen::enter(io::stdout())?;
            play(demo.speed, connection, |scene| {
                stage.update(scene);
                screen.show(&stage.frame())
            })
            .await?;
        }
        Venue::Paper => {
            let mut paper = Paper::begin(out, &stage)?;
            play(demo.speed, connection, |scene| {
                stage.update(scene);
                paper.print(&stage)
            })
            .await?;
        }
    }
    if let Some(connection) = connection {
        connection.drained().await?;
    }
    stage.farewell(out, venue, demo.wait)?;
    if demo.wait {
        core::future::pending::<()>().await;
    }
    Ok(Exit::Fine)
}

/// Plays the game to its end and shows every step.
async fn play(
    speed: Speed,
    connection: Option<&Connection>,
    mut show: impl FnMut(&stage::Step<'_>) -> io::Result<()>,
) -> Result<()> {
    let mut replay = Replay::new(GAME, STREAM)?;
    let mut pace = Pace::new(speed);
    let mut publishing = match connection {
        Some(connection) => Some((connection, connection.publisher(STREAM)?)),
        None => None,
    };
    while let Some(at) = replay.next_at() {
        pace.pass(at).await;
        let said = replay.step()?;
        let messages: Vec<Message> = match &mut publishing {
            Some((connection, publisher)) => {
                connection.publish(publisher, at, &said, replay.boards()).await?
            }
            None => Vec::new(),
        };
        if let Some(board) = replay.boards().next() {
            show(&stage::Step {
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
    Ok(())
}
