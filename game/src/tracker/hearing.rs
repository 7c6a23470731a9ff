//! How a board is heard: reliably, with reports that seem lost, not at all, or with its memory still to come.

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::{Dump, Element};

use super::rewind::Mark;
use super::sensors::Sensors;
use crate::clock::Side;
use crate::tracker::memory;

/// How a board is heard.
#[derive(Debug, Default)]
pub(super) enum Hearing {
    /// It tells all that happens.
    #[default]
    Sure,
    /// Reports were lost: when the first sign of it came. The board's memory may still have them.
    Suspect(Timestamp),
    /// The port is closed.
    Away(Box<Unheard>),
    /// The port is open, and the board's memory may come until then and tell what was not heard.
    Back(Box<Unheard>, Timestamp),
}

/// What was known at some time, to find in the board's memory what has not been heard since: when the port closed, or when
/// a dump last agreed with all that had been reported (a checkpoint).
#[derive(Debug, Default, Clone)]
pub(super) struct Unheard {
    /// Until then everything was heard: as long as a board was that went away, or until the last checkpoint or answer.
    pub(super) heard_until: Timestamp,
    /// Until then the clock was heard.
    pub(super) clock_until: Timestamp,
    /// What the sensors showed then.
    pub(super) before: Sensors,
    /// What else they may have shown, where the last announced plies were not confirmed.
    pub(super) alternatives: Vec<Sensors>,
    /// The side whose clock was not running, and its time in seconds.
    pub(super) halted: Option<(Side, u32)>,
    /// Where the line was then; `None` without a line.
    pub(super) mark: Option<Mark>,
    /// What stood before the pieces were set up for that game, where nothing else is known of before.
    pub(super) cleared: Option<Dump>,
    /// When the first sign of lost reports had come before.
    pub(super) suspected: Option<Timestamp>,
    /// The plies that were reconstructed for the gap have been refuted.
    pub(super) refuted: bool,
    /// The port was open and single reports were lost: the line goes back to a checkpoint when the memory comes.
    pub(super) rewinds: bool,
    /// The first dump since the port opened again, and the time at which it came.
    pub(super) first_dump: Option<(Timestamp, Dump)>,
    /// What a polled board has answered to what it was asked before.
    pub(super) from_before: Vec<Element>,
}

/// What is known of a board that reports changes only when it is polled.
#[derive(Debug)]
pub(super) struct Polled {
    /// All that happened on the board until then is known.
    pub(super) known_until: Timestamp,
    /// Whose piece was touched last at the end of its last answer; see [`times`](crate::tracker::memory::pace::times).
    pub(super) touched: Option<bool>,
    /// A dump that shows more than was told: what its next answer does not tell of was lost.
    pub(super) dump: Option<Dump>,
}

impl Hearing {
    /// Whether it tells all that happens.
    pub(super) const fn is_sure(&self) -> bool {
        matches!(self, Self::Sure)
    }

    /// When the first sign of lost reports came.
    pub(super) fn suspected(&self) -> Option<Timestamp> {
        match self {
            Self::Sure => None,
            Self::Suspect(since) => Some(*since),
            Self::Away(unheard) | Self::Back(unheard, _) => unheard.suspected,
        }
    }

    /// What to find in the board's memory when it comes.
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

    /// Whether the port is closed.
    pub(super) const fn is_away(&self) -> bool {
        matches!(self, Self::Away(_))
    }

    /// Until when the memory may come and tell what was not reported.
    pub(super) const fn tells_by(&self) -> Option<Timestamp> {
        match self {
            Self::Back(_, until) => Some(*until),
            _ => None,
        }
    }

    /// A sign of lost reports has come.
    pub(super) fn suspect(&mut self, now: Timestamp) {
        if self.is_sure() {
            *self = Self::Suspect(now);
        }
    }

    /// What reports were lost before says nothing any more.
    pub(super) fn trust(&mut self) {
        match self {
            Self::Sure => {}
            Self::Suspect(_) => *self = Self::Sure,
            Self::Away(unheard) | Self::Back(unheard, _) => unheard.suspected = None,
        }
    }

    /// The memory is not awaited any longer, or has come. Returns what to find in it.
    pub(super) fn stop_waiting(&mut self) -> Option<Unheard> {
        let heard = self.suspected().map_or(Self::Sure, Self::Suspect);
        match core::mem::replace(self, heard) {
            Self::Sure | Self::Suspect(_) => None,
            Self::Away(unheard) | Self::Back(unheard, _) => Some(*unheard),
        }
    }

    /// The port has closed. If it opens and closes again before the memory has come, the same is unheard as before.
    pub(super) fn lose(&mut self, unheard: impl FnOnce() -> Unheard) {
        let unheard = self.stop_waiting().unwrap_or_else(unheard);
        *self = Self::Away(Box::new(Unheard {
            first_dump: None,
            ..unheard
        }));
    }

    /// The port is open again, and a dump has come. The memory may come until then, unless it is awaited already.
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
    /// What the memory has after it, as [`Sensors::missed`] finds it.
    pub(super) fn missed<'e>(&self, elements: &'e [Element]) -> Option<(usize, &'e [Element])> {
        self.before.missed(elements, self.halted, self.cleared.as_ref())
    }

    /// What the memory tells of what was not heard, if anything: a memory that begins with the power says nothing of the time
    /// before, unless all stood then as before the gap.
    pub(super) fn told_by<'e>(&self, elements: &'e [Element]) -> Option<&'e [Element]> {
        let (off, missed) = self.missed(elements)?;
        let powerless = memory::begins_with_power(elements, missed);
        let tells = !powerless || off == 0 && memory::changes(missed).next().is_some();
        (!missed.is_empty() && tells).then_some(missed)
    }

    /// Chooses among the alternatives the last one that the memory fits best.
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
