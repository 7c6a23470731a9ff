//! Disks that fail under the running program: the broadcast goes on, and nothing is lost that could be kept.

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

/// A fault that comes and goes.
struct Trouble<'t> {
    begin: Box<dyn FnMut(&World) + 't>,
    end: Box<dyn FnMut(&World) + 't>,
    /// What the state on MQTT says of it.
    problem: &'t str,
    /// After an end meanwhile numbers may jump so many times.
    jumps: usize,
}

/// A fault that comes, goes, comes again, during which the program is stopped, and goes.
async fn is_outlived(mut world: World, mut trouble: Trouble<'_>) {
    world.start();
    world.until_moves("moves", 2, true).await;
    begins(&mut world, &mut trouble).await;
    let since = world.published().len();
    world.until_moves("moves that are not kept", 3, false).await;
    assert!(waits(&world), "{}", world.daemon_state());
    verdict::was_live(&world, since);
    (trouble.end)(&world);
    world.until("it is well", well).await;
    world.until_moves("kept moves", 1, true).await;
    world.until("the journal has all", verdict::is_same).await;
    assert!(
        world.log().contains("all published events are stored"),
        "{}",
        world.log()
    );

    begins(&mut world, &mut trouble).await;
    world.until_moves("moves that are not kept again", 1, false).await;
    world.stop().await;
    (trouble.end)(&world);
    world.start();
    world.until_moves("moves after the start", 2, true).await;
    world.stop().await;
    verdict::agrees(&world);
    verdict::jumps(&world, trouble.jumps);
}

