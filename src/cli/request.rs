//! What is to be done, checked.

use std::path::PathBuf;

use anyhow::Context;

#[cfg(unix)]
use super::args::EmulateArguments;
#[cfg(target_os = "linux")]
use super::args::{BoardsArguments, RecordArguments};
use super::args::{DemoArguments, LawsArguments, ReplayArguments, ReportArguments, RulesArguments};
use super::logging::Logging;
use super::printer::Output;
use crate::laws::{IncidentKind, Language, Regulations};
use crate::output::mqtt::{MqttConfig, Prefix};
use crate::output::notation::{LETTERS, Letters};
use crate::system_time::Speed;
use crate::tools::demo::Demo;
#[cfg(unix)]
use crate::tools::emulate::{Boards, Emulation, Lines};
#[cfg(target_os = "linux")]
use crate::tools::{boards, record::Recording};

/// What is to be done.
#[derive(Debug)]
pub(super) enum Request {
    #[cfg(target_os = "linux")]
    Boards(boards::Options),
    Demo(Demo),
    #[cfg(unix)]
    Emulate(Emulation),
    Laws(LawsRequest),
    #[cfg(target_os = "linux")]
    Record(Recording),
    Replay(Box<ReplayRequest>),
    Report(Box<ReportRequest>),
    /// The daemon, with the configuration's file if one was named.
    #[cfg(target_os = "linux")]
    Run(Option<PathBuf>),
}

/// Explain the Laws.
#[derive(Debug)]
pub(super) struct LawsRequest {
    /// One kind of incident; `None`: list what there is.
    pub(super) kind: Option<IncidentKind>,
    pub(super) regulations: Regulations,
    pub(super) language: Language,
}

/// Replay some captures.
#[derive(Debug)]
pub(super) struct ReplayRequest {
    pub(super) captures: Vec<CaptureRequest>,
    pub(super) played: Told,
    pub(super) commands: Option<PathBuf>,
    pub(super) output: Output,
    pub(super) speed: Speed,
    pub(super) mqtt: Option<MqttConfig>,
    pub(super) logging: Logging,
}

/// Make a report of a file, or of a game in the journal.
#[derive(Debug)]
pub(super) struct ReportRequest {
    /// A file, or the id of a game.
    pub(super) subject: PathBuf,
    pub(super) form: Form,
    pub(super) output: Option<PathBuf>,
    /// `None`: the configuration's.
    pub(super) language: Option<Language>,
    /// `None`: those of the language.
    pub(super) letters: Option<&'static Letters>,
    /// Who tells what is played in a capture; a configuration also where the journal is.
    pub(super) played: Told,
    /// A file of an arbiter's commands, for a capture.
    pub(super) commands: Option<PathBuf>,
}

/// What a report comes out as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Html,
    Json,
    Text,
}

/// Who tells what is played.
#[derive(Debug)]
pub(super) enum Told {
    /// A configuration.
    Config(PathBuf),
    /// The arguments, for all boards.
    Arguments(Regulations),
}

/// Replay one capture; its events form the stream of that name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CaptureRequest {
    pub(super) path: PathBuf,
    pub(super) stream: String,
}

impl Request {
    /// # Errors
    ///
    /// When a fault names a board that there is not.
    #[cfg(unix)]
    pub(super) fn emulate(arguments: EmulateArguments) -> anyhow::Result<Self> {
        let EmulateArguments {
            boards,
            pgn,
            hands,
            speed,
            seed,
            links,
            fault,
            own_power,
            bus,
            damaged,
            ..
        } = arguments;
        let lines = if bus {
            Lines::Bus { damaged }
        } else {
            Lines::Own { powered: own_power }
        };
        let boards = usize::from(boards);
        for fault in &fault {
            if let Boards::One(number) = fault.boards
                && number > boards
            {
                anyhow::bail!("--fault: there is no board-{number}, the last is board-{boards}");
            }
        }
        Ok(Self::Emulate(Emulation {
            boards,
            pgn,
            hands,
            speed,
            seed,
            faults: fault,
            lines,
            links,
        }))
    }

