//! `kiebitz setup`.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::failure;
use super::request::SetupRequest;
use crate::Exit;
use crate::config::{Config, USUAL_FILE};
use crate::tools::boards::{self, ConfigDraft};

pub(super) fn run(request: &SetupRequest, out: &mut impl Write) -> Result<Exit> {
    let file = match &request.output {
        Some(path) if path.as_os_str() == "-" => None,
        Some(path) => Some(path.clone()),
        None => Some(PathBuf::from(USUAL_FILE)),
    };
    // Check before the boards are queried, which takes some time.
    if let Some(file) = file.as_ref().filter(|file| file.symlink_metadata().is_ok()) {
        return exists(file);
    }
    let draft = match boards::draft(request.ports.clone())? {
        Ok(draft) => draft,
        Err(exit) => return Ok(exit),
    };
    let shown = file.as_deref().unwrap_or_else(|| Path::new("-"));
    Config::parse(shown, &draft.text)
        .context("the generated configuration is invalid; please report this as a bug")?;
    let Some(file) = file else {
        write!(out, "{}", draft.text)?;
        out.flush()?;
        failure::note(&summary(&draft));
        return Ok(Exit::Fine);
    };
    match create(&file, &draft.text) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return exists(&file),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => bail!(
            "no permission to write {}: run `sudo kiebitz setup`, or name another file with --output",
            file.display()
        ),
        Err(error) => return Err(error).with_context(|| format!("cannot write {}", file.display())),
    }
    writeln!(out, "{}\nWritten: {}\n", summary(&draft), file.display())?;
    writeln!(out, "{}", next_steps(&file))?;
    Ok(Exit::Fine)
}

fn exists(file: &Path) -> Result<Exit> {
    bail!(
        "{} already exists and was not changed: name another file with --output, or run `kiebitz setup --output \
         -` to print the configuration",
        file.display()
    )
}

/// Creates a file, and removes it again if it cannot be written completely.
fn create(file: &Path, text: &str) -> io::Result<()> {
    let mut created = File::create_new(file)?;
    let written = created
        .write_all(text.as_bytes())
        .and_then(|()| created.sync_all());
    if written.is_err() {
        let _ = std::fs::remove_file(file);
    }
    written
}

fn summary(draft: &ConfigDraft) -> String {
    let boards = match draft.boards {
        0 => "No board was found, so the configuration names none. `kiebitz boards` explains what to do."
            .to_owned(),
        1 => "1 board was found and has a name in the configuration.".to_owned(),
        boards => format!("{boards} boards were found; each has a name in the configuration."),
    };
    let left_out = draft.left_out.iter().map(|reason| format!("! {reason}"));
    let lines: Vec<String> = core::iter::once(boards).chain(left_out).collect();
    lines.join("\n")
}

fn next_steps(file: &Path) -> String {
    let (check, run) = if file == Path::new(USUAL_FILE) {
        (
            String::new(),
            "run `sudo systemctl restart kiebitz`, or without the service `kiebitz run`".to_owned(),
        )
    } else {
        let file = file.display();
        (format!(" {file}"), format!("run `kiebitz run --config {file}`"))
    };
    format!(
        "Next: add your broker and your event to the file, and check it with `kiebitz \
         check-config{check}`.\nThen {run}."
    )
}
