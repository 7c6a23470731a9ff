use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use serialport::{ClearBuffer, DataBits, ErrorKind, FlowControl, Parity, StopBits};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_serial::SerialStream;

use super::PortError;
use crate::facts::BAUD;

/// An open serial port, locked for exclusive use: 9600 baud, 8 data bits, no parity, 1 stop bit, no flow control.
///
/// Read and write with [`AsyncRead`] and [`AsyncWrite`]. The text of an error is a reason for users, such as
/// "unplugged", to be recorded when the port is closed. The end of the input is also an error, because a serial line
/// has no end. Flushing does nothing: written bytes are already being sent, and the system call would block the thread.
/// Dropping the port discards unsent bytes. Some drivers omit a byte whose stop bit was damaged on the wire.
///
/// ```no_run
/// use kiebitz_hardware::port::SerialPort;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # async fn version() -> Result<(), Box<dyn std::error::Error>> {
/// let mut port = SerialPort::open("/dev/ttyACM0".as_ref())?;
/// port.write_all(&[0x4d]).await?; // SendVersion
/// let mut answer = [0; 5];
/// port.read_exact(&mut answer).await?;
/// assert_eq!(answer[..3], [0x93, 0x00, 0x05]);
/// # Ok(())
/// # }
/// ```
///
/// # Exclusive use
///
/// The port is locked with `flock`, which other board readers respect and which also applies to root. TIOCEXCL excludes
/// programs that do not use locks, except those of root. A program that opened the port earlier without a lock is not
/// detected. If the lock refuses an attempt by root, the attempt clears the other program's TIOCEXCL, but not its lock.
///
/// A pseudo-terminal is locked without TIOCEXCL, which would stay set if this program is killed and would then exclude
/// its next run. The lock on a pseudo-terminal is a shared lock, which is sufficient against programs that take an
/// exclusive lock, such as this one.
///
/// # Modem lines
///
/// Linux raises DTR and RTS when a port is opened, and drops them when it is closed, unless `stty -hupcl` is set. The
/// boards do not use these lines, according to the description of the protocol. Some microcontroller boards with the
/// same converters restart when the lines rise; add such a device to the ignored devices.
#[derive(Debug)]
pub struct SerialPort {
    line: SerialStream,
    kind: DeviceKind,
}

/// The kind of connection behind a device.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum DeviceKind {
    Bluetooth,
    PseudoTerminal,
    Wire,
}

impl SerialPort {
    /// Opens a device, usually the device of a [`Candidate`](super::Candidate).
    ///
    /// Does not wait for a carrier or a link, but the setup of a USB converter takes some milliseconds. A Bluetooth
    /// link is established in the background; if this fails, reading fails.
    ///
    /// # Errors
    ///
    /// Returns a [`PortError`] with the device.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime with I/O enabled, like all of tokio's I/O.
    pub fn open(device: &Path) -> Result<Self, PortError> {
        let stat = rustix::fs::stat(device).map_err(|error| PortError::new(device, error))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::CharacterDevice {
            return Err(PortError::NotSerial {
                device: device.to_owned(),
            });
        }
        let kind = DeviceKind::of(device, stat.st_rdev);
        let Some(path) = device.to_str() else {
            return Err(PortError::Other {
                device: device.to_owned(),
                reason: "the path is not Unicode text".to_owned(),
            });
        };
        let line = open_line(path, kind).map_err(|error| explain_open_error(device, &error))?;
        Ok(Self { line, kind })
    }

    /// Converts an I/O error to an error with a reason for users.
    fn with_reason(&self, error: &io::Error) -> io::Error {
        let gone = match error.raw_os_error().map(Errno::from_raw_os_error) {
            None => error.kind() == io::ErrorKind::UnexpectedEof,
            Some(error) => GONE.contains(&error),
        };
        let reason = match (gone, self.kind) {
            (true, DeviceKind::Bluetooth) => "Bluetooth link lost".to_owned(),
            (true, DeviceKind::PseudoTerminal | DeviceKind::Wire) => "unplugged".to_owned(),
            (false, _) => format!("the port failed: {error}"),
        };
        io::Error::new(error.kind(), reason)
    }
}

impl AsyncRead for SerialPort {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let filled = buffer.filled().len();
        let this = self.get_mut();
        match ready!(Pin::new(&mut this.line).poll_read(context, buffer)) {
            Ok(()) if buffer.filled().len() == filled => {
                Poll::Ready(Err(this.with_reason(&io::ErrorKind::UnexpectedEof.into())))
            }
            Ok(()) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(this.with_reason(&error))),
        }
    }
}

impl AsyncWrite for SerialPort {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.line).poll_write(context, bytes));
        Poll::Ready(written.map_err(|error| this.with_reason(&error)))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Drop for SerialPort {
    fn drop(&mut self) {
        // If a converter no longer accepts bytes, closing would block for half a minute. An error here only means that
        // the device is gone.
        let _ = serialport::SerialPort::clear(&self.line, ClearBuffer::Output);
    }
}

impl DeviceKind {
    fn of(device: &Path, number: u64) -> Self {
        let name = device.file_name().unwrap_or_default().to_string_lossy();
        if PSEUDO_TERMINALS.contains(&rustix::fs::major(number)) {
            Self::PseudoTerminal
        } else if name.starts_with("rfcomm") {
            Self::Bluetooth
        } else {
            Self::Wire
        }
    }
}

/// Opens and locks a device, and sets it to raw bytes at 9600 8N1.
fn open_line(path: &str, kind: DeviceKind) -> serialport::Result<SerialStream> {
    let settings = serialport::new(path, BAUD)
        .data_bits(DataBits::Eight)
        .parity(Parity::None)
        .stop_bits(StopBits::One)
        .flow_control(FlowControl::None)
        .exclusive(true);
    let mut line = SerialStream::open(&settings)?;
    // Clears TIOCEXCL and changes the lock to a shared lock.
    if kind == DeviceKind::PseudoTerminal {
        line.set_exclusive(false)?;
    }
    Ok(line)
}

/// Returns the port error for a failure to open a device.
///
/// serialport identifies a port in use, but reports most other errors as unknown. For these, the function opens the
/// device again to get the error of the operating system.
fn explain_open_error(device: &Path, error: &serialport::Error) -> PortError {
    if error.kind() == ErrorKind::NoDevice {
        return PortError::new(device, Errno::BUSY);
    }
    match check_device(device) {
        Err(error) => PortError::new(device, error),
        Ok(()) => PortError::Other {
            device: device.to_owned(),
            reason: error.to_string(),
        },
    }
}

/// Checks that the device can be opened and is a terminal, without changing its settings.
fn check_device(device: &Path) -> Result<(), Errno> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let line = rustix::fs::open(device, flags, Mode::empty())?;
    rustix::termios::tcgetattr(line).map(|_| ())
}

/// Major device numbers of pseudo-terminals.
const PSEUDO_TERMINALS: core::ops::RangeInclusive<u32> = 136..=143;

/// Errors of a device that was unplugged.
const GONE: [Errno; 8] = [
    Errno::IO,
    Errno::NXIO,
    Errno::NODEV,
    Errno::PIPE,
    Errno::CONNRESET,
    Errno::TIMEDOUT,
    Errno::HOSTDOWN,
    Errno::SHUTDOWN,
];

#[cfg(test)]
mod tests;
