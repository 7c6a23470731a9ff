use shakmaty::{Color, KnownOutcome};

use crate::clock::Clock;
use crate::events::EventKind;
use crate::laws::{Edition, IncidentKind, Mode};
use crate::referee::tests::table::{Table, rules};
use crate::tracker::Finding;

const KNIGHTS: &str = "Nf3 Nf6 Ng1 Ng8";

fn reads(table: &mut Table, white_s: u64, black_s: u64) {
    let clock = Clock {
        white_ms: white_s * 1000,
        black_ms: black_s * 1000,
        running: Some(Color::White),
        flag: None,
    };
    table.finds(Finding::Times { clock, sure: true });
}

/// A game with four moves of each player, and the times on the clock.
fn table(edition: Edition, white_s: u64, black_s: u64) -> Table {
    let mut table = Table::new(edition);
    table.referee.regulations.time_control = "90 min".parse().ok();
    table.plays("e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6");
    reads(&mut table, white_s, black_s);
    table
}

/// Events of claims and results since the last call, in short form.
fn incidents(table: &mut Table) -> Vec<String> {
    let events = table.referee.take_events();
    let of_claim = |kind| matches!(kind, IncidentKind::DrawClaimed | IncidentKind::TwoMinuteClaim);
    let short = |event: EventKind| match event {
        EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident)
            if !of_claim(incident.kind) =>
        {
            None
        }
        EventKind::IncidentClosed { kind, .. } if !of_claim(kind) => None,
        EventKind::IncidentOpened(incident) => {
            Some(format!("opened {} ({})", incident.case, incident.article))
        }
        EventKind::IncidentUpdated(incident) => Some(incident.case),
        EventKind::IncidentClosed { by, decision, .. } => {
            Some(format!("closed by {by}: {}", decision.unwrap_or_default()))
        }
        EventKind::GameEnded { result, reason, .. } => Some(format!("{result} {reason}")),
        EventKind::GameAmended { result, reason, .. } => Some(format!(
            "amended {result:?} {}",
            reason.map_or("", |reason| reason.as_str())
        )),
        _ => None,
    };
    events
        .into_iter()
        .filter_map(|explained| short(explained.event.kind))
        .collect()
}

