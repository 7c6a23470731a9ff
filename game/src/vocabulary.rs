//! Closed vocabularies: the words of events, each an enum with one spelling for every variant.

use core::fmt;

use serde::{Deserialize, Deserializer};
use thiserror::Error;

/// A word that the vocabulary lacks, from a newer version or from damaged data.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown {vocabulary} {word:?}")]
pub struct UnknownWord {
    /// The kind of word, as in "end reason".
    pub vocabulary: &'static str,
    /// The unknown spelling.
    pub word: String,
}

/// Deserializes one of `words`.
///
/// # Errors
///
/// Fails if the value is not a string, or not one of the words; the message quotes the value.
pub fn deserialize<'de, W, D>(
    deserializer: D,
    vocabulary: &'static str,
    words: &[W],
    as_str: impl Fn(W) -> &'static str,
) -> Result<W, D::Error>
where
    W: Copy,
    D: Deserializer<'de>,
{
    let word = String::deserialize(deserializer)?;
    find(&word, vocabulary, words, as_str).map_err(serde::de::Error::custom)
}

/// Finds one of `words` by its spelling.
///
/// # Errors
///
/// Fails if no word has this spelling; the message quotes the spelling.
pub fn find<W: Copy>(
    word: &str,
    vocabulary: &'static str,
    words: &[W],
    as_str: impl Fn(W) -> &'static str,
) -> Result<W, UnknownWord> {
    let known = words.iter().copied().find(|known| as_str(*known) == word);
    known.ok_or_else(|| UnknownWord {
        vocabulary,
        word: word.to_owned(),
    })
}

/// Writes a word, respecting the width and alignment of the formatter.
pub fn display(word: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.pad(word)
}

/// A player by colour, in JSON "white" or "black".
pub mod color {
    use serde::{Deserializer, Serializer};
    use shakmaty::Color;

    const ALL: &[Color] = &Color::ALL;

    /// The word for a colour.
    #[must_use]
    pub const fn as_str(color: Color) -> &'static str {
        match color {
            Color::White => "white",
            Color::Black => "black",
        }
    }

    /// For serde: writes the word.
    ///
    /// # Errors
    ///
    /// Fails if the serializer does.
    pub fn serialize<S: Serializer>(color: &Color, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(as_str(*color))
    }

    /// For serde: reads the word.
    ///
    /// # Errors
    ///
    /// Fails if the value is not one of the words.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Color, D::Error> {
        super::deserialize(deserializer, "colour", ALL, as_str)
    }

    /// An optional player colour, in JSON "white", "black" or null.
    pub mod option {
        use serde::{Deserialize, Deserializer, Serialize, Serializer};
        use shakmaty::Color;

        #[derive(Deserialize)]
        #[serde(transparent)]
        struct Named(#[serde(with = "super")] Color);

        /// For serde: writes the word or null.
        ///
        /// # Errors
        ///
        /// Fails if the serializer does.
        pub fn serialize<S: Serializer>(color: &Option<Color>, serializer: S) -> Result<S::Ok, S::Error> {
            color.map(super::as_str).serialize(serializer)
        }

        /// For serde: reads a word or null.
        ///
        /// # Errors
        ///
        /// Fails if the value is neither a word nor null.
        pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Color>, D::Error> {
            Ok(Option::<Named>::deserialize(deserializer)?.map(|Named(color)| color))
        }
    }
}

/// Defines a vocabulary: the kind of its words, then an enum with a word for each variant.
#[doc(hidden)]
#[macro_export]
macro_rules! vocabulary {
    (
        $vocabulary:literal
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident { $($(#[$variant_meta:meta])* $Variant:ident = $word:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        $vis enum $Name { $($(#[$variant_meta])* $Variant,)+ }

        impl $Name {
            /// All words, in the order of the documentation.
            $vis const ALL: &'static [Self] = &[$(Self::$Variant),+];

            /// The word as written in events.
            #[must_use]
            $vis const fn as_str(self) -> &'static str {
                match self { $(Self::$Variant => $word,)+ }
            }
        }

        $crate::spelled!($Name, $vocabulary);
    };
}

/// Implements `Display`, `Serialize` and `Deserialize` for an enum with `ALL` and `as_str`, using the spellings.
#[doc(hidden)]
#[macro_export]
macro_rules! spelled {
    ($Name:ident, $vocabulary:literal) => {
        impl ::core::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                $crate::vocabulary::display(self.as_str(), f)
            }
        }

        impl ::serde::Serialize for $Name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $Name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::vocabulary::deserialize(deserializer, $vocabulary, Self::ALL, Self::as_str)
            }
        }
    };
}

#[cfg(test)]
#[expect(unreachable_pub, reason = "the macro makes vocabularies for all to use")]
mod tests {
    use serde_json::json;

    vocabulary! {
        "colour of a lamp"
        /// A lamp.
        pub enum Lamp {
            /// Stop.
            Red = "red",
            /// Go on.
            DarkGreen = "dark_green",
        }
    }

    #[test]
    fn words_round_trip_by_their_spelling() {
        for lamp in Lamp::ALL {
            assert_eq!(json!(lamp), json!(lamp.as_str()));
            assert_eq!(serde_json::from_value::<Lamp>(json!(lamp)).ok(), Some(*lamp));
        }
        assert_eq!(format!("{:<4}|", Lamp::Red), "red |");
        assert_eq!(Lamp::DarkGreen.as_str(), "dark_green");
    }

    #[test]
    fn an_unknown_word_is_named_in_the_error() {
        let error = serde_json::from_value::<Lamp>(json!("blue")).expect_err("no such word");
        assert_eq!(error.to_string(), "unknown colour of a lamp \"blue\"");
    }
}
