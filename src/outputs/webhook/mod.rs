//! Webhooks: addresses of others that are told what happens, each round as PGN, or the events.

#[cfg(target_os = "linux")]
mod events;
#[cfg(target_os = "linux")]
mod rounds;
mod settings;

#[cfg(target_os = "linux")]
pub(in crate::outputs) use events::follow as follow_events;
#[cfg(target_os = "linux")]
pub(in crate::outputs) use rounds::follow as follow_rounds;
pub(crate) use settings::webhooks;
pub use settings::{Sent, Webhook};

#[cfg(target_os = "linux")]
use crate::outputs::shared::address::{Address, Refused};

/// The address, as it is told of.
#[cfg(target_os = "linux")]
fn address(settings: &Webhook) -> Address {
    let output = format!("webhook {}", settings.name);
    Address::new(output, settings.url.clone(), settings.token_file.clone())
}
