//! Notes that follow the lists of arguments in the help texts.

pub(super) const HELP: &str = "\
Start with `kiebitz demo`, or with `kiebitz setup` if you have boards. `kiebitz replay --help` shows
what can be done with a recording.

Exit codes: 0 success; 1 something failed, and stderr says what; 2 wrong usage; 130 ended by Ctrl-C.";

pub(super) const BACKUP: &str = "\
The daemon may keep writing the journal and is not held up. FILE appears when the copy is complete,
on the disk, and every event in it was checked. Recordings are plain files: copy them with any tool.
docs/journal.md explains how to restore a backup.

Examples:
  kiebitz backup /media/stick/kiebitz-2026-11-21.sqlite
  kiebitz backup --replace /srv/backup/kiebitz.sqlite

Exit codes: 0 success; 1 something failed, and FILE is as it was; 2 wrong usage.";

#[cfg(target_os = "linux")]
pub(super) const BOARDS: &str = "\
Without --port, it checks boards and serial converters on USB, bound Bluetooth links, and configured
ports. The boards are only queried, which disturbs no game. A port in use by a running kiebitz is
listed as such. Left and right of a clock are as seen from its front; which side is White's is known
only after play begins.

Examples:
  kiebitz boards
  kiebitz boards --watch                         lift a piece to check that its square reports it
  kiebitz boards --port /dev/ttyS0               a serial port that is not on USB
  kiebitz boards --json | jq -r '.boards[].serial'

Exit codes: 0 success; 1 no port was found, or a port or board needs attention; 2 wrong usage; 130
ended by Ctrl-C.";

#[cfg(target_os = "linux")]
pub(super) const CHECK_CONFIG: &str = "\
It opens no port and sends nothing to the broker; it only looks up the broker's name. It prints the
effect of the configuration, and then a line beginning with `!` for everything that cannot work as
it is now. It never prints a password. Run it as the user who runs kiebitz, since access to files
depends on the user.

Examples:
  kiebitz check-config
  kiebitz check-config new.toml && sudo cp new.toml /etc/kiebitz.toml
  sudo -Hu kiebitz kiebitz check-config

Exit codes: 0 the configuration can be used, or there is none; 2 it has a mistake, or cannot be
read.";

#[cfg(target_os = "linux")]
pub(super) const RECORD: &str = "\
It reads the boards' memory first, and then records everything that they report. The file can be
replayed at any time, even while it grows. A port that was unplugged is opened again when it comes
back. A running kiebitz records its ports itself.

Examples:
  kiebitz record /dev/ttyACM0 board-3.pcapng
  kiebitz record --seconds 60 ttyUSB0 row-1.pcapng
  kiebitz replay board-3.pcapng

Exit codes: 0 the time is up; 1 something failed; 2 wrong usage; 130 ended by Ctrl-C, the file is
complete.";

#[cfg(target_os = "linux")]
pub(super) const BUNDLE: &str = "\
The archive has the configuration without passwords, the versions of kiebitz and the system, the
state of the daemon, its log, and the events and recordings of the games or of the time. Run it as
root or as the daemon's user, who may read all of these. Look through it before you send it: notes
and the log may name people in free text, even with --anonymous.

Examples:
  sudo kiebitz bundle
  sudo kiebitz bundle 2026-11-21-board-3-2 --anonymous
  sudo kiebitz bundle --since 2026-11-21T14:00 -o board-3.tar.gz

Exit codes: 0 the archive is written, even if a part is missing; 1 something failed; 2 wrong usage,
or the configuration is invalid.";

#[cfg(target_os = "linux")]
pub(super) const REBUILD: &str = "\
Use it after a journal was damaged or lost. Stop the daemon first, and run it as the daemon's user.
Events in the journal are never changed or removed. If a recording disagrees with an event in the
journal, nothing is restored from that part of the recording. docs/journal.md has the details.

Examples:
  kiebitz rebuild --dry-run
  sudo -Hu kiebitz kiebitz rebuild

Exit codes: 0 done, even if events are still missing; 1 something failed; 2 wrong usage, or the
configuration is invalid.";

pub(super) const DEMO: &str = "\
The demo plays a recorded game at a pace you can follow, then three short recordings: a doubtful
move is held back, a move that was announced too early is corrected, and an illegal move is
reported. The board is drawn as its sensors see it, so a piece in a player's hand is missing.
Everything is published on a built-in MQTT broker, unless kiebitz was built without it, as in the
Debian package. In a terminal, the wall and the desk stay until Ctrl-C. If the output is not a
terminal, one block of text is printed per move, and the demo ends by itself.";

#[cfg(all(unix, feature = "emulator"))]
pub(super) const EMULATE: &str = "\
The boards are virtual: any program that reads boards can open the ports printed at the start. They
speak the protocol of DGT-compatible boards, with the timing of scan, line and clock. A higher speed
shortens the players' thinking, not the movements of their hands, which stay realistic. Moves in the
PGN may be in SAN, also without x, +, # and =, or in UCI. To have an illegal move played, write it
with its start and end squares, as in Ng1g3.

