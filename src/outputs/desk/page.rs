//! The web page of the desk. It also uses files of the [public page](crate::outputs::broadcast::page).

use core::hash::{Hash, Hasher};
use std::collections::BTreeMap;
use std::hash::DefaultHasher;
use std::sync::LazyLock;

use kiebitz_game::laws::{END_REASON, IncidentKind, Language, title, words_of};
use serde_json::json;

pub(crate) use crate::outputs::broadcast::page::INDEX;
use crate::outputs::broadcast::page::{self as wall, Assets, assets, files_of};
use crate::outputs::broadcast::{Files, PublishedFile};

/// Content security policy of the page: only files and requests of its own server, and no framing.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page's own files, by path.
const ASSETS: Assets = assets![
    "desk/":
    "alarm.js",
    "archive.js",
    "asked.js",
    "before.js",
    "begin.js",
    "board.js",
    "correct.js",
    "deed.js",
    "desk.css",
    "diagram.js",
    "draft.js",
    "english-results.js",
    "english-review.js",
    "english-round.js",
    "english-setup.js",
    "english.js",
    "entry.js",
    "evidence.js",
    "explain.js",
    "files.js",
    "follow.js",
    "game.js",
    "games.js",
    "german-results.js",
    "german-review.js",
    "german-round.js",
    "german-setup.js",
    "german.js",
    "going.js",
    "halls.js",
    "incidents.js",
    "judge.js",
    "lines.js",
    "list.js",
    "main.js",
    "moves.js",
    "outputs.js",
    "part.js",
    "past.js",
    "position.js",
    "readiness.js",
    "ready.js",
    "results.css",
    "results.js",
    "review.css",
    "review.js",
    "room.js",
    "round.js",
    "sensors.js",
    "session.js",
    "setup.css",
    "setup.js",
    "sheet.js",
    "source.js",
    "squares.js",
    "standing.js",
    "times.js",
    "versions.js",
    "words.js",
];

/// All files that the page loads: its own, those that are generated, and those of the public page.
pub(crate) fn files() -> &'static Files {
    static FILES: LazyLock<Files> = LazyLock::new(|| {
        let mut files = wall::files();
        files.extend(files_of(ASSETS));
        for language in Language::ALL {
            files.insert(
                catalogue_of(*language).into(),
                PublishedFile::new(catalogue(*language)),
            );
        }
        let version = format!(
            "// Identifies this version of the page.\n\nexport const VERSION = \"{:016x}\";\n",
            hash_of(&files)
        );
        files.insert(VERSION.into(), PublishedFile::new(version));
        files
    });
    &FILES
}

/// Generated file with a hash of all other files. An open page compares its own with the server's before it loads
/// further modules.
const VERSION: &str = "desk/version.js";

fn hash_of(files: &Files) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (path, file) in files {
        (path, &file.content).hash(&mut hasher);
    }
    hasher.finish()
}

/// Generated file with the texts of the catalogue of the Laws in this language.
fn catalogue_of(language: Language) -> String {
    format!("desk/catalogue-{}.js", language.code())
}

fn catalogue(language: Language) -> String {
    let kinds = IncidentKind::ALL.iter();
    let kinds: BTreeMap<_, _> = kinds
        .map(|kind| (kind.as_str(), title(language, *kind)))
        .collect();
    let reasons: BTreeMap<_, _> = words_of(language, END_REASON).collect();
    format!(
        "// The kinds of incidents and the reasons of results in words.\n\n\
         export const KINDS = {};\n\nexport const REASONS = {};\n",
        json!(kinds),
        json!(reasons)
    )
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::EndReason;
    use serde_json::{Map, Value};

    use super::*;

    fn text(path: &str) -> String {
        let file = files().get(path).expect("a file of this name");
        String::from_utf8(file.content.to_vec()).expect("text")
    }

    #[test]
    fn the_page_loads_only_its_own_files() {
        let own = files()
            .keys()
            .filter(|path| path.starts_with("desk/") || ***path == *INDEX);
        for path in own {
            // The SVG namespace is not an address of another host.
            let text = text(path).replace("http://www.w3.org/2000/svg", "");
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
                let exists = files().contains_key(&*requested);
                assert!(!is_file || exists, "{path} asks for {quoted}");
            }
        }
    }

    #[test]
    fn the_page_has_the_texts_of_the_catalogues() {
        let exported = |language: Language, name: &str| -> Value {
            let text = text(&catalogue_of(language));
            let (_, after) = text.split_once(&format!("{name} = ")).expect("an export");
            let (object, _) = after.split_once(";\n").expect("an end");
            serde_json::from_str(object).expect("an object")
        };
        let (en, de) = (Language::English, Language::German);
        assert_eq!(exported(en, "KINDS")["illegal_move"], "Illegal move");
        let (kinds, reasons) = (exported(de, "KINDS"), exported(de, "REASONS"));
        assert_eq!(kinds["illegal_move"], "Regelwidriger Zug");
        assert_eq!(reasons["checkmate"], "Matt");
        for reason in EndReason::ALL {
            assert!(exported(en, "REASONS")[reason.as_str()].is_string(), "{reason}");
        }
        let count = |texts: &Value| texts.as_object().map(Map::len);
        assert_eq!(count(&kinds), Some(IncidentKind::ALL.len()));
        assert_eq!(count(&reasons), Some(EndReason::ALL.len()));
    }

    #[test]
    fn another_file_gives_another_version() {
        let mut changed = files().clone();
        assert_eq!(hash_of(&changed), hash_of(files()));
        changed.insert("desk/words.js".into(), PublishedFile::new("changed"));
        assert_ne!(hash_of(&changed), hash_of(files()));
    }
}
