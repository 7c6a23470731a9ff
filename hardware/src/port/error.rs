use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use thiserror::Error;

use super::access::{Process, Remedy};

/// Why a port cannot be used, or ports cannot be found.
///
/// The text names the port and the next step. Repeated failures give equal values, so that a caller can compare with
/// the last error and report each failure once.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum PortError {
    /// Another program uses the port.
    #[error("{device} is in use by {}", describe_holder(.holder.as_ref(), .device))]
    Busy {
        /// The port.
        device: PathBuf,
        /// The other program, or `None` if it is not visible to this process.
        holder: Option<Process>,
    },
    /// The user is not allowed to use the port.
    ///
    /// Access to a newly plugged-in device may be denied until udev has set its permissions, so report this error only
    /// if the next attempt fails too.
    #[error("cannot open {device}: permission denied; {remedy}")]
    Denied {
        /// The port.
        device: PathBuf,
        /// The suggested remedy.
        remedy: Remedy,
    },
    /// The port does not exist, or its device was unplugged.
    #[error("there is no device at {device}: plug the board in, or correct the path")]
    Missing {
        /// The port.
        device: PathBuf,
    },
    /// The path leads to a file, a folder, or a device without a serial line.
    #[error("{device} is not a serial port: correct the path")]
    NotSerial {
        /// The path.
        device: PathBuf,
    },
    /// Another error.
    #[error("cannot open {device}: {reason}")]
    Other {
        /// The port.
        device: PathBuf,
        /// The message of the operating system or the serial port library.
        reason: String,
    },
    /// The system's list of ports cannot be read.
    #[error("cannot search for boards in {folder} ({error}): only configured ports are used")]
    Unlisted {
        /// The folder with the list.
        folder: PathBuf,
        /// The error of the operating system.
        error: io::ErrorKind,
    },
}

impl PortError {
    /// Returns the error for a device that cannot be opened or set up.
    pub(super) fn new(device: &Path, error: Errno) -> Self {
        let path = device.to_owned();
        match error {
            Errno::BUSY => Self::Busy {
                holder: Process::holding(device),
                device: path,
            },
            Errno::ACCESS | Errno::PERM => Self::Denied {
                remedy: Remedy::for_device(device, error),
                device: path,
            },
            Errno::NOENT | Errno::NOTDIR | Errno::NXIO | Errno::NODEV | Errno::IO => {
                Self::Missing { device: path }
            }
            Errno::NOTTY | Errno::ISDIR => Self::NotSerial { device: path },
            _ => Self::Other {
                device: path,
                reason: io::Error::from(error).to_string(),
            },
        }
    }
}

fn describe_holder(holder: Option<&Process>, device: &Path) -> String {
    match holder {
        Some(holder) => format!("{holder}: stop that program"),
        None => {
            let device = device.display();
            format!("another program: stop it (`sudo fuser -v {device}` shows which)")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(error: Errno) -> String {
        PortError::new(Path::new("/dev/ttyKIEBITZ"), error).to_string()
    }

    #[test]
    fn every_cause_has_a_next_step() {
        assert_eq!(
            text(Errno::BUSY),
            "/dev/ttyKIEBITZ is in use by another program: stop it (`sudo fuser -v /dev/ttyKIEBITZ` shows which)"
        );
        let missing = "there is no device at /dev/ttyKIEBITZ: plug the board in, or correct the path";
        for error in [Errno::NOENT, Errno::NXIO, Errno::NODEV, Errno::IO] {
            assert_eq!(text(error), missing);
        }
        assert_eq!(
            text(Errno::NOTTY),
            "/dev/ttyKIEBITZ is not a serial port: correct the path"
        );
        assert_eq!(
            text(Errno::PROTO),
            "cannot open /dev/ttyKIEBITZ: Protocol error (os error 71)"
        );
        let denied = text(Errno::PERM);
        assert!(
            denied.starts_with("cannot open /dev/ttyKIEBITZ: permission denied; "),
            "{denied}"
        );
    }

    #[test]
    fn repeated_failures_give_equal_values() {
        let device = Path::new("/dev/ttyKIEBITZ");
        for error in [
            Errno::BUSY,
            Errno::ACCESS,
            Errno::NOENT,
            Errno::NOTTY,
            Errno::PROTO,
        ] {
            assert_eq!(PortError::new(device, error), PortError::new(device, error));
        }
        assert_ne!(
            PortError::new(device, Errno::BUSY),
            PortError::new(device, Errno::ACCESS)
        );
    }
}
