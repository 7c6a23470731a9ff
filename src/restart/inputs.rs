//! The inputs of a hall, recorded packets and commands, in order of time.

use std::collections::VecDeque;

use kiebitz_game::command::Timed;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{Interface, Packet};

/// Merges packets with commands by time; packets come before commands of the same time.
#[derive(Debug)]
pub(crate) struct Inputs<P> {
    packets: P,
    next: Option<(Interface, Packet)>,
    /// Remaining commands, earliest first.
    commands: VecDeque<Timed>,
}

#[derive(Debug)]
pub(crate) enum HallInput {
    /// A recorded packet with its port.
    Recorded(Interface, Packet),
    Command(Box<Timed>),
}

impl<P: Iterator<Item = (Interface, Packet)>> Inputs<P> {
    pub(crate) fn new(mut packets: P) -> Self {
        Self {
            next: packets.next(),
            packets,
            commands: VecDeque::new(),
        }
    }

    /// Sets the commands, which must be in order of time.
    pub(crate) fn with_commands(self, commands: VecDeque<Timed>) -> Self {
        Self { commands, ..self }
    }

    /// Ends the packets; commands still come.
    pub(crate) fn end_packets(&mut self) {
        self.next = None;
    }

    pub(crate) fn has_packet(&self) -> bool {
        self.next.is_some()
    }

    /// Time of the next packet or command; `None` after the last one.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        let packet = self.next.as_ref().map(|(_, packet)| packet.at);
        let command = self.commands.front().map(|timed| timed.at);
        [packet, command].into_iter().flatten().min()
    }

    /// The next packet or command whose time is not after `now`.
    pub(crate) fn next_until(&mut self, now: Timestamp) -> Option<HallInput> {
        if let Some((port, packet)) = self.next.take_if(|(_, packet)| packet.at <= now) {
            self.next = self.packets.next();
            return Some(HallInput::Recorded(port, packet));
        }
        let timed = self.commands.pop_front_if(|timed| timed.at <= now)?;
        Some(HallInput::Command(Box::new(timed)))
    }

    pub(crate) fn packets(&self) -> &P {
        &self.packets
    }

    pub(crate) fn packets_mut(&mut self) -> &mut P {
        &mut self.packets
    }
}
