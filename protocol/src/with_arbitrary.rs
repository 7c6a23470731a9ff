//! `Arbitrary` for the types with invariants. All other types derive it.
//!
//! Derived values may be invalid: numbers in public fields may be above their range, and an unknown message may
//! have the id of a known message. Encoding has to handle both.

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::address::BusAddress;
use crate::clock::{ClockAbsent, ClockAck};
use crate::clock_message::ClockText;
use crate::field::Field;
use crate::message::Serial;

impl Arbitrary<'_> for Field {
    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Self> {
        u.arbitrary().map(Self::from_low_bits)
    }

    fn size_hint(_: usize) -> (usize, Option<usize>) {
        (1, Some(1))
    }
}

impl Arbitrary<'_> for BusAddress {
    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Self> {
        u.arbitrary().map(Self::from_wire)
    }

    fn size_hint(_: usize) -> (usize, Option<usize>) {
        (2, Some(2))
    }
}

impl Arbitrary<'_> for ClockAck {
    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Self> {
        u.arbitrary().map(Self::new)
    }

    fn size_hint(_: usize) -> (usize, Option<usize>) {
        (4, Some(4))
    }
}

/// Always returns the default report, as boards send it.
impl Arbitrary<'_> for ClockAbsent {
    fn arbitrary(_: &mut Unstructured<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn size_hint(_: usize) -> (usize, Option<usize>) {
        (0, Some(0))
    }
}

impl Arbitrary<'_> for ClockText {
    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Self> {
        u.arbitrary().map(Self::from_wire)
    }

    fn size_hint(_: usize) -> (usize, Option<usize>) {
        (9, Some(9))
    }
}

impl<const N: usize> Arbitrary<'_> for Serial<N> {
    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Self> {
        let bytes: [u8; N] = u.arbitrary()?;
        let characters = bytes.map(|byte| b' ' + byte % (b'~' - b' ' + 1));
        Self::new(characters).ok_or(arbitrary::Error::IncorrectFormat)
    }

    fn size_hint(_: usize) -> (usize, Option<usize>) {
        (N, Some(N))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{BusAnswer, BusCommand, BusDecoder, Command, CommandDecoder, Decoder, Message, SerialNumber};

    /// Returns pseudo-random bytes for many values.
    fn noise() -> Vec<u8> {
        let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        core::iter::successors(Some(1), next)
            .map(|state| (state >> 24) as u8)
            .take(300_000)
            .collect()
    }

    #[test]
    fn any_value_is_encoded_as_one_complete_unit() {
        let mut kinds = [0_u32; 256];
        for noise in noise().chunks(1000) {
            let mut u = Unstructured::new(noise);
            let message: Message<'_> = u.arbitrary().unwrap();
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            kinds[usize::from(bytes[0])] += 1;
            let mut decoder = Decoder::new();
            decoder.feed(&bytes, |_| {});
            assert_eq!(
                (decoder.pending(), decoder.counters().truncated),
                (0, 0),
                "{message:?}"
            );

            let command: Command = u.arbitrary().unwrap();
            bytes.clear();
            command.encode(&mut bytes);
            let mut decoder = CommandDecoder::new();
            decoder.feed(&bytes, |decoded| assert!(decoded.is_ok(), "{command:?}"));
            assert_eq!(decoder.pending(), 0);

            let answer: BusAnswer<'_> = u.arbitrary().unwrap();
            bytes.clear();
            answer.encode(&mut bytes);
            let mut decoder = BusDecoder::new();
            decoder.feed(&bytes, |_| {});
            let counters = decoder.counters();
            assert_eq!(
                (decoder.pending(), counters.truncated, counters.wrong_checksum),
                (0, 0, 0)
            );

            let command: BusCommand = u.arbitrary().unwrap();
            assert_eq!(BusCommand::decode(command.encode()), Ok(command));
        }
        let found = kinds.iter().filter(|count| **count > 0).count();
        assert!(found > 10, "{found} kinds of message");
    }

    #[test]
    fn serial_numbers_are_printable() {
        let noise = noise();
        let mut u = Unstructured::new(&noise);
        for _ in 0..1000 {
            let serial: SerialNumber = u.arbitrary().unwrap();
            assert!(serial.as_str().bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        }
    }
}
