//! Tests with a folder in place of the root of the file system.

use std::os::unix::fs::symlink;

use kiebitz_hardware::port::PortList;
use tempfile::TempDir;

use super::*;

/// A computer in a folder, with USB devices plugged into it.
struct FakeRoot(TempDir);

impl FakeRoot {
    fn new() -> Self {
        let root = Self(TempDir::new().unwrap());
        for folder in [
            "sys/class/tty",
            "sys/bus/usb/devices",
            "dev/serial/by-id",
            "dev/serial/by-path",
        ] {
            fs::create_dir_all(root.path(folder)).unwrap();
        }
        root
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(below)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Plugs in a USB device with one interface and, unless `tty` is `None`, a port.
    fn plug(&self, socket: &str, id: &str, driver: Option<&str>, tty: Option<&str>) {
        let device = format!("sys/devices/pci/usb1/{socket}");
        let interface = format!("{device}/{socket}:1.0");
        let (vendor, product) = id.split_once(':').unwrap();
        for (file, text) in [
            ("idVendor", vendor),
            ("idProduct", product),
            ("busnum", "1"),
            ("devnum", "12"),
            ("power/control", "on"),
            ("power/autosuspend_delay_ms", "2000"),
        ] {
            self.write(&format!("{device}/{file}"), &format!("{text}\n"));
        }
        fs::create_dir_all(self.path(&interface)).unwrap();
        let devices = self.path("sys/bus/usb/devices");
        symlink(self.path(&device), devices.join(socket)).unwrap();
        symlink(self.path(&interface), devices.join(format!("{socket}:1.0"))).unwrap();
        if let Some(driver) = driver {
            let folder = self.path("sys/bus/usb/drivers").join(driver);
            fs::create_dir_all(&folder).unwrap();
            symlink(folder, self.path(&interface).join("driver")).unwrap();
        }
        if let Some(tty) = tty {
            let folder = self.path(&interface).join("tty").join(tty);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("dev"), "166:0\n").unwrap();
            symlink(self.path(&interface), folder.join("device")).unwrap();
            symlink(folder, self.path("sys/class/tty").join(tty)).unwrap();
            self.write(&format!("dev/{tty}"), "");
        }
    }

    fn run(&self, id: u32, program: &str) {
        self.write(&format!("proc/{id}/comm"), &format!("{program}\n"));
    }

    fn without_port(&self, settings: &PortSettings) -> Vec<PortReport> {
        Computer::beneath(self.0.path()).without_port(settings)
    }

    fn ports(&self, settings: PortSettings) -> Vec<Candidate> {
        PortList::beneath(self.0.path(), settings).list().candidates
    }

    fn troubles(&self, settings: PortSettings) -> Vec<TroubleReport> {
        let ports = self.ports(settings);
        let computer = Computer::beneath(self.path(""));
        computer.troubles(&ports[0], &ports)
    }
}

const BOARD: &str = "045b:8111";
const FTDI_CONVERTER: &str = "0403:6001";
const CH340: &str = "1a86:7523";

fn kinds(troubles: &[TroubleReport]) -> Vec<TroubleKind> {
    troubles.iter().map(|trouble| trouble.kind).collect()
}

#[test]
fn a_converter_that_brltty_has_taken_is_reported_with_the_rule_to_disable() {
    let root = FakeRoot::new();
    root.plug("1-1", FTDI_CONVERTER, Some("usbfs"), None);
    root.plug("1-2", CH340, Some("usbfs"), None);
    root.plug("1-3", "10c4:ea60", Some("usbfs"), None);
    root.write("usr/bin/brltty", "");
    root.write("usr/lib/udev/rules.d/85-brltty.rules", "");
    let found = root.without_port(&PortSettings::default());
    let ports: Vec<&str> = found.iter().map(|report| report.port.as_str()).collect();
    assert_eq!(
        ports,
        [
            "/sys/bus/usb/devices/1-1",
            "/sys/bus/usb/devices/1-2",
            "/sys/bus/usb/devices/1-3"
        ]
    );
    for report in &found {
        assert!(!report.is_fine());
        assert_eq!(kinds(&report.troubles), [TroubleKind::Claimed]);
        let step = &report.troubles[0].step;
        assert!(step.contains("`sudo apt remove brltty`"), "{step}");
        assert!(
            step.contains("ln -s /dev/null /etc/udev/rules.d/85-brltty.rules"),
            "{step}"
        );
    }
}

