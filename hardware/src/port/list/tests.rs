//! Tests with a folder in place of `/sys` and `/dev`.

use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;
use crate::port::{PortChange, PortWatch};

/// A folder with `sys` and `dev`, in the layout of Linux.
struct System(TempDir);

impl System {
    fn new() -> Self {
        let system = Self(TempDir::new().unwrap());
        for folder in ["sys/class/tty", "dev/serial/by-id", "dev/pts"] {
            fs::create_dir_all(system.path(folder)).unwrap();
        }
        for console in ["tty0", "ttyS0", "ptmx"] {
            fs::create_dir_all(system.path("sys/class/tty").join(console)).unwrap();
            system.node(console);
        }
        system
    }

    /// Returns a canonical path, because the devices of candidates have canonical paths.
    fn path(&self, below: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(below)
    }

    fn node(&self, name: &str) -> PathBuf {
        let path = self.path("dev").join(name);
        fs::write(&path, "").unwrap();
        path
    }

    /// Plugs in a USB device with these attributes; `hub` is its position on the USB.
    fn plug(&self, name: &str, hub: &str, attributes: &[(&str, &str)]) {
        let usb = self.path("sys/devices/usb1").join(hub);
        let interface = usb.join(format!("{hub}:1.0"));
        let (parent, tty) = if name.starts_with("ttyACM") {
            (interface.clone(), interface.join("tty").join(name))
        } else {
            (interface.join(name), interface.join(name).join("tty").join(name))
        };
        fs::create_dir_all(&tty).unwrap();
        for (file, text) in attributes {
            fs::write(usb.join(file), format!("{text}\n")).unwrap();
        }
        symlink(parent, tty.join("device")).unwrap();
        symlink(tty, self.path("sys/class/tty").join(name)).unwrap();
        self.node(name);
    }

    fn unplug(&self, name: &str) {
        fs::remove_file(self.path("sys/class/tty").join(name)).unwrap();
        fs::remove_file(self.path("dev").join(name)).unwrap();
    }

    fn list(&self, settings: PortSettings) -> Listing {
        PortList::beneath(self.0.path(), settings).list()
    }
}

const BOARD: [(&str, &str); 4] = [
    ("idVendor", "045b"),
    ("idProduct", "8111"),
    ("product", "Board\u{7}"),
    ("serial", "12345"),
];
const FTDI: [(&str, &str); 2] = [("idVendor", "0403"), ("idProduct", "6001")];
const OTHER: [(&str, &str); 2] = [("idVendor", "2341"), ("idProduct", "0043")];

fn names(listing: &Listing) -> Vec<(String, PortKind)> {
    let candidates = listing.candidates.iter();
    let names = candidates.map(|found| {
        let name = found.device.file_name().unwrap().to_string_lossy();
        (name.into_owned(), found.kind)
    });
    names.collect()
}

#[test]
fn boards_and_converters_are_found_by_their_usb_identity() {
    let system = System::new();
    system.plug("ttyUSB0", "1-1", &FTDI);
    system.plug("ttyACM0", "1-2", &BOARD);
    system.plug("ttyACM1", "1-3", &OTHER);
    let listing = system.list(PortSettings::default());
    assert_eq!(
        names(&listing),
        [
            ("ttyACM0".to_owned(), PortKind::Board),
            ("ttyUSB0".to_owned(), PortKind::Converter)
        ]
    );
    let usb = listing.candidates[0].usb.clone().unwrap();
    assert_eq!(usb.id.to_string(), "045b:8111");
    assert_eq!(
        (usb.product.as_deref(), usb.serial.as_deref()),
        (Some("Board"), Some("12345"))
    );
    assert_eq!((listing.missing.len(), listing.trouble), (0, None));
}

#[test]
fn a_configured_usb_identity_is_listed_as_a_converter() {
    let system = System::new();
    system.plug("ttyACM1", "1-3", &OTHER);
    let settings = PortSettings {
        usb: vec!["2341:0043".parse().unwrap()],
        ..PortSettings::default()
    };
    assert_eq!(
        names(&system.list(settings)),
        [("ttyACM1".to_owned(), PortKind::Converter)]
    );
}

#[test]
fn bound_bluetooth_links_are_found() {
    let system = System::new();
    fs::create_dir(system.path("sys/class/tty/rfcomm0")).unwrap();
    system.node("rfcomm0");
    let listing = system.list(PortSettings::default());
    assert_eq!(names(&listing), [("rfcomm0".to_owned(), PortKind::Bluetooth)]);
}

#[test]
fn mainboard_ports_and_pseudo_terminals_are_listed_if_configured() {
    let system = System::new();
    let pty = system.node("pts/3");
    let settings = PortSettings {
        paths: vec!["ttyS0".into(), pty],
        ..PortSettings::default()
    };
    assert_eq!(
        names(&system.list(settings)),
        [
            ("3".to_owned(), PortKind::PseudoTerminal),
            ("ttyS0".to_owned(), PortKind::Serial)
        ]
    );
}

