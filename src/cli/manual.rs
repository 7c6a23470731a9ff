//! Generates man pages and shell completions from the definition of the command line, for `systemd/package`.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use clap_complete::Shell;
use clap_mangen::Man;

use super::command;

/// Writes `man/*.1` and `completions/*` into a directory. Fails if a file cannot be written.
pub(super) fn write(directory: &Path) -> Result<()> {
    write_pages(&directory.join("man"))
        .and_then(|()| write_completions(&directory.join("completions")))
        .with_context(|| {
            format!(
                "cannot write man pages and completions into {}",
                directory.display()
            )
        })
}

/// Writes a page for the program and for each command, including nested ones.
fn write_pages(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut commands = vec![command()];
    while let Some(command) = commands.pop() {
        let name = command.get_name().to_owned();
        let bin_name = command.get_bin_name().unwrap_or(&name);
        commands.extend(command.get_subcommands().map(|subcommand| {
            let bin_name = format!("{bin_name} {}", subcommand.get_name());
            // clap needs a `&'static str`; the leak is harmless, because the program ends soon.
            let name: &'static str = format!("{name}-{}", subcommand.get_name()).leak();
            subcommand.clone().name(name).bin_name(bin_name)
        }));
        fs::write(directory.join(format!("{name}.1")), page(command)?)?;
    }
    Ok(())
}

/// Renders one page. The notes keep the line breaks of the help text.
fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let more = command.get_after_help().map(ToString::to_string);
    let version = format!("kiebitz {}", env!("CARGO_PKG_VERSION"));
    let has_commands = command.has_subcommands();
    let man = Man::new(command).manual("kiebitz").source(version).date("");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(more) = more {
        let lines: Vec<String> = more.lines().map(escaped).collect();
        let notes = format!(".SH NOTES\n.nf\n{}\n.fi\n", lines.join("\n"));
        page.extend(notes.into_bytes());
    }
    Ok(page)
}

/// Escapes a line so that roff prints it literally.
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

fn write_completions(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command(), "kiebitz", directory)?;
    }
    Ok(())
}
