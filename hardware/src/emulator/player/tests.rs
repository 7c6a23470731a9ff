use core::time::Duration;

use kiebitz_protocol::eeprom::elements;
use kiebitz_protocol::{Command, Decoder, Element, Message, Piece};
use proptest::prelude::*;

use super::super::hand::{Color, Ending, Ply, Setting, SittingSettings, Temperament};
use super::*;

const NOON: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

fn field(name: &str) -> Field {
    let name = name.as_bytes();
    Field::new((b'8' - name[1]) * 8 + name[0] - b'a').unwrap()
}

fn start() -> Dump {
    let mut dump = [None; Field::COUNT];
    for (name, piece) in [
        ("e1", Piece::WhiteKing),
        ("e8", Piece::BlackKing),
        ("a1", Piece::WhiteRook),
        ("d5", Piece::BlackPawn),
    ] {
        dump[field(name).index()] = Some(piece);
    }
    dump
}

/// Returns a game in which a rook and a king move back and forth `rounds` times.
fn script(rounds: usize, ending: Ending) -> Script {
    let ply = |color, from, to| Ply::quiet(color, field(from), field(to));
    let round = [
        ply(Color::White, "a1", "a4"),
        ply(Color::Black, "e8", "f8"),
        ply(Color::White, "a4", "a1"),
        ply(Color::Black, "f8", "e8"),
    ];
    Script {
        start: start(),
        plies: round.repeat(rounds),
        ending,
    }
}

fn player(temperament: Temperament, script: Script) -> Player {
    player_at(Setting::PLAIN, temperament, script)
}

fn player_at(setting: Setting, temperament: Temperament, script: Script) -> Player {
    let settings = SittingSettings {
        setting,
        temperament,
        thinking: 100,
        seed: 4,
    };
    Player::new(
        NOON,
        BoardSettings::default(),
        Sitting::new(NOON, settings, script),
    )
}

/// A host with the messages that it has received.
#[derive(Default)]
struct Listener {
    decoder: Decoder,
    board: Option<Dump>,
    bytes: usize,
    rejected: usize,
    messages: Vec<u8>,
    clock_connected: Option<bool>,
}

impl Listener {
    fn begin(&mut self, player: &mut Player, now: Timestamp) {
        self.decoder.reset();
        for command in [Command::UpdateNice, Command::SendBoard] {
            self.send_command(player, now, &command);
        }
    }

    fn send_command(&mut self, player: &mut Player, now: Timestamp, command: &Command) {
        let mut bytes = Vec::new();
        command.encode(&mut bytes);
        player.handle_bytes(now, &bytes);
    }

    /// Reads all messages up to `until`.
    fn listen(&mut self, player: &mut Player, until: Timestamp) {
        while let Some(due) = player.poll_deadline().filter(|due| *due <= until) {
            player.advance(due);
            self.read(player, due);
        }
        self.read(player, until);
    }

    fn read(&mut self, player: &mut Player, now: Timestamp) {
        while let Some((at, bytes)) = player.poll_transmit(now) {
            assert!(at <= now);
            self.bytes += bytes.len();
            self.decoder.feed(&bytes, |decoded| match decoded {
                Ok(Message::BoardDump(dump)) => self.board = Some(dump),
                Ok(Message::FieldUpdate(update)) => {
                    if let Some(board) = &mut self.board {
                        board[update.field.index()] = update.contents;
                    }
                }
                Ok(Message::ClockTimes(_)) => self.clock_connected = Some(true),
                Ok(Message::ClockAbsent(_)) => self.clock_connected = Some(false),
                Ok(Message::EeMoves(data)) => self.messages = data.to_vec(),
                Ok(_) => {}
                Err(rejected) => self.rejected += rejected.bytes,
            });
        }
    }

    /// Reads all messages until the games are over. Returns the time.
    fn listen_to_the_end(&mut self, player: &mut Player) -> Timestamp {
        while !player.is_done() {
            let due = player.poll_deadline().unwrap();
            self.listen(player, due);
        }
        let end = player.poll_deadline().unwrap_or(NOON) + Duration::from_secs(5);
        self.listen(player, end);
        end
    }
}

