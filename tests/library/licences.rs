//! Licences of all dependencies: each is compatible with the GPL, and the crates for other projects depend on no GPL
//! code.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Allowed for any dependency.
const PERMISSIVE: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];
/// Copyleft that covers only its own files.
const BY_FILE: &str = "MPL-2.0";
/// The licence of the program. Only the program may depend on it.
const GPL: &str = "GPL-3.0-or-later";

#[test]
fn every_dependency_of_the_program_is_compatible_with_the_gpl() {
    let graph = Graph::read();
    let wrong = graph.unlicensed(graph.below("kiebitz"), |licence| {
        PERMISSIVE.contains(&licence) || [BY_FILE, GPL].contains(&licence)
    });
    assert!(
        wrong.is_empty(),
        "to be looked at before they are used: {wrong:#?}"
    );
}

#[test]
fn the_crates_for_other_projects_depend_on_no_gpl_code() {
    let graph = Graph::read();
    for name in ["kiebitz-protocol", "kiebitz-hardware"] {
        let below = graph.below(name);
        assert!(below.len() > 1, "{name} uses something");
        let wrong = graph.unlicensed(below, |licence| {
            PERMISSIVE.contains(&licence) || licence == BY_FILE
        });
        assert!(wrong.is_empty(), "{name} must not use {wrong:#?}");
    }
}

#[test]
fn cargo_deny_allows_the_same_licences() {
    let config = std::fs::read_to_string(crate::root().join(".cargo/deny.toml")).unwrap();
    let list = config
        .split_once("\nallow = [")
        .and_then(|(_, rest)| rest.split_once(']'));
    let (list, _) = list.expect("a list");
    let deny_toml: BTreeSet<&str> = list.split('"').skip(1).step_by(2).collect();
    let constants: BTreeSet<&str> = PERMISSIVE.into_iter().chain([BY_FILE, GPL]).collect();
    assert_eq!(deny_toml, constants);
}

/// Dependencies without dev-dependencies, by package id.
struct Graph {
    /// Name and licence of each package.
    packages: BTreeMap<String, (String, Option<String>)>,
    uses: BTreeMap<String, Vec<String>>,
}

impl Graph {
    fn read() -> Self {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
            // Dependencies of other platforms may not be downloaded.
            .args(["--filter-platform", &host()])
            .args([
                "--manifest-path",
                concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"),
            ])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        let packages = list(&metadata["packages"]).map(|package| {
            let licence = package["license"].as_str().map(str::to_owned);
            (text(&package["id"]), (text(&package["name"]), licence))
        });
        let uses = list(&metadata["resolve"]["nodes"]).map(|node| {
            let built = list(&node["deps"]).filter(|used| {
                let mut kinds = list(&used["dep_kinds"]);
                kinds.any(|kind| kind["kind"] != "dev")
            });
            (text(&node["id"]), built.map(|used| text(&used["pkg"])).collect())
        });
        Self {
            packages: packages.collect(),
            uses: uses.collect(),
        }
    }

    /// Returns a package and all its dependencies.
    fn below(&self, name: &str) -> BTreeSet<&str> {
        let top = self.packages.iter().find(|(_, package)| package.0 == name);
        let (top, _) = top.expect("a package of the workspace");
        let mut visited = BTreeSet::from([top.as_str()]);
        let mut queue = vec![top];
        while let Some(id) = queue.pop() {
            for used in &self.uses[id] {
                if visited.insert(used) {
                    queue.push(used);
                }
            }
        }
        visited
    }

    /// Returns the packages without an allowed licence, each with its licence.
    fn unlicensed(&self, ids: BTreeSet<&str>, allowed: impl Fn(&str) -> bool) -> Vec<String> {
        let wrong = ids.into_iter().filter_map(|id| {
            let (name, licence) = &self.packages[id];
            let licence = licence.as_deref().unwrap_or("no licence");
            (!may_be_used(licence, &allowed)).then(|| format!("{name}: {licence}"))
        });
        wrong.collect()
    }
}

/// Returns whether an SPDX expression can be satisfied with allowed licences. A slash is an old spelling of OR.
fn may_be_used(expression: &str, allowed: &impl Fn(&str) -> bool) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest, allowed) && rest.is_empty()
}

/// AND binds more tightly than OR.
fn any_of(words: &mut &[&str], allowed: &impl Fn(&str) -> bool) -> bool {
    let mut one = all_of(words, allowed);
    while let ["OR", rest @ ..] = words {
        *words = rest;
        one |= all_of(words, allowed);
    }
    one
}

fn all_of(words: &mut &[&str], allowed: &impl Fn(&str) -> bool) -> bool {
    let mut all = licence(words, allowed);
    while let ["AND", rest @ ..] = words {
        *words = rest;
        all &= licence(words, allowed);
    }
    all
}

fn licence(words: &mut &[&str], allowed: &impl Fn(&str) -> bool) -> bool {
    match words {
        ["(", rest @ ..] => {
            *words = rest;
            let inside = any_of(words, allowed);
            let [")", rest @ ..] = words else { return false };
            *words = rest;
            inside
        }
        // An exception only adds permissions.
        [licence, "WITH", _, rest @ ..] | [licence, rest @ ..] => {
            *words = rest;
            allowed(licence)
        }
        [] => false,
    }
}

#[test]
fn licence_expressions_are_evaluated_as_spdx() {
    let allowed = |licence: &str| ["MIT", "ISC"].contains(&licence);
    for (expression, may) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT", true),
        ("GPL-3.0-only/MIT", true),
        ("MIT AND GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT AND ISC", true),
        ("(GPL-3.0-only OR MIT) AND Zlib", false),
        ("(GPL-3.0-only OR MIT) AND ISC", true),
        ("ISC WITH exception OR Zlib", true),
        ("(MIT", false),
        ("MIT ISC", false),
        ("", false),
    ] {
        assert_eq!(may_be_used(expression, &allowed), may, "{expression}");
    }
}

/// Returns the target triple of this machine, as rustc names it.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(output.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc names its host").to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
