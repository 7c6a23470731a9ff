//! `kiebitz event check`.

use std::io::Write;

use anyhow::{Error, Result};

use super::failure;
use super::request::EventCheckRequest;
use crate::Exit;
use crate::config::Config;
use crate::outputs::shared::wrap::wrapped;
use crate::tournament::{self, Check, FideList, Finding, Severity, Totals, lost};

/// Width of the output, in columns.
const WIDTH: usize = 100;

pub(super) fn check(request: &EventCheckRequest, out: &mut impl Write) -> Result<Exit> {
    let (findings, totals) = match found(request) {
        Ok(found) => found,
        Err(error) => {
            failure::report(&error);
            return Ok(Exit::Usage);
        }
    };
    match request.json {
        true => print_json(&findings, totals, out)?,
        false => print_lines(&findings, totals, out)?,
    }
    Ok(match lost(&findings) {
        0 => Exit::Fine,
        _ => Exit::Failed,
    })
}

fn found(request: &EventCheckRequest) -> Result<(Vec<Finding>, Totals), Error> {
    let config = Config::read_or_default(request.config.as_deref())?;
    let boards: Vec<String> = config
        .boards
        .iter()
        .map(|board| board.name.as_str().to_owned())
        .collect();
    let (event, doubts) = tournament::read_round(&request.files, request.round.unwrap_or(1))?;
    let list = request
        .fide_list
        .as_deref()
        .map(|list| FideList::read(list, &event))
        .transpose()?;
    let check = Check {
        boards: &boards,
        fide: list.as_ref(),
        round: request.round,
        ids_optional: false,
    };
    Ok((check.findings(&event, doubts), Totals::of(&event)))
}

fn print_lines(findings: &[Finding], totals: Totals, out: &mut impl Write) -> Result<()> {
    for finding in findings {
        let mark = if finding.severity == Severity::Lost {
            "!"
        } else {
            "-"
        };
        let place = finding
            .place
            .as_ref()
            .map(|place| format!("{place}: "))
            .unwrap_or_default();
        // Text from a file must not break the line.
        let text: String = finding
            .text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        for line in wrapped(&format!("{mark} {place}{text}"), WIDTH, 0, 2) {
            writeln!(out, "{line}")?;
        }
    }
    if !findings.is_empty() {
        writeln!(out)?;
    }
    let Totals {
        rounds,
        pairings,
        players,
    } = totals;
    let verdict = match lost(findings) {
        0 => "nothing is missing".to_owned(),
        lost => counted(lost, "thing to look at", "things to look at"),
    };
    writeln!(
        out,
        "{}, {}, {}; {verdict}",
        counted(rounds, "round", "rounds"),
        counted(pairings, "pairing", "pairings"),
        counted(players, "player", "players"),
    )?;
    Ok(())
}

fn counted(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

fn print_json(findings: &[Finding], totals: Totals, out: &mut impl Write) -> Result<()> {
    writeln!(out, "{}", tournament::report(findings, totals))?;
    Ok(())
}
