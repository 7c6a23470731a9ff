//! The command line: the arguments, the requests they are parsed into, and the functions that carry out the requests.
//!
//! No other module depends on command line flags.

mod args;
mod backup;
#[cfg(target_os = "linux")]
mod bundle;
#[cfg(target_os = "linux")]
mod check_config;
mod event;
mod export;
mod failure;
mod games;
mod laws;
mod logging;
#[cfg(feature = "manual")]
mod manual;
mod parse;
mod period;
mod pgn;
mod printer;
#[cfg(target_os = "linux")]
mod rebuild;
mod replay;
mod report;
mod request;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod setup;
#[cfg(target_os = "linux")]
mod status;
#[cfg(target_os = "linux")]
mod user;

use std::ffi::OsString;
use std::io::{BufWriter, IsTerminal, Write};

use crate::outputs::terminal;
use crate::tools::demo::Venue;
use crate::{Exit, shown};
use request::Invocation;

/// Returns the definition of the command line.
#[must_use]
pub fn command() -> clap::Command {
    <args::Arguments as clap::CommandFactory>::command()
}

/// Parses the arguments and carries out the command.
#[must_use]
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    #[cfg(feature = "manual")]
    let args: Vec<OsString> = args.into_iter().collect();
    // Handled before clap, so that the command stays out of help texts, man pages and completions.
    #[cfg(feature = "manual")]
    if let [_, command, directory] = args.as_slice()
        && command == "manual"
    {
        return match manual::write(directory.as_ref()) {
            Ok(()) => Exit::Fine,
            Err(error) => failure::report(&error),
        };
    }
    let request = match parse::parse(args) {
        Ok(request) => request,
        Err(error) => return usage(&error),
    };
    let mut out = BufWriter::with_capacity(BUFFER, shown::stdout());
    let result = match request {
        Invocation::Backup(request) => backup::run(&request, &mut out),
        #[cfg(target_os = "linux")]
        Invocation::Boards(options) => crate::tools::boards::run(&options, &mut out),
        #[cfg(target_os = "linux")]
        Invocation::Bundle(request) => bundle::run(&request, &mut out),
        #[cfg(target_os = "linux")]
        Invocation::CheckConfig(file) => check_config::run(file.as_deref(), &mut out),
        Invocation::Demo(mut demo) => {
            // On a terminal the pages stay available until Ctrl-C. Scripts expect the demo to end.
            demo.wait |= std::io::stdout().is_terminal();
            crate::tools::demo::run(&demo, venue(), &mut out)
        }
        #[cfg(all(unix, feature = "emulator"))]
        Invocation::Emulate(emulation) => crate::tools::emulate::run(&emulation, &mut out),
        Invocation::EventCheck(request) => event::check(&request, &mut out),
        Invocation::Export(request) => export::run(&request, &mut out),
        Invocation::Games(request) => games::run(&request, &mut out),
        #[cfg(target_os = "linux")]
        Invocation::Hub(config) => run::hub(config.as_deref()),
        Invocation::Laws(request) => laws::run(&request, &mut out),
        Invocation::Pgn(request) => pgn::run(&request, &mut out),
        #[cfg(target_os = "linux")]
        Invocation::Rebuild(request) => rebuild::run(&request, &mut out),
        #[cfg(target_os = "linux")]
        Invocation::Record(recording) => crate::tools::record::run(&recording),
        Invocation::Replay(request) => replay::run(&request, &mut out),
        Invocation::Report(request) => report::run(&request, &mut out),
        #[cfg(target_os = "linux")]
        Invocation::Run(config) => run::run(config.as_deref()),
        #[cfg(target_os = "linux")]
        Invocation::Setup(request) => setup::run(&request, &mut out),
        #[cfg(target_os = "linux")]
        Invocation::Status(request) => status::run(&request, &mut out),
        #[cfg(target_os = "linux")]
        Invocation::User(request) => user::run(&request, &mut out),
    };
    let result = result.and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    result.unwrap_or_else(|error| failure::report(&error))
}

fn venue() -> Venue {
    if terminal::can_redraw() {
        Venue::Screen {
            colors: terminal::wants_colors(),
        }
    } else {
        Venue::Paper
    }
}

/// Prints an error of clap. Help and version also come as errors, go to stdout and count as success.
fn usage(error: &clap::Error) -> Exit {
    // Ignore printing errors: there is no other place to report them.
    if error.use_stderr() {
        // Without colours, because clap repeats arguments, which may be hostile file names.
        let _ = write!(shown::stderr(), "{}", error.render());
        Exit::Usage
    } else {
        let _ = error.print();
        Exit::Fine
    }
}

const BUFFER: usize = 1 << 16;
