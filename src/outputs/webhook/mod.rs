//! Webhooks: HTTP addresses that receive each round as PGN, or the events as JSON.

#[cfg(target_os = "linux")]
mod events;
#[cfg(target_os = "linux")]
mod rounds;
mod settings;
#[cfg(target_os = "linux")]
mod task;

pub(crate) use settings::webhooks;
pub use settings::{Webhook, WebhookContent};
