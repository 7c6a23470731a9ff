//! Serial ports: which of them may carry a board, when they come and go, and how they are opened.
//!
//! [`PortList`] reads what the system has, without udev; [`PortWatch`] reports what came and went since;
//! [`SerialPort`] is one of them, opened for this program alone; [`Backoff`] decides when to try again. What goes
//! wrong is a [`PortError`], whose text names the next step. Equal errors are equal values, so that a caller
//! that tries again every few seconds can report each one once.

use core::fmt;
use core::str::FromStr;
use std::path::{Path, PathBuf};

use thiserror::Error;

mod access;
mod backoff;
mod error;
mod list;
mod serial;
mod watch;

pub use access::{Process, Remedy};
pub use backoff::Backoff;
pub use error::PortError;
pub use list::{Listing, PortList};
pub use serial::SerialPort;
pub use watch::{PortChange, PortWatch, SCAN_INTERVAL};

/// Which ports to use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortSettings {
    /// Whether to search for USB boards, USB serial converters and bound RFCOMM devices; otherwise only
    /// [`paths`](Self::paths) count.
    pub search: bool,
    /// USB devices that may carry a board, besides the known ones.
    pub usb: Vec<UsbId>,
    /// Ports to use whatever they are: a device or a link to one such as those in `/dev/serial/by-id`. A name
    /// without a slash is one of `/dev/serial/by-id` or of `/dev`.
    pub paths: Vec<PathBuf>,
    /// Ports never to touch, written as in [`paths`](Self::paths). Takes precedence over everything else.
    pub ignore: Vec<PathBuf>,
    /// USB devices never to touch, likewise.
    pub ignore_usb: Vec<UsbId>,
}

/// Everything that is found, and nothing else.
impl Default for PortSettings {
    fn default() -> Self {
        Self {
            search: true,
            usb: Vec::new(),
            paths: Vec::new(),
            ignore: Vec::new(),
            ignore_usb: Vec::new(),
        }
    }
}

/// What kind of port a device is.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum PortKind {
    /// A USB device that calls itself a DGT-compatible board (vendor 0x045b, product 0x8111).
    Board,
    /// A Bluetooth link that was bound (`/dev/rfcomm*`).
    Bluetooth,
    /// A USB serial converter: some boards have one built in, and so have many other devices.
    Converter,
    /// A pseudo-terminal: an emulated board, or a whole bus of them.
    PseudoTerminal,
    /// Anything else, such as a plain RS-232 port. It is used only when it is configured.
    Serial,
}

impl PortKind {
    /// Whether the port may lead to a bus, so that it has to be probed before any single-board byte is sent
    /// (any such byte switches every board of a bus).
    ///
    /// A USB board and a Bluetooth board are alone on their line.
    #[must_use]
    pub fn needs_probe(self) -> bool {
        match self {
            Self::Board | Self::Bluetooth => false,
            Self::Converter | Self::PseudoTerminal | Self::Serial => true,
        }
    }
}

impl fmt::Display for PortKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Board => "USB board",
            Self::Bluetooth => "Bluetooth",
            Self::Converter => "USB serial converter",
            Self::PseudoTerminal => "pseudo-terminal",
            Self::Serial => "serial port",
        })
    }
}

/// A USB vendor and product, written as `lsusb` does: `045b:8111`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UsbId {
    /// The vendor.
    pub vendor: u16,
    /// The product.
    pub product: u16,
}

impl UsbId {
    /// What the device with this identity is, as far as this crate knows.
    #[must_use]
    pub fn known_kind(self) -> Option<PortKind> {
        match (self.vendor, self.product) {
            (0x045b, 0x8111) => Some(PortKind::Board),
            // FT232R, FT2232, FT4232, FT232H and the FT-X series.
            (0x0403, 0x6001 | 0x6010 | 0x6011 | 0x6014 | 0x6015) => Some(PortKind::Converter),
            _ => None,
        }
    }
}

impl fmt::Display for UsbId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:04x}", self.vendor, self.product)
    }
}

impl FromStr for UsbId {
    type Err = NoUsbId;

    fn from_str(text: &str) -> Result<Self, NoUsbId> {
        let number = |text: &str| {
            let digits = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            let number = digits.then(|| u16::from_str_radix(text, 16).ok());
            number.flatten().ok_or(NoUsbId)
        };
        let (vendor, product) = text.split_once(':').ok_or(NoUsbId)?;
        Ok(Self {
            vendor: number(vendor)?,
            product: number(product)?,
        })
    }
}

/// A text that is no [`UsbId`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Error)]
#[error("a USB identity is four hexadecimal digits, a colon and four more, as in `lsusb`: 045b:8111")]
pub struct NoUsbId;

/// A port that may carry a board.
///
/// Two names of one device are one candidate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The device itself, all links resolved: `/dev/ttyUSB0`.
    pub device: PathBuf,
    /// What it is.
    pub kind: PortKind,
    /// Its USB device, if it is one.
    pub usb: Option<UsbDevice>,
    /// The configured path that leads to it, as it was written; `None` when it was found by searching.
    pub configured: Option<PathBuf>,
    /// Changes when the device goes and comes back under its old name.
    incarnation: u64,
}

impl Candidate {
    /// A short name for people, logs and captures: `ttyUSB0`, `pts-3`.
    #[must_use]
    pub fn name(&self) -> String {
        port_name(&self.device)
    }
}

/// What a USB device reports about itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct UsbDevice {
    /// Vendor and product.
    pub id: UsbId,
    /// The product's name, free of control characters.
    pub product: Option<String>,
    /// The serial number of the USB device, free of control characters. It need not be the board's.
    pub serial: Option<String>,
}

/// The device's path without `/dev`, its slashes replaced.
fn port_name(device: &Path) -> String {
    let below = device.strip_prefix("/dev").unwrap_or(device);
    let name = below.to_string_lossy();
    name.trim_matches('/').replace('/', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usb_identities_are_written_as_lsusb_does() {
        let id = UsbId {
            vendor: 0x0403,
            product: 0x6001,
        };
        assert_eq!(id.to_string(), "0403:6001");
        assert_eq!("0403:6001".parse(), Ok(id));
        assert_eq!("045B:8111".parse::<UsbId>().unwrap().to_string(), "045b:8111");
        for wrong in [
            "",
            ":",
            "403:6001",
            "0403:60011",
            "0403-6001",
            "+403:6001",
            "0x0403:0x6001",
            "zzzz:0000",
        ] {
            assert_eq!(wrong.parse::<UsbId>(), Err(NoUsbId), "{wrong}");
        }
    }

    #[test]
    fn only_the_boards_own_identity_goes_without_a_probe() {
        let kind = |text: &str| text.parse::<UsbId>().unwrap().known_kind();
        assert_eq!(kind("045b:8111"), Some(PortKind::Board));
        assert_eq!(kind("0403:6001"), Some(PortKind::Converter));
        assert_eq!(kind("0403:6015"), Some(PortKind::Converter));
        assert_eq!(kind("0403:8111"), None);
        assert!(!PortKind::Board.needs_probe());
        assert!(PortKind::Converter.needs_probe());
    }

    #[test]
    fn names_are_short_and_hold_no_slash() {
        assert_eq!(port_name(Path::new("/dev/ttyUSB0")), "ttyUSB0");
        assert_eq!(port_name(Path::new("/dev/pts/3")), "pts-3");
        assert_eq!(port_name(Path::new("/tmp/boards/7")), "tmp-boards-7");
    }
}
