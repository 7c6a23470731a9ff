//! What the help texts say after the lists of arguments.

pub(super) const HELP: &str = "\
Start with `kiebitz demo`; where there are boards, with `kiebitz setup`. `kiebitz replay --help` shows
what can be done with a recording.

Exit codes: 0 success; 1 something failed, and stderr says what; 2 wrong usage; 130 ended by Ctrl-C.";

pub(super) const BACKUP: &str = "\
The daemon may write the journal meanwhile and is not held up. FILE appears when the copy is complete, on
the disk, and every event in it was checked. Recordings are plain files: copy them with any tool.
docs/journal.md explains how to restore a backup.

Examples:
  kiebitz backup /media/stick/kiebitz-2026-11-21.sqlite
  kiebitz backup --replace /srv/backup/kiebitz.sqlite

Exit codes: 0 success; 1 something failed, and FILE is as it was; 2 wrong usage.";

#[cfg(target_os = "linux")]
pub(super) const BOARDS: &str = "\
Without --port: boards and serial converters on USB, bound Bluetooth links, and the configured ports. The
boards are only queried, which disturbs no game. A port in use by a running kiebitz is listed as such.
The sides of a clock are as seen from its front; only play can show which one is White's.

Examples:
  kiebitz boards
  kiebitz boards --watch                         lift a piece to check that its square notices
  kiebitz boards --port /dev/ttyS0               a serial port that is not on USB
  kiebitz boards --json | jq -r '.boards[].serial'

Exit codes: 0 success; 1 no port was found, or a port or board needs attention; 2 wrong usage; 130 ended
by Ctrl-C.";

#[cfg(target_os = "linux")]
pub(super) const CHECK_CONFIG: &str = "\
No port is opened, and nothing is sent to the broker; only its name is looked up. After what kiebitz
makes of the configuration there are lines that begin with `!`: what cannot work as it is now. No
password is ever printed. Run it as the user who runs kiebitz: others may read other files.

Examples:
  kiebitz check-config
  kiebitz check-config new.toml && sudo cp new.toml /etc/kiebitz.toml
  sudo -Hu kiebitz kiebitz check-config

Exit codes: 0 the configuration can be used, or there is none; 2 it has a mistake, or cannot be read.";

#[cfg(target_os = "linux")]
pub(super) const RECORD: &str = "\
The boards' memory is read first; after that they are kept reporting. The file can be replayed at any
time, even while it grows. A port that is unplugged is opened again when it comes back. A running kiebitz
records its ports itself.

Examples:
  kiebitz record /dev/ttyACM0 board-3.pcapng
  kiebitz record --seconds 60 ttyUSB0 row-1.pcapng
  kiebitz replay board-3.pcapng

Exit codes: 0 the time is up; 1 something failed; 2 wrong usage; 130 ended by Ctrl-C, in an orderly way.";

#[cfg(target_os = "linux")]
pub(super) const REBUILD: &str = "\
For a journal that was damaged or lost. The daemon must be stopped; run it as the daemon's user. Events
in the journal are never changed or removed. A board whose recording gives something else under the
number of an event in the journal gets nothing from that stretch of it. docs/journal.md has the details.

Examples:
  kiebitz rebuild --dry-run
  sudo -Hu kiebitz kiebitz rebuild

Exit codes: 0 done, even if events are still missing; 1 something failed; 2 wrong usage, or the
configuration is invalid.";

pub(super) const DEMO: &str = "\
A recorded game goes through all of kiebitz at a pace you can follow, then three short recordings: a move
in doubt is held back, one that was told too early is corrected, an illegal one is named. The board is
drawn as its sensors see it, so a piece in a player's hand is missing. Everything is published on a
built-in MQTT broker, unless kiebitz was built without it, as in the Debian package. In a terminal, the
wall and the desk stay until Ctrl-C. If the output is not a terminal, one block of text is printed per
move, and the demo ends by itself.";

#[cfg(all(unix, feature = "emulator"))]
pub(super) const EMULATE: &str = "\
The boards are virtual: any program that reads boards can open the ports printed at the start. They speak
the protocol of DGT-compatible boards, with the timing of scan, line and clock. A higher speed shortens
the time that players think, not the movements of their hands, so that nothing impossible is seen. An
illegal move in the PGN is made, and stands, if it is written from where to where, as in Ng1g3.

