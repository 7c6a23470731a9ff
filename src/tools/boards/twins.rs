//! Boards with equal serial numbers.

use std::collections::BTreeMap;
use std::path::Path;

use kiebitz_hardware::capture::LineMode;

use super::computer::Computer;
use super::report::PortReport;
use super::trouble::{TroubleKind, TroubleReport};
use crate::config::Serial;

/// Adds a problem to each board whose serial number is that of a board on another port.
pub(super) fn mark(reports: &mut [PortReport], computer: &Computer) {
    let mut owners: BTreeMap<Serial, Vec<(usize, usize)>> = BTreeMap::new();
    for (port, report) in reports.iter().enumerate() {
        for (board, found) in report.boards.iter().enumerate() {
            let serial = found.shown_serial().and_then(|serial| serial.parse().ok());
            if let Some(serial) = serial {
                owners.entry(serial).or_default().push((port, board));
            }
        }
    }
    for (serial, boards) in owners {
        for (at, board) in &boards {
            let Some((other, _)) = boards.iter().find(|(other, _)| other != at) else {
                continue;
            };
            let Some(other) = reports.get(*other).map(|report| report.port.clone()) else {
                continue;
            };
            let Some(report) = reports.get_mut(*at) else {
                continue;
            };
            let trouble = same_serial(report, serial, &other, computer);
            if let Some(board) = report.boards.get_mut(*board) {
                board.troubles.push(trouble);
            }
        }
    }
}

fn same_serial(report: &PortReport, serial: Serial, other: &str, computer: &Computer) -> TroubleReport {
    let step = if report.mode == Some(LineMode::Bus) {
        "Connect one of the two boards to a port of its own, and name it by that port under [[board]]."
            .to_owned()
    } else {
        let link = computer.link_by_path(Path::new(&report.port));
        let (path, listed) = match (&report.configured, link) {
            (Some(path), _) => (path.clone(), String::new()),
            (None, Some(link)) => (link.clone(), format!("`path = \"{link}\"` under [[port]], and ")),
            (None, None) => (report.port.clone(), String::new()),
        };
        format!(
            "Name both boards by their ports. For this one, write into the configuration: {listed}`port = \
             \"{path}\"` with a `name` under [[board]]. Remove the block with `serial = \"{serial}\"`."
        )
    };
    TroubleReport::new(
        TroubleKind::SameSerial,
        format!("the board on {other} has the same serial number, {serial}"),
        step,
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::report::BoardReport;
    use super::*;

    fn port(path: &str, serial: &str) -> PortReport {
        let board = BoardReport {
            name: None,
            serial: Some(serial.to_owned()),
            long_serial: None,
            version: None,
            trademark: None,
            placement: None,
            start_position: None,
            orientation: None,
            clock: None,
            battery: None,
            troubles: Vec::new(),
            pieces: None,
        };
        PortReport {
            configured: None,
            mode: Some(LineMode::Single),
            boards: vec![board],
            troubles: Vec::new(),
            ..PortReport::missing(path)
        }
    }

    #[test]
    fn equal_serial_numbers_are_reported_with_the_next_step() {
        let root = tempfile::TempDir::new().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("dev/serial/by-path")).unwrap();
        let device = root.join("dev/ttyACM0");
        std::fs::write(&device, "").unwrap();
        symlink(&device, root.join("dev/serial/by-path/pci-0:1")).unwrap();
        let mut reports = [
            port(device.to_str().unwrap(), "01025"),
            port("/dev/ttyACM1", "01026"),
            port("/dev/ttyACM2", "1025"),
            port("/dev/ttyACM3", "?"),
            port("/dev/ttyACM4", "?"),
        ];
        mark(&mut reports, &Computer::beneath(&root));
        let steps: Vec<Option<&str>> = reports
            .iter()
            .map(|report| report.boards[0].troubles.first())
            .map(|trouble| trouble.map(|trouble| trouble.step.as_str()))
            .collect();
        assert_eq!(
            steps,
            [
                Some(
                    "Name both boards by their ports. For this one, write into the configuration: `path = \
                     \"/dev/serial/by-path/pci-0:1\"` under [[port]], and `port = \"/dev/serial/by-path/pci-0:1\"` \
                     with a `name` under [[board]]. Remove the block with `serial = \"01025\"`."
                ),
                None,
                Some(
                    "Name both boards by their ports. For this one, write into the configuration: `port = \
                     \"/dev/ttyACM2\"` with a `name` under [[board]]. Remove the block with `serial = \"01025\"`."
                ),
                None,
                None,
            ]
        );
        let text = &reports[0].boards[0].troubles[0].text;
        assert_eq!(
            text,
            "the board on /dev/ttyACM2 has the same serial number, 01025"
        );
    }
}
