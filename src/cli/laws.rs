//! `kiebitz laws`.

use std::io::Write;

use anyhow::Result;
use kiebitz_game::laws::{self, Edition, IncidentKind, Language, Mode, Regulations, Rules};

use super::request::LawsRequest;
use crate::Exit;
use crate::outputs::shared::wrap::wrapped;

/// Width of the output, in columns.
const WIDTH: usize = 100;

pub(super) fn run(request: &LawsRequest, out: &mut impl Write) -> Result<Exit> {
    let LawsRequest {
        kind,
        regulations,
        language,
    } = request;
    match kind {
        Some(kind) => explain(*kind, regulations, *language, out)?,
        None => list(*language, out)?,
    }
    Ok(Exit::Fine)
}

fn list(language: Language, out: &mut impl Write) -> Result<()> {
    writeln!(out, "Editions of the Laws (--laws)")?;
    for edition in Edition::ALL {
        let default = if *edition == Edition::default() {
            ", the default"
        } else {
            ""
        };
        writeln!(out, "  {edition}   in force from {}{default}", edition.in_force())?;
    }
    writeln!(out, "\nModes of play (--mode)")?;
    for (mode, meaning) in [
        (Mode::Standard, "an hour or more for sixty moves"),
        (
            Mode::Rapid,
            "less than an hour; --unsupervised with too few arbiters for the competition rules",
        ),
        (
            Mode::Blitz,
            "ten minutes or less (1997, 2009: less than 15); --unsupervised as for rapid",
        ),
    ] {
        writeln!(out, "  {:<9}   {meaning}", mode)?;
    }
    writeln!(out, "\nKinds of incidents")?;
    for kind in IncidentKind::ALL {
        writeln!(out, "  {kind:<27} {}", laws::title(language, *kind))?;
    }
    Ok(())
}

fn explain(
    kind: IncidentKind,
    regulations: &Regulations,
    language: Language,
    out: &mut impl Write,
) -> Result<()> {
    let rules = &regulations.rules;
    let word = |name| laws::word(language, "explained", name);
    writeln!(out, "{} ({kind})", laws::title(language, kind))?;
    writeln!(out, "{}", heading(rules))?;
    let mut unchecked = false;
    for advice in rules.explain(kind) {
        unchecked |= !advice.checked;
        let dagger = if advice.checked { "" } else { " †" };
        let article = match advice.article.as_str() {
            "" => word("no_article").to_owned(),
            article => format!("Art. {article}{dagger}"),
        };
        let severity = laws::word(language, "severity", advice.severity.as_str());
        writeln!(out, "\n{severity}, {article}")?;
        for line in wrapped(&laws::text(language, advice.case, &advice.values), WIDTH, 2, 2) {
            writeln!(out, "{line}")?;
        }
    }
    writeln!(out, "\n{}", word("examples"))?;
    if unchecked {
        writeln!(out, "{}", word("unchecked"))?;
    }
    Ok(())
}

fn heading(rules: &Rules) -> String {
    let supervision = match (rules.mode, rules.supervised) {
        (Mode::Standard, _) => "",
        (_, true) => ", supervised",
        (_, false) => ", unsupervised",
    };
    format!("{}, {}{supervision}", rules.edition, rules.mode)
}
