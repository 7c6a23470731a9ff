//! Limits repeated log lines. Clients can cause any number of them, for example by refused commands, and every write
//! wears out the memory card.

use core::fmt::{self, Write as _};
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use tracing::callsite::Identifier;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::system_time::{Moment, moment};

/// Maximum number of lines from one callsite within [`WINDOW`]. Allows for a hall of some hundred boards that all log
/// the same line.
const LINES: u32 = 300;
const WINDOW: Duration = Duration::from_secs(60);
/// Maximum length, in characters, of the example in the report of omitted lines.
const LONGEST_EXAMPLE: usize = 200;

static REPEATS: LazyLock<Mutex<Repeats>> = LazyLock::new(Mutex::default);

/// Omits the lines of a callsite that has logged [`LINES`] within [`WINDOW`]. [`report`] logs their number.
#[derive(Debug)]
pub(super) struct RepeatFilter;

impl<S: Subscriber> Layer<S> for RepeatFilter {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        // Debug and trace lines are for maintainers and never omitted.
        if *metadata.level() > Level::INFO {
            return true;
        }
        let mut text = Message::default();
        repeats().admit(moment(), metadata.callsite(), || {
            event.record(&mut text);
            text.0
        })
    }
}

/// Logs the number of omitted lines of all windows that have ended. Call every few seconds.
pub(crate) fn report(now: Moment) {
    // The lock must not be held while logging.
    let omitted = repeats().omitted(now);
    for (count, example) in omitted {
        tracing::warn!("{count} more lines were left out of the log that resemble this one: {example}");
    }
}

/// Logs the number of omitted lines of all windows. Call at the end of the program.
pub(crate) fn report_rest() {
    report(moment() + WINDOW);
}

fn repeats() -> MutexGuard<'static, Repeats> {
    REPEATS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Recent lines by callsite. The number of callsites is fixed, so the map stays small.
#[derive(Debug, Default)]
struct Repeats(HashMap<Identifier, Repeated>);

#[derive(Debug)]
struct Repeated {
    begun: Moment,
    logged: u32,
    omitted: u64,
    /// The first line that was left out.
    example: String,
}

impl Repeats {
    /// Counts a line and returns whether to log it.
    fn admit(&mut self, now: Moment, callsite: Identifier, text: impl FnOnce() -> String) -> bool {
        let new_window = |omitted, example| Repeated {
            begun: now,
            logged: 0,
            omitted,
            example,
        };
        let repeated = self
            .0
            .entry(callsite)
            .or_insert_with(|| new_window(0, String::new()));
        if repeated.begun + WINDOW <= now {
            let example = core::mem::take(&mut repeated.example);
            *repeated = new_window(repeated.omitted, example);
        }
        if repeated.logged < LINES {
            repeated.logged += 1;
            return true;
        }
        if repeated.omitted == 0 {
            repeated.example = text();
        }
        repeated.omitted = repeated.omitted.saturating_add(1);
        false
    }

    /// Returns the number of omitted lines of each window that has ended, with an example, and resets it.
    fn omitted(&mut self, now: Moment) -> Vec<(u64, String)> {
        let ended = self
            .0
            .values_mut()
            .filter(|repeated| repeated.omitted > 0 && repeated.begun + WINDOW <= now);
        ended
            .map(|repeated| {
                let count = core::mem::take(&mut repeated.omitted);
                (count, core::mem::take(&mut repeated.example))
            })
            .collect()
    }
}

#[derive(Debug, Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // Writing to a string never fails.
            let _ = write!(self.0, "{value:?}");
            if let Some((end, _)) = self.0.char_indices().nth(LONGEST_EXAMPLE) {
                self.0.truncate(end);
                self.0.push('…');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    fn at(second: u64) -> Moment {
        Moment::after(Duration::from_secs(second))
    }

    fn test_callsite() -> Identifier {
        let mut callsite = None;
        tracing::subscriber::with_default(tracing_subscriber::registry(), || {
            let span = tracing::info_span!("here");
            callsite = span.metadata().map(tracing::Metadata::callsite);
        });
        callsite.expect("a span")
    }

    #[test]
    fn repeated_lines_are_omitted_and_counted() {
        let mut repeats = Repeats::default();
        let admitted = (0..100_000)
            .filter(|nth| repeats.admit(at(nth / 10_000), test_callsite(), || format!("line {nth}")));
        assert_eq!(admitted.count(), 300);
        assert_eq!(repeats.omitted(at(59)), [], "the window has not ended");
        assert_eq!(repeats.omitted(at(60)), [(99_700, "line 300".to_owned())]);
        assert_eq!(repeats.omitted(at(61)), [], "said once");
        assert!(
            repeats.admit(at(61), test_callsite(), String::new),
            "a new window"
        );
    }

    #[test]
    fn omitted_lines_are_counted_across_windows() {
        let mut repeats = Repeats::default();
        for second in [0, 60] {
            for _ in 0..302 {
                repeats.admit(at(second), test_callsite(), || second.to_string());
            }
        }
        assert_eq!(repeats.omitted(at(120)), [(4, "0".to_owned())]);
    }

    #[derive(Debug, Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no panic").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_repeated_lines_are_omitted_from_the_log() {
        let log = Log::default();
        let writer = log.clone();
        let output = tracing_subscriber::fmt::layer().with_writer(move || writer.clone());
        let subscriber = tracing_subscriber::registry().with(RepeatFilter).with(output);
        tracing::subscriber::with_default(subscriber, || {
            for command in 0..1_000 {
                tracing::warn!("command {command} refused");
                tracing::debug!("details of {command}");
            }
            tracing::warn!("another line");
        });
        let bytes = log.0.lock().expect("no panic").clone();
        let text = String::from_utf8(bytes).expect("UTF-8");
        let count = |part: &str| text.lines().filter(|line| line.contains(part)).count();
        // A window may have ended in between.
        assert!((300..1_000).contains(&count("refused")), "{}", count("refused"));
        assert_eq!((count("details"), count("another line")), (1_000, 1));
    }
}
