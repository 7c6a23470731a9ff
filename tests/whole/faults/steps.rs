//! The computer's clock is set while games are played.

use super::shimmed;
use super::world::World;

const HOUR: i64 = 3600;
/// The longest there is, and longer than any test: whatever spectators see is early.
const DELAY: &str = "public_delay = \"2 h\"";

/// How many moves spectators have seen.
fn shown(world: &World) -> usize {
    let game = world.last("public/boards/b/game");
    game.and_then(|game| game["moves"].as_array().map(Vec::len))
        .unwrap_or_default()
}

/// No step begins a day, lets anything out before its time, or makes kiebitz believe that the disk hangs.
#[tokio::test]
async fn a_clock_that_is_set_in_mid_game_lets_nothing_out_and_begins_no_day() {
    let Some(mut world) = shimmed(41).await else {
        return;
    };
    world.configure(DELAY, "");
    world.start();
    world.until_moves("moves", 3, true).await;
    let (mut ahead, mut behind) = (0, 0);
    for step in [26, -26, 3, 11 * 24, -12 * 24, 400 * 24, -1, 26] {
        ahead += step * HOUR;
        // A step forward that only makes up for one back is none for the times of events.
        let is_step = step < 0 || step > behind;
        behind = (behind - step).max(0);
        let seen = noticed(&world);
        world.shim.as_ref().unwrap().set_clock(ahead);
        world
            .until("the step is noticed", |world| !is_step || noticed(world) > seen)
            .await;
        world.until_moves("moves go on", 2, true).await;
        assert_eq!(shown(&world), 0, "{step} h: early\n{}", world.log());
    }
    let log = world.log();
    for wrong in [
        "begins a new day",
        "does not answer",
        "stores no events",
        "no connection",
    ] {
        assert!(!log.contains(wrong), "{wrong}\n{log}");
    }
    let events = world.published();
    assert!(events.iter().all(|published| published.kept));
    // What is held waits as long after a restart, also one by force.
    world.stop().await;
    world.start();
    world.until_moves("moves after the restart", 1, true).await;
    assert_eq!(shown(&world), 0, "early\n{}", world.log());
    world.kill();
    world.start();
    world.until_moves("moves after the kill", 1, true).await;
    world.stop().await;
    assert_eq!(shown(&world), 0, "early\n{}", world.log());
    super::verdict::agrees(&world);
}

/// How many steps the log has.
fn noticed(world: &World) -> usize {
    world.log().matches("the computer's clock was set").count()
}
