//! Comparison of names: which spellings denote the same person.

/// Returns the comparison key of a name, which is equal for all its usual spellings.
///
/// Case, accents, punctuation, titles and the order of the parts do not matter: "GM Müller-Lüdenscheid, José" equals
/// "Jose Mueller Ludenscheid". An umlaut or similar letter that is written as two letters is reduced to its base
/// letter: "ae" becomes "a".
#[must_use]
pub(crate) fn key(name: &str) -> String {
    let mut words = words(name);
    if words.len() > 2
        && words
            .first()
            .is_some_and(|first| TITLES.contains(&first.as_str()))
    {
        words.remove(0);
    }
    let is_name_part = |word: &String| !DEGREES.contains(&word.as_str());
    if words.iter().filter(|word| is_name_part(word)).count() > 1 {
        words.retain(is_name_part);
    }
    words.sort();
    words.join(" ")
}

/// Returns whether two names have a word in common, as spellings of one name usually do.
#[must_use]
pub(super) fn share_a_word(one: &str, other: &str) -> bool {
    let others = words(other);
    words(one)
        .iter()
        .any(|word| word.len() > 1 && others.contains(word))
}

/// Returns whether the text of a name field means that there is no player, for example "bye".
#[must_use]
pub(super) fn is_nobody(name: &str) -> bool {
    let words = words(name);
    let joined = words.join(" ");
    joined.is_empty() || joined.chars().all(|c| c == 'n' || c == ' ') || NOBODY.contains(&joined.as_str())
}

/// Splits a title off a name such as "GM Adler, Jonas". Leaves the name whole if the rest does not look like a name.
#[must_use]
pub(super) fn without_title(name: &str) -> (&str, Option<&str>) {
    let Some((first, rest)) = name.split_once(' ') else {
        return (name, None);
    };
    let is_title = TITLES.contains(&first.to_lowercase().as_str()) && first == first.to_uppercase();
    let is_name = rest.contains(',') || rest.chars().any(char::is_lowercase);
    match is_title && is_name {
        true => (rest.trim(), Some(first)),
        false => (name, None),
    }
}

fn words(name: &str) -> Vec<String> {
    let folded = folded(name);
    let words = folded.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(without_digraphs)
        .collect()
}

/// Converts text to lower case and removes accents and apostrophes.
#[must_use]
pub(super) fn folded(name: &str) -> String {
    let mut folded = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        match c {
            // Apostrophes within a word: O'Neil equals ONeil.
            '\'' | '’' | '‘' | '`' | '´' => {}
            // Combining marks, which follow their letter.
            '\u{300}'..='\u{36f}' => {}
            // Most letters. Searching the table for each of them takes most of the time of reading a file.
            c if c.is_ascii() => folded.push(c),
            c => match FOLDED.iter().find(|(letters, _)| letters.contains(c)) {
                Some((_, base)) => folded.push_str(base),
                None => folded.push(c),
            },
        }
    }
    folded
}

/// Reduces umlauts and similar letters that are written as two letters to their base letter.
fn without_digraphs(word: &str) -> String {
    word.replace("ae", "a")
        .replace("oe", "o")
        .replace("ue", "u")
        .replace("aa", "a")
}

/// Lower-case letters with accents, and the same letter without.
const FOLDED: &[(&str, &str)] = &[
    ("áàâäãåāăąæǎạảấầẩẫậắằẳẵặ", "a"),
    ("çćĉċč", "c"),
    ("ďđð", "d"),
    ("éèêëēĕėęěẹẻẽếềểễệ", "e"),
    ("ĝğġģ", "g"),
    ("ĥħ", "h"),
    ("íìîïĩīĭįıỉị", "i"),
    ("ĵ", "j"),
    ("ķ", "k"),
    ("ĺļľŀł", "l"),
    ("ñńņňŋ", "n"),
    ("óòôöõøōŏőœơọỏốồổỗộớờởỡợ", "o"),
    ("ŕŗř", "r"),
    ("śŝşšș", "s"),
    ("ß", "ss"),
    ("ţťŧț", "t"),
    ("þ", "th"),
    ("úùûüũūŭůűųưụủứừửữự", "u"),
    ("ŵ", "w"),
    ("ýÿŷỳỵỷỹ", "y"),
    ("źżž", "z"),
];

