//! The greeting: texts on the displays of clocks while nobody plays.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use kiebitz_game::events::{Event, EventKind};
use kiebitz_game::hall::Board;
use kiebitz_hardware::SessionSettings;

use crate::config::{ClockMessages, ClockText};
use crate::system_time::Moment;

/// Shows one text after another on the displays of idle clocks.
#[derive(Debug)]
pub(super) struct Greeting {
    settings: ClockMessages,
    /// When to show the next text, and the remaining texts, by board.
    waiting: BTreeMap<String, (Moment, VecDeque<ClockText>)>,
}

/// Interval between texts: each is shown for [`SessionSettings::TEXT_TIME`], plus a second.
const TEXT_INTERVAL: Duration = SessionSettings::TEXT_TIME.saturating_add(Duration::from_secs(1));

impl Greeting {
    pub(super) fn new(settings: ClockMessages) -> Self {
        Self {
            settings,
            waiting: BTreeMap::new(),
        }
    }

    pub(super) fn set(&mut self, settings: ClockMessages) {
        self.settings = settings;
    }

    /// Starts the texts when a clock is connected, and cancels them when a game begins.
    pub(super) fn apply(&mut self, now: Moment, event: &Event) {
        match event.kind {
            EventKind::ClockConnected {} if self.settings.enabled => {
                let texts = self.settings.show.iter().copied().collect();
                self.waiting.insert(event.board.clone(), (now, texts));
            }
            EventKind::GameStarted { .. } | EventKind::ClockDisconnected {} => {
                self.waiting.remove(&event.board);
            }
            _ => {}
        }
    }

    pub(super) fn poll_deadline(&self) -> Option<Moment> {
        self.waiting.values().map(|(due, _)| *due).min()
    }

    pub(super) fn due<'b>(
        &mut self,
        now: Moment,
        board: impl Fn(&str) -> Option<&'b Board>,
    ) -> Vec<(String, String)> {
        let mut shown = Vec::new();
        for (name, (due, texts)) in &mut self.waiting {
            if *due > now {
                continue;
            }
            *due = now + TEXT_INTERVAL;
            let board = board(name).filter(|board| board.is_idle());
            match board.and_then(|board| Some(text(texts.pop_front()?, board))) {
                Some(text) => shown.extend(text.map(|text| (name.clone(), text))),
                None => texts.clear(),
            }
        }
        self.waiting.retain(|_, (_, texts)| !texts.is_empty());
        shown
    }
}

/// The characters to show, of which a clock displays eight; `None` if the value is unknown.
fn text(text: ClockText, board: &Board) -> Option<String> {
    match text {
        ClockText::Name => Some(board.name().to_owned()),
        ClockText::Ok => Some("kiebitz".to_owned()),
        ClockText::WhiteSide => Some(format!("w {}", board.white_side()?)),
    }
}
