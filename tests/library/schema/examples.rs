//! Events that the schema accepts, and values that it must refuse.

use serde_json::{Value, json};

/// Returns one valid event per type.
pub(super) fn examples() -> Vec<Value> {
    let played = json!({
        "ply": 1, "color": "white", "uci": "e2e4", "san": "e4",
        "fen": "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "captured": null,
        "clock": {"white_ms": 598_000, "black_ms": 600_000, "running": "white"}, "legal": true, "inferred": false,
    });
    let from = "2026-11-21T14:02:00.000000Z";
    let to = "2026-11-21T14:03:07.412345Z";
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let incident = json!({
        "incident": 1, "kind": "illegal_move", "color": "white", "ply": 31, "severity": "advice",
        "article": "7.5.1, 6.2.1", "edition": "fide-2023", "case": "illegal_move.made", "advice": "Have it corrected.",
        "squares": ["e2"],
        "evidence": {
            "from": from, "to": to, "fen": start, "clock": null, "values": {"color": "white"},
            "changes": [{"at": from, "square": "e2", "piece": null}, {"at": to, "square": "e5", "piece": "P"}],
        },
    });
    [
        (
            "board.connected",
            json!({"port": "p", "serial": "0000035519", "version": "1.8", "orientation": null}),
        ),
        ("board.disconnected", json!({"reason": "device disconnected"})),
        (
            "board.recovered",
            json!({"by": "memory", "changes": 4, "from": from, "to": to}),
        ),
        (
            "claim.available",
            json!({
                "color": "white", "ply": 12, "reason": "threefold", "occurrences": [4, 8, 12], "intended": null,
                "severity": "info", "article": "9.2.2", "edition": "fide-2023",
            }),
        ),
        ("clock.battery_low", json!({})),
        ("clock.connected", json!({})),
        ("clock.disconnected", json!({})),
        ("clock.sides", json!({"white_side": "left"})),
        (
            "command.taken",
            json!({
                "id": "7", "do": "set_result", "by": "arbiter", "arguments": {"result": "1-0"}, "error": null,
                "note": null,
            }),
        ),
        (
            "game.amended",
            json!({
                "by": "arbiter", "result": "1-0", "reason": "resignation", "players": null, "time_control": null,
                "moves": null, "position": null, "note": null,
            }),
        ),
        (
            "game.ended",
            json!({"result": "0-1", "reason": "checkmate", "by": "laws", "confirmed": true}),
        ),
        ("game.resumed", json!({"result": "0-1", "reason": "kings"})),
        (
            "game.started",
            json!({
                "start_fen": start, "variant": "standard", "orientation": "normal", "white_side": "left",
                "laws": null, "mode": null,
                "players": {"white": "A", "black": null}, "time_control": null,
            }),
        ),
        (
            "incident.closed",
            json!({"incident": 1, "kind": "illegal_move", "by": "board", "reason": "replaced"}),
        ),
        ("incident.opened", incident.clone()),
        ("incident.updated", incident),
        (
            "move.amended",
            with(played.clone(), &json!({"replaces": "d2d4", "reason": "moved_on"})),
        ),
        (
            "move.completed",
            json!({"ply": 1, "by": "press", "clock": null, "elapsed_ms": 4351}),
        ),
        ("move.made", played),
        ("move.retracted", json!({"ply": 1, "reason": "takeback"})),
        ("move.settled", json!({"ply": 1, "by": "shape"})),
        (
            "table.result",
            json!({"round": 2, "table": 7, "result": "1-0", "reason": "arbiter", "by": "A. Meier"}),
        ),
        ("time.set", json!({"by_ms": -3600000})),
    ]
    .map(|(kind, fields)| {
        let envelope = json!({
            "v": 1, "stream": "live", "seq": 1, "ts": to, "at": from, "board": "board-1",
            "game": "2026-11-21-board-1-2", "type": kind,
        });
        with(envelope, &fields)
    })
    .into()
}

fn with(mut event: Value, fields: &Value) -> Value {
    for (name, value) in fields.as_object().expect("an object") {
        event[name] = value.clone();
    }
    event
}

