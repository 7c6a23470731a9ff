//! Webhooks: HTTP addresses to which rounds are posted as PGN, or events as JSON.

#[cfg(target_os = "linux")]
mod events;
#[cfg(target_os = "linux")]
mod rounds;
mod settings;
#[cfg(target_os = "linux")]
mod task;

pub(crate) use settings::webhooks;
pub use settings::{Webhook, WebhookContent};
