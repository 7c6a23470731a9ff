//! The arguments as they stand on the command line.
//!
//! Help texts are the doc comments here; tests/whole/help holds them as people see them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
#[cfg(target_os = "linux")]
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand};

use super::request::Request;
use crate::config::Played;
#[cfg(target_os = "linux")]
use crate::config::PortMode;
use crate::laws::{Edition, IncidentKind, Language, Mode, TimeControl};
use crate::system_time::Speed;
#[cfg(unix)]
use crate::tools::emulate::{Fault, Hands, Share};

/// Watches games of chess on electronic boards: moves, clocks and irregularities, live over MQTT
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
    after_help = AFTER_HELP
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    help: Help,
    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[cfg(target_os = "linux")]
    Boards(BoardsArguments),
    Demo(DemoArguments),
    #[cfg(unix)]
    Emulate(EmulateArguments),
    Laws(LawsArguments),
    #[cfg(target_os = "linux")]
    Record(RecordArguments),
    Replay(ReplayArguments),
    Report(ReportArguments),
    #[cfg(target_os = "linux")]
    Run(RunArguments),
}

/// One help, the short one: what does not fit there belongs into the documentation.
#[derive(Debug, Args)]
struct Help {
    /// Print this help
    #[arg(short, long, action = ArgAction::HelpShort)]
    help: Option<bool>,
}

/// List ports and boards, and what to do where something is wrong
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = AFTER_BOARDS)]
pub(super) struct BoardsArguments {
    /// Look at this port only; can be given several times
    #[arg(long, value_name = "PATH")]
    pub(super) port: Vec<PathBuf>,
    /// Ports and names as there [default: /etc/kiebitz.toml if it is there]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Go on until Ctrl-C, with one line for every change
    #[arg(long)]
    pub(super) watch: bool,
    /// One JSON object per port; with --watch again for every change
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    help: Help,
}

/// Record what goes over one port, for a replay or for somebody who shall look into it
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = AFTER_RECORD)]
pub(super) struct RecordArguments {
    /// A port, as `kiebitz boards` lists them
    #[arg(value_name = "PORT")]
    pub(super) port: PathBuf,
    /// The recording (pcapng); a file that exists is left alone
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// How the boards on it speak: auto (find out), single or bus
    #[arg(long, value_name = "MODE", default_value = "auto", hide_possible_values = true, value_parser = port_mode())]
    pub(super) mode: PortMode,
    /// End after so many seconds
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=LONGEST_RECORDING))]
    pub(super) seconds: Option<u64>,
    #[command(flatten)]
    help: Help,
}

/// Watch a game come in from a board; needs nothing else installed
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = AFTER_DEMO)]
pub(super) struct DemoArguments {
    /// How fast: realtime, a number of times as fast, or max
    #[arg(long, value_name = "SPEED", default_value = "5")]
    pub(super) speed: Speed,
    /// Port of the MQTT broker [default: 1883 if it is free, else any]
    #[arg(long, value_name = "PORT")]
    pub(super) port: Option<u16>,
    /// Stay after the game until Ctrl-C, to look at the topics
    #[arg(long)]
    pub(super) wait: bool,
    /// Draw pieces as letters: KQRBNP for White, kqrbnp for Black
    #[arg(long)]
    pub(super) ascii: bool,
    #[command(flatten)]
    help: Help,
}

/// Emulate boards and clocks on pseudo-terminals, for rehearsals without hardware
#[cfg(unix)]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = AFTER_EMULATE)]
pub(super) struct EmulateArguments {
    /// How many boards, up to 256
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) boards: u16,
    /// Games to play, to the boards in turn and round again [default: three old ones]
    #[arg(long, value_name = "FILE")]
    pub(super) pgn: Option<PathBuf>,
    /// Who plays: calm, drawing (slides pieces), blitz, clumsy, mixed
    #[arg(long, value_name = "HANDS", default_value = "calm")]
    pub(super) hands: Hands,
    /// How fast they think: realtime, so many times as fast, or max
    #[arg(long, value_name = "SPEED", default_value = "1")]
    pub(super) speed: Speed,
    /// The same number gives the same play
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub(super) seed: u64,
    /// All boards on one port, as a bus; their addresses are 1 and so on
    #[arg(long)]
    pub(super) bus: bool,
    /// Make links to the ports, DIR/board-1 and so on or DIR/bus
    #[arg(long, value_name = "DIR")]
    pub(super) links: Option<PathBuf>,
    /// What goes wrong, as in "unplug 2 at 30s for 5s"; can be given several times
    #[arg(long, value_name = "FAULT", help_heading = FAULTS)]
    pub(super) fault: Vec<Fault>,
    /// How many answers on the bus are damaged, as in 2%
    #[arg(long, value_name = "SHARE", default_value = "0%", requires = "bus", help_heading = FAULTS)]
    pub(super) damaged: Share,
    /// Unplugged boards keep power and note moves, as serial ones do
    #[arg(long, conflicts_with = "bus", help_heading = FAULTS)]
    pub(super) own_power: bool,
    #[command(flatten)]
    help: Help,
}

