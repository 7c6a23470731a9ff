//! Results as people write them.

use crate::events::GameResult;

/// A result in the notation of events or of people: "½-½", "0:1", "+/-", "1-0 forfeit".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenResult {
    /// The result.
    pub result: GameResult,
    /// Whether the game was not played, as in "+/-" or "1-0 forfeit".
    pub forfeit: bool,
}

/// Suffixes of a result for a game that was not played.
const FORFEIT: [&str; 3] = ["forfeit", "kampflos", "ff"];

impl WrittenResult {
    /// Parses a result; `None` if the notation is unknown.
    #[must_use]
    pub fn parse(given: &str) -> Option<Self> {
        let lower = given.trim().to_lowercase();
        let before_word = FORFEIT.iter().find_map(|word| lower.strip_suffix(word));
        let plain: String = before_word.unwrap_or(&lower).split_whitespace().collect();
        let plain = plain.replace('½', "1/2").replace(['–', '−', '‐', ':'], "-");
        let signs = match plain.as_str() {
            "+/-" | "+--" | "+-" => Some(GameResult::WhiteWins),
            "-/+" | "--+" | "-+" => Some(GameResult::BlackWins),
            "-/-" | "---" | "--" => Some(GameResult::BothLose),
            _ => None,
        };
        let known = GameResult::ALL.iter().copied();
        let named = known.into_iter().find(|known| known.as_str() == plain);
        let result = signs.or(named)?;
        let forfeit = signs.is_some() || before_word.is_some();
        let may_be_forfeit = matches!(
            result,
            GameResult::WhiteWins | GameResult::BlackWins | GameResult::BothLose
        );
        (may_be_forfeit || !forfeit).then_some(Self { result, forfeit })
    }
}
