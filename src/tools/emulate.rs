//! `kiebitz emulate`: emulated boards and clocks on pseudo-terminals, with players who move the pieces. Each board has
//! its own line, or all boards share a bus.
//!
//! The boards come from [`kiebitz_hardware::emulator`]. The `rehearsal` module runs players and faults, with time as an
//! argument. This module supplies the real time and moves due bytes to the pseudo-terminals, all in one task.

mod fault;
mod games;
mod notation;
mod played_table;
pub mod plies;
mod port;
mod rehearsal;
mod round_starts;

use core::future::poll_fn;
use core::str::FromStr;
use core::time::Duration;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::task::Poll;

use anyhow::{Context, Result};
use jiff::tz::TimeZone;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::emulator::hand::Temperament;
use thiserror::Error;
use tokio::sync::mpsc;

use crate::Exit;
use crate::exit::Stop;
use crate::system_time::{self, LiveTime, Speed};
pub use fault::{Boards, EmulatedFault, Fault, NoFault};
pub use port::EmulatedPort;
use rehearsal::{Rehearsal, RehearsalOutput};
use round_starts::RoundStarts;

/// Options of the emulation.
#[derive(Debug, Clone)]
pub struct Emulation {
    /// Number of boards.
    pub boards: usize,
    /// PGN file with the games to play. If `None`, three classic games are played.
    pub pgn: Option<PathBuf>,
    /// Temperament of the hands that move the pieces.
    pub hands: Hands,
    /// Speed at which the players think.
    pub speed: Speed,
    /// Seed of the random numbers. The same seed gives the same play.
    pub seed: u64,
    /// Faults to inject.
    pub faults: Vec<Fault>,
    /// Wiring of the boards.
    pub lines: Wiring,
    /// Directory for symbolic links to the ports.
    pub links: Option<PathBuf>,
    /// Whether the players are paused before each game until they are started.
    pub waits: bool,
    /// Journal of a daemon. Beginning a round at its desk starts the paused players.
    pub journal: Option<PathBuf>,
}

/// Wiring of the boards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wiring {
    /// Each board has its own line.
    Own {
        /// Whether boards keep their power while unplugged.
        powered: bool,
    },
    /// All boards are on one line in bus mode and have their own power supply.
    Bus {
        /// Share of answers that arrive damaged.
        damaged: Share,
    },
}

/// A share, as in "2%" or "0.5%".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share(u16);

/// Error of parsing a [`Share`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("expected a share such as 2% or 0.5%, at most 100%")]
pub struct NoShare;

impl Share {
    /// Returns the share in thousandths.
    #[must_use]
    pub const fn per_mille(self) -> u16 {
        self.0
    }
}

impl FromStr for Share {
    type Err = NoShare;

    fn from_str(text: &str) -> core::result::Result<Self, NoShare> {
        let percent: f64 = text
            .strip_suffix('%')
            .unwrap_or(text)
            .parse()
            .map_err(|_| NoShare)?;
        if (0.0..=100.0).contains(&percent) {
            // At most 1000, so the cast is exact.
            Ok(Self((10.0 * percent).round() as u16))
        } else {
            Err(NoShare)
        }
    }
}

/// Temperament of the hands at the boards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hands {
    /// The same temperament at every board.
    Of(Temperament),
    /// The boards get the temperaments in turn, all but the hurried one.
    Mixed,
}

/// Error of parsing [`Hands`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("expected calm, drawing, blitz, clumsy, hurried or mixed")]
pub struct NoHands;

impl FromStr for Hands {
    type Err = NoHands;

    fn from_str(text: &str) -> core::result::Result<Self, NoHands> {
        if text == "mixed" {
            return Ok(Self::Mixed);
        }
        let named = |temperament: &Temperament| Self::name(*temperament) == text;
        Temperament::ALL
            .into_iter()
            .find(named)
            .map(Self::Of)
            .ok_or(NoHands)
    }
}

impl Hands {
    /// Returns the temperament at a board, counted from 0.
    fn of(self, board: usize) -> Temperament {
        match self {
            Self::Of(temperament) => temperament,
            Self::Mixed => Temperament::UNHURRIED[board % Temperament::UNHURRIED.len()],
        }
    }

    const fn name(temperament: Temperament) -> &'static str {
        match temperament {
            Temperament::Calm => "calm",
            Temperament::Drawing => "drawing",
            Temperament::Blitz => "blitz",
            Temperament::Clumsy => "clumsy",
            Temperament::Hurried => "hurried",
        }
    }
}

/// Runs the emulation until Ctrl-C.
///
/// # Errors
///
/// Fails if the games cannot be read, a port cannot be opened, or the output cannot be written.
pub fn run(emulation: &Emulation, out: &mut impl Write) -> Result<Exit> {
    let games = match &emulation.pgn {
        Some(path) => File::open(path)
            .map_err(Into::into)
            .and_then(games::read)
            .with_context(|| format!("cannot play {}", path.display()))?,
        None => games::read(games::DEFAULT)?,
    };
    if let Some(links) = &emulation.links {
        std::fs::create_dir_all(links).with_context(|| format!("cannot create {}", links.display()))?;
    }
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(async {
            let stop = Stop::listen()?;
            let mut room = Room::open(emulation, games, out)?;
            room.run(stop, typed_lines()).await
        })
}