/// Watch the boards that are plugged in, all day: the daemon
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = AFTER_RUN)]
pub(super) struct RunArguments {
    /// The configuration [default: /etc/kiebitz.toml if it is there]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    help: Help,
}

/// What is played, where no configuration tells.
#[derive(Debug, Args)]
pub(super) struct RulesArguments {
    /// Edition of the Laws, as in fide-2018 [default: fide-2023]
    #[arg(long, value_name = "NAME")]
    pub(super) laws: Option<Edition>,
    /// standard, rapid or blitz [default: what the time control is, else standard]
    #[arg(long, value_name = "NAME")]
    pub(super) mode: Option<Mode>,
    /// Rapid or blitz without the supervision that the competition rules need
    #[arg(long)]
    pub(super) unsupervised: bool,
    /// As in "90+30" or "90 min/40 + 30 min, 30 s from move 1"
    #[arg(long, value_name = "TEXT")]
    pub(super) time_control: Option<TimeControl>,
}

impl RulesArguments {
    /// What they say.
    pub(super) fn played(self) -> Played {
        Played {
            laws: self.laws,
            mode: self.mode,
            supervised: self.unsupervised.then_some(false),
            time_control: self.time_control,
            ..Played::default()
        }
    }
}

/// Explain the Laws: editions, modes of play, and what an incident means
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = AFTER_LAWS)]
pub(super) struct LawsArguments {
    /// A kind of incident, as in illegal_move [default: list what there is]
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

/// Replay captures: score sheet, events, PGN, or all of it over MQTT
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = AFTER_REPLAY)]
pub(super) struct ReplayArguments {
    /// Captures of boards (pcapng); each is replayed by itself
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Events, one JSON object per line
    #[arg(long, conflicts_with_all = ["pgn", "explain"], help_heading = PRINTED)]
    pub(super) json: bool,
    /// The games as PGN
    #[arg(long, conflicts_with = "explain", help_heading = PRINTED)]
    pub(super) pgn: bool,
    /// What every move rests on, and what else it could have been
    #[arg(long, help_heading = PRINTED)]
    pub(super) explain: bool,
    /// Commands of an arbiter to be given as well, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(super) commands: Option<PathBuf>,
    /// Publish as well, as in mqtt://localhost or mqtt://user:password@host:1883
    #[arg(long, value_name = "URL", help_heading = PUBLISHED)]
    pub(super) mqtt: Option<String>,
    /// What the topics begin with
    #[arg(long, value_name = "PREFIX", requires = "mqtt", default_value = "kiebitz/replay", help_heading = PUBLISHED)]
    pub(super) prefix: String,
    /// Log more; -vv still more, or set KIEBITZ_LOG=debug
    #[arg(short, long, action = ArgAction::Count, requires = "mqtt", help_heading = PUBLISHED)]
    pub(super) verbose: u8,
    /// How fast: realtime, a number of times as fast, or max
    #[arg(long, value_name = "SPEED", default_value = "max")]
    pub(super) speed: Speed,
    /// Name of the stream of events; a second capture's is NAME-2
    #[arg(long, value_name = "NAME", default_value = "replay")]
    pub(super) stream: String,
    #[command(flatten)]
    help: Help,
    /// Names of the boards, and what is played on them, as there
    #[arg(long, value_name = "FILE", conflicts_with_all = ["laws", "mode", "unsupervised", "time_control"], help_heading = PLAYED)]
    pub(super) config: Option<PathBuf>,
    #[command(flatten, next_help_heading = PLAYED)]
    pub(super) rules: RulesArguments,
}

