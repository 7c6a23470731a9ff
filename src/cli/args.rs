//! Definition of the command line arguments.
//!
//! The doc comments of this module are the help texts for users; tests/whole/help contains their printed form.

mod after;

use std::path::PathBuf;

use super::period::PeriodBound;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use clap::{ArgAction, Args, Parser, Subcommand};

#[cfg(target_os = "linux")]
use kiebitz_game::events::GameResult;

use crate::config::PortMode;
#[cfg(target_os = "linux")]
use kiebitz_game::laws::{Edition, IncidentKind, Language, Mode, TimeControl};

use crate::outputs::desk::Role;
use crate::outputs::mqtt::Prefix;
use crate::system_time::Speed;
#[cfg(all(unix, feature = "emulator"))]
use crate::tools::emulate::{Fault, Hands, Share};

/// Watch chess games on electronic boards: moves, clocks and irregularities, live over MQTT
#[derive(Debug, Parser)]
#[command(
    term_width = 0,
    name = "kiebitz",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = after::HELP
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: CliCommand,
    #[command(flatten)]
    help: Help,
    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

#[derive(Debug, Subcommand)]
pub(super) enum CliCommand {
    Backup(BackupArguments),
    #[cfg(target_os = "linux")]
    Boards(BoardsArguments),
    #[cfg(target_os = "linux")]
    Bundle(BundleArguments),
    #[cfg(target_os = "linux")]
    CheckConfig(CheckConfigArguments),
    Demo(DemoArguments),
    #[cfg(all(unix, feature = "emulator"))]
    Emulate(EmulateArguments),
    Event(EventArguments),
    Export(ExportArguments),
    Games(GamesArguments),
    #[cfg(target_os = "linux")]
    Hub(HubArguments),
    Laws(LawsArguments),
    Pgn(PgnArguments),
    #[cfg(target_os = "linux")]
    Rebuild(RebuildArguments),
    #[cfg(target_os = "linux")]
    Record(RecordArguments),
    Replay(ReplayArguments),
    Report(ReportArguments),
    #[cfg(target_os = "linux")]
    Run(RunArguments),
    #[cfg(target_os = "linux")]
    Setup(SetupArguments),
    #[cfg(target_os = "linux")]
    Status(StatusArguments),
    #[cfg(target_os = "linux")]
    User(UserArguments),
}

/// The help option. There is only a short help; longer explanations belong in the documentation.
#[derive(Debug, Args)]
struct Help {
    /// Print this help
    #[arg(short, long, action = ArgAction::HelpShort)]
    help: Option<bool>,
}

/// Write a copy of the journal to a file, even while the daemon runs
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::BACKUP)]
pub(super) struct BackupArguments {
    /// File for the copy (SQLite); an existing file is not overwritten
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Overwrite FILE if it exists, once the copy is complete
    #[arg(long)]
    pub(super) replace: bool,
    /// Configuration with the journal's directory [default: /etc/kiebitz.toml]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    help: Help,
}

/// Print a line for the users' file of the arbiters' desk
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::USER)]
pub(super) struct UserArguments {
    /// Name of the user, without spaces
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// Role of the user: viewer, arbiter or operator
    #[arg(long, value_name = "ROLE", default_value = "arbiter", value_parser = role)]
    pub(super) role: Role,
    #[command(flatten)]
    help: Help,
}

#[cfg(target_os = "linux")]
fn role(word: &str) -> Result<Role, String> {
    let known = Role::ALL.iter().find(|role| role.as_str() == word);
    known
        .copied()
        .ok_or_else(|| "expected viewer, arbiter or operator".to_owned())
}

/// List ports and boards, and what to do if something is wrong
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::BOARDS)]
pub(super) struct BoardsArguments {
    /// Check only this port; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(super) port: Vec<PathBuf>,
    /// Configuration with ports and names [default: /etc/kiebitz.toml if it exists]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Keep running until Ctrl-C and print a line for every change
    #[arg(long)]
    pub(super) watch: bool,
    /// Print one JSON object per port; with --watch, again at every change
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    help: Help,
}

