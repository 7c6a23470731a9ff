//! Cuts the capture of one game out of a recording.

use anyhow::{Context, Result, bail};
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{CaptureReader, CaptureWriter, Content, Interface};

use super::{Recorded, Unrecorded};

impl Recorded {
    /// Returns a capture that yields the game when replayed. It contains all packets of the port from its last opening
    /// before the game, as a replay has to know the position, to the end of the game's stretch. Fails if it would
    /// exceed `max_bytes`, or once `is_wanted` returns false.
    pub(crate) fn capture(&self, max_bytes: usize, is_wanted: impl Fn() -> bool) -> Result<Vec<u8>> {
        let from = self.opened_at(&is_wanted)?;
        let mut reader = CaptureReader::new(self.open()?)?;
        let mut writer = CaptureWriter::new(Vec::new())?;
        let mut written: Vec<Interface> = Vec::new();
        while let Some(mut packet) = reader.next_packet()? {
            if self.stretch.is_over(packet.at) {
                break;
            }
            let Some(interface) = reader.interfaces().get(packet.interface) else {
                continue;
            };
            if packet.at < from {
                continue;
            }
            packet.interface = match written.iter().position(|known| known == interface) {
                Some(known) => known,
                None => {
                    written.push(interface.clone());
                    writer.add_interface(interface)?
                }
            };
            writer.write(&packet)?;
            if writer.get_ref().len() > max_bytes {
                return Err(Unrecorded::TooLarge {
                    mebibytes: max_bytes >> 20,
                }
                .into());
            }
            check(&is_wanted)?;
        }
        Ok(writer.into_inner())
    }

    /// Time of the last opening of the port before the board was connected.
    fn opened_at(&self, is_wanted: impl Fn() -> bool) -> Result<Timestamp> {
        let mut reader = CaptureReader::new(self.open()?).context("cannot read the recording")?;
        let mut opened = Timestamp::from_micros(i64::MIN);
        while let Some(packet) = reader.next_packet()? {
            if packet.at > self.connected {
                break;
            }
            if matches!(packet.content, Content::Opened) {
                opened = packet.at;
            }
            check(&is_wanted)?;
        }
        Ok(opened)
    }
}

/// Fails if the caller no longer waits for the result.
pub(super) fn check(is_wanted: impl Fn() -> bool) -> Result<()> {
    if !is_wanted() {
        bail!("the request was cancelled");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kiebitz_game::events::{Event, EventKind, LIVE_STREAM};

    use super::*;
    use crate::config::Config;
    use crate::journal::Journal;
    use crate::kept::KeptGames;
    use crate::replay::Replay;

    const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tools/demo/game.pcapng");

    /// The demo's game as a daemon stores it in `folder`.
    fn recorded(folder: &Path) -> Recorded {
        std::fs::create_dir_all(folder.join("recordings")).expect("a folder");
        std::fs::copy(DEMO, folder.join("recordings/2026-08-05-ttyACM0.pcapng")).expect("a copy");
        let mut journal = Journal::open(&folder.join("journal.sqlite")).expect("a journal");
        let mut replay = Replay::open(DEMO.as_ref(), LIVE_STREAM).expect("a capture");
        while replay.next_at().is_some() {
            let events = replay.step().expect("whole");
            let mut events: Vec<Event> = events.into_iter().map(|explained| explained.event).collect();
            for event in &mut events {
                if let EventKind::BoardConnected { port, .. } = &mut event.kind {
                    *port = "ttyACM0".to_owned();
                }
            }
            journal.append(&events).expect("kept");
        }
        let text = format!("[daemon]\nstate_directory = {folder:?}\n");
        let config = Config::parse("kiebitz.toml".as_ref(), &text).expect("a configuration");
        let kept = KeptGames::open(&config).expect("a journal");
        let game = kept.all().expect("games").pop().expect("a game");
        Recorded::of(&kept, &game).expect("a recording")
    }

    #[test]
    fn a_capture_has_the_game_alone_and_respects_the_size_limit() {
        let directory = tempfile::tempdir().expect("a directory");
        let recorded = recorded(directory.path());
        let capture = recorded.capture(usize::MAX, || true).expect("a capture");
        let mut reader = CaptureReader::new(&*capture).expect("a capture");
        let first = reader.next_packet().expect("whole").expect("a packet");
        assert!(matches!(first.content, Content::Opened), "{first:?}");
        let mut last = first.at;
        while let Some(packet) = reader.next_packet().expect("whole") {
            assert!(!recorded.stretch.is_over(packet.at));
            last = packet.at;
        }
        assert!(last > recorded.connected);

        let refused = recorded.capture(1 << 10, || true).expect_err("too large");
        let refused = refused.downcast::<Unrecorded>().expect("a reason");
        assert!(matches!(refused, Unrecorded::TooLarge { .. }), "{refused}");
        assert!(recorded.capture(usize::MAX, || false).is_err(), "nobody waits");
    }
}
