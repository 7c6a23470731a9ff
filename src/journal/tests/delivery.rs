//! Delivered and undelivered events of an output.

use super::*;

#[test]
fn output_continues_where_it_stopped() {
    let place = Place::new();
    let mut journal = place.open();
    assert_eq!(journal.unsent("mqtt", "live").expect("readable"), []);
    journal.append(&two_games()).expect("room");
    journal.acknowledge("mqtt", "live", [("b", 3)]).expect("room");
    journal.acknowledge("mqtt", "live", [("b", 2)]).expect("room");
    drop(journal);

    let mut journal = place.open();
    let other = Event {
        board: "a".to_owned(),
        ..event(1, EventKind::ClockConnected {})
    };
    journal.append([&other]).expect("room");
    let unsent = journal.unsent("mqtt", "live").expect("readable");
    let entry = |board: &str, after, last| Unsent {
        board: board.to_owned(),
        after,
        last,
    };
    assert_eq!(unsent, [entry("a", 0, 1), entry("b", 3, 7)]);
    assert_eq!(
        seqs(&journal.events_after("live", "b", 3, 2).expect("readable")),
        [4, 5]
    );
    assert_eq!(
        seqs(&journal.events_after("live", "b", 5, 9).expect("readable")),
        [6, 7]
    );
    journal
        .acknowledge("mqtt", "live", [("a", 1), ("b", 7)])
        .expect("room");
    assert_eq!(journal.unsent("mqtt", "live").expect("readable"), []);
}

#[test]
fn new_output_gets_no_history() {
    let place = Place::new();
    let mut journal = place.open();
    let events = two_games();
    journal.append(&events[..4]).expect("room");
    assert_eq!(journal.unsent("feed", "live").expect("readable"), []);
    journal.append(&events[4..]).expect("room");
    let unsent = journal.unsent("feed", "live").expect("readable");
    assert_eq!(
        unsent
            .iter()
            .map(|unsent| (unsent.after, unsent.last))
            .collect::<Vec<_>>(),
        [(4, 7)]
    );
}
