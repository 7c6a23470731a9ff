//! Single-board commands to an emulated board.

use core::time::Duration;

use kiebitz_protocol::{BusAddress, ClockAck, ClockMessage, Command, Message, SetTime};

use super::{EmulatedBoard, Mode};
use crate::time::Timestamp;

impl EmulatedBoard {
    pub(super) fn execute(&mut self, now: Timestamp, command: Command) {
        if self.mode == Mode::Bus {
            self.mode = Mode::Idle;
        }
        match command {
            Command::Reset => self.mode = Mode::Idle,
            Command::Update => self.mode = Mode::Update,
            Command::UpdateBoard => self.mode = Mode::UpdateBoard,
            Command::UpdateNice => {
                self.mode = Mode::UpdateNice;
                self.clock_sent = None;
            }
            Command::ToBusMode => self.mode = Mode::Bus,
            Command::SendClock => {
                let message = self.clock_message();
                self.answer(now, message);
            }
            Command::SendBoard => self.answer(now, Message::BoardDump(*self.scan.seen())),
            Command::SendTrademark => self.answer(now, Message::Trademark(TRADEMARK)),
            Command::SendVersion => {
                let (major, minor) = self.settings.version;
                self.answer(now, Message::Version { major, minor });
            }
            Command::ReturnSerialNumber => {
                self.answer_known(now, self.settings.serial.map(Message::SerialNumber));
            }
            Command::ReturnLongSerialNumber => {
                self.answer_known(now, self.settings.long_serial.map(Message::LongSerialNumber));
            }
            Command::ReturnBusAddress => {
                let address: Option<BusAddress> = self.bus_address();
                self.answer_known(now, address.map(Message::BusAddress));
            }
            Command::SendBatteryStatus => {
                self.answer_known(now, self.settings.battery.map(Message::BatteryStatus));
            }
            Command::SendEeMoves => {
                let data = self.memory.read();
                self.answer(now, Message::EeMoves(&data));
            }
            Command::Clock(message) => self.send_to_clock(now, &message),
            // The emulated board has no LEDs.
            Command::SetLeds { .. } => {}
        }
    }

    /// Passes a clock message to the clock. The board reports the acknowledgement only in modes that report the clock.
    fn send_to_clock(&mut self, now: Timestamp, message: &ClockMessage) {
        let Some(clock) = &mut self.clock else { return };
        if let ClockMessage::SetAndRun(set) = message {
            clock.set(now, duration(set.left), duration(set.right));
            if set.paused || !(set.left_runs || set.right_runs) {
                clock.stop(now)
            } else {
                clock.start(now)
            }
        }
        let ack = match message {
            ClockMessage::Version => ClockAck::new([ClockAck::NORMAL, message.id(), CLOCK_VERSION, 0]),
            _ => ClockAck::of(message.id()),
        };
        if matches!(self.mode, Mode::Update | Mode::UpdateNice) {
            self.answer(now, Message::ClockAck(ack));
        }
    }

    fn answer_known(&mut self, now: Timestamp, message: Option<Message<'_>>) {
        if let Some(message) = message {
            self.answer(now, message);
        }
    }

    fn answer(&mut self, now: Timestamp, message: Message<'_>) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.answer_bytes(now, &bytes);
    }
}

fn duration(time: SetTime) -> Duration {
    Duration::from_secs(u64::from(time.hours) * 3600 + u64::from(time.minutes) * 60 + u64::from(time.seconds))
}

/// Version 1.0, in the encoding of the clock's version message.
const CLOCK_VERSION: u8 = 0x10;
const TRADEMARK: &str = "kiebitz emulated board";
