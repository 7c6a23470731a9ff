//! Scripts in node, with what they use from npm: a driver for the browser, and programs that read PGN.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Where scripts are, and the lock file of what they use.
const FOLDERS: [&str; 4] = ["npm", "readers", "wall", "desk"];

/// The folder with all scripts, in which all that they use is installed, as the lock file has it.
pub(crate) fn scripts() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(install)
}

fn install() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("npm");
    std::fs::create_dir_all(&folder).expect("a folder");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/whole");
    let lock = std::fs::read(tests.join("npm/package-lock.json")).expect("a lock file");
    let is_there = std::fs::read(folder.join("installed")).is_ok_and(|installed| installed == lock);
    for of_tests in FOLDERS {
        for file in std::fs::read_dir(tests.join(of_tests)).expect("scripts") {
            let file = file.expect("a file").path();
            let is_script = file.extension().is_some_and(|end| end == "mjs" || end == "json");
            if is_script {
                let name = file.file_name().expect("a name");
                std::fs::copy(&file, folder.join(name)).expect("a copy");
            }
        }
    }
    if !is_there {
        let installed = Command::new("npm")
            .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .expect("npm: install it, or let tests/run do so");
        let errors = String::from_utf8_lossy(&installed.stderr);
        assert!(installed.status.success(), "{errors}");
        std::fs::write(folder.join("installed"), lock).expect("a note");
    }
    folder
}
