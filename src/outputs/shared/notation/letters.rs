//! Piece letters by language.

/// The piece letters of one language.
#[derive(Debug, PartialEq, Eq)]
pub struct Letters {
    /// BCP 47 tag of the language: "de".
    pub tag: &'static str,
    /// English name of the language.
    pub name: &'static str,
    /// King.
    pub king: &'static str,
    /// Queen.
    pub queen: &'static str,
    /// Rook.
    pub rook: &'static str,
    /// Bishop.
    pub bishop: &'static str,
    /// Knight.
    pub knight: &'static str,
    /// Whether the letters were checked against the Laws in this language. Unchecked letters are general knowledge.
    pub checked: bool,
}

impl Letters {
    /// Finds the letters of a language by its tag, in any case and also with a region, as in "de-CH".
    #[must_use]
    pub fn of(tag: &str) -> Option<&'static Self> {
        let language = tag.split(['-', '_']).next().unwrap_or_default();
        LETTERS
            .iter()
            .find(|letters| letters.tag.eq_ignore_ascii_case(language))
    }

    /// The five letters, separated by spaces, king first.
    #[must_use]
    pub fn all(&self) -> String {
        [self.king, self.queen, self.rook, self.bishop, self.knight].join(" ")
    }
}

/// The letters of all supported languages.
pub static LETTERS: [Letters; 25] = [
    of("en", "English", ["K", "Q", "R", "B", "N"]).checked(),
    of("de", "German", ["K", "D", "T", "L", "S"]).checked(),
    of("fr", "French", ["R", "D", "T", "F", "C"]),
    of("es", "Spanish", ["R", "D", "T", "A", "C"]),
    of("it", "Italian", ["R", "D", "T", "A", "C"]),
    of("pt", "Portuguese", ["R", "D", "T", "B", "C"]),
    of("nl", "Dutch", ["K", "D", "T", "L", "P"]),
    of("sv", "Swedish", ["K", "D", "T", "L", "S"]),
    of("da", "Danish", ["K", "D", "T", "L", "S"]),
    of("nb", "Norwegian", ["K", "D", "T", "L", "S"]),
    of("fi", "Finnish", ["K", "D", "T", "L", "R"]),
    of("pl", "Polish", ["K", "H", "W", "G", "S"]),
    of("cs", "Czech", ["K", "D", "V", "S", "J"]),
    of("sk", "Slovak", ["K", "D", "V", "S", "J"]),
    of("hu", "Hungarian", ["K", "V", "B", "F", "H"]),
    of("ro", "Romanian", ["R", "D", "T", "N", "C"]),
    of("hr", "Croatian", ["K", "D", "T", "L", "S"]),
    of("sr", "Serbian", ["K", "D", "T", "L", "S"]), // in Latin script
    of("tr", "Turkish", ["Ş", "V", "K", "F", "A"]),
    of("ru", "Russian", ["Кр", "Ф", "Л", "С", "К"]),
    of("uk", "Ukrainian", ["Кр", "Ф", "Т", "С", "К"]),
    of("el", "Greek", ["Ρ", "Β", "Π", "Α", "Ι"]),
    of("is", "Icelandic", ["K", "D", "H", "B", "R"]),
    of("et", "Estonian", ["K", "L", "V", "O", "R"]),
    of("no", "Norwegian", ["K", "D", "T", "L", "S"]), // common tag for "nb"
];

const fn of(
    tag: &'static str,
    name: &'static str,
    [king, queen, rook, bishop, knight]: [&'static str; 5],
) -> Letters {
    Letters {
        tag,
        name,
        king,
        queen,
        rook,
        bishop,
        knight,
        checked: false,
    }
}

impl Letters {
    const fn checked(self) -> Self {
        Self {
            checked: true,
            ..self
        }
    }
}
