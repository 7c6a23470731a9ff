//! The ports that the system has.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::{Candidate, PortError, PortKind, PortSettings, UsbDevice, UsbId};

/// Lists the ports that may carry a board, from `/sys/class/tty` and the configured paths.
///
/// ```
/// use kiebitz_hardware::port::{PortList, PortSettings};
///
/// let mut ports = PortList::new(PortSettings {
///     paths: vec!["/dev/serial/by-id/a-board-at-home".into()],
///     ..PortSettings::default()
/// });
/// let listing = ports.list();
/// for port in &listing.candidates {
///     println!("{}: {}", port.name(), port.kind); // ttyACM0: USB board
/// }
/// assert_eq!(listing.missing.len(), 1);
/// ```
// Not serialport's available_ports: it reads no other folder, so that it could not be tested, panics where there is no
// /sys/class/tty, reads all about every device each time, and does not notice that a device was unplugged and plugged
// in again.
#[derive(Debug)]
pub struct PortList {
    settings: PortSettings,
    devices: PathBuf,
    classes: PathBuf,
    /// The hardware of each device in the last listing, with the number that changes when it is replaced.
    known: HashMap<String, (u64, Option<UsbDevice>)>,
}

/// What [`PortList::list`] found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// The ports that may carry a board, in the order of their devices' paths.
    pub candidates: Vec<Candidate>,
    /// The configured paths without a device at the moment.
    pub missing: Vec<PathBuf>,
    /// Why the search failed; the configured paths are listed nevertheless.
    pub trouble: Option<PortError>,
}

impl PortList {
    /// The ports of this system.
    #[must_use]
    pub fn new(settings: PortSettings) -> Self {
        Self::beneath(Path::new("/"), settings)
    }

    /// The ports of a system whose `/sys` and `/dev` are in `root`. Configured paths with a slash are not moved
    /// there.
    #[must_use]
    pub fn beneath(root: &Path, settings: PortSettings) -> Self {
        Self {
            settings,
            devices: root.join("dev"),
            classes: root.join("sys/class/tty"),
            known: HashMap::new(),
        }
    }

    /// The ports there are now.
    ///
    /// It opens no port and asks no device: it reads the folder `/sys/class/tty` and, for each port, whether it is
    /// still the one it was. That takes about 50 microseconds on a system with 70 terminals, and 5 more for each
    /// port. The hardware of a port is read once, when it appears.
    #[must_use]
    pub fn list(&mut self) -> Listing {
        let mut listing = Listing::default();
        let mut found = BTreeMap::new();
        if self.settings.search {
            match self.search() {
                Ok(candidates) => found = candidates,
                Err(error) => {
                    listing.trouble = Some(PortError::Unlisted {
                        folder: self.classes.clone(),
                        error: error.kind(),
                    });
                }
            }
        }
        for path in &self.settings.paths {
            match self.configured(path, &found) {
                Some(candidate) => {
                    found.insert(candidate.device.clone(), candidate);
                }
                None => listing.missing.push(path.clone()),
            }
        }
        for path in &self.settings.ignore {
            if let Some(device) = self.resolve(path) {
                found.remove(&device);
            }
        }
        let ignored = &self.settings.ignore_usb;
        found.retain(|_, candidate| {
            !candidate
                .usb
                .as_ref()
                .is_some_and(|usb| ignored.contains(&usb.id))
        });
        listing.candidates = found.into_values().collect();
        listing
    }

    fn search(&mut self) -> io::Result<BTreeMap<PathBuf, Candidate>> {
        let before = core::mem::take(&mut self.known);
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(&self.classes)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if !SEARCHED.iter().any(|prefix| name.starts_with(prefix)) {
                continue;
            }
            let incarnation = entry.ino();
            let usb = match before.get(&name) {
                Some((number, usb)) if *number == incarnation => usb.clone(),
                _ => self.usb_behind(&name),
            };
            let kind = self.searched_kind(&name, usb.as_ref());
            self.known.insert(name.clone(), (incarnation, usb.clone()));
            // The node in /dev comes a moment after the entry in /sys.
            if let (Some(kind), Ok(device)) = (kind, self.devices.join(&name).canonicalize()) {
                let candidate = Candidate {
                    device: device.clone(),
                    kind,
                    usb,
                    configured: None,
                    incarnation,
                };
                found.insert(device, candidate);
            }
        }
        Ok(found)
    }

    /// The kind of a device with a searched name; `None` when it is not one to use unless configured.
    fn searched_kind(&self, name: &str, usb: Option<&UsbDevice>) -> Option<PortKind> {
        if name.starts_with(RFCOMM) {
            return Some(PortKind::Bluetooth);
        }
        let id = usb?.id;
        let configured = self.settings.usb.contains(&id);
        id.known_kind()
            .or_else(|| configured.then_some(PortKind::Converter))
    }

    /// The port that a configured path leads to: one of those `found`, or another; `None` when it leads nowhere.
    fn configured(&self, path: &Path, found: &BTreeMap<PathBuf, Candidate>) -> Option<Candidate> {
        let device = self.resolve(path)?;
        if let Some(candidate) = found.get(&device) {
            return Some(Candidate {
                configured: Some(path.to_owned()),
                ..candidate.clone()
            });
        }
        let incarnation = fs::metadata(&device).ok()?.ino();
        let name = device.file_name()?.to_string_lossy().into_owned();
        let usb = self.usb_behind(&name);
        let kind = match &usb {
            Some(usb) => usb.id.known_kind().unwrap_or(PortKind::Converter),
            None if name.starts_with(RFCOMM) => PortKind::Bluetooth,
            None if device.starts_with(self.devices.join("pts")) => PortKind::PseudoTerminal,
            None => PortKind::Serial,
        };
        Some(Candidate {
            device,
            kind,
            usb,
            configured: Some(path.to_owned()),
            incarnation,
        })
    }

    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        if path.is_absolute() || path.components().count() > 1 {
            return path.canonicalize().ok();
        }
        let by_id = self.devices.join("serial/by-id").join(path).canonicalize();
        by_id.or_else(|_| self.devices.join(path).canonicalize()).ok()
    }

    /// The USB device that a terminal device belongs to.
    fn usb_behind(&self, name: &str) -> Option<UsbDevice> {
        let device = self.classes.join(name).join("device").canonicalize().ok()?;
        // ttyACM hangs from an interface of the USB device, ttyUSB from a port of such an interface.
        let usb = device
            .ancestors()
            .take(4)
            .find(|folder| folder.join("idVendor").exists())?;
        let text = |file: &str| {
            let text = fs::read_to_string(usb.join(file)).ok()?;
            let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
            let text = text.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let number = |file: &str| u16::from_str_radix(&text(file)?, 16).ok();
        Some(UsbDevice {
            id: UsbId {
                vendor: number("idVendor")?,
                product: number("idProduct")?,
            },
            product: text("product"),
            serial: text("serial"),
        })
    }
}

/// How the names of devices begin that are searched: all others are consoles, pseudo-terminals and ports on the
/// mainboard.
const SEARCHED: [&str; 3] = ["ttyUSB", "ttyACM", RFCOMM];

const RFCOMM: &str = "rfcomm";

#[cfg(test)]
mod tests;
