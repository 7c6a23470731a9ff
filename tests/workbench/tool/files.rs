//! Updates files that the tests compare with.

use std::fs;

use clap::Subcommand;

use crate::captures::folder;
use crate::captures::reduced::reduced;
use crate::captures::scenes::SCENES;
use crate::hands::{hall, verdict};

#[derive(Debug, Subcommand)]
pub(super) enum Captures {
    /// Record every scene anew. Writes expected events only if there are none; read them before you commit them
    Regenerate,
}

impl Captures {
    pub(super) fn run(self) -> bool {
        let Self::Regenerate = self;
        for (name, play) in SCENES {
            let capture = hall::record(&play());
            let path = folder().join(name);
            let events = path.with_extension("events");
            if !events.exists() {
                fs::write(&events, reduced(&verdict::events(&capture))).unwrap();
                println!("new, to be read: {}", events.display());
            }
            fs::write(path.with_extension("pcapng"), capture).unwrap();
        }
        true
    }
}
