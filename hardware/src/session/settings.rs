use core::time::Duration;

/// Settings of a session that drives its board; see [`Session::keeping`](super::Session::keeping).
///
/// ```
/// use core::time::Duration;
/// use kiebitz_hardware::SessionSettings;
///
/// // Shows only the state of a Bluetooth board, as `kiebitz boards` does.
/// let settings = SessionSettings {
///     read_memory: false,
///     battery: Some(Duration::from_secs(300)),
///     ..SessionSettings::default()
/// };
/// assert_eq!(settings.silence, Duration::from_secs(10));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSettings {
    /// Whether the board's memory may be read, if reports were lost or if the host asks for it
    /// ([`Session::recall`](super::Session::recall)). Default: yes. Reading takes up to 8.3 s, during which live updates
    /// wait in the board.
    pub read_memory: bool,
    /// Interval of battery queries. If `None`, the default, the battery is never queried. Only Bluetooth boards have a
    /// battery.
    pub battery: Option<Duration>,
    /// Time without changes after which a dump is requested to recover lost changes, or the memory to recover lost reports.
    /// Default: 3 s. This is longer than a player takes from lifting a piece to pressing the clock, so that the 70 ms of the
    /// dump fall between moves, and shorter than most thinking times.
    pub quiet_dump: Duration,
    /// Silence after which a sign of life is requested. Default: 10 s, at which an idle board's recording grows by
    /// about 3 MB a day. While the clock runs, the board reports every second, so the time is limited to 4 s.
    pub silence: Duration,
    /// Time for which the clock displays a text. Default: 5 s.
    pub text_time: Duration,
    /// Whether other boards may be on the same line. Default: no. If so, the session closes the port after several
    /// undecodable answers, which may come from several boards at once, so that the line is probed again.
    pub shared: bool,
}

impl SessionSettings {
    /// Default of [`text_time`](Self::text_time).
    pub const TEXT_TIME: Duration = Duration::from_secs(5);

    /// Returns settings for a board on a Bluetooth link, whose battery is queried every five minutes.
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
            quiet_dump: Duration::from_secs(3),
            silence: Duration::from_secs(10),
            text_time: Self::TEXT_TIME,
            shared: false,
        }
    }
}
