//! The `kiebitz` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    kiebitz::cli::run(std::env::args_os()).into()
}
