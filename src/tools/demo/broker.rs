//! The demonstration's MQTT broker, if kiebitz was built with one.

#[cfg(feature = "demo-broker")]
use anyhow::Context;
use anyhow::Result;

use crate::outputs::mqtt::MqttConfig;

#[derive(Debug)]
pub(super) struct DemoBroker {
    #[cfg(feature = "demo-broker")]
    running: crate::tools::broker::Broker,
}

#[cfg(feature = "demo-broker")]
impl DemoBroker {
    /// Starts the broker on the loopback interface: on `port` if given, else on 1883 if that is free, else on any free
    /// port.
    pub(super) fn start(port: Option<u16>) -> Result<Self> {
        let listen = |port: u16| crate::tools::broker::Broker::start(([127, 0, 0, 1], port).into());
        let running = match port {
            Some(port) => listen(port).with_context(|| {
                format!("port {port} is not available: leave out --port to use any free port")
            })?,
            None => listen(MQTT_PORT).or_else(|_| listen(0))?,
        };
        Ok(Self { running })
    }

    /// Returns the settings to connect to the broker; `None` in a build without a broker.
    pub(super) fn config(&self) -> Result<Option<MqttConfig>> {
        let config = MqttConfig::from_url(&format!("mqtt://{}", self.running.addr()))?;
        Ok(Some(config.beside_the_daemon()))
    }

    /// Returns the port of the broker; `None` in a build without a broker.
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

/// Port that IANA assigns to MQTT.
#[cfg(feature = "demo-broker")]
const MQTT_PORT: u16 = 1883;
