//! Report on a port. Its fields are those of `kiebitz boards --json`.

use kiebitz_game::clock::Side;
use kiebitz_game::hall::serials;
use kiebitz_game::position::Orientation;
use kiebitz_hardware::Place;
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::port::{Candidate, PortError, PortKind};
use kiebitz_protocol::{BatteryStatus, ClockTimes};
use serde::{Serialize, Serializer};
use shakmaty::Board;

use super::board::{FoundBoard, FoundClock};
use super::inspection::Inspection;
use super::trouble::TroubleReport;
use crate::config::Config;

/// A port and its boards. Unknown fields are `null`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct PortReport {
    /// Device, such as "/dev/ttyUSB0", or the configured path if there is no device.
    pub(super) port: String,
    /// Configured or given path of the device; `None` if the search found the device.
    pub(super) configured: Option<String>,
    /// "usb_board", "bluetooth", "converter", "pseudo_terminal" or "serial".
    #[serde(serialize_with = "kind_word")]
    pub(super) kind: Option<PortKind>,
    /// Description of the kind, for users.
    #[serde(skip)]
    pub(super) kind_text: String,
    pub(super) usb: Option<UsbReport>,
    /// "single" or "bus".
    #[serde(serialize_with = "mode_word")]
    pub(super) mode: Option<LineMode>,
    /// Process id of the kiebitz process that uses the port.
    pub(super) used_by_kiebitz: Option<u32>,
    pub(super) boards: Vec<BoardReport>,
    pub(super) troubles: Vec<TroubleReport>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct UsbReport {
    /// Vendor and product id as `lsusb` writes them.
    pub(super) id: String,
    pub(super) product: Option<String>,
    pub(super) serial: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct BoardReport {
    pub(super) name: Option<String>,
    /// Serial number of five digits.
    pub(super) serial: Option<String>,
    /// Serial number of ten digits.
    pub(super) long_serial: Option<String>,
    /// Version of the firmware, as "major.minor".
    pub(super) version: Option<String>,
    /// Manufacturer's text, trimmed.
    pub(super) trademark: Option<String>,
    /// Placement field of a FEN.
    pub(super) placement: Option<String>,
    pub(super) start_position: Option<bool>,
    /// Side of the board on which White sits.
    pub(super) orientation: Option<Orientation>,
    pub(super) clock: Option<ClockReport>,
    pub(super) battery: Option<BatteryReport>,
    pub(super) troubles: Vec<TroubleReport>,
    #[serde(skip)]
    pub(super) pieces: Option<Board>,
}

/// State of the clock, with the sides as seen from its front. If no clock is connected, only `present` is serialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct ClockReport {
    pub(super) present: bool,
    #[serde(flatten)]
    pub(super) times: Option<ClockReading>,
}

/// Times of a clock. Which side belongs to White is known only in play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct ClockReading {
    pub(super) left_ms: u64,
    pub(super) right_ms: u64,
    pub(super) running: bool,
    /// Side whose lever is up, "left" or "right". Its time is running, or will run once the clock starts.
    pub(super) turn: Side,
    pub(super) battery_low: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct BatteryReport {
    pub(super) percent: Option<u8>,
    pub(super) charging: bool,
    /// Minutes until the battery is empty or, if it is charging, full.
    pub(super) left_minutes: Option<u64>,
}

impl PortReport {
    /// Creates the report on a port before its inspection.
    pub(super) fn of(candidate: &Candidate) -> Self {
        let usb = candidate.usb.as_ref().map(|usb| UsbReport {
            id: usb.id.to_string(),
            product: usb.product.clone(),
            serial: usb.serial.clone(),
        });
        Self {
            port: candidate.device.display().to_string(),
            configured: candidate
                .configured
                .as_ref()
                .map(|path| path.display().to_string()),
            kind: Some(candidate.kind),
            kind_text: candidate.kind.to_string(),
            usb,
            mode: None,
            used_by_kiebitz: None,
            boards: Vec::new(),
            troubles: Vec::new(),
        }
    }

    /// Creates the report on a configured path without a device.
    pub(super) fn missing(path: &str) -> Self {
        Self {
            port: path.to_owned(),
            configured: Some(path.to_owned()),
            kind: None,
            kind_text: "configured port".to_owned(),
            usb: None,
            mode: None,
            used_by_kiebitz: None,
            boards: Vec::new(),
            troubles: vec![TroubleReport::of(&PortError::Missing { device: path.into() })],
        }
    }

    /// Creates the report on a failed search for ports.
    pub(super) fn unlisted(trouble: TroubleReport) -> Self {
        Self {
            configured: None,
            kind_text: "the list of serial ports".to_owned(),
            troubles: vec![trouble],
            ..Self::missing("/sys/class/tty")
        }
    }

    /// Creates the report on a USB device that has no port. `folder` is its folder in `/sys`.
    pub(super) fn without_port(folder: &str, usb: UsbReport, trouble: TroubleReport) -> Self {
        Self {
            configured: None,
            kind_text: "USB device without a port".to_owned(),
            usb: Some(usb),
            troubles: vec![trouble],
            ..Self::missing(folder)
        }
    }

