//! A jolted table: many pieces slid at once, and have to be put back (Art. 7.4; found later: 7.6).

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, ByColor};

use super::book::Number;
use super::{Desk, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Situation;

/// While pieces are put back, what is still wrong is reported at most this often.
const MIN_BETWEEN_UPDATES: Duration = Duration::from_secs(3);
/// With more pieces off the board than this, they are being cleared away.
const MAX_OFF_BOARD: usize = 12;

/// Follows jolted pieces until they stand as before.
#[derive(Debug, Default)]
pub(super) struct Jolts {
    jolt: Option<Jolt>,
    wake: Option<Timestamp>,
}

#[derive(Debug)]
struct Jolt {
    since: Timestamp,
    ply: u32,
    /// What the clocks showed, in milliseconds.
    times: Option<ByColor<u64>>,
    /// Play went on before all pieces were put back.
    left: bool,
    report: Option<Reported>,
}

/// What was last reported of it.
#[derive(Debug)]
struct Reported {
    number: Number,
    wrong: Bitboard,
    at: Timestamp,
}

impl Jolts {
    /// The squares concerned, which no other watcher judges.
    pub(super) fn squares(&self, desk: &Desk<'_>) -> Bitboard {
        self.jolt.as_ref().map_or(Bitboard::EMPTY, |jolt| {
            if jolt.left { reported(jolt) } else { wrong(desk) }
        })
    }

    /// The squares that an open incident accounts for.
    pub(super) fn reported(&self) -> Bitboard {
        self.jolt.as_ref().map_or(Bitboard::EMPTY, reported)
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News) {
        self.wake = None;
        match news {
            News::Jolted if desk.sees_play() => {
                self.jolt = Some(Jolt {
                    since: desk.now(),
                    ply: desk.game.due(),
                    times: desk.game.face.map(|face| face.times_ms()),
                    left: false,
                    // What is left of the jolt before goes on in the same incident.
                    report: self.jolt.take().and_then(|jolt| jolt.report),
                });
            }
            News::Steadied => self.steadied(desk),
            News::Started | News::Over => self.close(desk, ClosedBy::Laws, IncidentEnd::GameOver),
            News::Away => self.close(desk, ClosedBy::Board, IncidentEnd::Passed),
            _ => {}
        }
        self.follow(desk);
    }

    /// The pieces stand as before, or play goes on although some do not.
    fn steadied(&mut self, desk: &mut Desk<'_>) {
        let wrong = wrong(desk);
        let Some(jolt) = &mut self.jolt else { return };
        if wrong.is_empty() {
            self.close(desk, ClosedBy::Board, IncidentEnd::Restored);
            return;
        }
        jolt.left = true;
        jolt.publish(desk, wrong);
    }

    fn follow(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        let Some(jolt) = &mut self.jolt else { return };
        let settled = now >= desk.acts.judged_at(jolt.since);
        let off_board = desk.standing().map_or(0, |standing| standing.taken_off());
        if settled && off_board > MAX_OFF_BOARD {
            self.close(desk, ClosedBy::Board, IncidentEnd::Passed);
            return;
        }
        let wrong = wrong(desk);
        if jolt.left {
            let still = wrong & reported(jolt);
            if still.is_empty() {
                self.close(desk, ClosedBy::Board, IncidentEnd::Restored);
            }
            return;
        }
        if wrong.is_empty() {
            // The line of play is about to say so.
            return;
        }
        let due = match &jolt.report {
            None => desk.acts.judged_at(jolt.since),
            Some(reported) if reported.wrong != wrong => reported.at + MIN_BETWEEN_UPDATES,
            Some(_) => return,
        };
        if now < due {
            self.wake = Some(due);
        } else {
            jolt.publish(desk, wrong);
        }
    }

    fn close(&mut self, desk: &mut Desk<'_>, by: ClosedBy, reason: IncidentEnd) {
        let report = self.jolt.take().and_then(|jolt| jolt.report);
        if let Some(reported) = report {
            desk.book.close(desk.game.now, reported.number, by, reason);
        }
    }
}

impl Jolt {
    /// Opens the incident, or reports what is still wrong.
    fn publish(&mut self, desk: &mut Desk<'_>, wrong: Bitboard) {
        let situation = Situation::Jolted {
            wrong: wrong.into_iter().collect(),
            times: self.times,
            left: self.left,
        };
        let report = desk.report(situation, self.since).at_ply(self.ply).on(wrong);
        let number = match &self.report {
            Some(reported) => {
                desk.update(reported.number, report);
                reported.number
            }
            None => desk.open(report),
        };
        let at = desk.now();
        self.report = Some(Reported { number, wrong, at });
    }
}

fn reported(jolt: &Jolt) -> Bitboard {
    let report = jolt.report.as_ref();
    report.map_or(Bitboard::EMPTY, |reported| reported.wrong)
}

/// The squares that do not show what the last position has there.
fn wrong(desk: &Desk<'_>) -> Bitboard {
    let standing = desk.standing();
    standing.map_or(Bitboard::EMPTY, |standing| standing.differs_anywhere())
}