struct Room<'o, W> {
    time: LiveTime,
    zone: TimeZone,
    rehearsal: Rehearsal,
    lines: Wiring,
    /// One port per board, or a single port of the bus. `None` while unplugged.
    ports: Vec<Option<EmulatedPort>>,
    links: Option<PathBuf>,
    /// `None` unless a daemon's rounds start the players.
    round_starts: Option<RoundStarts>,
    out: &'o mut W,
}

enum Wake {
    End(Exit),
    Typed(Option<String>),
    Written(usize, io::Result<Vec<u8>>),
    Due,
    Maintenance,
}

impl<'o, W: Write> Room<'o, W> {
    fn open(emulation: &Emulation, games: Vec<games::ScriptedGame>, out: &'o mut W) -> Result<Self> {
        let time = LiveTime::start();
        let mut room = Self {
            rehearsal: Rehearsal::new(time.now(), emulation, games),
            round_starts: emulation
                .journal
                .clone()
                .map(|journal| RoundStarts::since(time.now(), journal)),
            time,
            zone: system_time::local_zone(),
            lines: emulation.lines,
            ports: Vec::new(),
            links: emulation.links.clone(),
            out,
        };
        if let Wiring::Bus { .. } = emulation.lines {
            room.print_port(0, "all boards as a bus")?;
            for table in 0..emulation.boards {
                let words = room.rehearsal.describe(table);
                writeln!(room.out, "{}  {words}", name(table))?;
            }
        } else {
            for table in 0..emulation.boards {
                let words = room.rehearsal.describe(table);
                room.print_port(table, &words)?;
            }
        }
        if emulation.waits {
            let desk = match emulation.journal {
                Some(_) => "begin a round at the desk, or ",
                None => "",
            };
            writeln!(
                room.out,
                "The players wait: {desk}press Enter to let all begin, or type `start 1` for one board."
            )?;
        }
        writeln!(
            room.out,
            "Type a fault such as `unplug 1 for 5s`, or `help`. Ctrl-C ends the emulation."
        )?;
        room.out.flush()?;
        Ok(room)
    }

    /// Opens the next port and prints its path and the boards on it.
    fn print_port(&mut self, line: usize, words: &str) -> Result<()> {
        let port = self.open_port(line)?;
        let link = port.link().map(|link| format!(", {}", link.display()));
        let name = self.port_name(line);
        let (path, link) = (port.path().display(), link.unwrap_or_default());
        writeln!(self.out, "{name}  {path}{link}, {words}")?;
        self.ports.push(Some(port));
        Ok(())
    }

    fn open_port(&self, line: usize) -> Result<EmulatedPort> {
        let name = self.port_name(line);
        let link = self.links.as_ref().map(|links| links.join(&name));
        EmulatedPort::open(link.as_deref()).context(name)
    }

    fn port_name(&self, line: usize) -> String {
        match self.lines {
            Wiring::Own { .. } => name(line),
            Wiring::Bus { .. } => "bus".to_owned(),
        }
    }

    async fn run(&mut self, mut stop: Stop, mut typed: mpsc::Receiver<String>) -> Result<Exit> {
        let mut maintenance = tokio::time::interval(MAINTENANCE_INTERVAL);
        let mut listening = true;
        loop {
            let now = self.time.now();
            self.advance(now)?;
            let due = self.rehearsal.poll_deadline();
            let wake = tokio::select! {
                biased;
                exit = stop.come() => Wake::End(exit),
                line = typed.recv(), if listening => Wake::Typed(line),
                (table, bytes) = read_any(&self.ports) => Wake::Written(table, bytes),
                () = until(&self.time, due) => Wake::Due,
                _ = maintenance.tick() => Wake::Maintenance,
            };
            match wake {
                Wake::End(exit) => return Ok(exit),
                Wake::Typed(Some(line)) => self.handle_typed(&line)?,
                Wake::Typed(None) => listening = false,
                Wake::Written(table, Ok(bytes)) => {
                    self.rehearsal.handle_bytes(self.time.now(), table, &bytes);
                }
                Wake::Written(table, Err(error)) => self.fail(table, &error)?,
                Wake::Due => {}
                Wake::Maintenance => self.maintain()?,
            }
        }
    }

