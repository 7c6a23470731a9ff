//! Presses of the clock with the piece still in the hand.

use kiebitz_hardware::Timestamp;
use shakmaty::Color;

use super::{Context, News};
use crate::clock::ClockChange;
use crate::events::IncidentEnd;
use crate::laws::Situation;

/// Watches for presses before the move is made. On a bus, presses have no times, and no [`News::Pressed`] comes.
#[derive(Debug, Default)]
pub(super) struct EarlyPresses {
    pressed: Option<EarlyPress>,
}

/// A press of the player to move with their clock running.
#[derive(Debug, Clone, Copy)]
struct EarlyPress {
    color: Color,
    ply: u32,
    at: Timestamp,
}

impl EarlyPresses {
    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        match news {
            News::Pressed(color) => self.pressed(context, *color),
            News::Played(ply, _) => {
                if let Some(pressed) = self.pressed.take().filter(|pressed| pressed.ply == *ply) {
                    report(context, pressed);
                }
            }
            News::Started
            | News::Over
            | News::Away
            | News::Retracted(..)
            | News::Clock(ClockChange::Stopped | ClockChange::Disconnected) => self.pressed = None,
            _ => {}
        }
    }

    fn pressed(&mut self, context: &Context<'_>, color: Color) {
        let game = context.game;
        let on_move = game.tip().is_some_and(|tip| tip.turn() == color);
        // Only the opponent's press gives the player to move a running clock.
        let clock_ran = match game.line.last() {
            Some(last) => last.is_pressed(),
            None => color.is_white(),
        };
        // A second press before the move is found means a wrong clock reading, or a clock that was pressed back.
        let first = self.pressed.take().is_none();
        if first && on_move && clock_ran && context.sees_play() {
            let (ply, at) = (game.due(), context.now());
            self.pressed = Some(EarlyPress { color, ply, at });
        }
    }
}

/// Reports the press if the piece had left its square before the press and was not on any square until well after it.
fn report(context: &mut Context<'_>, pressed: EarlyPress) {
    let EarlyPress { color, ply, at } = pressed;
    let Some(turn) = context.turn(ply, None).filter(|_| context.sees_play()) else {
        return;
    };
    if turn.color() != color || !turn.is_unhurried() || !turn.was_in_hand(at) {
        return;
    }
    let moved = turn.squares();
    let report = context
        .report(Situation::PressedBeforeRelease, at)
        .of(color)
        .at_ply(ply)
        .on(moved);
    context.open_and_close(report, IncidentEnd::Passed);
}