async fn begins(world: &mut World, trouble: &mut Trouble<'_>) {
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

fn well(world: &World) -> bool {
    world.daemon_state()["journal"] == json!({"ok": true})
}

/// Whether events wait; how many is said once a minute.
fn waits(world: &World) -> bool {
    let journal = &world.daemon_state()["journal"];
    journal["ok"] == false && journal["waiting"].as_u64() > Some(0)
}

/// With a disk that does as it is told; `None`: there is no compiler for it.
async fn shimmed(seed: u64) -> Option<World> {
    let mut world = World::new(seed).await;
    world.shim = Shim::build(world.directory.path());
    world.shim.is_some().then_some(world)
}

impl Trouble<'_> {
    fn of_shim(how: &'static str, problem: &'static str) -> Self {
        Self {
            begin: Box::new(|world| world.say(how)),
            end: Box::new(|world| world.say("well")),
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
async fn a_disk_that_fails_to_write() {
    if let Some(world) = shimmed(21).await {
        is_outlived(world, Trouble::of_shim("eio", "cannot use the journal")).await;
    }
}

#[tokio::test]
async fn a_disk_that_fails_altogether() {
    if let Some(world) = shimmed(22).await {
        is_outlived(world, Trouble::of_shim("dead", "cannot open the journal")).await;
    }
}

#[tokio::test]
async fn a_disk_that_is_read_only() {
    if let Some(world) = shimmed(23).await {
        is_outlived(world, Trouble::of_shim("erofs", "cannot use the journal")).await;
    }
}

#[tokio::test]
async fn a_disk_that_hangs() {
    if let Some(world) = shimmed(24).await {
        is_outlived(world, Trouble::of_shim("hang", "does not answer")).await;
    }
}

#[tokio::test]
async fn a_disk_that_is_waited_for_in_vain() {
    if let Some(world) = shimmed(25).await {
        is_outlived(world, Trouble::of_shim("hangsync", "does not answer")).await;
    }
}

#[tokio::test]
async fn a_full_disk() {
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
    is_outlived(world, trouble).await;
}

#[tokio::test]
async fn a_journal_that_another_program_holds() {
    is_outlived(World::new(3).await, Trouble::of_holder()).await;
}

/// Where the disk does not work at the start, boards are watched all the same.
async fn starts(mut world: World, mut trouble: Trouble<'_>) {
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
    world.until("it is well", well).await;
    world.until_moves("kept moves", 1, true).await;
    world.stop().await;
    verdict::agrees(&world);
}

#[tokio::test]
async fn a_start_with_a_disk_that_fails_to_write() {
    if let Some(world) = shimmed(11).await {
        starts(world, Trouble::of_shim("eio", "cannot use the journal")).await;
    }
}

#[tokio::test]
async fn a_start_with_a_disk_that_fails_altogether() {
    if let Some(world) = shimmed(12).await {
        starts(world, Trouble::of_shim("dead", "cannot open the journal")).await;
    }
}

#[tokio::test]
async fn a_start_with_a_disk_that_is_read_only() {
    if let Some(world) = shimmed(13).await {
        starts(world, Trouble::of_shim("erofs", "cannot use the journal")).await;
    }
}

#[tokio::test]
async fn a_start_with_a_journal_that_another_program_holds() {
    starts(World::new(14).await, Trouble::of_holder()).await;
}

/// Nobody can know the numbers: it waits for a while, then goes on with others, and can be stopped at any time.
async fn starts_without_an_answer(mut world: World, how: &str) {
    world.start();
    world.until_moves("moves", 1, true).await;
    world.stop().await;
    world.say(how);
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
    world.say("well");
    world.until("it is well", well).await;
    world.until_moves("kept moves", 1, true).await;
    verdict::was_live(&world, since);
    // What began without the disk is played back as all else.
    world.kill();
    let before = world.log().len();
    world.start();
    world.until_moves("moves after the start", 1, true).await;
    world.stop().await;
    let log = world.log();
    assert!(!log[before..].contains("resumes from the journal alone"), "{log}");
    verdict::agrees(&world);
    verdict::jumps(&world, 2);
}

#[tokio::test]
async fn a_start_with_a_disk_that_hangs() {
    if let Some(world) = shimmed(15).await {
        starts_without_an_answer(world, "hang").await;
    }
}

#[tokio::test]
async fn a_start_with_a_disk_that_is_waited_for_in_vain() {
    if let Some(world) = shimmed(16).await {
        starts_without_an_answer(world, "hangsync").await;
    }
}

/// The disk fails at the start, is full then, and the program is killed: nothing on the disk says which numbers it gave.
/// In between the disk may work for a while (`mends`).
async fn is_killed_after_two_faults(seed: u64, has_memory: bool, mends: bool) {
    let Some(mut world) = shimmed(seed).await else {
        return;
    };
    world.has_memory = has_memory;
    world.start();
    world.until_moves("moves", 1, true).await;
    world.stop().await;
    world.say("eio");
    world.start();
    world.until_moves("moves that are not kept", 2, false).await;
    if mends {
        world.say("well");
        world.until_moves("kept moves meanwhile", 1, true).await;
    }
    world.say("full");
    world
        .until_moves("further moves that are not kept", 2, false)
        .await;
    world.kill();
    world.say("well");
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
async fn a_kill_after_a_start_with_errors_and_a_full_disk() {
    is_killed_after_two_faults(31, true, false).await;
}

#[tokio::test]
async fn a_kill_after_the_same_without_a_runtime_directory() {
    is_killed_after_two_faults(32, false, false).await;
}

#[tokio::test]
async fn a_kill_with_a_full_disk_that_failed_at_the_start() {
    is_killed_after_two_faults(33, true, true).await;
}

#[tokio::test]
async fn a_kill_after_that_without_a_runtime_directory() {
    is_killed_after_two_faults(34, false, true).await;
}

/// Something happens to the files of the running program, which notices it; it is killed and started again later.
async fn is_noticed(seed: u64, happens: impl FnOnce(&World), words: &str, whole: bool) {
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
    world.stop().await;
    verdict::jumps(&world, 0);
    if whole {
        verdict::agrees(&world);
        assert!(verdict::is_same(&world), "{}", world.log());
    } else {
        verdict::by_seq(&world.published());
    }
}

#[tokio::test]
async fn a_journal_that_is_removed() {
    let remove = |world: &World| fs::remove_file(world.file()).unwrap();
    is_noticed(5, remove, "was removed or replaced", true).await;
}

#[tokio::test]
async fn a_log_of_the_journal_that_is_removed() {
    let remove = |world: &World| fs::remove_file(world.file().with_extension("sqlite-wal")).unwrap();
    is_noticed(6, remove, "was removed or replaced", true).await;
}

#[tokio::test]
async fn a_state_directory_that_is_removed() {
    let remove = |world: &World| fs::remove_dir_all(world.state()).unwrap();
    is_noticed(7, remove, "was removed or replaced", true).await;
}

#[tokio::test]
async fn a_table_that_is_gone() {
    let remove = |world: &World| disk::drop_table(&world.file());
    is_noticed(8, remove, "no such table", false).await;
}

/// The same as in src/daemon/start/tests.rs, with the program itself.
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
async fn a_second_program_with_the_same_directory_is_told_who_has_it() {
    let mut world = World::new(9).await;
    world.start();
    world
        .until("it watches", |world| world.log().contains("is watching"))
        .await;
    let second = world.program().stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(1), "{said}");
    let process = format!("process {},", world.id());
    assert!(
        said.contains("another kiebitz is using") && said.contains(&process),
        "{said}"
    );
    world.stop().await;
}
