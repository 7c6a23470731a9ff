//! The web page of the broadcast: static files, the same for every target.
//!
//! The files are written by hand and served unchanged. The board is an unmodified copy of chessground.

use std::collections::BTreeMap;

use axum::body::Bytes;
use kiebitz_game::laws::{END_REASON_SHORT, Language, words_of};

use super::files::{Files, PublishedFile};

/// The page's Content-Security-Policy: the page may load files from its own origin only, and any site may embed it.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *";

pub(crate) const INDEX: &str = "index.html";

/// Lists the index and the named files of the folder `page` next to the calling module. The paths of the named files
/// begin with `$below`.
macro_rules! assets {
    ($below:literal: $($name:literal),* $(,)?) => {
        &[
            $((concat!($below, $name), include_bytes!(concat!("page/", $name)).as_slice()),)*
            ($crate::outputs::broadcast::page::INDEX, include_bytes!("page/index.html").as_slice()),
        ]
    };
}
pub(crate) use assets;

/// All files of the page by path, except the [reasons](REASONS).
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
    "head.js",
    "icon.svg",
    "large.js",
    "list.js",
    "main.js",
    "options.js",
    "player.js",
    "source.js",
    "standings.js",
    "tables.js",
    "ticker.js",
    "wall.css",
    "wall.js",
    "words.js",
];

/// Files of a page by path, with their contents.
pub(crate) type Assets = &'static [(&'static str, &'static [u8])];

pub(crate) fn files() -> Files {
    let mut files = files_of(ASSETS);
    let reasons = in_all_languages(|language| words_of(language, END_REASON_SHORT).collect());
    let reasons = format!("// Reasons of results.\n\nexport const REASONS = {reasons};\n");
    files.insert(REASONS.into(), PublishedFile::new(reasons));
    files
}

/// File with the reasons of results, generated from the catalogues of the Laws so that no text is duplicated.
const REASONS: &str = "page/reasons.js";

/// Builds a JSON object with the texts in each language, by language code.
pub(crate) fn in_all_languages(
    texts: impl Fn(Language) -> BTreeMap<&'static str, &'static str>,
) -> serde_json::Value {
    let languages = Language::ALL.iter();
    let all: BTreeMap<_, _> = languages
        .map(|language| (language.code(), texts(*language)))
        .collect();
    serde_json::json!(all)
}

/// Converts the files of a page into published files.
pub(crate) fn files_of(assets: Assets) -> Files {
    let all = assets.iter();
    all.map(|(path, content)| ((*path).into(), PublishedFile::of(Bytes::from_static(content))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_refers_to_existing_files_only() {
        let files = files();
        for (path, file) in &files {
            let Ok(text) = core::str::from_utf8(&file.content) else {
                panic!("{path} is text")
            };
            if path.contains("chessground") {
                continue;
            }
            // The namespace of SVG is not an address.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains("http://"), "{path} names a host");
            assert!(!text.contains("https://"), "{path} names a host");
            assert!(!text.contains("innerHTML"), "{path}: names are text");
            assert!(
                text.lines().count() < 400 || path.ends_with(".css"),
                "{path} is long"
            );
            for quoted in text.split('"').skip(1).step_by(2) {
                let reference = quoted.trim_start_matches("./");
                let is_file = [".js", ".css"].iter().any(|end| reference.ends_with(end));
                let folder = if reference.starts_with("page/") {
                    ""
                } else {
                    "page/"
                };
                let exists = files.contains_key(format!("{folder}{reference}").as_str());
                assert!(!is_file || exists, "{path} asks for {reference}");
            }
        }
    }

    /// The policy is also in the page, for servers that cannot send headers.
    #[test]
    fn the_page_contains_its_content_security_policy() {
        let index = files().remove(INDEX).expect("an index");
        let text = String::from_utf8(index.content.to_vec()).expect("text");
        let (policy, _) = CONTENT_SECURITY_POLICY
            .split_once("; frame-ancestors")
            .expect("who may show it");
        assert!(text.contains(policy), "{text}");
        assert!(!text.contains("<style") && !text.contains("style="), "{text}");
    }
}
