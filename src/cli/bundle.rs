//! `kiebitz bundle`: writes an archive with which a maintainer can look into a problem on another computer.

mod names;
mod part;
mod settings;

use core::ops::RangeInclusive;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Error, Result, anyhow, bail};
use bytesize::ByteSize;
use flate2::Compression;
use flate2::write::GzEncoder;
use kiebitz_game::events::LIVE_STREAM;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::recorder::recorded_since;

use super::request::{BundleRequest, Exported};
use super::{replay, status};
use crate::Exit;
use crate::config::Config;
use crate::kept::{KeptGames, Recorded};
use crate::outputs::desk::user_names;
use crate::outputs::mqtt::host_name;
use crate::system_time;
use crate::tournament;
use names::{Kind, Names};
use part::{Content, Part};
use settings::Secrets;

/// Directory within the archive.
const FOLDER: &str = "kiebitz-bundle";
/// Maximum size of the recording of a game.
const MAX_RECORDING: usize = 64 << 20;
/// Maximum number of lines of the log.
const MAX_LOG_LINES: &str = "50000";
/// Margin before and after the games for log and names, in microseconds.
const MARGIN: i64 = 60 * 1_000_000;
/// A day in microseconds.
const DAY: i64 = 24 * 3600 * 1_000_000;

/// Writes the bundle. A part that cannot be collected is named in the bundle and printed; the others are still written.
pub(super) fn run(request: &BundleRequest, out: &mut impl Write) -> Result<Exit> {
    let Some(config) = replay::config_of_games(request.config.as_deref()) else {
        return Ok(Exit::Usage);
    };
    let now = system_time::wall_time();
    let zone = system_time::local_zone();
    let path = request.output.clone().unwrap_or_else(|| {
        let now = jiff::Timestamp::from_microsecond(now.as_micros()).unwrap_or_default();
        let now = now.to_zoned(zone.clone());
        PathBuf::from(format!("{FOLDER}-{}.tar.gz", now.strftime("%Y-%m-%dT%H%M")))
    });
    let (configuration, secrets) = match configuration(request.config.as_deref()) {
        Ok((text, secrets)) => (Ok(text), secrets),
        Err(error) => (Err(error), Secrets::default()),
    };
    let kept = KeptGames::open(&config);
    let times = times(kept.as_ref(), &request.events);
    let logged = times.as_ref().map_err(copy_of_error).and_then(log);
    let mut parts = vec![
        part::text("versions.txt", Ok(versions())),
        part::text("configuration.toml", configuration),
        part::text("status.json", status::health(&config, request.config.as_deref())),
        part::text("log.txt", logged),
    ];
    match &kept {
        Ok(kept) => parts.extend(play(kept, &request.events)),
        Err(error) => parts.push(part::text("events.jsonl", Err(copy_of_error(error)))),
    }
    parts.iter_mut().for_each(|part| part.hide(&secrets));
    if request.anonymous {
        let mut names = names(&config, &parts);
        if let (Ok(kept), Ok(times)) = (&kept, &times) {
            learn_from_journal(&mut names, kept, times).context("cannot read the names in the journal")?;
        }
        parts.iter_mut().for_each(|part| names.replace_in_part(part));
    }
    let bytes = write(&path, &mut parts, request.anonymous, now.as_micros())
        .with_context(|| format!("cannot write {}", path.display()))?;
    for (name, error) in parts.iter().filter_map(Part::missing) {
        super::failure::note(&format!("kiebitz: {name} is missing: {error}"));
    }
    writeln!(out, "{}: {}", path.display(), ByteSize::b(bytes).display().si())?;
    let hint = match request.anonymous {
        true => "Names are replaced. Look through the texts before you send it.",
        false => {
            "It has the names of players. Look through the texts before you send it, or use --anonymous."
        }
    };
    writeln!(out, "{hint}")?;
    Ok(Exit::Fine)
}

/// The versions of kiebitz and of the system, and the devices.
fn versions() -> String {
    let mut text = format!("kiebitz {}\n", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "architecture: {}", std::env::consts::ARCH);
    let files = [
        ("computer", "/proc/device-tree/model"),
        ("kernel", "/proc/sys/kernel/osrelease"),
        ("memory", "/proc/meminfo"),
        ("system", "/etc/os-release"),
    ];
    for (name, file) in files {
        if let Some(line) = fs::read_to_string(file)
            .ok()
            .and_then(|text| text.lines().next().map(str::to_owned))
        {
            let _ = writeln!(text, "{name}: {}", line.trim_end_matches('\0'));
        }
    }
    let mut ports = kiebitz_hardware::port::PortList::new(kiebitz_hardware::port::PortSettings::default());
    for candidate in ports.list().candidates {
        let _ = writeln!(text, "port: {candidate:?}");
    }
    text
}

