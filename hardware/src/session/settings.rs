//! How a session keeps its board.

use core::time::Duration;

/// How a session keeps its board; see [`Session::keeping`](super::Session::keeping).
///
/// ```
/// use core::time::Duration;
/// use kiebitz_hardware::SessionSettings;
///
/// // A Bluetooth board of which only the state is wanted, as by `kiebitz boards`.
/// let settings = SessionSettings {
///     read_memory: false,
///     battery: Some(Duration::from_secs(300)),
///     ..SessionSettings::default()
/// };
/// assert_eq!(settings.silence, Duration::from_secs(10));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSettings {
    /// Whether the board's memory may be read: if reports were lost, or if the host wants to know what was played while
    /// the board was not heard ([`Session::recall`](super::Session::recall)). Yes by default. The answer takes up to 8.3 s,
    /// in which live reports wait at the board, so the memory is read only when no square has changed for `quiet_dump`.
    pub read_memory: bool,
    /// How often the battery is asked for; `None`, the default: never. For Bluetooth boards, others have none.
    pub battery: Option<Duration>,
    /// How long the squares have been quiet after changes when a dump is asked for, which shows a change that was
    /// not heard, or the memory. [`QUIET`](Self::QUIET) by default, 3 s: longer than a hand takes from lifting a piece to pressing the clock, so that the
    /// 70 ms on the line fall between moves, and shorter than most thinking.
    pub quiet_dump: Duration,
    /// How long the board may be silent before it is asked for a sign of life. 10 s by default, which makes an
    /// idle board's recording grow by some 3 MB a day. While the clock runs the board reports every second, and
    /// 4 s are enough.
    pub silence: Duration,
    /// How long a text stays on the clock's display before the times come back; 5 s by default.
    pub text_time: Duration,
    /// Whether other boards may turn out to be on the line; no by default. Where several answer at once, nobody can be
    /// understood: then the port is given up, so that the line is probed again.
    pub shared: bool,
}

impl SessionSettings {
    /// Default of [`quiet_dump`](Self::quiet_dump).
    pub const QUIET: Duration = Duration::from_secs(3);
    /// How long a text stays on the clock's display by default.
    pub const TEXT_TIME: Duration = Duration::from_secs(5);

    /// For a board on a Bluetooth link: it is asked for its battery every five minutes, which lasts for hours.
    #[must_use]
    pub fn with_battery() -> Self {
        Self {
            battery: Some(Duration::from_secs(300)),
            ..Self::default()
        }
    }
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            read_memory: true,
            battery: None,
            quiet_dump: Self::QUIET,
            silence: Duration::from_secs(10),
            text_time: Self::TEXT_TIME,
            shared: false,
        }
    }
}
