//! A board with players and injectable faults. The players do not need a connected host.

use std::collections::VecDeque;

use kiebitz_protocol::{Dump, Field};

use super::hand::{Deed, Script, Sitting, Truth};
use super::{BoardSettings, EmulatedBoard, EmulatedClock};
use crate::time::Timestamp;

/// A board with players, who play one game after another, and its line to the host.
///
/// The players do not depend on the host: they continue while the cable is unplugged. The times passed to the methods
/// must not decrease.
///
/// ```
/// use core::time::Duration;
/// use kiebitz_hardware::Timestamp;
/// use kiebitz_hardware::emulator::hand::{
///     Color, Ending, Ply, Script, Setting, Sitting, SittingSettings, Temperament,
/// };
/// use kiebitz_hardware::emulator::{BoardSettings, Player};
/// use kiebitz_protocol::{Field, Piece};
///
/// let (e2, e4) = (Field::new(52).unwrap(), Field::new(36).unwrap());
/// let mut start = [None; Field::COUNT];
/// start[e2.index()] = Some(Piece::WhitePawn);
/// let script = Script { start, plies: vec![Ply::quiet(Color::White, e2, e4)], ending: Ending::Stops };
/// let settings = SittingSettings {
///     setting: Setting::PLAIN,
///     temperament: Temperament::Calm,
///     thinking: 100,
///     seed: 1,
/// };
/// let noon = Timestamp::from_micros(1_789_000_000_000_000);
/// let sitting = Sitting::new(noon, settings, script);
/// let mut player = Player::new(noon, BoardSettings::default(), sitting);
///
/// player.handle_bytes(noon, &[0x44]); // update-board mode
/// let mut heard = 0;
/// while let Some(due) = player.poll_deadline().filter(|due| *due < noon + Duration::from_secs(60)) {
///     player.advance(due);
///     while let Some((_, bytes)) = player.poll_transmit(due) {
///         heard += bytes.len();
///     }
/// }
/// assert_eq!((player.truth().plies, heard), (1, 10)); // two field updates
/// ```
#[derive(Debug, Clone)]
pub struct Player {
    board: EmulatedBoard,
    /// While the cable is unplugged, a copy of the board without power. It replaces the board if the cable is the
    /// board's power supply.
    unpowered_copy: Option<Box<EmulatedBoard>>,
    unplugged_clock: Option<EmulatedClock>,
    sitting: Sitting,
    garbage: VecDeque<(Timestamp, Vec<u8>)>,
}

impl Player {
    /// Creates a board that is powered up at `now` and plugged in, with the players' pieces on it. Its scan period and
    /// clock poll period come from the players' [`Setting`](crate::emulator::hand::Setting).
    #[must_use]
    pub fn new(now: Timestamp, settings: BoardSettings, sitting: Sitting) -> Self {
        Self {
            board: sitting.setting().board(now, settings, sitting.standing()),
            unpowered_copy: None,
            unplugged_clock: None,
            sitting,
            garbage: VecDeque::new(),
        }
    }

    /// Adds a game, to be played after all games added before.
    pub fn add(&mut self, now: Timestamp, script: Script) {
        self.advance(now);
        self.sitting.add(now, script);
    }

    /// Pauses play at `now`, see [`Sitting::hold`]. Returns `false` if it is paused already.
    pub fn hold(&mut self, now: Timestamp) -> bool {
        self.advance(now);
        self.sitting.hold(now)
    }

    /// Resumes play, see [`Sitting::release`]. Returns whether it was paused.
    pub fn release(&mut self, now: Timestamp) -> bool {
        self.advance(now);
        self.sitting.release(now)
    }

    /// Returns whether play is paused until [`release`](Self::release).
    #[must_use]
    pub const fn waits(&self) -> bool {
        self.sitting.waits()
    }

    /// Returns the true state of play.
    #[must_use]
    pub const fn truth(&self) -> Truth {
        self.sitting.truth()
    }

    /// Returns the actual contents of the board, regardless of its sensors, numbered with the connector on White's
    /// left.
    #[must_use]
    pub const fn standing(&self) -> &Dump {
        self.sitting.standing()
    }

