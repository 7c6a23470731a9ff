//! MQTT.
