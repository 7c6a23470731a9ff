//! The computer's clock is set while games are played.

use super::verdict::{AGREEMENT, agree};
use super::with_faulty_disk;
use super::world::World;

const HOUR: i64 = 3600;
/// The longest delay that can be configured. It is longer than the test, so spectators must not see any move.
const DELAY: &str = "public_delay = \"2 h\"";

/// Number of moves that spectators have seen.
fn public_moves(world: &World) -> usize {
    let game = world.last("public/boards/b/game");
    game.and_then(|game| game["moves"].as_array().map(Vec::len))
        .unwrap_or_default()
}

/// A step of the clock must not begin a new day, publish anything early, or make kiebitz report a hanging disk.
#[tokio::test]
async fn clock_steps_in_mid_game_publish_nothing_early_and_begin_no_day() {
    let Some(mut world) = with_faulty_disk(41).await else {
        return;
    };
    world.configure(DELAY, "");
    world.start();
    world.until_moves("moves", 3, true).await;
    let (mut ahead, mut behind) = (0, 0);
    for step in [26, -26, 3, 11 * 24, -12 * 24, 400 * 24, -1, 26] {
        ahead += step * HOUR;
        // A step forward that only undoes an earlier step back does not change the time of events.
        let is_step = step < 0 || step > behind;
        behind = (behind - step).max(0);
        let seen = steps(&world);
        world.shim.as_ref().unwrap().set_clock(ahead);
        world
            .until("the step is noticed", |world| !is_step || steps(world) > seen)
            .await;
        world.until_moves("moves go on", 2, true).await;
        assert_eq!(public_moves(&world), 0, "{step} h: early\n{}", world.log());
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
    // The delay also holds after a restart and after a kill.
    world.stop().await;
    world.start();
    world.until_moves("moves after the restart", 1, true).await;
    assert_eq!(public_moves(&world), 0, "early\n{}", world.log());
    world.kill();
    world.start();
    world.until_moves("moves after the kill", 1, true).await;
    world.until(AGREEMENT, agree).await;
    world.stop().await;
    assert_eq!(public_moves(&world), 0, "early\n{}", world.log());
}

/// Number of clock steps in the log.
fn steps(world: &World) -> usize {
    world.log().matches("the computer's clock was set").count()
}
