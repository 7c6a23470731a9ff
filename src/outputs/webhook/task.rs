//! Starts the task of a webhook.

use std::path::Path;

use super::settings::{Webhook, WebhookContent};
use super::{events, rounds};
use crate::outputs::feeds::{Output, Starting};
use crate::outputs::shared::address::{Address, token_problem};

impl Output for Webhook {
    fn start(&self, starting: &mut Starting) {
        let reports = starting.reports.clone();
        match self.send {
            WebhookContent::Pgn => {
                let files = starting.pgn_files(self.delay);
                starting.spawn(rounds::follow(self.clone(), files, reports));
            }
            WebhookContent::Events => {
                let inputs = starting.follow();
                let delay = starting.delay(self.delay);
                let notes = starting.notes.join(format!("webhook-{}.json", self.name));
                starting.spawn(events::follow(self.clone(), delay, notes, inputs, reports));
            }
        }
    }

    fn secrets(&self) -> Vec<&Path> {
        self.token_file.as_deref().into_iter().collect()
    }

    fn file_problems(&self) -> Vec<String> {
        self.token_file
            .as_deref()
            .and_then(token_problem)
            .into_iter()
            .collect()
    }
}

/// The address with the name of its output.
pub(super) fn address(settings: &Webhook) -> Address {
    let output = format!("webhook {}", settings.name);
    Address::new(output, settings.url.clone(), settings.token_file.clone())
}
