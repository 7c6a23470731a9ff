//! State of the connection to a board: reliable, with suspected losses, closed, or waiting for the board's memory.

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::{Dump, Element};

use super::rewind::Mark;
use super::sensors::Sensors;
use crate::clock::Side;
use crate::tracker::memory;

#[derive(Debug, Default)]
pub(super) enum Hearing {
    /// Every change is reported.
    #[default]
    Sure,
    /// Reports have been lost since this time. The board's memory may still hold them.
    Suspect(Timestamp),
    Away(Box<Unheard>),
    /// The port is open again. Until this time, the board's memory may come.
    Back(Box<Unheard>, Timestamp),
}

/// What was known at one moment, from which the board's memory is followed: when the port closed, or at a checkpoint,
/// when a dump agreed with all reports.
#[derive(Debug, Default, Clone)]
pub(super) struct Unheard {
    pub(super) heard_until: Timestamp,
    pub(super) clock_until: Timestamp,
    /// The sensors at this moment.
    pub(super) before: Sensors,
    /// The sensors after each of the last announced, unconfirmed plies; empty unless the line was resumed.
    pub(super) alternatives: Vec<Sensors>,
    /// The side whose clock was not running, and its time in seconds; `None` if unknown.
    pub(super) halted: Option<(Side, u32)>,
    /// State of the line at this moment; `None` without a line.
    pub(super) mark: Option<Mark>,
    /// The placement at the end of the previous game; `None` unless the line was resumed from the journal.
    pub(super) cleared: Option<Dump>,
    /// Time of the first sign of lost reports.
    pub(super) suspected: Option<Timestamp>,
    pub(super) refuted: bool,
    /// Whether this is the moment before a gap. The memory then shows whether the board lost its power in the gap.
    pub(super) before_gap: bool,
    /// Whether the board has kept its power since, because only the daemon was restarted.
    pub(super) powered: bool,
    /// Whether reports were lost while the port was open, so that the line goes back to a checkpoint.
    pub(super) rewinds: bool,
    pub(super) first_dump: Option<(Timestamp, Dump)>,
    /// A polled board's answers to queries from before the gap.
    pub(super) from_before: Vec<Element>,
}

/// State of a board that reports changes only when it is polled.
#[derive(Debug)]
pub(super) struct Polled {
    pub(super) known_until: Timestamp,
    /// Whether the last piece touched in the last answer was White's; see
    /// [`times`](crate::tracker::memory::pace::times).
    pub(super) touched: Option<bool>,
    /// A dump with changes that no answer has reported. If the next answer does not report them either, they were lost.
    pub(super) dump: Option<Dump>,
}

impl Hearing {
    pub(super) const fn is_sure(&self) -> bool {
        matches!(self, Self::Sure)
    }

    pub(super) fn suspected(&self) -> Option<Timestamp> {
        match self {
            Self::Sure => None,
            Self::Suspect(since) => Some(*since),
            Self::Away(unheard) | Self::Back(unheard, _) => unheard.suspected,
        }
    }

    pub(super) fn unheard(&self) -> Option<&Unheard> {
        match self {
            Self::Sure | Self::Suspect(_) => None,
            Self::Away(unheard) | Self::Back(unheard, _) => Some(unheard),
        }
    }

    pub(super) fn unheard_mut(&mut self) -> Option<&mut Unheard> {
        match self {
            Self::Sure | Self::Suspect(_) => None,
            Self::Away(unheard) | Self::Back(unheard, _) => Some(unheard),
        }
    }

    pub(super) const fn is_away(&self) -> bool {
        matches!(self, Self::Away(_))
    }

    pub(super) const fn tells_by(&self) -> Option<Timestamp> {
        match self {
            Self::Back(_, until) => Some(*until),
            _ => None,
        }
    }

    pub(super) fn suspect(&mut self, now: Timestamp) {
        if self.is_sure() {
            *self = Self::Suspect(now);
        }
    }

    pub(super) fn trust(&mut self) {
        match self {
            Self::Sure => {}
            Self::Suspect(_) => *self = Self::Sure,
            Self::Away(unheard) | Self::Back(unheard, _) => unheard.suspected = None,
        }
    }

    /// Stops waiting for the memory. Returns the moment from which to follow it.
    pub(super) fn stop_waiting(&mut self) -> Option<Unheard> {
        let heard = self.suspected().map_or(Self::Sure, Self::Suspect);
        match core::mem::replace(self, heard) {
            Self::Sure | Self::Suspect(_) => None,
            Self::Away(unheard) | Self::Back(unheard, _) => Some(*unheard),
        }
    }

    /// Handles the closing of the port. If the memory has not come since the previous gap, both gaps count as one.
    pub(super) fn lose(&mut self, unheard: impl FnOnce() -> Unheard) {
        let unheard = self.stop_waiting().unwrap_or_else(unheard);
        *self = Self::Away(Box::new(Unheard {
            first_dump: None,
            powered: false,
            ..unheard
        }));
    }

    /// Handles a dump. The first one after the port has opened starts the wait for the memory until `until`.
    pub(super) fn dump_received(&mut self, now: Timestamp, dump: &Dump, until: Timestamp) {
        *self = match core::mem::take(self) {
            Self::Away(unheard) => Self::Back(unheard, until),
            heard => heard,
        };
        if let Some(unheard) = self.unheard_mut() {
            unheard.first_dump.get_or_insert((now, *dump));
        }
    }
}

impl Unheard {
    pub(super) fn missed<'e>(&self, elements: &'e [Element]) -> Option<(usize, &'e [Element])> {
        self.before.missed(elements, self.halted, self.cleared.as_ref())
    }

    /// Returns the elements of the memory that cover the time since this moment; `None` if the memory does not cover
    /// it. A memory that begins when the power came back covers the time before only if the board found the pieces as
    /// before the gap and has recorded changes since.
    pub(super) fn covered_by<'e>(&self, elements: &'e [Element]) -> Option<&'e [Element]> {
        let (off, missed) = self.missed(elements)?;
        let powerless = memory::begins_with_power(elements, missed);
        let covers = !powerless || off == 0 && memory::changes(missed).next().is_some();
        (!missed.is_empty() && covers).then_some(missed)
    }

    /// Replaces `before` by the alternative that fits the memory best, if it fits at least as well as `before`. Among
    /// equal alternatives, the latest is used.
    pub(super) fn likeliest(mut self, elements: &[Element]) -> Self {
        let halted = self.halted;
        let off = |shown: &Sensors| {
            shown
                .missed(elements, halted, None)
                .map_or(usize::MAX, |(off, _)| off)
        };
        let likeliest = self.alternatives.drain(..).rev().min_by_key(off);
        if let Some(likeliest) = likeliest.filter(|other| off(other) <= off(&self.before)) {
            self.before = likeliest;
        }
        self
    }
}