/// Titles, in lower case.
const TITLES: &[&str] = &[
    "gm", "im", "fm", "cm", "nm", "wgm", "wim", "wfm", "wcm", "wnm", "agm", "aim", "afm", "acm",
];

const DEGREES: &[&str] = &["dr", "prof", "mr", "mrs", "ms", "jr", "ing", "mag"];

/// Normalised words for a missing opponent, in several languages.
const NOBODY: &[&str] = &[
    "bye",
    "bye bye",
    "spielfrei",
    "spielfrei spielfrei",
    "freilos",
    "exempt",
    "descansa",
    "riposo",
    "vrij",
    "wolny los",
    "pauza",
    "nobody",
    "no opponent",
    "not paired",
    "unpaired",
    "not known",
    "unknown",
    "vacant",
    "brett nicht besetzt",
    "nicht besetzt",
    "unbesetzt",
    "board not occupied",
    "not occupied",
    "half point bye",
    "zero point bye",
    "full point bye",
    "pairing allocated bye",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_name_have_the_same_key() {
        for (one, other) in [
            ("Adler, Jonas", "Jonas Adler"),
            ("Adler, Jonas", "ADLER Jonas"),
            ("Adler,Jonas", "Adler Jonas"),
            ("Müller, Zoë", "Mueller, Zoe"),
            ("Müller, Zoë", "Muller, Zoe"),
            ("Mu\u{308}ller, Zoe", "Müller, Zoë"),
            ("Groß, Ida", "Gross, Ida"),
            ("Ångström, Åse", "Aangstrom, Ase"),
            ("Łoś, Ewa", "Los, Ewa"),
            ("O'Neil, Pat", "ONeil, Pat"),
            ("Berg-Lind, Ina", "Berg Lind, Ina"),
            ("GM Adler, Jonas", "Adler, Jonas"),
            ("Adler, Jonas, Dr.", "Dr. Jonas Adler"),
        ] {
            assert_eq!(key(one), key(other), "{one} and {other}");
        }
        for (one, other) in [
            ("Adler, Jonas", "Adler, Jona"),
            ("Adler, J", "Adler, Jonas"),
            ("Im, Sora", "Sora, Kim"),
        ] {
            assert_ne!(key(one), key(other), "{one} and {other}");
        }
        assert_eq!(key("Im, Sora"), "im sora");
        assert!(share_a_word("Adler, J", "Adler, Jonas") && !share_a_word("Adler, J", "Berg, J"));
    }

    #[test]
    fn placeholders_for_a_missing_player_are_recognized() {
        for name in [
            "",
            "?",
            "-",
            "BYE",
            "bye",
            "Bye, Bye",
            "NN",
            "NN, NN",
            "N.N.",
            "N, N",
            "spielfrei",
            "Exempt",
            "Brett nicht besetzt",
        ] {
            assert!(is_nobody(name), "{name}");
        }
        for name in ["Bye, Anna", "Nunn", "Ng", "Frei, Max"] {
            assert!(!is_nobody(name), "{name}");
        }
    }

    #[test]
    fn only_a_title_before_a_full_name_is_split_off() {
        assert_eq!(without_title("GM Adler, Jonas"), ("Adler, Jonas", Some("GM")));
        assert_eq!(without_title("Im, Sora"), ("Im, Sora", None));
        assert_eq!(without_title("IM SORA"), ("IM SORA", None));
        assert_eq!(without_title("Adler"), ("Adler", None));
    }
}
