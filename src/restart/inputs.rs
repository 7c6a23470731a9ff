//! What a hall was given: recorded packets and commands, in the order of time.

use std::collections::VecDeque;

use kiebitz_game::command::Timed;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{Interface, Packet};

/// Merges packets, in the order in which they come, with commands. At the same time, packets come before commands.
#[derive(Debug)]
pub(crate) struct Inputs<P> {
    packets: P,
    next: Option<(Interface, Packet)>,
    /// Commands still to be given, the earliest first.
    commands: VecDeque<Timed>,
}

/// One of them.
#[derive(Debug)]
pub(crate) enum HallInput {
    /// What was recorded, with the port that it is of.
    Recorded(Interface, Packet),
    /// A command.
    Command(Box<Timed>),
}

impl<P: Iterator<Item = (Interface, Packet)>> Inputs<P> {
    /// Packets and no commands.
    pub(crate) fn new(mut packets: P) -> Self {
        Self {
            next: packets.next(),
            packets,
            commands: VecDeque::new(),
        }
    }

    /// Packets and these commands, the earliest first.
    pub(crate) fn with_commands(self, commands: VecDeque<Timed>) -> Self {
        Self { commands, ..self }
    }

    /// Takes no more packets; commands still come.
    pub(crate) fn end_packets(&mut self) {
        self.next = None;
    }

    /// Whether there is another packet.
    pub(crate) fn has_packet(&self) -> bool {
        self.next.is_some()
    }

    /// The time of the next packet or command; `None` after the last one.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        let packet = self.next.as_ref().map(|(_, packet)| packet.at);
        let command = self.commands.front().map(|timed| timed.at);
        [packet, command].into_iter().flatten().min()
    }

    /// The next packet or command, if it is not later than `now`.
    pub(crate) fn next_until(&mut self, now: Timestamp) -> Option<HallInput> {
        if let Some((port, packet)) = self.next.take_if(|(_, packet)| packet.at <= now) {
            self.next = self.packets.next();
            return Some(HallInput::Recorded(port, packet));
        }
        let timed = self.commands.pop_front_if(|timed| timed.at <= now)?;
        Some(HallInput::Command(Box::new(timed)))
    }

    /// Where the packets come from.
    pub(crate) fn packets(&self) -> &P {
        &self.packets
    }

    /// The same, to be changed.
    pub(crate) fn packets_mut(&mut self) -> &mut P {
        &mut self.packets
    }
}
