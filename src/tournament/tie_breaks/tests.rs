use super::*;

/// A round of a player as in FIDE's report: the opponent's letter, or `-` without one, and the code of the result.
fn round(number: u32, cell: &str) -> PlayerRound {
    let mut chars = cell.chars();
    let opponent = chars.next().and_then(|letter| "ABCDEFGH".find(letter));
    let code = chars.next().expect("a result");
    let (half_points, kind) = match code {
        '1' => (2, RoundKind::Played),
        '=' => (1, RoundKind::Played),
        '0' => (0, RoundKind::Played),
        '+' => (2, RoundKind::Forfeit),
        '-' => (0, RoundKind::Forfeit),
        'U' => (2, RoundKind::Allocated),
        'H' => (1, RoundKind::Requested),
        'Z' => (0, RoundKind::Requested),
        '?' => (0, RoundKind::Open),
        other => panic!("no result: {other}"),
    };
    PlayerRound {
        round: number,
        opponent,
        half_points,
        kind,
    }
}

fn rounds(cells: &str) -> Vec<PlayerRound> {
    (1..)
        .zip(cells.split_whitespace())
        .filter(|(_, cell)| *cell != "..")
        .map(|(number, cell)| round(number, cell))
        .collect()
}

fn swiss(players: &[&str]) -> ScoreTable {
    let last = players.iter().map(|cells| cells.split_whitespace().count()).max();
    let last = u32::try_from(last.expect("players")).expect("few rounds");
    ScoreTable::new(players.iter().map(|cells| rounds(cells)).collect(), last, false)
}

/// The values of a player in quarters as decimal fractions.
fn values(ranking: &Ranking, player: usize) -> Vec<Option<f32>> {
    let quarters = ranking.quarters[player].iter();
    quarters
        .map(|value| value.map(|value| f32::from(u16::try_from(value).expect("small")) / 4.0))
        .collect()
}

/// Six players, four rounds, with a bye of half a point in the middle, allocated byes, a forfeit and a player who leaves
/// before the last round. The values were computed by hand, and by the program of FIDE's Technical Commission.
#[test]
fn unplayed_rounds_count_as_games_against_a_virtual_opponent() {
    let table = swiss(&[
        "D1 C= B1 E=",
        "E= D1 A0 C0",
        "F1 A= -H B1",
        "A0 B0 E0 -U",
        "B= F- D1 A=",
        "C0 E+ -U -Z",
    ]);
    let ranking = table.rank(&[
        TieBreak::BuchholzCut1,
        TieBreak::Buchholz,
        TieBreak::SonnebornBerger,
        TieBreak::Progressive,
    ]);
    let expected = [
        (3.0, [6.5, 7.5, 5.0, 8.0]),
        (1.5, [8.0, 9.0, 2.0, 5.0]),
        (3.0, [7.0, 10.0, 7.0, 7.5]),
        (1.0, [6.5, 7.5, 1.0, 1.0]),
        (2.0, [5.5, 7.5, 3.25, 4.5]),
        (2.0, [7.0, 9.0, 4.0, 5.0]),
    ];
    for (player, (points, tie_breaks)) in expected.into_iter().enumerate() {
        let half_points = u16::try_from(table.half_points(player)).expect("small");
        assert_eq!(f32::from(half_points) / 2.0, points, "{player}");
        assert_eq!(values(&ranking, player), tie_breaks.map(Some), "{player}");
    }
    assert_eq!(
        ranking.groups,
        [vec![2], vec![0], vec![5], vec![4], vec![1], vec![3]]
    );
}

/// A player without entries for the last rounds has left, like one with byes without points.
#[test]
fn rounds_after_leaving_are_draws_for_the_opponents() {
    let with_byes = swiss(&["B1 C1 D1", "A0 -Z -Z", "D1 A0 -U", "C0 -U A0"]);
    let without = swiss(&["B1 C1 D1", "A0 .. ..", "D1 A0 -U", "C0 -U A0"]);
    for table in [with_byes, without] {
        // B: 0 and two draws; C: 2; D: 1.
        assert_eq!(values(&table.rank(&[TieBreak::Buchholz]), 0), [Some(4.0)]);
        // B: A's 3 points, and twice B's own 0 points.
        assert_eq!(values(&table.rank(&[TieBreak::Buchholz]), 1), [Some(3.0)]);
    }
    // A bye before a later game keeps its points.
    let back = swiss(&["B1 C1 D1", "A0 -Z C1", "D1 A0 B0", "C0 -U A0"]);
    assert_eq!(values(&back.rank(&[TieBreak::Buchholz]), 0), [Some(3.0)]);
}

#[test]
fn games_without_a_result_do_not_count_yet() {
    let table = swiss(&["B1 C?", "A0 D?", "D= A?", "C= B?"]);
    let ranking = table.rank(&[
        TieBreak::Buchholz,
        TieBreak::SonnebornBerger,
        TieBreak::Progressive,
    ]);
    assert_eq!(values(&ranking, 0), [Some(0.0), Some(0.0), Some(2.0)]);
    assert_eq!(values(&ranking, 2), [Some(0.5), Some(0.25), Some(1.0)]);
}

