//! Relative positions of squares, without the rules of chess.

use kiebitz_protocol::Field;

/// Returns the index of a square, counted from a1 rank by rank to h8.
pub(super) const fn from_a1(field: Field) -> u8 {
    field.number() ^ 56
}

/// Returns the squares strictly between two squares on a rank, file or diagonal, nearest to `from` first. Empty if the
/// squares are on no common rank, file or diagonal.
pub(super) fn between(from: Field, to: Field) -> Vec<Field> {
    let (ahead, down) = distance(from, to);
    if ahead != 0 && down != 0 && ahead.abs() != down.abs() {
        return Vec::new();
    }
    let steps = ahead.abs().max(down.abs());
    (1..steps)
        .filter_map(|step| offset(from, ahead.signum() * step, down.signum() * step))
        .collect()
}

/// Returns the neighbours of a square, at most eight, in the order of [`from_a1`].
pub(super) fn around(field: Field) -> Vec<Field> {
    let mut fields: Vec<Field> = Field::all().filter(|other| touch(field, *other)).collect();
    fields.sort_by_key(|field| from_a1(*field));
    fields
}

/// Returns whether two squares share a side or a corner.
pub(super) fn touch(one: Field, other: Field) -> bool {
    let (ahead, down) = distance(one, other);
    ahead.abs().max(down.abs()) == 1
}

/// Returns the distance in files and in rows.
fn distance(from: Field, to: Field) -> (i16, i16) {
    let (from, to) = (i16::from(from.number()), i16::from(to.number()));
    (to % 8 - from % 8, to / 8 - from / 8)
}

fn offset(from: Field, ahead: i16, down: i16) -> Option<Field> {
    let number = i16::from(from.number()) + down * 8 + ahead;
    Field::new(u8::try_from(number).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str) -> Field {
        let name = name.as_bytes();
        Field::new((b'8' - name[1]) * 8 + name[0] - b'a').unwrap()
    }

    fn names(fields: &[Field]) -> Vec<String> {
        let name = |field: &Field| {
            let (file, row) = (field.number() % 8, field.number() / 8);
            format!("{}{}", char::from(b'a' + file), 8 - row)
        };
        fields.iter().map(name).collect()
    }

    #[test]
    fn fields_between_are_ordered_from_the_first_to_the_second() {
        for (from, to, expected) in [
            ("d1", "h5", &["e2", "f3", "g4"][..]),
            ("h5", "d1", &["g4", "f3", "e2"]),
            ("a8", "a5", &["a7", "a6"]),
            ("h3", "e3", &["g3", "f3"]),
            ("a1", "b2", &[]),
            ("g1", "f3", &[]),
            ("e4", "e4", &[]),
        ] {
            assert_eq!(names(&between(field(from), field(to))), expected, "{from} {to}");
        }
    }

    #[test]
    fn the_edge_has_fewer_fields_around() {
        assert_eq!(names(&around(field("a1"))), ["b1", "a2", "b2"]);
        assert_eq!(names(&around(field("h4"))), ["g3", "h3", "g4", "g5", "h5"]);
        assert_eq!(around(field("d4")).len(), 8);
    }
}
