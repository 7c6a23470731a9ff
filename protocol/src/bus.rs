//! Bus mode, with many boards on one line: addressed commands, answers and checksums.
//!
//! Boards power up in bus mode and answer only when addressed. Any single-board command switches every
//! board on the line to single-board mode; the first bus command after that switches the boards back and
//! has no other effect. Therefore start with a ping on an unknown port, and send only bus commands on a bus.
//!
//! The ids 0x83 to 0x89 have other meanings in single-board mode, so choose the decoder by the mode of the
//! port.
//!
//! ```
//! use kiebitz_protocol::{BusAddress, BusCommand, BusCommandKind, BusData, BusDecoder};
//!
//! let address = BusAddress::new(1025).unwrap();
//! let ask = BusCommand { kind: BusCommandKind::Ping, address };
//! assert_eq!(ask.encode(), [0x87, 0x08, 0x01, 0x10]);
//!
//! let mut answers = 0;
//! BusDecoder::new().feed(&[0x87, 0x00, 0x06, 0x08, 0x01, 0x16], |decoded| {
//!     let answer = decoded.unwrap();
//!     assert_eq!((answer.address, answer.data), (address, BusData::Ping));
//!     answers += 1;
//! });
//! assert_eq!(answers, 1);
//! ```

mod answer;
mod checksum;
mod command;

pub use answer::{BusAnswer, BusAnswerError, BusData};
pub use command::{BusCommand, BusCommandError, BusCommandKind};
