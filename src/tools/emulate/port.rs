//! A pseudo-terminal that stands in for the serial port of a board.

use core::time::Duration;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::task::{Context as Waker, Poll, ready};

use anyhow::{Context, Result, bail};
use kiebitz_hardware::Timestamp;
use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{OptionalActions, QueueSelector};
use tokio::io::unix::AsyncFd;

/// The port of a board that is plugged in. A program that has opened it sees it hang up when this is dropped.
#[derive(Debug)]
pub struct EmulatedPort {
    /// The board's end.
    board: AsyncFd<OwnedFd>,
    /// The host's end, held open so that the board's end does not hang up while no program has opened it.
    host: OwnedFd,
    path: PathBuf,
    link: Option<PortLink>,
    /// Since when bytes have been waiting to be read.
    unread_since: Option<Timestamp>,
}

/// A symbolic link to a port, which is removed when this is dropped.
#[derive(Debug)]
struct PortLink {
    name: PathBuf,
    target: PathBuf,
}

impl EmulatedPort {
    /// Opens a new pseudo-terminal in raw mode, and creates the link to it.
    ///
    /// # Errors
    ///
    /// When no pseudo-terminal is available, or the link cannot be created.
    pub fn open(link: Option<&Path>) -> Result<Self> {
        let (board, host, path) = pair().context("cannot open a pseudo-terminal")?;
        let link = link.map(|name| PortLink::make(name, &path)).transpose()?;
        #[expect(
            deprecated,
            reason = "what comes after it is unsafe, and asks for what an owned descriptor keeps by itself"
        )]
        let board = AsyncFd::new(board)?;
        Ok(Self {
            board,
            host,
            path,
            link,
            unread_since: None,
        })
    }

    /// Where it can be opened now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The link to it, which stays the same when it is plugged in again.
    pub fn link(&self) -> Option<&Path> {
        self.link.as_ref().map(|link| link.name.as_path())
    }

    /// Sends bytes to the program that has opened the port. What does not fit into its buffer is lost, as on any serial
    /// line.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match rustix::io::write(self.board.get_ref(), bytes) {
            Ok(_) | Err(rustix::io::Errno::AGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads what the host has written.
    pub fn poll_read(&self, cx: &mut Waker<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.board.poll_read_ready(cx))?;
            let read = |board: &AsyncFd<OwnedFd>| Ok(rustix::io::read(board.get_ref(), &mut *buffer)?);
            if let Ok(read) = ready.try_io(read) {
                return Poll::Ready(read);
            }
        }
    }

    /// Makes the pseudo-terminal behave like a serial port. To be called now and then.
    ///
    /// A pseudo-terminal keeps unread bytes, and its exclusive mode even after the program that set it has closed it,
    /// as long as one of its ends is open; a serial port does neither. (Programs that lock the port as well, as kiebitz
    /// does, still have it to themselves.)
    pub fn maintain(&mut self, now: Timestamp) -> io::Result<()> {
        rustix::termios::ioctl_tiocnxcl(&self.host)?;
        if rustix::io::ioctl_fionread(&self.host)? == 0 {
            self.unread_since = None;
            return Ok(());
        }
        let since = *self.unread_since.get_or_insert(now);
        if now.saturating_duration_since(since) >= UNREAD_TIMEOUT {
            rustix::termios::tcflush(&self.host, QueueSelector::IFlush)?;
            self.unread_since = None;
        }
        Ok(())
    }
}

/// Both ends of a new pseudo-terminal, the board's first, and the path to the host's.
fn pair() -> io::Result<(OwnedFd, OwnedFd, PathBuf)> {
    let board = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    rustix::pty::grantpt(&board)?;
    rustix::pty::unlockpt(&board)?;
    let path = rustix::pty::ptsname(&board, Vec::new())?;
    let host = rustix::fs::open(
        path.as_c_str(),
        OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    // Bytes pass as they are, and nothing is echoed.
    let mut settings = rustix::termios::tcgetattr(&host)?;
    settings.make_raw();
    rustix::termios::tcsetattr(&host, OptionalActions::Now, &settings)?;
    let flags = rustix::fs::fcntl_getfl(&board)?;
    rustix::fs::fcntl_setfl(&board, flags | OFlags::NONBLOCK)?;
    Ok((board, host, PathBuf::from(OsStr::from_bytes(path.as_bytes()))))
}

impl PortLink {
    fn make(name: &Path, target: &Path) -> Result<Self> {
        match std::fs::symlink_metadata(name) {
            // Left over from an emulation that was killed.
            Ok(there) if there.is_symlink() => {
                std::fs::remove_file(name).with_context(|| format!("cannot replace {}", name.display()))?;
            }
            Ok(_) => bail!("{} exists and is not a link", name.display()),
            Err(_) => {}
        }
        std::os::unix::fs::symlink(target, name)
            .with_context(|| format!("cannot create the link {}", name.display()))?;
        Ok(Self {
            name: name.to_owned(),
            target: target.to_owned(),
        })
    }
}

impl Drop for PortLink {
    fn drop(&mut self) {
        // Another emulation may have created its own link there.
        if std::fs::read_link(&self.name).is_ok_and(|target| target == self.target) {
            // Nothing can be done about a directory that has become read-only.
            let _ = std::fs::remove_file(&self.name);
        }
    }
}

/// Unread bytes are dropped after this time. A program that has the port open reads sooner, even on a busy machine.
const UNREAD_TIMEOUT: Duration = Duration::from_secs(2);
