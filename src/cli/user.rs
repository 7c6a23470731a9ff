//! `kiebitz user`.

use std::io::{self, BufRead, Write};

use anyhow::{Context, Result, bail};
use rustix::termios::{LocalModes, OptionalActions};

use crate::Exit;
use crate::outputs::desk::{Role, user_line};

#[derive(Debug)]
pub(super) struct UserRequest {
    pub(super) name: String,
    pub(super) role: Role,
}

/// Asks for a password and prints the line for the file of users.
pub(super) fn run(request: &UserRequest, out: &mut impl Write) -> Result<Exit> {
    let password = password(&request.name)?;
    writeln!(out, "{}", user_line(&request.name, request.role, &password)?)?;
    Ok(Exit::Fine)
}

/// Reads a password: twice from the terminal without echo, or the first line of a pipe.
fn password(name: &str) -> Result<String> {
    let stdin = io::stdin();
    let Ok(usual) = rustix::termios::tcgetattr(&stdin) else {
        return read_line();
    };
    let mut hidden = usual.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    rustix::termios::tcsetattr(&stdin, OptionalActions::Flush, &hidden)?;
    let passwords =
        ask(&format!("Password for {name}: ")).and_then(|one| Ok((one, ask("Repeat the password: ")?)));
    rustix::termios::tcsetattr(&stdin, OptionalActions::Flush, &usual)?;
    let (one, other) = passwords?;
    if one != other {
        bail!("the two passwords differ: try again");
    }
    Ok(one)
}

fn ask(question: &str) -> Result<String> {
    let mut terminal = crate::shown::stderr();
    write!(terminal, "{question}")?;
    terminal.flush()?;
    let answer = read_line();
    writeln!(terminal)?;
    answer
}

fn read_line() -> Result<String> {
    let mut text = String::new();
    let read = io::stdin().lock().read_line(&mut text);
    read.context("cannot read the password")?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}
