//! The kiebitz command.

use std::io::Write;
use std::path::PathBuf;

use clap::Parser;
use kiebitz::replay::Replay;

#[derive(Parser)]
struct Args {
    command: String,
    file: PathBuf,
    #[arg(long)]
    json: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let _ = args.command;
    let mut replay = Replay::open(&args.file, "replay")?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    while replay.next_at().is_some() {
        for said in replay.step()? {
            if args.json {
                serde_json::to_writer(&mut out, &said.event)?;
                writeln!(out)?;
            }
        }
    }
    Ok(())
}
