//! The lookout: if no board answers after a start, logs once what to check.

use core::time::Duration;

use kiebitz_game::events::EventKind;

use crate::system_time::Moment;

/// Waits for the first board. Does nothing more once a board has come or a message was logged.
#[derive(Debug, Default)]
pub(super) struct Lookout {
    /// Start of the wait; `None` once it is over.
    since: Option<Moment>,
    /// Time since which there has been a port.
    port_since: Option<Moment>,
}

/// Time after which missing ports are reported. The port of a plugged-in board is found within a second.
const NO_PORT_AFTER: Duration = Duration::from_secs(5);
/// Time after which silent ports are reported. Detecting a bus of boards takes 20 s.
const NO_ANSWER_AFTER: Duration = Duration::from_secs(30);
/// Maximum number of ports in a message.
const NAMED: usize = 3;

impl Lookout {
    pub(super) fn new(now: Moment) -> Self {
        Self {
            since: Some(now),
            port_since: None,
        }
    }

    /// Ends the wait if a board was connected.
    pub(super) fn handle_event(&mut self, event: &EventKind) {
        if let EventKind::BoardConnected { .. } = event {
            self.since = None;
        }
    }

    /// Ends the wait after a port was refused, since that error is logged with its own remedy.
    pub(super) fn handle_refusal(&mut self) {
        self.since = None;
    }

    /// The message that is due now, given the names of the present ports.
    pub(super) fn check<'p>(
        &mut self,
        now: Moment,
        ports: impl IntoIterator<Item = &'p str>,
    ) -> Option<String> {
        let since = self.since?;
        let ports: Vec<&str> = ports.into_iter().collect();
        if ports.is_empty() {
            self.port_since = None;
            let waited = now.since(since) >= NO_PORT_AFTER;
            return waited.then(|| self.report_once(NO_PORT.to_owned()));
        }
        let port_since = *self.port_since.get_or_insert(now);
        let waited = now.since(port_since) >= NO_ANSWER_AFTER;
        waited.then(|| self.report_once(no_answer(&ports)))
    }

    fn report_once(&mut self, message: String) -> String {
        self.since = None;
        message
    }
}

const NO_PORT: &str =
    "no board is plugged in yet: plug one in; `kiebitz boards` shows which ports are searched";

fn no_answer(ports: &[&str]) -> String {
    let named = match ports.get(..NAMED) {
        Some(first) if ports.len() > NAMED => {
            format!("{} and {} more", first.join(", "), ports.len() - NAMED)
        }
        _ => ports.join(", "),
    };
    format!(
        "no board answers on {named} yet: switch it on, and push its cable in at both ends. `kiebitz boards` \
         tells more once kiebitz is stopped"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Moment {
        Moment::after(Duration::from_secs(seconds.unsigned_abs()))
    }

    fn connected() -> EventKind {
        EventKind::BoardConnected {
            port: "/dev/ttyACM0".to_owned(),
            serial: None,
            version: None,
            orientation: None,
        }
    }

    /// The messages, with their seconds, of a lookout that checks `ports` once a second.
    fn messages(
        lookout: &mut Lookout,
        seconds: i64,
        ports: impl Fn(i64) -> Vec<&'static str>,
    ) -> Vec<(i64, String)> {
        let checks = (0..seconds).map(|second| (second, lookout.check(at(second), ports(second))));
        checks
            .filter_map(|(second, message)| Some((second, message?)))
            .collect()
    }

    #[test]
    fn a_missing_port_is_reported_once() {
        let messages = messages(&mut Lookout::new(at(0)), 100, |_| Vec::new());
        assert_eq!(messages, [(5, NO_PORT.to_owned())]);
    }

    #[test]
    fn silent_ports_are_named_once_a_row_would_have_been_found() {
        let ports = |second| {
            if second < 3 {
                Vec::new()
            } else {
                vec!["/dev/ttyS0"]
            }
        };
        let messages = messages(&mut Lookout::new(at(0)), 100, ports);
        assert!(
            matches!(messages.as_slice(), [(33, text)] if text.starts_with("no board answers on /dev/ttyS0 yet: ")),
            "{messages:?}"
        );
        let many = no_answer(&["a", "b", "c", "d", "e"]);
        assert!(
            many.starts_with("no board answers on a, b, c and 2 more yet"),
            "{many}"
        );
    }

    #[test]
    fn nothing_is_reported_with_a_board_or_after_a_refusal() {
        let mut lookout = Lookout::new(at(0));
        lookout.handle_event(&EventKind::ClockDisconnected {});
        assert!(lookout.check(at(4), []).is_none());
        lookout.handle_event(&connected());
        assert_eq!(messages(&mut lookout, 100, |_| Vec::new()), []);
        let mut refused = Lookout::new(at(0));
        refused.handle_refusal();
        assert_eq!(messages(&mut refused, 100, |_| vec!["/dev/ttyS0"]), []);
        assert_eq!(messages(&mut Lookout::default(), 100, |_| Vec::new()), []);
    }
}
