//! Alarms: tell people in the hall that they are needed, on a phone, at a web address, or by a lamp.

#[cfg(target_os = "linux")]
mod lamp;
mod projection;
mod settings;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod task;

pub use projection::AlarmKind;
pub(crate) use settings::alarms;
pub use settings::{AlarmSettings, AlarmTo};
