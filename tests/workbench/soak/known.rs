//! The rounds with known errors, in `known.txt`. The list must only shrink.

use core::fmt;
use core::ops::Range;
use core::str::FromStr;
use std::collections::BTreeSet;

/// The power supply of the boards in a round. It determines how the round is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Power {
    /// Own power: boards remember changes while they are unplugged, and every game must be exactly right.
    Own,
    /// Power over the cable: every game must be right, or its gap reported.
    Cable,
}

impl Power {
    /// Returns the seeds that the list covers completely.
    pub const fn listed_seeds(self) -> Range<u64> {
        match self {
            Self::Own => 1..21,
            Self::Cable => 1..14,
        }
    }
}

impl FromStr for Power {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "own" => Ok(Self::Own),
            "cable" => Ok(Self::Cable),
            _ => Err(format!("{text:?} is no power: own or cable")),
        }
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "own",
            Self::Cable => "cable",
        })
    }
}

/// A board of a round that has an error. `board` counts from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub power: Power,
    pub seed: u64,
    pub board: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.power, self.seed, self.board)
    }
}

/// The differences between the errors found in a round and the list.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Wrong, but not on the list.
    pub unlisted: Vec<Place>,
    /// On the list, but right.
    pub mended: Vec<Place>,
}

impl Difference {
    /// Compares the boards of one round with errors, counted from 1, with the list.
    pub fn of_round(power: Power, seed: u64, wrong: &[usize], list: &[Place]) -> Self {
        let found: BTreeSet<Place> = wrong.iter().map(|&board| Place { power, seed, board }).collect();
        let listed: BTreeSet<Place> = list
            .iter()
            .copied()
            .filter(|place| (place.power, place.seed) == (power, seed))
            .collect();
        Self {
            unlisted: found.difference(&listed).copied().collect(),
            mended: listed.difference(&found).copied().collect(),
        }
    }

    pub fn is_none(&self) -> bool {
        self.unlisted.is_empty() && self.mended.is_empty()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in &self.unlisted {
            writeln!(f, "wrong, and not in tests/workbench/soak/known.txt: {place}")?;
        }
        for place in &self.mended {
            writeln!(
                f,
                "right: remove this line from tests/workbench/soak/known.txt: {place}"
            )?;
        }
        Ok(())
    }
}

/// Returns the list. Each line has power, seed and board; the rest of the line describes the error.
pub fn list() -> Vec<Place> {
    let lines = include_str!("known.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| place(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn place(line: &str) -> Result<Place, String> {
    let mut words = line.split_whitespace();
    let mut word = |field: &str| words.next().ok_or_else(|| format!("{field} is missing"));
    let place = Place {
        power: word("the power")?.parse()?,
        seed: word("the seed")?.parse().map_err(|_| "the seed is no number")?,
        board: word("the board")?.parse().map_err(|_| "the board is no number")?,
    };
    word("what is wrong")?;
    Ok(place)
}

#[test]
fn the_list_only_shrinks() {
    /// Must only be lowered.
    const LINES: usize = 3;
    let list = list();
    assert!(list.is_sorted_by(|a, b| a < b), "in order, each once");
    assert_eq!(
        list.len(),
        LINES,
        "with a line less, lower LINES; with a line more, mend what the line is about"
    );
    for place in list {
        assert!(place.power.listed_seeds().contains(&place.seed), "{place}");
    }
}

#[test]
fn differences_from_the_list_are_named_in_both_directions() {
    let place = |seed, board| Place {
        power: Power::Own,
        seed,
        board,
    };
    let list = [place(3, 2), place(3, 5), place(4, 1)];
    let difference = |wrong: &[usize]| Difference::of_round(Power::Own, 3, wrong, &list);
    assert!(difference(&[2, 2, 5]).is_none());
    let one_is_right = Difference {
        mended: vec![place(3, 2)],
        unlisted: vec![place(3, 7)],
    };
    assert_eq!(difference(&[5, 7, 7]), one_is_right);
    assert!(Difference::of_round(Power::Cable, 3, &[], &list).is_none());
}