    /// Adds the error from opening the port.
    pub(super) fn refused(mut self, error: &PortError) -> Self {
        match error {
            PortError::Busy {
                holder: Some(holder), ..
            } if holder.name == env!("CARGO_PKG_NAME") => self.used_by_kiebitz = Some(holder.id),
            _ => self.troubles.push(TroubleReport::of(error)),
        }
        self
    }

    pub(super) fn found(mut self, inspection: &Inspection, config: &Config) -> Self {
        self.mode = inspection.mode();
        let path = self.configured.clone().unwrap_or_else(|| self.port.clone());
        let boards = inspection.boards();
        self.boards = boards
            .map(|(place, board)| BoardReport::new(place, board, inspection, config, &path))
            .collect();
        self
    }

    /// Returns whether neither the port nor a board needs attention.
    pub(super) fn is_fine(&self) -> bool {
        self.troubles.is_empty() && self.boards.iter().all(|board| board.troubles.is_empty())
    }
}

impl BoardReport {
    fn new(place: Place, board: &FoundBoard, inspection: &Inspection, config: &Config, port: &str) -> Self {
        let identity = &board.identity;
        let name = config.board_name(serials(identity), port);
        let placement = board.placement();
        let clock = ClockReport::new(board.clock);
        let battery = board.battery.as_ref().map(BatteryReport::new);
        let mut troubles = Vec::new();
        troubles.extend(inspection.mute(place).map(TroubleReport::mute));
        troubles.extend(board.senses_occupancy_only().then(TroubleReport::occupancy_only));
        let clock_low = clock
            .and_then(|clock| clock.times)
            .is_some_and(|times| times.battery_low);
        troubles.extend(clock_low.then(TroubleReport::clock_battery));
        troubles.extend(
            battery
                .filter(BatteryReport::is_low)
                .map(|_| TroubleReport::board_battery()),
        );
        Self {
            name,
            serial: identity.serial.clone(),
            long_serial: identity.long_serial.clone(),
            version: identity.version.map(|(major, minor)| format!("{major}.{minor}")),
            trademark: identity.trademark.as_deref().map(|text| text.trim().to_owned()),
            placement: placement.map(ToString::to_string),
            start_position: placement.map(|placement| *placement == Board::new()),
            orientation: board.orientation(),
            clock,
            battery,
            troubles,
            pieces: placement.cloned(),
        }
    }

    /// Returns the serial number of five digits, which is also the board's address on a bus, or else the long one.
    pub(super) fn shown_serial(&self) -> Option<&String> {
        self.serial.as_ref().or(self.long_serial.as_ref())
    }

    /// Returns the name of the board, or else its serial number, for messages.
    pub(super) fn display_name(&self) -> String {
        match (&self.name, self.shown_serial()) {
            (Some(name), _) => name.clone(),
            (None, Some(serial)) => format!("board {serial}"),
            (None, None) => "board without a serial number".to_owned(),
        }
    }
}

impl ClockReport {
    fn new(clock: FoundClock) -> Option<Self> {
        let times = match clock {
            FoundClock::Unknown => return None,
            FoundClock::Absent => None,
            FoundClock::Shows(times) => Some(ClockReading::new(&times)),
        };
        Some(Self {
            present: times.is_some(),
            times,
        })
    }
}

impl ClockReading {
    fn new(times: &ClockTimes) -> Self {
        let ms = |seconds: u32| u64::from(seconds) * 1000;
        Self {
            left_ms: ms(times.left.total_seconds()),
            right_ms: ms(times.right.total_seconds()),
            running: times.running,
            turn: if times.lever_right_high {
                Side::Right
            } else {
                Side::Left
            },
            battery_low: times.battery_low,
        }
    }
}

impl BatteryReport {
    fn new(battery: &BatteryStatus) -> Self {
        Self {
            percent: (battery.percent != BatteryStatus::UNKNOWN).then_some(battery.percent),
            charging: battery.charging(),
            left_minutes: battery.time_left().map(|left| left.as_secs() / 60),
        }
    }

    /// Returns whether the charge may be too low for a long game.
    fn is_low(&self) -> bool {
        !self.charging && self.percent.is_some_and(|percent| percent < LOW_BATTERY_PERCENT)
    }
}

#[expect(clippy::ref_option, reason = "serde hands fields over by reference")]
fn kind_word<S: Serializer>(kind: &Option<PortKind>, serializer: S) -> Result<S::Ok, S::Error> {
    let word = kind.map(|kind| match kind {
        PortKind::Board => "usb_board",
        PortKind::Bluetooth => "bluetooth",
        PortKind::Converter => "converter",
        PortKind::PseudoTerminal => "pseudo_terminal",
        PortKind::Serial => "serial",
    });
    word.serialize(serializer)
}

#[expect(clippy::ref_option, reason = "serde hands fields over by reference")]
fn mode_word<S: Serializer>(mode: &Option<LineMode>, serializer: S) -> Result<S::Ok, S::Error> {
    let word = mode.and_then(|mode| match mode {
        LineMode::Single => Some("single"),
        LineMode::Bus => Some("bus"),
        LineMode::Unknown => None,
    });
    word.serialize(serializer)
}

/// Charge below which a battery is reported as low, in percent.
const LOW_BATTERY_PERCENT: u8 = 20;