/// Check a configuration, and show its effect
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::CHECK_CONFIG)]
pub(super) struct CheckConfigArguments {
    /// Configuration file [default: /etc/kiebitz.toml]
    #[arg(value_name = "FILE", conflicts_with = "config")]
    pub(super) file: Option<PathBuf>,
    /// The same, as other commands are given it
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    help: Help,
}

/// Restore missing events of the journal from the recordings
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::REBUILD)]
pub(super) struct RebuildArguments {
    /// Show what would be restored, and leave the journal unchanged
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Configuration with the directories of both [default: /etc/kiebitz.toml]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    help: Help,
}

/// Record all bytes on one port, to replay or examine them later
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::RECORD)]
pub(super) struct RecordArguments {
    /// The port, as listed by `kiebitz boards`
    #[arg(value_name = "PORT")]
    pub(super) port: PathBuf,
    /// File for the recording (pcapng); an existing file is not overwritten
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Line on the port: auto (detect), single (one board) or bus
    #[arg(long, value_name = "MODE", default_value = "auto", hide_possible_values = true, value_parser = port_mode())]
    pub(super) mode: PortMode,
    /// Stop after this many seconds
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=LONGEST_RECORDING))]
    pub(super) seconds: Option<u64>,
    #[command(flatten)]
    help: Help,
}

/// Show a recorded game as if it came from a board; needs nothing else installed
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::DEMO)]
pub(super) struct DemoArguments {
    /// Speed: realtime, a factor such as 10, or max
    #[arg(long, value_name = "SPEED", default_value = "5")]
    pub(super) speed: Speed,
    /// Port of the MQTT broker [default: 1883 if free, else any]
    #[arg(long, value_name = "PORT")]
    pub(super) port: Option<u16>,
    /// Keep running after the games until Ctrl-C even if the output is not a terminal
    #[arg(long)]
    pub(super) wait: bool,
    /// Draw pieces as letters: KQRBNP for White, kqrbnp for Black
    #[arg(long)]
    pub(super) ascii: bool,
    #[command(flatten)]
    help: Help,
}

/// Emulate boards and clocks on pseudo-terminals, for rehearsals without hardware
#[cfg(all(unix, feature = "emulator"))]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::EMULATE)]
pub(super) struct EmulateArguments {
    /// Number of boards, at most 256
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) boards: u16,
    /// Games to play, dealt to the boards in turn [default: three classic games]
    #[arg(long, value_name = "FILE")]
    pub(super) pgn: Option<PathBuf>,
    /// Hands of players: calm, drawing, blitz, clumsy, hurried or mixed
    #[arg(long, value_name = "HANDS", default_value = "calm")]
    pub(super) hands: Hands,
    /// Speed of thinking: realtime, a factor such as 10, or max
    #[arg(long, value_name = "SPEED", default_value = "1")]
    pub(super) speed: Speed,
    /// Seed of the random numbers; the same seed gives the same play
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub(super) seed: u64,
    /// Put all boards on one port in bus mode, with addresses from 1
    #[arg(long)]
    pub(super) bus: bool,
    /// Create links to the ports: DIR/board-1, DIR/board-2 and so on, or DIR/bus
    #[arg(long, value_name = "DIR")]
    pub(super) links: Option<PathBuf>,
    /// Let players wait before each game for Enter, or for `start` with a board
    #[arg(long)]
    pub(super) wait: bool,
    /// Configuration of a daemon: beginning a round at its desk starts the players
    #[arg(long, value_name = "FILE", requires = "wait")]
    pub(super) config: Option<PathBuf>,
    /// Fault to cause, as in "unplug 2 at 30s for 5s"; may be repeated
    #[arg(long, value_name = "FAULT", help_heading = FAULTS)]
    pub(super) fault: Vec<Fault>,
    /// Share of answers on the bus that arrive damaged, as in 2%
    #[arg(long, value_name = "SHARE", default_value = "0%", requires = "bus", help_heading = FAULTS)]
    pub(super) damaged: Share,
    /// Let boards keep power while unplugged and store moves, as serial boards do
    #[arg(long, conflicts_with = "bus", help_heading = FAULTS)]
    pub(super) own_power: bool,
    #[command(flatten)]
    help: Help,
}

/// Check pairing files before the round
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(super) struct EventArguments {
    #[command(subcommand)]
    pub(super) command: EventCommand,
    #[command(flatten)]
    help: Help,
}

