//! Reads arbitrary bytes as a capture. Checks the order of the packets, and that packets can be written and read again.

use kiebitz_hardware::capture::{CaptureReader, CaptureWriter, Content, Packet};

pub fn run(data: &[u8]) {
    let Ok(mut reader) = CaptureReader::new(data) else {
        return;
    };
    let packets: Vec<Packet> = reader.by_ref().filter_map(Result::ok).collect();
    let end = reader.truncated().unwrap_or(data.len() as u64);
    assert!(packets.is_sorted_by(|earlier, later| earlier.offset < later.offset));
    assert!(packets.iter().all(|packet| packet.offset < end));

    // A truncated file gives a prefix of the packets.
    let cut = &data[..data.len().div_ceil(2)];
    let before: Vec<Packet> = CaptureReader::new(cut)
        .into_iter()
        .flatten()
        .map_while(Result::ok)
        .collect();
    assert!(packets.starts_with(&before));

    let mut writer = CaptureWriter::new(Vec::new()).expect("a Vec takes everything");
    for interface in reader.interfaces() {
        // Fails if a name became too long because invalid UTF-8 was replaced.
        let Ok(_) = writer.add_interface(interface) else {
            return;
        };
    }
    for packet in &packets {
        let Ok(()) = writer.write(packet) else { return };
    }
    let written = writer.into_inner();
    let reread: Vec<Packet> = CaptureReader::new(written.as_slice())
        .into_iter()
        .flatten()
        .map(|packet| packet.expect("a written capture can be read"))
        .collect();
    assert_eq!(reread.len(), packets.len());
    for (reread, packet) in reread.iter().zip(&packets) {
        assert_eq!((reread.at, reread.interface), (packet.at, packet.interface));
        match &packet.content {
            Content::Closed { reason } if reason.len() > 65_000 => {} // Writing truncates the reason.
            content => assert_eq!(&reread.content, content),
        }
    }
}
