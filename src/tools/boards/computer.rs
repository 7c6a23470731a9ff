//! Settings and programs of the computer that disturb boards: brltty, ModemManager, USB autosuspend, Bluetooth links that
//! are bound until the next restart, and links in `/dev/serial/by-id` that several devices share.

use std::fs;
use std::path::{Path, PathBuf};

use kiebitz_hardware::port::{Candidate, PortKind, PortSettings, UsbId};

use super::report::{PortReport, UsbReport};
use super::trouble::{BRLTTY, MODEM_MANAGER, TroubleKind, TroubleReport};

/// The file system below a root folder: `/sys`, `/proc`, `/run`, `/etc` and `/dev`.
#[derive(Debug)]
pub(super) struct Computer {
    root: PathBuf,
}

impl Computer {
    pub(super) fn beneath(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the problems of a port that come from the computer's settings. `ports` has the candidates of all ports.
    pub(super) fn troubles(&self, port: &Candidate, ports: &[Candidate]) -> Vec<TroubleReport> {
        let troubles = [
            self.modem_manager(port),
            self.autosuspend(port),
            self.not_persistent(port),
            self.ambiguous_link(port, ports),
        ];
        troubles.into_iter().flatten().collect()
    }

    /// Returns the USB devices that should have a port and have none.
    pub(super) fn without_port(&self, settings: &PortSettings) -> Vec<PortReport> {
        let devices = self.root.join("sys/bus/usb/devices");
        let mut names = entries(&devices);
        names.sort_unstable();
        let mut reports = Vec::new();
        // An interface is named after its device: "1-2:1.0" belongs to "1-2".
        for name in names.iter().filter(|name| !name.contains(':')) {
            let folder = devices.join(name);
            let Some(id) = usb_id(&folder) else { continue };
            if !settings.search || settings.ignore_usb.contains(&id) {
                continue;
            }
            let prefix = format!("{name}:");
            let interfaces: Vec<PathBuf> = names
                .iter()
                .filter(|name| name.starts_with(&prefix))
                .map(|name| devices.join(name))
                .collect();
            if interfaces.is_empty() || interfaces.iter().any(|interface| has_port(interface)) {
                continue;
            }
            let drivers: Vec<String> = interfaces.iter().filter_map(|folder| driver(folder)).collect();
            let expected = id.known_kind().is_some() || settings.usb.contains(&id);
            let claimed = drivers.iter().any(|driver| driver == USBFS);
            let trouble = if claimed && self.has_brltty() {
                (expected || OTHER_CONVERTERS.contains(&id)).then(|| self.claimed_by_brltty())
            } else if claimed {
                expected.then(|| claimed_by_program(&folder))
            } else {
                (expected && drivers.is_empty()).then(|| no_driver(id))
            };
            if let Some(trouble) = trouble {
                let usb = UsbReport {
                    id: id.to_string(),
                    product: attribute(&folder, "product"),
                    serial: attribute(&folder, "serial"),
                };
                let folder = format!("/sys/bus/usb/devices/{name}");
                reports.push(PortReport::without_port(&folder, usb, trouble));
            }
        }
        reports
    }

    /// Returns a link to the port that depends only on the socket that the device is plugged into.
    pub(super) fn link_by_path(&self, device: &Path) -> Option<String> {
        let folder = self.root.join("dev/serial/by-path");
        let mut names = entries(&folder);
        names.sort_unstable();
        let leads_here = |name: &&String| folder.join(name).canonicalize().is_ok_and(|path| path == device);
        let name = names.iter().find(leads_here)?;
        Some(format!("/dev/serial/by-path/{name}"))
    }

    fn modem_manager(&self, port: &Candidate) -> Option<TroubleReport> {
        let usb = port.usb.as_ref()?;
        // Without its database, udev does not run here, for example in a container.
        let database = self.root.join("run/udev/data");
        if !self.runs(MODEM_MANAGER) || !database.is_dir() {
            return None;
        }
        let tty = self.root.join("sys/class/tty").join(port.device.file_name()?);
        let number = attribute(&tty, "dev")?;
        let properties = fs::read_to_string(database.join(format!("c{number}"))).unwrap_or_default();
        let ignored = properties
            .lines()
            .any(|line| matches!(line, "E:ID_MM_PORT_IGNORE=1" | "E:ID_MM_DEVICE_IGNORE=1"));
        (!ignored).then(|| {
            TroubleReport::new(
                TroubleKind::ModemManager,
                "ModemManager runs and may write to this port in search of a modem",
                rule_step(usb.id),
            )
        })
    }

    fn autosuspend(&self, port: &Candidate) -> Option<TroubleReport> {
        let usb = port.usb.as_ref()?;
        let power = usb.folder.join("power");
        if attribute(&power, "control")? != "auto" {
            return None;
        }
        let delay_ms: i64 = attribute(&power, "autosuspend_delay_ms")?.parse().ok()?;
        // A negative delay disables autosuspend.
        if !(0..LONG_DELAY_MS).contains(&delay_ms) {
            return None;
        }
        let step = if self.root.join("etc/tlp.conf").exists() {
            format!(
                "TLP switches this on: enter `USB_DENYLIST=\"{}\"` in /etc/tlp.conf, run `sudo tlp start`, and \
                 plug the board in again.",
                usb.id
            )
        } else {
            rule_step(usb.id)
        };
        Some(TroubleReport::new(
            TroubleKind::Autosuspend,
            format!(
                "Linux suspends this USB device after {} without data, and may lose the move that wakes it",
                seconds(delay_ms)
            ),
            step,
        ))
    }

    fn not_persistent(&self, port: &Candidate) -> Option<TroubleReport> {
        if port.kind != PortKind::Bluetooth {
            return None;
        }
        let name = port.device.file_name()?.to_str()?;
        let number = name.strip_prefix("rfcomm")?;
        // The kernel reports the address of a bound link.
        let address = attribute(&self.root.join("sys/class/tty").join(name), "address")?;
        let unit = format!("kiebitz-rfcomm@{number}-{}", address.to_uppercase());
        let units = self.root.join("etc/systemd/system");
        let enabled = entries(&units)
            .iter()
            .filter(|folder| folder.ends_with(".wants"))
            .flat_map(|folder| entries(&units.join(folder)))
            .any(|found| found.eq_ignore_ascii_case(&format!("{unit}.service")));
        (!enabled).then(|| {
            TroubleReport::new(
                TroubleKind::NotPersistent,
                "this Bluetooth link may be gone after the computer restarts",
                format!(
                    "Run `sudo systemctl enable {unit}`, which binds it at each start. Nothing is to be done if a \
                     unit or script of your own binds it."
                ),
            )
        })
    }

    fn ambiguous_link(&self, port: &Candidate, ports: &[Candidate]) -> Option<TroubleReport> {
        let usb = port.usb.as_ref()?;
        let configured = port.configured.as_ref()?;
        let by_id = self.root.join("dev/serial/by-id");
        let through_by_id =
            configured.starts_with(&by_id) || by_id.join(configured).symlink_metadata().is_ok();
        if !through_by_id {
            return None;
        }
        let other = ports.iter().find(|other| {
            other.usb.as_ref().is_some_and(|other| {
                other.folder != usb.folder
                    && (other.id, &other.product, &other.serial) == (usb.id, &usb.product, &usb.serial)
            })
        })?;
        let why = match &usb.serial {
            Some(serial) => format!("the USB serial number {serial}"),
            None => "no USB serial number".to_owned(),
        };
        let step = match self.link_by_path(&port.device) {
            Some(link) => format!(
                "Name this port by its socket: `path = \"{link}\"` under [[port]] in the configuration, and leave \
                 the device plugged in there."
            ),
            None => "Name this port by its device, as `ls -l /dev/serial/by-path` shows it.".to_owned(),
        };
        Some(TroubleReport::new(
            TroubleKind::AmbiguousLink,
            format!(
                "the configured link may lead to {} next time: both devices have {why}",
                other.device.display()
            ),
            step,
        ))
    }

    fn claimed_by_brltty(&self) -> TroubleReport {
        let rule = RULES.iter().find_map(|folder| {
            let mut names = entries(&self.root.join(folder));
            names.sort_unstable();
            let name = names.into_iter().find(|name| {
                let is_rule =
                    name.contains(BRLTTY) && Path::new(name).extension().is_some_and(|end| end == "rules");
                is_rule && !self.root.join("etc/udev/rules.d").join(name).is_symlink()
            })?;
            Some(name)
        });
        let otherwise = match rule {
            Some(name) => format!(
                "run `sudo ln -s /dev/null /etc/udev/rules.d/{name} && sudo udevadm control --reload`, and enter \
                 the display's own device as `braille-device` in /etc/brltty.conf"
            ),
            None => "enter the display's own device as `braille-device` in /etc/brltty.conf".to_owned(),
        };
        TroubleReport::new(
            TroubleKind::Claimed,
            "brltty has taken it for a Braille display, so it has no serial port",
            format!(
                "If nobody needs a Braille display on this computer, run `sudo apt remove brltty`. Otherwise \
                 {otherwise}. Then plug the device in again."
            ),
        )
    }

    fn has_brltty(&self) -> bool {
        let programs = ["usr/bin/brltty", "bin/brltty", "sbin/brltty"];
        programs.iter().any(|program| self.root.join(program).exists()) || self.runs(BRLTTY)
    }

    fn runs(&self, program: &str) -> bool {
        let processes = self.root.join("proc");
        let ids = entries(&processes)
            .into_iter()
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        ids.into_iter()
            .any(|id| attribute(&processes.join(id), "comm").as_deref() == Some(program))
    }
}

fn claimed_by_program(folder: &Path) -> TroubleReport {
    let number = |name| {
        attribute(folder, name)
            .and_then(|text| text.parse::<u16>().ok())
            .unwrap_or_default()
    };
    let (bus, device) = (number("busnum"), number("devnum"));
    TroubleReport::new(
        TroubleKind::Claimed,
        "another program has taken it from its driver, so it has no serial port",
        format!(
            "`sudo fuser -v /dev/bus/usb/{bus:03}/{device:03}` shows which program: stop it, and plug the device \
             in again."
        ),
    )
}

fn no_driver(id: UsbId) -> TroubleReport {
    let driver = match id.vendor {
        BOARD_VENDOR => "cdc_acm",
        FTDI => "ftdi_sio",
        SILICON_LABS => "cp210x",
        QINHENG => "ch341",
        _ => "the driver of this converter",
    };
    TroubleReport::new(
        TroubleKind::NoDriver,
        "Linux has no driver for it, so it has no serial port",
        format!(
            "Run `sudo modprobe {driver}` and plug the device in again. If the module is not found, install the \
             full kernel of your system."
        ),
    )
}

/// Returns the next step for a device that lacks the udev rules of kiebitz.
fn rule_step(id: UsbId) -> String {
    let reload = "`sudo udevadm control --reload`, and plug the board in again";
    if id.known_kind().is_some() {
        return format!(
            "Install the udev rules: `sudo cp systemd/60-kiebitz.rules /etc/udev/rules.d/` from the sources of \
             kiebitz (the package has them), {reload}."
        );
    }
    let (vendor, product) = (format!("{:04x}", id.vendor), format!("{:04x}", id.product));
    format!(
        "Copy the rules for FTDI in 60-kiebitz.rules to /etc/udev/rules.d/61-kiebitz.rules with idVendor \
         \"{vendor}\" and idProduct \"{product}\", run {reload}."
    )
}

fn seconds(ms: i64) -> String {
    match ms {
        ..1000 => format!("{ms} ms"),
        _ => format!("{} s", ms / 1000),
    }
}

/// Returns whether a USB interface has a serial port: a folder `tty`, or `ttyUSB0` with one in it.
fn has_port(interface: &Path) -> bool {
    entries(interface).iter().any(|name| name.starts_with("tty"))
}

/// Returns the name of the driver of a USB interface.
fn driver(interface: &Path) -> Option<String> {
    let driver = fs::read_link(interface.join("driver")).ok()?;
    Some(driver.file_name()?.to_str()?.to_owned())
}

fn usb_id(folder: &Path) -> Option<UsbId> {
    let number = |name| u16::from_str_radix(&attribute(folder, name)?, 16).ok();
    Some(UsbId {
        vendor: number("idVendor")?,
        product: number("idProduct")?,
    })
}

/// Reads an attribute without control characters. Returns `None` if it is missing or empty.
fn attribute(folder: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(folder.join(name)).ok()?;
    let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the names in a folder; none if it cannot be read.
fn entries(folder: &Path) -> Vec<String> {
    let found = fs::read_dir(folder).into_iter().flatten();
    found
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect()
}

/// Driver of a USB interface that a program uses directly.
const USBFS: &str = "usbfs";
/// Folders of udev rules.
const RULES: [&str; 3] = ["etc/udev/rules.d", "usr/lib/udev/rules.d", "lib/udev/rules.d"];
/// Autosuspend delay that is too long to matter: longer than a player thinks.
const LONG_DELAY_MS: i64 = 4 * 60 * 60 * 1000;
const BOARD_VENDOR: u16 = 0x045b;
const FTDI: u16 = 0x0403;
const SILICON_LABS: u16 = 0x10c4;
const QINHENG: u16 = 0x1a86;
/// Serial converters that brltty claims too. They are used only if configured.
const OTHER_CONVERTERS: [UsbId; 2] = [
    UsbId {
        vendor: SILICON_LABS,
        product: 0xea60,
    },
    UsbId {
        vendor: QINHENG,
        product: 0x7523,
    },
];

#[cfg(test)]
mod tests;