    /// Returns whether all games are over.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.sitting.is_done()
    }

    /// Returns whether the cable is plugged in.
    #[must_use]
    pub const fn is_plugged(&self) -> bool {
        self.unpowered_copy.is_none()
    }

    /// Handles bytes that the host writes. They are lost while the cable is unplugged.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        self.advance(now);
        if self.is_plugged() {
            self.board.handle_bytes(now, bytes);
        }
    }

    /// Returns the next bytes that reach the host by `now`, with their arrival time.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<(Timestamp, Vec<u8>)> {
        self.advance(now);
        if let Some(garbage) = self.garbage.pop_front() {
            return Some(garbage);
        }
        self.board.poll_transmit(now)
    }

    /// Returns the time of the next action if the host writes nothing earlier.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        let garbage = self.garbage.front().map(|(at, _)| *at);
        [self.sitting.poll_deadline(), garbage, self.board.poll_deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Advances the players and the board to `now`.
    pub fn advance(&mut self, now: Timestamp) {
        while let Some((at, deed)) = self.sitting.poll_deed(now) {
            self.perform(at, deed);
        }
        self.board.advance(now);
        if !self.is_plugged() {
            // Bytes that the board sends while the cable is unplugged are lost.
            for board in self.boards() {
                while board.poll_transmit(now).is_some() {}
            }
        }
    }

    /// Unplugs the cable. Unread bytes are lost.
    pub fn unplug(&mut self, now: Timestamp) {
        self.advance(now);
        if self.is_plugged() {
            let mut unpowered_copy = Box::new(self.board.clone());
            unpowered_copy.power_off(now);
            self.unpowered_copy = Some(unpowered_copy);
        }
        self.garbage.clear();
        self.advance(now);
    }

    /// Plugs the cable in again. If the board stayed `powered`, it continues as before. Otherwise it powers up in bus
    /// mode, and its memory holds the changes until the cable was unplugged, then a power-up tag and the pieces found.
    pub fn plug(&mut self, now: Timestamp, powered: bool) {
        self.advance(now);
        let Some(mut unpowered_copy) = self.unpowered_copy.take().filter(|_| !powered) else {
            return;
        };
        unpowered_copy.plug_clock(now, self.board.plug_clock(now, None));
        unpowered_copy.power_on(now);
        self.board = *unpowered_copy;
    }

    /// Puts garbage bytes on the line.
    pub fn garble(&mut self, now: Timestamp, bytes: &[u8]) {
        self.advance(now);
        if self.is_plugged() {
            self.garbage.push_back((now, bytes.to_vec()));
        }
    }

    /// Makes the board hang, as with [`EmulatedBoard::silence`], or lets it continue.
    pub fn silence(&mut self, now: Timestamp, silent: bool) {
        self.advance(now);
        let until = if silent { FOREVER } else { now };
        for board in self.boards() {
            board.silence(now, until);
        }
    }

    /// Makes the sensor of a square read empty if `dead`; otherwise repairs it. Squares are numbered with the connector
    /// on White's left.
    pub fn kill(&mut self, now: Timestamp, field: Field, dead: bool) {
        self.advance(now);
        let field = self.sitting.setting().field(field);
        for board in self.boards() {
            if dead {
                board.break_field(now, field, None);
            } else {
                board.mend_field(now, field);
            }
        }
    }

    /// Unplugs the clock from the board. The players continue to press it.
    pub fn unplug_clock(&mut self, now: Timestamp) {
        self.advance(now);
        if let Some(clock) = self.board.plug_clock(now, None) {
            self.unplugged_clock = Some(clock);
        }
    }

    /// Plugs the clock in again.
    pub fn plug_clock(&mut self, now: Timestamp) {
        self.advance(now);
        if let Some(clock) = self.unplugged_clock.take() {
            self.board.plug_clock(now, Some(clock));
        }
    }

    fn perform(&mut self, at: Timestamp, deed: Deed) {
        if let Deed::Stands(field, contents) = deed {
            let field = self.sitting.setting().field(field);
            for board in self.boards() {
                board.set(at, field, contents);
            }
            return;
        }
        let clock = match &mut self.unplugged_clock {
            Some(clock) => Some(clock),
            None => self.board.clock_mut(at),
        };
        if let Some(clock) = clock {
            self.sitting.setting().perform_on_clock(clock, at, deed);
        }
    }

    /// Returns the board and, while the cable is unplugged, its copy without power.
    fn boards(&mut self) -> impl Iterator<Item = &mut EmulatedBoard> {
        core::iter::once(&mut self.board).chain(self.unpowered_copy.as_deref_mut())
    }
}

const FOREVER: Timestamp = Timestamp::from_micros(i64::MAX);

#[cfg(test)]
mod tests;