/// 2023: 9.2.2, 9.5.2: the record has the position three times. Accepting the claim draws the game.
#[test]
fn a_claim_supported_by_the_record_draws_the_game() {
    let mut table = Table::new(Edition::Fide2023);
    table.repeats(KNIGHTS, 2);
    table.referee.take_events();
    let note = table.command(r#""do":"claim","kind":"threefold""#);
    assert_eq!(
        note,
        "White claims a draw: the same position for the third time. In the record it has stood 3 times: at the start, \
         after 2... Ng8, 4... Ng8. By the record the claim is right: once you have found it so, with both players, the game is drawn at \
         once. A claim is an offer of a draw, too: ask Black first."
    );
    let note = table.command(r#""do":"decide_claim","ruling":"accept""#);
    assert!(
        note.starts_with("You have found the claim of White right: the game is drawn. Claimed: the same"),
        "{note}"
    );
    assert_eq!(
        incidents(&mut table),
        [
            "opened draw_claimed.right (9.2.2, 9.5.2)",
            "draw_claimed.accepted",
            "closed by arbiter: accept",
            "1/2-1/2 claim",
        ]
    );
}

/// Cost of a wrong claim. 1997, 9.5(b): half of the claimant's time, at most three minutes, and three more for the
/// opponent; 2009: three; 2014: two, in blitz one (B.2); 2023: in rapid one as well (A.3). The intended move must be
/// played (2023: 9.5.3, 4.3).
#[test]
fn a_wrong_claim_costs_what_the_edition_says() {
    for (edition, mode, article, clocks) in [
        (
            Edition::Fide1997,
            Mode::Standard,
            "9.2, 9.5(b)",
            "White 0:02:00, Black 0:08:00",
        ),
        (
            Edition::Fide2009,
            Mode::Standard,
            "9.2, 9.5b",
            "White 0:04:00, Black 0:08:00",
        ),
        (
            Edition::Fide2014,
            Mode::Standard,
            "9.2, 9.5b",
            "White 0:04:00, Black 0:07:00",
        ),
        (
            Edition::Fide2018,
            Mode::Blitz,
            "9.2.1.1, 9.5.2, B.2",
            "White 0:04:00, Black 0:06:00",
        ),
        (
            Edition::Fide2023,
            Mode::Standard,
            "9.2.1, 9.5.3",
            "White 0:04:00, Black 0:07:00",
        ),
        (
            Edition::Fide2023,
            Mode::Rapid,
            "9.2.1, 9.5.3, A.3",
            "White 0:04:00, Black 0:06:00",
        ),
    ] {
        let mut table = table(edition, 240, 300);
        table.referee.regulations.rules = rules(edition, mode, true);
        table.referee.take_events();
        let note = table.command(r#""do":"claim","kind":"threefold","color":"white","intended":"f3g1""#);
        assert!(
            note.contains("after Ng1. In the record it has stood not at all before that. By the record"),
            "{note}"
        );
        assert!(
            note.contains("White must play Ng1, or another move of that piece"),
            "{note}"
        );
        assert!(
            note.ends_with(&format!("The clocks then: {clocks}.")),
            "{edition} {mode}: {note}"
        );
        let ruled = table.command(r#""do":"decide_claim","ruling":"reject""#);
        assert!(
            ruled.contains(&format!("The clocks then: {clocks}. Claimed: the same position")),
            "{edition} {mode}: {ruled}"
        );
        assert_eq!(
            incidents(&mut table),
            [
                format!("opened draw_claimed.wrong ({article})"),
                "draw_claimed.rejected".to_owned(),
                "closed by arbiter: reject".to_owned(),
            ]
        );
    }
}

/// 9.2, 9.3: only the player to move may claim. The announced move must be legal, and for fifty moves not a pawn move.
#[test]
fn a_claim_with_a_formal_fault_is_reported_as_such() {
    let mut table = table(Edition::Fide2023, 240, 300);
    let note = table.command(r#""do":"claim","kind":"threefold","color":"black""#);
    assert!(
        note.starts_with("Black claims a draw, but Black does not have the move"),
        "{note}"
    );
    let note = table.command(r#""do":"claim","kind":"fifty_moves","intended":"Ra8""#);
    assert!(
        note.starts_with("White claims a draw, but Ra8 is not a legal move."),
        "{note}"
    );
    let note = table.command(r#""do":"claim","kind":"fifty_moves","intended":"d4""#);
    assert!(
        note.contains("with d4. The record has 0 half-moves of them before that: after 4... dxc6."),
        "{note}"
    );
    assert_eq!(
        table.command(r#""do":"decide_claim","ruling":"postpone""#),
        "only a claim of a draw in the last two minutes can be postponed: accept or reject this claim"
    );
    assert_eq!(
        table.command(r#""do":"decide_claim","ruling":"accept","incident":99"#),
        "there is no claim on board-1 to decide"
    );
}

/// 9.3.2: a hundred half-moves without a capture or pawn move. With an announced move, 99 are enough (9.3.1).
#[test]
fn fifty_moves_are_counted_for_a_claim() {
    let fen = "4k3/8/8/8/8/8/4P3/R3K3 w - - 98 80";
    let mut table = Table::of(fen, rules(Edition::Fide2023, Mode::Standard, true));
    table.plays("Ra2");
    let note = table.command(r#""do":"claim","kind":"fifty_moves""#);
    assert!(
        note.contains("The record has 99 half-moves") && note.contains("is not right"),
        "{note}"
    );
    let note = table.command(r#""do":"claim","kind":"fifty_moves","intended":"Kd7""#);
    assert!(note.contains("By the record the claim is right"), "{note}");
}

/// 1997, 10.2: draw or postpone, also after a flag (10.2(c)). 2009: 10.2(c), 2014: G.5, 2023: III.5.3: or reject, with
/// two minutes for the opponent.
#[test]
fn a_two_minute_claim_shows_the_evidence_for_the_arbiter() {
    for (edition, article, case) in [
        (Edition::Fide1997, "10.2, 10.1", "postpone_only"),
        (Edition::Fide2009, "10.2, 10.1", "decide"),
        (Edition::Fide2014, "G.5, G.4, G.2", "decide_or_increment"),
        (Edition::Fide2023, "III.5, III.4, III.2", "decide_or_increment"),
    ] {
        let mut table = table(edition, 83, 451);
        table.referee.take_events();
        let note = table.command(r#""do":"claim","kind":"quickplay""#);
        assert!(note.contains("White has 0:01:23 left."), "{note}");
        assert!(
            note.contains(
                "In the last 4 moves of Black: captures 1, pawn moves 3, checks 0. Last capture of the game: 4... dxc6; last \
                 pawn move: 4... dxc6. This position has stood once"
            ),
            "{note}"
        );
        assert!(note.contains("No chess engine has a say in this."), "{note}");
        let announced = note.contains("Make sure that the event has announced");
        assert_eq!(announced, edition >= Edition::Fide2014, "{edition}");
        let opened = incidents(&mut table);
        assert_eq!(opened, [format!("opened two_minute_claim.{case} ({article})")]);

        let postponed = table.command(r#""do":"decide_claim","ruling":"postpone""#);
        assert!(
            postponed.contains("The clocks then: White 0:01:23, Black 0:09:31."),
            "{postponed}"
        );
        assert_eq!(incidents(&mut table), ["two_minute_claim.postponed"]);
        // The arbiter decides only after the flag has fallen.
        let number = table.referee.watch.claim(None).map(|claim| claim.incident);
        table.command(r#""do":"set_result","result":"0-1","reason":"flag""#);
        table.referee.take_events();
        let number = number.expect("it was postponed, and is open");
        table.command(&format!(
            r#""do":"decide_claim","ruling":"accept","incident":{number}"#
        ));
        let decided = incidents(&mut table);
        assert!(
            decided.contains(&"amended Some(Draw) quickplay".to_owned()),
            "{decided:?}"
        );
    }
}

/// III.5.3: two minutes for a rejected claim; 1997 does not add time. III.4: five seconds a move and two minutes.
#[test]
fn rulings_on_two_minute_claims_state_their_cost() {
    let ruled = |edition, kind: &str, ruling: &str| {
        let mut table = table(edition, 83, 451);
        table.command(&format!(r#""do":"claim","kind":"{kind}""#));
        let note = table.command(&format!(r#""do":"decide_claim","ruling":"{ruling}""#));
        (note, table.referee.game().is_some())
    };
    let (note, playing) = ruled(Edition::Fide2023, "quickplay", "reject");
    assert!(
        playing
            && note.contains(
                "Black gets two minutes more. The clocks then: White 0:01:23, Black 0:09:31. In the last"
            ),
        "{note}"
    );
    let (note, _) = ruled(Edition::Fide1997, "quickplay", "reject");
    assert!(note.contains("no extra time for that"), "{note}");
    let (note, playing) = ruled(Edition::Fide2023, "quickplay", "accept");
    assert!(
        !playing && note.contains("the game is drawn. In the last 4 moves of Black"),
        "{note}"
    );
    let (note, playing) = ruled(Edition::Fide2018, "increment", "accept");
    assert!(
        playing && note.contains("both get five seconds a move") && note.contains("Black 0:09:31"),
        "{note}"
    );
    let (note, _) = ruled(Edition::Fide2018, "increment", "reject");
    assert_eq!(
        note,
        "You have not granted White the increment: the game goes on."
    );
}

/// Objections: too early, an increment, another period, not announced, blitz (1997: C.5; III.2).
#[test]
fn objections_to_a_two_minute_claim_are_listed() {
    let note_on_claim = |control: &str, white_s, announced, mode| {
        let mut table = table(Edition::Fide2023, white_s, 451);
        let regulations = &mut table.referee.regulations;
        regulations.time_control = control.parse().ok();
        regulations.quickplay_finish = announced;
        regulations.rules = rules(Edition::Fide2023, mode, true);
        table.command(r#""do":"claim","kind":"quickplay""#)
    };
    let early = note_on_claim("90 min", 120, Some(true), Mode::Standard);
    assert!(
        early.contains("White has 0:02:00 left, which is not less than two minutes"),
        "{early}"
    );
    assert!(!early.contains("Make sure"), "{early}");
    let increment = note_on_claim("90+30", 83, Some(false), Mode::Standard);
    assert!(increment.contains("Moves add time in this period"), "{increment}");
    assert!(
        increment.contains("has announced that these rules do not apply"),
        "{increment}"
    );
    let period = note_on_claim("2 h/40 + 1 h", 83, None, Mode::Rapid);
    assert!(period.contains("This is not the last period"), "{period}");
    let blitz = note_on_claim("5 min", 83, Some(true), Mode::Blitz);
    assert!(blitz.contains("There is none in this mode of play"), "{blitz}");
    let mut table = Table::new(Edition::Fide2023);
    table.plays("e4 e5");
    let unknown = table.command(r#""do":"claim","kind":"quickplay","color":"black""#);
    assert!(unknown.contains("The clock reading is not known"), "{unknown}");
    assert!(
        unknown.contains("Black does not have the move, which the claim requires."),
        "{unknown}"
    );
}

/// A claim needs a game in progress, and a game that ended by the Laws keeps its result.
#[test]
fn a_claim_needs_a_game() {
    let mut table = Table::new(Edition::Fide2023);
    let claim = r#""do":"claim","kind":"threefold""#;
    assert_eq!(table.command(claim), "no game is being played on board-1");
    table.plays("f3 e5 g4");
    table.command(claim);
    let number = table.referee.watch.claim(None).map(|claim| claim.incident);
    table.plays("Qh4#");
    let number = number.expect("a claim");
    let answer = table.command(&format!(
        r#""do":"decide_claim","ruling":"accept","incident":{number}"#
    ));
    assert!(
        answer.starts_with("the game was over with 0-1 by checkmate"),
        "{answer}"
    );
    let mut table = self::table(Edition::Fide2023, 83, 451);
    table.shows(KnownOutcome::Draw);
    assert_eq!(table.command(claim), "no game is being played on board-1");
}
