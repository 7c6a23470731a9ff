//! Describes the targets of the broadcast.

use core::time::Duration;

use crate::config::{
    AlarmSettings, AlarmTo, Config, DeskSettings, Lichess, Publish, Webhook, WebhookContent,
};
use crate::outputs::mqtt::MqttConfig;

pub(super) fn lines(config: &Config) -> Vec<(&'static str, String)> {
    let usual = config
        .mqtt
        .as_ref()
        .map(MqttConfig::public_delay)
        .unwrap_or_default();
    let lines = [
        config
            .publish
            .as_ref()
            .map(|settings| ("broadcast", publish(settings, usual))),
        config
            .lichess
            .as_ref()
            .map(|settings| ("Lichess", lichess(settings, usual))),
        Some(("webhooks", webhooks(&config.webhooks, usual))).filter(|_| !config.webhooks.is_empty()),
        config.desk.as_ref().map(|settings| ("desk", desk(settings))),
        Some(("alarms", alarms(&config.alarms))).filter(|_| !config.alarms.is_empty()),
    ];
    lines.into_iter().flatten().collect()
}

/// Formats a delay, as in ", 15 min later".
fn later(delay: Duration) -> String {
    match (delay.as_secs() / 60, delay.as_secs() % 60) {
        (0, 0) => ", at once".to_owned(),
        (0, seconds) => format!(", {seconds} s later"),
        (minutes, 0) => format!(", {minutes} min later"),
        (minutes, seconds) => format!(", {minutes} min {seconds} s later"),
    }
}

fn publish(settings: &Publish, usual: Duration) -> String {
    let to = settings.to.iter().map(ToString::to_string);
    let served = settings.listen.map(|address| format!("http://{address}/"));
    let places: Vec<String> = to.chain(served).collect();
    if places.is_empty() {
        return "nowhere: neither `to` nor `listen` is set".to_owned();
    }
    places.join(", ") + &later(settings.delay.unwrap_or(usual))
}

fn lichess(settings: &Lichess, usual: Duration) -> String {
    let broadcast = settings.broadcast.as_ref();
    let broadcast = broadcast.map_or_else(
        || "creates a broadcast".to_owned(),
        |id| format!("broadcast {id}"),
    );
    broadcast + &later(settings.delay.unwrap_or(usual))
}

/// Describes the webhooks without their addresses, which may be secrets.
fn webhooks(webhooks: &[Webhook], usual: Duration) -> String {
    let items = webhooks.iter().map(|webhook| {
        let sent = match webhook.send {
            WebhookContent::Pgn => "rounds",
            WebhookContent::Events => "all events",
        };
        let later = later(webhook.delay.unwrap_or(usual));
        format!("{} ({sent}{later})", webhook.name)
    });
    items.collect::<Vec<_>>().join(", ")
}

fn alarms(alarms: &[AlarmSettings]) -> String {
    let items = alarms.iter().map(|alarm| {
        let channel = match &alarm.to {
            AlarmTo::Ntfy { .. } => "ntfy",
            AlarmTo::Webhook { .. } => "webhook",
            AlarmTo::Lamp { .. } => "lamp",
        };
        let kinds = match alarm.kinds.len() {
            0 => "everything".to_owned(),
            1 => alarm.kinds.iter().map(ToString::to_string).collect(),
            several => format!("{several} kinds"),
        };
        format!("{} ({channel}, {kinds})", alarm.name)
    });
    items.collect::<Vec<_>>().join(", ")
}

fn desk(settings: &DeskSettings) -> String {
    let users = settings.users_file.display();
    format!("http://{}/ for the users in {users}", settings.listen)
}
