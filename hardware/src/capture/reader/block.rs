//! The contents of a block: options, times, packets and markers.

use pcap_parser::{BOM_MAGIC, EnhancedPacketBlock, InterfaceDescriptionBlock, PcapNGOption};

use crate::capture::{
    COMMENT_CLOCK, COMMENT_CLOSE, COMMENT_OPEN, Content, Direction, EPB_FLAGS, FLAGS_DIRECTION,
    FLAGS_OUTBOUND, IF_TSOFFSET, IF_TSRESOL, MICROSECONDS, OPT_COMMENT, OPT_END,
};
use crate::time::Timestamp;

/// The byte order of a section.
#[derive(Copy, Clone, Debug)]
pub(super) enum ByteOrder {
    Big,
    Little,
}

impl ByteOrder {
    /// Returns the byte order of a section's byte-order mark, or `None` if the mark is invalid.
    pub(super) fn from_mark(bytes: &[u8]) -> Option<Self> {
        [Self::Big, Self::Little]
            .into_iter()
            .find(|order| order.u32(bytes) == Some(BOM_MAGIC))
    }

    pub(super) fn u32(self, bytes: &[u8]) -> Option<u32> {
        let word = *bytes.first_chunk()?;
        Some(match self {
            Self::Big => u32::from_be_bytes(word),
            Self::Little => u32::from_le_bytes(word),
        })
    }

    fn i64(self, bytes: &[u8]) -> Option<i64> {
        let word = *bytes.first_chunk()?;
        Some(match self {
            Self::Big => i64::from_be_bytes(word),
            Self::Little => i64::from_le_bytes(word),
        })
    }
}

/// The time unit of an interface.
#[derive(Copy, Clone, Debug)]
pub(super) struct Ticks {
    /// Ticks per second; `None` if the number does not fit into 128 bits.
    per_second: Option<u128>,
    /// Seconds to add to all timestamps.
    offset: i64,
}

impl Ticks {
    // pcap_parser's own decoding of these options does not support binary resolutions and assumes a little-endian
    // offset.
    pub(super) fn of(description: &InterfaceDescriptionBlock<'_>, byte_order: ByteOrder) -> Self {
        let resolution = option(&description.options, IF_TSRESOL).and_then(|value| value.first().copied());
        let resolution = resolution.unwrap_or(MICROSECONDS);
        let exponent = u32::from(resolution & !BINARY);
        let base: u128 = if resolution & BINARY == 0 { 10 } else { 2 };
        let offset = option(&description.options, IF_TSOFFSET).and_then(|value| byte_order.i64(value));
        Self {
            per_second: base.checked_pow(exponent),
            offset: offset.unwrap_or_default(),
        }
    }

    pub(super) fn timestamp(self, high: u32, low: u32) -> Timestamp {
        // Negative for times before 1970.
        let ticks = i128::from((u64::from(high) << 32 | u64::from(low)) as i64);
        let per_second = self.per_second.and_then(|ticks| i128::try_from(ticks).ok());
        let micros = per_second.map_or(0, |per_second| (ticks * 1_000_000).div_euclid(per_second));
        let micros = micros + i128::from(self.offset) * 1_000_000;
        Timestamp::from_micros(micros.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }
}

/// Returns the content of a packet, or `None` if the packet is longer than its block.
pub(super) fn content(packet: &EnhancedPacketBlock<'_>, byte_order: ByteOrder) -> Option<Content> {
    let bytes = packet.data.get(..packet.caplen as usize)?;
    if bytes.is_empty()
        && let Some(marker) = options(&packet.options, OPT_COMMENT).find_map(marker)
    {
        return Some(marker);
    }
    let flags = option(&packet.options, EPB_FLAGS).and_then(|value| byte_order.u32(value));
    let direction = match flags.unwrap_or_default() & FLAGS_DIRECTION {
        FLAGS_OUTBOUND => Direction::Outbound,
        _ => Direction::Inbound,
    };
    Some(Content::Bytes {
        direction,
        bytes: bytes.to_vec(),
    })
}

/// Returns the content that the comment of an empty packet represents, or `None` for other comments.
fn marker(comment: &[u8]) -> Option<Content> {
    let comment = String::from_utf8_lossy(comment);
    if comment == COMMENT_OPEN {
        return Some(Content::Opened);
    }
    if let Some(by) = comment.strip_prefix(COMMENT_CLOCK) {
        return Some(Content::ClockSet { micros: micros(by)? });
    }
    let reason = comment.strip_prefix(COMMENT_CLOSE)?;
    let reason = if reason.is_empty() {
        reason
    } else {
        reason.strip_prefix(':')?
    };
    Some(Content::Closed {
        reason: reason.strip_prefix(' ').unwrap_or(reason).to_owned(),
    })
}

/// Parses a time such as "+3600.000000 s". Returns microseconds, or `None` if the format is wrong or the number too
/// large.
fn micros(text: &str) -> Option<i64> {
    let text = text.strip_suffix(" s")?;
    let (digits, negative) = match text.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (text.strip_prefix('+')?, false),
    };
    let (seconds, rest) = digits.split_once('.')?;
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if rest.len() != 6 || !all_digits(rest) || !all_digits(seconds) {
        return None;
    }
    let seconds: i128 = seconds.parse::<u64>().ok()?.into();
    let micros = seconds * 1_000_000 + rest.parse::<i128>().ok()?;
    i64::try_from(if negative { -micros } else { micros }).ok()
}

/// Returns the value of the first option with this code.
pub(super) fn option<'a>(list: &'a [PcapNGOption<'_>], code: u16) -> Option<&'a [u8]> {
    options(list, code).next()
}

fn options<'a>(list: &'a [PcapNGOption<'_>], code: u16) -> impl Iterator<Item = &'a [u8]> {
    let list = list.iter().take_while(|option| option.code.0 != OPT_END);
    list.filter(move |option| option.code.0 == code)
        .filter_map(|option| option.as_bytes().ok())
}

/// Flag in a time resolution that selects a power of two instead of ten.
pub(super) const BINARY: u8 = 0x80;
