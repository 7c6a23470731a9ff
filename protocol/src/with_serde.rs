//! Serialization of the types with invariants. All other types derive it.
//!
//! Fields and addresses are serialized as numbers, serial numbers as strings, clock reports and clock texts as
//! their bytes on the wire.

use alloc::string::String;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

use crate::address::BusAddress;
use crate::clock::{ClockAbsent, ClockAck};
use crate::clock_message::ClockText;
use crate::field::Field;
use crate::message::Serial;

/// Implements serde for a type by conversion to another type, and a checked conversion back.
macro_rules! as_checked {
    ($value:ty as $form:ty, $write:expr, $read:expr, $refusal:literal) => {
        impl Serialize for $value {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let form: $form = $write(*self);
                form.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $value {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let form = <$form>::deserialize(deserializer)?;
                $read(form).ok_or_else(|| Error::custom($refusal))
            }
        }
    };
}

as_checked!(Field as u8, Self::number, Self::new, "field above 63");
as_checked!(
    BusAddress as u16,
    Self::number,
    Self::new,
    "bus address above 16383"
);
as_checked!(
    ClockAck as [u8; 7],
    Self::to_wire,
    |data| seven_bit(data).and_then(Self::from_wire),
    "not an acknowledgement"
);
as_checked!(
    ClockAbsent as [u8; 7],
    Self::to_wire,
    |data| seven_bit(data).and_then(Self::from_wire),
    "not an absent clock"
);
as_checked!(
    ClockText as [u8; 9],
    Self::to_wire,
    |wire| seven_bit(wire).map(Self::from_wire),
    "not a text in ASCII"
);

impl<const N: usize> Serialize for Serial<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, const N: usize> Deserialize<'de> for Serial<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let characters = text.as_bytes().try_into().ok();
        characters
            .and_then(Self::new)
            .ok_or_else(|| Error::custom(format_args!("not a serial number of {N} printable characters")))
    }
}

/// Returns the bytes, or `None` if one of them has bit 7 set and so cannot be data on the wire.
fn seven_bit<const N: usize>(bytes: [u8; N]) -> Option<[u8; N]> {
    bytes.iter().all(|byte| *byte < 0x80).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use core::fmt::Debug;

    use super::*;
    use crate::{
        ClockMessage, Command, Counters, Element, FieldUpdate, LongSerialNumber, Piece, SerialNumber,
        SetAndRun,
    };

    /// Asserts that a value serializes to `json` and deserializes from it.
    fn assert_round_trip<T: Serialize + for<'de> Deserialize<'de> + PartialEq + Debug>(value: T, json: &str) {
        assert_eq!(serde_json::to_string(&value).unwrap(), json);
        assert_eq!(serde_json::from_str::<T>(json).unwrap(), value);
    }

    #[test]
    fn values_round_trip() {
        let field = Field::new(36).unwrap();
        assert_round_trip(field, "36");
        assert_round_trip(
            FieldUpdate::new(field, Some(Piece::WhitePawn)),
            r#"{"field":36,"contents":"white_pawn","flags":0}"#,
        );
        assert_round_trip(BusAddress::new(1025).unwrap(), "1025");
        assert_round_trip(SerialNumber::new(*b"01025").unwrap(), r#""01025""#);
        assert_round_trip(LongSerialNumber::new(*b"3000012345").unwrap(), r#""3000012345""#);
        assert_round_trip(Element::PowerUp, r#""power_up""#);
        assert_round_trip(
            Command::Clock(ClockMessage::Beep { duration: 4 }),
            r#"{"clock":{"beep":{"duration":4}}}"#,
        );
        assert_round_trip(ClockAck::new([0x10, 0x88, 0x00, 0x33]), "[10,16,8,42,0,51,0]");
        assert_round_trip(ClockAbsent::default(), "[0,0,0,0,0,0,32]");
        assert_round_trip(ClockText::new("Nf3", 1), "[78,102,51,32,32,32,32,32,1]");
        let set = serde_json::to_string(&SetAndRun::default()).unwrap();
        assert_round_trip(SetAndRun::default(), &set);
    }

    #[test]
    fn values_that_the_wire_cannot_hold_are_refused() {
        fn refusal<T: for<'de> Deserialize<'de> + Debug>(json: &str) -> String {
            serde_json::from_str::<T>(json).unwrap_err().to_string()
        }
        assert!(refusal::<Field>("64").starts_with("field above 63"));
        assert!(refusal::<BusAddress>("16384").starts_with("bus address above 16383"));
        assert!(refusal::<SerialNumber>(r#""1025""#).starts_with("not a serial number of 5"));
        assert!(refusal::<ClockAck>("[0,0,0,0,0,0,0]").starts_with("not an acknowledgement"));
        assert!(refusal::<ClockAbsent>("[0,0,0,0,0,0,160]").starts_with("not an absent clock"));
        assert!(refusal::<ClockText>("[200,0,0,0,0,0,0,0,0]").starts_with("not a text"));
    }

    #[test]
    fn missing_counters_default_to_zero() {
        let counters: Counters = serde_json::from_str(r#"{"messages":3}"#).unwrap();
        assert_eq!(
            counters,
            Counters {
                messages: 3,
                ..Counters::default()
            }
        );
    }
}
