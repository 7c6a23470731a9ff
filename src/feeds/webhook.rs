//! Tells addresses of others what happens: each round as PGN, or the events.

mod events;
mod rounds;

pub(super) use events::follow as follow_events;
pub(super) use rounds::follow as follow_rounds;

use super::address::{Address, Refused};
use crate::config::Webhook;

/// The address, as it is told of.
fn address(settings: &Webhook) -> Address {
    let output = format!("webhook {}", settings.name);
    Address::new(output, settings.url.clone(), settings.token_file.clone())
}