#[test]
fn brltty_without_a_rule_is_found_by_its_process() {
    let root = FakeRoot::new();
    root.plug("1-1", FTDI_CONVERTER, Some("usbfs"), None);
    root.run(311, "brltty");
    let found = root.without_port(&PortSettings::default());
    let step = &found[0].troubles[0].step;
    assert!(step.contains("brltty.conf") && !step.contains("ln -s"), "{step}");
}

#[test]
fn another_program_that_has_taken_a_board_is_found_by_its_node() {
    let root = FakeRoot::new();
    root.plug("1-1", BOARD, Some("usbfs"), None);
    // Not a board, and not taken by brltty.
    root.plug("1-2", CH340, Some("usbfs"), None);
    let found = root.without_port(&PortSettings::default());
    assert_eq!(found.len(), 1);
    let step = &found[0].troubles[0].step;
    assert!(step.contains("`sudo fuser -v /dev/bus/usb/001/012`"), "{step}");
}

#[test]
fn a_device_without_a_driver_is_reported_with_the_module_to_load() {
    let root = FakeRoot::new();
    root.plug("1-1", CH340, None, None);
    assert_eq!(root.without_port(&PortSettings::default()), []);
    let configured = PortSettings {
        usb: vec![CH340.parse().unwrap()],
        ..PortSettings::default()
    };
    let found = root.without_port(&configured);
    assert_eq!(kinds(&found[0].troubles), [TroubleKind::NoDriver]);
    assert!(found[0].troubles[0].step.contains("`sudo modprobe ch341`"));
    for settings in [
        PortSettings {
            search: false,
            ..configured.clone()
        },
        PortSettings {
            ignore_usb: vec![CH340.parse().unwrap()],
            ..configured
        },
    ] {
        assert_eq!(root.without_port(&settings), []);
    }
}

#[test]
fn devices_with_ports_and_other_devices_are_not_reported() {
    let root = FakeRoot::new();
    root.write("usr/bin/brltty", "");
    root.plug("1-1", BOARD, Some("cdc_acm"), Some("ttyACM0"));
    root.plug("1-2", "046d:c077", Some("usbhid"), None);
    assert_eq!(root.without_port(&PortSettings::default()), []);
    assert_eq!(root.troubles(PortSettings::default()), []);
}

#[test]
fn modem_manager_is_reported_unless_udev_tells_it_to_ignore_the_port() {
    let root = FakeRoot::new();
    root.plug("1-1", BOARD, Some("cdc_acm"), Some("ttyACM0"));
    root.run(512, "ModemManager");
    assert_eq!(root.troubles(PortSettings::default()), [], "there is no udev");
    root.write(
        "run/udev/data/c166:0",
        "S:serial/by-id/usb-x\nE:ID_MM_CANDIDATE=1\n",
    );
    let troubles = root.troubles(PortSettings::default());
    assert_eq!(kinds(&troubles), [TroubleKind::ModemManager]);
    assert!(
        troubles[0].step.contains("60-kiebitz.rules"),
        "{}",
        troubles[0].step
    );
    root.write(
        "run/udev/data/c166:0",
        "E:ID_MM_CANDIDATE=1\nE:ID_MM_PORT_IGNORE=1\n",
    );
    assert_eq!(root.troubles(PortSettings::default()), []);
}

