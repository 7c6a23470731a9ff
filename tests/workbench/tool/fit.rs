//! What each parameter of the tracker's model is worth, and a better model if there is one.

use std::thread;

use clap::Args;
use kiebitz_game::events::{Event, EventKind};
use kiebitz_game::model::Model;
use kiebitz_hardware::emulator::hand::Temperament;

use super::Seeds;
use crate::hands::games::Taste;
use crate::hands::hall::OPENING;
use crate::hands::{Case, irregular, touching, verdict};

/// How the parameters of the tracker's model are fitted to hands.
///
/// Plays games of all hands, legal and irregular, and measures the model with each parameter lower and higher.
#[derive(Debug, Args)]
pub(super) struct Fit {
    /// The games on which models are compared, of each kind: one seed, or a range as in 0..100, its end left out.
    #[arg(long, default_value = "0..100")]
    seeds: Seeds,
    /// The games on which a model that was found is judged.
    #[arg(long, default_value = "5000..5200")]
    judged_on: Seeds,
    /// By how many per cent parameters are lowered and raised.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100))]
    by: u32,
    /// Only these parameters; all without it.
    parameters: Vec<String>,
    /// Take over what is better, until nothing is.
    #[arg(long)]
    search: bool,
}

/// A game that was acted out.
enum Sample {
    Legal(Case),
    Irregular(Vec<u8>, irregular::Case),
    Touching(Vec<u8>, touching::Case),
}

/// How a model does.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    /// Games that come back wrong.
    wrong: usize,
    /// Incidents that were missed or are false.
    misjudged: usize,
    /// Plies that were published and corrected.
    corrected: usize,
    /// How long the plies took from when the hand went out until they were published, in milliseconds.
    waited: u64,
    plies: u64,
}

impl Score {
    /// What is to be small. Ten corrections are as bad as a wrong game or a wrong word about a player, and a second more
    /// until each ply is told is as bad as one in twenty of them wrong.
    fn loss(self) -> f64 {
        let waited = self.waited as f64 / 1000.0;
        (self.wrong + self.misjudged) as f64 + self.corrected as f64 / 10.0 + waited / 200.0
    }

    fn and(self, other: Self) -> Self {
        Self {
            wrong: self.wrong + other.wrong,
            misjudged: self.misjudged + other.misjudged,
            corrected: self.corrected + other.corrected,
            waited: self.waited + other.waited,
            plies: self.plies + other.plies,
        }
    }
}

impl core::fmt::Display for Score {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self {
            wrong,
            misjudged,
            corrected,
            waited,
            plies,
        } = self;
        let mean = waited / (*plies).max(1);
        write!(
            f,
            "{:8.2}  {wrong} wrong, {misjudged} misjudged, {corrected} corrected, {mean} ms",
            self.loss()
        )
    }
}

impl Fit {
    pub(super) fn run(self) -> bool {
        for name in &self.parameters {
            if !Model::NAMES.contains(&name.as_str()) {
                eprintln!(
                    "there is no parameter {name}; there are {}",
                    Model::NAMES.join(", ")
                );
                return false;
            }
        }
        let names = Model::NAMES.iter().filter(|name| {
            let chosen = self.parameters.iter().any(|parameter| parameter == *name);
            chosen || self.parameters.is_empty()
        });
        let names: Vec<&str> = names.copied().collect();
        let samples = samples(&self.seeds);
        let mut best = (Model::FITTED, score(Model::FITTED, &samples));
        println!("{:24}{}", "as it is", best.1);
        loop {
            let mut found = None;
            for name in &names {
                for percent in [100 - self.by, 100 + self.by] {
                    let Some(model) = best.0.scaled(name, percent) else {
                        continue;
                    };
                    let score = score(model, &samples);
                    println!("{name:16} {percent:3} %  {score}");
                    let least = found.map_or(best.1, |(_, found): (Model, Score)| found);
                    if score.loss() < least.loss() {
                        found = Some((model, score));
                    }
                }
            }
            let Some(better) = found.filter(|_| self.search) else {
                break;
            };
            best = better;
            println!("{:24}{}\n{:#?}", "better", best.1, best.0);
        }
        if best.0 != Model::FITTED {
            let judges = self::samples(&self.judged_on);
            println!("{:24}{}", "others, as it is", score(Model::FITTED, &judges));
            println!("{:24}{}", "others, as found", score(best.0, &judges));
        }
        true
    }
}