#[derive(Debug, Subcommand)]
pub(super) enum EventCommand {
    Check(EventCheckArguments),
}

/// Report what the pairings lack for the next round
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::EVENT_CHECK)]
pub(super) struct EventCheckArguments {
    /// Pairings and players from any pairing program: PGN, TRF, CSV
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// FIDE rating list, as text or XML, to check ids and names against
    #[arg(long, value_name = "FILE")]
    pub(super) fide_list: Option<PathBuf>,
    /// Configuration with the boards' names [default: /etc/kiebitz.toml if it exists]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Round to check, also for files without rounds [default: rounds with open games]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=9999))]
    pub(super) round: Option<u32>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    help: Help,
}

/// Run the daemon, which watches all boards that are plugged in
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::RUN)]
pub(super) struct RunArguments {
    /// Configuration file [default: /etc/kiebitz.toml if it exists]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    help: Help,
}

/// Broadcast one event from the boards of several daemons, received over MQTT
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::HUB)]
pub(super) struct HubArguments {
    /// Configuration file [default: /etc/kiebitz.toml]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    help: Help,
}

/// Show the state of a running kiebitz and its boards
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::STATUS)]
pub(super) struct StatusArguments {
    /// Configuration with the address of the status [default: /etc/kiebitz.toml]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    help: Help,
}

/// Write a first configuration for the boards that are plugged in
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::SETUP)]
pub(super) struct SetupArguments {
    /// File to create; - for stdout [default: /etc/kiebitz.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Query only this port, and list it in the configuration; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(super) port: Vec<PathBuf>,
    #[command(flatten)]
    help: Help,
}

/// Rules of play, if they are not from a configuration.
#[derive(Debug, Args)]
pub(super) struct RulesArguments {
    /// Edition of the Laws, as in fide-2018 [default: fide-2023]
    #[arg(long, value_name = "NAME")]
    pub(super) laws: Option<Edition>,
    /// standard, rapid or blitz [default: by the time control, else standard]
    #[arg(long, value_name = "NAME")]
    pub(super) mode: Option<Mode>,
    /// Rapid or blitz without the supervision that the competition rules require
    #[arg(long)]
    pub(super) unsupervised: bool,
    /// Time control, as in "90+30" or "90 min/40 + 30 min, 30 s from move 1"
    #[arg(long, value_name = "TEXT")]
    pub(super) time_control: Option<TimeControl>,
}

/// Explain the Laws: editions, modes of play, and kinds of incidents
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::LAWS)]
pub(super) struct LawsArguments {
    /// A kind of incident, as in illegal_move [default: list everything]
    #[arg(value_name = "KIND", value_parser = incident_kind(), hide_possible_values = true)]
    pub(super) kind: Option<IncidentKind>,
    #[command(flatten)]
    pub(super) rules: RulesArguments,
    /// Language of the advice: en or de
    #[arg(long, value_name = "CODE", default_value = "en")]
    pub(super) language: Language,
    #[command(flatten)]
    help: Help,
}

/// Selection by time and boards.
#[derive(Debug, Args)]
pub(super) struct SelectionArguments {
    /// Only this day, as in 2026-11-21 or today
    #[arg(long, value_name = "DAY", conflicts_with_all = ["since", "until"])]
    pub(super) date: Option<PeriodBound>,
    /// Only from this day or time on, as in 2026-11-21T14:00
    #[arg(long, value_name = "DAY|TIME")]
    pub(super) since: Option<PeriodBound>,
    /// Only up to this day or time
    #[arg(long, value_name = "DAY|TIME")]
    pub(super) until: Option<PeriodBound>,
    /// Only this board; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(super) board: Vec<String>,
}

/// Write an archive for a maintainer who will look into a problem
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::BUNDLE)]
pub(super) struct BundleArguments {
    /// Ids of games, as listed by `kiebitz games` [default: all of today]
    #[arg(value_name = "GAME", conflicts_with_all = ["date", "since", "until", "board"])]
    pub(super) games: Vec<String>,
    /// Replace the names of players, teams, arbiters and events
    #[arg(long)]
    pub(super) anonymous: bool,
    /// New file for the archive [default: kiebitz-bundle-TIME.tar.gz]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Configuration of the daemon [default: /etc/kiebitz.toml]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    help: Help,
    #[command(flatten, next_help_heading = WHICH_EVENTS)]
    pub(super) selection: SelectionArguments,
}

