//! The structure of the sources: few folders, and imports that follow the flow of data.

use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// A package or a part of one.
struct Package {
    source: &'static str,
    /// Module path of the folder, as imports write it.
    root: &'static str,
    /// Maximum number of folders and files directly in it.
    max_entries: usize,
    /// Its modules in the order of the data flow. A module imports only from itself and from earlier modules.
    flow: &'static [&'static str],
    /// Items of the crate's root, and the module that defines each.
    items: &'static [(&'static str, &'static str)],
    /// Known imports against the flow: the file, and the module that it imports. This list must only shrink.
    known: &'static [(&'static str, &'static str)],
}

const PACKAGES: [Package; 3] = [
    Package {
        source: "game/src",
        root: "crate::",
        max_entries: 12,
        flow: &[
            "vocabulary",
            "position",
            "clock",
            "model",
            "laws",
            "events",
            "command",
            "tracker",
            "acts",
            "referee",
            "hall",
        ],
        items: &[("UnknownWord", "vocabulary"), ("spelled", "vocabulary")],
        known: &[],
    },
    Package {
        source: "src",
        root: "crate::",
        max_entries: 25,
        flow: &[
            "exit",
            "folder",
            "progress",
            "shown",
            "text_file",
            "secret_file",
            "limits",
            "system_time",
            "clock",
            "settings",
            "port",
            "tournament",
            "outputs",
            "config",
            "journal",
            "restart",
            "replay",
            "kept",
            "daemon",
            "hub",
            "tools",
            "cli",
        ],
        items: &[("Exit", "exit")],
        known: &[
            ("src/outputs/desk/review.rs", "kept"),
            ("src/outputs/desk/review/refusal.rs", "kept"),
            ("src/outputs/desk/review/search.rs", "kept"),
            ("src/outputs/desk/task.rs", "kept"),
        ],
    },
    Package {
        source: "src/outputs",
        root: "crate::outputs::",
        max_entries: 25,
        flow: &[
            "shared",
            "pgn",
            "sheet",
            "terminal",
            "report",
            "mqtt",
            "status",
            "broadcast",
            "feeds",
            "lichess",
            "livechess",
            "webhook",
            "alarm",
            "desk",
        ],
        items: &[],
        known: &[
            ("src/outputs/broadcast/task.rs", "feeds"),
            ("src/outputs/shared/to_hall.rs", "status"),
        ],
    },
];

#[test]
fn folders_and_files_stay_within_their_limit() {
    for package in PACKAGES {
        let entries = fs::read_dir(root().join(package.source)).expect("the folder of the source");
        let count = entries.count();
        assert!(
            count <= package.max_entries,
            "{} has {count} folders and files, more than {}",
            package.source,
            package.max_entries
        );
    }
}

#[test]
fn the_flow_names_every_module() {
    for package in PACKAGES {
        let mut flow = package.flow.to_vec();
        flow.sort_unstable();
        assert_eq!(
            modules(&root().join(package.source)),
            flow,
            "the modules of {} and those in tests/library/structure.rs",
            package.source
        );
    }
}

#[test]
fn imports_follow_the_flow() {
    let mut wrong = Vec::new();
    for package in PACKAGES {
        let found = against_the_flow(&package);
        for (file, import) in &found {
            if !package.known.contains(&(file.as_str(), import.as_str())) {
                wrong.push(format!("{file} imports {import}, which comes after it"));
            }
        }
        for (file, import) in package.known {
            let is_there = found
                .iter()
                .any(|(other, of)| (other.as_str(), of.as_str()) == (*file, *import));
            if !is_there {
                wrong.push(format!(
                    "{file} no longer imports {import}: remove it from the known ones"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns every import of a later module in the flow, as the importing file and the module, without duplicates.
fn against_the_flow(package: &Package) -> Vec<(String, String)> {
    let place = |module: &str| package.flow.iter().position(|of_flow| *of_flow == module);
    let mut found = Vec::new();
    let source = root().join(package.source);
    for file in files(&source) {
        let path = module_path(file.strip_prefix(&source).expect("a file of the source"));
        let Some(own) = path.first().and_then(|module| place(module)) else {
            continue; // lib.rs, main.rs and mod.rs
        };
        let text = fs::read_to_string(&file).expect("a source file");
        let name = file
            .strip_prefix(root())
            .expect("a file of the project")
            .display()
            .to_string();
        for import in imports(&text, package.root, path.len()) {
            let item = package.items.iter().find(|(item, _)| *item == import);
            let module = item.map_or(import.as_str(), |(_, module)| module);
            let pair = (name.clone(), module.to_owned());
            if place(module).is_some_and(|other| other > own) && !found.contains(&pair) {
                found.push(pair);
            }
        }
    }
    found
}

/// Returns the modules directly below the crate's root, sorted.
fn modules(source: &Path) -> Vec<String> {
    let mut modules: Vec<String> = fs::read_dir(source)
        .expect("the folder of the source")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|name| !["lib.rs", "main.rs", "mod.rs"].contains(&name.as_str()))
        .map(|name| name.trim_end_matches(".rs").to_owned())
        .collect();
    modules.sort();
    // A module may have both a file and a folder.
    modules.dedup();
    modules
}

/// Returns all files of a package except its tests, which may import anything.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the source") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("UTF-8");
        if stem == "tests" {
            continue;
        }
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Returns the module path of a file from the crate's root. Empty for the root itself.
fn module_path(file: &Path) -> Vec<String> {
    let parts = file.with_extension("");
    let mut path: Vec<String> = parts
        .iter()
        .map(|part| part.to_str().expect("UTF-8").to_owned())
        .collect();
    if path
        .last()
        .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
    {
        path.pop();
    }
    path
}

/// Returns the modules below `root` that a file refers to by a full path, or by a chain of `super::` up to the root.
fn imports(text: &str, root: &str, depth: usize) -> Vec<String> {
    let code: Vec<&str> = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    let code = code.join("\n");
    let mut starts = vec![root.to_owned()];
    if depth > 0 {
        starts.push("super::".repeat(depth));
    }
    let mut imports = Vec::new();
    for start in starts {
        for (at, _) in code.match_indices(&start) {
            // Skips a match that is the end of a longer name, or part of a longer chain of `super::`.
            let before = code[..at].chars().next_back();
            if before.is_some_and(|before| is_name_character(before) || before == ':') {
                continue;
            }
            let names = first_names(&code[at + start.len()..]);
            imports.extend(names.into_iter().filter(|name| name != "super"));
        }
    }
    imports
}

/// Returns the first name of a path, or the first names of the paths in braces.
fn first_names(rest: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.chars()
            .take_while(|letter| is_name_character(*letter))
            .collect()
    };
    let Some(group) = rest.strip_prefix('{') else {
        return vec![name(rest)];
    };
    let (mut depth, mut begins, mut names) = (0, true, Vec::new());
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if begins && is_name_character(letter) => {
                names.push(name(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

fn is_name_character(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[test]
fn all_forms_of_imports_are_parsed() {
    let text = "use crate::one::Two;\nuse crate::{\n    Three, four::{Five, six}, seven::*,\n};\n\
                // crate::comment\nlet x = crate::eight();\nuse super::super::nine;\nuse super::ten;\nmycrate::no::x();\n";
    let all = ["one", "Three", "four", "seven", "eight"];
    assert_eq!(imports(text, "crate::", 0), all);
    assert_eq!(imports(text, "crate::", 2), [&all[..], &["nine"]].concat());
    assert_eq!(imports(text, "crate::", 1), [&all[..], &["ten"]].concat());
    assert!(imports(text, "crate::seven::", 0).is_empty());
}
