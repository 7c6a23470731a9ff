//! Players who touch pieces, let them rest, use both hands and exchange promoted pieces: every hint is given, and
//! nothing else.

mod acts;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use kiebitz_game::events::{Event, EventKind};
use kiebitz_hardware::emulator::hand::{Chance, Setting, Step};

use super::games::{Game, Taste};
use super::play::{Play, Players};
use super::{hall, verdict};
use acts::Scene;

pub use acts::Act;

/// The expected report of an act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    ply: u32,
    /// Beginning of the incident's case, without the part that depends on the edition.
    case: &'static str,
    /// The move that must be played, if it is a particular one.
    due: Option<String>,
    /// Whether the board may have missed the act, because it was over between two scans or reported late.
    optional: bool,
}

/// A game in which pieces are touched, from a seed.
pub struct Case {
    pub play: Play,
    pub truths: Vec<Truth>,
    pub acts: Vec<(Duration, Act)>,
    game: Game,
}

impl Case {
    /// Acts out the game of a seed. If `disturbed`, squares occasionally read as empty for up to a second.
    pub fn new(seed: u64, disturbed: bool) -> Self {
        let mut chance = Chance::new(seed);
        let plies = 24 + chance.below(60);
        let game = Game::random(&mut chance, None, Taste::Special, plies);
        let mut setting = Setting::random(&mut chance);
        setting.white_side = setting
            .white_side
            .or(Some(kiebitz_hardware::emulator::ClockSide::Left));
        let mut players = Players::sit_down(&game.start, Chance::new(chance.bits()));
        players.start_clock(&setting);
        let (mut truths, mut acts) = (Vec::new(), Vec::new());
        let mut ghosts: Vec<Step> = Vec::new();
        let mut next = 2 + chance.below(4);
        for at in 0..game.moves.len() {
            let act = if at == next {
                Act::any(&mut chance)
            } else {
                Act::Plain
            };
            if at == next {
                next += 2 + chance.below(4);
                acts.push((players.hand().now(), act));
            }
            let mut scene = Scene {
                players: &mut players,
                game: &game,
                at,
                chance: &mut chance,
                truths: &mut truths,
            };
            if disturbed {
                ghosts.extend(scene.ghosts());
            }
            scene.act(act);
        }
        let mut play = players.leave(&setting);
        play.steps.extend(ghosts);
        play.steps.sort_by_key(|step| step.at);
        Self {
            play,
            truths,
            acts,
            game,
        }
    }

    pub fn events(&self) -> Vec<Event> {
        verdict::events(&self.capture())
    }

    pub fn capture(&self) -> Vec<u8> {
        hall::record(&self.play)
    }
}

/// Results of a set of games.
#[derive(Debug, Default)]
pub struct Count {
    /// For each case: number of acts, of those reported, and of false reports.
    cases: BTreeMap<String, [usize; 3]>,
    /// For each case that the board may have missed: number of acts, and of those reported.
    optional: BTreeMap<&'static str, [usize; 2]>,
    plies: usize,
    pub missed: Vec<String>,
    pub false_reports: Vec<String>,
    pub misread: Vec<u64>,
    wrong: Vec<String>,
}

/// Kinds of incidents that these players cause.
const KINDS: [&str; 6] = [
    "piece_touched_not_moved",
    "castling_rook_first",
    "two_hands_suspected",
    "promotion_exchanged",
    "pressed_before_release",
    "adjusted_off_turn",
];

impl Count {
    pub fn of(seeds: core::ops::Range<u64>, disturbed: bool) -> Self {
        let mut count = Self::default();
        for seed in seeds {
            let case = Case::new(seed, disturbed);
            let events = case.events();
            count.judge(seed, &case, &events);
        }
        count
    }

