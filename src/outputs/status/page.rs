//! The status as a web page, which reloads itself every five seconds and has no script.

use kiebitz_hardware::Timestamp;
use maud::{DOCTYPE, Markup, html};

use super::{BoardSummary, Status};
use crate::clock;

const STYLE: &str = "body{font:1rem/1.5 system-ui,sans-serif;margin:1rem auto;max-width:60rem;padding:0 1rem;\
color:#1a1a1a;background:#fff;overflow-wrap:break-word}table{border-collapse:collapse;width:100%}td{max-width:16rem}th,td{text-align:left;padding:.3rem .6rem;\
border-bottom:1px solid #ccc}.bad{color:#a30000;font-weight:bold}dt{font-weight:bold}dd{margin:0 0 .5rem}\
@media(prefers-color-scheme:dark){body{color:#eee;background:#16181b}.bad{color:#ff8a80}}";

pub(crate) fn page(status: &Status) -> String {
    let state = if status.ok {
        "all is well"
    } else {
        "needs attention"
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta http-equiv="refresh" content="5";
                title { "kiebitz on " (status.host) ": " (state) }
                style { (maud::PreEscaped(STYLE)) }
            }
            body {
                h1 { "kiebitz on " (status.host) }
                @if status.problems.is_empty() {
                    p { "All is well." }
                } @else {
                    ul { @for problem in &status.problems { li.bad { (problem) } } }
                }
                (boards(status))
                (outputs(status))
                (computer(status))
                p { a href="health" { "JSON" } " · " a href="metrics" { "metrics" } }
            }
        }
    };
    page.into_string()
}

fn boards(status: &Status) -> Markup {
    html! {
        h2 { "Boards" }
        @if status.boards.is_empty() {
            p { "No board has been found. Plug one in; " code { "kiebitz boards" } " lists the ports of this \
                computer." }
        } @else {
            table {
                thead { tr {
                    th { "board" } th { "state" } th { "game" } th { "last move" } th { "clock" } th { "last heard" } th { "port" }
                } }
                tbody { @for board in &status.boards { (row(board, status.as_of)) } }
            }
        }
    }
}

fn row(board: &BoardSummary, now: Timestamp) -> Markup {
    html! {
        tr {
            td { (board.board) }
            @if board.connected { td { "connected" } } @else { td.bad { "not connected" } }
            td { @if let Some(game) = &board.game { (game.title()) } @else { "none" } }
            td { @if let Some(game) = &board.game {
                (game.last_move) @if let Some(result) = game.result { " " (result.as_str()) }
            } }
            td { @match (&board.times, board.clock) {
                (Some(times), true) => { (clock::shown(times.white_ms)) " / " (clock::shown(times.black_ms)) }
                (None, true) => "answers",
                (_, false) => "none",
            } }
            td { @match board.line.heard {
                Some(heard) => { (now.saturating_duration_since(heard).as_secs()) " s ago" }
                None => { "never" }
            } }
            td { (board.port) @if let Some(serial) = &board.serial { ", serial " (serial) } }
        }
    }
}

fn outputs(status: &Status) -> Markup {
    html! {
        @if !status.daemon.outputs.is_empty() {
            h2 { "Outputs" }
            table {
                thead { tr { th { "to" } th { "state" } th { "last" } } }
                tbody { @for (name, report) in &status.daemon.outputs { tr {
                    td { (name) }
                    @if report.ok { td { "ok" } } @else { td.bad { "needs attention" } }
                    td { @match report.last {
                        Some(last) => {
                            (report.did) ", " (status.as_of.saturating_duration_since(last).as_secs()) " s ago"
                        }
                        None => { "nothing yet" }
                    } }
                } } }
            }
        }
    }
}

fn computer(status: &Status) -> Markup {
    let daemon = &status.daemon;
    let machine = &daemon.machine;
    let state_of = |ok: bool| if ok { "kept" } else { "fails" };
    html! {
        h2 { "This computer" }
        dl {
            dt { "Journal" } dd { (state_of(daemon.storage.journal.ok)) }
            dt { "Recordings" } dd { (state_of(daemon.storage.recordings.ok)) }
            dt { "Broker" }
            dd { @match status.broker {
                None => { "none is configured" }
                Some(false) => { "not connected, " (daemon.delivery.queued) " messages wait" }
                Some(true) => {
                    "connected, " (daemon.delivery.queued) " messages wait"
                    @if let Some(ms) = daemon.delivery.last_ms { ", the last event took " (ms) " ms" }
                }
            } }
            @if let Some(disk) = machine.disk {
                dt { "Disk" }
                dd { (disk.free_bytes / 1_000_000) " of " (disk.size_bytes / 1_000_000) " MB free" }
            }
            @if let Some(celsius) = machine.temperature_c {
                dt { "Temperature" } dd { (format!("{celsius:.0} °C")) }
            }
            @if let Some(weak) = machine.under_voltage {
                dt { "Power supply" } dd { @if weak { span.bad { "too weak" } } @else { "strong enough" } }
            }
            dt { "Version" } dd { (status.version) }
        }
    }
}
