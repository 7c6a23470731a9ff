//! What messages and bus answers have in common: an id with bit 7, a 7+7 bit length, data below 0x80.

use alloc::vec::Vec;

use crate::decoder::{Rejected, RejectedKind};

/// The highest number that 7+7 bits hold, and so the longest frame.
pub(crate) const MAX_SEPTETS: u16 = 0x3fff;

/// How many bytes stand before the data: id, length high, length low.
pub(crate) const HEADER: usize = 3;

/// Returns the number made of a high and a low group of 7 bits.
pub(crate) const fn join(high: u8, low: u8) -> u16 {
    ((high & 0x7f) as u16) << 7 | (low & 0x7f) as u16
}

/// Returns the high and the low group of 7 bits, bits above the 14th dropped.
pub(crate) const fn split(number: u16) -> [u8; 2] {
    [(number >> 7) as u8 & 0x7f, number as u8 & 0x7f]
}

/// Appends a frame: the id with bit 7 set, the length, and the data with bit 7 cleared.
///
/// `length` is that of the data, of which no more is taken than a frame can hold. Returns where
/// the frame begins in `out`.
pub(crate) fn encode(id: u8, length: usize, data: impl Iterator<Item = u8>, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    let total = (HEADER + length).min(usize::from(MAX_SEPTETS));
    let [high, low] = split(total as u16);
    out.reserve(total);
    out.extend([id | 0x80, high, low]);
    out.extend(data.take(total - HEADER).map(|byte| byte & 0x7f));
    start
}

/// Cuts a stream of bytes into frames.
///
/// Holds at most one unfinished frame. As long as frames arrive whole they are lent from the
/// caller's bytes and nothing is copied.
#[derive(Debug, Clone, Default)]
pub(crate) struct Framer {
    /// The unfinished frame. Empty, or an id followed by bytes below 0x80, in number fewer than
    /// the header or the declared length asks for.
    pending: Vec<u8>,
}

/// What a [`Framer`] found: a whole frame with its header, all bytes but the first below 0x80, or
/// bytes that belong to no whole frame.
pub(crate) type Framed<'a, E> = Result<&'a [u8], Rejected<E>>;

impl Framer {
    /// Finds frames in the pending bytes and these ones.
    ///
    /// `check` judges the id and declared length of every header that arrived.
    pub(crate) fn feed<E>(
        &mut self,
        bytes: &[u8],
        check: impl Fn(u8, u16) -> Result<(), E>,
        mut sink: impl FnMut(Framed<'_, E>),
    ) {
        let mut rest = bytes;
        while !self.pending.is_empty() && !rest.is_empty() {
            rest = self.resume(rest, &check, &mut sink);
        }
        while let Some(&id) = rest.first() {
            if id < 0x80 {
                let run = low_run(rest);
                sink(Err(Rejected {
                    kind: RejectedKind::Skipped,
                    bytes: run,
                }));
                rest = &rest[run..];
                continue;
            }
            let taken = match first_frame(rest, &check) {
                Scan::Frame(length) => {
                    sink(Ok(&rest[..length]));
                    length
                }
                Scan::Rejected(rejected) => {
                    let taken = rejected.bytes;
                    sink(Err(rejected));
                    taken
                }
                Scan::Unfinished => {
                    self.pending.extend_from_slice(rest);
                    rest.len()
                }
            };
            rest = &rest[taken..];
        }
    }

    /// Returns how many bytes wait for the rest of their frame.
    pub(crate) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Drops the unfinished frame and returns how many bytes it had.
    pub(crate) fn reset(&mut self) -> usize {
        let dropped = self.pending.len();
        self.pending.clear();
        dropped
    }

    /// Adds bytes to the unfinished frame up to its next decision, and returns those left over.
    fn resume<'b, E>(
        &mut self,
        bytes: &'b [u8],
        check: &impl Fn(u8, u16) -> Result<(), E>,
        sink: &mut impl FnMut(Framed<'_, E>),
    ) -> &'b [u8] {
        let wanted = declared(&self.pending).map_or(HEADER, |length| usize::from(length).max(HEADER));
        let missing = wanted.saturating_sub(self.pending.len());
        let (offered, _) = bytes.split_at(missing.min(bytes.len()));
        let run = low_run(offered);
        self.pending.extend_from_slice(&bytes[..run]);
        if run < offered.len() {
            sink(Err(truncated(&self.pending)));
            self.pending.clear();
        } else if self.pending.len() == wanted {
            // Either a header is complete, to be judged now, or a frame whose header passed.
            match first_frame(&self.pending, check) {
                Scan::Unfinished => return &bytes[run..],
                Scan::Frame(length) => sink(Ok(&self.pending[..length])),
                Scan::Rejected(rejected) => sink(Err(rejected)),
            }
            self.pending.clear();
        }
        &bytes[run..]
    }
}

enum Scan<E> {
    Frame(usize),
    Rejected(Rejected<E>),
    Unfinished,
}

/// Looks for a frame at the start of `bytes`, of which the first has bit 7.
#[inline]
fn first_frame<E>(bytes: &[u8], check: &impl Fn(u8, u16) -> Result<(), E>) -> Scan<E> {
    let [id, high, low, ..] = *bytes else {
        return unfinished_or_truncated(bytes, bytes.len());
    };
    if (high | low) & 0x80 != 0 {
        return unfinished_or_truncated(bytes, HEADER);
    }
    let length = join(high, low);
    if let Err(error) = check(id, length) {
        return Scan::Rejected(Rejected::invalid(error, HEADER));
    }
    let length = usize::from(length).max(HEADER);
    match bytes.get(HEADER..length) {
        Some(data) if low_run(data) == data.len() => Scan::Frame(length),
        _ => unfinished_or_truncated(bytes, length.min(bytes.len())),
    }
}

/// Tells whether the frame at the start of `bytes`, of length `limit` at most, was cut off by the
/// start of another.
fn unfinished_or_truncated<E>(bytes: &[u8], limit: usize) -> Scan<E> {
    let taken = 1 + low_run(&bytes[1..limit]);
    if taken < limit {
        Scan::Rejected(truncated(&bytes[..taken]))
    } else {
        Scan::Unfinished
    }
}

fn truncated<E>(frame: &[u8]) -> Rejected<E> {
    let id = frame.first().copied().unwrap_or_default();
    let kind = RejectedKind::Truncated {
        id,
        declared: declared(frame),
    };
    Rejected {
        kind,
        bytes: frame.len(),
    }
}

/// Returns the length that a frame declares, `None` while its header is incomplete.
fn declared(frame: &[u8]) -> Option<u16> {
    match *frame {
        [_, high, low, ..] => Some(join(high, low)),
        _ => None,
    }
}

/// Returns how many bytes below 0x80 stand in front.
#[inline]
fn low_run(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte >= 0x80).unwrap_or(bytes.len())
}
