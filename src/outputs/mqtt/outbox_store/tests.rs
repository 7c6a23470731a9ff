//! Which events are in memory, which are read from the backlog, and in which order the broker gets them.

mod chances;

use super::*;
use crate::outputs::mqtt::queue::Ticket;

const ROOM: Events = Events { count: 4, bytes: 40 };

fn store() -> OutboxStore {
    OutboxStore::new(Some(ROOM))
}

fn event(board: &str, seq: u64) -> Message {
    message(&board.into(), &"events".into(), journaled(seq))
}

fn retained(board: &str, seq: u64) -> Message {
    Message {
        topic: format!("{board}/game").into(),
        payload: seq.to_string().into(),
        media_type: MediaType::Json,
        delivery: Delivery::Retained,
        kept: true,
        happened: None,
    }
}

fn journaled(seq: u64) -> BacklogEvent {
    BacklogEvent {
        seq,
        payload: format!("event {seq}").into(),
    }
}

fn pages(seqs: impl IntoIterator<Item = u64>) -> Vec<BacklogEvent> {
    seqs.into_iter().map(journaled).collect()
}

/// Sends all messages. Returns `b 1` for an event, `b/game 1` for a retained message.
fn send_all(store: &mut OutboxStore) -> Vec<(Ticket, String)> {
    let mut sent = Vec::new();
    while let Some((ticket, message)) = store.send_next() {
        let text = match &message.delivery {
            Delivery::Event { board, seq } => format!("{board} {seq}"),
            Delivery::Retained | Delivery::Answer { .. } => {
                format!("{} {}", message.topic, String::from_utf8_lossy(&message.payload))
            }
        };
        sent.push((ticket, text));
    }
    sent
}

/// Sends and acknowledges all messages.
fn delivered(store: &mut OutboxStore) -> Vec<String> {
    let sent = send_all(store).into_iter().map(|(ticket, text)| {
        assert!(store.acknowledge(ticket).is_some());
        text
    });
    sent.collect()
}

fn full(board: &str, events: u64) -> OutboxStore {
    let mut store = store();
    (1..=events).for_each(|seq| store.push(event(board, seq)));
    store
}

#[test]
fn event_without_room_leaves_its_board_behind_and_retained_messages_have_room() {
    let mut store = full("b", 6);
    store.push(retained("b", 6));
    assert_eq!((store.queue().events().count, store.behind()), (4, 1));
    store.push(event("a", 1));
    assert_eq!((store.queue().len(), store.behind()), (5, 2));
    assert_eq!(delivered(&mut store), ["b 1", "b 2", "b 3", "b 4", "b/game 6"]);
    assert!(store.queue().is_empty() && !store.is_empty());
}

#[test]
fn bytes_are_bounded_and_one_event_always_has_room() {
    let mut store = store();
    let large = |seq| Message {
        payload: vec![b' '; 30].into(),
        ..event("b", seq)
    };
    store.push(large(1));
    store.push(large(2));
    assert_eq!((store.queue().events().count, store.behind()), (1, 1));
    let mut store = self::store();
    let huge = Message {
        payload: vec![b' '; 300].into(),
        ..event("b", 1)
    };
    store.push(huge);
    assert_eq!((store.queue().events().count, store.behind()), (1, 0));
    assert_eq!(store.next_page(), None);
}

#[test]
fn boards_that_are_behind_are_read_when_half_of_the_memory_is_free() {
    let mut store = full("b", 6);
    let sent = send_all(&mut store);
    store.acknowledge(sent[0].0);
    assert_eq!(store.next_page(), None);
    store.acknowledge(sent[1].0);
    let page = store.next_page().expect("there is room");
    assert_eq!((&*page.board, page.after), ("b", 4));
    assert_eq!(store.load_page(&page, pages(5..=6)), PageOutcome::Some);
    assert_eq!(store.behind(), 0);
    store.push(event("b", 7));
    assert_eq!((store.queue().events().count, store.behind()), (4, 1));
    store.acknowledge(sent[2].0);
    store.push(event("a", 1));
    assert_eq!(delivered(&mut store), ["b 5", "b 6", "a 1"]);
}