    /// Advances the rehearsal to `now`, writes due bytes to the ports and prints reports.
    fn advance(&mut self, now: Timestamp) -> Result<()> {
        self.rehearsal.advance(now);
        while let Some((table, output)) = self.rehearsal.poll_output() {
            match output {
                RehearsalOutput::Bytes(bytes) => {
                    if let Some(Err(error)) = self.port(table).map(|port| port.send(&bytes)) {
                        self.fail(table, &error)?;
                    }
                }
                RehearsalOutput::Unplugged => {
                    self.set_port(table, None);
                    self.report(&name(table), &EmulatedFault::Unplug.to_string())?;
                }
                RehearsalOutput::Plugged => {
                    let port = self.open_port(table)?;
                    self.report(
                        &name(table),
                        &format!("{}, {}", EmulatedFault::Plug, port.path().display()),
                    )?;
                    self.set_port(table, Some(port));
                }
                RehearsalOutput::Report(text) => self.report(&name(table), &text)?,
            }
        }
        Ok(())
    }

    fn handle_typed(&mut self, line: &str) -> Result<()> {
        match line.trim() {
            "" if self.rehearsal.waits() => self.rehearsal.start_waiting(self.time.now()),
            "" => {}
            "help" => writeln!(self.out, "{}", fault::HELP)?,
            line => match line.parse::<Fault>() {
                Ok(fault) => self.rehearsal.schedule(self.time.now(), &fault),
                Err(error) => writeln!(self.out, "{error}")?,
            },
        }
        Ok(self.out.flush()?)
    }

    fn maintain(&mut self) -> Result<()> {
        let now = self.time.now();
        match self.round_starts.as_mut().map(RoundStarts::poll) {
            Some(Ok(true)) => self.rehearsal.start_round(now),
            Some(Err(error)) => writeln!(self.out, "cannot see when a round begins: {error}")?,
            Some(Ok(false)) | None => {}
        }
        for table in 0..self.ports.len() {
            if let Some(Err(error)) = self.port(table).map(|port| port.maintain(now)) {
                self.fail(table, &error)?;
            }
        }
        Ok(())
    }

    fn port(&mut self, table: usize) -> Option<&mut EmulatedPort> {
        self.ports.get_mut(table)?.as_mut()
    }

    fn set_port(&mut self, table: usize, port: Option<EmulatedPort>) {
        if let Some(slot) = self.ports.get_mut(table) {
            *slot = port;
        }
    }

    /// Reports the error and treats the port as unplugged.
    fn fail(&mut self, line: usize, error: &io::Error) -> Result<()> {
        self.set_port(line, None);
        self.report(
            &self.port_name(line),
            &format!("error in its pseudo-terminal: {error}"),
        )
    }

    /// Prints a line that begins with the local time.
    fn report(&mut self, source: &str, text: &str) -> Result<()> {
        let time = jiff::Timestamp::from_microsecond(self.time.now().as_micros())?
            .to_zoned(self.zone.clone())
            .strftime("%H:%M:%S");
        writeln!(self.out, "{time}  {source}: {text}")?;
        Ok(self.out.flush()?)
    }
}

/// Returns the name of a board counted from 0, such as "board-1".
fn name(table: usize) -> String {
    format!("board-{}", table + 1)
}

/// Waits until a host has written bytes, and returns the line with these bytes.
async fn read_any(ports: &[Option<EmulatedPort>]) -> (usize, io::Result<Vec<u8>>) {
    poll_fn(|cx| {
        let mut bytes = [0; 64];
        for (table, port) in ports.iter().enumerate() {
            let Some(port) = port else { continue };
            match port.poll_read(cx, &mut bytes) {
                Poll::Ready(Ok(0)) => return Poll::Ready((table, Err(io::ErrorKind::UnexpectedEof.into()))),
                Poll::Ready(read) => {
                    let read = read.map(|count| bytes.iter().copied().take(count).collect());
                    return Poll::Ready((table, read));
                }
                Poll::Pending => {}
            }
        }
        Poll::Pending
    })
    .await
}

async fn until(time: &LiveTime, due: Option<Timestamp>) {
    match due {
        Some(due) => time.until(due).await,
        None => core::future::pending().await,
    }
}

/// Returns a channel with the lines from stdin. The reading thread lives as long as the process, because nothing can
/// interrupt its blocking read.
fn typed_lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(8);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Period of [`EmulatedPort::maintain`].
const MAINTENANCE_INTERVAL: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_parse_with_or_without_a_percent_sign() {
        for (text, per_mille) in [("2%", 20), ("0.5%", 5), ("0", 0), ("100%", 1000)] {
            assert_eq!(
                text.parse::<Share>().map(Share::per_mille),
                Ok(per_mille),
                "{text}"
            );
        }
        for text in ["", "%", "-1%", "101%", "NaN", "two"] {
            assert_eq!(text.parse::<Share>(), Err(NoShare), "{text}");
        }
    }

    #[test]
    fn hands_are_named_by_their_temperament() {
        for temperament in Temperament::ALL {
            assert_eq!(Hands::name(temperament).parse(), Ok(Hands::Of(temperament)));
        }
        assert_eq!("mixed".parse(), Ok(Hands::Mixed));
        assert_eq!("wild".parse::<Hands>(), Err(NoHands));
        let players: Vec<Temperament> = (0..5).map(|board| Hands::Mixed.of(board)).collect();
        assert_eq!(players[..4], Temperament::UNHURRIED);
        assert_eq!(players[4], players[0]);
    }
}
