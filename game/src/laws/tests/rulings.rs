//! Rulings that follow from the rules alone, each with its article.

mod games;
mod offences;
mod wording;

use shakmaty::Color;

use crate::laws::*;
use crate::laws::{Edition, Mode};

const WHITE: Option<Color> = Some(Color::White);

fn rules(edition: Edition, play: Play) -> Rules {
    let (mode, supervised) = match play {
        Play::S => (Mode::Standard, true),
        Play::Rs => (Mode::Rapid, true),
        Play::Ru => (Mode::Rapid, false),
        Play::Bs => (Mode::Blitz, true),
        Play::Bu => (Mode::Blitz, false),
    };
    Rules {
        edition,
        mode,
        supervised,
        ..Rules::default()
    }
}

fn english(advice: &Advice) -> String {
    text(Language::English, advice.case, &advice.values)
}
