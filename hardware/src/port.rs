//! Serial ports: listing the ports that may have a board, detecting plugging and unplugging, and opening a port.
//!
//! - [`PortList`] lists the system's ports, without udev.
//! - [`PortWatch`] reports the ports that were added or removed since the last listing.
//! - [`SerialPort`] is an open port, locked for exclusive use.
//! - [`Backoff`] determines the time of the next attempt to open a port.
//! - [`PortError`] describes a failure and names the next step. Repeated failures give equal values, so that a caller
//!   that retries every few seconds can report each failure once.

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

/// Selection of the ports to use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortSettings {
    /// Whether to search for USB boards, USB serial converters and bound RFCOMM devices. If `false`, only the ports in
    /// [`paths`](Self::paths) are used.
    pub search: bool,
    /// Further USB devices that may have a board, besides the known ones.
    pub usb: Vec<UsbId>,
    /// Ports to use regardless of their kind: a device, or a link to one, for example in `/dev/serial/by-id`. A name
    /// without a slash is looked up in `/dev/serial/by-id`, then in `/dev`.
    pub paths: Vec<PathBuf>,
    /// Ports that are never used, in the format of [`paths`](Self::paths). Takes precedence over all other settings.
    pub ignore: Vec<PathBuf>,
    /// USB devices that are never used. Takes precedence over all other settings.
    pub ignore_usb: Vec<UsbId>,
}

/// Selects all ports found by searching.
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

/// The kind of a port.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum PortKind {
    /// A USB device with the identity of a DGT-compatible board (vendor 0x045b, product 0x8111).
    Board,
    /// A bound Bluetooth link (`/dev/rfcomm*`).
    Bluetooth,
    /// A USB serial converter. Some boards have one built in, and so do many other devices.
    Converter,
    /// A pseudo-terminal, with an emulated board or bus.
    PseudoTerminal,
    /// Any other port, for example RS-232. Used only if it is configured.
    Serial,
}

impl PortKind {
    /// Returns whether the port may lead to a bus. Such a port must be probed before a single-board command is sent,
    /// which would switch every board of a bus to single-board mode.
    ///
    /// A USB board or a Bluetooth board is always the only board on its line.
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

/// A USB vendor and product, formatted as by `lsusb`: `045b:8111`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UsbId {
    /// Vendor id.
    pub vendor: u16,
    /// Product id.
    pub product: u16,
}

impl UsbId {
    /// Returns the kind of port of a device with this identity, or `None` if the identity is unknown.
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

/// Error for a text that is not a [`UsbId`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Error)]
#[error("a USB identity is four hexadecimal digits, a colon and four more, as in `lsusb`: 045b:8111")]
pub struct NoUsbId;

/// A port that may have a board.
///
/// A device with several names is one candidate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Path of the device with all links resolved, for example `/dev/ttyUSB0`.
    pub device: PathBuf,
    /// Kind of the port.
    pub kind: PortKind,
    /// The USB device; `None` if the port does not belong to one.
    pub usb: Option<UsbDevice>,
    /// The configured path that leads to the device, as written; `None` if the port was found by searching.
    pub configured: Option<PathBuf>,
    /// Inode number. Distinguishes a device from an earlier one with the same name.
    incarnation: u64,
}

impl Candidate {
    /// Returns a short name for users, logs and captures, for example `ttyUSB0` or `pts-3`.
    #[must_use]
    pub fn name(&self) -> String {
        port_name(&self.device)
    }
}

/// The identity of a USB device.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct UsbDevice {
    /// Vendor and product.
    pub id: UsbId,
    /// Name of the product, without control characters.
    pub product: Option<String>,
    /// Serial number of the USB device, without control characters. May differ from the serial number of the board.
    pub serial: Option<String>,
    /// Folder of the USB device in `/sys/devices`.
    pub folder: PathBuf,
}

/// Returns the path of a device without `/dev`, with `-` in place of slashes.
fn port_name(device: &Path) -> String {
    let below = device.strip_prefix("/dev").unwrap_or(device);
    let name = below.to_string_lossy();
    name.trim_matches('/').replace('/', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usb_identities_have_the_format_of_lsusb() {
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
    fn a_usb_board_needs_no_probe_and_a_converter_does() {
        let kind = |text: &str| text.parse::<UsbId>().unwrap().known_kind();
        assert_eq!(kind("045b:8111"), Some(PortKind::Board));
        assert_eq!(kind("0403:6001"), Some(PortKind::Converter));
        assert_eq!(kind("0403:6015"), Some(PortKind::Converter));
        assert_eq!(kind("0403:8111"), None);
        assert!(!PortKind::Board.needs_probe());
        assert!(PortKind::Converter.needs_probe());
    }

    #[test]
    fn port_names_are_short_and_have_no_slash() {
        assert_eq!(port_name(Path::new("/dev/ttyUSB0")), "ttyUSB0");
        assert_eq!(port_name(Path::new("/dev/pts/3")), "pts-3");
        assert_eq!(port_name(Path::new("/tmp/boards/7")), "tmp-boards-7");
    }
}
