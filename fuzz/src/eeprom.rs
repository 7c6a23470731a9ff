//! Decodes arbitrary bytes as a board's memory. Checks that each byte belongs to an element or is dropped, and that
//! elements encode to the same bytes.

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

    // Three bytes of padding resynchronise the decoder, because an element has at most two operands.
    let after = [data, &[0x7f, 0x7f, 0x7f, 0x6a, 0x6b]].concat();
    assert_eq!(eeprom::elements(&after).last(), Some(Ok(Element::End)));
}
