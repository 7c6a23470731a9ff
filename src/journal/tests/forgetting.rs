//! Forgetting old events.

use super::*;

/// The remaining seqs of [`two_games`] after everything before the event with seq `seq` is forgotten.
fn left_from(seq: usize) -> Vec<u64> {
    let place = Place::new();
    let mut journal = place.open();
    let events = two_games();
    journal.append(&events).expect("room");
    let forgotten = journal.forget_before("live", events[seq - 1].ts).expect("room");
    let left = seqs(&journal.events_after("live", "b", 0, 99).expect("readable"));
    assert_eq!(forgotten + left.len(), events.len());
    left
}

#[test]
fn only_whole_games_are_forgotten() {
    assert_eq!(left_from(1), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(left_from(3), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(left_from(4), [4, 5, 6, 7]);
    assert_eq!(left_from(5), [5, 6, 7]);
}

#[test]
fn game_in_play_is_never_forgotten() {
    assert_eq!(left_from(7), [5, 6, 7]);
    let place = Place::new();
    let mut journal = place.open();
    let events = two_games();
    journal.append(&events).expect("room");
    let far = Timestamp::from_micros(i64::MAX);
    assert_eq!(journal.forget_before("live", far).expect("room"), 4);
    let game = journal
        .all_of("live", "b")
        .last_game()
        .expect("readable")
        .expect("the game in play");
    assert_eq!((game.number, game.record.moves.len()), (2, 1));
}

#[test]
fn numbering_continues_when_everything_else_is_forgotten() {
    let place = Place::new();
    let mut journal = place.open();
    let events = two_games();
    journal.append(&events[..4]).expect("room");
    let far = Timestamp::from_micros(i64::MAX);
    assert_eq!(journal.forget_before("live", far).expect("room"), 3);
    assert_eq!(journal.forget_before("live", far).expect("room"), 0);
    assert_eq!(journal.last_seq("live", "b").expect("a number"), 4);
    assert_eq!(journal.games("live", "b").expect("readable"), []);
    assert_eq!(journal.all_of("live", "b").last_game().expect("readable"), None);
}

/// A daemon whose clock is 400 days ahead must not forget recent events.
#[test]
fn age_of_events_is_measured_in_days_of_play() {
    let place = Place::new();
    let mut journal = place.open();
    let day = |day: i64| Timestamp::from_micros(1_795_219_200_000_000 + day * 86_400_000_000);
    let now = day(500);
    assert_eq!(journal.played_until("live", now).expect("readable"), None);
    let game = |seq, at: Timestamp| Event {
        ts: at,
        ..event(seq, started("start", Variant::Standard))
    };
    let noon = core::time::Duration::from_secs(12 * 3600);
    let played = [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3)];
    let events = played.map(|(seq, nth)| game(seq, day(nth) + noon));
    journal.append(&events[..1]).expect("room");
    assert_eq!(journal.played_until("live", now).expect("readable"), Some(day(0)));
    journal.append(&events[1..]).expect("room");
    assert_eq!(journal.played_until("live", now).expect("readable"), Some(day(1)));
    // The clock jumps ahead by 400 days, for a day or two.
    journal
        .append(&[game(6, day(403)), game(7, day(404))])
        .expect("room");
    assert_eq!(journal.played_until("live", now).expect("readable"), Some(day(3)));
    // The clock is right again.
    assert_eq!(
        journal.played_until("live", day(4)).expect("readable"),
        Some(day(1))
    );
}