While it runs, you can type faults: unplug, plug, garbage, silent, heard, dead, alive, clock-lost, clock,
each with the number of a board or `all`; `help` explains them. Ctrl-C ends it and removes the links. To
run it in the background, close its input: kiebitz emulate </dev/null &

Examples:
  kiebitz emulate --boards 8 --pgn round-5.pgn --links boards
  kiebitz emulate --hands blitz --fault 'unplug 1 at 20s for 5s'
  kiebitz emulate --bus --boards 30 --damaged 2% --links boards

Exit codes: 0 ended by SIGTERM; 1 something failed; 2 wrong usage; 130 ended by Ctrl-C.";

pub(super) const EVENT_CHECK: &str = "\
Several files are read as one event: players are joined by FIDE id, else by name. Each line says file,
line and column, what is wrong and what to do. Lines that begin with `!` say what will be missed; the
others are only to know. A board is at the table whose number its name ends in. docs/pairings.md has
what the files must look like.

Examples:
  kiebitz event check round-5.pgn
  kiebitz event check round-5.pgn report.trf --fide-list players_list.txt
  kiebitz event check --round 5 pairings.csv
  kiebitz event check --json round-5.pgn | jq -r '.findings[] | select(.severity == \"lost\") | .text'

Exit codes: 0 nothing will be missed; 1 something will be; 2 wrong usage, or a file cannot be read.";

pub(super) const EXPORT: &str = "\
Each event is written exactly as it was kept and published; docs/events.md explains them. Boards follow
each other by name, the events of a board by their number (seq), games in the order in which they are
named. Days and times are those of the events: to have whole games, name them. The daemon may run
meanwhile; what it keeps after the start is left out. For PGN, use `kiebitz pgn`.

Examples:
  kiebitz export -o all.jsonl
  kiebitz export --date 2026-11-21 --board board-3 | jq -c 'select(.type == \"incident.opened\")'
  kiebitz export $(kiebitz games --ids --violations) >violations.jsonl

Exit codes: 0 success, even if there is no such event; 1 something failed, but the other games were
written; 2 wrong usage.";

pub(super) const GAMES: &str = "\
Each line begins with the id of a game: `kiebitz report`, `pgn`, `replay` and `export` take it. The rest
is the local time, players, result, moves, and how many violations, advice and hints were published. A
game is of the day and time at which it was started.
The journal is only read; the daemon may run meanwhile. Who has no journal of their own reads that in
/var/lib/kiebitz.

Examples:
  kiebitz games --date today
  kiebitz games --unfinished --board board-3
  kiebitz games --since 2026-11-21 --violations
  kiebitz pgn $(kiebitz games --ids --date 2026-11-21) >round-5.pgn

Exit codes: 0 success, even if no game is listed; 1 something failed; 2 wrong usage.";

pub(super) const PGN: &str = "\
Every move has the mover's clock (%clk) and the time it took (%emt). Moves end before an irregular one;
what follows it stands in a comment. For a recording, use `kiebitz replay --pgn`.

Examples:
  kiebitz pgn 2026-11-21-board-3-2
  kiebitz pgn -o round-5.pgn $(kiebitz games --ids --date today)

Exit codes: 0 success; 1 something failed, but the other games were written; 2 wrong usage.";

pub(super) const LAWS: &str = "\
Without KIND: all editions, modes and kinds. With KIND: how serious each of its cases is, which articles
apply, and the advice to the arbiter. kiebitz advises; the arbiter decides.

Examples:
  kiebitz laws
  kiebitz laws illegal_move
  kiebitz laws illegal_move --laws fide-2018 --mode blitz --unsupervised
  kiebitz laws flag_fall --language de

Exit codes: 0 success; 2 wrong usage.";

#[cfg(target_os = "linux")]
pub(super) const RUN: &str = "\
Boards are found as they are plugged in. After a cable is plugged in again or kiebitz is restarted, games
go on where they were. systemd/kiebitz.toml explains the configuration; systemd/kiebitz.service starts
kiebitz with the computer. Ctrl-C and SIGTERM stop it in an orderly way. SIGHUP has it read the
configuration again: boards and event apply at once, and the log says what waits for the next start.

Journal and recordings are kept where the configuration or systemd says, else in /var/lib/kiebitz if root
runs kiebitz, and in ~/.local/state/kiebitz ($XDG_STATE_HOME/kiebitz) if another user does.

Exit codes: 0 stopped on request; 1 something failed, and the log says what; 2 wrong usage, or the
configuration is invalid.";