While it runs, you can type faults: unplug, plug, garbage, silent, heard, dead, alive, clock-lost,
clock, wait, each with the number of a board or `all`; `help` explains them. Ctrl-C ends it and
removes the links. To run it in the background, close its input: kiebitz emulate </dev/null &

With --wait, the pieces are set up and the clocks stand, as before a round. Press Enter to let all
players start their clocks, or type `start 3` for one board; --fault 'start 3 at 10m' does so later.
With --config, `Begin round` at the desk of that daemon does the same as Enter, from its journal.
After each game, the pieces are set up for the next one, and the players wait again.

Examples:
  kiebitz emulate --boards 8 --pgn round-5.pgn --links boards
  kiebitz emulate --hands blitz --fault 'unplug 1 at 20s for 5s'
  kiebitz emulate --bus --boards 30 --damaged 2% --links boards
  kiebitz emulate --wait --boards 2 --links boards --fault 'start 1 at 5m' --fault 'start 2 at 8m'
  kiebitz emulate --wait --config rehearsal.toml --boards 12 --links boards

Exit codes: 0 ended by SIGTERM; 1 something failed; 2 wrong usage; 130 ended by Ctrl-C.";

pub(super) const EVENT_CHECK: &str = "\
Several files are read as one event: players are matched by FIDE id, else by name. Each line has the
file, line and column, what is wrong and what to do. Lines that begin with `!` report data that will
be missing; the others are for information. A board is at the table whose number ends its name.
docs/pairings.md describes the files.

Examples:
  kiebitz event check round-5.pgn
  kiebitz event check round-5.pgn report.trf --fide-list players_list.txt
  kiebitz event check --round 5 pairings.csv
  kiebitz event check --json round-5.pgn | jq -r '.findings[] | select(.severity == \"lost\") | .text'

Exit codes: 0 nothing is missing; 1 something is missing; 2 wrong usage, or a file cannot be read.";

pub(super) const EXPORT: &str = "\
Each event is written exactly as it was stored and published; docs/events.md explains them. Boards
are sorted by name and the events of a board by their number (seq); games come in the order of the
ids given. Days and times select events: to get whole games, give their ids. The daemon may keep
running; events that it stores after the start are left out. For PGN, use `kiebitz pgn`.

Examples:
  kiebitz export -o all.jsonl
  kiebitz export --date 2026-11-21 --board board-3 | jq -c 'select(.type == \"incident.opened\")'
  kiebitz export $(kiebitz games --ids --violations) >violations.jsonl

Exit codes: 0 success, even if there is no such event; 1 something failed, but the other games were
written; 2 wrong usage.";

pub(super) const GAMES: &str = "\
Each line begins with the id of a game, for use with `kiebitz report`, `pgn`, `replay` and `export`.
Then follow local time, players, result, moves, and the numbers of violations, advice and hints. A
game belongs to the day and time at which it started. The journal is only read; the daemon may keep
running. If you have no journal of your own, the journal in /var/lib/kiebitz is read.

Examples:
  kiebitz games --date today
  kiebitz games --unfinished --board board-3
  kiebitz games --since 2026-11-21 --violations
  kiebitz pgn $(kiebitz games --ids --date 2026-11-21) >round-5.pgn

Exit codes: 0 success, even if no game is listed; 1 something failed; 2 wrong usage.";

pub(super) const PGN: &str = "\
Every move has the mover's clock (%clk) and the time it took (%emt). Moves end before an irregular
one; an irregular move and the moves after it are in a comment. For a recording, use `kiebitz replay
--pgn`.

Examples:
  kiebitz pgn 2026-11-21-board-3-2
  kiebitz pgn -o round-5.pgn $(kiebitz games --ids --date today)

Exit codes: 0 success; 1 something failed, but the other games were written; 2 wrong usage.";

pub(super) const LAWS: &str = "\
Without KIND, it lists all editions, modes and kinds. With KIND, it prints the severity of each
case, the articles that apply, and the advice to the arbiter. kiebitz advises; the arbiter decides.

Examples:
  kiebitz laws
  kiebitz laws illegal_move
  kiebitz laws illegal_move --laws fide-2018 --mode blitz --unsupervised
  kiebitz laws flag_fall --language de

Exit codes: 0 success; 2 wrong usage.";

#[cfg(target_os = "linux")]
pub(super) const RUN: &str = "\
Boards are found as they are plugged in. After a cable is plugged in again or kiebitz is restarted,
games continue. systemd/kiebitz.toml explains the configuration; systemd/kiebitz.service starts
kiebitz with the computer. Ctrl-C and SIGTERM stop kiebitz cleanly. SIGHUP makes it reload the
configuration: changes to boards and event apply at once, and the log lists changes that apply at
the next start.

