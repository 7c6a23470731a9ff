//! Times as every output writes them, so that no two of them differ by a second.

/// What a clock shows, as h:mm:ss: a part of a second that is left is not shown.
pub(super) fn shown(ms: u64) -> String {
    hours(ms / 1000)
}

/// How long a move took, in whole seconds: the board reports the clock two or three times a second, so that the nearest
/// second is as much as is known.
pub(super) const fn taken_seconds(ms: u64) -> u64 {
    ms.saturating_add(500) / 1000
}

/// The same as h:mm:ss.
pub(super) fn taken(ms: u64) -> String {
    hours(taken_seconds(ms))
}

fn hours(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_count_down_in_whole_seconds_and_moves_take_the_nearest() {
        assert_eq!(shown(5_400_999), "1:30:00");
        assert_eq!(shown(59_000), "0:00:59");
        assert_eq!(taken(59_499), "0:00:59");
        assert_eq!(taken(3_599_500), "1:00:00");
        assert_eq!(taken_seconds(u64::MAX), u64::MAX / 1000);
    }
}
