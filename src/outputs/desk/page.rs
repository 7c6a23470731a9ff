//! The page at which arbiters work. It uses files of the [public one](crate::outputs::broadcast::page) as well.

use kiebitz_game::laws::{IncidentKind, Language, title};
use serde_json::{Map, Value};

pub(crate) use crate::outputs::broadcast::page::INDEX;
use crate::outputs::broadcast::page::{Assets, assets, files_of};
use crate::outputs::broadcast::{Files, PublishedFile};

/// What a browser may do for the page: speak with the server that it comes from. Nobody may show it in a frame.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Everything that the page is made of, by its path.
const ASSETS: Assets = assets![
    "desk/":
    "alarm.js",
    "archive.js",
    "board.js",
    "correct.js",
    "deed.js",
    "desk.css",
    "diagram.js",
    "entry.js",
    "english-review.js",
    "english-setup.js",
    "english.js",
    "evidence.js",
    "explain.js",
    "files.js",
    "follow.js",
    "game.js",
    "games.js",
    "german-review.js",
    "german-setup.js",
    "german.js",
    "incidents.js",
    "judge.js",
    "lines.js",
    "list.js",
    "main.js",
    "moves.js",
    "outputs.js",
    "past.js",
    "position.js",
    "ready.js",
    "review.js",
    "room.js",
    "sensors.js",
    "session.js",
    "setup.js",
    "source.js",
    "squares.js",
    "steps.js",
    "versions.js",
    "words.js",
];

/// All files of the page.
pub(crate) fn files() -> Files {
    let mut files = files_of(ASSETS);
    files.insert(KINDS.into(), PublishedFile::new(kinds()));
    files
}

/// What the kinds of incidents are called, from the catalogues of the Laws, in every language.
const KINDS: &str = "desk/kinds.js";

fn kinds() -> String {
    let in_language = |language: &Language| {
        let titles = IncidentKind::ALL.iter();
        let titles = titles.map(|kind| (kind.as_str().to_owned(), title(*language, *kind).into()));
        (language.code().to_owned(), Value::Object(titles.collect()))
    };
    let languages: Map<String, Value> = Language::ALL.iter().map(in_language).collect();
    format!(
        "// What incidents are called.\n\nexport const KINDS = {};\n",
        Value::Object(languages)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::broadcast::page as wall;

    #[test]
    fn the_page_asks_for_nothing_that_is_not_there() {
        let (own, shared) = (files(), wall::files());
        for (path, file) in &own {
            let text = String::from_utf8(file.content.to_vec()).expect("text");
            // A namespace looks like an address.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains("http://"), "{path} names a host");
            assert!(!text.contains("https://"), "{path} names a host");
            assert!(!text.contains("innerHTML"), "{path}: names are text");
            assert!(!text.contains("style=\""), "{path}: style is in the style sheet");
            for quoted in text.split('"').skip(1).step_by(2) {
                let is_file = [".js", ".css"].iter().any(|end| quoted.ends_with(end));
                let asked = match quoted.strip_prefix("./") {
                    Some(beside) => format!("desk/{beside}"),
                    None => quoted.trim_start_matches('/').to_owned(),
                };
                let there = own.contains_key(&*asked) || shared.contains_key(&*asked);
                assert!(!is_file || there, "{path} asks for {quoted}");
            }
        }
    }

    #[test]
    fn the_page_has_the_titles_of_the_catalogues() {
        let file = files().remove(KINDS).expect("the kinds");
        let text = String::from_utf8(file.content.to_vec()).expect("text");
        let (_, kinds) = text.split_once("KINDS = ").expect("an export");
        let kinds: Value = serde_json::from_str(kinds.trim_end().trim_end_matches(';')).expect("an object");
        assert_eq!(kinds["en"]["illegal_move"], "Illegal move");
        assert_eq!(kinds["de"]["illegal_move"], "Regelwidriger Zug");
        assert_eq!(
            kinds["de"].as_object().map(Map::len),
            Some(IncidentKind::ALL.len())
        );
    }
}
