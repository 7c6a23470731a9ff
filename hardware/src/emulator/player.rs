//! A board on which games are played, whether a host is connected or not, and what can go wrong with it.

use std::collections::VecDeque;

use kiebitz_protocol::{Dump, Field};

use super::hand::{Deed, Script, Sitting, Truth};
use super::{BoardSettings, EmulatedBoard, EmulatedClock};
use crate::time::Timestamp;

/// A board on which games are played one after another, and its line to the host.
///
/// The players do not care whether there is one: they play on while the cable is out. Times passed in must not go
/// backwards.
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
    /// While the cable is out: the board as it is if the cable feeds it, without power.
    unfed: Option<Box<EmulatedBoard>>,
    /// The clock while its cable is out.
    unplugged_clock: Option<EmulatedClock>,
    sitting: Sitting,
    garbage: VecDeque<(Timestamp, Vec<u8>)>,
}

impl Player {
    /// A board that gets power at `now` and is plugged in, with what stands before these players; its scan and how
    /// often it asks its clock are those of their setting.
    #[must_use]
    pub fn new(now: Timestamp, settings: BoardSettings, sitting: Sitting) -> Self {
        Self {
            board: sitting.setting().board(now, settings, sitting.standing()),
            unfed: None,
            unplugged_clock: None,
            sitting,
            garbage: VecDeque::new(),
        }
    }

    /// One more game, when those before it are over.
    pub fn add(&mut self, now: Timestamp, script: Script) {
        self.advance(now);
        self.sitting.add(now, script);
    }

    /// What has really happened.
    #[must_use]
    pub const fn truth(&self) -> Truth {
        self.sitting.truth()
    }

    /// What really stands on the board, whatever its sensors show, numbered with the connector on White's left.
    #[must_use]
    pub const fn standing(&self) -> &Dump {
        self.sitting.standing()
    }

    /// Whether all games are over.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.sitting.is_done()
    }

    /// Whether the cable is in.
    #[must_use]
    pub const fn is_plugged(&self) -> bool {
        self.unfed.is_none()
    }

    /// The host has written these bytes; lost while the cable is out.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        self.advance(now);
        if self.is_plugged() {
            self.board.handle_bytes(now, bytes);
        }
    }

    /// The next bytes that the host could read at `now` or before, with the time at which they came.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<(Timestamp, Vec<u8>)> {
        self.advance(now);
        if let Some(garbage) = self.garbage.pop_front() {
            return Some(garbage);
        }
        self.board.poll_transmit(now)
    }

    /// When something is to be done next if the host writes nothing.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        let garbage = self.garbage.front().map(|(at, _)| *at);
        [self.sitting.poll_deadline(), garbage, self.board.poll_deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Time has come to `now`: the hands go on.
    pub fn advance(&mut self, now: Timestamp) {
        while let Some((at, deed)) = self.sitting.poll_deed(now) {
            self.perform(at, deed);
        }
        self.board.advance(now);
        if !self.is_plugged() {
            // What the board sends goes nowhere.
            for board in self.boards() {
                while board.poll_transmit(now).is_some() {}
            }
        }
    }

    /// Pulls the cable out. What has not been read is lost.
    pub fn unplug(&mut self, now: Timestamp) {
        self.advance(now);
        if self.is_plugged() {
            let mut unfed = Box::new(self.board.clone());
            unfed.power_off(now);
            self.unfed = Some(unfed);
        }
        self.garbage.clear();
        self.advance(now);
    }

    /// Plugs the cable in again. A board that was `powered` all the while goes on as before; one that the cable feeds
    /// powers up: in bus mode, its memory as it was with a tag and the pieces that it finds.
    pub fn plug(&mut self, now: Timestamp, powered: bool) {
        self.advance(now);
        let Some(mut unfed) = self.unfed.take().filter(|_| !powered) else {
            return;
        };
        unfed.plug_clock(now, self.board.plug_clock(now, None));
        unfed.power_on(now);
        self.board = *unfed;
    }

    /// Bytes on the line that the board did not send.
    pub fn garble(&mut self, now: Timestamp, bytes: &[u8]) {
        self.advance(now);
        if self.is_plugged() {
            self.garbage.push_back((now, bytes.to_vec()));
        }
    }

    /// From now on the board hangs, as [`EmulatedBoard::silence`] has it; or it is there again.
    pub fn silence(&mut self, now: Timestamp, silent: bool) {
        self.advance(now);
        let until = if silent { FOREVER } else { now };
        for board in self.boards() {
            board.silence(now, until);
        }
    }

    /// From now on the sensor of a field, numbered with the connector on White's left, sees nothing; or it works again.
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

    /// Pulls the clock's cable out of the board. The players go on pressing it.
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

    /// The board as it is with power and, while the cable is out, without.
    fn boards(&mut self) -> impl Iterator<Item = &mut EmulatedBoard> {
        core::iter::once(&mut self.board).chain(self.unfed.as_deref_mut())
    }
}

const FOREVER: Timestamp = Timestamp::from_micros(i64::MAX);

#[cfg(test)]
mod tests;