/// Write events from the journal, one JSON object per line
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::EXPORT)]
pub(super) struct ExportArguments {
    /// Ids of games, as listed by `kiebitz games` [default: all events, of games and between them]
    #[arg(value_name = "GAME", conflicts_with_all = ["date", "since", "until", "board"])]
    pub(super) games: Vec<String>,
    /// Output file; an existing file is replaced [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Configuration with the journal's directory [default: /etc/kiebitz.toml]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    help: Help,
    #[command(flatten, next_help_heading = WHICH_EVENTS)]
    pub(super) selection: SelectionArguments,
}

/// List the games in the journal, one per line
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::GAMES)]
pub(super) struct GamesArguments {
    /// Configuration with the journal's directory [default: /etc/kiebitz.toml]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    help: Help,
    #[command(flatten, next_help_heading = WHICH)]
    pub(super) selection: SelectionArguments,
    /// Only games of a player with this text in the name
    #[arg(long, value_name = "TEXT", help_heading = WHICH)]
    pub(super) player: Option<String>,
    /// Only games with this result: 1-0, 0-1, 1/2-1/2, or * for none
    #[arg(long, value_name = "RESULT", value_parser = game_result(), hide_possible_values = true, help_heading = WHICH)]
    pub(super) result: Option<GameResult>,
    /// Only games that have not ended: in play or abandoned
    #[arg(long, help_heading = WHICH)]
    pub(super) unfinished: bool,
    /// Only games with a violation
    #[arg(long, help_heading = WHICH)]
    pub(super) violations: bool,
    /// Print only the ids
    #[arg(long, conflicts_with = "json", help_heading = INSTEAD_OF_LINES)]
    pub(super) ids: bool,
    /// One JSON object per line
    #[arg(long, help_heading = INSTEAD_OF_LINES)]
    pub(super) json: bool,
}

/// Write games from the journal as PGN
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::PGN)]
pub(super) struct PgnArguments {
    /// Ids of games, as listed by `kiebitz games`
    #[arg(required = true, value_name = "GAME")]
    pub(super) games: Vec<String>,
    /// Output file; an existing file is replaced [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Configuration with the journal's directory [default: /etc/kiebitz.toml]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    help: Help,
}

/// Replay recordings: score sheet, events, PGN, or all of it over MQTT
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::REPLAY)]
pub(super) struct ReplayArguments {
    /// Captures (pcapng), folders of recordings, or ids of games; each on its own
    #[arg(required = true, value_name = "FILE|DIRECTORY|GAME")]
    pub(super) files: Vec<PathBuf>,
    /// Events, one JSON object per line
    #[arg(long, conflicts_with_all = ["pgn", "explain"], help_heading = PRINTED)]
    pub(super) json: bool,
    /// The games as PGN
    #[arg(long, conflicts_with = "explain", help_heading = PRINTED)]
    pub(super) pgn: bool,
    /// The evidence for every move, and the alternatives
    #[arg(long, help_heading = PRINTED)]
    pub(super) explain: bool,
    /// Only this board, as of a recording of a bus; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(super) board: Vec<String>,
    /// Arbiter's commands to apply, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(super) commands: Option<PathBuf>,
    /// Also publish to this broker, as in mqtt://localhost or mqtts://user@host
    #[arg(long, value_name = "URL", help_heading = PUBLISHED)]
    pub(super) mqtt: Option<String>,
    /// File with the user's password in its first line
    #[arg(long, value_name = "FILE", requires = "mqtt", help_heading = PUBLISHED)]
    pub(super) password_file: Option<PathBuf>,
    /// CA of the broker's certificate, PEM [default: the CAs this computer trusts]
    #[arg(long, value_name = "FILE", requires = "mqtt", help_heading = PUBLISHED)]
    pub(super) ca_file: Option<PathBuf>,
    /// Prefix of all topics
    #[arg(long, value_name = "PREFIX", requires = "mqtt", default_value_t = Prefix::replay(), help_heading = PUBLISHED)]
    pub(super) prefix: Prefix,
    /// Log more; -vv logs even more, or set KIEBITZ_LOG=debug
    #[arg(short, long, action = ArgAction::Count, requires = "mqtt", help_heading = PUBLISHED)]
    pub(super) verbose: u8,
    /// Speed: realtime, a factor such as 10, or max
    #[arg(long, value_name = "SPEED", default_value = "max")]
    pub(super) speed: Speed,
    /// Name of the event stream; a second capture gets NAME-2
    #[arg(long, value_name = "NAME", default_value = "replay")]
    pub(super) stream: String,
    #[command(flatten)]
    help: Help,
    /// Configuration with names and rules [default for a game: /etc/kiebitz.toml]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["laws", "mode", "unsupervised", "time_control"], help_heading = PLAYED)]
    pub(super) config: Option<PathBuf>,
    #[command(flatten, next_help_heading = PLAYED)]
    pub(super) rules: RulesArguments,
}

