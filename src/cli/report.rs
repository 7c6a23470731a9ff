//! `kiebitz report`.

use core::time::Duration;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use kiebitz_game::command::CommandFile;
use kiebitz_game::events::Event;
use kiebitz_game::hall::Names;

use super::failure;
use super::replay;
use super::request::{Form, ReportRequest, RulesFrom};
use crate::Exit;
use crate::config::Config;
use crate::kept::KeptGames;
use crate::outputs::broadcast::Broadcast;
use crate::outputs::report::{Frames, Manner, Report, SourceFile, Standings, html, text};
use crate::outputs::shared::notation::Letters;
use crate::replay::{Replay, read_commands};
use crate::restart::past;
use crate::system_time;
use crate::tournament;

pub(super) fn run(request: &ReportRequest, out: &mut impl Write) -> Result<Exit> {
    let is_file = request.subject.exists();
    // A game comes from the journal of the default configuration. For a file that configuration is not read, as in
    // `kiebitz replay`.
    let config = match &request.rules {
        RulesFrom::Arguments(_) if !is_file => Config::read_or_default(None),
        rules => replay::config(rules),
    };
    let config = match config {
        Ok(config) => config,
        Err(error) => {
            failure::report(&error.into());
            return Ok(Exit::Usage);
        }
    };
    let language = request.language.unwrap_or(config.event.language);
    let commands = request.commands.as_deref().map(read_commands).transpose()?;
    if commands.is_some() && !is_file {
        bail!("--commands is for captures only: a game in the journal already includes its commands");
    }
    if request.standings && is_file {
        bail!("--standings is for a game in the journal: a file has no other games of the event");
    }
    let (report, exit) = if is_file {
        report_of_file(&request.subject, config, commands.as_ref())?
    } else {
        (
            report_of_game(&request.subject, &config, request.standings)?,
            Exit::Fine,
        )
    };
    let letters = request.letters.or_else(|| Letters::of(language.code()));
    let manner = Manner {
        language,
        letters: letters.context("no piece letters are known for the language of the texts")?,
        zone: system_time::local_zone(),
        adjournment: request.adjournment,
    };
    let printed = match request.form {
        Form::Html => html(&report, &manner),
        Form::Text => text(&report, &manner),
        Form::Json => serde_json::to_string_pretty(&report)? + "\n",
    };
    match &request.output {
        None => out.write_all(printed.as_bytes())?,
        Some(path) => {
            std::fs::write(path, printed).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(exit)
}

/// Creates the report of a capture, or of a file of events as printed by `kiebitz replay --json`.
fn report_of_file(path: &Path, config: Config, commands: Option<&CommandFile>) -> Result<(Report, Exit)> {
    let open = || File::open(path).with_context(|| format!("cannot open {}", path.display()));
    let mut events = Vec::new();
    let mut source = SourceFile {
        file: path.display().to_string(),
        cut_at: None,
    };
    if is_event_file(BufReader::new(open()?))? {
        if commands.is_some() {
            bail!("--commands is for captures only: a file of events already includes their effects");
        }
        read_events(BufReader::new(open()?), &mut events)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let mut report = Report::from_events(&events);
        report.source = Some(source);
        return Ok((report, Exit::Fine));
    }
    let replay = Replay::open(path, "replay")?.named(Names::RecordedAs(config.roster()));
    let broken = collect_events(replay, commands, &mut events, &mut source);
    let mut report = Report::from_events(&events);
    report.source = Some(source);
    report.locate(&Frames::read(BufReader::new(open()?))?);
    let exit = broken.map_or(Exit::Fine, |error| {
        let error = error.context(format!("cannot replay {} to its end", path.display()));
        failure::report(&error)
    });
    Ok((report, exit))
}

/// Returns whether a file begins with a JSON object and is therefore not a capture.
fn is_event_file(mut file: impl BufRead) -> Result<bool> {
    loop {
        let buffered = file.fill_buf()?;
        if buffered.is_empty() {
            return Ok(false);
        }
        if let Some(first) = buffered.iter().find(|byte| !byte.is_ascii_whitespace()) {
            return Ok(*first == b'{');
        }
        let blank = buffered.len();
        file.consume(blank);
    }
}

fn read_events(file: impl BufRead, events: &mut Vec<Event>) -> Result<()> {
    for (number, line) in (1..).zip(file.lines()) {
        let line = line?;
        if !line.trim().is_empty() {
            let event = serde_json::from_str(&line);
            events.push(event.with_context(|| format!("line {number} is not an event"))?);
        }
    }
    Ok(())
}

/// Collects the events of a capture in the same way as `kiebitz replay`. Returns the error that has ended the replay
/// early.
fn collect_events(
    replay: Replay<BufReader<File>>,
    commands: Option<&CommandFile>,
    events: &mut Vec<Event>,
    source: &mut SourceFile,
) -> Option<anyhow::Error> {
    let mut replay = replay.with_commands(commands.map_or(&[], CommandFile::commands));
    while replay.next_at().is_some() {
        match replay.step() {
            Ok(explained) => events.extend(explained.into_iter().map(|explained| explained.event)),
            Err(error) => return Some(error),
        }
        if let Some(file) = commands {
            replay::warn_of_refused(file, replay.take_answers());
        }
    }
    source.cut_at = replay.truncated();
    None
}

fn report_of_game(game: &Path, config: &Config, with_standings: bool) -> Result<Report> {
    let name = game.to_string_lossy();
    let kept = KeptGames::open(config).with_context(|| format!("there is no file {name}"))?;
    let game = kept
        .find(&name)
        .with_context(|| format!("there is no file {name}"))?;
    let mut report = Report::from_events(&kept.events_with_board(&game)?);
    if with_standings {
        report.standings = Some(standings(&kept, config)?);
    }
    Ok(report)
}

/// The standings from the pairings and the results in the journal.
fn standings(kept: &KeptGames, config: &Config) -> Result<Standings> {
    let files = config.pairing_files().all();
    let (tournament, _) = tournament::read(&files).context("cannot read the pairings")?;
    let now = system_time::wall_time();
    let mut event = Broadcast::new(Duration::ZERO, config.event_facts());
    event.pair(Arc::new(tournament));
    for (board, events) in past::of(kept.journal(), config, now) {
        event.resume(now, &board, &events);
    }
    event.standings_for_report().context(
        "there are no standings: they need the pairings of all rounds from the first, or a report (TRF) with points, \
         under `pairings` in [event]",
    )
}
