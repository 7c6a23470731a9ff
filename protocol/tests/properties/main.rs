//! Properties of the wire protocol: what is written is read back, in whatever portions it comes,
//! after whatever garbage, and nothing makes it panic.

mod bus;
mod commands;
mod eeprom;
mod messages;
mod strategies;
