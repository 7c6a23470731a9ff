use kiebitz_protocol::{Element, eeprom};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::strategies::element;

fn encoded(elements: &[Element]) -> Vec<u8> {
    let mut bytes = Vec::new();
    elements.iter().for_each(|element| element.encode(&mut bytes));
    bytes
}

proptest! {
    #[test]
    fn elements_round_trip(elements in vec(element(), 0..50)) {
        let bytes = encoded(&elements);
        prop_assert!(bytes.iter().all(|byte| *byte < 0x80));
        let read: Result<Vec<_>, _> = eeprom::elements(&bytes).collect();
        prop_assert_eq!(read, Ok(elements));
    }

    #[test]
    fn elements_after_garbage_are_decoded(garbage in vec(any::<u8>(), 0..20), elements in vec(element(), 3..20)) {
        // Garbage that ends with the first byte of an element consumes up to two further bytes as its operands.
        let bytes = [&garbage[..], &encoded(&elements)].concat();
        let read: Vec<_> = eeprom::elements(&bytes).collect();
        let found: Vec<_> = read.into_iter().rev().map_while(Result::ok).take(elements.len() - 2).collect();
        prop_assert!(found.iter().eq(elements.iter().rev().take(found.len())));
        prop_assert!(!found.is_empty());
    }

    #[test]
    fn any_bytes_are_elements_or_dropped(bytes in vec(any::<u8>(), 0..300)) {
        let mut offset = 0;
        for element in eeprom::elements(&bytes) {
            match element {
                Ok(element) => offset += encoded(&[element]).len(),
                Err(error) => {
                    prop_assert_eq!(error.offset, offset);
                    prop_assert!(error.dropped > 0);
                    offset += error.dropped;
                }
            }
        }
        prop_assert_eq!(offset, bytes.len());
    }
}
