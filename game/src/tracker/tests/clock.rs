//! Tests of the chess clock: presses, turns and readings.

use core::time::Duration;

use kiebitz_hardware::Observation;
use kiebitz_protocol::{ClockTimes, SideTime};
use shakmaty::Color;

use super::gaps::elements;
use super::{START, World};
use crate::clock::Flag;

#[test]
fn time_on_a_stopped_clock_is_not_part_of_a_turn() {
    let mut world = World::new(START);
    world.times(true, false, [200, 200]).times(true, true, [200, 200]);
    world.wait(10_000).times(true, false, [190, 200]).wait(60_000);
    // An arbiter sets the times and moves the lever over and back.
    world
        .times(false, false, [190, 200])
        .times(true, false, [190, 240])
        .wait(1000);
    world
        .times(true, true, [190, 240])
        .wait(1000)
        .shows("e2. e4P")
        .wait(1000);
    world.times(false, true, [187, 240]).has_announced("e4");
    assert_eq!(world.pressed, [(1, Some(12))]);
}

#[test]
fn a_reply_pressed_before_the_move_it_answers_is_void() {
    let mut world = World::new(START);
    world
        .times(true, false, [200, 200])
        .times(true, true, [200, 200])
        .wait(2000);
    // Black's button is already down, so pressing it changes nothing. Then White presses, and Black again (Art. 6.2.2).
    world.shows("e2. e4P").wait(1000).shows("e7. e5p").wait(1000);
    world
        .times(true, true, [195, 200])
        .wait(500)
        .times(false, true, [194, 200]);
    world
        .wait(1500)
        .times(true, true, [194, 199])
        .has_announced("e4 e5");
    assert_eq!(
        world.pressed.iter().map(|(ply, _)| *ply).collect::<Vec<_>>(),
        [1, 2]
    );
}

#[test]
fn two_presses_between_two_readings_are_found_by_the_halted_time() {
    let mut world = World::new(START);
    world
        .times(true, false, [200, 200])
        .times(true, true, [200, 200])
        .wait(2000);
    world
        .times(true, true, [198, 200])
        .shows("e2. e4P")
        .wait(300)
        .shows("e7. e5p")
        .wait(300);
    world.times(true, true, [198, 199]).wait(1000);
    world.times(true, true, [197, 199]).has_announced("e4 e5");
    assert_eq!(world.pressed, [(1, None), (2, None)]);
}

/// The times at the player's next move do not belong to this ply.
#[test]
fn own_next_move_reports_no_clock() {
    let mut world = World::new(START);
    world.times(true, false, [200, 200]).times(true, true, [200, 200]);
    world
        .wait(1000)
        .shows("e2. e4P")
        .wait(3000)
        .shows("e7. e5p")
        .wait(3000);
    world.times(true, true, [190, 200]).shows("g1. f3N");
    world.has_announced("e4 e5 Nf3");
    assert_eq!(world.completion_times, [(1, None)]);
}

#[test]
fn times_that_jump_up_are_not_a_press() {
    let mut world = World::new(START);
    world
        .times(true, false, [2, 200])
        .times(true, true, [2, 200])
        .wait(1000);
    world.times(true, true, [1, 200]).wait(1000);
    world.times(true, true, [0, 200]);
    let flag = world.tracker.clock().and_then(|face| face.clock.flag);
    assert_eq!(flag, Some(Flag::White));
    // The time of the next period is added.
    world
        .times(true, true, [250, 200])
        .wait(1000)
        .times(true, true, [249, 200]);
    world.shows("e2. e4P").has_announced("e4");
    assert_eq!(world.pressed, []);
}

#[test]
fn a_clock_plugged_in_late_or_the_other_way_round_is_understood() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(3000).times(false, true, [200, 200]);
    assert_eq!(
        world.tracker.clock().and_then(|face| face.clock.running),
        Some(Color::Black)
    );
    world
        .wait(1000)
        .shows("e7. e5p")
        .wait(500)
        .times(true, true, [200, 190])
        .wait(1000);
    world.observe(Observation::ClockAbsent);
    world.wait(3000);
    assert_eq!(world.tracker.clock(), None);
    // The clock is turned round: Black's lever is up, and White is thinking.
    world.times(false, true, [190, 200]).wait(1000);
    world
        .shows("g1. f3N")
        .wait(500)
        .times(true, true, [190, 200])
        .wait(500);
    world
        .shows("b8. c6n")
        .wait(500)
        .times(false, true, [190, 199])
        .wait(500);
    world.has_announced("e4 e5 Nf3 Nc6");
    assert_eq!(
        world.tracker.clock().and_then(|face| face.clock.running),
        Some(Color::White)
    );
}