    pub fn judge(&mut self, seed: u64, case: &Case, events: &[Event]) {
        self.plies += case.game.moves.len();
        if case.game.uci() != verdict::moves_published(events) {
            self.misread.push(seed);
            let (played, published) = (case.game.uci(), verdict::moves_published(events));
            let wrong = played.iter().zip(&published).take_while(|(a, b)| a == b).count();
            let begun = case.play.begun.get(wrong).copied().unwrap_or_default();
            let acts = case.acts.iter().filter(|(at, _)| *at <= begun).rev().take(2);
            let acts: Vec<_> = acts.map(|(_, act)| *act).collect();
            self.wrong.push(format!(
                "{seed}: ply {} {:?} after {acts:?}",
                wrong + 1,
                published.get(wrong)
            ));
        }
        let mut announced: Vec<(u32, String, String)> = events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::IncidentOpened(incident) => Some((
                    incident.ply.unwrap_or_default(),
                    incident.case.clone(),
                    incident.advice.clone(),
                )),
                _ => None,
            })
            .filter(|(_, case, _)| case != "castling_rook_first.together" && case != "board_rotated.half")
            .collect();
        for truth in &case.truths {
            let found = announced
                .iter()
                .position(|(ply, case, _)| *ply == truth.ply && case.starts_with(truth.case));
            let due = |advice: &str| truth.due.as_ref().is_none_or(|due| advice.contains(due));
            let counts = self.cases.entry(truth.case.to_owned()).or_default();
            let found = found.map(|at| announced.swap_remove(at));
            counts[0] += usize::from(!truth.optional);
            if truth.optional {
                let counts = self.optional.entry(truth.case).or_default();
                counts[0] += 1;
                counts[1] += usize::from(found.is_some());
            }
            match found {
                Some((.., advice)) if due(&advice) => counts[1] += usize::from(!truth.optional),
                Some((.., advice)) => self.missed.push(format!("{seed}: {truth:?}: {advice}")),
                None if truth.optional => {}
                None => self.missed.push(format!("{seed}: {truth:?}")),
            }
        }
        for (ply, case, advice) in announced {
            let kind = case.split('.').next().unwrap_or_default();
            let name = if KINDS.contains(&kind) {
                case.as_str()
            } else {
                kind
            };
            self.cases.entry(name.to_owned()).or_default()[2] += 1;
            self.false_reports
                .push(format!("{seed}: ply {ply} {case}: {advice}"));
        }
    }

    /// Returns whether 98 % of the acts are reported, and 98 % of the reports are true.
    pub fn is_good(&self) -> bool {
        self.misread.is_empty()
            && self
                .cases
                .values()
                .all(|[truths, found, wrong]| found * 100 >= truths * 98 && wrong * 98 <= found * 2)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (case, [truths, found, wrong]) in &self.cases {
            writeln!(f, "{case:36} true {truths:4} found {found:4} false {wrong:4}")?;
        }
        for (case, [truths, found]) in &self.optional {
            writeln!(f, "{case:36} perhaps {truths:4} found {found:4}")?;
        }
        writeln!(f, "{} plies; misread {:?}", self.plies, self.misread)?;
        for line in self.wrong.iter().take(20) {
            writeln!(f, "wrong  {line}")?;
        }
        for line in self.missed.iter().take(20) {
            writeln!(f, "missed {line}")?;
        }
        for line in self.false_reports.iter().take(20) {
            writeln!(f, "false  {line}")?;
        }
        Ok(())
    }
}

/// Art. 4.3, 4.4.2, 4.4.4, 4.7, 7.5.4 and 6.2.4 of 2018 and 2023.
#[test]
fn every_act_of_hands_gives_its_hint_and_nothing_else() {
    let count = Count::of(0..40, false);
    assert!(count.is_good(), "{count}");
}

/// Squares that read as empty for up to a second are not reported as touched pieces.
#[test]
fn squares_that_read_empty_give_no_hint_of_a_touch() {
    let count = Count::of(500..520, true);
    let of = |case: &str| count.cases.get(case).map_or(0, |[.., wrong]| *wrong);
    let touched =
        ["own", "other", "released", "taken_back"].map(|how| of(&format!("piece_touched_not_moved.{how}")));
    assert_eq!(touched, [0; 4], "{count}");
    assert_eq!(of("adjusted_off_turn.lifted"), 0, "{count}");
    assert!(count.misread.is_empty(), "{count}");
}