/// Returns the configuration file without comments and secrets, and the removed secrets.
fn configuration(path: Option<&Path>) -> Result<(String, Secrets)> {
    let Some(file) = Config::file(path) else {
        let text = "# There is no configuration file: kiebitz uses the defaults.\n";
        return Ok((text.to_owned(), Secrets::default()));
    };
    let text = crate::text_file::read(file);
    settings::without_secrets(&text.with_context(|| format!("cannot read {}", file.display()))?)
        .with_context(|| format!("cannot read {}", file.display()))
}

fn copy_of_error(error: &Error) -> Error {
    anyhow!("{error:#}")
}

/// Returns the period of the games, or the selected period, extended by [`MARGIN`] at both ends.
fn times(kept: Result<&KeptGames, &Error>, events: &Exported) -> Result<RangeInclusive<Timestamp>> {
    let (first, last) = match events {
        Exported::Games(ids) => {
            let kept = kept.map_err(copy_of_error)?;
            let mut ends = Vec::new();
            for id in ids {
                let game = kept.find(id)?;
                ends.push(game.entry.started);
                ends.extend(kept.events(&game)?.last().map(|event| event.ts));
            }
            let first = ends.iter().min().copied().context("no game is named")?;
            (first, ends.into_iter().max().unwrap_or(first))
        }
        Exported::Selection(selection) => selection
            .period
            .in_zone(&system_time::local_zone(), system_time::wall_time())
            .range()
            .into_inner(),
    };
    let moved = |at: Timestamp, by: i64| Timestamp::from_micros(at.as_micros().saturating_add(by));
    Ok(moved(first, -MARGIN)..=moved(last, MARGIN))
}

/// Collects the names in the settings, in the pairing files and user file of the settings, and in the status.
fn names(config: &Config, parts: &[Part]) -> Names {
    let mut names = Names::default();
    names.learn(Kind::Computer, &host_name());
    names.learn(Kind::Computer, &config.host());
    for part in parts {
        if let Ok(Content::Text(text)) = &part.content {
            match &*part.name {
                "configuration.toml" => names.learn_settings(text),
                name if name.contains(".json") => names.learn_in(text),
                _ => {}
            }
        }
    }
    for file in config.pairing_files().all() {
        // A file that cannot be read leaves its names unknown, but most of them are in the journal.
        if let Ok((tournament, _)) = tournament::read(&[file]) {
            names.learn_tournament(&tournament);
        }
    }
    let users = config.desk.as_ref().map(|desk| user_names(&desk.users_file));
    for user in users.and_then(Result::ok).into_iter().flatten() {
        names.learn(Kind::Person, &user);
    }
    names
}

/// Learns the names of the games on all boards, since the log may contain any of them. Starts a day earlier, because a
/// game may have begun then.
fn learn_from_journal(names: &mut Names, kept: &KeptGames, times: &RangeInclusive<Timestamp>) -> Result<()> {
    let first = Timestamp::from_micros(times.start().as_micros().saturating_sub(DAY));
    kept.journal().each_event(
        LIVE_STREAM,
        |_| true,
        first..=*times.end(),
        |event| {
            names.learn_in(&event.payload);
            Ok(())
        },
    )
}

