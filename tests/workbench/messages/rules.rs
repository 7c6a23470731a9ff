//! Rules for all texts. Each of them has found texts that were hard to understand.

use std::sync::LazyLock;

use super::{Kind, Text, all};

/// Collected once for all rules.
static TEXTS: LazyLock<Vec<Text>> = LazyLock::new(all);

#[test]
fn every_kind_of_text_is_collected() {
    let texts = &*TEXTS;
    let has = |kind, file: &str, text: &str| {
        let found = texts
            .iter()
            .any(|entry| entry.kind == kind && entry.file.ends_with(file) && entry.text == text);
        assert!(found, "{kind:?} in {file}: {text}");
    };
    has(
        Kind::Error,
        "outputs/mqtt/lost.rs",
        "the broker requires a user and a password",
    );
    has(Kind::Error, "cli/replay.rs", "cannot open {}");
    has(Kind::Log, "daemon/log.rs", "{board}: clock connected");
    has(Kind::Help, "cli/args.rs", "Print the version");
    has(Kind::Page, "page/english.js", "Arbiter's desk");
    has(Kind::Page, "words/english.rs", "Gaps");
    has(Kind::Page, "status/page.rs", "All is well.");
    has(Kind::Laws, "catalogue/en.toml", "Illegal move");
    has(Kind::Other, "cli/user.rs", "Password for {name}: ");
    assert!(
        texts
            .iter()
            .all(|text| !text.file.contains("german") && !text.file.contains("/tests"))
    );
}

#[test]
fn no_text_contains_an_unclear_phrase() {
    assert_none(|text| {
        let words = format!(" {} ", text.text.to_lowercase());
        let negated = ["there is no ", "there are no ", " is no longer "]
            .iter()
            .fold(words, |words, right| words.replace(right, " "));
        RIDDLES
            .iter()
            .find(|(riddle, _)| negated.contains(riddle))
            .map(|(_, plain)| *plain)
    });
}

/// Phrases that texts once contained, with plain replacements.
const RIDDLES: &[(&str, &str)] = &[
    (" is no ", "\"is not a\""),
    (" are no ", "\"are not\""),
    (" told ", "\"announced\", \"reported\" or \"published\""),
    (" all the same", "\"anyway\", or what is done instead"),
    (
        " to go by",
        "the name of the thing, as in \"last legal position\"",
    ),
    (" goes on by itself", "what reconnects or resumes"),
    (" needs a person", "\"needs attention\""),
    (" say `", "\"run\" or \"use\""),
    (" say --", "\"use\""),
    (" in it: ", "\"contains\""),
];

#[test]
fn no_error_or_log_line_begins_with_a_pronoun() {
    const PRONOUNS: &[&str] = &[
        "it ", "its ", "what ", "who ", "whoever ", "whether ", "those ", "that ",
    ];
    assert_none(|text| {
        let is_line = matches!(text.kind, Kind::Error | Kind::Log);
        let begins = PRONOUNS.iter().any(|pronoun| text.text.starts_with(pronoun));
        (is_line && begins).then_some("name the thing")
    });
}

#[test]
fn errors_and_log_lines_are_not_questions() {
    assert_none(|text| {
        let is_line = matches!(text.kind, Kind::Error | Kind::Log);
        (is_line && text.text.ends_with('?')).then_some("\"check that ...\" in place of a question")
    });
}

#[test]
fn log_lines_call_repeated_attempts_retrying() {
    const OTHERS: &[&str] = &["trying again", "tried again", "will try again"];
    assert_none(|text| {
        let is_other = OTHERS.iter().any(|other| text.text.contains(other));
        (text.kind == Kind::Log && is_other).then_some("\"retrying\"")
    });
}

#[test]
fn help_texts_begin_with_a_noun_or_a_verb() {
    const FRAGMENTS: &[&str] = &[
        "Of ",
        "With ",
        "That ",
        "What ",
        "Who ",
        "How ",
        "Which ",
        "Something ",
    ];
    assert_none(|text| {
        let is_fragment = FRAGMENTS.iter().any(|fragment| text.text.starts_with(fragment));
        (text.kind == Kind::Help && is_fragment).then_some("begin with a noun, a verb or \"Only\"")
    });
}

/// Fails with all texts that break a rule, each with its place and a suggestion.
fn assert_none(broken: impl Fn(&Text) -> Option<&'static str>) {
    let broken: Vec<String> = TEXTS
        .iter()
        .filter_map(|text| Some(format!("{text}\n    write {}", broken(text)?)))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
