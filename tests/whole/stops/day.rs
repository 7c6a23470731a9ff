//! A day of continuous play in virtual time: memory use and the number of open files do not grow.

use std::process::Command;

use super::*;
use kiebitz_workbench::hands::hall::OPENING;

const HOUR: Duration = Duration::from_secs(3600);
const HOURS: u64 = 24;
/// Hour from which caches are full.
const SETTLED: usize = 6;
/// Limit on the growth of memory in kB per hour, with two boards on which about thirty games per hour are played.
/// Includes the data that the players keep.
const MAX_SLOPE: i64 = 300;

/// Runs hall, journal and recorder in a process of their own, so that the memory of other tests is not measured.
#[test]
#[ignore = "memory_and_handles_are_flat_over_a_day runs it"]
fn a_day_alone() {
    let directory = tempfile::tempdir().unwrap();
    let round = Round {
        seed: 3,
        wiring: Wiring::Single,
        boards: 2,
        lasting: HOUR * HOURS as u32,
        stops: false,
        damage: None,
    };
    let mut world = World::new(round, &directory);
    let mut hours = 0;
    while let Some(now) = world.next_at().filter(|_| hours < HOURS) {
        world.step(now);
        let passed = now.saturating_duration_since(OPENING).as_secs() / HOUR.as_secs();
        if passed > hours {
            hours = passed;
            println!("\nhour {hours}: {} kB, {} handles", memory(), handles());
        }
    }
}

#[test]
fn memory_and_handles_are_flat_over_a_day() {
    let name = "stops::day::a_day_alone";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let samples: Vec<(i64, i64)> = text.lines().filter_map(sample).collect();
    assert_eq!(samples.len(), HOURS as usize, "{text}");
    let (settled, last) = (samples[SETTLED - 1], samples[samples.len() - 1]);
    let slope = (last.0 - settled.0) / (HOURS as usize - SETTLED) as i64;
    assert!(slope <= MAX_SLOPE, "{slope} kB an hour\n{text}");
    // At midnight a new file is opened for each port. The old one is closed once it has been synced.
    assert!((last.1 - settled.1).abs() <= 2, "{text}");
}

fn sample(line: &str) -> Option<(i64, i64)> {
    let (_, figures) = line.strip_prefix("hour ")?.split_once(": ")?;
    let (memory, handles) = figures.split_once(" kB, ")?;
    Some((
        memory.parse().ok()?,
        handles.strip_suffix(" handles")?.parse().ok()?,
    ))
}

/// Resident memory in kB.
fn memory() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.unwrap().trim().trim_end_matches(" kB").parse().unwrap()
}

fn handles() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
