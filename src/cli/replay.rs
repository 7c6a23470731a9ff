//! `kiebitz replay`.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use kiebitz_game::command::{Answer, CommandFile};
use kiebitz_game::events::ExplainedEvent;
use kiebitz_game::hall::Names;
use kiebitz_game::laws::Regulations;
use kiebitz_hardware::Timestamp;

use super::failure;
use super::printer::Printer;
use super::request::{CaptureRequest, ReplayRequest, RulesFrom};
use crate::Exit;
use crate::config::{Config, ConfigError};
use crate::exit::Stop;
use crate::kept::{Chain, GameStretch, KeptGames, Recorded};
use crate::outputs::mqtt::MqttConfig;
use crate::replay::publish::{BrokerConnection, Undelivered};
use crate::replay::{Replay, read_commands};
use crate::restart::Recordings;
use crate::system_time::{self, Pace, Speed};

/// Replays the captures of a request. Captures that fail are reported, and the others are still replayed.
pub(super) fn run(request: &ReplayRequest, out: &mut impl Write) -> Result<Exit> {
    let names = match names(&request.rules) {
        Ok(names) => names,
        Err(error) => {
            failure::report(&error.into());
            return Ok(Exit::Usage);
        }
    };
    let commands = request.commands.as_deref().map(read_commands).transpose()?;
    let rules = ReplayRules {
        names,
        rules: &request.rules,
        commands: commands.as_ref(),
        boards: &request.boards,
        seen: RefCell::default(),
    };
    let live = request.speed != Speed::Max;
    let mut printer = Printer::new(out, request.output, live, system_time::local_zone());
    let exit = match &request.mqtt {
        None => print_all(request, &rules, &mut printer)?,
        Some(config) => {
            request.logging.start();
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?
                .block_on(publish_all(request, config, &rules, &mut printer))?
        }
    };
    match exit {
        Exit::Fine => rules.check_boards().map(|()| exit),
        _ => Ok(exit),
    }
}

/// Settings that apply to every capture.
struct ReplayRules<'c> {
    /// Names and regulations of the boards.
    names: Names,
    rules: &'c RulesFrom,
    commands: Option<&'c CommandFile>,
    /// Names of the boards to show. If empty, all boards are shown.
    boards: &'c [String],
    /// Boards of the captures replayed so far.
    seen: RefCell<BTreeSet<String>>,
}

fn names(rules: &RulesFrom) -> Result<Names, ConfigError> {
    Ok(Names::RecordedAs(config(rules)?.roster()))
}

/// Reads the daemon's configuration for the location of its games: the named file, or else the usual one. Reports an
/// error and returns `None` if the configuration is invalid.
pub(super) fn config_of_games(path: Option<&Path>) -> Option<Config> {
    Config::read_or_default(path)
        .map_err(|error| failure::report(&error.into()))
        .ok()
}

/// Returns the named configuration, or else one that applies the arguments to all boards.
pub(super) fn config(rules: &RulesFrom) -> Result<Config, ConfigError> {
    match rules {
        RulesFrom::Config(path) => Config::read(path),
        RulesFrom::Arguments(regulations) => Ok(Config {
            event: regulations.clone(),
            ..Config::default()
        }),
    }
}

