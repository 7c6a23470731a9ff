//! Export of stored events.

use super::*;

/// More events than a page has.
const MANY: u64 = 2500;

/// Boards "a", "b" and "é", each with one event per second.
fn three_boards(place: &Place) -> Journal {
    let mut journal = place.open();
    for board in ["é", "b", "a"] {
        let events: Vec<Event> = (1..=MANY)
            .map(|seq| Event {
                board: board.to_owned(),
                ts: second(seq),
                ..event(seq, ended())
            })
            .collect();
        journal.append(&events).expect("room");
    }
    journal
}

fn second(seq: u64) -> Timestamp {
    Timestamp::from_micros(i64::try_from(seq).expect("small") * 1_000_000)
}

fn always() -> core::ops::RangeInclusive<Timestamp> {
    Timestamp::from_micros(i64::MIN)..=Timestamp::from_micros(i64::MAX)
}

fn kept(
    journal: &Journal,
    boards: &[&str],
    times: core::ops::RangeInclusive<Timestamp>,
) -> Vec<(String, u64)> {
    let mut kept = Vec::new();
    let is_wanted = |board: &str| boards.contains(&board);
    let done = journal.each_event("live", is_wanted, times, |event| {
        let decoded: Event = serde_json::from_str(&event.payload).expect("an event");
        assert_eq!(decoded.seq, event.seq);
        kept.push((decoded.board, decoded.seq));
        Ok::<(), JournalError>(())
    });
    done.expect("a journal");
    kept
}

#[test]
fn events_are_exported_board_by_board_in_order_of_seq() {
    let place = Place::new();
    let journal = three_boards(&place);
    let all = ["a", "b", "é"].into_iter();
    let all: Vec<(String, u64)> = all
        .flat_map(|board| (1..=MANY).map(move |seq| (board.to_owned(), seq)))
        .collect();
    assert!(kept(&journal, &["a", "b", "é"], always()) == all);
    let of_b: Vec<(String, u64)> = all.iter().filter(|(board, _)| board == "b").cloned().collect();
    assert!(kept(&journal, &["b"], always()) == of_b);
    let few = kept(&journal, &["b", "é", "c"], second(1999)..=second(2001));
    let few: Vec<(&str, u64)> = few.iter().map(|(board, seq)| (board.as_str(), *seq)).collect();
    assert_eq!(
        few,
        [
            ("b", 1999),
            ("b", 2000),
            ("b", 2001),
            ("é", 1999),
            ("é", 2000),
            ("é", 2001)
        ]
    );
}

#[test]
fn events_stored_meanwhile_are_left_out() {
    let place = Place::new();
    let mut journal = three_boards(&place);
    let read = Journal::open_to_read(&place.path()).expect("a journal");
    let mut taken = 0;
    let done = read.each_event(
        "live",
        |board| board == "b",
        always(),
        |_| {
            taken += 1;
            journal.append([&event(MANY + taken, ended())])
        },
    );
    done.expect("nobody holds it up");
    assert_eq!(taken, MANY);
    assert_eq!(read.last_seq("live", "b").expect("a number"), 2 * MANY);
}

#[test]
fn error_of_the_consumer_ends_the_export() {
    struct Enough;
    impl From<JournalError> for Enough {
        fn from(error: JournalError) -> Self {
            panic!("{error}");
        }
    }
    let place = Place::new();
    let journal = three_boards(&place);
    let mut taken = 0;
    let done = journal.each_event(
        "live",
        |_| true,
        always(),
        |_| {
            taken += 1;
            if taken == 7 { Err(Enough) } else { Ok(()) }
        },
    );
    assert!(done.is_err() && taken == 7);
}