fn after(seconds: u64) -> Timestamp {
    NOON + Duration::from_secs(seconds)
}

#[test]
fn a_host_receives_the_plies() {
    for temperament in Temperament::ALL {
        let mut player = player(temperament, script(3, Ending::Stops));
        let mut listener = Listener::default();
        listener.begin(&mut player, NOON);
        listener.listen_to_the_end(&mut player);
        assert_eq!(listener.board, Some(*player.standing()), "{temperament:?}");
        assert_eq!(*player.standing(), start());
        let truth = Truth {
            games: 1,
            plies: 12,
            over: true,
        };
        assert_eq!(player.truth(), truth);
    }
}

#[test]
fn a_turned_board_numbers_its_squares_in_reverse() {
    let setting = Setting {
        turned: true,
        ..Setting::PLAIN
    };
    let mut player = player_at(setting, Temperament::Calm, script(1, Ending::WhiteWins));
    let mut listener = Listener::default();
    listener.begin(&mut player, NOON);
    listener.listen_to_the_end(&mut player);
    let mut turned = *player.standing();
    turned.reverse();
    assert_eq!(listener.board, Some(turned));
}

#[test]
fn kings_in_the_centre_show_the_result() {
    for (ending, white, black) in [
        (Ending::WhiteWins, "e4", "d5"),
        (Ending::BlackWins, "d4", "e5"),
        (Ending::Draw, "d4", "e4"),
    ] {
        let mut player = player(Temperament::Calm, script(1, ending));
        Listener::default().listen_to_the_end(&mut player);
        let standing = player.standing();
        assert_eq!(
            standing[field(white).index()],
            Some(Piece::WhiteKing),
            "{ending:?}"
        );
        assert_eq!(
            standing[field(black).index()],
            Some(Piece::BlackKing),
            "{ending:?}"
        );
        let pieces = standing.iter().flatten().count();
        let expected = if ending == Ending::WhiteWins { 3 } else { 4 };
        assert_eq!(pieces, expected, "only what stood in the way is gone");
    }
}

#[test]
fn the_next_game_is_set_up_with_full_time_on_the_clock() {
    let mut player = player(Temperament::Blitz, script(2, Ending::Draw));
    player.add(NOON, script(1, Ending::Stops));
    let mut listener = Listener::default();
    while player.truth().games < 2 {
        let due = player.poll_deadline().unwrap();
        listener.listen(&mut player, due);
    }
    assert_eq!(*player.standing(), start());
    let now = player.poll_deadline().unwrap();
    let clock = player.board.clock().unwrap();
    assert!(clock.running(now));
    let white = clock.times(now).right;
    assert!(white.total_seconds() >= 7198 && clock.lever_high() == super::super::ClockSide::Right);
    let end = listener.listen_to_the_end(&mut player);
    // A game that is added after the others are over starts after them.
    player.add(end, script(1, Ending::Stops));
    assert!(!player.is_done());
    while player.truth().games < 3 {
        let due = player.poll_deadline().unwrap();
        assert!(due >= end);
        player.advance(due);
        while player.poll_transmit(due).is_some() {}
    }
}

#[test]
fn the_game_goes_on_while_the_cable_is_out_and_a_powered_board_remembers() {
    let mut player = player(Temperament::Blitz, script(10, Ending::Stops));
    let mut listener = Listener::default();
    listener.begin(&mut player, NOON);
    listener.listen(&mut player, after(12));
    let before = (player.truth().plies, listener.bytes);
    player.unplug(after(12));
    listener.listen(&mut player, after(24));
    player.handle_bytes(after(24), &[0x42]);
    assert!(player.truth().plies > before.0 + 3);
    assert_eq!(listener.bytes, before.1);
    player.plug(after(24), true);
    listener.send_command(&mut player, after(24), &Command::SendEeMoves);
    listener.listen(&mut player, after(30));
    let power_ups = listener.messages.iter().filter(|byte| **byte == 0x6a).count();
    assert_eq!(power_ups, 1);
    assert!(listener.messages.len() > 100, "{}", listener.messages.len());
    listener.begin(&mut player, after(30));
    listener.listen_to_the_end(&mut player);
    assert_eq!(listener.board, Some(*player.standing()));
    assert_eq!(listener.rejected, 0);
}

