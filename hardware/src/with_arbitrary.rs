//! Tests of the types that derive `Arbitrary`.

use arbitrary::{Arbitrary, Unstructured};

use crate::Observed;
use crate::capture::{CaptureReader, CaptureWriter, Interface, Packet};

/// Returns pseudo-random bytes for many values.
fn noise() -> Vec<u8> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    core::iter::successors(Some(1), next)
        .map(|state| (state >> 24) as u8)
        .take(100_000)
        .collect()
}

/// Returns one value for every 1000 bytes of noise.
fn values<T: for<'a> Arbitrary<'a>>() -> Vec<T> {
    noise()
        .chunks(1000)
        .map(|noise| Unstructured::new(noise).arbitrary().unwrap())
        .collect()
}

#[test]
fn any_packet_round_trips() {
    let mut writer = CaptureWriter::new(Vec::new()).unwrap();
    let interfaces: Vec<Interface> = values();
    for interface in &interfaces {
        writer.add_interface(interface).unwrap();
    }
    let mut packets: Vec<Packet> = values();
    for packet in &mut packets {
        packet.interface %= interfaces.len();
        packet.offset = writer.get_ref().len() as u64;
        writer.write(packet).unwrap();
    }
    let file = writer.into_inner();
    let mut reader = CaptureReader::new(file.as_slice()).unwrap();
    let read: Vec<Packet> = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(read.len(), packets.len());
    assert!(
        read.iter()
            .zip(&packets)
            .all(|(read, written)| read.content == written.content)
    );
}

#[test]
fn every_kind_of_observation_is_generated() {
    let kinds: std::collections::HashSet<_> = values::<Observed>()
        .iter()
        .map(|observed| core::mem::discriminant(&observed.observation))
        .collect();
    assert_eq!(kinds.len(), 12);
}
