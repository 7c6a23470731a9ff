//! A table of the emulation: the players and their board, on its own line or on the bus.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::emulator::hand::{Deed, Script, Sitting, Truth};
use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard, EmulatedBus, EmulatedClock, Player};
use kiebitz_protocol::BusAddress;

use super::fault::EmulatedFault;
use super::plies;

#[derive(Debug)]
pub(super) enum PlayedTable {
    Alone {
        player: Box<Player>,
        /// Whether the board keeps its power while unplugged.
        powered: bool,
    },
    OnBus(Box<OnBus>),
}

/// Players at a board on the bus. The board has its own power supply.
#[derive(Debug)]
pub(super) struct OnBus {
    address: BusAddress,
    sitting: Sitting,
    /// The board, while it is detached from the bus.
    detached: Option<EmulatedBoard>,
    unplugged_clock: Option<EmulatedClock>,
}

impl PlayedTable {
    /// Creates players at a board on its own line.
    pub(super) fn alone(now: Timestamp, board: BoardSettings, sitting: Sitting, powered: bool) -> Self {
        Self::Alone {
            player: Box::new(Player::new(now, board, sitting)),
            powered,
        }
    }

    /// Creates players at a board on the bus. Returns `None` if the board's address is missing or taken.
    pub(super) fn on_bus(
        now: Timestamp,
        board: BoardSettings,
        sitting: Sitting,
        bus: &mut EmulatedBus,
    ) -> Option<Self> {
        let board = sitting.setting().board(now, board, sitting.standing());
        let address = bus.attach(now, board).ok()?;
        Some(Self::OnBus(Box::new(OnBus {
            address,
            sitting,
            detached: None,
            unplugged_clock: None,
        })))
    }

    /// Returns the real state of play, regardless of the board's reports.
    pub(super) fn truth(&self) -> Truth {
        match self {
            Self::Alone { player, .. } => player.truth(),
            Self::OnBus(on_bus) => on_bus.sitting.truth(),
        }
    }

    /// Returns whether the players are paused.
    pub(super) const fn waits(&self) -> bool {
        match self {
            Self::Alone { player, .. } => player.waits(),
            Self::OnBus(on_bus) => on_bus.sitting.waits(),
        }
    }

    /// Appends a game to those that are still to be played.
    pub(super) fn add(&mut self, now: Timestamp, script: Script) {
        match self {
            Self::Alone { player, .. } => player.add(now, script),
            Self::OnBus(on_bus) => on_bus.sitting.add(now, script),
        }
    }

    /// Returns the time at which [`advance`](Self::advance) is due.
    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        match self {
            Self::Alone { player, .. } => player.poll_deadline(),
            Self::OnBus(on_bus) => on_bus.sitting.poll_deadline(),
        }
    }

    pub(super) fn advance(&mut self, now: Timestamp, bus: &mut Option<EmulatedBus>) {
        match self {
            Self::Alone { player, .. } => player.advance(now),
            Self::OnBus(on_bus) => {
                while let Some((at, deed)) = on_bus.sitting.poll_deed(now) {
                    on_bus.perform(at, deed, bus);
                }
            }
        }
    }

    /// Injects a fault, or repairs one. Returns `false` if nothing changed.
    pub(super) fn inject(
        &mut self,
        now: Timestamp,
        trouble: EmulatedFault,
        bus: &mut Option<EmulatedBus>,
    ) -> bool {
        match self {
            Self::Alone { player, powered } => inject_alone(player, *powered, now, trouble),
            Self::OnBus(on_bus) => on_bus.inject(now, trouble, bus),
        }
    }
}

fn inject_alone(player: &mut Player, powered: bool, now: Timestamp, trouble: EmulatedFault) -> bool {
    match trouble {
        EmulatedFault::Wait => return player.hold(now),
        EmulatedFault::Start => return player.release(now),
        EmulatedFault::Unplug if !player.is_plugged() => return false,
        EmulatedFault::Plug if player.is_plugged() => return false,
        EmulatedFault::Unplug => player.unplug(now),
        EmulatedFault::Plug => player.plug(now, powered),
        EmulatedFault::Silent => player.silence(now, true),
        EmulatedFault::Heard => player.silence(now, false),
        EmulatedFault::Dead(square) => player.kill(now, plies::field(square), true),
        EmulatedFault::Alive(square) => player.kill(now, plies::field(square), false),
        EmulatedFault::ClockLost => player.unplug_clock(now),
        EmulatedFault::Clock => player.plug_clock(now),
        // The caller sends the garbage.
        EmulatedFault::Garbage => {}
    }
    true
}

impl OnBus {
    /// Returns the board, whether attached to the bus or not.
    fn board<'b>(
        &'b mut self,
        now: Timestamp,
        bus: &'b mut Option<EmulatedBus>,
    ) -> Option<&'b mut EmulatedBoard> {
        match &mut self.detached {
            Some(board) => Some(board),
            None => bus.as_mut()?.board_mut(now, self.address),
        }
    }

    fn perform(&mut self, at: Timestamp, deed: Deed, bus: &mut Option<EmulatedBus>) {
        let setting = self.sitting.setting().clone();
        match (deed, &mut self.unplugged_clock) {
            (Deed::Stands(..), _) | (_, None) => {
                if let Some(board) = self.board(at, bus) {
                    setting.perform(board, at, deed);
                }
            }
            (_, Some(clock)) => setting.perform_on_clock(clock, at, deed),
        }
    }

    fn inject(&mut self, now: Timestamp, trouble: EmulatedFault, bus: &mut Option<EmulatedBus>) -> bool {
        match trouble {
            EmulatedFault::Unplug if self.detached.is_none() => {
                self.detached = bus.as_mut().and_then(|bus| bus.detach(now, self.address));
                return self.detached.is_some();
            }
            EmulatedFault::Wait => return self.sitting.hold(now),
            EmulatedFault::Start => return self.sitting.release(now),
            EmulatedFault::Plug => return self.plug(now, bus),
            EmulatedFault::Unplug => return false,
            EmulatedFault::Clock => {
                let clock = self.unplugged_clock.take();
                if let (Some(clock), Some(board)) = (clock, self.board(now, bus)) {
                    board.plug_clock(now, Some(clock));
                }
                return true;
            }
            _ => {}
        }
        let turned = self.sitting.setting().turned;
        let field = |square| {
            let field = plies::field(square);
            if turned { field.turned() } else { field }
        };
        let Some(board) = self.board(now, bus) else {
            return false;
        };
        match trouble {
            EmulatedFault::Silent => board.silence(now, FOREVER),
            EmulatedFault::Heard => board.silence(now, now),
            EmulatedFault::Dead(square) => board.break_field(now, field(square), None),
            EmulatedFault::Alive(square) => board.mend_field(now, field(square)),
            EmulatedFault::ClockLost => {
                if let Some(clock) = board.plug_clock(now, None) {
                    self.unplugged_clock = Some(clock);
                }
            }
            _ => {}
        }
        true
    }

    fn plug(&mut self, now: Timestamp, bus: &mut Option<EmulatedBus>) -> bool {
        let (Some(bus), Some(board)) = (bus, self.detached.take()) else {
            return false;
        };
        match bus.attach(now, board) {
            Ok(_) => true,
            Err(error) => {
                self.detached = Some(error.into_board());
                false
            }
        }
    }
}

const FOREVER: Timestamp = Timestamp::from_micros(i64::MAX);