#[test]
fn a_rule_for_a_configured_converter_has_its_id() {
    let root = FakeRoot::new();
    root.plug("1-1", CH340, Some("ch341"), Some("ttyUSB0"));
    root.run(512, "ModemManager");
    root.write("run/udev/data/b8:0", "");
    let troubles = root.troubles(PortSettings {
        usb: vec![CH340.parse().unwrap()],
        ..PortSettings::default()
    });
    let step = &troubles[0].step;
    assert!(
        step.contains("idVendor \"1a86\" and idProduct \"7523\""),
        "{step}"
    );
}

#[test]
fn autosuspend_is_reported_with_its_delay() {
    let root = FakeRoot::new();
    root.plug("1-1", BOARD, Some("cdc_acm"), Some("ttyACM0"));
    let power = "sys/devices/pci/usb1/1-1/power";
    root.write(&format!("{power}/control"), "auto\n");
    let troubles = root.troubles(PortSettings::default());
    assert_eq!(kinds(&troubles), [TroubleKind::Autosuspend]);
    assert!(
        troubles[0].text.contains("after 2 s without data"),
        "{}",
        troubles[0].text
    );
    root.write("etc/tlp.conf", "");
    let troubles = root.troubles(PortSettings::default());
    assert!(
        troubles[0].step.contains("USB_DENYLIST=\"045b:8111\""),
        "{}",
        troubles[0].step
    );
    for never in ["-1000", "86400000", "soon"] {
        root.write(&format!("{power}/autosuspend_delay_ms"), never);
        assert_eq!(root.troubles(PortSettings::default()), [], "{never}");
    }
}

#[test]
fn a_bluetooth_link_without_a_unit_is_reported_with_the_unit_to_enable() {
    let root = FakeRoot::new();
    root.write("sys/class/tty/rfcomm0/address", "00:06:66:ab:cd:ef\n");
    root.write("dev/rfcomm0", "");
    let troubles = root.troubles(PortSettings::default());
    assert_eq!(kinds(&troubles), [TroubleKind::NotPersistent]);
    let step = &troubles[0].step;
    assert!(
        step.contains("`sudo systemctl enable kiebitz-rfcomm@0-00:06:66:AB:CD:EF`"),
        "{step}"
    );
    let wants = root.path("etc/systemd/system/multi-user.target.wants");
    fs::create_dir_all(&wants).unwrap();
    symlink(
        "/nowhere",
        wants.join("kiebitz-rfcomm@0-00:06:66:AB:CD:EF.service"),
    )
    .unwrap();
    assert_eq!(root.troubles(PortSettings::default()), []);
}

#[test]
fn a_link_by_id_that_two_devices_share_is_reported_with_the_link_by_path() {
    let root = FakeRoot::new();
    root.plug("1-1", FTDI_CONVERTER, Some("ftdi_sio"), Some("ttyUSB0"));
    let by_id = root.path("dev/serial/by-id/usb-FTDI-if00-port0");
    symlink("../../ttyUSB0", &by_id).unwrap();
    symlink(
        "../../ttyUSB0",
        root.path("dev/serial/by-path/pci-usb-0:1:1.0-port0"),
    )
    .unwrap();
    let configured = PortSettings {
        paths: vec![by_id],
        ..PortSettings::default()
    };
    assert_eq!(root.troubles(configured.clone()), [], "only one device");
    root.plug("1-2", FTDI_CONVERTER, Some("ftdi_sio"), Some("ttyUSB1"));
    let troubles = root.troubles(configured);
    assert_eq!(kinds(&troubles), [TroubleKind::AmbiguousLink]);
    assert!(
        troubles[0]
            .text
            .contains("ttyUSB1 next time: both devices have no USB serial number")
    );
    let step = &troubles[0].step;
    assert!(
        step.contains("`path = \"/dev/serial/by-path/pci-usb-0:1:1.0-port0\"`"),
        "{step}"
    );
    assert_eq!(root.troubles(PortSettings::default()), [], "found by searching");
}