#[test]
fn a_press_does_not_complete_a_move_whose_reply_was_pressed() {
    let mut world = World::new(START);
    world.clock(true, false).clock(true, true);
    let asked = world.now;
    // White's first press is missing in the board's record, as a quick press can be.
    world.wait(1500).observe(Observation::Changes {
        elements: elements("e2. e4P e7. e5p L g1. f3N R"),
        not_before: asked,
        not_after: asked + Duration::from_millis(1500),
        from_before: false,
    });
    world.has_announced("e4 e5 Nf3");
    assert_eq!(
        world.pressed.iter().map(|(ply, _)| *ply).collect::<Vec<_>>(),
        [2, 3]
    );
}

#[test]
fn pieces_put_home_after_the_clock_was_stopped_are_withdrawn() {
    let game = |clock: bool, rest: u64| {
        let mut world = World::new(START);
        let press = |world: &mut World, turn: bool, running: bool| {
            if clock {
                world.clock(turn, running);
            }
            world.wait(1500);
        };
        press(&mut world, true, false);
        press(&mut world, true, true);
        let moves = ["e2. e4P", "e7. e5p", "g1. f3N", "g8. f6n"];
        for (squares, turn) in moves.into_iter().zip([false, true].into_iter().cycle()) {
            world.shows(squares).wait(1500);
            press(&mut world, turn, true);
        }
        press(&mut world, true, false);
        world.shows("f3. g1N").wait(1500).shows("f6. g8n").wait(rest);
        world.shows("e5. e7p e4. e2P");
        world.wait(4000).announced.join(" ")
    };
    assert_eq!(game(true, 4000), "e4 e5 Nf3 Nf6 Ng1 Ng8 set up from 5");
    // Without a clock, Ng1 and Ng8 may have been played, because the hands rested after them.
    assert_eq!(game(false, 4000), "e4 e5 Nf3 Nf6 Ng1 Ng8");
    // A ply that is not yet certain when the pawns go home was not played.
    assert_eq!(game(false, 1500), "e4 e5 Nf3 Nf6 Ng1 Ng8 set up from 6");
}

#[test]
fn without_a_clock_pieces_put_home_in_one_go_are_withdrawn() {
    let mut world = World::new(START);
    for squares in ["e2. e4P", "e7. e5p", "g1. f3N", "g8. f6n", "b1. c3N"] {
        world.shows(squares).wait(1500);
    }
    world
        .wait(2000)
        .shows("f6. g8n")
        .wait(1000)
        .shows("f3. g1N")
        .wait(1000);
    world.shows("e5. e7p e4. e2P c3. b1N");
    world.has_announced("e4 e5 Nf3 Nf6 Nc3 Ng8 Ng1 set up from 6");
}

#[test]
fn without_a_clock_many_pieces_put_home_in_one_go_are_withdrawn() {
    let mut world = World::new(START);
    for squares in ["e2. e4P", "e7. e5p", "g1. f3N", "g8. f6n", "b1. c3N", "b8. c6n"] {
        world.shows(squares).wait(1500);
    }
    world.wait(2000);
    for squares in ["f3. g1N", "f6. g8n", "c3. b1N", "c6. b8n"] {
        world.shows(squares).wait(1000);
    }
    world.shows("e5. e7p e4. e2P").wait(1000);
    world.has_announced("e4 e5 Nf3 Nf6 Nc3 Nc6 Ng1 Ng8 Nb1 Nb8 set up from 7");
}

/// A clock reading with White to move. White's times, in seconds, are on the right.
fn reading(white: u32, black: u32) -> ClockTimes {
    let side = |seconds: u32| SideTime {
        hours: u8::try_from(seconds / 3600).expect("a few hours"),
        minutes: u8::try_from(seconds / 60 % 60).expect("minutes"),
        seconds: u8::try_from(seconds % 60).expect("seconds"),
        flag_fallen: seconds == 0,
        ..SideTime::default()
    };
    ClockTimes {
        left: side(black),
        right: side(white),
        running: true,
        lever_right_high: true,
        rights_turn: true,
        ..ClockTimes::default()
    }
}

