//! Capture files of one port and day.

use core::cell::Cell;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::capture::{CaptureWriter, Content, Interface, LineMode};
use crate::time::Timestamp;

/// Output of a capture that can be truncated.
pub(super) trait Storage: Write {
    /// Truncates the output to this length in bytes.
    fn set_length(&self, length: u64) -> io::Result<()>;
}

impl Storage for File {
    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// A capture that is being written.
#[derive(Debug)]
pub(super) struct DayFile<F> {
    /// Date, for example `2026-11-21`.
    pub(super) day: String,
    pub(super) path: PathBuf,
    /// Whether the file has unsynced data.
    pub(super) changed: bool,
    writer: CaptureWriter<Measured<F>>,
    /// Interfaces for single-board mode, bus mode and a probe. `None` until the first entry in that mode.
    interfaces: [Option<usize>; 3],
    /// Length of the file up to its last complete block, in bytes.
    complete_length: u64,
}

impl<F: Storage> DayFile<F> {
    /// Starts a section at the end of a file of this length in bytes. `file` must be open for appending.
    pub(super) fn begin(day: &str, path: PathBuf, file: F, length: u64) -> io::Result<Self> {
        let writer = CaptureWriter::new(Measured {
            file,
            length: Cell::new(length),
        })?;
        Ok(Self {
            day: day.to_owned(),
            path,
            changed: true,
            complete_length: writer.get_ref().length.get(),
            writer,
            interfaces: [None; 3],
        })
    }

    /// Writes an entry of a port. After an error, call [`repair`](Self::repair) before the next write.
    pub(super) fn write(
        &mut self,
        port: &str,
        mode: LineMode,
        at: Timestamp,
        content: &Content,
    ) -> io::Result<()> {
        let interface = self.interface(port, mode)?;
        let writer = &mut self.writer;
        match content {
            Content::Bytes { direction, bytes } => writer.write_bytes(at, interface, *direction, bytes)?,
            Content::Opened => writer.write_opened(at, interface)?,
            Content::Closed { reason } => writer.write_closed(at, interface, reason)?,
            Content::ClockSet { micros } => writer.write_clock_set(at, interface, *micros)?,
        }
        self.mark_block_complete();
        Ok(())
    }

    /// Returns the length in bytes, without a partially written block.
    pub(super) fn length(&self) -> u64 {
        self.complete_length
    }

    /// Removes a partially written block.
    pub(super) fn repair(&mut self) -> io::Result<()> {
        let output = self.writer.get_ref();
        if output.length.get() != self.complete_length {
            output.file.set_length(self.complete_length)?;
            output.length.set(self.complete_length);
        }
        Ok(())
    }

    fn interface(&mut self, port: &str, mode: LineMode) -> io::Result<usize> {
        let slot = match mode {
            LineMode::Single => 0,
            LineMode::Bus => 1,
            LineMode::Unknown => 2,
        };
        if let Some(interface) = self.interfaces[slot] {
            return Ok(interface);
        }
        let name = port.to_owned();
        let interface = self.writer.add_interface(&Interface { name, mode })?;
        self.mark_block_complete();
        self.interfaces[slot] = Some(interface);
        Ok(interface)
    }

    fn mark_block_complete(&mut self) {
        self.complete_length = self.writer.get_ref().length.get();
        self.changed = true;
    }
}

impl DayFile<File> {
    pub(super) fn sync(&self) -> io::Result<()> {
        self.writer.get_ref().file.sync_data()
    }

    /// Syncs the whole file system of this file to the disk.
    #[cfg(target_os = "linux")]
    pub(super) fn sync_file_system(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.writer.get_ref().file)?)
    }
}

/// An output that counts its length, including partially written blocks.
#[derive(Debug)]
struct Measured<F> {
    file: F,
    length: Cell<u64>,
}

impl<F: Write> Write for Measured<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.length.set(self.length.get() + written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;
    use crate::capture::{CaptureReader, Direction};

    const AT: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    /// A disk with limited space. Like a real disk it stores the bytes that still fit.
    #[derive(Clone)]
    struct Disk {
        bytes: Rc<RefCell<Vec<u8>>>,
        room: Rc<Cell<usize>>,
    }

    impl Disk {
        fn with_room(room: usize) -> Self {
            Self {
                bytes: Rc::default(),
                room: Rc::new(Cell::new(room)),
            }
        }
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut stored = self.bytes.borrow_mut();
            let fits = bytes.len().min(self.room.get().saturating_sub(stored.len()));
            if fits == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            stored.extend(&bytes[..fits]);
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Storage for Disk {
        fn set_length(&self, length: u64) -> io::Result<()> {
            self.bytes.borrow_mut().truncate(length as usize);
            Ok(())
        }
    }

    fn chunk(byte: u8) -> Content {
        Content::Bytes {
            direction: Direction::Inbound,
            bytes: vec![byte; 5],
        }
    }

    /// Returns the entries of a capture, which must not be truncated.
    fn chunks(disk: &Disk) -> Vec<Content> {
        let bytes = disk.bytes.borrow().clone();
        let mut reader = CaptureReader::new(bytes.as_slice()).unwrap();
        let chunks = reader.by_ref().map(|packet| packet.unwrap().content).collect();
        assert_eq!(reader.truncated(), None);
        chunks
    }

    #[test]
    fn a_partially_written_block_is_removed() {
        // Section header, interface, one chunk, and a part of another.
        let complete_length = 28 + 40 + 52;
        for room in complete_length..complete_length + 52 {
            let disk = Disk::with_room(room);
            let mut file = DayFile::begin("2026-11-21", "x".into(), disk.clone(), 0).unwrap();
            file.write("port", LineMode::Single, AT, &chunk(1)).unwrap();
            let error = file.write("port", LineMode::Single, AT, &chunk(2)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            file.repair().unwrap();
            assert_eq!(chunks(&disk), [chunk(1)]);

            disk.room.set(1 << 20);
            file.write("port", LineMode::Single, AT, &chunk(3)).unwrap();
            assert_eq!(chunks(&disk), [chunk(1), chunk(3)]);
        }
    }

    #[test]
    fn a_partially_written_interface_is_written_again() {
        let disk = Disk::with_room(28 + 40 + 17);
        let mut file = DayFile::begin("2026-11-21", "x".into(), disk.clone(), 0).unwrap();
        let error = file.write("port", LineMode::Single, AT, &chunk(1)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        file.repair().unwrap();
        disk.room.set(1 << 20);
        for mode in [LineMode::Bus, LineMode::Single, LineMode::Bus] {
            file.write("port", mode, AT, &chunk(2)).unwrap();
        }
        let bytes = disk.bytes.borrow().clone();
        let mut reader = CaptureReader::new(bytes.as_slice()).unwrap();
        let interfaces: Vec<_> = reader.by_ref().map(|packet| packet.unwrap().interface).collect();
        let modes: Vec<_> = reader.interfaces().iter().map(|port| port.mode).collect();
        let packet_modes: Vec<_> = interfaces.iter().map(|index| modes[*index]).collect();
        assert_eq!(packet_modes, [LineMode::Bus, LineMode::Single, LineMode::Bus]);
        assert_eq!(modes.len(), 2);
    }
}
