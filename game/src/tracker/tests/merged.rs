//! Tests of pieces that stood so briefly that the memory records only that their square was emptied.

use core::time::Duration;

use kiebitz_hardware::{Observation, Timestamp};
use kiebitz_protocol::Element;

use super::gaps::elements;
use super::{START, World};

/// A pawn goes two squares and is captured en passant before it has stood for a scan. The pawn on d6 hides the square
/// of a single step.
const TAKEN_AT_ONCE: &str = "d7. d5.' e5.' d6P'";
/// The placement after the capture.
const TAKEN: &str = "rnbqkbnr.pp.ppppp..P............................PPPP.PPPRNBQKBNR";

/// A board that is polled every second, after 1. e4 a6 2. e5.
struct Polled {
    world: World,
    until: Timestamp,
}

impl Polled {
    fn new() -> Self {
        let world = World::new(START);
        let until = world.now;
        let mut polled = Self { world, until };
        for text in ["e2. e4P", "", "a7. a6p", "", "e4. e5P", ""] {
            polled.answers(&elements(text));
        }
        polled
    }

    fn answers(&mut self, elements: &[Element]) {
        let not_before = self.until;
        self.until = not_before + Duration::from_secs(1);
        self.world.wait(1000).observe(Observation::Changes {
            elements: elements.to_vec(),
            not_before,
            not_after: self.until,
            from_before: false,
        });
    }
}

#[test]
fn a_piece_captured_at_once_is_known_wherever_a_poll_ends() {
    let taken = elements(TAKEN_AT_ONCE);
    for cut in 0..taken.len() {
        let mut polled = Polled::new();
        polled.answers(&taken[..cut]);
        polled.answers(&taken[cut..]);
        (0..5).for_each(|_| polled.answers(&[]));
        assert_eq!(
            polled.world.announced.join(" "),
            "e4 a6 e5 d5 exd6",
            "cut at {cut}"
        );
    }
}

#[test]
fn a_piece_captured_at_once_is_known_wherever_a_gap_begins() {
    let taken = elements(TAKEN_AT_ONCE);
    for heard in ["", "d7."] {
        let mut world = World::new(START);
        for text in ["e2. e4P", "a7. a6p", "e4. e5P", heard] {
            world.shows(text).wait(4000);
        }
        let reason = "unplugged".to_owned();
        world.observe(Observation::Closed { reason });
        world.fields = World::new(TAKEN).fields;
        world.wait(8000).observe(Observation::Opened);
        world.dump().observe(Observation::MemoryAsked);
        let before = elements("e2. e4P a7. a6p e4. e5P");
        let elements = [&[Element::StartPosition][..], &before, &taken, &[Element::End]].concat();
        world.observe(Observation::Memory { elements });
        world.has_announced("e4 a6 e5 Memory: d5 exd6");
    }
}
