//! Monitors the computer: a thread that checks disk, temperature and power, and warns before they cause failures.

use core::time::Duration;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tokio::sync::watch;

use crate::outputs::mqtt::{Disk, Machine};

/// Yields the thread's latest measurements without waiting for a disk. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct MachineWatch(watch::Receiver<Machine>);

const INTERVAL: Duration = Duration::from_secs(30);
/// Free space in bytes below which a warning is logged: about a day of recordings.
const LITTLE_ROOM: u64 = 200_000_000;
/// Temperature in degrees Celsius at which a warning is logged. A Raspberry Pi slows down from 80, and further from 85.
const HOT: f64 = 80.0;

impl MachineWatch {
    /// Starts the thread. `directory` is a path on the monitored disk.
    pub(super) fn start(directory: PathBuf) -> Result<Self> {
        let (sender, receiver) = watch::channel(Machine::default());
        let mut warned = Warned::default();
        let work = move || {
            loop {
                let machine = measure(Path::new("/"), &directory);
                warned.warn(&machine, &directory);
                if sender.send(machine).is_err() {
                    return;
                }
                std::thread::sleep(INTERVAL);
            }
        };
        let started = std::thread::Builder::new().name("machine".to_owned()).spawn(work);
        started.context("cannot start monitoring the computer")?;
        Ok(Self(receiver))
    }

    pub(super) fn state(&self) -> Machine {
        self.0.borrow().clone()
    }
}

/// Measures the computer whose file system is under `root`, and the disk of `directory`, a path that does not depend on
/// `root`.
fn measure(root: &Path, directory: &Path) -> Machine {
    Machine {
        disk: disk(directory),
        temperature_c: temperature(root),
        under_voltage: under_voltage(root),
        memory_bytes: memory(root),
    }
}

/// Free and total space of the disk on which the directory is or will be created.
fn disk(directory: &Path) -> Option<Disk> {
    let existing = directory.ancestors().find(|directory| directory.exists())?;
    let disk = rustix::fs::statvfs(existing).ok()?;
    Some(Disk {
        free_bytes: disk.f_bavail.saturating_mul(disk.f_frsize),
        size_bytes: disk.f_blocks.saturating_mul(disk.f_frsize),
    })
}

/// Temperature of the hottest zone in degrees Celsius.
fn temperature(root: &Path) -> Option<f64> {
    let zones = entries(&root.join("sys/class/thermal"), "thermal_zone");
    let read = |zone: PathBuf| {
        let thousandths: f64 = text(&zone.join("temp"))?.parse().ok()?;
        // Zones without a sensor report 0 or an impossible temperature.
        Some(thousandths / 1000.0).filter(|celsius| (1.0..200.0).contains(celsius))
    };
    zones.into_iter().filter_map(read).reduce(f64::max)
}

/// Whether the power supply of a Raspberry Pi is too weak now; `None` on other systems.
fn under_voltage(root: &Path) -> Option<bool> {
    let sensors = entries(&root.join("sys/class/hwmon"), "hwmon");
    let is_pi_sensor = |sensor: &PathBuf| text(&sensor.join("name")).as_deref() == Some("rpi_volt");
    let alarm = text(&sensors.into_iter().find(is_pi_sensor)?.join("in0_lcrit_alarm"))?;
    Some(alarm != "0")
}

/// Resident memory of kiebitz in bytes.
fn memory(root: &Path) -> Option<u64> {
    let status = fs::read_to_string(root.join("proc/self/status")).ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = resident.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn entries(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let named = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    named.map(|entry| entry.path()).collect()
}

fn text(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The conditions that hold and were warned of, so that each is logged only when it begins.
#[derive(Debug, Default)]
struct Warned {
    disk: bool,
    heat: bool,
    power: bool,
}

impl Warned {
    fn warn(&mut self, machine: &Machine, directory: &Path) {
        let directory = directory.display();
        if let Some(disk) = machine.disk
            && has_begun(&mut self.disk, disk.free_bytes < LITTLE_ROOM)
        {
            let megabytes = disk.free_bytes / 1_000_000;
            tracing::warn!(
                "the disk of {directory} has {megabytes} MB left: remove files, or lower `budget` under [recorder]"
            );
        }
        if let Some(celsius) = machine.temperature_c
            && has_begun(&mut self.heat, celsius >= HOT)
        {
            tracing::warn!("the computer is {celsius:.0} °C hot and slows down: improve its cooling");
        }
        if let Some(weak) = machine.under_voltage
            && has_begun(&mut self.power, weak)
        {
            tracing::warn!("the computer's power supply is too weak: use the one made for this computer");
        }
    }
}

fn has_begun(before: &mut bool, now: bool) -> bool {
    let begins = now && !*before;
    *before = now;
    begins
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("room");
        fs::write(path, text).expect("room");
    }

    #[test]
    fn measurements_of_a_raspberry_pi_are_found() {
        let root = tempfile::tempdir().expect("a directory");
        let root = root.path();
        write(root, "sys/class/thermal/thermal_zone0/temp", "48312\n");
        write(root, "sys/class/thermal/thermal_zone1/temp", "0\n");
        write(root, "sys/class/hwmon/hwmon0/name", "cpu_thermal\n");
        write(root, "sys/class/hwmon/hwmon1/name", "rpi_volt\n");
        write(root, "sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1\n");
        write(root, "proc/self/status", "Name:\tkiebitz\nVmRSS:\t   12345 kB\n");
        let machine = measure(root, &root.join("not/yet/there"));
        assert_eq!(machine.temperature_c, Some(48.312));
        assert_eq!(machine.under_voltage, Some(true));
        assert_eq!(machine.memory_bytes, Some(12_345 * 1024));
        let disk = machine.disk.expect("a disk");
        assert!(disk.size_bytes >= disk.free_bytes && disk.size_bytes > 0);
    }

    #[test]
    fn missing_measurements_are_unknown() {
        let root = tempfile::tempdir().expect("a directory");
        let machine = measure(root.path(), Path::new("/"));
        assert_eq!(
            (machine.temperature_c, machine.under_voltage, machine.memory_bytes),
            (None, None, None)
        );
    }

    #[test]
    fn a_condition_is_reported_once_when_it_begins() {
        let mut before = false;
        let begun = [false, true, true, false, true].map(|now| has_begun(&mut before, now));
        assert_eq!(begun, [false, true, false, false, true]);
    }
}
