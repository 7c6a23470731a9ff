//! The scan, which samples the squares one after another.

use core::time::Duration;

use kiebitz_protocol::{Contents, Dump, Field};

use crate::time::Timestamp;

/// The actual contents of the squares, and the contents read by the scan.
#[derive(Debug, Clone)]
pub(super) struct Scan {
    actual: Dump,
    /// Contents that broken sensors always read.
    overrides: [Option<Contents>; Field::COUNT],
    seen: Dump,
    /// One bit for each square whose next sample will detect a change.
    pending_changes: u64,
    /// Time of the first sample.
    began: Timestamp,
    period: Duration,
    samples: u64,
}

impl Scan {
    /// Creates a scan that begins at `began`, with all squares read as empty.
    pub(super) fn new(began: Timestamp, period: Duration) -> Self {
        // With a period of zero, time would never advance between samples.
        let period = period.max(Duration::from_millis(1));
        Self {
            actual: [None; Field::COUNT],
            overrides: [None; Field::COUNT],
            seen: [None; Field::COUNT],
            pending_changes: 0,
            began,
            period,
            samples: 0,
        }
    }

    /// Changes the contents of a square. All samples up to now must have been taken.
    pub(super) fn set(&mut self, field: Field, contents: Contents) {
        self.actual[field.index()] = contents;
        self.compare(field);
    }

    /// Breaks a sensor, so that it always reads the same contents, or repairs it with `None`.
    pub(super) fn override_sensor(&mut self, field: Field, shows: Option<Contents>) {
        self.overrides[field.index()] = shows;
        self.compare(field);
    }

    pub(super) fn actual(&self) -> &Dump {
        &self.actual
    }

    pub(super) fn seen(&self) -> &Dump {
        &self.seen
    }

    /// Restarts the scan and reads all squares at once, as a board does at power-up.
    pub(super) fn begin(&mut self, began: Timestamp) {
        for field in Field::all() {
            self.seen[field.index()] = self.shown(field);
        }
        (self.began, self.samples, self.pending_changes) = (began, 0, 0);
    }

    fn shown(&self, field: Field) -> Contents {
        let actual = self.actual[field.index()];
        self.overrides[field.index()].unwrap_or(actual)
    }

    fn compare(&mut self, field: Field) {
        let bit = 1 << field.number();
        if self.shown(field) == self.seen[field.index()] {
            self.pending_changes &= !bit;
        } else {
            self.pending_changes |= bit;
        }
    }

    /// Returns when the scan will next detect a change, or `None` if there is no undetected change.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.next_change().map(|(sample, _)| self.time_of(sample))
    }

    /// Takes samples up to `now` until one detects a change.
    pub(super) fn advance(&mut self, now: Timestamp) -> Option<(Timestamp, Field)> {
        if let Some((sample, field)) = self.next_change() {
            let at = self.time_of(sample);
            if at <= now {
                self.samples = sample + 1;
                self.seen[field.index()] = self.shown(field);
                self.compare(field);
                return Some((at, field));
            }
        }
        self.samples = self.samples.max(self.samples_until(now));
        None
    }

    /// Returns the number and the square of the next sample that will detect a change.
    fn next_change(&self) -> Option<(u64, Field)> {
        if self.pending_changes == 0 {
            return None;
        }
        let first = self.samples % FIELDS;
        // Rotated so that the next square to be sampled is bit 0.
        let ahead = u64::from(self.pending_changes.rotate_right(first as u32).trailing_zeros());
        let number = (first + ahead) % FIELDS;
        let field = Field::new(u8::try_from(number).ok()?)?;
        Some((self.samples + ahead, field))
    }

    fn time_of(&self, sample: u64) -> Timestamp {
        let (scans, field) = (sample / FIELDS, sample % FIELDS);
        let micros = u64::try_from(self.period.as_micros()).unwrap_or(u64::MAX);
        self.began
            + Duration::from_micros(
                micros
                    .saturating_mul(scans)
                    .saturating_add(micros * field / FIELDS),
            )
    }

    /// Returns the number of samples taken by `now`, including one at `now`.
    fn samples_until(&self, now: Timestamp) -> u64 {
        if now < self.began {
            return 0;
        }
        let micros = u64::try_from(self.period.as_micros()).unwrap_or(u64::MAX);
        let since = u64::try_from(now.saturating_duration_since(self.began).as_micros()).unwrap_or(u64::MAX);
        let (scans, rest) = (since / micros, since % micros);
        // The last sample of this scan that is not later than `rest`. The samples are spread evenly over the period, at
        // times rounded down to microseconds.
        let field = ((rest + 1) * FIELDS - 1) / micros;
        scans * FIELDS + field.min(FIELDS - 1) + 1
    }
}

const FIELDS: u64 = Field::COUNT as u64;

#[cfg(test)]
mod tests {
    use super::*;
    use kiebitz_protocol::Piece;

    const START: Timestamp = Timestamp::from_micros(1_000_000);
    const PERIOD: Duration = Duration::from_millis(224);
    const PAWN: Contents = Some(Piece::WhitePawn);

    fn field(number: u8) -> Field {
        Field::new(number).unwrap()
    }

    fn after(millis: u64) -> Timestamp {
        START + Duration::from_millis(millis)
    }

    #[test]
    fn a_square_is_seen_when_it_is_sampled() {
        let mut scan = Scan::new(START, PERIOD);
        assert_eq!(scan.advance(after(10)), None);
        scan.set(field(10), PAWN);
        assert_eq!(scan.next_at(), Some(after(35)));
        assert_eq!(scan.advance(after(34)), None);
        assert_eq!(scan.advance(after(35)), Some((after(35), field(10))));
        assert_eq!(scan.next_at(), None);
    }

    #[test]
    fn a_square_just_sampled_is_seen_a_scan_later() {
        let mut scan = Scan::new(START, PERIOD);
        assert_eq!(scan.advance(after(35)), None);
        scan.set(field(10), PAWN);
        assert_eq!(scan.next_at(), Some(after(224 + 35)));
    }

    #[test]
    fn a_piece_moved_ahead_of_the_scan_shows_on_both_squares_first() {
        let mut scan = Scan::new(START, PERIOD);
        scan.set(field(0), PAWN);
        scan.begin(START);
        assert_eq!(scan.advance(after(100)), None);
        scan.set(field(0), None);
        scan.set(field(63), PAWN);
        let order: Vec<u8> = std::iter::from_fn(|| scan.advance(after(1000)))
            .map(|(_, field)| field.number())
            .collect();
        assert_eq!(order, [63, 0]);
    }

    #[test]
    fn a_piece_that_comes_and_goes_between_two_samples_is_not_seen() {
        let mut scan = Scan::new(START, PERIOD);
        assert_eq!(scan.advance(after(100)), None);
        scan.set(field(3), PAWN);
        assert_eq!(scan.advance(after(150)), None);
        scan.set(field(3), None);
        assert_eq!(scan.advance(after(1000)), None);
    }
}