#[test]
fn a_board_fed_by_its_cable_powers_up_and_has_no_memory_of_the_gap() {
    let mut player = player(Temperament::Blitz, script(10, Ending::Stops));
    let mut listener = Listener::default();
    listener.begin(&mut player, NOON);
    listener.listen(&mut player, after(12));
    player.unplug(after(12));
    listener.listen(&mut player, after(20));
    player.plug(after(20), false);
    let bytes = listener.bytes;
    listener.listen(&mut player, after(24));
    assert_eq!(listener.bytes, bytes, "its mode is gone");
    let found = *player.standing();
    listener.send_command(&mut player, after(24), &Command::SendEeMoves);
    listener.listen(&mut player, after(25));
    let elements: Vec<Element> = elements(&listener.messages).map(Result::unwrap).collect();
    let power_ups: Vec<usize> = (0..elements.len())
        .filter(|nth| elements[*nth] == Element::PowerUp)
        .collect();
    assert_eq!(power_ups.len(), 2, "{elements:?}");
    assert!(
        power_ups[1] > power_ups[0] + 10,
        "what was played before is there"
    );
    let mut recorded = [None; Field::COUNT];
    for element in &elements[power_ups[1]..] {
        if let Element::PieceChange { contents, field, .. } = element {
            recorded[field.index()] = *contents;
        }
    }
    let moved = (0..Field::COUNT).filter(|nth| recorded[*nth] != found[*nth]);
    assert!(moved.count() <= 4, "what was found, and a ply of the last 4 s");
    listener.begin(&mut player, after(25));
    listener.listen_to_the_end(&mut player);
    assert_eq!(listener.board, Some(*player.standing()));
    assert_eq!(listener.clock_connected, Some(true));
}

#[test]
fn a_silenced_board_sends_again_later() {
    let mut player = player(Temperament::Blitz, script(10, Ending::Stops));
    let mut listener = Listener::default();
    listener.begin(&mut player, NOON);
    listener.listen(&mut player, after(10));
    player.silence(after(10), true);
    let bytes = listener.bytes;
    listener.listen(&mut player, after(19));
    assert_eq!(listener.bytes, bytes);
    player.silence(after(19), false);
    listener.listen(&mut player, after(25));
    assert!(listener.bytes > bytes);
}

#[test]
fn garbage_comes_between_messages_of_the_board() {
    let mut player = player(Temperament::Calm, script(1, Ending::Stops));
    let mut listener = Listener::default();
    listener.begin(&mut player, NOON);
    listener.listen(&mut player, after(2));
    player.garble(after(2), &[0x00, 0xff, 0x12]);
    assert_eq!(player.poll_deadline(), Some(after(2)));
    listener.listen(&mut player, after(3));
    assert!(listener.rejected > 0);
    listener.listen_to_the_end(&mut player);
    assert_eq!(listener.board, Some(*player.standing()));
}

#[test]
fn a_dead_field_looks_empty_until_it_works_again() {
    let mut player = player(Temperament::Calm, script(1, Ending::Stops));
    let mut listener = Listener::default();
    listener.begin(&mut player, NOON);
    let (e1, a1) = (field("e1"), field("a1"));
    player.kill(after(1), e1, true);
    player.kill(after(1), a1, true);
    let end = listener.listen_to_the_end(&mut player);
    let seen = listener.board.unwrap();
    assert_eq!((seen[e1.index()], seen[a1.index()]), (None, None));
    assert_eq!(player.standing()[a1.index()], Some(Piece::WhiteRook));
    player.unplug(end);
    player.plug(end, false);
    listener.begin(&mut player, end);
    let end = end + Duration::from_secs(2);
    listener.listen(&mut player, end);
    assert_eq!(listener.board.unwrap()[e1.index()], None);
    player.kill(end, e1, false);
    player.kill(end, a1, false);
    listener.begin(&mut player, end);
    listener.listen(&mut player, end + Duration::from_secs(2));
    assert_eq!(listener.board, Some(*player.standing()));
}

