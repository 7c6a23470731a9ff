//! One port, open.

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

/// A serial port at 9600 baud, 8 data bits, no parity, 1 stop bit and no flow control, open for this program
/// alone.
///
/// Reading and writing are those of [`AsyncRead`] and [`AsyncWrite`]. Their errors are reasons for people
/// ("unplugged"), made to be recorded as the cause of the port's close. The end of the input is such an error too:
/// a serial line has no end. Flushing does nothing, since what is written is on its way, and the system's call for
/// it would hold up the whole thread. What is not sent yet when the port is dropped is thrown away. Some drivers
/// leave out a byte whose stop bit was damaged on the wire.
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
/// The port is locked with `flock`, which other readers of boards respect and which holds for root too. TIOCEXCL
/// keeps out programs that know no locks, except those of root. A program that opened the port earlier, without any
/// lock, is not noticed. When root is refused because of the lock, the attempt ends the other program's TIOCEXCL,
/// not its lock.
///
/// A pseudo-terminal is locked without TIOCEXCL, which would survive this program there, if that is killed, and keep
/// its successor out. Its lock is a shared one, which is enough against programs that want the port for themselves, as
/// this program does.
///
/// # Modem lines
///
/// Linux raises DTR and RTS whenever a port is opened, and drops them when it is closed, unless `stty -hupcl` forbade
/// that. The description of the boards' protocol gives these lines no meaning, but boards for tinkering with the same
/// converters restart when they rise, which is a reason to list such a device among the ignored ones.
#[derive(Debug)]
pub struct SerialPort {
    line: SerialStream,
    kind: DeviceKind,
}

/// What is at the other end of a device.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum DeviceKind {
    Bluetooth,
    PseudoTerminal,
    Wire,
}

impl SerialPort {
    /// Opens a device, such as a [`Candidate`](super::Candidate)'s.
    ///
    /// It waits for no carrier and no link, but a USB converter takes some milliseconds to be set up. A Bluetooth
    /// link is only begun; that it fails is an error in reading.
    ///
    /// # Errors
    ///
    /// Those of [`PortError`] that name a device.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O enabled, as all of tokio's I/O does.
    pub fn open(device: &Path) -> Result<Self, PortError> {
        let about = rustix::fs::stat(device).map_err(|error| PortError::new(device, error))?;
        if FileType::from_raw_mode(about.st_mode) != FileType::CharacterDevice {
            return Err(PortError::NotSerial {
                device: device.to_owned(),
            });
        }
        let kind = DeviceKind::of(device, about.st_rdev);
        let Some(path) = device.to_str() else {
            return Err(PortError::Other {
                device: device.to_owned(),
                reason: "the path is not Unicode text".to_owned(),
            });
        };
        let line = opened(path, kind).map_err(|error| explained(device, &error))?;
        Ok(Self { line, kind })
    }

    /// The error as a reason for people.
    fn lost(&self, error: &io::Error) -> io::Error {
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
                Poll::Ready(Err(this.lost(&io::ErrorKind::UnexpectedEof.into())))
            }
            Ok(()) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(this.lost(&error))),
        }
    }
}

impl AsyncWrite for SerialPort {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.line).poll_write(context, bytes));
        Poll::Ready(written.map_err(|error| this.lost(&error)))
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
        // A converter that takes no bytes any more would hold up closing for half a minute. That this fails only
        // means that the device is gone.
        let _ = serialport::SerialPort::clear(&self.line, ClearBuffer::Output);
    }
}

impl DeviceKind {
    /// What the device with this path and number is.
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

/// Takes the device for this program and makes it carry plain bytes at 9600 8N1.
fn opened(path: &str, kind: DeviceKind) -> serialport::Result<SerialStream> {
    let settings = serialport::new(path, BAUD)
        .data_bits(DataBits::Eight)
        .parity(Parity::None)
        .stop_bits(StopBits::One)
        .flow_control(FlowControl::None)
        .exclusive(true);
    let mut line = SerialStream::open(&settings)?;
    // It ends TIOCEXCL and makes the lock a shared one.
    if kind == DeviceKind::PseudoTerminal {
        line.set_exclusive(false)?;
    }
    Ok(line)
}

/// What it means that opening a device failed like this.
///
/// serialport distinguishes a port in use from everything else, but calls most other errors unknown. So the system is
/// asked about those, by opening the device once more.
fn explained(device: &Path, error: &serialport::Error) -> PortError {
    if error.kind() == ErrorKind::NoDevice {
        return PortError::new(device, Errno::BUSY);
    }
    match looked_at(device) {
        Err(error) => PortError::new(device, error),
        Ok(()) => PortError::Other {
            device: device.to_owned(),
            reason: error.to_string(),
        },
    }
}

/// Whether the device can be opened and has a serial line, without changing anything about it.
fn looked_at(device: &Path) -> Result<(), Errno> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let line = rustix::fs::open(device, flags, Mode::empty())?;
    rustix::termios::tcgetattr(line).map(|_| ())
}

/// The major device numbers of pseudo-terminals.
const PSEUDO_TERMINALS: core::ops::RangeInclusive<u32> = 136..=143;

/// The errors of a device that is no longer there.
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
