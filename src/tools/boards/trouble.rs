//! Problems of ports and boards, with advice on how to fix them.

use kiebitz_game::vocabulary;
use kiebitz_hardware::port::{PortError, PortKind};
use serde::Serialize;

vocabulary! {
    "kind of trouble"
    /// Kind of a problem, as a word for programs.
    pub(super) enum TroubleKind {
        /// Another program uses the port.
        Busy = "busy",
        /// The user has no permission to open the port.
        Denied = "denied",
        Missing = "missing",
        NotSerial = "not_serial",
        /// The ports cannot be listed.
        Unlisted = "unlisted",
        /// The port cannot be opened or used for another reason.
        Unusable = "unusable",
        /// No byte came from the port.
        NoAnswer = "no_answer",
        /// Bytes came from the port, but no valid answer of a board.
        NoBoard = "no_board",
        /// The device was unplugged.
        Gone = "gone",
        /// A board on a bus has stopped answering.
        Mute = "mute",
        /// The board does not distinguish its pieces.
        OccupancyOnly = "occupancy_only",
        /// brltty, or another program, has taken the USB device from its driver.
        Claimed = "claimed",
        /// No driver serves the USB device.
        NoDriver = "no_driver",
        /// ModemManager may write to the port.
        ModemManager = "modem_manager",
        /// The USB device is suspended while it is quiet.
        Autosuspend = "autosuspend",
        /// The Bluetooth link is gone after a restart of the computer.
        NotPersistent = "not_persistent",
        /// The configured link leads to several devices in turn.
        AmbiguousLink = "ambiguous_link",
        /// Two boards have the same serial number.
        SameSerial = "same_serial",
        ClockBatteryLow = "clock_battery_low",
        BatteryLow = "battery_low",
    }
}

impl TroubleKind {
    /// Returns whether the port works in spite of this problem, which is in the settings of the computer.
    pub(super) fn leaves_port_usable(self) -> bool {
        matches!(
            self,
            Self::ModemManager | Self::Autosuspend | Self::NotPersistent | Self::AmbiguousLink
        )
    }
}

/// A problem and the next step to fix it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct TroubleReport {
    pub(super) kind: TroubleKind,
    pub(super) text: String,
    pub(super) step: String,
}

impl TroubleReport {
    pub(super) fn new(kind: TroubleKind, text: impl Into<String>, step: impl Into<String>) -> Self {
        let (text, step) = (text.into(), step.into());
        Self { kind, text, step }
    }

    /// Reports that a port cannot be opened, or that the ports cannot be listed.
    pub(super) fn of(error: &PortError) -> Self {
        match error {
            PortError::Busy {
                holder: Some(holder), ..
            } if holder.name == MODEM_MANAGER => Self::new(
                TroubleKind::Busy,
                format!("in use by {holder}, which searches for modems"),
                "Run `sudo systemctl stop ModemManager`. To keep it away from boards, install the udev rule \
                 systemd/60-kiebitz.rules as its first lines explain.",
            ),
            PortError::Busy {
                holder: Some(holder), ..
            } if holder.name == BRLTTY => Self::new(
                TroubleKind::Busy,
                format!("in use by {holder}, which takes it for a Braille display"),
                "If nobody needs a Braille display on this computer, run `sudo apt remove brltty`. Otherwise enter \
                 the display's own device as `braille-device` in /etc/brltty.conf. Then plug the board in again.",
            ),
            PortError::Busy {
                holder: Some(holder), ..
            } => Self::new(
                TroubleKind::Busy,
                format!("in use by {holder}"),
                format!("Stop that program; if it hangs, run `kill {}`.", holder.id),
            ),
            PortError::Busy { device, holder: None } => Self::new(
                TroubleKind::Busy,
                "in use by a program of another user",
                format!(
                    "`sudo fuser -v {}` shows which program. If it is the kiebitz service, all is well; `sudo \
                     systemctl stop kiebitz` stops it.",
                    device.display()
                ),
            ),
            PortError::Denied { remedy, .. } => Self::new(
                TroubleKind::Denied,
                "permission denied",
                sentence(&remedy.to_string()),
            ),
            PortError::Missing { .. } => Self::new(
                TroubleKind::Missing,
                "there is no such device",
                "Plug the board in, or correct the path; `ls -l /dev/serial/by-id` lists what is plugged in.",
            ),
            PortError::NotSerial { .. } => Self::new(
                TroubleKind::NotSerial,
                "not a serial port",
                "Correct the path; `ls -l /dev/serial/by-id` lists the serial ports on USB.",
            ),
            PortError::Unlisted { .. } => Self::new(
                TroubleKind::Unlisted,
                error.to_string(),
                "Name the ports yourself, as in `kiebitz boards --port /dev/ttyUSB0`.",
            ),
            _ => Self::new(
                TroubleKind::Unusable,
                error.to_string(),
                "Unplug the device, plug it in again, and repeat the check.",
            ),
        }
    }

    pub(super) fn silent(reason: &str, kind: PortKind) -> Self {
        let step = match kind {
            PortKind::Board => {
                "Push the cable in at both ends; if that does not help, try another socket of the computer, \
                 then another cable."
            }
            PortKind::Bluetooth => {
                "Switch the board on and bring it near; charge it if it stays off. `bluetoothctl info` shows \
                 whether it is paired."
            }
            PortKind::Converter | PortKind::Serial => {
                "Check that the board has power, and push its cable in at both ends. If the port is for another \
                 device, no board is missing."
            }
            PortKind::PseudoTerminal => "Check that the program that emulates the board is still running.",
        };
        Self::new(TroubleKind::NoAnswer, reason, step)
    }

    pub(super) fn garbled(reason: &str) -> Self {
        Self::new(
            TroubleKind::NoBoard,
            reason,
            "Push the cable in at both ends, and try another cable. If another device is plugged in here, no \
             board is missing.",
        )
    }

    pub(super) fn silent_bus(reason: &str) -> Self {
        Self::new(
            TroubleKind::NoAnswer,
            reason,
            "Check the adapter that powers the row, and the first cable of the row at both ends. If only one \
             board is plugged in here, set its mode to single.",
        )
    }

    pub(super) fn gone(reason: &str) -> Self {
        Self::new(TroubleKind::Gone, reason, "Push the cable in at both ends.")
    }

    pub(super) fn mute(reason: &str) -> Self {
        Self::new(
            TroubleKind::Mute,
            reason,
            "Push in the cables to its neighbours, and repeat the check. Two boards with the same serial number \
             in one row also disturb each other.",
        )
    }

    pub(super) fn occupancy_only() -> Self {
        Self::new(
            TroubleKind::OccupancyOnly,
            "all pieces look the same to it",
            "The board seems to sense only whether a square is occupied; kiebitz needs a board that tells the \
             pieces apart.",
        )
    }

    pub(super) fn clock_battery() -> Self {
        Self::new(
            TroubleKind::ClockBatteryLow,
            "the clock's battery is low",
            "Change the clock's batteries before the round.",
        )
    }

    pub(super) fn board_battery() -> Self {
        Self::new(
            TroubleKind::BatteryLow,
            "the board's battery is low",
            "Charge the board before the round.",
        )
    }
}

/// Name of the process of brltty, the driver of Braille displays.
pub(super) const BRLTTY: &str = "brltty";
pub(super) const MODEM_MANAGER: &str = "ModemManager";

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