/// Write the arbiter's report of a game: score sheet, clocks, incidents, claims, corrections
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = after::REPORT)]
pub(super) struct ReportArguments {
    /// A capture (pcapng), a file of events, or the id of a game, as listed by `kiebitz games`
    #[arg(value_name = "FILE|GAME")]
    pub(super) subject: PathBuf,
    /// Plain text
    #[arg(long, conflicts_with = "json", help_heading = INSTEAD_OF_PAGE)]
    pub(super) text: bool,
    /// One JSON object
    #[arg(long, help_heading = INSTEAD_OF_PAGE)]
    pub(super) json: bool,
    /// Output file; an existing file is replaced [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Language of the text: en or de [default: from the configuration, else en]
    #[arg(long, value_name = "CODE")]
    pub(super) language: Option<Language>,
    /// Language of the piece letters, as in fr or ru [default: that of the text]
    #[arg(long, value_name = "CODE")]
    pub(super) notation: Option<String>,
    /// Add the sheet for an adjournment even if the game was not adjourned
    #[arg(long)]
    pub(super) adjournment: bool,
    /// Attach the standings of the event; for a game in the journal
    #[arg(long)]
    pub(super) standings: bool,
    /// Configuration [default for a game in the journal: /etc/kiebitz.toml]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["laws", "mode", "unsupervised", "time_control"])]
    pub(super) config: Option<PathBuf>,
    /// Arbiter's commands to apply to a capture, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(super) commands: Option<PathBuf>,
    #[command(flatten)]
    help: Help,
    #[command(flatten, next_help_heading = PLAYED_IN_CAPTURE)]
    pub(super) rules: RulesArguments,
}

const WHICH: &str = "Selection of games";
const WHICH_EVENTS: &str = "Selection of events";
const INSTEAD_OF_LINES: &str = "Output instead of one line per game";
const PLAYED_IN_CAPTURE: &str = "Rules of a capture";
const INSTEAD_OF_PAGE: &str = "Output instead of an HTML page";
const PRINTED: &str = "Output instead of the score sheet";
const PLAYED: &str = "Rules";
const PUBLISHED: &str = "MQTT";
#[cfg(all(unix, feature = "emulator"))]
const FAULTS: &str = "Faults";

fn game_result() -> impl TypedValueParser<Value = GameResult> {
    let results = GameResult::ALL.iter().map(|result| result.as_str());
    PossibleValuesParser::new(results).map(|named| {
        let known = GameResult::ALL.iter().find(|result| result.as_str() == named);
        known.copied().unwrap_or(GameResult::Unknown)
    })
}

fn incident_kind() -> impl TypedValueParser<Value = IncidentKind> {
    let kinds = IncidentKind::ALL.iter().map(|kind| kind.as_str());
    PossibleValuesParser::new(kinds).try_map(|kind| kind.parse())
}

#[cfg(target_os = "linux")]
fn port_mode() -> impl TypedValueParser<Value = PortMode> {
    PossibleValuesParser::new(["auto", "single", "bus"]).map(|mode| match mode.as_str() {
        "single" => PortMode::Single,
        "bus" => PortMode::Bus,
        _ => PortMode::Auto,
    })
}

/// Limit of the duration of a recording: 31 days, in seconds.
#[cfg(target_os = "linux")]
const LONGEST_RECORDING: u64 = 31 * 86_400;
