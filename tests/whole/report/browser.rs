//! Chromium without a window: examines a page, or prints it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Figures that a script found on a page.
pub(super) struct Seen(Value);

impl Seen {
    /// Shows the page in a frame of this width and examines it.
    pub(super) fn on_screen(directory: &Path, page: &str, width: u32) -> Self {
        let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
        let harness = format!(
            "<!DOCTYPE html><meta charset=utf-8><pre id=seen></pre>\
             <iframe style='width:{width}px;height:800px;border:0' srcdoc=\"{quoted}\"></iframe><script>{EXAMINE}</script>"
        );
        let path = directory.join("harness.html");
        std::fs::write(&path, harness).expect("the harness");
        let dom = chromium(
            directory,
            &["--dump-dom", "--virtual-time-budget=20000", &address(&path)],
        );
        let dom = String::from_utf8_lossy(&dom);
        let (_, seen) = dom.split_once("<pre id=\"seen\">").expect("the page was loaded");
        let (seen, _) = seen.split_once("</pre>").expect("the page was loaded");
        let seen = seen
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&");
        Self(serde_json::from_str(&seen).unwrap_or_else(|error| panic!("{error}: {seen:?}")))
    }

    pub(super) fn number(&self, name: &str) -> u64 {
        self.0[name]
            .as_u64()
            .unwrap_or_else(|| panic!("{name}: {}", self.0))
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.0[name]
            .as_str()
            .unwrap_or_else(|| panic!("{name}: {}", self.0))
    }
}

/// Script that examines the page in the frame once it has loaded.
const EXAMINE: &str = "
document.querySelector('iframe').onload = event => {
  const page = event.target.contentDocument;
  const count = selector => page.querySelectorAll(selector).length;
  const list = selector => Array.from(page.querySelectorAll(selector));
  const drawn = piece => { const box = piece.getBoundingClientRect(); return box.width > 5 && box.height > 5; };
  const scrolled = box => box.closest('.list, .curve') !== null;
  document.getElementById('seen').textContent = JSON.stringify({
    title: page.querySelector('h1').textContent,
    language: page.documentElement.lang,
    games: count('section.game'),
    incidents: count('article.incident'),
    listed: count('.others li'),
    violations: count('article.violation'),
    summary_bottom: Math.ceil(Math.max(0, ...list('.summary').slice(0, 1).map(box => box.getBoundingClientRect().bottom))),
    curve_text_too_small: list('.curve text').filter(shown => shown.getClientRects().length
      && shown.getBoundingClientRect().height < 9).length,
    diagrams: count('figure.diagram'),
    unnamed_pictures: list('svg[role=img]').filter(svg => !svg.querySelector('title').textContent).length,
    curves: count('figure.curve'),
    scripts: count('script'),
    moves: list('.score .move').length,
    pieces: count('figure.diagram use'),
    pieces_not_drawn: list('figure.diagram use').filter(piece => !drawn(piece)).length,
    dead_links: list('a[href^=\"#\"]').filter(a => !page.getElementById(a.getAttribute('href').slice(1))).length,
    too_wide: list('body *').filter(box => !scrolled(box)
      && box.getBoundingClientRect().right > page.documentElement.clientWidth + 1).length,
  });
};";

/// Prints the page to PDF.
pub(super) fn printed(directory: &Path, page: &str) -> Vec<u8> {
    let path = directory.join("page.html");
    std::fs::write(&path, page).expect("the page");
    let pdf = directory.join("page.pdf");
    let to = format!("--print-to-pdf={}", pdf.display());
    chromium(directory, &["--no-pdf-header-footer", &to, &address(&path)]);
    std::fs::read(&pdf).expect("the page was printed")
}

fn address(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Runs chromium with a profile of its own and returns its output.
fn chromium(directory: &Path, args: &[&str]) -> Vec<u8> {
    let profile: PathBuf = directory.join("profile");
    let output = Command::new("chromium")
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("chromium: install it, or let tests/run do so");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    output.stdout
}