/// The arbiter's report of a game: score sheet, clocks, incidents, claims, corrections
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = AFTER_REPORT)]
pub(super) struct ReportArguments {
    /// A capture (pcapng), a file of events, or the id of a game in the journal
    #[arg(value_name = "FILE|GAME")]
    pub(super) subject: PathBuf,
    /// As text
    #[arg(long, conflicts_with = "json", help_heading = INSTEAD_OF_PAGE)]
    pub(super) text: bool,
    /// As one JSON object
    #[arg(long, help_heading = INSTEAD_OF_PAGE)]
    pub(super) json: bool,
    /// Where to; a file that exists is replaced [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Language of the texts: en or de [default: that of the configuration, else en]
    #[arg(long, value_name = "CODE")]
    pub(super) language: Option<Language>,
    /// Language of the piece letters, as in fr or ru [default: that of the texts]
    #[arg(long, value_name = "CODE")]
    pub(super) notation: Option<String>,
    /// Journal, and what is played [default: /etc/kiebitz.toml for a game]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["laws", "mode", "unsupervised", "time_control"])]
    pub(super) config: Option<PathBuf>,
    /// Commands of an arbiter to be given in a capture, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(super) commands: Option<PathBuf>,
    #[command(flatten)]
    help: Help,
    #[command(flatten, next_help_heading = PLAYED_IN_CAPTURE)]
    pub(super) rules: RulesArguments,
}

const PLAYED_IN_CAPTURE: &str = "What is played, of a capture";
const INSTEAD_OF_PAGE: &str = "Print instead of an HTML page";
const PRINTED: &str = "Print instead of the score sheet";
const PLAYED: &str = "What is played";
const PUBLISHED: &str = "MQTT";
#[cfg(unix)]
const FAULTS: &str = "Faults";

const AFTER_HELP: &str = "\
Start with `kiebitz demo`. `kiebitz replay --help` shows what can be done with a recording.

Exit codes: 0 fine; 1 something failed, and stderr says what; 2 wrong usage; 130 ended by Ctrl-C.";

#[cfg(target_os = "linux")]
const AFTER_BOARDS: &str = "\
Without --port: boards and serial converters on USB, bound Bluetooth links, and the configured ports. The
boards are only asked; no game suffers from it. A port that a running kiebitz uses is told as such. A
clock's sides are as seen from its front; which is White's only play can tell.

Examples:
  kiebitz boards
  kiebitz boards --watch                         lift a piece, and see whether its square notices
  kiebitz boards --port /dev/ttyS0               a serial port that is not on USB
  kiebitz boards --json | jq -r '.boards[].serial'

Exit codes: 0 fine; 1 no port was found, or a port or board has to be seen to; 2 wrong usage; 130 ended
by Ctrl-C.";

#[cfg(target_os = "linux")]
const AFTER_RECORD: &str = "\
The boards are kept answering, and their memory is read first. The file can be replayed at any moment,
also while it grows. A port that goes away is opened again. A running kiebitz records its ports itself.

Examples:
  kiebitz record /dev/ttyACM0 board-3.pcapng
  kiebitz record --seconds 60 ttyUSB0 row-1.pcapng
  kiebitz replay board-3.pcapng

Exit codes: 0 the time is over; 1 something failed; 2 wrong usage; 130 ended by Ctrl-C, in good order.";

const AFTER_DEMO: &str = "\
A recorded game goes through the whole of kiebitz at a pace one can watch. The board is drawn as its
sensors see it: a piece in the hand is missing. Everything is published on an MQTT broker of its own.
Where the output is no terminal, a block of text is printed per move. Ctrl-C ends the demo.";

#[cfg(unix)]
const AFTER_EMULATE: &str = "\
These are virtual boards: whatever reads boards can open the ports that are printed at the start. They
speak the protocol of DGT-compatible boards, with the timing of scan, line and clock. A higher speed
shortens what players think, not what their hands do, so that nothing impossible is seen.

While it runs, faults can be typed: unplug, plug, garbage, silent, heard, dead, alive, clock-lost, clock,
each with the number of a board or `all`; `help` explains them. Ctrl-C ends it and removes the links. In
the background it needs its input closed: kiebitz emulate </dev/null &

Examples:
  kiebitz emulate --boards 8 --pgn round-5.pgn --links boards
  kiebitz emulate --hands blitz --fault 'unplug 1 at 20s for 5s'
  kiebitz emulate --bus --boards 30 --damaged 2% --links boards

