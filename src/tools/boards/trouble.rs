//! What is wrong with a port or a board, and what to do about it.

use kiebitz_hardware::port::{PortError, PortKind};
use serde::Serialize;

/// A trouble and the next step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Trouble {
    /// A word for programs.
    pub(super) kind: &'static str,
    /// What is wrong, for people.
    pub(super) text: String,
    /// What to do about it.
    pub(super) step: String,
}

impl Trouble {
    fn new(kind: &'static str, text: impl Into<String>, step: impl Into<String>) -> Self {
        let (text, step) = (text.into(), step.into());
        Self { kind, text, step }
    }

    /// The port cannot be opened, or ports cannot be listed.
    pub(super) fn of(error: &PortError) -> Self {
        match error {
            PortError::Busy {
                holder: Some(holder), ..
            } => Self::new(
                "busy",
                format!("in use by {holder}"),
                format!("End that program; if it hangs, `kill {}`.", holder.id),
            ),
            PortError::Busy { device, holder: None } => Self::new(
                "busy",
                "in use by a program of another user",
                format!(
                    "`sudo fuser -v {}` tells which. If it is the kiebitz service, all is well; \
                     `sudo systemctl stop kiebitz` ends it.",
                    device.display()
                ),
            ),
            PortError::Denied { remedy, .. } => {
                Self::new("denied", "permission denied", sentence(&remedy.to_string()))
            }
            PortError::Missing { .. } => Self::new(
                "missing",
                "there is no such device",
                "Plug the board in, or correct the path; `ls -l /dev/serial/by-id` shows what is plugged in.",
            ),
            PortError::NotSerial { .. } => Self::new(
                "not_serial",
                "not a serial port",
                "Correct the path; `ls -l /dev/serial/by-id` shows the serial ports on USB.",
            ),
            PortError::Unlisted { .. } => Self::new(
                "unlisted",
                error.to_string(),
                "Name the ports yourself, as in `kiebitz boards --port /dev/ttyUSB0`.",
            ),
            _ => Self::new(
                "unusable",
                error.to_string(),
                "Unplug the device, plug it in again, and run this again.",
            ),
        }
    }

    /// Nothing came from the port.
    pub(super) fn silent(reason: &str, kind: PortKind) -> Self {
        let step = match kind {
            PortKind::Board => {
                "Push the cable in at both ends, try another socket of the computer, then another cable."
            }
            PortKind::Bluetooth => {
                "Switch the board on and bring it near; charge it if it does not come on. `bluetoothctl info` \
                 shows whether it is paired."
            }
            PortKind::Converter | PortKind::Serial => {
                "Check that the board has power and push its cable in at both ends. If the port is for something \
                 else, no board is missing."
            }
            PortKind::PseudoTerminal => "Is the program that emulates the board still running?",
        };
        Self::new("no_answer", reason, step)
    }

    /// Something came, but no board's answers.
    pub(super) fn garbled(reason: &str) -> Self {
        Self::new(
            "no_board",
            reason,
            "Push the cable in at both ends and try another cable. If something else than a board is plugged in \
             here, no board is missing.",
        )
    }

    /// No board of a row answers.
    pub(super) fn silent_bus(reason: &str) -> Self {
        Self::new(
            "no_answer",
            reason,
            "Check the adapter that powers the row, and the first cable of the row at both ends. If only one \
             board is plugged in here, its mode is single.",
        )
    }

    /// The device went away while it was looked at.
    pub(super) fn gone(reason: &str) -> Self {
        Self::new("gone", reason, "Push the cable in at both ends.")
    }

    /// A board of a row that was found says nothing more.
    pub(super) fn mute(reason: &str) -> Self {
        Self::new(
            "mute",
            reason,
            "Push in the cables to its neighbours, and run this again. Two boards with the same serial number on \
             one row disturb each other as well.",
        )
    }

    pub(super) fn occupancy_only() -> Self {
        Self::new(
            "occupancy_only",
            "all its pieces look the same",
            "The board seems to sense only whether a square is occupied; kiebitz needs one that tells the pieces \
             apart.",
        )
    }

    pub(super) fn clock_battery() -> Self {
        Self::new(
            "clock_battery_low",
            "the clock's battery is low",
            "Change the clock's batteries before the round.",
        )
    }

    pub(super) fn board_battery() -> Self {
        Self::new(
            "battery_low",
            "the board's battery is low",
            "Charge the board before the round.",
        )
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
