//! Editions of the Laws and modes of play, by name.

use core::str::FromStr;

use thiserror::Error;

/// Editions by name and day, oldest first. A new edition needs a line here, and a cell in `table.rs` or `articles.rs`
/// for each rule that it changes.
macro_rules! editions {
    ($($edition:ident $name:literal $in_force:literal $(#[$default:meta])?),+ $(,)?) => {
        /// An edition of FIDE's Laws of Chess.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Edition {
            $(
                #[doc = concat!("In force from ", $in_force, ".")]
                $(#[$default])?
                $edition,
            )+
        }

        impl Edition {
            /// All editions, oldest first.
            pub const ALL: &'static [Self] = &[$(Self::$edition),+];

            /// The name, as in "fide-2023".
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$edition => $name,)+
                }
            }

            /// The day on which the edition came into force, as in "2023-01-01".
            #[must_use]
            pub const fn in_force(self) -> &'static str {
                match self {
                    $(Self::$edition => $in_force,)+
                }
            }
        }
    };
}

editions! {
    Fide1997 "fide-1997" "1997-07-01",
    Fide2009 "fide-2009" "2009-07-01",
    Fide2014 "fide-2014" "2014-07-01",
    Fide2017 "fide-2017" "2017-07-01",
    Fide2018 "fide-2018" "2018-01-01",
    Fide2023 "fide-2023" "2023-01-01" #[default],
}

spelled!(Edition, "edition");

vocabulary! {
    "mode of play"
    /// A mode of play, determined by the time that a player has for all moves.
    #[derive(Default)]
    pub enum Mode {
        /// At least an hour.
        #[default]
        Standard = "standard",
        /// More than ten minutes and less than an hour (1997: 15 minutes to an hour).
        Rapid = "rapid",
        /// At most ten minutes (1997 and 2009: less than 15).
        Blitz = "blitz",
    }
}

/// A mode of play and its supervision: together with the edition, they select a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Play {
    /// Standard.
    S,
    /// Rapid, supervised: the competition rules apply.
    Rs,
    /// Rapid, not fully supervised: the rules of the appendix apply.
    Ru,
    /// Blitz, supervised.
    Bs,
    /// Blitz, not fully supervised.
    Bu,
}

/// A text that does not name an edition.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is not an edition of the Laws; expected one of {}", names(Edition::ALL.iter().map(|edition| edition.as_str())))]
pub struct UnknownEdition {
    /// The text.
    pub text: String,
}

/// A text that does not name a mode of play.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is not a mode of play; expected one of {}", names(Mode::ALL.iter().map(|mode| mode.as_str())))]
pub struct UnknownMode {
    /// The text.
    pub text: String,
}

impl Mode {
    /// Combines the mode with its supervision, which makes no difference in standard play.
    #[must_use]
    pub const fn play(self, supervised: bool) -> Play {
        match (self, supervised) {
            (Self::Standard, _) => Play::S,
            (Self::Rapid, true) => Play::Rs,
            (Self::Rapid, false) => Play::Ru,
            (Self::Blitz, true) => Play::Bs,
            (Self::Blitz, false) => Play::Bu,
        }
    }
}

impl FromStr for Edition {
    type Err = UnknownEdition;

    fn from_str(text: &str) -> Result<Self, UnknownEdition> {
        let found = Self::ALL.iter().find(|edition| edition.as_str() == text);
        found.copied().ok_or_else(|| UnknownEdition {
            text: text.to_owned(),
        })
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        let found = Self::ALL.iter().find(|mode| mode.as_str() == text);
        found.copied().ok_or_else(|| UnknownMode {
            text: text.to_owned(),
        })
    }
}

fn names(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
