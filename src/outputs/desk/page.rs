//! The web page of the desk. It also uses files of the [public page](crate::outputs::broadcast::page).

use kiebitz_game::laws::{END_REASON, IncidentKind, title, words_of};

pub(crate) use crate::outputs::broadcast::page::INDEX;
use crate::outputs::broadcast::page::{Assets, assets, files_of, in_all_languages};
use crate::outputs::broadcast::{Files, PublishedFile};

/// Content security policy of the page: only files and requests of its own server, and no framing.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Files of the page, by path.
const ASSETS: Assets = assets![
    "desk/":
    "alarm.js",
    "archive.js",
    "begin.js",
    "board.js",
    "correct.js",
    "deed.js",
    "desk.css",
    "diagram.js",
    "draft.js",
    "entry.js",
    "english-review.js",
    "english-round.js",
    "english-setup.js",
    "english.js",
    "evidence.js",
    "explain.js",
    "files.js",
    "follow.js",
    "game.js",
    "games.js",
    "going.js",
    "german-review.js",
    "german-round.js",
    "german-setup.js",
    "german.js",
    "halls.js",
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
    "results.js",
    "review.js",
    "room.js",
    "round.js",
    "sensors.js",
    "session.js",
    "setup.js",
    "sheet.js",
    "source.js",
    "squares.js",
    "standing.js",
    "times.js",
    "versions.js",
    "words.js",
];

/// Returns all files of the page, including generated ones.
pub(crate) fn files() -> Files {
    let mut files = files_of(ASSETS);
    files.insert(CATALOGUE.into(), PublishedFile::new(catalogue()));
    files
}

/// Generated file with the texts of the catalogues of the Laws, in every language.
const CATALOGUE: &str = "desk/catalogue.js";

fn catalogue() -> String {
    let kinds = in_all_languages(|language| {
        let kinds = IncidentKind::ALL.iter();
        kinds
            .map(|kind| (kind.as_str(), title(language, *kind)))
            .collect()
    });
    let reasons = in_all_languages(|language| words_of(language, END_REASON).collect());
    format!(
        "// The kinds of incidents and the reasons of results in words.\n\n\
         export const KINDS = {kinds};\n\nexport const REASONS = {reasons};\n"
    )
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::EndReason;
    use serde_json::{Map, Value};

    use super::*;
    use crate::outputs::broadcast::page as wall;

    #[test]
    fn the_page_loads_only_its_own_files() {
        let (own, shared) = (files(), wall::files());
        for (path, file) in &own {
            let text = String::from_utf8(file.content.to_vec()).expect("text");
            // The SVG namespace is not an address of another host.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains("http://"), "{path} names a host");
            assert!(!text.contains("https://"), "{path} names a host");
            assert!(!text.contains("innerHTML"), "{path}: names are text");
            assert!(!text.contains("style=\""), "{path}: style is in the style sheet");
            for quoted in text.split('"').skip(1).step_by(2) {
                let is_file = [".js", ".css"].iter().any(|end| quoted.ends_with(end));
                let requested = match quoted.strip_prefix("./") {
                    Some(beside) => format!("desk/{beside}"),
                    None => quoted.trim_start_matches('/').to_owned(),
                };
                let exists = own.contains_key(&*requested) || shared.contains_key(&*requested);
                assert!(!is_file || exists, "{path} asks for {quoted}");
            }
        }
    }

    #[test]
    fn the_page_has_the_texts_of_the_catalogues() {
        let file = files().remove(CATALOGUE).expect("the catalogue");
        let text = String::from_utf8(file.content.to_vec()).expect("text");
        let exported = |name: &str| -> Value {
            let (_, after) = text.split_once(&format!("{name} = ")).expect("an export");
            let (object, _) = after.split_once(";\n").expect("an end");
            serde_json::from_str(object).expect("an object")
        };
        let (kinds, reasons) = (exported("KINDS"), exported("REASONS"));
        assert_eq!(kinds["en"]["illegal_move"], "Illegal move");
        assert_eq!(kinds["de"]["illegal_move"], "Regelwidriger Zug");
        assert_eq!(reasons["de"]["checkmate"], "Matt");
        for reason in EndReason::ALL {
            assert!(reasons["en"][reason.as_str()].is_string(), "{reason}");
        }
        let count = |texts: &Value| texts["de"].as_object().map(Map::len);
        assert_eq!(count(&kinds), Some(IncidentKind::ALL.len()));
        assert_eq!(count(&reasons), Some(EndReason::ALL.len()));
    }
}