/// Returns event type, field, and a value that the field must not have.
pub(super) fn wrong_values() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("board.connected", "v", json!(2)),
        ("board.connected", "stream", json!("")),
        ("board.connected", "seq", json!(0)),
        ("board.connected", "seq", json!("1")),
        ("board.connected", "seq", json!(1.5)),
        ("board.connected", "board", json!(null)),
        ("board.connected", "type", json!("board.attached")),
        ("board.connected", "ts", json!("2026-11-21T14:03:07Z")),
        ("board.connected", "ts", json!("2026-11-21T14:03:07.412Z")),
        ("board.connected", "ts", json!("2026-11-21T14:03:07.412345+00:00")),
        ("board.connected", "ts", json!("2026-13-21T14:03:07.412345Z")),
        ("board.connected", "ts", json!(1_795_000_000)),
        ("board.connected", "orientation", json!("upside_down")),
        ("board.connected", "serial", json!(35519)),
        ("board.connected", "version", json!("1")),
        ("board.disconnected", "reason", json!(null)),
        ("board.recovered", "changes", json!(-1)),
        ("board.recovered", "from", json!("yesterday")),
        ("claim.available", "reason", json!("fivefold")),
        ("claim.available", "severity", json!("violation")),
        ("claim.available", "intended", json!(["Nf3"])),
        ("command.taken", "id", json!(7)),
        ("command.taken", "arguments", json!("1-0")),
        ("game.amended", "result", json!("2-0")),
        ("game.amended", "position", json!("8/8")),
        ("game.amended", "moves", json!("e2e4")),
        ("game.ended", "result", json!("1/2")),
        ("game.ended", "reason", json!("Check mate")),
        ("game.ended", "by", json!("engine")),
        ("game.ended", "confirmed", json!(null)),
        ("game.resumed", "result", json!("1/2")),
        ("game.resumed", "reason", json!(null)),
        (
            "game.started",
            "start_fen",
            json!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"),
        ),
        ("game.started", "variant", json!("crazyhouse")),
        ("game.started", "white_side", json!("front")),
        ("game.started", "players", json!(["A", "B"])),
        ("game.started", "players", json!({"white": "A"})),
        ("game.started", "event", json!(null)),
        ("game.started", "site", json!("")),
        ("incident.opened", "severity", json!("fatal")),
        ("incident.opened", "squares", json!(["e9"])),
        ("incident.opened", "incident", json!(0)),
        ("incident.opened", "case", json!("illegal move")),
        ("incident.opened", "evidence", json!({})),
        ("incident.closed", "reason", json!("forgotten")),
        ("incident.closed", "by", json!("somebody")),
        ("move.amended", "replaces", json!("Nf3")),
        ("move.amended", "reason", json!(null)),
        ("move.completed", "by", json!("lever")),
        ("move.completed", "elapsed_ms", json!(-1)),
        ("move.made", "at", json!("2026-11-21T14:03:07Z")),
        ("move.made", "at", json!(null)),
        ("move.made", "ply", json!(0)),
        ("move.made", "color", json!("w")),
        ("move.made", "uci", json!("e9e4")),
        ("move.made", "uci", json!("e7e8k")),
        ("move.made", "uci", json!("e2-e4")),
        ("move.made", "uci", json!(null)),
        ("move.made", "san", json!("0-0")),
        ("move.made", "san", json!("Sf3")),
        ("move.made", "san", json!(null)),
        ("move.made", "legal", json!(false)), // with a SAN
        ("move.made", "legal", json!("yes")),
        (
            "move.made",
            "fen",
            json!("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP b KQkq - 0 1"),
        ),
        (
            "move.made",
            "fen",
            json!("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR x KQkq - 0 1"),
        ),
        ("move.made", "captured", json!("P")),
        ("move.made", "captured", json!("k")),
        ("move.made", "clock", json!("10:00")),
        ("move.made", "clock", json!({"white_ms": 1, "black_ms": 1})),
        (
            "move.made",
            "clock",
            json!({"white_ms": 1.5, "black_ms": 1, "running": null}),
        ),
        (
            "move.made",
            "clock",
            json!({"white_ms": 1, "black_ms": 1, "running": "both"}),
        ),
        ("move.retracted", "ply", json!(0)),
        ("move.settled", "by", json!("guess")),
        ("table.result", "table", json!(0)),
        ("table.result", "result", json!("2-0")),
        ("time.set", "by_ms", json!(1.5)),
    ]
}
