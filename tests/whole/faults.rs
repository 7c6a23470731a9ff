//! Disks that fail under the running program: publishing goes on, and all events that can be stored are stored.

mod clicks;
mod disk;
mod steps;
mod verdict;
mod world;

use core::cell::RefCell;
use std::fs;
use std::process::Stdio;
use std::rc::Rc;

use disk::{Holder, Shim, SmallDisk};
use serde_json::json;
use world::World;

/// A fault that begins and ends.
struct Trouble<'t> {
    begin: Box<dyn FnMut(&World) + 't>,
    end: Box<dyn FnMut(&World) + 't>,
    /// Text in the daemon's state on MQTT during the fault.
    problem: &'t str,
    /// Maximum number of jumps of event numbers, if the program is stopped during the fault.
    jumps: usize,
}

/// The fault begins and ends. Then it begins again and ends only after the program has been stopped.
async fn survives(mut world: World, mut trouble: Trouble<'_>) {
    world.start();
    world.until_moves("moves", 2, true).await;
    begin_fault(&mut world, &mut trouble).await;
    let since = world.published().len();
    world.until_moves("moves that are not kept", 3, false).await;
    assert!(has_waiting_events(&world), "{}", world.daemon_state());
    verdict::was_live(&world, since);
    (trouble.end)(&world);
    world.until("it is well", is_well).await;
    world.until_moves("kept moves", 1, true).await;
    world.until("the journal has all", verdict::is_same).await;
    assert!(
        world.log().contains("all published events are stored"),
        "{}",
        world.log()
    );

    begin_fault(&mut world, &mut trouble).await;
    world.until_moves("moves that are not kept again", 1, false).await;
    world.stop().await;
    (trouble.end)(&world);
    world.start();
    world.until_moves("moves after the start", 2, true).await;
    world.until(verdict::AGREEMENT, verdict::agree).await;
    world.stop().await;
    verdict::jumps(&world, trouble.jumps);
}

async fn begin_fault(world: &mut World, trouble: &mut Trouble<'_>) {
    (trouble.begin)(world);
    world
        .until("the state says so", |world| {
            problem(world).contains(trouble.problem)
        })
        .await;
    assert!(
        world.daemon_state()["journal"]["since"].is_string(),
        "{}",
        world.daemon_state()
    );
    assert!(world.log().contains(trouble.problem), "{}", world.log());
}

