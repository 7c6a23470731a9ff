//! `kiebitz replay`.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result};
use kiebitz_hardware::Timestamp;

use super::failure;
use super::printer::Printer;
use super::request::{CaptureRequest, ReplayRequest, Told};
use crate::Exit;
use crate::config::{Config, ConfigError};
use crate::events::Said;
use crate::exit::Stop;
use crate::hall::Names;
use crate::output::mqtt::MqttConfig;
use crate::referee::command::{Answer, CommandFile};
use crate::replay::Replay;
use crate::replay::publish::{self, Connection, Publisher};
use crate::system_time::{self, Pace, Speed};

/// Replays what is asked for. A capture that fails does not keep the others from being replayed.
pub(super) fn run(request: &ReplayRequest, out: &mut impl Write) -> Result<Exit> {
    let names = match names(&request.played) {
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

/// What is known beside the captures.
struct Given<'c> {
    /// What boards are called and what is played on them.
    names: Names,
    commands: Option<&'c CommandFile>,
}

/// What boards are called and what is played on them.
fn names(played: &Told) -> Result<Names, ConfigError> {
    Ok(Names::RecordedAs(Box::new(config(played)?)))
}

/// The configuration that was named, else one in which the arguments hold for all boards.
pub(super) fn config(played: &Told) -> Result<Config, ConfigError> {
    match played {
        Told::Config(path) => Config::read(path),
        Told::Arguments(regulations) => Ok(Config {
            event: regulations.clone(),
            ..Config::default()
        }),
    }
}

/// Without MQTT: nothing but this thread.
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
            let mut publisher = connection.publisher(&capture.stream);
            exit = after(
                publish(request.speed, capture, given, printer, &mut publisher).await,
                exit,
            )?;
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
    publisher: &mut Publisher,
) -> Result<()> {
    let mut pace = Pace::new(speed);
    let mut running = Running::begin(capture, given, printer)?;
    while let Some(at) = running.next_at() {
        pace.pass(at).await;
        let said = running.step(printer)?;
        publisher.publish(at, &said, running.replay.boards()).await?;
    }
    running.end(printer)
}

/// What a command could not do is no failure of the replay, but somebody wants to know.
pub(super) fn tell_refused(file: &CommandFile, answers: Vec<(usize, Answer)>) {
    for (line, answer) in answers {
        if let Some(error) = answer.error {
            let place = format!("{}:{line}", file.path().display());
            failure::warn(Path::new(&place), &error);
        }
    }
}

/// Decides whether to go on after a capture.
fn after(done: Result<()>, exit: Exit) -> Result<Exit> {
    match done {
        Ok(()) => Ok(exit),
        Err(error) if error.is::<Unprinted>() || error.is::<publish::Undelivered>() => Err(error),
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

/// Output that could not be printed: going on makes no sense.
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

    fn step<W: Write>(&mut self, printer: &mut Printer<'_, W>) -> Result<Vec<Said>> {
        match self.replay.step() {
            Ok(said) => {
                self.tell_refusals();
                printer.said(&said).context(Unprinted)?;
                Ok(said)
            }
            Err(error) => {
                self.broken = Some(error);
                Ok(Vec::new())
            }
        }
    }

    fn tell_refusals(&mut self) {
        if let Some(file) = self.commands {
            tell_refused(file, self.replay.take_answers());
        }
    }

    /// Prints what was found, also where the capture is broken off.
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