impl ReplayRules<'_> {
    fn is_on_board(&self, board: &str) -> bool {
        self.boards.is_empty() || self.boards.iter().any(|wanted| wanted == board)
    }

    /// Fails if the captures lack a board that was named.
    fn check_boards(&self) -> Result<()> {
        let seen = self.seen.borrow();
        let Some(missing) = self.boards.iter().find(|board| !seen.contains(*board)) else {
            return Ok(());
        };
        if seen.is_empty() {
            bail!("there is no board {missing} in the captures: they show no board at all");
        }
        let seen = seen.iter().map(String::as_str).collect::<Vec<_>>();
        bail!(
            "there is no board {missing} in the captures, only {}",
            seen.join(", ")
        )
    }

    /// Opens a capture, a folder of the daemon's recordings, or the recording of a game in the journal.
    fn open(&self, capture: &CaptureRequest) -> Result<(Replay<BufReader<Chain>>, Option<GameStretch>)> {
        let (path, stream) = (&capture.path, &capture.stream);
        let cannot = || format!("cannot replay {}", path.display());
        if path.is_dir() {
            let replay = Replay::of_recordings(recordings(path)?, stream);
            return Ok((replay.named(self.names.clone()), None));
        }
        if path.exists() || path.extension().is_some() || path.components().count() > 1 {
            let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            let replay = Replay::new(BufReader::new(Chain::one(file)), stream).with_context(cannot)?;
            return Ok((replay.named(self.names.clone()), None));
        }
        let config = match self.rules {
            RulesFrom::Config(path) => Config::read(path)?,
            RulesFrom::Arguments(rules) if *rules != Regulations::default() => {
                bail!(
                    "there is no file {}; for a game in the journal, leave out the options about rules: its \
                     configuration sets them",
                    path.display()
                )
            }
            RulesFrom::Arguments(_) => Config::read_or_default(None)?,
        };
        let kept =
            KeptGames::open(&config).with_context(|| format!("there is no file {}", path.display()))?;
        let game = kept
            .find(&path.to_string_lossy())
            .with_context(|| format!("there is no file {}", path.display()))?;
        let recorded = Recorded::of(&kept, &game)?;
        let replay = Replay::new(recorded.open()?, stream).with_context(cannot)?;
        Ok((
            replay.named(Names::RecordedAs(config.roster())),
            Some(recorded.stretch),
        ))
    }
}

fn recordings(folder: &Path) -> Result<Recordings> {
    let from = Timestamp::from_micros(0);
    let recordings = Recordings::after(folder, from, &system_time::local_zone());
    if recordings.next_at().is_none() && recordings.damaged().is_empty() {
        bail!(
            "{} contains no recordings of the daemon, which have names such as 2026-11-21-ttyUSB0.pcapng; name \
             other captures one by one",
            folder.display()
        );
    }
    Ok(recordings)
}

/// Replays all captures without MQTT, and so without an async runtime.
fn print_all<W: Write>(
    request: &ReplayRequest,
    rules: &ReplayRules<'_>,
    printer: &mut Printer<'_, W>,
) -> Result<Exit> {
    let mut exit = Exit::Fine;
    for capture in &request.captures {
        let mut pace = Pace::new(request.speed);
        let done = Running::begin(capture, rules, printer).and_then(|mut running| {
            while let Some(at) = running.next_at() {
                if running.shows(at) {
                    pace.wait(at);
                }
                running.step(printer)?;
            }
            running.end(printer)
        });
        exit = exit_after(done, exit)?;
    }
    Ok(exit)
}

async fn publish_all<W: Write>(
    request: &ReplayRequest,
    config: &MqttConfig,
    rules: &ReplayRules<'_>,
    printer: &mut Printer<'_, W>,
) -> Result<Exit> {
    let connection = BrokerConnection::open(config.clone()).await?;
    let mut stop = Stop::listen()?;
    let work = async {
        let mut exit = Exit::Fine;
        for capture in &request.captures {
            let done = publish(request.speed, capture, rules, printer, &connection).await;
            exit = exit_after(done, exit)?;
        }
        connection.drained().await?;
        anyhow::Ok(exit)
    };
    let published = stop.unless_stopped(work).await;
    // A second Ctrl-C skips waiting for the broker.
    let _ = stop.unless_stopped(connection.close()).await;
    published.unwrap_or_else(Ok)
}

async fn publish<W: Write>(
    speed: Speed,
    capture: &CaptureRequest,
    rules: &ReplayRules<'_>,
    printer: &mut Printer<'_, W>,
    connection: &BrokerConnection,
) -> Result<()> {
    let mut publisher = connection.publisher(&capture.stream)?;
    let mut pace = Pace::new(speed);
    let mut running = Running::begin(capture, rules, printer)?;
    while let Some(at) = running.next_at() {
        let shows = running.shows(at);
        if shows {
            pace.pass(at).await;
        }
        let explained = running.step(printer)?;
        if shows {
            let boards = running
                .replay
                .boards()
                .filter(|board| running.shows_board(board.name()));
            connection.publish(&mut publisher, at, &explained, boards).await?;
        }
    }
    running.end(printer)
}

