use std::collections::BTreeSet;

use super::*;

const FILES: [&str; 2] = [include_str!("en.toml"), include_str!("de.toml")];

fn placeholders(mut text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    while let Some((_, name, after)) = next_placeholder(text) {
        names.insert(name);
        text = after;
    }
    names
}

/// The placeholders of every text, by section, table and name.
fn shape(catalogue: &Catalogue) -> BTreeMap<(&str, &str, &str), BTreeSet<&str>> {
    let sections = [("cases", &catalogue.cases), ("words", &catalogue.words)];
    let answers = catalogue.answers.iter();
    let mut shape: BTreeMap<_, _> = answers
        .map(|(name, text)| (("answers", name.as_str(), ""), placeholders(text)))
        .collect();
    for (section, tables) in sections {
        for (table, texts) in tables {
            for (key, text) in texts {
                shape.insert((section, table.as_str(), key.as_str()), placeholders(text));
            }
        }
    }
    shape
}

#[test]
fn every_catalogue_can_be_read() {
    for file in FILES {
        let catalogue: Catalogue = toml::from_str(file).expect("a catalogue");
        assert!(catalogue.cases.len() > 20);
    }
    assert_eq!(FILES.len(), Language::ALL.len());
}

#[test]
fn all_catalogues_have_the_same_cases_words_and_placeholders() {
    let english = shape(Language::English.catalogue());
    for language in Language::ALL {
        let other = shape(language.catalogue());
        for (place, names) in &english {
            assert_eq!(other.get(place), Some(names), "{language}: {place:?}");
        }
        assert_eq!(
            other.len(),
            english.len(),
            "{language} has texts that English has not"
        );
    }
}

#[test]
fn line_breaks_in_a_catalogue_are_spaces() {
    let values = BTreeMap::from([("color".to_owned(), Value::from("white"))]);
    let plain = text(Language::English, "time_trouble.one", &values);
    assert!(!plain.contains('\n') && !plain.contains("  "), "{plain}");
    assert!(plain.starts_with("White has less than five minutes"), "{plain}");
}

#[test]
fn a_number_selects_its_word_form() {
    let minutes = |minutes: u32| {
        let values = BTreeMap::from([("minutes".to_owned(), Value::from(minutes))]);
        text(Language::German, "late_start.not_running", &values)
    };
    assert!(minutes(1).contains("vor einer Minute begonnen"));
    assert!(minutes(17).contains("vor 17 Minuten begonnen"));
}

#[test]
fn a_value_that_looks_like_a_placeholder_is_not_replaced() {
    let values = BTreeMap::from([
        ("square".to_owned(), Value::from("{color}")),
        ("color".to_owned(), Value::from("white")),
    ]);
    let text = text(Language::English, "sensor_fault.look", &values);
    assert!(text.contains("on {color} "), "{text}");
}

#[test]
fn an_unknown_case_has_an_empty_text() {
    assert_eq!(text(Language::English, "no.such", &BTreeMap::new()), "");
    assert_eq!(text(Language::English, "nothing", &BTreeMap::new()), "");
}

#[test]
fn languages_are_known_by_their_codes() {
    assert_eq!("de".parse(), Ok(Language::German));
    let refused = "fr".parse::<Language>().expect_err("no catalogue");
    assert_eq!(
        refused.to_string(),
        "\"fr\" is not a supported language; expected one of en, de"
    );
}
