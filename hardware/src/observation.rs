//! What a session learns from a board.

use kiebitz_protocol::{BatteryStatus, ClockTimes, Dump, Element, FieldUpdate};

use crate::time::Timestamp;

/// One thing learned from a board, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Observed {
    /// Arrival of the deciding byte.
    pub at: Timestamp,
    /// What was learned.
    pub observation: Observation,
}

/// What was learned.
///
/// Fields carry their wire numbers: which way round the board stands is for the reader of the observations to
/// find out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[non_exhaustive]
pub enum Observation {
    /// The port was opened.
    Opened,
    /// The port is gone; the reason comes from the operating system or the recorder.
    Closed {
        /// Why the port went away.
        reason: String,
    },
    /// The board reported more about itself.
    Identified(Identity),
    /// A field changed (FIELD_UPDATE).
    Field {
        /// The change.
        update: FieldUpdate,
        /// The field held its old contents at this time: one scan before the report.
        not_before: Timestamp,
    },
    /// All fields (BOARD_DUMP).
    Board {
        /// Contents of the fields.
        #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::dump"))]
        dump: Dump,
        /// The fields were read after this time.
        not_before: Timestamp,
    },
    /// The clock's times (BWTIME).
    Clock {
        /// The reading.
        times: ClockTimes,
        /// The clock showed this after this time: the board polls it only two or three times a second.
        not_before: Timestamp,
    },
    /// The board reports that no clock is connected (BWTIME).
    ClockAbsent,
    /// The board was asked for its memory: the answer may take some seconds, in which it sends nothing else.
    MemoryAsked,
    /// The board's memory (EE_MOVES), oldest element first; what could not be read is left out.
    Memory {
        /// What the board has recorded.
        elements: Vec<Element>,
    },
    /// What happened on a board that is asked instead of reporting by itself (bus mode), oldest element first: all
    /// that changed since it was last asked; empty if nothing has.
    ///
    /// A dump may have come between and show some of it already.
    Changes {
        /// Piece changes and, at lever changes, the halted side's time.
        elements: Vec<Element>,
        /// All of it happened after this time: a scan before the question that was answered last.
        ///
        /// [`Timestamp::from_micros(0)`](Timestamp::from_micros) when it is not known when the board was last asked:
        /// with the first changes after it was found. They may reach back to the last question of a daemon before a
        /// restart, or to the power-up, which then is one of the elements.
        not_before: Timestamp,
        /// All of it happened before this time: when the board made up its answer. That can be long before it was
        /// heard, if it was damaged and had to be repeated.
        not_after: Timestamp,
        /// The board was asked for it before it was last away, or the line was: what has happened since comes with the
        /// next answer.
        from_before: bool,
    },
    /// The state of the board's battery (BATTERY_STATUS).
    Battery(BatteryStatus),
    /// Bytes were lost: changes may be missing until the next dump.
    Disturbed {
        /// Bytes that made no message.
        bytes: usize,
    },
}

/// What a board reports about itself; `None` until it has reported it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Identity {
    /// Five digits (SERIALNR).
    pub serial: Option<String>,
    /// Ten digits (LONG_SERIALNR).
    pub long_serial: Option<String>,
    /// Major and minor number (VERSION).
    pub version: Option<(u8, u8)>,
    /// The maker's text (TRADEMARK).
    pub trademark: Option<String>,
}
