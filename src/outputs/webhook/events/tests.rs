use kiebitz_game::events::EventKind;
use kiebitz_game::events::samples::{event as of_kind, ply};
use serde_json::Value;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(second * 1_000_000)
}

fn event(board: &str, seq: u64, second: i64) -> Event {
    Event {
        board: board.to_owned(),
        ts: at(second),
        ..of_kind(seq, EventKind::MoveMade(ply(1, "e2e4", "e4")))
    }
}

/// Posts the next events successfully. Returns their boards and seqs.
fn post(queue: &mut WebhookQueue) -> Vec<(String, u64)> {
    let (body, count) = queue.next();
    queue.remove_posted(count);
    let events: Vec<Value> = serde_json::from_slice(&body).expect("JSON");
    let named = |event: &Value| {
        (
            event["board"].as_str().expect("a board").to_owned(),
            event["seq"].as_u64().expect("a number"),
        )
    };
    events.iter().map(named).collect()
}

fn named(events: &[(&str, u64)]) -> Vec<(String, u64)> {
    events
        .iter()
        .map(|(board, seq)| ((*board).to_owned(), *seq))
        .collect()
}

#[test]
fn after_a_restart_the_remaining_events_are_posted_before_new_ones() {
    let delivered_before = BTreeMap::from([("a".to_owned(), 7)]);
    let mut queue = WebhookQueue::new(Duration::ZERO, delivered_before);
    // The journal is read late.
    queue.apply_input(at(20), &FeedInput::Events(vec![event("a", 10, 20)]));
    let past = (5..=10).map(|seq| event("a", seq, 10)).collect();
    queue.apply_input(at(21), &FeedInput::Past("a".to_owned(), past));
    queue.apply_input(at(21), &FeedInput::Past("b".to_owned(), vec![event("b", 1, 3)]));
    assert_eq!(
        post(&mut queue),
        named(&[("a", 10), ("a", 8), ("a", 9), ("b", 1)])
    );
    assert!(!queue.has_due());
    assert_eq!(
        queue.noted,
        BTreeMap::from([("a".to_owned(), 10), ("b".to_owned(), 1)])
    );
}

#[test]
fn nothing_is_posted_before_it_is_due() {
    let mut queue = WebhookQueue::new(Duration::from_secs(60), BTreeMap::new());
    let past = vec![event("a", 1, 0), event("a", 2, 50)];
    queue.apply_input(at(100), &FeedInput::Past("a".to_owned(), past));
    queue.apply_input(at(100), &FeedInput::Past("b".to_owned(), vec![event("b", 1, 30)]));
    assert_eq!(post(&mut queue), named(&[("a", 1), ("b", 1)]));
    queue.apply_input(at(109), &FeedInput::Tick);
    assert!(!queue.has_due());
    queue.apply_input(at(109), &FeedInput::SetForward(Duration::from_secs(5)));
    queue.apply_input(at(114), &FeedInput::Tick);
    assert!(!queue.has_due());
    queue.apply_input(at(115), &FeedInput::Tick);
    assert_eq!(post(&mut queue), named(&[("a", 2)]));
}

#[test]
fn events_beyond_the_queue_are_left_to_the_next_start() {
    let mut queue = WebhookQueue::new(Duration::ZERO, BTreeMap::new());
    let last = WAITING as u64 + 3;
    queue.apply_input(at(1), &FeedInput::Events(vec![event("b", 1, 1)]));
    queue.apply_input(
        at(1),
        &FeedInput::Events((1..last).map(|seq| event("a", seq, 1)).collect()),
    );
    assert_eq!(queue.due.len(), WAITING);
    while queue.has_due() {
        post(&mut queue);
    }
    assert_eq!(queue.noted, BTreeMap::new(), "both boards lack events");
}

#[test]
fn a_clock_step_does_not_shorten_the_delay() {
    let mut queue = WebhookQueue::new(Duration::from_secs(30), BTreeMap::new());
    queue.apply_input(at(0), &FeedInput::Events(vec![event("a", 1, 0)]));
    queue.apply_input(at(10), &FeedInput::SetForward(Duration::from_secs(93_600)));
    queue.apply_input(at(93_629), &FeedInput::Tick);
    assert!(!queue.has_due());
    queue.apply_input(at(93_630), &FeedInput::Tick);
    assert_eq!(post(&mut queue), named(&[("a", 1)]));
}

#[test]
fn after_a_restart_a_clock_step_does_not_shorten_the_delay() {
    let mut queue = WebhookQueue::new(Duration::from_secs(30), BTreeMap::new());
    let set = Event {
        kind: EventKind::TimeSet { by_ms: 93_600_000 },
        ..event("a", 2, 93_605)
    };
    let past = vec![event("a", 1, 0), set, event("a", 3, 93_610)];
    queue.apply_input(at(93_620), &FeedInput::Past("a".to_owned(), past));
    assert!(!queue.has_due());
    queue.apply_input(at(93_630), &FeedInput::Tick);
    assert_eq!(post(&mut queue), named(&[("a", 1)]));
    queue.apply_input(at(93_640), &FeedInput::Tick);
    assert_eq!(post(&mut queue), named(&[("a", 2), ("a", 3)]));
}

#[test]
fn unstored_events_are_marked_until_the_journal_has_them() {
    let mut queue = WebhookQueue::new(Duration::ZERO, BTreeMap::new());
    let unkept = |queue: &mut WebhookQueue| {
        let (body, count) = queue.next();
        queue.remove_posted(count);
        let events: Vec<Value> = serde_json::from_slice(&body).expect("JSON");
        events
            .iter()
            .map(|event| event.get("kept") == Some(&false.into()))
            .collect::<Vec<_>>()
    };
    queue.apply_input(at(0), &FeedInput::Events(vec![event("a", 1, 0)]));
    queue.apply_input(at(0), &FeedInput::Kept(false));
    queue.apply_input(at(0), &FeedInput::Events(vec![event("a", 2, 0)]));
    assert_eq!(unkept(&mut queue), [false, true]);
    queue.apply_input(at(0), &FeedInput::Events(vec![event("a", 3, 0)]));
    queue.apply_input(at(0), &FeedInput::Kept(true));
    queue.apply_input(at(0), &FeedInput::Events(vec![event("a", 4, 0)]));
    assert_eq!(unkept(&mut queue), [false, false]);
}
