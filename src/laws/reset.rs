//! The times after going back to an earlier position.

use shakmaty::{ByColor, Color};

use super::sight::ClockTimes;

impl ClockTimes {
    /// The times to set: those when the last legal ply was completed, with `bonus` milliseconds for the opponent of
    /// `offender` (2023: 7.1, 7.5.5).
    #[must_use]
    pub fn exact(&self, offender: Color, bonus: u64) -> ByColor<u64> {
        credited(self.before, !offender, bonus)
    }

    /// The times to set where they are to stay as they are: now, without what the offender gained by the press, and with
    /// `bonus` milliseconds for his opponent. Many arbiters do so for an error that is found at once.
    #[must_use]
    pub fn keep(&self, offender: Color, bonus: u64) -> ByColor<u64> {
        let mut times = self.now;
        let own = times.get_mut(offender);
        *own = own.saturating_sub(self.undue);
        credited(times, !offender, bonus)
    }
}

fn credited(mut times: ByColor<u64>, color: Color, bonus: u64) -> ByColor<u64> {
    let time = times.get_mut(color);
    *time = time.saturating_add(bonus);
    times
}
