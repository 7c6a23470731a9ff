//! Serialization of types that serde does not support. All other types derive it.

/// Serializes a dump as a list with the contents of its 64 fields, in wire order.
pub(crate) mod dump {
    use kiebitz_protocol::{Contents, Dump, Field};
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::{Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(dump: &Dump, serializer: S) -> Result<S::Ok, S::Error> {
        dump.as_slice().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Dump, D::Error> {
        let fields = Vec::<Contents>::deserialize(deserializer)?;
        let count = fields.len();
        let refusal = |_| Error::invalid_length(count, &format!("{} fields", Field::COUNT).as_str());
        fields.try_into().map_err(refusal)
    }
}

#[cfg(test)]
mod tests {
    use kiebitz_protocol::{BusAddress, Element, Field, FieldUpdate, Piece, START_POSITION};
    use serde::{Deserialize, Serialize};

    use crate::capture::{Content, Direction, Interface, LineMode, Packet};
    use crate::{Identity, Observation, Observed, Place, Timestamp};

    /// Asserts that a value serializes to `json` and deserializes from it.
    fn assert_round_trip<T: Serialize + for<'de> Deserialize<'de> + PartialEq + core::fmt::Debug>(
        value: &T,
        json: &str,
    ) {
        assert_eq!(serde_json::to_string(value).unwrap(), json);
        assert_eq!(serde_json::from_str::<T>(json).unwrap(), *value);
    }

    #[test]
    fn values_round_trip() {
        let at = Timestamp::from_micros(1_789_000_000_000_000);
        let update = FieldUpdate::new(Field::new(36).unwrap(), Some(Piece::WhitePawn));
        assert_round_trip(
            &Observed {
                at,
                observation: Observation::Field {
                    update,
                    not_before: Timestamp::from_micros(-1),
                },
            },
            r#"{"at":1789000000000000,"observation":{"field":{"update":{"field":36,"contents":"white_pawn","flags":0},"not_before":-1}}}"#,
        );
        assert_round_trip(&Observation::ClockAbsent, r#""clock_absent""#);
        assert_round_trip(
            &Observation::Identified(Identity::default()),
            r#"{"identified":{"serial":null,"long_serial":null,"version":null,"trademark":null}}"#,
        );
        assert_round_trip(
            &Observation::Memory {
                elements: vec![Element::PowerUp],
            },
            r#"{"memory":{"elements":["power_up"]}}"#,
        );
        assert_round_trip(&Place::Alone, r#""alone""#);
        assert_round_trip(&Place::At(BusAddress::new(1025).unwrap()), r#"{"at":1025}"#);
        assert_round_trip(
            &Interface {
                name: "ttyUSB0".to_owned(),
                mode: LineMode::Bus,
            },
            r#"{"name":"ttyUSB0","mode":"bus"}"#,
        );
        assert_round_trip(
            &Packet {
                at,
                interface: 0,
                offset: 28,
                content: Content::Bytes {
                    direction: Direction::Inbound,
                    bytes: vec![0x4d],
                },
            },
            r#"{"at":1789000000000000,"interface":0,"offset":28,"content":{"bytes":{"direction":"inbound","bytes":[77]}}}"#,
        );
    }

    #[test]
    fn a_dump_is_serialized_as_a_list_of_64_fields() {
        let board = |dump| Observation::Board {
            dump,
            not_before: Timestamp::from_micros(0),
        };
        let json = serde_json::to_value(board(START_POSITION)).unwrap();
        assert_eq!(json["board"]["dump"][60], "white_king");
        assert_eq!(
            serde_json::from_value::<Observation>(json.clone()).unwrap(),
            board(START_POSITION)
        );
        for wrong in [0, 63, 65] {
            let mut json = json.clone();
            json["board"]["dump"] = vec![(); wrong].into();
            let refusal = serde_json::from_value::<Observation>(json).unwrap_err();
            assert!(refusal.to_string().ends_with("expected 64 fields"), "{refusal}");
        }
    }
}
