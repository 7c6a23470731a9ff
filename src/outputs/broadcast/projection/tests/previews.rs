use super::*;

fn with_address() -> Broadcast {
    let mut broadcast = broadcast(0);
    broadcast.bring_page(Some("https://live.example/open".to_owned()));
    broadcast
}

#[test]
fn a_link_to_a_game_has_players_result_and_picture() {
    let mut broadcast = with_address();
    assert!(
        !broadcast.files().contains_key("round-3/board-2.html"),
        "no board has it"
    );
    let start = begins(2, 1, Variant::Standard, START);
    take(&mut broadcast, &[start, ended(2, 9, GameResult::Draw)]);
    broadcast.advance(at(9));
    let page = text(&mut broadcast, "round-3/board-2.html");
    for part in [
        "property=\"og:title\" content=\"Clausen, Per ½–½ Dorn, Uta Maria\"",
        "property=\"og:description\" content=\"Café Open 2026 · Bremen · 3.2\"",
        "property=\"og:url\" content=\"https://live.example/open/round-3/board-2.html\"",
        "property=\"og:image\" content=\"https://live.example/open/round-3/board-2.png\"",
        "content=\"0; url=../index.html#/round/3/board/2\"",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let index = text(&mut broadcast, "index.html");
    assert!(
        index.contains("content=\"https://live.example/open/round-3/board-2.png\""),
        "{index}"
    );
    assert_eq!(index.matches("</head>").count(), 1);
    assert_eq!(json(&mut broadcast, "wall.json")["event"]["has_previews"], true);
}

#[test]
fn the_picture_changes_after_ten_plies_and_at_the_end() {
    let mut broadcast = with_address();
    take(&mut broadcast, &[begins(1, 1, Variant::Standard, START)]);
    let mut pictures = Vec::new();
    for ply in 1..=11 {
        let (uci, san) = match ply % 4 {
            1 => ("g1f3", "Nf3"),
            2 => ("g8f6", "Nf6"),
            3 => ("f3g1", "Ng1"),
            _ => ("f6g8", "Ng8"),
        };
        take(&mut broadcast, &[made(1, 10 + i64::from(ply), ply, uci, san)]);
        broadcast.advance(at(30));
        pictures.push(broadcast.files()["round-3/board-1.png"].clone());
    }
    take(&mut broadcast, &[ended(1, 40, GameResult::WhiteWins)]);
    broadcast.advance(at(40));
    pictures.push(broadcast.files()["round-3/board-1.png"].clone());
    let changes: Vec<bool> = pictures.windows(2).map(|pair| pair[0] != pair[1]).collect();
    let mut expected = [false; 11];
    (expected[8], expected[10]) = (true, true);
    assert_eq!(changes, expected);
}

#[test]
fn without_an_address_there_are_no_previews() {
    let mut broadcast = broadcast(0);
    broadcast.bring_page(None);
    take(&mut broadcast, &[begins(1, 1, Variant::Standard, START)]);
    broadcast.advance(at(1));
    let files = broadcast.files();
    assert!(files.keys().all(|path| !path.ends_with(".png")));
    assert!(!text(&mut broadcast, "index.html").contains("og:"));
}
