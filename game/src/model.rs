//! The model of boards and hands: a table of costs and times for tracker, acts and referee.
//!
//! A cost says by how much something reduces the credibility of a line of play, in hundredths of a nat: if one of two
//! lines costs 230 less, it is ten times as credible. Nothing is impossible; rare events are expensive. A time says how
//! long to wait before a conclusion: after it, hands have nearly always finished.
//!
//! Values that are not fitted follow the table: counts that follow from the rules and the board, and bounds on work and
//! memory.
//!
//! # How to fit the model
//!
//! The workbench command `fit` plays games with all kinds of hands: calm, drawing, clumsy, blitz and time scrambles, on
//! boards with dead squares, with illegal moves and touched pieces. It scores the model, and then the model with each
//! parameter lowered and raised. The score adds up wrong games, missed and false incidents, corrections, and the time
//! until moves are announced; lower is better. `--search` adopts improvements until there are none, and judges the
//! result by games that it has not seen.
//!
//! Copy new values into the table by hand. Before you keep them, replay recordings of real boards and run `soak
//! rounds`, because simulated hands do not cover all real ones. A new parameter needs a new line in the table.

use core::time::Duration;

use kiebitz_hardware::facts::ONE_SCAN_APART;

/// Hundredths of a nat.
pub(crate) type Cost = usize;

/// A type of parameters in the model.
trait Quantity: Copy {
    /// Scales the value to `percent` per cent.
    #[must_use]
    fn percent(self, percent: u32) -> Self;
}

impl Quantity for Cost {
    fn percent(self, percent: u32) -> Self {
        self * percent as Self / 100
    }
}

impl Quantity for Duration {
    fn percent(self, percent: u32) -> Self {
        self * percent / 100
    }
}

