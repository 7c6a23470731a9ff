//! The page that shows the broadcast in a browser: the same files wherever they lie.
//!
//! They are written by hand and served as they are; the board is chessground, whose files are unchanged.

use std::collections::BTreeMap;

use kiebitz_game::laws::{END_REASON_SHORT, Language, words_of};

use super::files::{Files, PublishedFile};

/// What a browser may do for the page: read what lies beside it, and nothing else. Everybody may show it in a frame.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *";

/// The file that is opened first.
pub(crate) const INDEX: &str = "index.html";

/// Files of the folder `page` beside whoever names them, by their paths below another one, and the index.
macro_rules! assets {
    ($below:literal: $($name:literal),* $(,)?) => {
        &[
            $((concat!($below, $name), include_bytes!(concat!("page/", $name)).as_slice()),)*
            ($crate::outputs::broadcast::page::INDEX, include_bytes!("page/index.html").as_slice()),
        ]
    };
}
pub(crate) use assets;

/// Everything that the page is made of, by its path.
const ASSETS: Assets = assets![
    "page/":
    "card.js",
    "chessground/chessground.base.css",
    "chessground/chessground.brown.css",
    "chessground/chessground.cburnett.css",
    "chessground/chessground.min.js",
    "clock.js",
    "curve.js",
    "dom.js",
    "large.js",
    "main.js",
    "options.js",
    "source.js",
    "wall.css",
    "words.js",
];

/// What a page is made of, by its path.
pub(crate) type Assets = &'static [(&'static str, &'static [u8])];

/// All files of the page.
pub(crate) fn files() -> Files {
    let mut files = files_of(ASSETS);
    let reasons = in_all_languages(|language| words_of(language, END_REASON_SHORT).collect());
    let reasons = format!("// Reasons of results.\n\nexport const REASONS = {reasons};\n");
    files.insert(REASONS.into(), PublishedFile::new(reasons));
    files
}

/// Made of the catalogues of the Laws, so that each text is written once.
const REASONS: &str = "page/reasons.js";

/// A JSON object of the texts in each language, by its code.
pub(crate) fn in_all_languages(
    texts: impl Fn(Language) -> BTreeMap<&'static str, &'static str>,
) -> serde_json::Value {
    let languages = Language::ALL.iter();
    let all: BTreeMap<_, _> = languages
        .map(|language| (language.code(), texts(*language)))
        .collect();
    serde_json::json!(all)
}

/// The same of any page; they stay as they are as long as the program runs.
pub(crate) fn files_of(assets: Assets) -> Files {
    let all = assets.iter();
    all.map(|(path, content)| ((*path).into(), PublishedFile::new(*content)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_asks_for_nothing_that_is_not_there() {
        let files = files();
        for (path, file) in &files {
            let Ok(text) = core::str::from_utf8(&file.content) else {
                panic!("{path} is text")
            };
            if path.contains("chessground") {
                continue;
            }
            // A namespace looks like an address.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains("http://"), "{path} names a host");
            assert!(!text.contains("https://"), "{path} names a host");
            assert!(!text.contains("innerHTML"), "{path}: names are text");
            assert!(
                text.lines().count() < 400 || path.ends_with(".css"),
                "{path} is long"
            );
            for quoted in text.split('"').skip(1).step_by(2) {
                let asked = quoted.trim_start_matches("./");
                let is_file = [".js", ".css"].iter().any(|end| asked.ends_with(end));
                let folder = if asked.starts_with("page/") { "" } else { "page/" };
                let there = files.contains_key(format!("{folder}{asked}").as_str());
                assert!(!is_file || there, "{path} asks for {asked}");
            }
        }
    }

    /// A file can be opened where no server says what is allowed.
    #[test]
    fn the_page_brings_its_policy_along() {
        let index = files().remove(INDEX).expect("an index");
        let text = String::from_utf8(index.content.to_vec()).expect("text");
        let (policy, _) = CONTENT_SECURITY_POLICY
            .split_once("; frame-ancestors")
            .expect("who may show it");
        assert!(text.contains(policy), "{text}");
        assert!(!text.contains("<style") && !text.contains("style="), "{text}");
    }
}
