//! The demonstration's own broker, if kiebitz was built with one.

#[cfg(feature = "demo-broker")]
use anyhow::Context;
use anyhow::Result;

use crate::outputs::mqtt::MqttConfig;

/// Runs until it is dropped.
#[derive(Debug)]
pub(super) struct DemoBroker {
    #[cfg(feature = "demo-broker")]
    running: crate::tools::broker::Broker,
}

#[cfg(feature = "demo-broker")]
impl DemoBroker {
    /// Starts it on a port of the loopback interface: `port` if given, else MQTT's own if that is free, else any.
    pub(super) fn start(port: Option<u16>) -> Result<Self> {
        let listen = |port: u16| crate::tools::broker::Broker::start(([127, 0, 0, 1], port).into());
        let running = match port {
            Some(port) => listen(port).with_context(|| {
                format!("port {port} is not available: leave out --port to use any free port")
            })?,
            None => listen(MQTT).or_else(|_| listen(0))?,
        };
        Ok(Self { running })
    }

    /// How to reach it; `None`: there is none.
    pub(super) fn config(&self) -> Result<Option<MqttConfig>> {
        let config = MqttConfig::from_url(&format!("mqtt://{}", self.running.addr()))?;
        Ok(Some(config.beside_the_daemon()))
    }

    /// Its port; `None`: there is no broker.
    pub(super) fn port(&self) -> Option<u16> {
        Some(self.running.addr().port())
    }
}

#[cfg(not(feature = "demo-broker"))]
impl DemoBroker {
    pub(super) fn start(port: Option<u16>) -> Result<Self> {
        anyhow::ensure!(
            port.is_none(),
            "this kiebitz was built without an MQTT broker: leave out --port"
        );
        Ok(Self {})
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with a broker")]
    pub(super) fn config(&self) -> Result<Option<MqttConfig>> {
        Ok(None)
    }

    #[expect(clippy::unused_self, reason = "as with a broker")]
    pub(super) fn port(&self) -> Option<u16> {
        None
    }
}

/// The port registered for MQTT.
#[cfg(feature = "demo-broker")]
const MQTT: u16 = 1883;