Exit codes: 0 ended by a signal to terminate; 1 something failed; 2 wrong usage; 130 ended by Ctrl-C.";

const AFTER_LAWS: &str = "\
Without KIND: all editions, modes and kinds. With one: how grave each of its cases is, by which articles,
and what the arbiter is advised. kiebitz advises; the arbiter decides.

Examples:
  kiebitz laws
  kiebitz laws illegal_move
  kiebitz laws illegal_move --laws fide-2018 --mode blitz --unsupervised
  kiebitz laws flag_fall --language de

Exit codes: 0 fine; 2 wrong usage.";

#[cfg(target_os = "linux")]
const AFTER_RUN: &str = "\
Boards are found as they are plugged in, and games go on where they were when a cable comes back or
kiebitz was restarted. systemd/kiebitz.toml explains the configuration, systemd/kiebitz.service starts
kiebitz with the computer. Ctrl-C and SIGTERM stop it in good order.

Exit codes: 0 it was stopped; 1 it could not work, and the log says why; 2 wrong usage, or the
configuration makes no sense.";

const AFTER_REPLAY: &str = "\
The score sheet has the clock after every move, the time it took, and what was odd. Sheets and PGN are
printed at the end of each capture, events as they come. A capture that was cut off, by a power failure
for instance, is replayed as far as it goes; stderr says so.

Examples:
  kiebitz replay board-3.pcapng                  the score sheet
  kiebitz replay --explain board-3.pcapng        why each move was told
  kiebitz replay --pgn round-5/*.pcapng          all games of a round
  kiebitz replay --json board-3.pcapng | jq .    the events
  kiebitz replay --mode blitz --unsupervised --time-control 3+2 board-3.pcapng
  kiebitz replay --commands arbiter.jsonl board-3.pcapng
  kiebitz replay --speed realtime --mqtt mqtt://localhost board-3.pcapng

Exit codes: 0 fine, also where a capture was cut off; 1 something failed, the other captures are replayed
all the same; 2 wrong usage; 130 ended by Ctrl-C.";

const AFTER_REPORT: &str = "\
The page is one file that needs nothing else: for a browser, a phone, or A4 paper. It is for the arbiter
alone. What is known from a capture points to its packets, for Wireshark. A game that is not over has the
data for the envelope of an adjournment. `kiebitz replay --json` prints files of events. Piece letters:
en de fr es it pt nl sv da nb fi pl cs sk hu ro hr sr tr ru uk el is et.

Examples:
  kiebitz report board-3.pcapng --output board-3.html
  kiebitz report --text --language de board-3.pcapng
  kiebitz report --notation fr -o game.html 2026-11-21-board-3-2

Exit codes: 0 fine, also where a capture was cut off; 1 something failed; 2 wrong usage.";

/// What the arguments ask for, checked.
///
/// # Errors
///
/// When they make no sense; also when they ask for help, which is then the error's text.
pub(super) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Request, clap::Error> {
    let arguments = Arguments::try_parse_from(args)?;
    match arguments.command {
        #[cfg(target_os = "linux")]
        Command::Boards(boards) => Ok(Request::Boards(boards.into())),
        Command::Demo(demo) => Ok(Request::Demo(demo.into())),
        #[cfg(unix)]
        Command::Emulate(emulate) => Request::emulate(emulate).map_err(|error| wrong("emulate", &error)),
        Command::Laws(laws) => Ok(Request::Laws(laws.into())),
        #[cfg(target_os = "linux")]
        Command::Record(record) => Ok(Request::Record(record.into())),
        Command::Replay(replay) => Request::replay(replay).map_err(|error| wrong("replay", &error)),
        Command::Report(report) => Request::report(report).map_err(|error| wrong("report", &error)),
        #[cfg(target_os = "linux")]
        Command::Run(run) => Ok(Request::Run(run.config)),
    }
}

/// What is wrong with the arguments of a command.
fn wrong(name: &str, error: &anyhow::Error) -> clap::Error {
    let mut command = Arguments::command();
    command.build();
    let command = command.find_subcommand(name).cloned().unwrap_or(command);
    command
        .clone()
        .error(ErrorKind::ValueValidation, format!("{error:#}"))
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

/// A month.
#[cfg(target_os = "linux")]
const LONGEST_RECORDING: u64 = 31 * 86_400;
