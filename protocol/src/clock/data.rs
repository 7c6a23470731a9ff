/// The data of a BWTIME message or of the clock answer on the bus, each byte below 0x80.
///
/// | byte | times | acknowledgement |
/// | --- | --- | --- |
/// | 0 | right: hours (bits 0 to 3), flags (bits 4 to 6) | 0x0a; bits 4 and 5: bit 7 of acknowledgement bytes 2 and 3 |
/// | 1, 2 | right: minutes, seconds, BCD | acknowledgement bytes 0 and 1, bits 0 to 6 |
/// | 3 | left: hours, flags | 0x0a; bits 4 and 5: bit 7 of acknowledgement bytes 0 and 1 |
/// | 4, 5 | left: minutes, seconds, BCD | acknowledgement bytes 2 and 3, bits 0 to 6 |
/// | 6 | status; bit 5: no clock is connected | 0 |
pub(crate) type Data = [u8; 7];
