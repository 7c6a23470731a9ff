//! Any bytes as a board's memory: no panic, every byte an element or dropped, and what was read
//! is written again as it was.

use kiebitz_protocol::{Element, eeprom};

pub fn run(data: &[u8]) {
    let mut offset = 0;
    for element in eeprom::elements(data) {
        match element {
            Ok(Element::Nothing) => {
                assert!(matches!(data[offset], 0x00 | 0x7f));
                offset += 1;
            }
            Ok(element) => {
                let mut bytes = Vec::new();
                element.encode(&mut bytes);
                assert!(data[offset..].starts_with(&bytes));
                offset += bytes.len();
            }
            Err(error) => {
                assert_eq!(error.offset, offset);
                assert!(error.dropped > 0);
                offset += error.dropped;
            }
        }
    }
    assert_eq!(offset, data.len());

    // Reading is in step again at the latest after what two operands can hide.
    let after = [data, &[0x7f, 0x7f, 0x7f, 0x6a, 0x6b]].concat();
    assert_eq!(eeprom::elements(&after).last(), Some(Ok(Element::End)));
}
