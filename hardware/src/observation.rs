use kiebitz_protocol::{BatteryStatus, ClockTimes, Dump, Element, FieldUpdate};

use crate::time::Timestamp;

/// An observation with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Observed {
    /// Arrival time of the last byte that led to the observation.
    pub at: Timestamp,
    /// The observation itself.
    pub observation: Observation,
}

/// An observation of a board.
///
/// Fields have their wire numbers. The caller has to determine the orientation of the board.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[non_exhaustive]
pub enum Observation {
    /// The port was opened.
    Opened,
    /// The port was closed or disappeared.
    Closed {
        /// The reason, from the operating system or the recorder.
        reason: String,
    },
    /// The board reported a further part of its identity.
    Identified(Identity),
    /// A field changed (FIELD_UPDATE).
    Field {
        /// The field and its new contents.
        update: FieldUpdate,
        /// Time after which the field changed: one scan before the report.
        not_before: Timestamp,
    },
    /// The contents of all fields (BOARD_DUMP).
    Board {
        /// Contents of the fields.
        #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::dump"))]
        dump: Dump,
        /// Time after which the board scanned the fields.
        not_before: Timestamp,
    },
    /// The clock's times (BWTIME).
    Clock {
        /// The clock reading.
        times: ClockTimes,
        /// Time after which the clock showed this reading. The board polls the clock only two or three times a second.
        not_before: Timestamp,
    },
    /// The board reports that no clock is connected (BWTIME).
    ClockAbsent,
    /// The board's memory was requested. The answer may take several seconds, in which the board sends nothing else.
    MemoryAsked,
    /// The board's memory (EE_MOVES). Undecodable parts are omitted.
    Memory {
        /// Elements of the memory, oldest first.
        elements: Vec<Element>,
    },
    /// The changes since the previous query, from a board in bus mode, which reports changes only on request.
    ///
    /// A dump that arrived since the previous query may already contain some of the changes.
    Changes {
        /// Piece changes and, if the lever was pressed, the time of the stopped side; oldest first. Empty if there are
        /// no changes.
        elements: Vec<Element>,
        /// Time after which the changes happened: one scan before the last answered query.
        ///
        /// [`Timestamp::from_micros(0)`](Timestamp::from_micros) for the first changes after the board was found,
        /// because the time of the previous query is unknown. These changes start at the last query before a restart of
        /// the daemon, or at the power-up, which is then one of the elements.
        not_before: Timestamp,
        /// Time before which the changes happened: the time at which the board composed its answer. The answer may
        /// arrive much later if it was damaged and had to be repeated.
        not_after: Timestamp,
        /// Whether the query was sent before the last absence of the board or the last closing of the line. Later
        /// changes come with the next answer.
        from_before: bool,
    },
    /// The state of the board's battery (BATTERY_STATUS).
    Battery(BatteryStatus),
    /// Bytes were lost, so changes may be missing until the next dump.
    Disturbed {
        /// Number of dropped bytes.
        bytes: usize,
    },
}

/// The identity of a board. Each part is `None` until the board has reported it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Identity {
    /// Serial number, usually five digits (SERIALNR).
    pub serial: Option<String>,
    /// Long serial number, usually ten digits (LONG_SERIALNR).
    pub long_serial: Option<String>,
    /// Major and minor number of the firmware version (VERSION).
    pub version: Option<(u8, u8)>,
    /// Text with firmware names and serial number (TRADEMARK).
    pub trademark: Option<String>,
}
