//! Reads arbitrary bytes as a file of a pairing program and as FIDE's rating list. Checks that an error names line and
//! column, and that an accepted file satisfies its invariants.

use std::collections::BTreeSet;

use kiebitz::tournament::{Check, FideList, Tournament, read_bytes};

pub fn run(data: &[u8]) {
    // Must not panic, even for an empty event.
    let _ = FideList::from_reader("list", data, &Tournament::default());
    let (event, doubts) = match read_bytes("file", data) {
        Ok(read) => read,
        Err(error) => return assert_names_line_and_column(&error.to_string()),
    };
    for doubt in &doubts {
        assert_names_line_and_column(&doubt.to_string());
    }
    for round in event.rounds.values() {
        let tables: Vec<u32> = round
            .pairings
            .iter()
            .filter_map(|pairing| pairing.table)
            .collect();
        let different: BTreeSet<&u32> = tables.iter().collect();
        assert_eq!(different.len(), tables.len(), "each table has one pairing");
        assert!(tables.is_sorted(), "pairings are in the order of the tables");
        for pairing in &round.pairings {
            assert!(pairing.white.is_some() || pairing.black.is_some(), "{pairing:?}");
        }
    }
    for player in event.everybody() {
        assert!(!player.name.trim().is_empty());
        assert!(
            player
                .facts
                .fide_id
                .is_none_or(|id| (100_000..=999_999_999).contains(&id))
        );
        assert!(player.place.line >= 1 && player.place.column >= 1);
    }
    // The same bytes give the same result.
    assert_eq!(
        read_bytes("file", data).ok(),
        Some((event.clone(), doubts.clone()))
    );

    let list = FideList::from_reader("list", data, &event).ok();
    let check = Check {
        boards: &["board-1".to_owned(), "board-3".to_owned()],
        fide: list.as_ref(),
        round: None,
        ids_optional: false,
    };
    let findings = check.findings(&event, doubts.clone());
    assert!(
        findings.len() >= doubts.len(),
        "nothing that was doubted is kept back"
    );
}

fn assert_names_line_and_column(message: &str) {
    let rest = message.strip_prefix("file:").expect("the file is named");
    let mut parts = rest.splitn(3, ':').map(str::parse::<usize>);
    assert!(
        parts.next().is_some_and(|line| line.is_ok_and(|line| line >= 1)),
        "{message}"
    );
    assert!(
        parts
            .next()
            .is_some_and(|column| column.is_ok_and(|column| column >= 1)),
        "{message}"
    );
}