/// Games of each kind with these seeds.
fn samples(Seeds(seeds): &Seeds) -> Vec<Sample> {
    let mut samples = Vec::new();
    for seed in seeds.clone() {
        for taste in [Taste::Any, Taste::Special] {
            for temperament in Temperament::UNHURRIED {
                samples.push(Sample::Legal(Case::new(seed, temperament, taste)));
            }
            for times in [1, 2] {
                let case = Case::hastened(seed, Temperament::Hurried, taste, times);
                samples.push(Sample::Legal(case));
            }
            let case = Case::deadened(seed, Temperament::Calm, taste);
            samples.push(Sample::Legal(case));
        }
        for temperament in [Temperament::Calm, Temperament::Drawing] {
            let case = irregular::Case::new(seed, temperament);
            samples.push(Sample::Irregular(case.capture(), case));
        }
        for disturbed in [false, true] {
            let case = touching::Case::new(seed, disturbed);
            samples.push(Sample::Touching(case.capture(), case));
        }
    }
    samples
}

fn score(model: Model, samples: &[Sample]) -> Score {
    // It lives as long as the program, which tries some hundreds.
    let model: &'static Model = Box::leak(Box::new(model));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let sum = |samples: &[Sample]| {
        let scores = samples.iter().map(|sample| sample.score(model));
        scores.fold(Score::default(), Score::and)
    };
    thread::scope(|scope| {
        let parts = samples.chunks(samples.len().div_ceil(threads).max(1));
        let running: Vec<_> = parts.map(|part| scope.spawn(|| sum(part))).collect();
        let scores = running.into_iter().map(|part| part.join().expect("it ends"));
        scores.fold(Score::default(), Score::and)
    })
}

impl Sample {
    fn score(&self, model: &'static Model) -> Score {
        match self {
            Self::Legal(case) => {
                let events = verdict::events_by(model, &case.capture);
                let (waited, plies) = waited(case, &events);
                Score {
                    wrong: usize::from(verdict::first_difference(&case.game, &events).is_some()),
                    corrected: verdict::corrections(&events),
                    waited,
                    plies,
                    ..Score::default()
                }
            }
            Self::Irregular(capture, case) => {
                let mut count = irregular::judge::Count::default();
                let events = verdict::events_by(model, capture);
                count.judge(0, &case.truths, &events);
                Score {
                    wrong: usize::from(case.game.uci() != verdict::moves_published(&events)),
                    misjudged: count.missed.len() + count.graver.len(),
                    ..Score::default()
                }
            }
            Self::Touching(capture, case) => {
                let mut count = touching::Count::default();
                count.judge(0, case, &verdict::events_by(model, capture));
                Score {
                    wrong: count.misread.len(),
                    misjudged: count.missed.len() + count.unasked.len(),
                    ..Score::default()
                }
            }
        }
    }
}

/// How long plies took until they were published for the last time, in milliseconds, and how many there are.
fn waited(case: &Case, events: &[Event]) -> (u64, u64) {
    let begun = &case.play.begun;
    let mut told = vec![None; begun.len()];
    for event in events {
        if let EventKind::MoveMade(m) | EventKind::MoveAmended { played: m, .. } = &event.kind
            && let Some(told) = told.get_mut((m.ply as usize).saturating_sub(1))
        {
            *told = Some(event.ts.saturating_duration_since(OPENING));
        }
    }
    let waits = begun.iter().zip(told);
    let waits = waits.filter_map(|(begun, told)| Some(told?.saturating_sub(*begun).as_millis() as u64));
    waits.fold((0, 0), |(waited, plies), wait| (waited + wait, plies + 1))
}
