//! Parses the arguments of the command line into requests, and refuses invalid combinations.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, Parser};

#[cfg(all(unix, feature = "emulator"))]
use super::args::EmulateArguments;
use super::args::{
    Arguments, BackupArguments, CliCommand, DemoArguments, EventCheckArguments, EventCommand,
    ExportArguments, GamesArguments, LawsArguments, PgnArguments, ReplayArguments, ReportArguments,
    RulesArguments, SelectionArguments,
};
#[cfg(target_os = "linux")]
use super::args::{BoardsArguments, BundleArguments, RebuildArguments, RecordArguments};
use super::logging::Logging;
use super::period::{Period, PeriodBound};
use super::printer::ReplayOutput;
use super::request::{
    BackupRequest, CaptureRequest, EventCheckRequest, ExportRequest, Exported, Form, GamesForm, GamesRequest,
    Invocation, LawsRequest, PgnRequest, ReplayRequest, ReportRequest, RulesFrom, Selection,
};
#[cfg(target_os = "linux")]
use super::request::{BundleRequest, RebuildRequest, SetupRequest};
#[cfg(target_os = "linux")]
use super::status::StatusRequest;
#[cfg(target_os = "linux")]
use kiebitz_game::laws::Regulations;

use super::user::UserRequest;
#[cfg(all(unix, feature = "emulator"))]
use crate::config::Config;
use crate::config::RulesTable;
use crate::outputs::mqtt::{MqttConfig, Prefix};
use crate::outputs::shared::notation::{LETTERS, Letters};
use crate::tools::demo::Demo;
#[cfg(all(unix, feature = "emulator"))]
use crate::tools::emulate::{Boards, Emulation, Wiring};
#[cfg(target_os = "linux")]
use crate::tools::{boards, record::Recording};

/// Parses and checks the arguments. Fails if the arguments are invalid. A request for help is also an error, with the
/// help as its text.
pub(super) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Invocation, clap::Error> {
    let arguments = Arguments::try_parse_from(args).map_err(explain_missing_command)?;
    match arguments.command {
        CliCommand::Backup(backup) => Ok(Invocation::Backup(backup.into())),
        #[cfg(target_os = "linux")]
        CliCommand::Boards(boards) => Ok(Invocation::Boards(boards.into())),
        #[cfg(target_os = "linux")]
        CliCommand::Bundle(bundle) => Ok(Invocation::Bundle(bundle.into())),
        #[cfg(target_os = "linux")]
        CliCommand::CheckConfig(check) => Ok(Invocation::CheckConfig(check.file.or(check.config))),
        CliCommand::Demo(demo) => Ok(Invocation::Demo(demo.into())),
        #[cfg(all(unix, feature = "emulator"))]
        CliCommand::Emulate(emulate) => emulation(emulate)
            .map(Invocation::Emulate)
            .map_err(|error| argument_error("emulate", &error)),
        CliCommand::Event(event) => match event.command {
            EventCommand::Check(check) => Ok(Invocation::EventCheck(check.into())),
        },
        CliCommand::Export(export) => Ok(Invocation::Export(export.into())),
        CliCommand::Games(games) => Ok(Invocation::Games(games.into())),
        CliCommand::Pgn(pgn) => Ok(Invocation::Pgn(pgn.into())),
        CliCommand::Laws(laws) => Ok(Invocation::Laws(laws.into())),
        #[cfg(target_os = "linux")]
        CliCommand::Rebuild(rebuild) => Ok(Invocation::Rebuild(rebuild.into())),
        #[cfg(target_os = "linux")]
        CliCommand::Record(record) => Ok(Invocation::Record(record.into())),
        CliCommand::Replay(arguments) => replay(arguments)
            .map(|request| Invocation::Replay(Box::new(request)))
            .map_err(|error| argument_error("replay", &error)),
        CliCommand::Report(arguments) => report(arguments)
            .map(|request| Invocation::Report(Box::new(request)))
            .map_err(|error| argument_error("report", &error)),
        #[cfg(target_os = "linux")]
        CliCommand::User(user) => Ok(Invocation::User(UserRequest {
            name: user.name,
            role: user.role,
        })),
        #[cfg(target_os = "linux")]
        CliCommand::Status(status) => Ok(Invocation::Status(StatusRequest {
            config: status.config,
            json: status.json,
        })),
        #[cfg(target_os = "linux")]
        CliCommand::Hub(hub) => Ok(Invocation::Hub(hub.config)),
        #[cfg(target_os = "linux")]
        CliCommand::Run(run) => Ok(Invocation::Run(run.config)),
        #[cfg(target_os = "linux")]
        CliCommand::Setup(setup) => Ok(Invocation::Setup(SetupRequest {
            output: setup.output,
            ports: setup.port,
        })),
    }
}

