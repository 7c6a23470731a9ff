//! Bus commands to an emulated board.

use core::time::Duration;

use kiebitz_protocol::{
    BusAddress, BusAnswer, BusCommand, BusCommandKind, BusData, ClockAbsent, ClockReport,
};

use super::{EmulatedBoard, Mode};
use crate::facts::{PING_SPREAD, START_TAG_TIME};
use crate::time::Timestamp;

impl EmulatedBoard {
    /// Returns the address on a bus. `None` if the serial number is missing or is not an address.
    #[must_use]
    pub fn bus_address(&self) -> Option<BusAddress> {
        self.settings.serial.and_then(|serial| serial.bus_address())
    }

    /// Executes a bus command. In single-board mode a command to any address only switches to bus mode.
    pub(super) fn execute_bus(&mut self, now: Timestamp, command: BusCommand) {
        if self.mode != Mode::Bus {
            self.mode = Mode::Bus;
            return;
        }
        let Some(own) = self.bus_address() else { return };
        match command.kind {
            kind if command.address == own => self.execute_addressed(now, own, kind),
            _ if command.address != BusAddress::ALL => {}
            BusCommandKind::Ping => self.schedule_ping_answer(now),
            BusCommandKind::EndBusMode => self.mode = Mode::Idle,
            BusCommandKind::Reset => self.restart(now),
            _ => {}
        }
    }

    fn execute_addressed(&mut self, now: Timestamp, own: BusAddress, kind: BusCommandKind) {
        match kind {
            BusCommandKind::Clock => self.answer_bus(now, own, BusData::Clock(self.clock_report())),
            BusCommandKind::Board => self.answer_bus(now, own, BusData::Board(*self.scan.seen())),
            BusCommandKind::Changes => {
                let data = self.memory.changes();
                self.answer_bus(now, own, BusData::Changes(&data));
            }
            BusCommandKind::RepeatChanges => {
                let data = self.memory.last_changes().to_vec();
                self.answer_bus(now, own, BusData::Changes(&data));
            }
            BusCommandKind::ChangesClockBoard => {
                let data = self.memory.changes();
                self.answer_bus(now, own, BusData::Changes(&data));
                self.answer_bus(now, own, BusData::Clock(self.clock_report()));
                self.answer_bus(now, own, BusData::Board(*self.scan.seen()));
            }
            BusCommandKind::SetStart => {
                let pieces = *self.scan.seen();
                self.memory.start_tag(now, &pieces);
                self.answer_bus(now + START_TAG_TIME, own, BusData::StartWritten);
            }
            BusCommandKind::FromStart => {
                let data = self.memory.since_start_tag();
                self.answer_bus(now, own, BusData::FromStart(&data));
            }
            BusCommandKind::IgnoreNextPing => {
                self.ignores_ping = true;
                self.answer_bus(now, own, BusData::Ping);
            }
            // A ping to a board with the broadcast address is a broadcast ping.
            BusCommandKind::Ping if own == BusAddress::ALL => self.schedule_ping_answer(now),
            BusCommandKind::Ping => self.answer_bus(now, own, BusData::Ping),
            BusCommandKind::Version => {
                let (major, minor) = self.settings.version;
                self.answer_bus(now, own, BusData::Version { major, minor });
            }
            BusCommandKind::EndBusMode => self.mode = Mode::Idle,
            BusCommandKind::Reset => self.restart(now),
        }
    }

    /// Answers a broadcast ping at the time chosen by `schedule_ping_answer`.
    pub(super) fn answer_ping_to_all(&mut self, now: Timestamp) {
        self.ping_at = None;
        if let Some(own) = self.bus_address().filter(|_| self.mode == Mode::Bus) {
            self.answer_bus(now, own, BusData::Ping);
        }
    }

    fn schedule_ping_answer(&mut self, now: Timestamp) {
        if std::mem::take(&mut self.ignores_ping) {
            return;
        }
        let spread = PING_SPREAD.as_micros() as u64;
        let wait = Duration::from_micros(self.random.u64(..spread));
        self.ping_at.get_or_insert(now + wait);
    }

    fn restart(&mut self, now: Timestamp) {
        self.shut_down(now);
        self.restart_at = Some(now + RESTART_TIME);
    }

    fn clock_report(&self) -> ClockReport {
        match self.clock_read {
            Some(times) => ClockReport::Times(times),
            None => ClockReport::Absent(ClockAbsent::default()),
        }
    }

    fn answer_bus(&mut self, now: Timestamp, address: BusAddress, data: BusData<'_>) {
        let mut bytes = Vec::new();
        BusAnswer { address, data }.encode(&mut bytes);
        self.answer_bytes(now, &bytes);
    }
}

/// Duration of a restart. A reset takes some seconds.
const RESTART_TIME: Duration = Duration::from_secs(3);
