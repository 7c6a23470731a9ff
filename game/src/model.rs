//! The model of boards and hands: the one table of costs and times that tracker, acts and referee use.
//!
//! A cost says how much less credible something makes a line of play, in hundredths of a nat: of two lines, one that
//! costs 230 less is ten times as credible. Nothing is impossible; rare things are expensive. A time says how long to
//! wait before a conclusion: by then, hands have nearly always done what they will do.
//!
//! Below the table are values that are not fitted: counts that follow from the rules and the board, and bounds on work
//! and memory.
//!
//! # How to fit the model
//!
//! The workbench command `fit` plays games of all kinds of hands: calm, drawing, clumsy, blitz and time scrambles, on
//! boards with dead squares, with illegal moves and touched pieces. It scores the model, and then the model with each
//! parameter lowered and raised. The score adds up wrong games, missed and false incidents, corrections, and the time
//! until moves are announced; lower is better. `--search` adopts improvements until there are none, and judges the
//! result by games that it has not seen.
//!
//! Take new values over by hand. Before you keep them, replay recordings of real boards and run `soak rounds`:
//! simulated hands are not all hands. A new parameter is a new line of the table.

use core::time::Duration;

use kiebitz_hardware::facts::ONE_SCAN_APART;

/// Hundredths of a nat.
pub(crate) type Cost = usize;

/// Something that the model has a number for.
trait Quantity: Copy {
    /// So many per cent of it.
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
        /// What the tracker takes boards and hands to be like.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Model {
            $($(#[$doc])+ pub(crate) $name: $quantity,)+
        }

        impl Model {
            /// The model as fitted to the hands of the workbench.
            pub const FITTED: Self = Self { $($name: $value,)+ };

            /// The names of its parameters.
            pub const NAMES: &[&str] = &[$(stringify!($name),)+];

            /// The model with one parameter at so many per cent of what it is; `None` where none has this name.
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
    /// A square that shows something else than the line leads to. Nearly all of them are explained within seconds, by a
    /// piece that is in a hand or by the next ply.
    unexplained: Cost = 600;
    /// What hardly ever happens: a ply stood more than a scan before the piece of the one that it answers was lifted, so they
    /// were played in the other order; somebody ran into the table, and pieces slid; players moved on after the clock had
    /// been stopped.
    reversed: Cost = 2000;
    /// What happens, but not in most games: a ply that no legal move explains; a piece that rested on another square on
    /// its way, or was lifted before that of its player's ply before; a ply that was pressed or followed by its player's
    /// next, or stood for long, with nothing else on the board changed, and was not played after all; two plies that were
    /// taken back in the order in which they were played.
    unlikely: Cost = 650;
    /// What hands do every few moves: they go out before the other player's piece stands, or before it is lifted; a piece
    /// hovers over another square, rests on its way while the other player moves, or is captured before its square was
    /// read; a captured piece is laid down on the board; the kings that show a result come to the centre one long after
    /// the other.
    /// And a square that does not read a piece which has gone there; where a reading has one, this much must speak
    /// against all others for it to be told.
    odd: Cost = 250;
    /// Any ply: of two lines that explain the same, the one with fewer plies is more credible.
    ply: Cost = 150;
    /// An announced ply that was not played after all.
    withdrawn: Cost = 60;

    /// A move stands: this is not the middle of a scan, nor are two reports one burst on the line.
    settle: Duration = Duration::from_millis(60);
    /// A hand that goes on with a piece has done so.
    pause: Duration = Duration::from_millis(420);
    /// A piece that is off its square, or stands on another, for so long is not just being adjusted, nor misread.
    touched: Duration = Duration::from_millis(800);
    /// What was half done is finished: a piece pushed aside is taken away, a nudge is over, the clock is pressed.
    rest: Duration = Duration::from_millis(1200);
    /// What could still follow has followed: the other piece of a castling, a piece in a hand that is put back. A
    /// ply on a quiet board is beyond doubt.
    doubt: Duration = Duration::from_millis(2000);
    /// A hand that holds two pieces has put them down; a piece that was pushed has been put back, or its player has
    /// pressed.
    put_right: Duration = Duration::from_secs(6);
    /// Nobody will come back to it.
    patience: Duration = Duration::from_secs(12);
    /// Which of several squares a piece went to has shown, or will not.
    unclear: Duration = Duration::from_secs(30);
}

impl Default for &Model {
    fn default() -> Self {
        &Model::FITTED
    }
}

impl Model {
    /// A reading that costs this much more than the best one is dropped once its last ply is not shown any more.
    pub(crate) const fn hopeless(&self) -> Cost {
        2 * self.unexplained
    }

    /// How long a sign must have stood on the board to count, from what speaks against it; `None`: as things are it does not.
    pub(crate) const fn counts_after(&self, against: Cost) -> Option<Duration> {
        match against {
            0 => Some(self.rest),
            _ if against <= self.odd => Some(self.doubt),
            _ if against <= self.unlikely => Some(self.patience),
            _ => None,
        }
    }
}

/// A piece that is drawn over a square is shown there for at most this long: two scans.
pub(crate) const PASSING: Duration = ONE_SCAN_APART.saturating_mul(2);
/// How many squares the pieces that hands are busy with can explain: castling changes four.
pub(crate) const IN_HANDS: usize = 4;
/// On more squares than this, which two ordinary moves explain at most, pieces are being set up or cleared away.
pub(crate) const TWO_MOVES: usize = 6;
/// So many of anything can be an accident, or two of them seen as one.
pub(crate) const A_FEW: usize = 3;
/// What fits the board may do so by accident: so many plies after it prove it.
pub(crate) const PLIES_OF_PROOF: usize = 2;
/// So many of anything are no accident.
pub(crate) const SEVERAL: usize = A_FEW + 1;
/// The plies that players still have in mind, when they take moves back or hands are quicker than the board.
pub(crate) const REMEMBERED_PLIES: usize = 12;
/// A player who draws less than one in this many pieces is taken to carry them all.
pub(crate) const RARE_ONE_IN: u8 = 8;
/// Most readings kept after an update: shuffled pieces must not blow up the search.
pub(crate) const MAX_READINGS: usize = 100;
/// Most conclusions from one observation, so that nothing on a board can hold up the daemon.
pub(crate) const MAX_CONCLUSIONS: usize = 100;
/// Most changes of squares that are kept: enough for the longest scramble between two confirmed plies. The bound keeps a
/// flickering square from filling the memory.
pub(crate) const MAX_RECENT: usize = 100;

/// Longest line that is searched for across a gap, in plies.
pub(crate) const MAX_UNSEEN_PLIES: usize = 8;
/// Most positions that one search visits, so that it does not hold up the daemon.
pub(crate) const MAX_POSITIONS: usize = 1400;
/// Pause between two searches on one board, in which other boards have their turn.
pub(crate) const SEARCH_INTERVAL: Duration = Duration::from_millis(2);
/// Most reports that are kept: enough to distinguish two moments at which the same pieces stood on the board, in the same
/// opening too, for the hands that set up the pieces before it never do that in the same way. That is some games.
pub(crate) const MAX_REPORTS: usize = 1024;
/// Longest wait for the memory after the first sign of lost reports. After that, the line is left as it is.
pub(crate) const MAX_SUSPICION: Duration = Duration::from_secs(90);
/// Longest time for which a game can have been going on before the board was first heard.
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