/// Replaces clap's error for an unknown command if the command exists but is not part of this build.
fn explain_missing_command(error: clap::Error) -> clap::Error {
    let command = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string);
    if cfg!(feature = "emulator") || command.as_deref() != Some("emulate") {
        return error;
    }
    Arguments::command().error(
        ErrorKind::InvalidSubcommand,
        "this kiebitz was built without `emulate`: build it with `--features emulator`",
    )
}

/// Converts an error in the arguments of a command into an error of clap.
fn argument_error(name: &str, error: &anyhow::Error) -> clap::Error {
    let mut command = Arguments::command();
    command.build();
    let command = command.find_subcommand(name).cloned().unwrap_or(command);
    command
        .clone()
        .error(ErrorKind::ValueValidation, format!("{error:#}"))
}

/// Builds the options of `emulate`. Fails if a fault names a board that does not exist.
#[cfg(all(unix, feature = "emulator"))]
fn emulation(arguments: EmulateArguments) -> anyhow::Result<Emulation> {
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
        wait,
        config,
        ..
    } = arguments;
    let lines = if bus {
        Wiring::Bus { damaged }
    } else {
        Wiring::Own { powered: own_power }
    };
    let journal = match config {
        Some(file) => Some(Config::read(&file)?.journal_file()),
        None => None,
    };
    let boards = usize::from(boards);
    for fault in &fault {
        if let Boards::One(number) = fault.boards
            && number > boards
        {
            anyhow::bail!("--fault: board-{number} does not exist; the last board is board-{boards}");
        }
    }
    Ok(Emulation {
        boards,
        pgn,
        hands,
        speed,
        seed,
        faults: fault,
        lines,
        links,
        waits: wait,
        journal,
    })
}

fn replay(arguments: ReplayArguments) -> anyhow::Result<ReplayRequest> {
    let ReplayArguments {
        files,
        json,
        pgn,
        explain,
        board,
        commands,
        speed,
        stream,
        config,
        rules,
        mqtt,
        password_file,
        ca_file,
        prefix,
        verbose,
        ..
    } = arguments;
    let rules = rules_from(config, rules);
    let output = match (json, pgn, explain) {
        (true, ..) => ReplayOutput::Events,
        (_, true, _) => ReplayOutput::Pgn,
        (.., true) => ReplayOutput::Explanation,
        _ => ReplayOutput::Sheet,
    };
    if commands.is_some() && files.len() > 1 {
        anyhow::bail!("--commands can be used with one capture only");
    }
    let (password, ca) = (password_file.as_deref(), ca_file.as_deref());
    let mqtt = mqtt.map(|url| broker(&url, password, ca, prefix)).transpose()?;
    let logging = Logging::new(verbose)?;
    let captures = (1..)
        .zip(files)
        .map(|(number, path)| CaptureRequest::new(path, &stream, number))
        .collect();
    Ok(ReplayRequest {
        captures,
        boards: board,
        rules,
        commands,
        output,
        speed,
        mqtt,
        logging,
    })
}

fn report(arguments: ReportArguments) -> anyhow::Result<ReportRequest> {
    let ReportArguments {
        subject,
        text,
        json,
        output,
        language,
        notation,
        adjournment,
        standings,
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
    Ok(ReportRequest {
        subject,
        form,
        output,
        language,
        letters: notation.as_deref().map(letters).transpose()?,
        adjournment,
        standings,
        rules: rules_from(config, rules),
        commands,
    })
}

fn letters(tag: &str) -> anyhow::Result<&'static Letters> {
    Letters::of(tag).with_context(|| {
        let known: Vec<&str> = LETTERS.iter().map(|letters| letters.tag).collect();
        let known = known.join(", ");
        format!("--notation: no piece letters for {tag:?}; expected one of {known}")
    })
}

fn rules_from(config: Option<PathBuf>, rules: RulesArguments) -> RulesFrom {
    match config {
        Some(config) => RulesFrom::Config(config),
        None => RulesFrom::Arguments(regulations(rules)),
    }
}

fn regulations(rules: RulesArguments) -> Regulations {
    let played = RulesTable {
        laws: rules.laws,
        mode: rules.mode,
        supervised: rules.unsupervised.then_some(false),
        time_control: rules.time_control,
        ..RulesTable::default()
    };
    played.regulations(&Regulations::default())
}

impl CaptureRequest {
    /// Gives each capture a stream of its own, because events are numbered per stream without gaps.
    fn new(path: PathBuf, stream: &str, number: usize) -> Self {
        let stream = if number == 1 {
            stream.to_owned()
        } else {
            format!("{stream}-{number}")
        };
        Self { path, stream }
    }
}

impl From<BackupArguments> for BackupRequest {
    fn from(arguments: BackupArguments) -> Self {
        let BackupArguments {
            file,
            replace,
            config,
            ..
        } = arguments;
        Self {
            file,
            replace,
            config,
        }
    }
}