    /// # Errors
    ///
    /// The message says which argument makes no sense.
    pub(super) fn replay(arguments: ReplayArguments) -> anyhow::Result<Self> {
        let ReplayArguments {
            files,
            json,
            pgn,
            explain,
            commands,
            speed,
            stream,
            config,
            rules,
            mqtt,
            prefix,
            verbose,
            ..
        } = arguments;
        let played = told(config, rules);
        let output = match (json, pgn, explain) {
            (true, ..) => Output::Events,
            (_, true, _) => Output::Pgn,
            (.., true) => Output::Explanation,
            _ => Output::Sheet,
        };
        if commands.is_some() && files.len() > 1 {
            anyhow::bail!("--commands goes with one capture");
        }
        let mqtt = mqtt.map(|url| broker(&url, &prefix)).transpose()?;
        let logging = Logging::new(verbose)?;
        let captures = (1..)
            .zip(files)
            .map(|(number, path)| CaptureRequest::new(path, &stream, number))
            .collect();
        Ok(Self::Replay(Box::new(ReplayRequest {
            captures,
            played,
            commands,
            output,
            speed,
            mqtt,
            logging,
        })))
    }
}

impl Request {
    /// # Errors
    ///
    /// When nobody knows the piece letters asked for.
    pub(super) fn report(arguments: ReportArguments) -> anyhow::Result<Self> {
        let ReportArguments {
            subject,
            text,
            json,
            output,
            language,
            notation,
            config,
            commands,
            rules,
            ..
        } = arguments;
        let form = match (text, json) {
            (true, _) => Form::Text,
            (_, true) => Form::Json,
            _ => Form::Html,
        };
        Ok(Self::Report(Box::new(ReportRequest {
            subject,
            form,
            output,
            language,
            letters: notation.as_deref().map(letters).transpose()?,
            played: told(config, rules),
            commands,
        })))
    }
}

fn letters(tag: &str) -> anyhow::Result<&'static Letters> {
    Letters::of(tag).with_context(|| {
        let known: Vec<&str> = LETTERS.iter().map(|letters| letters.tag).collect();
        let known = known.join(", ");
        format!("--notation: no piece letters are known for {tag:?}, only for {known}")
    })
}

fn told(config: Option<PathBuf>, rules: RulesArguments) -> Told {
    match config {
        Some(config) => Told::Config(config),
        None => Told::Arguments(rules.played().regulations(&Regulations::default())),
    }
}

impl CaptureRequest {
    /// Every capture has a stream of its own: within one the events are numbered without gaps.
    fn new(path: PathBuf, stream: &str, number: usize) -> Self {
        let stream = if number == 1 {
            stream.to_owned()
        } else {
            format!("{stream}-{number}")
        };
        Self { path, stream }
    }
}

impl From<DemoArguments> for Demo {
    fn from(arguments: DemoArguments) -> Self {
        let DemoArguments {
            speed,
            port,
            wait,
            ascii,
            ..
        } = arguments;
        Self {
            speed,
            port,
            wait,
            ascii,
        }
    }
}

impl From<LawsArguments> for LawsRequest {
    fn from(arguments: LawsArguments) -> Self {
        let LawsArguments {
            kind,
            rules,
            language,
            ..
        } = arguments;
        Self {
            kind,
            regulations: rules.played().regulations(&Regulations::default()),
            language,
        }
    }
}

#[cfg(target_os = "linux")]
impl From<BoardsArguments> for boards::Options {
    fn from(arguments: BoardsArguments) -> Self {
        let BoardsArguments {
            port: ports,
            config,
            watch,
            json,
            ..
        } = arguments;
        Self {
            config,
            ports,
            watch,
            json,
        }
    }
}

#[cfg(target_os = "linux")]
impl From<RecordArguments> for Recording {
    fn from(arguments: RecordArguments) -> Self {
        let RecordArguments {
            port,
            file,
            mode,
            seconds,
            ..
        } = arguments;
        let time = seconds.map(core::time::Duration::from_secs);
        Self {
            port,
            file,
            mode,
            time,
        }
    }
}

fn broker(url: &str, prefix: &str) -> anyhow::Result<MqttConfig> {
    let prefix: Prefix = prefix.parse().with_context(|| format!("--prefix {prefix}"))?;
    // The URL is not repeated in the error: it may hold a password.
    let config = MqttConfig::from_url(url).context("--mqtt")?;
    Ok(config.with_prefix(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_captures_have_several_streams() {
        let streams: Vec<String> = (1..4)
            .map(|number| CaptureRequest::new(PathBuf::new(), "replay", number).stream)
            .collect();
        assert_eq!(streams, ["replay", "replay-2", "replay-3"]);
    }

    #[test]
    fn broker_and_prefix_are_checked() {
        assert!(broker("mqtt://localhost", "club/replay").is_ok());
        assert!(broker("localhost", "club").is_err());
        assert!(broker("mqtt://localhost", "club/#").is_err());
    }
}