#[test]
fn new_events_do_not_overtake_those_that_are_being_read() {
    let mut store = full("b", 6);
    delivered(&mut store);
    let page = store.next_page().expect("there is room");
    store.push(event("b", 7));
    // The journal already has 8, which will also be pushed.
    assert_eq!(store.load_page(&page, pages([5, 6, 7, 8])), PageOutcome::Some);
    assert_eq!(store.behind(), 0);
    store.push(event("b", 8));
    assert_eq!(delivered(&mut store), ["b 5", "b 6", "b 7", "b 8"]);
    assert!(store.is_empty());
}

#[test]
fn a_page_that_was_read_before_new_events_came_is_followed_by_another() {
    let mut store = full("b", 6);
    delivered(&mut store);
    let page = store.next_page().expect("there is room");
    store.push(event("b", 7));
    store.load_page(&page, pages(5..=6));
    assert_eq!(
        (store.behind(), delivered(&mut store)),
        (1, vec!["b 5".to_owned(), "b 6".to_owned()])
    );
    let page = store.next_page().expect("there is room");
    assert_eq!(page.after, 6);
    store.load_page(&page, pages([7]));
    assert_eq!(delivered(&mut store), ["b 7"]);
    assert!(store.is_empty());
}

#[test]
fn a_page_goes_as_far_as_there_is_room() {
    let mut store = full("b", 9);
    delivered(&mut store);
    let page = store.next_page().expect("there is room");
    store.push(event("a", 1));
    assert_eq!(store.load_page(&page, pages(5..=9)), PageOutcome::Some);
    assert_eq!(delivered(&mut store), ["a 1", "b 5", "b 6", "b 7"]);
    let page = store.next_page().expect("there is room");
    (2..=5).for_each(|seq| store.push(event("a", seq)));
    assert_eq!(
        store.load_page(&page, pages(8..=9)),
        PageOutcome::Some,
        "no room is no fault"
    );
    assert!(!store.is_waiting());
}

#[test]
fn boards_take_turns() {
    let mut store = store();
    for board in ["a", "b", "c"] {
        store.leave_behind(&board.into(), &"events".into(), 10, 14);
    }
    let mut order = Vec::new();
    while let Some(page) = store.next_page() {
        order.push(format!("{} {}", page.board, page.after));
        store.load_page(&page, pages([page.after + 1, page.after + 2]));
        delivered(&mut store);
    }
    assert_eq!(order, ["a 10", "b 10", "c 10", "a 12", "b 12", "c 12"]);
    assert!(store.is_empty());
}

#[test]
fn events_that_cannot_be_read_yet_are_read_after_a_pause() {
    let mut store = store();
    for board in ["a", "b"] {
        store.leave_behind(&board.into(), &"events".into(), 0, 1);
    }
    let page = store.next_page().expect("there is room");
    assert_eq!(
        store.load_page(&page, Vec::new()),
        PageOutcome::Nothing { again: false }
    );
    let other = store.next_page().expect("the other board is not waited for");
    store.postpone(&other);
    assert!(store.is_waiting() && store.next_page().is_none() && !store.is_empty());
    store.end_pause();
    assert_eq!(store.next_page(), Some(page.clone()));
    assert_eq!(
        store.load_page(&page, Vec::new()),
        PageOutcome::Nothing { again: true }
    );
}

/// Damaged journals and removed old events leave gaps in the seqs.
#[test]
fn seqs_may_have_gaps() {
    let mut store = store();
    store.leave_behind(&"b".into(), &"events".into(), 3, 1_789_000_000_001);
    let page = store.next_page().expect("there is room");
    store.load_page(&page, pages([1_789_000_000_000, 1_789_000_000_001]));
    assert_eq!(delivered(&mut store), ["b 1789000000000", "b 1789000000001"]);
    assert!(store.is_empty());
}

#[test]
fn retained_messages_come_after_their_events_unless_the_board_is_behind() {
    let mut store = store();
    store.push(event("b", 1));
    store.push(retained("b", 1));
    assert_eq!(delivered(&mut store), ["b 1", "b/game 1"]);
    store.leave_behind(&"a".into(), &"events".into(), 0, 1);
    store.push(retained("a", 1));
    let page = store.next_page().expect("there is room");
    store.load_page(&page, pages([1]));
    assert_eq!(delivered(&mut store), ["a/game 1", "a 1"]);
}

#[test]
fn without_a_backlog_all_is_in_memory() {
    let mut store = OutboxStore::new(None);
    (1..=100).for_each(|seq| store.push(event("b", seq)));
    assert_eq!((store.queue().events().count, store.behind()), (100, 0));
    assert_eq!(store.next_page(), None);
}
