use super::*;

fn board(fen: &str) -> Board {
    Board::from_ascii_board_fen(fen.as_bytes()).expect("a placement")
}

#[test]
fn changes_list_every_square_that_differs() {
    let (before, after) = (board("8/8/8/8/8/8/4P3/8"), board("8/8/8/8/4P3/8/8/8"));
    let change = |square: &str, piece| ChangedSquare {
        square: square.to_owned(),
        piece,
    };
    assert_eq!(
        changes(Some(&before), &after),
        [change("e2", None), change("e4", Some('P'))]
    );
    assert_eq!(changes(Some(&after), &after), []);
    assert_eq!(changes(None, &after), [], "nothing was known before");
}
