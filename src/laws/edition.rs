//! Editions of the Laws and modes of play, by the names that people give them.

use core::fmt;
use core::str::FromStr;

use thiserror::Error;

/// Editions by name and day, oldest first. A new one is a line here, and a cell in `table.rs` or `articles.rs` for each
/// rule that changed with it.
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

            /// Its name, as in "fide-2023".
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$edition => $name,)+
                }
            }

            /// The day from which it is in force, as in "2023-01-01".
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

/// A mode of play, by the time that a player has for all his moves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// An hour and more.
    #[default]
    Standard,
    /// More than ten minutes and less than an hour (1997: 15 minutes to an hour).
    Rapid,
    /// Ten minutes and less (1997 and 2009: less than 15).
    Blitz,
}

/// A mode of play and whether it is fully supervised: with the edition, what a rule may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Play {
    /// Standard.
    S,
    /// Rapid, supervised: the competition rules apply.
    Rs,
    /// Rapid, not so supervised: the rules of the appendix apply.
    Ru,
    /// Blitz, supervised.
    Bs,
    /// Blitz, not so supervised.
    Bu,
}

/// A text that names no edition.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is no edition of the Laws: {}", names(Edition::ALL.iter().map(|edition| edition.name())))]
pub struct NoEdition {
    /// The text.
    pub text: String,
}

/// A text that names no mode of play.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is no mode of play: {}", names(Mode::ALL.iter().map(|mode| mode.name())))]
pub struct NoMode {
    /// The text.
    pub text: String,
}

impl Mode {
    /// All modes, the longest games first.
    pub const ALL: [Self; 3] = [Self::Standard, Self::Rapid, Self::Blitz];

    /// Its name, as in "rapid".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Rapid => "rapid",
            Self::Blitz => "blitz",
        }
    }

    /// The mode and its supervision; standard play has no appendix.
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
    type Err = NoEdition;

    fn from_str(text: &str) -> Result<Self, NoEdition> {
        let found = Self::ALL.iter().find(|edition| edition.name() == text);
        found.copied().ok_or_else(|| NoEdition {
            text: text.to_owned(),
        })
    }
}

impl FromStr for Mode {
    type Err = NoMode;

    fn from_str(text: &str) -> Result<Self, NoMode> {
        let found = Self::ALL.into_iter().find(|mode| mode.name() == text);
        found.ok_or_else(|| NoMode {
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn names(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