fn problem(world: &World) -> String {
    world.daemon_state()["journal"]["problem"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn is_well(world: &World) -> bool {
    world.daemon_state()["journal"] == json!({"ok": true})
}

/// Whether events are waiting. The number is updated once a minute.
fn has_waiting_events(world: &World) -> bool {
    let journal = &world.daemon_state()["journal"];
    journal["ok"] == false && journal["waiting"].as_u64() > Some(0)
}

/// A world with a controllable disk; `None` if there is no C compiler.
async fn with_faulty_disk(seed: u64) -> Option<World> {
    let mut world = World::new(seed).await;
    world.shim = Shim::build(world.directory.path());
    world.shim.is_some().then_some(world)
}

impl Trouble<'_> {
    fn of_shim(how: &'static str, problem: &'static str) -> Self {
        Self {
            begin: Box::new(|world| world.set_disk(how)),
            end: Box::new(|world| world.set_disk("well")),
            problem,
            jumps: 1,
        }
    }

    fn of_holder() -> Self {
        let holder = Rc::new(RefCell::new(Holder::new()));
        let held = Rc::clone(&holder);
        Self {
            begin: Box::new(move |world| holder.borrow_mut().hold(&world.file())),
            end: Box::new(move |_| held.borrow_mut().let_go()),
            problem: "another program has locked the journal",
            jumps: 1,
        }
    }
}

#[tokio::test]
async fn survives_a_disk_that_fails_to_write() {
    if let Some(world) = with_faulty_disk(21).await {
        survives(world, Trouble::of_shim("eio", "cannot use the journal")).await;
    }
}

#[tokio::test]
async fn survives_a_disk_that_fails_completely() {
    if let Some(world) = with_faulty_disk(22).await {
        survives(world, Trouble::of_shim("dead", "cannot open the journal")).await;
    }
}

#[tokio::test]
async fn survives_a_read_only_disk() {
    if let Some(world) = with_faulty_disk(23).await {
        survives(world, Trouble::of_shim("erofs", "cannot use the journal")).await;
    }
}

#[tokio::test]
async fn survives_a_disk_that_hangs() {
    if let Some(world) = with_faulty_disk(24).await {
        survives(world, Trouble::of_shim("hang", "does not answer")).await;
    }
}

#[tokio::test]
async fn survives_a_disk_whose_sync_hangs() {
    if let Some(world) = with_faulty_disk(25).await {
        survives(world, Trouble::of_shim("hangsync", "does not answer")).await;
    }
}

#[tokio::test]
async fn survives_a_full_disk() {
    let world = World::new(2).await;
    let Some(disk) = SmallDisk::mount(&world.state()) else {
        return;
    };
    let trouble = Trouble {
        begin: Box::new(|_| disk.fill()),
        end: Box::new(|_| disk.free()),
        problem: "full",
        jumps: 1,
    };
    survives(world, trouble).await;
}

#[tokio::test]
async fn survives_a_journal_that_another_program_locks() {
    survives(World::new(3).await, Trouble::of_holder()).await;
}

/// Boards are watched even if the disk fails at the start.
async fn starts_during_fault(mut world: World, mut trouble: Trouble<'_>) {
    world.start();
    world.until_moves("moves", 1, true).await;
    world.stop().await;
    (trouble.begin)(&world);
    world.start();
    world.until_moves("moves that are not kept", 2, false).await;
    world.stop().await;
    world.start();
    world.until_moves("moves that are not kept again", 1, false).await;
    (trouble.end)(&world);
    world.until("it is well", is_well).await;
    world.until_moves("kept moves", 1, true).await;
    world.until(verdict::AGREEMENT, verdict::agree).await;
    world.stop().await;
}

#[tokio::test]
async fn starts_with_a_disk_that_fails_to_write() {
    if let Some(world) = with_faulty_disk(11).await {
        starts_during_fault(world, Trouble::of_shim("eio", "cannot use the journal")).await;
    }
}

#[tokio::test]
async fn starts_with_a_disk_that_fails_completely() {
    if let Some(world) = with_faulty_disk(12).await {
        starts_during_fault(world, Trouble::of_shim("dead", "cannot open the journal")).await;
    }
}

#[tokio::test]
async fn starts_with_a_read_only_disk() {
    if let Some(world) = with_faulty_disk(13).await {
        starts_during_fault(world, Trouble::of_shim("erofs", "cannot use the journal")).await;
    }
}

#[tokio::test]
async fn starts_with_a_journal_that_another_program_locks() {
    starts_during_fault(World::new(14).await, Trouble::of_holder()).await;
}

/// The last event numbers cannot be read: the program waits for a while, continues with a new range of numbers, and can
/// be stopped at any time.
async fn starts_with_a_hanging_disk(mut world: World, how: &str) {
    world.start();
    world.until_moves("moves", 1, true).await;
    world.stop().await;
    world.set_disk(how);
    world.start();
    world
        .until("it says so", |world| world.log().contains("is slow to answer"))
        .await;
    world.stop().await;

    world.start();
    world.until_moves("moves that are not kept", 2, false).await;
    assert!(
        problem(&world).contains("does not answer"),
        "{}",
        world.daemon_state()
    );
    world.stop().await;
    world.start();
    world.until_moves("moves that are not kept again", 1, false).await;
    let since = world.published().len();
    world.set_disk("well");
    world.until("it is well", is_well).await;
    world.until_moves("kept moves", 1, true).await;
    verdict::was_live(&world, since);
    // A run that began without the disk is replayed like any other.
    world.kill();
    let before = world.log().len();
    world.start();
    world.until_moves("moves after the start", 1, true).await;
    world.until(verdict::AGREEMENT, verdict::agree).await;
    world.stop().await;
    let log = world.log();
    assert!(!log[before..].contains("resumes from the journal alone"), "{log}");
    verdict::jumps(&world, 2);
}

#[tokio::test]
async fn starts_with_a_disk_that_hangs() {
    if let Some(world) = with_faulty_disk(15).await {
        starts_with_a_hanging_disk(world, "hang").await;
    }
}

#[tokio::test]
async fn starts_with_a_disk_whose_sync_hangs() {
    if let Some(world) = with_faulty_disk(16).await {
        starts_with_a_hanging_disk(world, "hangsync").await;
    }
}

/// The disk fails at the start and is full later, and then the program is killed. The disk then has no record of the
/// event numbers in use. If `mends`, the disk works for a while between the faults.
async fn survives_a_kill_after_two_faults(seed: u64, has_memory: bool, mends: bool) {
    let Some(mut world) = with_faulty_disk(seed).await else {
        return;
    };
    world.has_memory = has_memory;
    world.start();
    world.until_moves("moves", 1, true).await;
    world.stop().await;
    world.set_disk("eio");
    world.start();
    world.until_moves("moves that are not kept", 2, false).await;
    if mends {
        world.set_disk("well");
        world.until_moves("kept moves meanwhile", 1, true).await;
    }
    world.set_disk("full");
    world
        .until_moves("further moves that are not kept", 2, false)
        .await;
    world.kill();
    world.set_disk("well");
    for _ in 0..2 {
        world.start();
        world.until_moves("kept moves", 2, true).await;
        world.stop().await;
    }
    let published = verdict::by_seq(&world.published());
    for (seq, payload) in world.journaled() {
        assert_eq!(published.get(&seq), Some(&payload), "{}", world.log());
    }
}

#[tokio::test]
async fn numbers_stay_unique_after_write_errors_a_full_disk_and_a_kill() {
    survives_a_kill_after_two_faults(31, true, false).await;
}

#[tokio::test]
async fn numbers_stay_unique_after_these_faults_without_a_runtime_directory() {
    survives_a_kill_after_two_faults(32, false, false).await;
}

#[tokio::test]
async fn numbers_stay_unique_if_the_disk_works_between_the_faults() {
    survives_a_kill_after_two_faults(33, true, true).await;
}

#[tokio::test]
async fn numbers_stay_unique_if_the_disk_works_between_them_without_a_runtime_directory() {
    survives_a_kill_after_two_faults(34, false, true).await;
}

/// `happens` damages the files of the running program, which notices it. Later it is killed and started again.
async fn notices_change(seed: u64, happens: impl FnOnce(&World), words: &str, whole: bool) {
    let mut world = World::new(seed).await;
    world.start();
    world.until_moves("moves", 2, true).await;
    let since = world.published().len();
    happens(&world);
    world.until_moves("moves go on", 2, true).await;
    world
        .until("it is noticed", |world| world.log().contains(words))
        .await;
    world.until_moves("moves that are kept", 2, true).await;
    verdict::was_live(&world, since);
    if whole {
        world.until("the journal has all", verdict::is_same).await;
    }
    world.kill();
    world.start();
    world.until_moves("moves after the start", 2, true).await;
    if whole {
        world.until("the journal has all again", verdict::is_same).await;
    }
    world.stop().await;
    verdict::jumps(&world, 0);
}

#[tokio::test]
async fn a_removed_journal_is_noticed() {
    let remove = |world: &World| fs::remove_file(world.file()).unwrap();
    notices_change(5, remove, "was removed or replaced", true).await;
}

#[tokio::test]
async fn a_removed_write_ahead_log_is_noticed() {
    let remove = |world: &World| fs::remove_file(world.file().with_extension("sqlite-wal")).unwrap();
    notices_change(6, remove, "was removed or replaced", true).await;
}

#[tokio::test]
async fn a_removed_state_directory_is_noticed() {
    let remove = |world: &World| fs::remove_dir_all(world.state()).unwrap();
    notices_change(7, remove, "was removed or replaced", true).await;
}

#[tokio::test]
async fn a_dropped_table_is_noticed() {
    let remove = |world: &World| disk::drop_table(&world.file());
    notices_change(8, remove, "no such table", false).await;
}

/// Like the tests in src/daemon/start/tests.rs, but with the built program.
#[tokio::test]
async fn starts_with_damaged_journals() {
    let mut world = World::new(10).await;
    world.start();
    world.until_moves("moves", 3, true).await;
    world.stop().await;
    let damages: [fn(&mut Vec<u8>); 5] = [
        |bytes| bytes[0] ^= 1,
        |bytes| bytes.iter_mut().step_by(997).for_each(|byte| *byte ^= 0x10),
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes[4096..8192].fill(0),
        |bytes| bytes.fill(b'x'),
    ];
    for (nth, damage) in damages.into_iter().enumerate() {
        let mut bytes = fs::read(world.file()).unwrap();
        damage(&mut bytes);
        fs::write(world.file(), bytes).unwrap();
        world.start();
        let watches = |world: &World| world.log().matches("is watching").count() == nth + 2;
        world.until("it watches", watches).await;
        world.until_moves("kept moves", 1, true).await;
        world.stop().await;
        verdict::by_seq(&world.published());
    }
}

#[tokio::test]
async fn a_second_program_with_the_same_directory_is_refused_with_the_process_id() {
    let mut world = World::new(9).await;
    world.start();
    world
        .until("it watches", |world| world.log().contains("is watching"))
        .await;
    let second = world.program().stderr(Stdio::piped()).output().unwrap();
    let errors = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(1), "{errors}");
    let process = format!("process {},", world.id());
    assert!(
        errors.contains("another kiebitz is using") && errors.contains(&process),
        "{errors}"
    );
    world.stop().await;
}
