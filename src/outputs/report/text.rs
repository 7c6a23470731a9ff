//! The report as text: for a terminal, for mail, or for a receipt printer.

use core::fmt::{self, Write};

use kiebitz_game::events::record::MoveRecord;
use shakmaty::{Bitboard, File, Rank, Square};

use super::claims::ClaimSheet;
use super::model::{Adjournment, Amendment, Correction, IncidentReport, Report, Standings};
use super::position::{board, squares};
use super::view::{GameRenderer, Manner, PlyMark, Renderer, Reported, clock, own_clock, rights, rows, took};
use super::words::{fill, label};
use crate::outputs::shared::wrap::wrapped;

/// Renders the report as text, in lines of at most 100 characters unless a word is longer.
#[must_use]
pub fn text(report: &Report, manner: &Manner) -> String {
    let mut page = TextPage {
        view: Renderer::new(manner),
        text: String::new(),
    };
    // Writing to a String does not fail.
    let _ = page.report(report);
    page.text
}

struct TextPage<'v> {
    view: Renderer<'v>,
    text: String,
}

impl TextPage<'_> {
    fn report(&mut self, report: &Report) -> fmt::Result {
        let words = self.view.words;
        self.heading(words.title, '=')?;
        self.line(0, words.confidential)?;
        if let Some(source) = &report.source {
            self.line(0, &fill(words.made_from, &[("file", &source.file)]))?;
            if let Some(byte) = source.cut_at {
                self.line(0, &fill(words.cut_at, &[("byte", &byte.to_string())]))?;
            }
        }
        if report.games.is_empty() {
            self.line(0, words.no_games)?;
        }
        for game in &report.games {
            self.game(report, self.view.game(game))?;
        }
        if let Some(standings) = &report.standings {
            self.standings(standings)?;
        }
        if !report.outside.is_empty() {
            self.heading(words.outside, '-')?;
            for incident in &report.outside {
                self.incident(report, None, incident)?;
            }
        }
        Ok(())
    }

    fn standings(&mut self, standings: &Standings) -> fmt::Result {
        let view = self.view;
        self.heading(view.words.standings, '=')?;
        self.line(0, &view.after_round(standings))?;
        self.ranking(&view.team_heads(), &view.team_rows(standings))?;
        self.ranking(&view.player_heads(standings), &view.player_rows(standings))?;
        self.line(0, &view.about_ranking(standings))
    }

    /// Writes a table of ranks, names and values.
    fn ranking(&mut self, heads: &[&str], rows: &[Vec<String>]) -> fmt::Result {
        if rows.is_empty() {
            return Ok(());
        }
        let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
        for row in core::iter::once(&heads).chain(rows) {
            let mut line = String::new();
            for (column, (cell, head)) in row.iter().zip(&heads).enumerate() {
                match column {
                    0 => write!(line, "{cell:>5}")?,
                    1 => write!(line, "  {cell:<40}")?,
                    _ => write!(line, " {cell:>width$}", width = head.chars().count().max(6))?,
                }
            }
            writeln!(self.text, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn game(&mut self, report: &Report, game: GameRenderer<'_>) -> fmt::Result {
        let words = self.view.words;
        self.heading(&game.heading(), '=')?;
        self.summary(game)?;
        self.heading(words.score, '-')?;
        self.score(game)?;
        self.cards(report, game)?;
        self.others(game)?;
        self.claims(game)?;
        self.corrections(game)?;
        self.notes(game)?;
        self.amendments(game)?;
        self.signatures(game)?;
        match game.adjournment() {
            Some(adjournment) => self.adjournment(game, adjournment),
            None => Ok(()),
        }
    }

    fn summary(&mut self, game: GameRenderer<'_>) -> fmt::Result {
        for (color, name) in game.named_players() {
            let name = name.unwrap_or_else(|| BLANK.to_owned());
            self.line(0, &format!("{color}: {name}"))?;
        }
        self.line(0, &game.result())?;
        for list in game.points() {
            let none = if list.points.is_empty() { list.none } else { "" };
            self.line(0, format!("{}: {none}", list.heading).trim_end())?;
            for point in &list.points {
                self.line(2, &point.text)?;
            }
            if let Some(more) = &list.more {
                self.line(2, more)?;
            }
        }
        for line in game.circumstances() {
            self.line(0, &line)?;
        }
        Ok(())
    }

    fn cards(&mut self, report: &Report, game: GameRenderer<'_>) -> fmt::Result {
        let words = self.view.words;
        let mut cards = game.cards().peekable();
        if cards.peek().is_some() || game.others().next().is_none() {
            self.heading(words.incidents, '-')?;
        }
        if game.game.incidents.is_empty() {
            self.line(0, words.no_incidents)?;
        }
        for incident in cards {
            self.incident(report, Some(game), incident)?;
        }
        Ok(())
    }

    fn others(&mut self, game: GameRenderer<'_>) -> fmt::Result {
        for (number, entry) in game.others().enumerate() {
            if number == 0 {
                self.heading(game.others_heading(), '-')?;
            }
            let (title, course) = (
                self.view.incident_title(Some(game), entry),
                self.view.incident_course(entry).join("; "),
            );
            let severity = self.view.severity(entry.incident.severity);
            self.line(0, &format!("{title}. {severity}; {course}."))?;
            self.line(2, &self.view.advice(Some(game), entry))?;
        }
        Ok(())
    }

    fn signatures(&mut self, game: GameRenderer<'_>) -> fmt::Result {
        self.heading(self.view.words.signatures, '-')?;
        for (label, value) in game.signatures() {
            let value = value.map(|value| format!("{value} ")).unwrap_or_default();
            self.line(0, &format!("{:<28}{value}{BLANK}", format!("{label}:")))?;
        }
        Ok(())
    }

    fn score(&mut self, game: GameRenderer<'_>) -> fmt::Result {
        let words = self.view.words;
        if game.game.record.moves.is_empty() {
            return self.line(0, words.no_moves);
        }
        let column = |color: &str| format!("{color:<14}{:>9}{:>8}", words.clock, words.took);
        let heading = format!("      {}   {}", column(words.white), column(words.black));
        self.line(0, heading.trim_end())?;
        for (number, white, black) in rows(game) {
            let white = white.map_or_else(
                || format!("{:<31}", "..."),
                |entry| format!("{:<31}", cell(game, entry)),
            );
            let black = black.map(|entry| cell(game, entry)).unwrap_or_default();
            let row = format!("{number:>4}. {white}   {black}");
            self.line(0, row.trim_end())?;
        }
        for (sign, meaning) in game.legend() {
            self.line(2, &format!("{sign:<4}{meaning}"))?;
        }
        Ok(())
    }

    fn incident(
        &mut self,
        report: &Report,
        game: Option<GameRenderer<'_>>,
        entry: &IncidentReport,
    ) -> fmt::Result {
        let (words, view) = (self.view.words, self.view);
        let incident = &entry.incident;
        self.text.push('\n');
        self.line(0, &view.incident_title(game, entry))?;
        self.line(2, &view.incident_rule(entry))?;
        for line in view.incident_course(entry) {
            self.line(2, &line)?;
        }
        self.line(2, &format!("{}: {}", words.advice, view.advice(game, entry)))?;
        if entry.awaits_decision() {
            self.line(2, &format!("{}: {BLANK}", words.decision))?;
        }
        if let Some(fen) = view.shown_position(entry) {
            self.diagram(view.diagram_caption(entry), fen, squares(&incident.squares))?;
        }
        if !incident.squares.is_empty() {
            let marked = fill(words.marked, &[("squares", &incident.squares.join(", "))]);
            self.line(2, &format!("[ ] {marked}"))?;
        }
        if let Some(shown) = incident.evidence.clock {
            self.line(2, &view.clock_sentence(shown))?;
        }
        if !entry.changes.is_empty() {
            self.line(2, &format!("{}:", words.changes))?;
        }
        for (change, reported) in view.changes(entry) {
            let contents = match reported {
                Reported::AtOnce(squares) => squares,
                Reported::One(piece) => format!("{}  {piece}", change.change.square),
            };
            let frame = change
                .frame
                .map(|frame| format!("   {} {}", words.frame, frame.number));
            let time = view.time_exactly(change.change.at);
            self.line(4, &format!("{time}  {contents}{}", frame.unwrap_or_default()))?;
        }
        for line in view.incident_places(report.source.as_ref(), entry) {
            self.line(2, &line)?;
        }
        Ok(())
    }

    fn diagram(&mut self, caption: &str, fen: &str, marked: Bitboard) -> fmt::Result {
        let view = self.view;
        self.line(2, &format!("{caption}: {fen}"))?;
        let Some(board) = board(fen) else { return Ok(()) };
        let letters = view.manner.letters;
        for rank in Rank::ALL.into_iter().rev() {
            let mut row = format!("{} ", rank.char());
            for file in File::ALL {
                let square = Square::from_coords(file, rank);
                let figure = match board.piece_at(square) {
                    Some(piece) if piece.role == shakmaty::Role::Pawn => {
                        piece.color.fold_wb("P", "p").to_owned()
                    }
                    Some(piece) if piece.color.is_white() => letters.letter(piece.role).to_owned(),
                    Some(piece) => letters.letter(piece.role).to_lowercase(),
                    None => if square.is_dark() { "." } else { " " }.to_owned(),
                };
                let (open, close) = if marked.contains(square) {
                    ('[', ']')
                } else {
                    (' ', ' ')
                };
                write!(row, "{open}{figure:<1}{close}")?;
            }
            self.line(4, row.trim_end())?;
        }
        let files: Vec<String> = File::ALL.iter().map(|file| file.char().to_string()).collect();
        self.line(4, &format!("   {}   {}", files.join("  "), view.to_move(fen)))?;
        self.line(4, &rights(view.words, fen))
    }

    fn claims(&mut self, game: GameRenderer<'_>) -> fmt::Result {
        let words = self.view.words;
        self.heading(words.claims, '-')?;
        if !game.game.claims.sheets.is_empty() {
            self.line(0, words.claims_are)?;
        }
        for sheet in &game.game.claims.sheets {
            self.claim_sheet(game, sheet)?;
        }
        let repeated = &game.game.claims.repeated;
        self.text.push('\n');
        self.line(
            0,
            if repeated.is_empty() {
                words.never_repeated
            } else {
                words.repeated
            },
        )?;
        for repeated in repeated {
            self.line(2, &game.stood_after(repeated))?;
        }
        self.line(0, &game.countdown(game.game.claims.countdown))
    }

    fn claim_sheet(&mut self, game: GameRenderer<'_>, sheet: &ClaimSheet) -> fmt::Result {
        let words = self.view.words;
        self.text.push('\n');
        self.line(0, &game.claim_title(sheet))?;
        self.line(2, &game.verdict(sheet))?;
        for line in game.offers(sheet) {
            self.line(2, &line)?;
        }
        self.diagram(words.position_claimed, &sheet.fen, Bitboard::EMPTY)?;
        self.line(2, &format!("{}: {}", words.key, sheet.key))?;
        for row in game.occurrences(sheet) {
            self.line(4, &row.join("  "))?;
        }
        if !sheet.near.is_empty() {
            self.line(2, &format!("{}:", words.near))?;
        }
        for near in game.near(sheet) {
            self.line(4, &near)?;
        }
        self.line(2, &game.countdown(sheet.countdown))
    }

    fn corrections(&mut self, game: GameRenderer<'_>) -> fmt::Result {
        if game.game.corrections.is_empty() {
            return Ok(());
        }
        self.heading(self.view.words.corrections, '-')?;
        for correction in &game.game.corrections {
            let line = self.correction(game, correction);
            self.line(0, &line)?;
        }
        Ok(())
    }

    fn correction(&self, game: GameRenderer<'_>, correction: &Correction) -> String {
        let words = self.view.words;
        let played = correction
            .played
            .as_ref()
            .map(|played| format!(", {}: {}", words.instead, game.withdrawn(played)));
        format!(
            "{}  {}: {}{}. {}: {}",
            self.view.time(correction.ts),
            words.withdrawn,
            game.all_withdrawn(correction),
            played.unwrap_or_default(),
            words.reason,
            label(words.withdrawals, correction.reason.as_str()),
        )
    }

    fn notes(&mut self, game: GameRenderer<'_>) -> fmt::Result {
        if game.game.notes.is_empty() {
            return Ok(());
        }
        self.heading(self.view.words.notes, '-')?;
        for note in &game.game.notes {
            let [time, after, event] = game.note(note);
            self.line(0, &format!("{time}  {after}  {event}"))?;
        }
        Ok(())
    }

    fn amendments(&mut self, game: GameRenderer<'_>) -> fmt::Result {
        if game.game.amendments.is_empty() {
            return Ok(());
        }
        self.heading(self.view.words.amendments, '-')?;
        for amendment in &game.game.amendments {
            let (Amendment::Command { ts, by, .. } | Amendment::Game { ts, by, .. }) = amendment;
            let changes = self.view.amendment(amendment).join("; ");
            let by = self.view.person(by);
            self.line(0, &format!("{}  {by}: {changes}", self.view.time(*ts)))?;
        }
        Ok(())
    }

    fn adjournment(&mut self, game: GameRenderer<'_>, adjournment: &Adjournment) -> fmt::Result {
        let words = self.view.words;
        self.heading(words.adjournment, '-')?;
        self.line(0, words.adjournment_use)?;
        if adjournment.unsettled {
            self.line(0, words.unsettled)?;
        }
        for (label, value) in game.envelope(adjournment) {
            let value = if value.is_empty() { BLANK } else { &value };
            self.line(0, &format!("{label}: {value}"))?;
        }
        self.diagram(words.adjourned_position, &adjournment.fen, Bitboard::EMPTY)
    }

    fn heading(&mut self, heading: &str, underline: char) -> fmt::Result {
        let gap = if self.text.is_empty() { "" } else { "\n" };
        let underline: String = heading.chars().map(|_| underline).collect();
        self.text.push_str(gap);
        self.line(0, heading)?;
        writeln!(self.text, "{underline}")
    }

    /// Writes a line, wrapped if it is too long. Removes control characters, which names and reasons may contain.
    fn line(&mut self, indent: usize, line: &str) -> fmt::Result {
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        if line.chars().count() + indent <= MAX_WIDTH {
            return writeln!(self.text, "{:indent$}{line}", "");
        }
        for row in wrapped(&line, MAX_WIDTH, indent, indent) {
            writeln!(self.text, "{row}")?;
        }
        Ok(())
    }
}

/// Formats a move with its marks, the mover's clock and the time taken.
fn cell(game: GameRenderer<'_>, entry: &MoveRecord) -> String {
    let mut played = game.played(entry);
    for mark in game.marks(entry) {
        match mark {
            PlyMark::Irregular => {}
            PlyMark::Incident(number) => played.push_str(&format!(" #{number}")),
            mark => played.push_str(mark.sign()),
        }
    }
    let left = own_clock(entry).map(clock).unwrap_or_default();
    let took = entry.elapsed_ms.map(took).unwrap_or_default();
    format!("{played:<14}{left:>9}{took:>8}")
}

/// A blank line to write on.
const BLANK: &str = "______________________________";
/// Maximum line length, in columns.
const MAX_WIDTH: usize = 100;
