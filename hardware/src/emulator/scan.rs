//! The scan: fields are sampled one after another.

use core::time::Duration;

use kiebitz_protocol::{Contents, Dump, Field};

use crate::time::Timestamp;

/// What stands on the fields, and what the scan has seen of it.
#[derive(Debug, Clone)]
pub(super) struct Scan {
    real: Dump,
    /// What broken sensors show, whatever stands on their fields.
    stuck: [Option<Contents>; Field::COUNT],
    seen: Dump,
    /// The fields, one bit each, on which the next sample will show something new.
    unseen: u64,
    /// When the first field was first sampled.
    began: Timestamp,
    period: Duration,
    /// How many samples have been taken since then.
    samples: u64,
}

impl Scan {
    /// A scan that begins at `began` and has seen nothing stand anywhere.
    pub(super) fn new(began: Timestamp, period: Duration) -> Self {
        // A scan without duration would sample a field again and again at the same time.
        let period = period.max(Duration::from_millis(1));
        Self {
            real: [None; Field::COUNT],
            stuck: [None; Field::COUNT],
            seen: [None; Field::COUNT],
            unseen: 0,
            began,
            period,
            samples: 0,
        }
    }

    /// Puts something on a field, or takes it away. All samples up to now must have been taken.
    pub(super) fn set(&mut self, field: Field, contents: Contents) {
        self.real[field.index()] = contents;
        self.compare(field);
    }

    /// A field's sensor shows the same forever, or again what stands there.
    pub(super) fn stick(&mut self, field: Field, shows: Option<Contents>) {
        self.stuck[field.index()] = shows;
        self.compare(field);
    }

    pub(super) fn real(&self) -> &Dump {
        &self.real
    }

    pub(super) fn seen(&self) -> &Dump {
        &self.seen
    }

    /// Restarts and sees everything at once, as a board does when it gets power.
    pub(super) fn begin(&mut self, began: Timestamp) {
        for field in Field::all() {
            self.seen[field.index()] = self.shown(field);
        }
        (self.began, self.samples, self.unseen) = (began, 0, 0);
    }

    fn shown(&self, field: Field) -> Contents {
        let real = self.real[field.index()];
        self.stuck[field.index()].unwrap_or(real)
    }

    fn compare(&mut self, field: Field) {
        let bit = 1 << field.number();
        if self.shown(field) == self.seen[field.index()] {
            self.unseen &= !bit;
        } else {
            self.unseen |= bit;
        }
    }

    /// When the scan will next see something new; `None` when all is as it was seen.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.next_change().map(|(sample, _)| self.time_of(sample))
    }

    /// Takes the samples up to `now` until one shows something new.
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

    /// The next sample that will show something new.
    fn next_change(&self) -> Option<(u64, Field)> {
        if self.unseen == 0 {
            return None;
        }
        let first = self.samples % FIELDS;
        // Rotated so that the next field to be sampled is bit 0.
        let ahead = u64::from(self.unseen.rotate_right(first as u32).trailing_zeros());
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

    /// How many samples have been taken by `now`, that at `now` included.
    fn samples_until(&self, now: Timestamp) -> u64 {
        if now < self.began {
            return 0;
        }
        let micros = u64::try_from(self.period.as_micros()).unwrap_or(u64::MAX);
        let since = u64::try_from(now.saturating_duration_since(self.began).as_micros()).unwrap_or(u64::MAX);
        let (scans, rest) = (since / micros, since % micros);
        // The last sample of this scan that is not later than `rest`, each at its share of the period, cut to whole
        // microseconds.
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
    fn a_field_is_seen_when_its_turn_comes() {
        let mut scan = Scan::new(START, PERIOD);
        assert_eq!(scan.advance(after(10)), None);
        scan.set(field(10), PAWN);
        assert_eq!(scan.next_at(), Some(after(35)));
        assert_eq!(scan.advance(after(34)), None);
        assert_eq!(scan.advance(after(35)), Some((after(35), field(10))));
        assert_eq!(scan.next_at(), None);
    }

    #[test]
    fn a_field_just_passed_is_seen_a_scan_later() {
        let mut scan = Scan::new(START, PERIOD);
        assert_eq!(scan.advance(after(35)), None);
        scan.set(field(10), PAWN);
        assert_eq!(scan.next_at(), Some(after(224 + 35)));
    }

    #[test]
    fn a_piece_moved_against_the_scan_is_seen_twice_before_it_is_gone() {
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
    fn what_comes_and_goes_between_two_looks_is_not_seen() {
        let mut scan = Scan::new(START, PERIOD);
        assert_eq!(scan.advance(after(100)), None);
        scan.set(field(3), PAWN);
        assert_eq!(scan.advance(after(150)), None);
        scan.set(field(3), None);
        assert_eq!(scan.advance(after(1000)), None);
    }
}