#[test]
fn direct_encounter_needs_all_games_or_an_unreachable_lead() {
    let order = |players: &[&str]| swiss(players).rank(&[TieBreak::DirectEncounter]).groups;
    // A, B and C have two points each and have met: A 1½, B 1, C ½.
    assert_eq!(
        order(&["B1 C= -H -Z", "A0 -U C1 -Z", "-U A= B0 -H"]),
        [vec![0], vec![1], vec![2]]
    );
    // All four have one point. A has won against B; C and D have not met A or B.
    assert_eq!(order(&["B1 -Z", "A0 -U", "D= -H", "C= -H"]), [vec![0, 1, 2, 3]]);
    // Of three with two points, A has beaten both others, who have not met each other.
    assert_eq!(
        order(&["B1 C1 -Z -Z", "A0 -U -U -Z", "-U A0 -Z -U", "-Z -Z -Z -Z"]),
        [vec![0], vec![1, 2], vec![3]]
    );
    // A could still be reached by C.
    assert_eq!(
        order(&["B1 -Z", "A0 -U", "-Z -U", "-Z -Z"]),
        [vec![0, 1, 2], vec![3]]
    );
    // A forfeit is not an encounter.
    assert_eq!(order(&["B+ -Z", "A- -U"]), [vec![0, 1]]);
}

/// The Candidates Tournament of 2016, in which everybody met everybody twice and ties were decided by direct encounter,
/// wins and Sonneborn-Berger.
#[test]
fn candidates_of_2016_are_ranked_as_published() {
    let names = [
        "Caruana", "Karjakin", "Anand", "Giri", "Svidler", "Aronian", "Nakamura", "Topalov",
    ];
    // The games of each player against the following ones, in the order of the names: 2 for a win, 1 for a draw.
    let pairs: [&[[u32; 2]]; 7] = [
        &[[1, 0], [1, 2], [1, 1], [1, 1], [1, 1], [1, 2], [1, 1]],
        &[[2, 0], [1, 1], [1, 1], [1, 1], [2, 1], [1, 2]],
        &[[1, 1], [2, 1], [1, 2], [1, 0], [2, 1]],
        &[[1, 1], [1, 1], [1, 1], [1, 1]],
        &[[1, 2], [1, 1], [1, 1]],
        &[[2, 1], [2, 1]],
        &[[2, 2]],
    ];
    let mut players: Vec<Vec<PlayerRound>> = vec![Vec::new(); 8];
    for (one, results) in pairs.iter().enumerate() {
        for (other, games) in (one + 1..).zip(*results) {
            for points in *games {
                for (own, opponent, half_points) in [(one, other, points), (other, one, 2 - points)] {
                    let round = u32::try_from(players[own].len()).expect("few") + 1;
                    players[own].push(PlayerRound {
                        round,
                        opponent: Some(opponent),
                        half_points,
                        kind: RoundKind::Played,
                    });
                }
            }
        }
    }
    let table = ScoreTable::new(players, 14, true);
    let ranking = table.rank(TieBreak::ROUND_ROBIN);
    let order: Vec<(&str, u32)> = { ranking.groups.iter().flatten() }
        .map(|player| (names[*player], table.half_points(*player)))
        .collect();
    assert_eq!(
        order,
        [
            ("Karjakin", 17),
            ("Caruana", 15),
            ("Anand", 15),
            ("Svidler", 14),
            ("Aronian", 14),
            ("Giri", 14),
            ("Nakamura", 14),
            ("Topalov", 9)
        ]
    );
    assert_eq!(ranking.groups.len(), 8, "nobody shares a rank");
    // Giri drew all his games, among them six with the others who had seven points.
    assert_eq!(values(&ranking, 3)[..2], [Some(3.0), Some(0.0)]);
    assert_eq!(
        values(&ranking, 1)[0],
        None,
        "nobody has as many points as Karjakin"
    );
}

/// In a round robin, a forfeit counts against the scheduled opponent, and a free round does not count.
#[test]
fn koya_and_sonneborn_berger_of_a_round_robin() {
    let players = ["B1 C= -Z", "A0 -Z C+", "-Z A= B-"].map(rounds);
    let table = ScoreTable::new(players.to_vec(), 3, true);
    let ranking = table.rank(&[TieBreak::SonnebornBerger, TieBreak::Koya, TieBreak::Wins]);
    // Points: A 1½, B 1, C ½, of two games each.
    assert_eq!(values(&ranking, 0), [Some(1.25), Some(1.0), Some(1.0)]);
    assert_eq!(values(&ranking, 1), [Some(0.5), Some(0.0), Some(1.0)]);
    assert_eq!(values(&ranking, 2), [Some(0.75), Some(0.5), Some(0.0)]);
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    for known in TieBreak::ALL {
        assert_eq!(known.as_str().parse(), Ok(*known));
    }
    let error = "bucholz"
        .parse::<TieBreak>()
        .expect_err("a misspelling")
        .to_string();
    assert!(
        error.starts_with("\"bucholz\" is not a tie-break; expected some of direct_encounter, wins,"),
        "{error}"
    );
}

/// A file may have thousands of players with equal points, each of whom has met one other.
#[test]
fn many_tied_players_are_compared_quickly() {
    let count = 20_000;
    let player = |index: usize| {
        let (opponent, half_points) = if index.is_multiple_of(2) {
            (index + 1, 2)
        } else {
            (index - 1, 0)
        };
        vec![PlayerRound {
            round: 1,
            opponent: Some(opponent),
            half_points,
            kind: RoundKind::Played,
        }]
    };
    let table = ScoreTable::new((0..count).map(player).collect(), 1, false);
    let groups = table.rank(TieBreak::SWISS).groups;
    assert_eq!(
        groups.iter().map(Vec::len).collect::<Vec<_>>(),
        [count / 2, count / 2]
    );
}