/// Declares the table, and gives the workbench access to its entries by name.
macro_rules! table {
    ($($(#[$doc:meta])+ $name:ident: $quantity:ty = $value:expr;)+) => {
        /// The parameters of boards and hands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Model {
            $($(#[$doc])+ pub(crate) $name: $quantity,)+
        }

        impl Model {
            /// The values fitted to the hands of the workbench.
            pub const FITTED: Self = Self { $($name: $value,)+ };

            /// The names of all parameters.
            pub const NAMES: &[&str] = &[$(stringify!($name),)+];

            /// Scales one parameter to `percent` per cent; `None` if no parameter has this name.
            #[must_use]
            pub fn scaled(self, name: &str, percent: u32) -> Option<Self> {
                match name {
                    $(stringify!($name) => Some(Self { $name: self.$name.percent(percent), ..self }),)+
                    _ => None,
                }
            }
        }
    };
}

table! {
    /// Cost of a square whose content differs from the line of play. Nearly all such squares are explained within
    /// seconds, by a piece in a hand or by the next ply.
    unexplained: Cost = 600;
    /// Cost of an event that hardly ever happens. Examples: a ply stood more than a scan before the piece of the ply
    /// that it answers was lifted, so that they were played in the other order; somebody ran into the table, and pieces
    /// slid; players moved on after the clock had been stopped.
    reversed: Cost = 2000;
    /// Cost of an event that happens, but not in most games. Examples: a ply that no legal move explains; a piece that
    /// rested on another square on its way, or was lifted before the piece of its player's previous ply; a ply that was
    /// not played after all, although it was pressed, followed by its player's next ply, or stood for long with nothing
    /// else on the board changed; two plies that were taken back in the order in which they were played.
    unlikely: Cost = 650;
    /// Cost of an event that happens every few moves. Examples: a hand starts before the other player's piece stands,
    /// or before it is lifted; a piece hovers over another square, rests on its way while the other player moves, or is
    /// captured before its square was read; a captured piece is laid down on the board; the kings that show a result
    /// come to the centre one long after the other; a square does not read a piece that has gone there. A line with
    /// such an unread piece is announced only if all other lines cost at least this much more.
    odd: Cost = 250;
    /// Cost of any ply: of two lines that explain the same observations, the one with fewer plies is more credible.
    ply: Cost = 150;
    /// Cost of an announced ply that was not played after all.
    withdrawn: Cost = 60;

    /// Shortest time for which a move must stand before it counts: the scan and the burst of reports on the serial line
    /// are complete by then.
    settle: Duration = Duration::from_millis(60);
    /// Longest time for which a piece rests on a square before the same hand moves it on.
    pause: Duration = Duration::from_millis(420);
    /// Time for which a piece must be off its square, or on another one, to count as touched. Adjusting a piece, and
    /// misreading one, takes less.
    touched: Duration = Duration::from_millis(800);
    /// Time after which a half-done action is finished: a pushed piece is taken away, a nudge is over, the clock is
    /// pressed.
    rest: Duration = Duration::from_millis(1200);
    /// Time after which a motion has no continuation: the other piece of a castling has moved, a piece in a hand has
    /// been put back. A ply on a quiet board is then beyond doubt.
    doubt: Duration = Duration::from_millis(2000);
    /// Time after which a hand that holds two pieces has put them down, and a player has put a pushed piece back or
    /// pressed the clock.
    put_right: Duration = Duration::from_secs(6);
    /// Time after which nobody resumes an unfinished action.
    patience: Duration = Duration::from_secs(12);
    /// Time after which the board has shown to which of several squares a piece went, or will not show it.
    unclear: Duration = Duration::from_secs(30);
}

impl Default for &Model {
    fn default() -> Self {
        &Model::FITTED
    }
}

impl Model {
    /// Extra cost over the best line at which a line is dropped, once its last ply is no longer shown.
    pub(crate) const fn hopeless(&self) -> Cost {
        2 * self.unexplained
    }

    /// Time for which a sign must have stood on the board to count, given the cost `against` it; `None` if it does not
    /// count.
    pub(crate) const fn counts_after(&self, against: Cost) -> Option<Duration> {
        match against {
            0 => Some(self.rest),
            _ if against <= self.odd => Some(self.doubt),
            _ if against <= self.unlikely => Some(self.patience),
            _ => None,
        }
    }
}

/// Longest time for which a square shows a piece that is drawn over it: two scans.
pub(crate) const PASSING: Duration = ONE_SCAN_APART.saturating_mul(2);
/// Most squares that pieces in hands can explain: castling changes four.
pub(crate) const IN_HANDS: usize = 4;
/// Most squares that two ordinary moves explain. If more differ, pieces are being set up or cleared away.
pub(crate) const TWO_MOVES: usize = 6;
/// Largest number of similar events that may be accidental, or of which two may be observed as one.
pub(crate) const A_FEW: usize = 3;
/// Number of following plies that prove a line. Without them, it may fit the board by accident.
pub(crate) const PLIES_OF_PROOF: usize = 2;
/// Number of similar events that cannot be accidental.
pub(crate) const SEVERAL: usize = A_FEW + 1;
/// Number of recent plies to which players may return, when they take moves back or when hands are quicker than the
/// board.
pub(crate) const REMEMBERED_PLIES: usize = 12;
/// Share of drawn pieces, as one in this many, below which a player is taken to carry all pieces.
pub(crate) const RARE_ONE_IN: u8 = 8;
/// Most lines of play kept after an update, so that shuffled pieces do not blow up the search.
pub(crate) const MAX_READINGS: usize = 100;
/// Most conclusions from one observation, so that no board can hold up the daemon.
pub(crate) const MAX_CONCLUSIONS: usize = 100;
/// Most square changes kept: enough for the longest scramble between two confirmed plies. The bound keeps a flickering
/// square from filling the memory.
pub(crate) const MAX_RECENT: usize = 100;

/// Longest line searched for across a gap, in plies.
pub(crate) const MAX_UNSEEN_PLIES: usize = 8;
/// Most positions visited by one search, so that it does not hold up the daemon.
pub(crate) const MAX_POSITIONS: usize = 1400;
/// Pause between two searches on one board, which gives other boards their turn.
pub(crate) const SEARCH_INTERVAL: Duration = Duration::from_millis(2);
/// Most reports kept, which is a few games. They distinguish two moments with the same placement, even in the same
/// opening, because the pieces are never set up twice in the same way.
pub(crate) const MAX_REPORTS: usize = 1024;
/// Longest wait for the board's memory after the first sign of lost reports. After it, the line stays as it is.
pub(crate) const MAX_SUSPICION: Duration = Duration::from_secs(90);
/// Longest time that a game can have lasted before the first message from the board.
pub(crate) const MAX_GAME_AGE: Duration = Duration::from_secs(6 * 3600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_parameter_can_be_scaled_by_its_name_and_no_other_changes() {
        for name in Model::NAMES {
            let raised = Model::FITTED.scaled(name, 150).expect("it is in the table");
            assert_ne!(raised, Model::FITTED, "{name}");
            assert_eq!(raised.scaled(name, 0), Model::FITTED.scaled(name, 0), "{name}");
        }
        assert_eq!(Model::FITTED.scaled("luck", 100), None);
    }
}