Journal and recordings are stored in the directory set in the configuration or by systemd, else in
/var/lib/kiebitz if root runs kiebitz, and in ~/.local/state/kiebitz ($XDG_STATE_HOME/kiebitz) if
another user does.

Exit codes: 0 stopped on request; 1 something failed, and the log says what; 2 wrong usage, or the
configuration is invalid.";

#[cfg(target_os = "linux")]
pub(super) const HUB: &str = "\
The hub listens to the broker under [mqtt], for the halls under [hub], and feeds the outputs
[publish], [desk] and [lichess], with the pairings under [event]. The daemons need `hub = true`
under [mqtt]: the hub stores nothing, and asks the daemons for missing events. For a desk they also
need `commands = true`. The hub can be stopped, moved and started anywhere; two at once do no harm.
docs/halls.md has the brokers' configurations.

Exit codes: 0 stopped on request; 1 something failed, and the log says what; 2 wrong usage, or the
configuration is invalid.";

#[cfg(target_os = "linux")]
pub(super) const STATUS: &str = "\
It prints boards, games and clocks, the last activity of each output, and with \"!\" what needs
attention. It asks the kiebitz on this computer, which needs `listen` under [http] in its
configuration; a browser shows the same at that address. `watch -n 1 kiebitz status` refreshes every
second.

Exit codes: 0 all is well; 1 something needs attention, or kiebitz does not answer; 2 wrong usage,
or the configuration is invalid.";

#[cfg(target_os = "linux")]
pub(super) const SETUP: &str = "\
It finds boards like `kiebitz boards`, and only queries them. Each board gets a name, board-1 and so
on, in the order of ports, with --port in the order given. Broker and event are in the file as
comments to edit. A board on a port that is in use is left out, so stop a running kiebitz first.

Examples:
  sudo kiebitz setup
  kiebitz setup --output club.toml
  kiebitz setup --port /dev/ttyUSB3 --port /dev/ttyUSB0     board-1 on ttyUSB3, board-2 on ttyUSB0
  kiebitz setup --output - --port /dev/ttyS0     a serial port that is not on USB, shown only

Exit codes: 0 written, even if no board is plugged in; 1 something failed, or the file exists; 2
wrong usage; 130 ended by Ctrl-C.";

pub(super) const REPLAY: &str = "\
The score sheet has the clock after every move, the time it took, and the irregularities. Sheets and
PGN are printed at the end of each capture, events as they come. A capture that was cut off, for
example by a power failure, is replayed as far as it goes, with a note on stderr. For the id of a
game in the journal, kiebitz replays the daemon's recording of that game. For a folder of
recordings, it replays all ports together, across restarts of the daemon; with the daemon's
configuration and `--stream live`, the recordings of a day give the same events as the daemon.

Examples:
  kiebitz replay board-3.pcapng                  the score sheet
  kiebitz replay --explain board-3.pcapng        the evidence for each move
  kiebitz replay --pgn round-5/*.pcapng          all games of a round
  kiebitz replay --json board-3.pcapng | jq .    the events
  kiebitz replay --board board-3 row-1.pcapng    one board of a bus
  kiebitz replay --mode blitz --unsupervised --time-control 3+2 board-3.pcapng
  kiebitz replay --commands arbiter.jsonl board-3.pcapng
  kiebitz replay --explain 2026-11-21-board-3-2  a game of the journal, as listed by `kiebitz games`
  kiebitz replay --json --stream live --config /etc/kiebitz.toml recordings/
  kiebitz replay --speed realtime --mqtt mqtt://localhost board-3.pcapng
  kiebitz replay --mqtt mqtts://club@broker.example --password-file password board-3.pcapng

Exit codes: 0 success, even if a capture was cut off; 1 something failed, but the other captures
were replayed; 2 wrong usage; 130 ended by Ctrl-C.";

pub(super) const REPORT: &str = "\
The page is a single self-contained file for a browser, a phone, or A4 paper. It is for the arbiter
only. The report of a capture refers to packets by their numbers in Wireshark. `kiebitz replay
--json` prints files of events. Piece letters: en de fr es it pt nl sv da nb fi pl cs sk hu ro hr sr
tr ru uk el is et.

Examples:
  kiebitz report board-3.pcapng --output board-3.html
  kiebitz report --text --language de board-3.pcapng
  kiebitz report --notation fr -o game.html 2026-11-21-board-3-2

Exit codes: 0 success, even if a capture was cut off; 1 something failed; 2 wrong usage.";

#[cfg(target_os = "linux")]
pub(super) const USER: &str = "\
It asks for the password, or reads it from a pipe, and prints a line for `users_file` under [desk].
A viewer sees everything and changes nothing; an arbiter also decides about games; an operator also
manages tables and rounds. docs/desk.md explains the desk.

Examples:
  kiebitz user meier | sudo tee -a /etc/kiebitz/desk-users
  kiebitz user --role viewer hall <password.txt

Exit codes: 0 success; 1 something failed; 2 wrong usage.";