/// Warns about refused commands. They do not make the replay fail.
pub(super) fn warn_of_refused(file: &CommandFile, answers: Vec<(usize, Answer)>) {
    for (line, answer) in answers {
        if let Some(error) = answer.error {
            let place = format!("{}:{line}", file.path().display());
            failure::warn(Path::new(&place), &error);
        }
    }
}

/// Decides whether to continue after a capture. Returns the exit code so far, or an error that ends the replay.
fn exit_after(done: Result<()>, exit: Exit) -> Result<Exit> {
    match done {
        Ok(()) => Ok(exit),
        Err(error) if error.is::<Unprinted>() || error.is::<Undelivered>() => Err(error),
        Err(error) => Ok(failure::report(&error)),
    }
}

struct Running<'c> {
    capture: &'c CaptureRequest,
    rules: &'c ReplayRules<'c>,
    replay: Replay<BufReader<Chain>>,
    /// Part of the recording to show, if a game of the journal is replayed.
    stretch: Option<GameStretch>,
    broken: Option<anyhow::Error>,
}

/// The output cannot be written, so the replay ends.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the output")]
struct Unprinted;

impl<'c> Running<'c> {
    fn begin<W: Write>(
        capture: &'c CaptureRequest,
        rules: &'c ReplayRules<'c>,
        printer: &mut Printer<'_, W>,
    ) -> Result<Self> {
        let commands = rules.commands;
        let (replay, stretch) = rules.open(capture)?;
        printer.begin(&capture.path).context(Unprinted)?;
        Ok(Self {
            capture,
            rules,
            replay: replay.with_commands(commands.map_or(&[], CommandFile::commands)),
            stretch,
            broken: None,
        })
    }

    fn next_at(&self) -> Option<Timestamp> {
        let over = |at: &Timestamp| self.stretch.as_ref().is_some_and(|stretch| stretch.is_over(*at));
        self.replay
            .next_at()
            .filter(|at| self.broken.is_none() && !over(at))
    }

    /// Returns whether a step at time `at` belongs to the part to show.
    fn shows(&self, at: Timestamp) -> bool {
        self.stretch.as_ref().is_none_or(|stretch| stretch.shows(at))
    }

    fn shows_board(&self, board: &str) -> bool {
        self.rules.is_on_board(board) && self.stretch.as_ref().is_none_or(|stretch| stretch.is_of(board))
    }

    fn step<W: Write>(&mut self, printer: &mut Printer<'_, W>) -> Result<Vec<ExplainedEvent>> {
        match self.replay.step() {
            Ok(events) => {
                self.warn_of_refusals();
                let mut events = match &mut self.stretch {
                    Some(stretch) => stretch.select(events),
                    None => events,
                };
                events.retain(|explained| self.rules.is_on_board(&explained.event.board));
                printer.take_step(&events).context(Unprinted)?;
                Ok(events)
            }
            Err(error) => {
                self.broken = Some(error);
                Ok(Vec::new())
            }
        }
    }

    fn warn_of_refusals(&mut self) {
        if let Some(file) = self.rules.commands {
            warn_of_refused(file, self.replay.take_answers());
        }
    }

    /// Prints the rest of the output, even if an error has ended the replay early.
    fn end<W: Write>(self, printer: &mut Printer<'_, W>) -> Result<()> {
        printer.end(&self.replay).context(Unprinted)?;
        let boards = self.replay.boards().map(|board| board.name().to_owned());
        self.rules.seen.borrow_mut().extend(boards);
        let path = &self.capture.path;
        if let Some(offset) = self.replay.truncated() {
            failure::warn(
                path,
                &format!("the capture is cut off; it was replayed up to byte {offset}"),
            );
        }
        for (path, error) in self.replay.damaged() {
            failure::warn(path, error);
        }
        if let Some(error) = self.broken {
            return Err(error.context(format!("cannot replay {} to its end", path.display())));
        }
        Ok(self.stretch.as_ref().map_or(Ok(()), GameStretch::check)?)
    }
}
