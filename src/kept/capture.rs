//! A game's part of a recording, as a capture of its own.

use anyhow::{Context, Result, bail};
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{CaptureReader, CaptureWriter, Content, Interface};

use super::{Recorded, Unrecorded};

impl Recorded {
    /// The capture that gives the game when it is replayed: all of the port from when it was opened before the game, because
    /// a replay has to know what stood on the board, until nothing of the game comes any more. It has at most `most` bytes.
    /// Where `is_wanted` becomes false, nobody needs it any more.
    pub(crate) fn capture(&self, most: usize, is_wanted: impl Fn() -> bool) -> Result<Vec<u8>> {
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
            if writer.get_ref().len() > most {
                return Err(Unrecorded::TooLarge {
                    mebibytes: most >> 20,
                }
                .into());
            }
            check(&is_wanted)?;
        }
        Ok(writer.into_inner())
    }

    /// When the port was last opened before the board was connected.
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

/// Ends work that nobody waits for.
pub(super) fn check(is_wanted: impl Fn() -> bool) -> Result<()> {
    if !is_wanted() {
        bail!("nobody waits for it any more");
    }
    Ok(())
}
