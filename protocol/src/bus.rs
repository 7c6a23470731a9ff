//! Many boards on one line: commands with an address, answers, checksums.
//!
//! Boards answer only when addressed. They power up in bus mode. Any single-board command switches
//! every board on the line to single-board mode, and the first bus command after that only switches
//! back. So send a ping first on an unknown port, and nothing but bus commands on a known bus.
//!
//! The ids 0x83 to 0x89 mean other things here than in single-board mode, so choose the decoder by
//! the mode of the port.
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