/// The log of the service from systemd's journal.
fn log(times: &RangeInclusive<Timestamp>) -> Result<String> {
    let mut command = Command::new("journalctl");
    command.args([
        "--unit",
        "kiebitz",
        "--no-pager",
        "--output",
        "short-iso-precise",
        "--no-hostname",
        "--lines",
        MAX_LOG_LINES,
    ]);
    for (option, at) in [("--since", times.start()), ("--until", times.end())] {
        // journalctl rejects times out of its range, such as the end of an open period.
        let at = at.as_micros().clamp(0, system_time::wall_time().as_micros());
        command.args([option, &format!("@{}", (at + 999_999) / 1_000_000)]);
    }
    let output = command
        .output()
        .context("cannot run journalctl, which has the log if systemd runs kiebitz")?;
    if !output.status.success() {
        bail!("journalctl: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The events and recordings of games or of a period.
fn play(kept: &KeptGames, events: &Exported) -> Vec<Part> {
    let mut parts = Vec::new();
    match events {
        Exported::Games(ids) => {
            for id in ids {
                let game = kept.find(id);
                let text = game
                    .as_ref()
                    .map_err(|error| anyhow::anyhow!("{error:#}"))
                    .and_then(|game| {
                        let events =
                            kept.journal()
                                .game_events(LIVE_STREAM, &game.board, &game.entry.game)?;
                        Ok(events
                            .iter()
                            .map(|event| format!("{}\n", event.payload))
                            .collect())
                    });
                parts.push(part::text(&format!("events-{id}.jsonl"), text));
                let recording =
                    game.and_then(|game| Recorded::of(kept, &game)?.capture(MAX_RECORDING, || true));
                parts.push(Part::new(
                    format!("recordings/{id}.pcapng"),
                    recording.map(Content::Bytes),
                ));
            }
        }
        Exported::Selection(selection) => {
            let zone = system_time::local_zone();
            let times = selection.period.in_zone(&zone, system_time::wall_time()).range();
            let mut text = String::new();
            let is_wanted = |board: &str| selection.is_on_board(board);
            let read = kept
                .journal()
                .each_event(LIVE_STREAM, is_wanted, times.clone(), |event| {
                    text.push_str(&event.payload);
                    text.push('\n');
                    anyhow::Ok(())
                });
            parts.push(part::text("events.jsonl", read.map(|()| text)));
            let last_day = jiff::Timestamp::from_microsecond(times.end().as_micros())
                .unwrap_or(jiff::Timestamp::MAX)
                .to_zoned(zone.clone())
                .date()
                .to_string();
            for file in recorded_since(kept.recordings(), *times.start(), &zone) {
                let name = file
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                // The name of a recording begins with its day.
                if name
                    .get(..last_day.len())
                    .is_none_or(|day| day <= last_day.as_str())
                {
                    parts.push(Part::new(format!("recordings/{name}"), Ok(Content::File(file))));
                }
            }
        }
    }
    parts
}

/// The text that explains the bundle.
fn contents(parts: &[Part], anonymous: bool) -> String {
    let mut text = String::from(
        "A support bundle of kiebitz. `kiebitz replay` reads the recordings.\n\n\
         Passwords, tokens and the paths of addresses are replaced by stars. The configuration has no comments. ",
    );
    text.push_str(match anonymous {
        true => "Names of players, teams, arbiters, events and of the computer are replaced; notes and decisions are removed.\n\n",
        false => "Names are not replaced.\n\n",
    });
    for part in parts {
        match part.missing() {
            Some((name, error)) => {
                let _ = writeln!(text, "{name}: missing: {error}");
            }
            None => {
                let _ = writeln!(text, "{}", part.name);
            }
        }
    }
    text
}

/// Writes the archive to a new file that only its owner can read, and returns its size in bytes. README.txt comes last,
/// because it lists the recordings that could not be read.
fn write(path: &Path, parts: &mut [Part], anonymous: bool, now: i64) -> Result<u64> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    let file = file.context("use --output to write to another file")?;
    let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::default()));
    let time = u64::try_from(now / 1_000_000).unwrap_or_default();
    let written = parts
        .iter_mut()
        .try_for_each(|part| part.append(&mut archive, FOLDER, time))
        .and_then(|()| {
            let mut readme = part::text("README.txt", Ok(contents(parts, anonymous)));
            readme.append(&mut archive, FOLDER, time)
        })
        .and_then(|()| Ok(archive.into_inner()?.finish()?.metadata()?.len()));
    if written.is_err() {
        // An incomplete archive helps nobody.
        let _ = fs::remove_file(path);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn a_recording_that_cannot_be_read_is_a_missing_part() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str, path: &Path| Part::new(name.to_owned(), Ok(Content::File(path.to_owned())));
        let mut parts = [
            file("recordings/removed.pcapng", &directory.path().join("removed")),
            // A directory can be opened, but not read.
            file("recordings/broken.pcapng", directory.path()),
            part::text("log.txt", Ok("a log".to_owned())),
        ];
        let path = directory.path().join("bundle.tar.gz");
        write(&path, &mut parts, false, 0).expect("an archive");
        let missing: Vec<&str> = parts
            .iter()
            .filter_map(Part::missing)
            .map(|(name, _)| name)
            .collect();
        assert_eq!(missing, ["recordings/removed.pcapng", "recordings/broken.pcapng"]);
        let archive = GzDecoder::new(fs::File::open(&path).expect("an archive"));
        let mut archive = tar::Archive::new(archive);
        let entries = archive.entries().expect("entries").map(|entry| {
            let mut entry = entry.expect("an entry");
            let name = entry.path().expect("a path").display().to_string();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("the content");
            (name, content)
        });
        let entries: BTreeMap<String, Vec<u8>> = entries.collect();
        assert_eq!(entries["kiebitz-bundle/log.txt"], b"a log");
        let readme = String::from_utf8_lossy(&entries["kiebitz-bundle/README.txt"]);
        for name in missing {
            assert!(
                readme.contains(&format!("{name}: missing: cannot read ")),
                "{readme}"
            );
        }
    }
}
