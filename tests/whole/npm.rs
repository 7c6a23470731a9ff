//! Scripts for node, with their npm packages: a driver for the browser, and programs that read PGN.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Folders with scripts or with the lock file of their packages.
const FOLDERS: [&str; 4] = ["npm", "readers", "wall", "desk"];

/// A folder with all scripts, in which their packages are installed as in the lock file.
pub(crate) fn scripts() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(install)
}

fn install() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("npm");
    fs::create_dir_all(&folder).expect("a folder");
    // Each test may run in a process of its own. The first one installs the packages, and no later one rewrites files
    // that other tests may be using.
    let lock = File::create(folder.join("lock")).expect("a lock");
    lock.lock().expect("the lock");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let wanted = fs::read(tests.join("npm/package-lock.json")).expect("a lock file");
    let is_installed = fs::read(folder.join("installed")).is_ok_and(|installed| installed == wanted);
    for source in FOLDERS {
        for file in fs::read_dir(tests.join(source)).expect("scripts") {
            let file = file.expect("a file").path();
            let is_script = file.extension().is_some_and(|end| end == "mjs" || end == "json");
            if is_script {
                let copy = folder.join(file.file_name().expect("a name"));
                let script = fs::read(&file).expect("the script");
                if fs::read(&copy).ok().as_ref() != Some(&script) {
                    fs::write(copy, script).expect("a copy");
                }
            }
        }
    }
    if !is_installed {
        let installed = Command::new("npm")
            .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .expect("npm: install it, or let tests/run do so");
        let errors = String::from_utf8_lossy(&installed.stderr);
        assert!(installed.status.success(), "{errors}");
        fs::write(folder.join("installed"), wanted).expect("a note");
    }
    folder
}

#[test]
fn the_scripts_of_the_pages_use_only_names_that_they_have() {
    let outputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/outputs");
    let pages = ["broadcast/page", "desk/page"].map(|page| outputs.join(page));
    let files = pages
        .iter()
        .flat_map(|page| fs::read_dir(page).expect("a folder"));
    let files = files.map(|file| file.expect("a file").path());
    let page_scripts: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|end| end == "js"))
        .collect();
    assert!(page_scripts.len() > 50, "{page_scripts:?}");
    let checked = Command::new("node")
        .arg("names.mjs")
        .args(&page_scripts)
        .current_dir(scripts())
        .output()
        .expect("node: install it, or let tests/run do so");
    let found = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{found}");
}
