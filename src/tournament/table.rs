//! Derives a table number from the name of a board.

/// Returns the table of a board: the number at the end of its name. Five digits are a serial number, not a table.
///
/// ```
/// use kiebitz::tournament::table_of;
///
/// assert_eq!(table_of("board-07"), Some(7));
/// assert_eq!(table_of("stage"), None);
/// ```
#[must_use]
pub fn table_of(board: &str) -> Option<u32> {
    number_in(board)?.parse().ok()
}

/// Returns the number at the end of a board's name, without leading zeros.
pub(crate) fn number_in(name: &str) -> Option<&str> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let number = name.get(name.len() - digits..)?.trim_start_matches('0');
    let is_one = (1..=LONGEST_NUMBER).contains(&number.len()) && digits <= LONGEST_NUMBER;
    is_one.then_some(number)
}

/// Limit of a table number, in digits.
const LONGEST_NUMBER: usize = 4;
