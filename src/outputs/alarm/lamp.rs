//! A lamp, or one for each board, which the broker of the hall puts on and off.

use std::collections::BTreeMap;

use super::projection::Alarms;
use crate::outputs::mqtt::{Heard, MqttConfig, Subscriber};
use crate::outputs::shared::reports::Reports;
use crate::system_time::wall_time;

/// Lamps, and what they were told last.
pub(super) struct Lamp {
    output: String,
    link: Subscriber,
    is_connected: bool,
    /// With `{board}` or `{table}` in it there is one for each.
    topic: String,
    on: String,
    off: String,
    /// By topic: whether it is on.
    shown: BTreeMap<String, bool>,
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
            link: Subscriber::start(broker, &output.replace(' ', "-"), Vec::new()),
            is_connected: false,
            topic,
            on,
            off,
            shown: BTreeMap::new(),
            reports,
        }
    }

    /// Waits until the connection to the broker comes or goes.
    pub(super) async fn turn(&mut self) {
        match self.link.next().await {
            Heard::Connected => {
                self.is_connected = true;
                // A lamp may have come with the broker.
                self.shown.clear();
                self.reports.problems(&self.output, Vec::new());
            }
            Heard::Lost(reason) => {
                self.is_connected = false;
                let problem = format!("no connection to the MQTT broker: {reason}");
                if self.reports.problems(&self.output, vec![problem.clone()]) {
                    tracing::warn!("{}: {problem}", self.output);
                }
            }
            Heard::Message { .. } => {}
        }
    }

    /// Shows what is raised.
    pub(super) fn show(&mut self, alarms: &Alarms) {
        if !self.is_connected {
            return;
        }
        for (topic, is_on) in lamps(&self.topic, alarms) {
            if self.shown.get(&topic) == Some(&is_on) {
                continue;
            }
            let (payload, did) = if is_on {
                (&self.on, "on")
            } else {
                (&self.off, "off")
            };
            self.link.ask(topic.clone(), payload.clone());
            self.reports
                .done(&self.output, wall_time(), format!("{topic} is {did}"));
            self.shown.insert(topic, is_on);
        }
    }
}

/// Every lamp, and whether it is to be on.
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
