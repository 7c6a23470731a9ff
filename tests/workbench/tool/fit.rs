//! Measures the effect of each parameter of the tracker's model, and searches for a better model.

use std::thread;

use clap::Args;
use kiebitz_game::events::{Event, EventKind};
use kiebitz_game::model::Model;
use kiebitz_hardware::emulator::hand::Temperament;

use super::Seeds;
use crate::hands::games::Taste;
use crate::hands::hall::OPENING;
use crate::hands::{Case, irregular, touching, verdict};

/// Fit the parameters of the tracker's model to hands.
///
/// Plays games of all temperaments, legal and irregular, and measures the model with each parameter lower and higher.
#[derive(Debug, Args)]
pub(super) struct Fit {
    /// Seeds of the games on which models are compared, for each kind of game: one, or a range such as 0..100 without
    /// its end
    #[arg(long, default_value = "0..100")]
    seeds: Seeds,
    /// Seeds of the games on which a found model is judged
    #[arg(long, default_value = "5000..5200")]
    judged_on: Seeds,
    /// Percentage by which parameters are lowered and raised
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100))]
    by: u32,
    /// Only these parameters (default: all)
    parameters: Vec<String>,
    /// Adopt the best change, and repeat until there is no better one
    #[arg(long)]
    search: bool,
}

enum Sample {
    Legal(Case),
    Irregular(Vec<u8>, irregular::Case),
    Touching(Vec<u8>, touching::Case),
}

#[derive(Debug, Clone, Copy, Default)]
struct Score {
    /// Games published wrongly.
    wrong: usize,
    /// Incidents that were missed or are false.
    misjudged: usize,
    /// Published plies that were amended or retracted.
    corrected: usize,
    /// Sum of the delays from the start of each ply to its last publication, in milliseconds.
    waited: u64,
    plies: u64,
}

impl Score {
    /// Returns the value to minimize. Ten corrections weigh as much as one wrong game or one misjudged incident, and so
    /// do 200 s of delay.
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
    // A replay needs a `'static` model. The program tries only some hundreds of models, so leaking them is fine.
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
                    misjudged: count.missed.len() + count.false_reports.len(),
                    ..Score::default()
                }
            }
            Self::Touching(capture, case) => {
                let mut count = touching::Count::default();
                count.judge(0, case, &verdict::events_by(model, capture));
                Score {
                    wrong: count.misread.len(),
                    misjudged: count.missed.len() + count.false_reports.len(),
                    ..Score::default()
                }
            }
        }
    }
}

/// Returns the sum of the delays from the start of each ply to its last publication, in milliseconds, and the number of
/// plies.
fn waited(case: &Case, events: &[Event]) -> (u64, u64) {
    let begun = &case.play.begun;
    let mut published_at = vec![None; begun.len()];
    for event in events {
        if let EventKind::MoveMade(m) | EventKind::MoveAmended { played: m, .. } = &event.kind
            && let Some(published_at) = published_at.get_mut((m.ply as usize).saturating_sub(1))
        {
            *published_at = Some(event.ts.saturating_duration_since(OPENING));
        }
    }
    let waits = begun.iter().zip(published_at);
    let waits = waits
        .filter_map(|(begun, published_at)| Some(published_at?.saturating_sub(*begun).as_millis() as u64));
    waits.fold((0, 0), |(waited, plies), wait| (waited + wait, plies + 1))
}
