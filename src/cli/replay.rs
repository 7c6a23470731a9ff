//! `kiebitz replay`.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result};
use kiebitz_hardware::Timestamp;

use super::failure;
use super::printer::Printer;
use super::request::{CaptureRequest, ReplayRequest, RulesFrom};
use crate::Exit;
use crate::config::{Config, ConfigError};
use crate::events::ExplainedEvent;
use crate::exit::Stop;
use crate::hall::Names;
use crate::output::mqtt::MqttConfig;
use crate::referee::command::{Answer, CommandFile};
use crate::replay::Replay;
use crate::replay::publish::{Connection, Undelivered};
use crate::system_time::{self, Pace, Speed};

/// Replays the captures of a request. If one fails, the others are replayed all the same.
pub(super) fn run(request: &ReplayRequest, out: &mut impl Write) -> Result<Exit> {
    let names = match names(&request.rules) {
        Ok(names) => names,
        Err(error) => {
            failure::report(&error.into());
            return Ok(Exit::Usage);
        }
    };
    let commands = request.commands.as_deref().map(CommandFile::read).transpose()?;
    let given = Given {
        names,
        commands: commands.as_ref(),
    };
    let live = request.speed != Speed::Max;
    let mut printer = Printer::new(out, request.output, live, system_time::local_zone());
    let Some(config) = &request.mqtt else {
        return print_all(request, &given, &mut printer);
    };
    request.logging.start();
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(publish_all(request, config, &given, &mut printer))
}

/// What applies to every capture.
struct Given<'c> {
    /// What boards are called and what is played on them.
    names: Names,
    commands: Option<&'c CommandFile>,
}

/// What boards are called and what is played on them.
fn names(rules: &RulesFrom) -> Result<Names, ConfigError> {
    Ok(Names::RecordedAs(Box::new(config(rules)?)))
}

/// The configuration that was named, else one in which the arguments hold for all boards.
pub(super) fn config(rules: &RulesFrom) -> Result<Config, ConfigError> {
    match rules {
        RulesFrom::Config(path) => Config::read(path),
        RulesFrom::Arguments(regulations) => Ok(Config {
            event: regulations.clone(),
            ..Config::default()
        }),
    }
}

/// Without MQTT no runtime is needed.
fn print_all<W: Write>(
    request: &ReplayRequest,
    given: &Given<'_>,
    printer: &mut Printer<'_, W>,
) -> Result<Exit> {
    let mut exit = Exit::Fine;
    for capture in &request.captures {
        let mut pace = Pace::new(request.speed);
        let done = Running::begin(capture, given, printer).and_then(|mut running| {
            while let Some(at) = running.next_at() {
                pace.wait(at);
                running.step(printer)?;
            }
            running.end(printer)
        });
        exit = after(done, exit)?;
    }
    Ok(exit)
}

async fn publish_all<W: Write>(
    request: &ReplayRequest,
    config: &MqttConfig,
    given: &Given<'_>,
    printer: &mut Printer<'_, W>,
) -> Result<Exit> {
    let connection = Connection::open(config.clone()).await?;
    let mut stop = Stop::listen()?;
    let work = async {
        let mut exit = Exit::Fine;
        for capture in &request.captures {
            let done = publish(request.speed, capture, given, printer, &connection).await;
            exit = after(done, exit)?;
        }
        connection.drained().await?;
        anyhow::Ok(exit)
    };
    let published = stop.unless_stopped(work).await;
    // A second Ctrl-C does not wait for the broker.
    let _ = stop.unless_stopped(connection.close()).await;
    published.unwrap_or_else(Ok)
}

async fn publish<W: Write>(
    speed: Speed,
    capture: &CaptureRequest,
    given: &Given<'_>,
    printer: &mut Printer<'_, W>,
    connection: &Connection,
) -> Result<()> {
    let mut publisher = connection.publisher(&capture.stream)?;
    let mut pace = Pace::new(speed);
    let mut running = Running::begin(capture, given, printer)?;
    while let Some(at) = running.next_at() {
        pace.pass(at).await;
        let said = running.step(printer)?;
        let boards = running.replay.boards();
        connection.publish(&mut publisher, at, &said, boards).await?;
    }
    running.end(printer)
}

/// Warns of commands that were refused; the replay has not failed because of them.
pub(super) fn warn_of_refused(file: &CommandFile, answers: Vec<(usize, Answer)>) {
    for (line, answer) in answers {
        if let Some(error) = answer.error {
            let place = format!("{}:{line}", file.path().display());
            failure::warn(Path::new(&place), &error);
        }
    }
}

/// Decides whether to go on after a capture: the exit code so far, or an error that ends everything.
fn after(done: Result<()>, exit: Exit) -> Result<Exit> {
    match done {
        Ok(()) => Ok(exit),
        Err(error) if error.is::<Unprinted>() || error.is::<Undelivered>() => Err(error),
        Err(error) => Ok(failure::report(&error)),
    }
}

/// A capture being replayed.
struct Running<'c> {
    capture: &'c CaptureRequest,
    commands: Option<&'c CommandFile>,
    replay: Replay<BufReader<File>>,
    broken: Option<anyhow::Error>,
}

/// The output cannot be written, so there is no point in going on.
#[derive(Debug, thiserror::Error)]
#[error("cannot print")]
struct Unprinted;

impl<'c> Running<'c> {
    fn begin<W: Write>(
        capture: &'c CaptureRequest,
        given: &Given<'c>,
        printer: &mut Printer<'_, W>,
    ) -> Result<Self> {
        let commands = given.commands;
        let replay = Replay::open(&capture.path, &capture.stream)?.named(given.names.clone());
        printer.begin(&capture.path).context(Unprinted)?;
        Ok(Self {
            capture,
            commands,
            replay: replay.with_commands(commands.map_or(&[], CommandFile::commands)),
            broken: None,
        })
    }

    fn next_at(&self) -> Option<Timestamp> {
        self.replay.next_at().filter(|_| self.broken.is_none())
    }

    fn step<W: Write>(&mut self, printer: &mut Printer<'_, W>) -> Result<Vec<ExplainedEvent>> {
        match self.replay.step() {
            Ok(said) => {
                self.warn_of_refusals();
                printer.said(&said).context(Unprinted)?;
                Ok(said)
            }
            Err(error) => {
                self.broken = Some(error);
                Ok(Vec::new())
            }
        }
    }

    fn warn_of_refusals(&mut self) {
        if let Some(file) = self.commands {
            warn_of_refused(file, self.replay.take_answers());
        }
    }

    /// Prints what was found, even if the capture is broken off.
    fn end<W: Write>(self, printer: &mut Printer<'_, W>) -> Result<()> {
        printer.end(&self.replay).context(Unprinted)?;
        let path = &self.capture.path;
        if let Some(offset) = self.replay.truncated() {
            failure::warn(
                path,
                &format!("the capture is cut off; it was replayed up to byte {offset}"),
            );
        }
        self.broken.map_or(Ok(()), |error| {
            Err(error.context(format!("cannot replay {} to its end", path.display())))
        })
    }
}
