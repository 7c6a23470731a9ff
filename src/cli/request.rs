//! Requests to the program, after parsing and checking. In all of them `config` is the configuration file; `None`
//! stands for the default file.

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

#[derive(Debug)]
pub(super) enum Invocation {
    Backup(BackupRequest),
    #[cfg(target_os = "linux")]
    Boards(boards::Options),
    #[cfg(target_os = "linux")]
    Bundle(BundleRequest),
    /// Check the given or the usual configuration.
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
    /// Run the hub with the given or the usual configuration.
    #[cfg(target_os = "linux")]
    Hub(Option<PathBuf>),
    /// Run the daemon with the given or the usual configuration.
    #[cfg(target_os = "linux")]
    Run(Option<PathBuf>),
    #[cfg(target_os = "linux")]
    Status(StatusRequest),
    #[cfg(target_os = "linux")]
    Setup(SetupRequest),
    #[cfg(target_os = "linux")]
    User(UserRequest),
}

#[derive(Debug)]
pub(super) struct BackupRequest {
    pub(super) file: PathBuf,
    /// Whether an existing file is overwritten.
    pub(super) replace: bool,
    pub(super) config: Option<PathBuf>,
}

#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct BundleRequest {
    pub(super) events: Exported,
    /// Whether names of people and events are replaced.
    pub(super) anonymous: bool,
    /// File for the archive; `None` for a name with the time.
    pub(super) output: Option<PathBuf>,
    pub(super) config: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) struct EventCheckRequest {
    pub(super) files: Vec<PathBuf>,
    pub(super) fide_list: Option<PathBuf>,
    pub(super) config: Option<PathBuf>,
    /// Round to check; `None` for all rounds with open games.
    pub(super) round: Option<u32>,
    pub(super) json: bool,
}

#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct RebuildRequest {
    /// Whether to leave the journal unchanged and only print the result.
    pub(super) dry_run: bool,
    pub(super) config: Option<PathBuf>,
}

#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct SetupRequest {
    /// Output file; `None` for the usual configuration file, "-" for stdout.
    pub(super) output: Option<PathBuf>,
    /// Ports to query. If empty, all ports that are found are queried.
    pub(super) ports: Vec<PathBuf>,
}

#[derive(Debug)]
pub(super) struct LawsRequest {
    pub(super) kind: Option<IncidentKind>,
    pub(super) regulations: Regulations,
    pub(super) language: Language,
}

#[derive(Debug)]
pub(super) struct Selection {
    pub(super) period: Period,
    /// Names of boards. If empty, all boards are selected.
    pub(super) boards: Vec<String>,
}

impl Selection {
    pub(super) fn is_on_board(&self, board: &str) -> bool {
        self.boards.is_empty() || self.boards.iter().any(|wanted| wanted == board)
    }
}

#[derive(Debug)]
pub(super) struct ExportRequest {
    pub(super) events: Exported,
    pub(super) output: Option<PathBuf>,
    pub(super) config: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) enum Exported {
    /// Events of the games with these ids.
    Games(Vec<String>),
    /// Events of a period and of boards, including events that belong to no game.
    Selection(Selection),
}

#[derive(Debug)]
pub(super) struct GamesRequest {
    pub(super) selection: Selection,
    /// Part of a player's name.
    pub(super) player: Option<String>,
    pub(super) result: Option<GameResult>,
    pub(super) unfinished: bool,
    pub(super) violations: bool,
    pub(super) form: GamesForm,
    pub(super) config: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GamesForm {
    Ids,
    Json,
    Lines,
}

#[derive(Debug)]
pub(super) struct PgnRequest {
    pub(super) games: Vec<String>,
    pub(super) output: Option<PathBuf>,
    pub(super) config: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) struct ReplayRequest {
    pub(super) captures: Vec<CaptureRequest>,
    /// Names of boards. If empty, all boards are shown.
    pub(super) boards: Vec<String>,
    pub(super) rules: RulesFrom,
    pub(super) commands: Option<PathBuf>,
    pub(super) output: ReplayOutput,
    pub(super) speed: Speed,
    pub(super) mqtt: Option<MqttConfig>,
    pub(super) logging: Logging,
}

#[derive(Debug)]
pub(super) struct ReportRequest {
    /// Path of a file, or id of a game.
    pub(super) subject: PathBuf,
    pub(super) form: Form,
    pub(super) output: Option<PathBuf>,
    /// Language; `None` for that of the configuration.
    pub(super) language: Option<Language>,
    /// Piece letters; `None` for those of the language.
    pub(super) letters: Option<&'static Letters>,
    /// Rules for a capture. A configuration also has the location of the journal.
    pub(super) rules: RulesFrom,
    /// Whether to add the sheet for an adjournment even if the game was not adjourned.
    pub(super) adjournment: bool,
    /// Whether to attach the standings of the event.
    pub(super) standings: bool,
    /// File with an arbiter's commands, for a capture.
    pub(super) commands: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Html,
    Json,
    Text,
}

#[derive(Debug)]
pub(super) enum RulesFrom {
    Config(PathBuf),
    /// Regulations from the arguments, for all boards.
    Arguments(Regulations),
}

/// A capture to replay, and the name of its event stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CaptureRequest {
    /// Path of a file or folder, or id of a game.
    pub(super) path: PathBuf,
    pub(super) stream: String,
}
