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

/// The port of a plugged-in board. When it is dropped, a program that has opened the port sees a hang-up.
#[derive(Debug)]
pub struct EmulatedPort {
    /// Must be dropped before `board` and `host`: once the pseudo-terminal is closed, another program may get its
    /// number, and a daemon that reopens its port would follow the link to that program's terminal.
    link: Option<PortLink>,
    /// The board's end of the pseudo-terminal.
    board: AsyncFd<OwnedFd>,
    /// The host's end. Held open so that the board's end does not hang up while no program has the port open.
    host: OwnedFd,
    path: PathBuf,
    /// Time since which bytes have been waiting for the host.
    unread_since: Option<Timestamp>,
}

/// A symbolic link to a port. The link is removed on drop.
#[derive(Debug)]
struct PortLink {
    name: PathBuf,
    target: PathBuf,
}

impl EmulatedPort {
    /// Opens a new pseudo-terminal in raw mode, and creates the link.
    ///
    /// # Errors
    ///
    /// Fails if no pseudo-terminal is available, or the link cannot be created.
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

    /// Returns the current path of the pseudo-terminal.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the link, whose name stays the same after unplugging and plugging in.
    pub fn link(&self) -> Option<&Path> {
        self.link.as_ref().map(|link| link.name.as_path())
    }

    /// Sends bytes to the program that has opened the port. Bytes that do not fit into its buffer are lost, as on any
    /// serial line.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match rustix::io::write(self.board.get_ref(), bytes) {
            Ok(_) | Err(rustix::io::Errno::AGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads bytes that the host has written.
    pub fn poll_read(&self, cx: &mut Waker<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.board.poll_read_ready(cx))?;
            let read = |board: &AsyncFd<OwnedFd>| Ok(rustix::io::read(board.get_ref(), &mut *buffer)?);
            if let Ok(read) = ready.try_io(read) {
                return Poll::Ready(read);
            }
        }
    }

    /// Makes the pseudo-terminal behave like a serial port. Must be called regularly, about twice a second.
    ///
    /// As long as one of its ends is open, a pseudo-terminal keeps unread bytes, and keeps its exclusive mode even
    /// after the program that set that mode has closed it. A serial port does neither. Programs that also lock the
    /// port, as kiebitz does, still have exclusive use of it.
    pub fn maintain(&mut self, now: Timestamp) -> io::Result<()> {
        rustix::termios::ioctl_tiocnxcl(&self.host)?;
        if rustix::io::ioctl_fionread(&self.host)? == 0 {
            self.unread_since = None;
            return Ok(());
        }
        let since = *self.unread_since.get_or_insert(now);
        if now.saturating_duration_since(since) >= UNREAD_TIMEOUT && !is_open_elsewhere(&self.path) {
            rustix::termios::tcflush(&self.host, QueueSelector::IFlush)?;
            self.unread_since = None;
        }
        Ok(())
    }
}

/// Opens a pseudo-terminal. Returns the board's end, the host's end and the path of the host's end.
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
    // Raw mode: bytes pass unchanged and without echo.
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
            // An emulation that was killed leaves its link behind.
            Ok(existing) if existing.is_symlink() => {
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
        // Another emulation may have replaced the link meanwhile.
        if std::fs::read_link(&self.name).is_ok_and(|target| target == self.target) {
            // The directory may have become read-only, and a destructor cannot report that.
            let _ = std::fs::remove_file(&self.name);
        }
    }
}

/// Whether another program has the terminal open. A program of another user counts as not having it open.
fn is_open_elsewhere(path: &Path) -> bool {
    let number = |process: &std::fs::DirEntry| process.file_name().to_str()?.parse::<u32>().ok();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    // Without /proc/self, which has no number.
    let others =
        processes.filter(|process| number(process).is_some_and(|number| number != std::process::id()));
    let mut files = others.filter_map(|process| std::fs::read_dir(process.path().join("fd")).ok());
    files.any(|files| {
        let mut targets = files
            .flatten()
            .filter_map(|file| std::fs::read_link(file.path()).ok());
        targets.any(|target| target == path)
    })
}

/// Time after which unread bytes are dropped if no program has the port open.
const UNREAD_TIMEOUT: Duration = Duration::from_secs(2);
