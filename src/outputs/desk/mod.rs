//! The desk: a web page on which arbiters log in, see every board without delay, and give commands.

#[cfg(target_os = "linux")]
mod door;
#[cfg(target_os = "linux")]
mod first;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod logins;
#[cfg(target_os = "linux")]
mod orders;
#[cfg(target_os = "linux")]
mod outputs;
mod page;
#[cfg(target_os = "linux")]
mod pairings;
#[cfg(target_os = "linux")]
mod passwords;
mod projection;
#[cfg(target_os = "linux")]
mod proxy;
#[cfg(target_os = "linux")]
mod review;
#[cfg(target_os = "linux")]
mod secrets;
#[cfg(target_os = "linux")]
mod sessions;
mod settings;
mod squares;
#[cfg(target_os = "linux")]
mod task;
#[cfg(target_os = "linux")]
mod users;

#[cfg(target_os = "linux")]
pub(crate) use first::CODE_INTRO;
pub use settings::DeskSettings;
pub(crate) use settings::web_address;
#[cfg(target_os = "linux")]
pub(crate) use task::{DeskOutput, InHall};
#[cfg(target_os = "linux")]
pub(crate) use users::{Role, line as user_line, names as user_names};