#[cfg(target_os = "linux")]
impl From<BundleArguments> for BundleRequest {
    fn from(arguments: BundleArguments) -> Self {
        let BundleArguments {
            games,
            anonymous,
            output,
            config,
            selection,
            ..
        } = arguments;
        let mut selection = Selection::from(selection);
        if selection.period == Period::default() {
            selection.period.since = Some(PeriodBound::Today);
        }
        Self {
            events: if games.is_empty() {
                Exported::Selection(selection)
            } else {
                Exported::Games(games)
            },
            anonymous,
            output,
            config,
        }
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

impl From<EventCheckArguments> for EventCheckRequest {
    fn from(arguments: EventCheckArguments) -> Self {
        let EventCheckArguments {
            files,
            fide_list,
            config,
            round,
            json,
            ..
        } = arguments;
        Self {
            files,
            fide_list,
            config,
            round,
            json,
        }
    }
}

impl From<ExportArguments> for ExportRequest {
    fn from(arguments: ExportArguments) -> Self {
        let ExportArguments {
            games,
            output,
            config,
            selection,
            ..
        } = arguments;
        Self {
            events: if games.is_empty() {
                Exported::Selection(selection.into())
            } else {
                Exported::Games(games)
            },
            output,
            config,
        }
    }
}

impl From<SelectionArguments> for Selection {
    fn from(arguments: SelectionArguments) -> Self {
        let SelectionArguments {
            date,
            since,
            until,
            board,
        } = arguments;
        Self {
            period: Period {
                since: date.or(since),
                until: date.or(until),
            },
            boards: board,
        }
    }
}

impl From<GamesArguments> for GamesRequest {
    fn from(arguments: GamesArguments) -> Self {
        let GamesArguments {
            selection,
            player,
            result,
            unfinished,
            violations,
            ids,
            json,
            config,
            ..
        } = arguments;
        Self {
            selection: selection.into(),
            player,
            result,
            unfinished,
            violations,
            form: match (ids, json) {
                (true, _) => GamesForm::Ids,
                (_, true) => GamesForm::Json,
                _ => GamesForm::Lines,
            },
            config,
        }
    }
}

impl From<PgnArguments> for PgnRequest {
    fn from(arguments: PgnArguments) -> Self {
        let PgnArguments {
            games,
            output,
            config,
            ..
        } = arguments;
        Self {
            games,
            output,
            config,
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
            regulations: regulations(rules),
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
impl From<RebuildArguments> for RebuildRequest {
    fn from(arguments: RebuildArguments) -> Self {
        let RebuildArguments { dry_run, config, .. } = arguments;
        Self { dry_run, config }
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

fn broker(
    url: &str,
    password_file: Option<&Path>,
    ca_file: Option<&Path>,
    prefix: Prefix,
) -> anyhow::Result<MqttConfig> {
    // The URL is left out of the error, because it may contain a password.
    let mut config = MqttConfig::from_url(url).context("--mqtt")?;
    if let Some(path) = password_file {
        if config.has_password() {
            anyhow::bail!("--password-file: --mqtt already contains a password; remove one of the two");
        }
        if config.user().is_none() {
            anyhow::bail!("--password-file: --mqtt must name a user, as in mqtt://USER@HOST");
        }
        config = config.with_password_file(path);
    }
    if let Some(path) = ca_file {
        if !config.is_encrypted() {
            anyhow::bail!("--ca-file: --mqtt must begin with mqtts://");
        }
        config = config.with_ca_file(path);
    }
    Ok(config.with_prefix(prefix).beside_the_daemon())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_missing_in_this_build_is_explained() {
        let message = |command: &str| {
            let error = parse(["kiebitz", command, "--no-such-option"].map(OsString::from)).unwrap_err();
            error.to_string()
        };
        let is_explained = message("emulate").contains("built without `emulate`");
        assert_eq!(is_explained, !cfg!(feature = "emulator"));
        assert!(message("imitate").contains("unrecognized subcommand 'imitate'"));
    }

    #[test]
    fn each_capture_has_its_own_stream() {
        let streams: Vec<String> = (1..4)
            .map(|number| CaptureRequest::new(PathBuf::new(), "replay", number).stream)
            .collect();
        assert_eq!(streams, ["replay", "replay-2", "replay-3"]);
    }

    #[test]
    fn broker_url_and_files_are_checked() {
        let file = Some(Path::new("file"));
        let accepts = |url, password, ca| broker(url, password, ca, Prefix::replay()).is_ok();
        assert!(accepts("mqtt://localhost", None, None));
        assert!(accepts("mqtt://club@localhost", file, None));
        assert!(accepts("mqtts://club@localhost", file, file));
        assert!(!accepts("localhost", None, None));
        assert!(!accepts("mqtt://localhost", file, None), "whose password?");
        assert!(
            !accepts("mqtt://club:word@localhost", file, None),
            "which password?"
        );
        assert!(!accepts("mqtt://localhost", None, file), "it is not encrypted");
    }
}
