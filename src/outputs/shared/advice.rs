//! Advice to the arbiter in languages other than that of the event, from the catalogues of `laws`.

use std::collections::BTreeMap;

use kiebitz_game::events::Incident;
use kiebitz_game::laws::{self, Language};
use serde_json::Value;
use shakmaty::san::SanPlus;

use super::notation::Letters;

/// Names of the advice values that hold one or several moves in English SAN.
pub(in crate::outputs) const MOVES: [&str; 3] = ["played", "moves", "intended"];

/// Advice for an incident in a language, filled with `values`. Falls back to the text of the event if the catalogue has
/// no text for its case.
pub(in crate::outputs) fn advice(
    language: Language,
    incident: &Incident,
    values: &BTreeMap<String, Value>,
) -> String {
    let text = laws::text(language, &incident.case, values);
    if text.is_empty() {
        incident.advice.clone()
    } else {
        text
    }
}

/// Advice for an incident in every language, by language code, for pages on which the reader chooses the language.
pub(crate) fn in_all_languages(incident: &Incident) -> BTreeMap<&'static str, String> {
    let languages = Language::ALL.iter();
    let all = languages.map(|language| {
        let mut values = incident.evidence.values.clone();
        for name in MOVES {
            if let Some(Value::String(moves)) = values.get_mut(name) {
                *moves = with_letters(*language, moves);
            }
        }
        (language.code(), advice(*language, incident, &values))
    });
    all.collect()
}

/// Replaces the piece letters in English SAN moves, separated by spaces or commas, by those of a language. Words that
/// are not moves are left unchanged.
fn with_letters(language: Language, moves: &str) -> String {
    let Some(letters) = Letters::of(language.code()) else {
        return moves.to_owned();
    };
    let translate = |text: &str| {
        let (name, comma) = text.strip_suffix(',').map_or((text, ""), |name| (name, ","));
        if name.parse::<SanPlus>().is_err() {
            return text.to_owned();
        }
        let mut translated = String::new();
        for c in name.chars() {
            match c {
                'K' => translated.push_str(letters.king),
                'Q' => translated.push_str(letters.queen),
                'R' => translated.push_str(letters.rook),
                'B' => translated.push_str(letters.bishop),
                'N' => translated.push_str(letters.knight),
                other => translated.push(other),
            }
        }
        translated + comma
    };
    moves.split(' ').map(translate).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_have_the_letters_of_the_language() {
        let moves = "Nf3, bxc8=Q+ O-O ♘f3 and Bb5";
        assert_eq!(with_letters(Language::English, moves), moves);
        assert_eq!(
            with_letters(Language::German, moves),
            "Sf3, bxc8=D+ O-O ♘f3 and Lb5"
        );
    }
}
