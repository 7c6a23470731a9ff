//! Properties of the wire protocol: encoded units decode to the same values, in any portions and after any
//! garbage, and no input causes a panic.

mod bus;
mod commands;
mod eeprom;
mod messages;
mod strategies;
