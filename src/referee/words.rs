//! What the referee says in the words of the contract.

use shakmaty::{Color, Role};

use crate::events::{Clock, Move};
use crate::tracker::{Completion, Ply, Recovery, Settlement, Side, Withdrawal};

pub(super) fn index(ply: u32) -> usize {
    usize::try_from(ply).unwrap_or(usize::MAX).saturating_sub(1)
}

pub(super) fn move_of(ply: &Ply) -> Move {
    Move {
        ply: ply.number,
        color: color_text(ply.color),
        uci: ply.uci.map(|uci| uci.to_string()),
        san: ply.san.clone(),
        fen: ply.after.fen(),
        captured: ply.captured.map(|role: Role| role.char().to_string()),
        clock: ply.clock.map(Clock::from),
        legal: ply.played.is_some(),
        inferred: ply.inferred,
        order_certain: !ply.any_order,
    }
}

pub(super) fn color_text(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}

pub(super) fn side_text(side: Side) -> &'static str {
    match side {
        Side::Left => "left",
        Side::Right => "right",
    }
}

pub(super) fn reason_text(reason: Withdrawal) -> &'static str {
    match reason {
        Withdrawal::MovedOn => "moved_on",
        Withdrawal::Takeback => "takeback",
        Withdrawal::IllegalRestored => "illegal_restored",
        Withdrawal::Kings => "kings",
        Withdrawal::SetUp => "set_up",
        Withdrawal::Recovered => "recovered",
    }
}

pub(super) fn recovery_text(by: Recovery) -> &'static str {
    match by {
        Recovery::Memory => "memory",
        Recovery::Inferred => "inferred",
        Recovery::Undecidable => "undecidable",
    }
}

pub(super) fn settlement_text(by: Settlement) -> &'static str {
    match by {
        Settlement::Press => "press",
        Settlement::Reply => "reply",
        Settlement::Shape => "shape",
    }
}

pub(super) fn completion_text(by: Completion) -> &'static str {
    match by {
        Completion::Press => "press",
        Completion::OwnNextMove => "own_next_move",
    }
}
