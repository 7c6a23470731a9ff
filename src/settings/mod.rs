//! Building blocks for the tables of a configuration: values, their deserialisation, and errors.
//!
//! Each output uses them to read its own table; [`config`](crate::config) reads the other tables and collects them all.

mod error;
mod reading;
mod values;

pub use error::{ConfigError, Mistake};
pub(crate) use error::{SpannedError, in_quotes};
pub(crate) use reading::{
    Absolute, Delay, TextValue, UniqueLines, delay, name, named, path, paths, required_name, required_path,
    url_of, without_login,
};
pub use values::{Name, NameError, NoUsbId, UsbId};
