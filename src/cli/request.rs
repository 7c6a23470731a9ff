//! What the program is asked to do, checked.

use std::path::PathBuf;

use super::logging::Logging;
use super::period::Period;
use super::printer::ReplayOutput;
#[cfg(target_os = "linux")]
use super::status::StatusRequest;
#[cfg(target_os = "linux")]
use kiebitz_game::events::GameResult;
use kiebitz_game::laws::{IncidentKind, Language, Regulations};

use super::user::UserRequest;
use crate::outputs::mqtt::MqttConfig;
use crate::outputs::shared::notation::Letters;
use crate::system_time::Speed;
use crate::tools::demo::Demo;
#[cfg(all(unix, feature = "emulator"))]
use crate::tools::emulate::Emulation;
#[cfg(target_os = "linux")]
use crate::tools::{boards, record::Recording};

/// What the program is asked to do.
#[derive(Debug)]
pub(super) enum Invocation {
    Backup(BackupRequest),
    #[cfg(target_os = "linux")]
    Boards(boards::Options),
    /// Check the configuration, of a file if one was named.
    #[cfg(target_os = "linux")]
    CheckConfig(Option<PathBuf>),
    Demo(Demo),
    #[cfg(all(unix, feature = "emulator"))]
    Emulate(Emulation),
    EventCheck(EventCheckRequest),
    Export(ExportRequest),
    Games(GamesRequest),
    Laws(LawsRequest),
    Pgn(PgnRequest),
    #[cfg(target_os = "linux")]
    Rebuild(RebuildRequest),
    #[cfg(target_os = "linux")]
    Record(Recording),
    Replay(Box<ReplayRequest>),
    Report(Box<ReportRequest>),
    /// The hub, likewise.
    #[cfg(target_os = "linux")]
    Hub(Option<PathBuf>),
    /// The daemon, with the configuration's file if one was named.
    #[cfg(target_os = "linux")]
    Run(Option<PathBuf>),
    #[cfg(target_os = "linux")]
    Status(StatusRequest),
    #[cfg(target_os = "linux")]
    Setup(SetupRequest),
    #[cfg(target_os = "linux")]
    User(UserRequest),
}

/// Copy the journal.
#[derive(Debug)]
pub(super) struct BackupRequest {
    pub(super) file: PathBuf,
    /// Whether a file of that name is overwritten.
    pub(super) replace: bool,
    /// `None`: the usual one.
    pub(super) config: Option<PathBuf>,
}

/// Say what of the pairings will be missed.
#[derive(Debug)]
pub(super) struct EventCheckRequest {
    pub(super) files: Vec<PathBuf>,
    pub(super) fide_list: Option<PathBuf>,
    /// `None`: the usual one.
    pub(super) config: Option<PathBuf>,
    /// `None`: those with open games.
    pub(super) round: Option<u32>,
    pub(super) json: bool,
}

/// Fill in what the journal lacks.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct RebuildRequest {
    /// Only say what would be done.
    pub(super) dry_run: bool,
    /// `None`: the usual one.
    pub(super) config: Option<PathBuf>,
}

/// Write a first configuration.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct SetupRequest {
    /// `None`: the usual file; "-": stdout.
    pub(super) output: Option<PathBuf>,
    /// Ask only these ports; empty: all that are found.
    pub(super) ports: Vec<PathBuf>,
}

/// Explain the Laws.
#[derive(Debug)]
pub(super) struct LawsRequest {
    /// One kind of incident; `None`: list everything.
    pub(super) kind: Option<IncidentKind>,
    pub(super) regulations: Regulations,
    pub(super) language: Language,
}

/// Of which time and which boards something in the journal is.
#[derive(Debug)]
pub(super) struct Selection {
    pub(super) period: Period,
    /// Names of boards; none: all.
    pub(super) boards: Vec<String>,
}

impl Selection {
    pub(super) fn is_on_board(&self, board: &str) -> bool {
        self.boards.is_empty() || self.boards.iter().any(|wanted| wanted == board)
    }
}

/// Write events of the journal.
#[derive(Debug)]
pub(super) struct ExportRequest {
    pub(super) what: Exported,
    pub(super) output: Option<PathBuf>,
    /// `None`: the usual one.
    pub(super) config: Option<PathBuf>,
}

/// Which events are written.
#[derive(Debug)]
pub(super) enum Exported {
    /// Those of the games with these ids.
    Games(Vec<String>),
    /// Those of a time and of boards, with what belongs to no game.
    Selection(Selection),
}

/// List games of the journal.
#[derive(Debug)]
pub(super) struct GamesRequest {
    pub(super) selection: Selection,
    /// A part of a player's name.
    pub(super) player: Option<String>,
    pub(super) result: Option<GameResult>,
    pub(super) unfinished: bool,
    pub(super) violations: bool,
    pub(super) form: GamesForm,
    /// `None`: the usual one.
    pub(super) config: Option<PathBuf>,
}

/// How games are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GamesForm {
    Ids,
    Json,
    Lines,
}

/// Write games of the journal as PGN.
#[derive(Debug)]
pub(super) struct PgnRequest {
    pub(super) games: Vec<String>,
    pub(super) output: Option<PathBuf>,
    /// `None`: the usual one.
    pub(super) config: Option<PathBuf>,
}

/// Replay some captures.
#[derive(Debug)]
pub(super) struct ReplayRequest {
    pub(super) captures: Vec<CaptureRequest>,
    /// Names of boards; none: all.
    pub(super) boards: Vec<String>,
    pub(super) rules: RulesFrom,
    pub(super) commands: Option<PathBuf>,
    pub(super) output: ReplayOutput,
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
    /// `None`: the language's.
    pub(super) letters: Option<&'static Letters>,
    /// What is played in a capture; a configuration says where the journal is as well.
    pub(super) rules: RulesFrom,
    /// Whether the sheet for an adjournment is wanted.
    pub(super) adjournment: bool,
    /// A file of an arbiter's commands, for a capture.
    pub(super) commands: Option<PathBuf>,
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Html,
    Json,
    Text,
}

/// Where the rules of a capture come from.
#[derive(Debug)]
pub(super) enum RulesFrom {
    /// A configuration.
    Config(PathBuf),
    /// The arguments, for all boards.
    Arguments(Regulations),
}

/// Replay one capture as a stream of that name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CaptureRequest {
    /// A file, or the id of a game.
    pub(super) path: PathBuf,
    pub(super) stream: String,
}