#[cfg(target_os = "linux")]
pub(super) const HUB: &str = "\
It listens to the broker under [mqtt], for the halls under [hub], and does what [publish], [desk] and
[lichess] say, by the pairings under [event]. The daemons need `hub = true` under [mqtt]: the hub keeps
nothing, and asks them for what it does not know. For a desk they need `commands = true` as well. It may
be stopped, moved and started anywhere; two at once do no harm. docs/halls.md has the brokers'
configurations.

Exit codes: 0 stopped on request; 1 something failed, and the log says what; 2 wrong usage, or the
configuration is invalid.";

#[cfg(target_os = "linux")]
pub(super) const STATUS: &str = "\
Boards, games and clocks, what each output did last, and with \"!\" what needs a person. It asks the
kiebitz that runs on this computer, which needs `listen` under [http] in the configuration; a browser
shows the same there. `watch -n 1 kiebitz status` shows it all the time.

Exit codes: 0 all is well; 1 something needs a person, or kiebitz does not answer; 2 wrong usage, or the
configuration is invalid.";

#[cfg(target_os = "linux")]
pub(super) const SETUP: &str = "\
Boards are looked for as by `kiebitz boards`, and only queried. Each gets a name, board-1 and so on, by
its serial number. Broker and event are in the file as comments: it is yours to change. A board on a port
that is in use is left out, so stop a running kiebitz first.

Examples:
  sudo kiebitz setup
  kiebitz setup --output club.toml
  kiebitz setup --output - --port /dev/ttyS0     a serial port that is not on USB, shown only

Exit codes: 0 written, even if no board is plugged in; 1 something failed, or the file exists; 2 wrong
usage; 130 ended by Ctrl-C.";

pub(super) const REPLAY: &str = "\
The score sheet has the clock after every move, the time it took, and the irregularities. Sheets and PGN
are printed at the end of each capture, events as they come. A capture that was cut off, by a power
failure for instance, is replayed as far as it goes, with a note on stderr. Given the id of a game in the
journal, kiebitz replays what the daemon recorded of it. Given a folder of recordings, it replays all of
its ports as one, over restarts of the daemon; of a day, with the daemon's configuration and `--stream
live`, the events are the daemon's own.

Examples:
  kiebitz replay board-3.pcapng                  the score sheet
  kiebitz replay --explain board-3.pcapng        the evidence for each move
  kiebitz replay --pgn round-5/*.pcapng          all games of a round
  kiebitz replay --json board-3.pcapng | jq .    the events
  kiebitz replay --mode blitz --unsupervised --time-control 3+2 board-3.pcapng
  kiebitz replay --commands arbiter.jsonl board-3.pcapng
  kiebitz replay --explain 2026-11-21-board-3-2  a game of the journal, as listed by `kiebitz games`
  kiebitz replay --json --stream live --config /etc/kiebitz.toml recordings/
  kiebitz replay --speed realtime --mqtt mqtt://localhost board-3.pcapng
  kiebitz replay --mqtt mqtts://club@broker.example --password-file password board-3.pcapng

Exit codes: 0 success, even if a capture was cut off; 1 something failed, but the other captures were
replayed; 2 wrong usage; 130 ended by Ctrl-C.";

pub(super) const REPORT: &str = "\
The page is a single self-contained file for a browser, a phone, or A4 paper. It is meant for the arbiter
alone. The report of a capture refers to its packets, as numbered in Wireshark. `kiebitz replay --json`
prints files of events.
Piece letters: en de fr es it pt nl sv da nb fi pl cs sk hu ro hr sr tr ru uk el is et.

Examples:
  kiebitz report board-3.pcapng --output board-3.html
  kiebitz report --text --language de board-3.pcapng
  kiebitz report --notation fr -o game.html 2026-11-21-board-3-2

Exit codes: 0 success, even if a capture was cut off; 1 something failed; 2 wrong usage.";

#[cfg(target_os = "linux")]
pub(super) const USER: &str = "\
It asks for the password, or reads it from a pipe, and prints a line for `users_file` under [desk]. A
viewer looks on; an arbiter decides what happens in games; an operator looks after tables and rounds as
well. docs/desk.md explains the desk.

Examples:
  kiebitz user meier | sudo tee -a /etc/kiebitz/desk-users
  kiebitz user --role viewer hall <password.txt

Exit codes: 0 success; 1 something failed; 2 wrong usage.";
