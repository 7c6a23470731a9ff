use core::time::Duration;

use super::error::MessageError;

/// The state of a Bluetooth board's battery (BATTERY_STATUS).
///
/// On the wire every number is 0 to 127. Encoding clamps larger times to 127, replaces a charge above
/// 100 percent with [`BatteryStatus::UNKNOWN`], and clears bit 7 of the status.
///
/// ```
/// use core::time::Duration;
/// use kiebitz_protocol::{Decoder, Message};
///
/// let bytes = [0xa0, 0x00, 0x0c, 80, 5, 30, 1, 2, 0, 0, 0, 2];
/// Decoder::new().feed(&bytes, |decoded| {
///     let Ok(Message::BatteryStatus(battery)) = decoded else {
///         panic!("not a battery status");
///     };
///     assert_eq!((battery.percent, battery.discharging()), (80, true));
///     assert_eq!(battery.time_left(), Some(Duration::from_secs(5 * 3600 + 30 * 60)));
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct BatteryStatus {
    /// Charge in percent, 0 to 100, or [`BatteryStatus::UNKNOWN`].
    pub percent: u8,
    /// Hours until the battery is full or empty, or [`BatteryStatus::UNKNOWN`].
    pub left_hours: u8,
    /// Minutes in addition to `left_hours`, or [`BatteryStatus::UNKNOWN`].
    pub left_minutes: u8,
    /// Hours since the board was switched on.
    pub on_hours: u8,
    /// Minutes in addition to `on_hours`.
    pub on_minutes: u8,
    /// Days in standby.
    pub standby_days: u8,
    /// Hours in addition to `standby_days`.
    pub standby_hours: u8,
    /// Minutes in addition to `standby_days` and `standby_hours`.
    pub standby_minutes: u8,
    /// Bit 0: charging, bit 1: discharging. The other bits are undocumented.
    pub status: u8,
}

impl BatteryStatus {
    /// The wire value for an unknown number.
    pub const UNKNOWN: u8 = 0x7f;

    /// Number of data bytes in the documented layout.
    pub(crate) const LENGTH: usize = 9;

    /// Returns whether the battery is being charged.
    pub const fn charging(&self) -> bool {
        self.status & 1 != 0
    }

    /// Returns whether the board runs on its battery.
    pub const fn discharging(&self) -> bool {
        self.status & 2 != 0
    }

    /// Returns the time until the battery is full or empty, or `None` if it is unknown.
    pub fn time_left(&self) -> Option<Duration> {
        let known = self.left_hours != Self::UNKNOWN && self.left_minutes != Self::UNKNOWN;
        known.then(|| minutes(0, self.left_hours, self.left_minutes))
    }

    /// Returns how long the board has been on.
    pub fn on_time(&self) -> Duration {
        minutes(0, self.on_hours, self.on_minutes)
    }

    /// Returns how long the board has been in standby.
    pub fn standby_time(&self) -> Duration {
        minutes(self.standby_days, self.standby_hours, self.standby_minutes)
    }

    pub(crate) fn from_wire(data: [u8; Self::LENGTH]) -> Result<Self, MessageError> {
        let [
            percent,
            left_hours,
            left_minutes,
            on_hours,
            on_minutes,
            days,
            hours,
            minutes,
            status,
        ] = data;
        if percent > 100 && percent != Self::UNKNOWN {
            return Err(MessageError::BatteryPercent { percent });
        }
        Ok(Self {
            percent,
            left_hours,
            left_minutes,
            on_hours,
            on_minutes,
            standby_days: days,
            standby_hours: hours,
            standby_minutes: minutes,
            status,
        })
    }

    pub(crate) fn to_wire(self) -> [u8; Self::LENGTH] {
        let percent = if self.percent > 100 {
            Self::UNKNOWN
        } else {
            self.percent
        };
        [
            percent,
            self.left_hours,
            self.left_minutes,
            self.on_hours,
            self.on_minutes,
            self.standby_days,
            self.standby_hours,
            self.standby_minutes,
            self.status & 0x7f,
        ]
        .map(|number| number.min(0x7f))
    }
}

fn minutes(days: u8, hours: u8, minutes: u8) -> Duration {
    let hours = u64::from(days) * 24 + u64::from(hours);
    Duration::from_secs((hours * 60 + u64::from(minutes)) * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_layout_is_decoded() {
        let status = BatteryStatus::from_wire([80, 5, 30, 1, 2, 3, 4, 5, 2]).unwrap();
        assert_eq!(status.time_left(), Some(Duration::from_secs(5 * 3600 + 30 * 60)));
        assert_eq!(status.on_time(), Duration::from_secs(62 * 60));
        assert_eq!(
            status.standby_time(),
            Duration::from_secs((3 * 24 + 4) * 3600 + 5 * 60)
        );
        assert!(status.discharging() && !status.charging());
    }

    #[test]
    fn an_unknown_time_left_is_none() {
        let status = BatteryStatus::from_wire([0x7f, 0x7f, 0x7f, 0, 0, 0, 0, 0, 0]).unwrap();
        assert_eq!(status.time_left(), None);
    }

    #[test]
    fn a_charge_above_a_hundred_percent_is_refused() {
        let status = BatteryStatus::from_wire([101, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(status, Err(MessageError::BatteryPercent { percent: 101 }));
    }
}
