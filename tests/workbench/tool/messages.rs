//! Lists the texts for users.

use clap::Args;

use crate::messages::{Kind, all};

#[derive(Debug, Args)]
pub(super) struct Messages {
    /// Only texts of this kind; can be given several times
    #[arg(long, value_enum)]
    kind: Vec<Kind>,
}

impl Messages {
    pub(super) fn run(self) -> bool {
        for text in all() {
            if self.kind.is_empty() || self.kind.contains(&text.kind) {
                println!("{text}");
            }
        }
        true
    }
}
