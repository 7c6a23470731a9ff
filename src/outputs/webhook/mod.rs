//! Tells addresses of others what happens: each round as PGN, or the events.

mod events;
mod rounds;

pub(in crate::outputs) use events::follow as follow_events;
pub(in crate::outputs) use rounds::follow as follow_rounds;

use crate::config::Webhook;
use crate::outputs::shared::address::{Address, Refused};

/// The address, as it is told of.
fn address(settings: &Webhook) -> Address {
    let output = format!("webhook {}", settings.name);
    Address::new(output, settings.url.clone(), settings.token_file.clone())
}
