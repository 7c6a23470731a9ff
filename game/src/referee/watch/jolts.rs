//! Jolted tables: many pieces slid at once and must be put back (Art. 7.4; found later: 7.6).

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, ByColor};

use super::book::Number;
use super::{Context, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Situation;

/// Minimum time between updates while pieces are put back.
const MIN_BETWEEN_UPDATES: Duration = Duration::from_secs(3);
/// Number of removed pieces above which the pieces are being cleared away.
const MAX_OFF_BOARD: usize = 12;

/// Watches jolted pieces until they stand as before.
#[derive(Debug, Default)]
pub(super) struct Jolts {
    jolt: Option<Jolt>,
    wake: Option<Timestamp>,
}

#[derive(Debug)]
struct Jolt {
    since: Timestamp,
    ply: u32,
    /// Times of the clock at the jolt, in milliseconds.
    times: Option<ByColor<u64>>,
    /// Whether play continued before all pieces were put back.
    play_continued: bool,
    report: Option<Reported>,
}

/// The last published state of the incident.
#[derive(Debug)]
struct Reported {
    number: Number,
    wrong: Bitboard,
    at: Timestamp,
}

impl Jolts {
    /// Squares of the jolt, which other watchers must ignore.
    pub(super) fn squares(&self, context: &Context<'_>) -> Bitboard {
        self.jolt.as_ref().map_or(Bitboard::EMPTY, |jolt| {
            if jolt.play_continued {
                reported(jolt)
            } else {
                wrong(context)
            }
        })
    }

    /// Squares that an open incident accounts for.
    pub(super) fn reported(&self) -> Bitboard {
        self.jolt.as_ref().map_or(Bitboard::EMPTY, reported)
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        match news {
            News::Jolted if context.sees_play() => {
                self.jolt = Some(Jolt {
                    since: context.now(),
                    ply: context.game.due(),
                    times: context.game.face.map(|face| face.times_ms()),
                    play_continued: false,
                    // Pieces left over from an earlier jolt belong to the same incident.
                    report: self.jolt.take().and_then(|jolt| jolt.report),
                });
            }
            News::Steadied => self.steadied(context),
            News::Started | News::Over => self.close(context, ClosedBy::Laws, IncidentEnd::GameOver),
            News::Away => self.close(context, ClosedBy::Board, IncidentEnd::Passed),
            News::Time => self.follow(context),
            _ => {}
        }
    }

    /// Handles the end of a jolt: the pieces stand as before, or play continues although some do not.
    fn steadied(&mut self, context: &mut Context<'_>) {
        let wrong = wrong(context);
        let Some(jolt) = &mut self.jolt else { return };
        if wrong.is_empty() {
            self.close(context, ClosedBy::Board, IncidentEnd::Restored);
            return;
        }
        jolt.play_continued = true;
        jolt.publish(context, wrong);
    }

    fn follow(&mut self, context: &mut Context<'_>) {
        self.wake = None;
        let now = context.now();
        let Some(jolt) = &mut self.jolt else { return };
        let settled = now >= context.acts.judged_at(jolt.since);
        let off_board = context.standing().map_or(0, |standing| standing.taken_off());
        if settled && off_board > MAX_OFF_BOARD {
            self.close(context, ClosedBy::Board, IncidentEnd::Passed);
            return;
        }
        let wrong = wrong(context);
        if jolt.play_continued {
            let still = wrong & reported(jolt);
            if still.is_empty() {
                self.close(context, ClosedBy::Board, IncidentEnd::Restored);
            }
            return;
        }
        if wrong.is_empty() {
            // A finding of the tracker will confirm that all pieces are back.
            return;
        }
        let due = match &jolt.report {
            None => context.acts.judged_at(jolt.since),
            Some(reported) if reported.wrong != wrong => reported.at + MIN_BETWEEN_UPDATES,
            Some(_) => return,
        };
        if now < due {
            self.wake = Some(due);
        } else {
            jolt.publish(context, wrong);
        }
    }

    fn close(&mut self, context: &mut Context<'_>, by: ClosedBy, reason: IncidentEnd) {
        let report = self.jolt.take().and_then(|jolt| jolt.report);
        if let Some(reported) = report {
            context.book.close(context.game.now, reported.number, by, reason);
        }
    }
}

impl Jolt {
    /// Opens the incident, or updates it with the squares that are still wrong.
    fn publish(&mut self, context: &mut Context<'_>, wrong: Bitboard) {
        let situation = Situation::Jolted {
            wrong: wrong.into_iter().collect(),
            times: self.times,
            left: self.play_continued,
        };
        let report = context.report(situation, self.since).at_ply(self.ply).on(wrong);
        let number = match &self.report {
            Some(reported) => {
                context.update(reported.number, report);
                reported.number
            }
            None => context.open(report),
        };
        let at = context.now();
        self.report = Some(Reported { number, wrong, at });
    }
}

fn reported(jolt: &Jolt) -> Bitboard {
    let report = jolt.report.as_ref();
    report.map_or(Bitboard::EMPTY, |reported| reported.wrong)
}

/// Squares that differ from the last position.
fn wrong(context: &Context<'_>) -> Bitboard {
    let standing = context.standing();
    standing.map_or(Bitboard::EMPTY, |standing| standing.differs_anywhere())
}