impl World {
    fn reads(&mut self, times: ClockTimes) -> &mut Self {
        self.observe(Observation::Clock {
            times,
            not_before: self.now,
        });
        self
    }

    /// The times of White and Black in seconds, and whether the clock shows a flag.
    fn face(&self) -> Option<(u64, u64, bool)> {
        let clock = self.tracker.clock()?.clock;
        Some((clock.white_ms / 1000, clock.black_ms / 1000, clock.flag.is_some()))
    }
}

/// White thinks, and the clock is read every second until it shows these times in seconds.
fn thinking(white: u32, black: u32) -> World {
    let mut world = World::new(START);
    let stopped = ClockTimes {
        running: false,
        rights_turn: false,
        ..reading(white + 2, black)
    };
    world
        .reads(stopped)
        .wait(1000)
        .reads(reading(white + 2, black))
        .wait(1000);
    world
        .reads(reading(white + 1, black))
        .wait(1000)
        .reads(reading(white, black))
        .wait(1000);
    world
}

/// BWTIME has no checksum, so a reading is ignored if the readings before and after contradict it.
#[test]
fn a_reading_between_two_that_contradict_it_is_noise() {
    let right = reading(6120, 6200);
    let noise = [
        reading(0, 6200),
        reading(6119, 0),
        reading(9719, 6200),
        reading(6119, 6199),
        ClockTimes {
            lever_right_high: false,
            ..reading(6119, 6200)
        },
        ClockTimes {
            battery_low: true,
            ..reading(6119, 6200)
        },
        ClockTimes {
            right: SideTime {
                flag_shown: true,
                ..right.right
            },
            ..reading(6119, 6200)
        },
    ];
    for noise in noise {
        let mut world = thinking(6120, 6200);
        world
            .reads(noise)
            .wait(1000)
            .reads(reading(6118, 6200))
            .wait(4000);
        assert_eq!(world.face(), Some((6118, 6200, false)), "{noise:?}");
        assert_eq!(world.clock_changes, ["Connected", "Started"], "{noise:?}");
    }
}

/// An answer that reports no clock disconnects the clock only if no reading follows.
#[test]
fn one_lost_answer_does_not_disconnect_the_clock() {
    let mut world = thinking(6120, 6200);
    world.observe(Observation::ClockAbsent);
    world.wait(1000).reads(reading(6118, 6200)).wait(9000);
    assert_eq!(world.clock_changes, ["Connected", "Started"]);
    world.observe(Observation::ClockAbsent);
    world.wait(4000);
    assert_eq!(world.clock_changes, ["Connected", "Started", "Disconnected"]);
}

/// A flag that falls from the last second is reported with the first reading that shows it. Any other flag is reported
/// with the second reading that shows it.
#[test]
fn a_flag_that_falls_is_seen_at_once() {
    let mut world = thinking(1, 200);
    assert_eq!(world.reads(reading(0, 200)).face(), Some((0, 200, true)));
    let mut world = thinking(90, 200);
    assert_eq!(world.reads(reading(0, 200)).face(), Some((90, 200, false)));
    assert_eq!(
        world.wait(1000).reads(reading(0, 200)).face(),
        Some((0, 200, true))
    );
    // A clock at zero sends no further readings.
    let mut world = thinking(90, 200);
    world.reads(reading(0, 200)).wait(3000);
    assert_eq!(world.face(), Some((0, 200, true)));
}

/// An arbiter sets a clock while it is stopped. The time of a new period is added when the flag falls.
#[test]
fn times_that_are_set_or_added_are_believed() {
    let mut world = thinking(6120, 6200);
    let stopped = |white, black| ClockTimes {
        running: false,
        ..reading(white, black)
    };
    world
        .reads(stopped(6119, 6200))
        .wait(1000)
        .reads(stopped(6119, 6320));
    assert_eq!(world.face(), Some((6119, 6320, false)));
    let mut world = thinking(1, 6200);
    world
        .reads(reading(0, 6200))
        .wait(1000)
        .reads(reading(1800, 6200))
        .wait(1000);
    assert_eq!(world.reads(reading(1799, 6200)).face(), Some((1799, 6200, false)));
}