#[test]
fn a_device_with_several_names_is_one_port() {
    let system = System::new();
    system.plug("ttyUSB0", "1-1", &FTDI);
    let by_id = system.path("dev/serial/by-id/usb-FTDI_FT232R-if00-port0");
    symlink("../../ttyUSB0", &by_id).unwrap();
    let settings = PortSettings {
        paths: vec![by_id, "usb-FTDI_FT232R-if00-port0".into(), "ttyUSB0".into()],
        ..PortSettings::default()
    };
    let listing = system.list(settings.clone());
    assert_eq!(names(&listing), [("ttyUSB0".to_owned(), PortKind::Converter)]);
    assert_eq!(listing.candidates[0].configured, Some("ttyUSB0".into()));
    assert!(listing.candidates[0].usb.is_some());

    // Without a search, the configured path gives the same kind.
    let alone = system.list(PortSettings {
        search: false,
        ..settings
    });
    assert_eq!(names(&alone), names(&listing));
}

#[test]
fn a_configured_path_without_a_device_is_missing() {
    let system = System::new();
    let gone = system.path("dev/ttyUSB7");
    let dangling = system.path("dev/serial/by-id/usb-gone");
    symlink("../../ttyUSB8", dangling).unwrap();
    let settings = PortSettings {
        paths: vec![gone.clone(), "usb-gone".into()],
        ..PortSettings::default()
    };
    let listing = system.list(settings);
    assert_eq!(listing.candidates, []);
    assert_eq!(listing.missing, [gone, "usb-gone".into()]);
}

#[test]
fn an_ignored_port_is_ignored_by_any_of_its_names() {
    let system = System::new();
    system.plug("ttyUSB0", "1-1", &FTDI);
    system.plug("ttyUSB1", "1-2", &FTDI);
    symlink("../../ttyUSB1", system.path("dev/serial/by-id/usb-gps")).unwrap();
    let settings = PortSettings {
        ignore: vec!["usb-gps".into(), "nothing".into()],
        ..PortSettings::default()
    };
    assert_eq!(
        names(&system.list(settings)),
        [("ttyUSB0".to_owned(), PortKind::Converter)]
    );
}

#[test]
fn ignored_usb_devices_are_ignored_even_if_they_are_configured() {
    let system = System::new();
    system.plug("ttyUSB0", "1-1", &FTDI);
    system.plug("ttyUSB1", "1-2", &FTDI);
    let settings = PortSettings {
        paths: vec![system.path("dev/ttyUSB0")],
        ignore_usb: vec!["0403:6001".parse().unwrap()],
        ..PortSettings::default()
    };
    let listing = system.list(settings);
    assert_eq!((listing.candidates, listing.missing), (Vec::new(), Vec::new()));
}

#[test]
fn a_device_is_listed_when_its_node_appears() {
    let system = System::new();
    system.plug("ttyUSB0", "1-1", &FTDI);
    let node = system.path("dev/ttyUSB0");
    fs::remove_file(&node).unwrap();
    let mut list = PortList::beneath(system.0.path(), PortSettings::default());
    assert_eq!(list.list().candidates, []);
    fs::write(&node, "").unwrap();
    assert_eq!(list.list().candidates.len(), 1);
}

#[test]
fn a_new_device_under_an_old_name_changes_the_listing() {
    let system = System::new();
    system.plug("ttyUSB0", "1-1", &FTDI);
    let mut list = PortList::beneath(system.0.path(), PortSettings::default());
    let first = list.list();
    assert_eq!(list.list(), first);

    // Prevent the reuse of the old inode number, which sysfs does not reuse either.
    fs::hard_link(system.path("sys/class/tty/ttyUSB0"), system.path("sys/old")).unwrap();
    system.unplug("ttyUSB0");
    system.plug("ttyUSB0", "1-2", &BOARD);
    let second = list.list();
    assert_eq!(names(&second), [("ttyUSB0".to_owned(), PortKind::Board)]);
    assert_ne!(second.candidates, first.candidates);
}

#[test]
fn plugging_and_unplugging_are_reported() {
    let system = System::new();
    let mut list = PortList::beneath(system.0.path(), PortSettings::default());
    let mut watch = PortWatch::new();
    let mut changes_seen = || {
        let changes = watch.handle_listing(list.list().candidates).into_iter();
        let changes_seen = changes.map(|change| match change {
            PortChange::Added(port) => (true, port.kind),
            PortChange::Removed(port) => (false, port.kind),
        });
        changes_seen.collect::<Vec<_>>()
    };
    assert_eq!(changes_seen(), []);
    system.plug("ttyUSB0", "1-1", &FTDI);
    assert_eq!(changes_seen(), [(true, PortKind::Converter)]);
    system.plug("ttyACM0", "1-2", &BOARD);
    assert_eq!(changes_seen(), [(true, PortKind::Board)]);
    system.unplug("ttyUSB0");
    assert_eq!(changes_seen(), [(false, PortKind::Converter)]);
    assert_eq!(changes_seen(), []);
}

#[test]
fn configured_ports_are_listed_if_the_search_fails() {
    let system = System::new();
    fs::remove_dir_all(system.path("sys")).unwrap();
    let settings = PortSettings {
        paths: vec!["ttyS0".into()],
        ..PortSettings::default()
    };
    let listing = system.list(settings);
    assert_eq!(names(&listing), [("ttyS0".to_owned(), PortKind::Serial)]);
    let text = listing.trouble.unwrap().to_string();
    assert!(
        text.contains("sys/class/tty") && text.contains("configured"),
        "{text}"
    );
}
