//! Detection of the kind of files that are not captures.

use crate::capture::FileKind;

/// Returns the likely kind of a file that is not a capture, from its first bytes.
pub(super) fn sniff(start: &[u8]) -> FileKind {
    if start.is_empty() {
        return FileKind::Empty;
    }
    if CLASSIC_PCAP.iter().any(|magic| start.starts_with(magic)) {
        return FileKind::ClassicPcap;
    }
    if COMPRESSED.iter().any(|magic| start.starts_with(magic)) {
        return FileKind::Compressed;
    }
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    if text
        .iter()
        .any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace())
    {
        return FileKind::Other;
    }
    let text = text.trim_ascii_start();
    let tag = text.strip_prefix(b"[").and_then(<[u8]>::first);
    if tag.is_some_and(u8::is_ascii_alphabetic) {
        FileKind::Pgn
    } else {
        FileKind::Text
    }
}

/// Magic numbers of pcap with microseconds, with nanoseconds, and of Kuznetzov's variant, in both byte orders.
const CLASSIC_PCAP: [[u8; 4]; 6] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xcd, 0x34],
    [0x34, 0xcd, 0xb2, 0xa1],
];

/// Magic numbers of gzip, bzip2, xz, Zip and Zstandard.
const COMPRESSED: [&[u8]; 5] = [
    &[0x1f, 0x8b],
    b"BZh",
    b"\xfd7zXZ\0",
    b"PK\x03\x04",
    &[0x28, 0xb5, 0x2f, 0xfd],
];
