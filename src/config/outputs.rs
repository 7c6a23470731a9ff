//! Collects the outputs of a configuration.

use std::sync::Arc;

use super::Config;
use crate::outputs::broadcast::EventFacts;
use crate::outputs::desk::{DeskOutput, InHall};
use crate::outputs::feeds::{FeedSettings, Output};
use crate::outputs::mqtt::MqttConfig;

impl Config {
    /// Returns the facts of the event for the outputs.
    pub(crate) fn event_facts(&self) -> EventFacts {
        EventFacts::of(&self.event, self.tie_breaks.as_deref())
    }

    /// Returns the configured outputs. `in_hall` gives the desk access to pairings and recordings; a hub passes `None`,
    /// because its boards are elsewhere.
    pub(crate) fn outputs(&self, in_hall: Option<InHall>) -> FeedSettings {
        // Programs that expect LiveChess run next to the boards, so a hub does not serve them.
        let livechess = self.livechess.as_ref().filter(|_| in_hall.is_some());
        let desk = self.desk.clone().map(|settings| DeskOutput { settings, in_hall });
        let all = [
            self.lichess.iter().map(output).collect(),
            self.publish.iter().map(output).collect(),
            self.webhooks.iter().map(output).collect(),
            self.alarms.iter().map(output).collect(),
            desk.iter().map(output).collect(),
            livechess.iter().copied().map(output).collect::<Vec<_>>(),
        ];
        let usual = self.mqtt.as_ref().map(MqttConfig::public_delay);
        FeedSettings {
            outputs: all.into_iter().flatten().collect(),
            broker: self.mqtt.clone(),
            language: self.event.language,
            delay: usual.unwrap_or_default(),
            notes: self.state_directory(),
        }
    }
}

fn output<T: Output + Clone + 'static>(settings: &T) -> Arc<dyn Output> {
    Arc::new(settings.clone())
}
