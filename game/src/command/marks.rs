//! Characters that make a name look like another one.

/// Returns whether a character is invisible, changes the direction of writing or ends a line. The joiners U+200C and
/// U+200D are not among these, because some languages write names with them.
#[must_use]
pub const fn is_mark(character: char) -> bool {
    matches!(
        character,
        '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Removes all [marks](is_mark) from a name. In a text with names, they would reach beyond it.
///
/// ```
/// let mut name = "Adler\u{202e}, \u{200b}Jonas".to_owned();
/// kiebitz_game::command::marks::remove(&mut name);
/// assert_eq!(name, "Adler, Jonas");
/// ```
pub fn remove(name: &mut String) {
    name.retain(|character| !is_mark(character));
}
