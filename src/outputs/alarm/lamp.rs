//! Lamps switched over MQTT: one for the whole hall, or one for each board or table.

use std::collections::BTreeMap;

use super::projection::Alarms;
use crate::outputs::mqtt::{MqttConfig, Subscriber, SubscriberEvent, publish_once};
use crate::outputs::shared::reports::Reports;
use crate::system_time::wall_time;

/// Lamps, and the states that were last sent to them.
pub(super) struct Lamp {
    output: String,
    broker: MqttConfig,
    link: Subscriber,
    is_connected: bool,
    /// Whether all lamps are on for a test.
    is_testing: bool,
    /// Topic of the lamp. With `{board}` or `{table}` in it, each board or table has a lamp of its own.
    topic: String,
    on: String,
    off: String,
    /// State last sent to each topic; true if on.
    sent: BTreeMap<String, bool>,
    reports: Reports,
}

impl Lamp {
    pub(super) fn new(
        broker: MqttConfig,
        output: &str,
        (topic, on, off): (String, String, String),
        reports: Reports,
    ) -> Self {
        Self {
            output: output.to_owned(),
            broker: broker.clone(),
            link: Subscriber::start(broker, &output.replace(' ', "-"), Vec::new()),
            is_connected: false,
            is_testing: false,
            topic,
            on,
            off,
            sent: BTreeMap::new(),
            reports,
        }
    }

    /// Handles the next change of the connection to the broker.
    pub(super) async fn handle_connection(&mut self) {
        match self.link.next().await {
            SubscriberEvent::Connected => {
                self.is_connected = true;
                // Lamps may have restarted together with the broker, so send their states again.
                self.sent.clear();
                self.reports.problems(&self.output, Vec::new());
            }
            SubscriberEvent::Lost(reason) => {
                self.is_connected = false;
                let problem = format!("no connection to the MQTT broker: {reason}");
                if self.reports.problems(&self.output, vec![problem.clone()]) {
                    tracing::warn!("{}: {problem}", self.output);
                }
            }
            SubscriberEvent::Message { .. } => {}
        }
    }

    /// Switches all lamps on. Returns their topics once the broker has acknowledged the first one.
    ///
    /// # Errors
    ///
    /// Fails with a message for the user if no board has been seen or the broker does not accept the message.
    pub(super) async fn test(&mut self, alarms: &Alarms) -> Result<String, String> {
        let all = lamps(&self.topic, alarms);
        let mut topics = all.keys();
        let Some(first) = topics.next() else {
            return Err("there is no lamp yet: no board has been seen".to_owned());
        };
        publish_once(&self.broker, first, self.on.clone()).await?;
        for topic in topics {
            self.link.send(topic.clone(), self.on.clone());
        }
        self.is_testing = true;
        Ok(all.keys().cloned().collect::<Vec<_>>().join(", "))
    }

    /// Ends a test: the next call of [`show`](Self::show) switches every lamp to its state.
    pub(super) fn end_test(&mut self) {
        self.is_testing = false;
        self.sent.clear();
    }

    /// Sends the states that differ from the last ones sent.
    pub(super) fn show(&mut self, alarms: &Alarms) {
        if !self.is_connected || self.is_testing {
            return;
        }
        for (topic, is_on) in lamps(&self.topic, alarms) {
            if self.sent.get(&topic) == Some(&is_on) {
                continue;
            }
            let (payload, state) = if is_on {
                (&self.on, "on")
            } else {
                (&self.off, "off")
            };
            self.link.send(topic.clone(), payload.clone());
            self.reports
                .done(&self.output, wall_time(), format!("{topic} is {state}"));
            self.sent.insert(topic, is_on);
        }
    }
}

/// Returns the topics of all lamps, and whether each lamp should be on.
fn lamps(topic: &str, alarms: &Alarms) -> BTreeMap<String, bool> {
    let raised = || alarms.raised().values();
    if !topic.contains("{board}") && !topic.contains("{table}") {
        return BTreeMap::from([(topic.to_owned(), raised().next().is_some())]);
    }
    let mut lamps = BTreeMap::new();
    for (board, table) in alarms.boards() {
        let table = table.map_or_else(|| board.to_owned(), |table| table.to_string());
        let topic = topic.replace("{board}", board).replace("{table}", &table);
        let is_on = raised().any(|alarm| alarm.board.as_deref() == Some(board));
        // Two boards may share a table and its lamp.
        *lamps.entry(topic).or_default() |= is_on;
    }
    lamps.retain(|topic, _| !topic.contains(['+', '#']));
    lamps
}
