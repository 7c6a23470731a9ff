//! Man pages and completions, made from what the command line takes.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;

#[derive(Debug, Args)]
pub(super) struct Manual {
    /// Where they go: man/*.1 and completions/*.
    directory: PathBuf,
}

impl Manual {
    pub(super) fn run(self) -> bool {
        write_pages(&self.directory.join("man"));
        write_completions(&self.directory.join("completions"));
        true
    }
}

/// One page for the program, one for each of its commands, and one for each of theirs.
fn write_pages(directory: &Path) {
    fs::create_dir_all(directory).unwrap();
    let mut commands = vec![kiebitz::cli::command()];
    while let Some(command) = commands.pop() {
        let name = command.get_name().to_owned();
        let called = command.get_bin_name().unwrap_or(&name);
        commands.extend(command.get_subcommands().map(|below| {
            let called = format!("{called} {}", below.get_name());
            // Names must last; the tool ends soon.
            let name: &'static str = format!("{name}-{}", below.get_name()).leak();
            below.clone().name(name).bin_name(called)
        }));
        fs::write(directory.join(format!("{name}.1")), page(command)).unwrap();
    }
}

/// One page, its examples line by line as the help has them.
fn page(command: clap::Command) -> Vec<u8> {
    let more = command.get_after_help().map(ToString::to_string);
    let version = format!("kiebitz {}", env!("CARGO_PKG_VERSION"));
    let has_commands = command.has_subcommands();
    let man = Man::new(command).manual("kiebitz").source(version).date("");
    let mut page = Vec::new();
    man.render_title(&mut page).unwrap();
    man.render_name_section(&mut page).unwrap();
    man.render_synopsis_section(&mut page).unwrap();
    man.render_description_section(&mut page).unwrap();
    man.render_options_section(&mut page).unwrap();
    if has_commands {
        man.render_subcommands_section(&mut page).unwrap();
    }
    if let Some(more) = more {
        let lines: Vec<String> = more.lines().map(escaped).collect();
        let notes = format!(".SH NOTES\n.nf\n{}\n.fi\n", lines.join("\n"));
        page.extend(notes.into_bytes());
    }
    page
}

/// Text as roff prints it literally.
fn escaped(line: &str) -> String {
    let line = line
        .replace('\\', "\\\\")
        .replace('-', "\\-")
        .replace('\'', "\\(aq");
    if line.starts_with('.') {
        format!("\\&{line}")
    } else {
        line
    }
}

fn write_completions(directory: &Path) {
    fs::create_dir_all(directory).unwrap();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut kiebitz::cli::command(), "kiebitz", directory).unwrap();
    }
}