#[test]
fn an_unplugged_clock_goes_on() {
    let mut player = player(Temperament::Blitz, script(10, Ending::Stops));
    let mut listener = Listener::default();
    listener.begin(&mut player, NOON);
    listener.listen(&mut player, after(10));
    assert_eq!(listener.clock_connected, Some(true));
    player.unplug_clock(after(10));
    player.unplug_clock(after(10));
    listener.listen(&mut player, after(18));
    assert_eq!(listener.clock_connected, Some(false));
    // A board that restarts while the clock is unplugged has no clock either.
    player.plug(after(18), false);
    assert!(player.board.clock().is_none());
    player.plug_clock(after(18));
    let clock = player.board.clock().unwrap();
    let spent: u64 = [super::super::ClockSide::Left, super::super::ClockSide::Right]
        .map(|side| 7200 - clock.remaining(after(18), side).as_secs())
        .iter()
        .sum();
    assert!((8..=18).contains(&spent), "{spent}");
}

#[test]
fn the_same_seed_gives_the_same_play_however_often_it_is_polled() {
    let received = |every: u64| {
        let mut player = player(Temperament::Clumsy, script(3, Ending::Draw));
        let mut read = Vec::new();
        Listener::default().begin(&mut player, NOON);
        for millis in (0..60_000).step_by(usize::try_from(every).unwrap()) {
            let now = NOON + Duration::from_millis(millis);
            while let Some((_, bytes)) = player.poll_transmit(now) {
                read.extend(bytes);
            }
        }
        read
    };
    let (often, seldom) = (received(1), received(1000));
    assert!(seldom.len() > 200 && seldom.len() <= often.len());
    assert_eq!(often[..seldom.len()], seldom);
}

/// A fault of the board, its line or its clock.
#[derive(Debug, Clone)]
enum Fault {
    Unplug,
    Plug(bool),
    Silence(bool),
    Garble(Vec<u8>),
    Kill(u8, bool),
    Clock(bool),
    Write(Vec<u8>),
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        Just(Fault::Unplug),
        any::<bool>().prop_map(Fault::Plug),
        any::<bool>().prop_map(Fault::Silence),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Fault::Garble),
        (0..64_u8, any::<bool>()).prop_map(|(field, dead)| Fault::Kill(field, dead)),
        any::<bool>().prop_map(Fault::Clock),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Fault::Write),
    ]
}

fn inject(player: &mut Player, now: Timestamp, fault: &Fault) {
    match fault {
        Fault::Unplug => player.unplug(now),
        Fault::Plug(powered) => player.plug(now, *powered),
        Fault::Silence(silent) => player.silence(now, *silent),
        Fault::Garble(bytes) => player.garble(now, bytes),
        Fault::Kill(field, dead) => player.kill(now, Field::new(*field).unwrap(), *dead),
        Fault::Clock(true) => player.plug_clock(now),
        Fault::Clock(false) => player.unplug_clock(now),
        Fault::Write(bytes) => player.handle_bytes(now, bytes),
    }
}

proptest! {
    /// Faults do not affect the players. After all faults are repaired, the board shows the players' position.
    #[test]
    fn faults_do_not_change_the_play(faults in prop::collection::vec((0..8_000_u64, fault()), 0..12)) {
        let mut faulty = player(Temperament::Clumsy, script(2, Ending::Draw));
        let mut intact = faulty.clone();
        let mut now = NOON;
        for (millis, fault) in &faults {
            now = now + Duration::from_millis(*millis);
            inject(&mut faulty, now, fault);
            intact.advance(now);
            prop_assert_eq!(faulty.truth(), intact.truth());
            prop_assert_eq!(faulty.standing(), intact.standing());
            if !faulty.is_plugged() {
                prop_assert_eq!(faulty.poll_transmit(now), None);
            }
        }
        for field in Field::all() {
            faulty.kill(now, field, false);
        }
        faulty.silence(now, false);
        faulty.unplug(now);
        // Wait until bytes in transit to the board have been lost.
        now = now + Duration::from_secs(1);
        faulty.plug(now, false);
        faulty.plug_clock(now);
        prop_assert!(faulty.board.clock().is_some());
        let mut listener = Listener::default();
        listener.begin(&mut faulty, now);
        listener.listen_to_the_end(&mut faulty);
        prop_assert_eq!(listener.board, Some(*faulty.standing()));
    }
}
