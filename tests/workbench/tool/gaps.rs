//! Gaps in blitz games, in virtual time.

use clap::Args;
use kiebitz_hardware::emulator::hand::Temperament;

use super::{Hands, Seeds};
use crate::gaps::{self, Gap};
use crate::hands::hall::OPENING;

/// Count the gaps that are filled, and the errors over gaps.
#[derive(Debug, Args)]
pub(super) struct Gaps {
    /// Temperament of the players
    #[arg(long, value_enum, default_value = "blitz")]
    hands: Hands,
    /// One seed, or a range such as 0..20 without its end
    #[arg(long, default_value = "0..20")]
    seeds: Seeds,
    /// Print events and presses in these seconds of a seed, such as 120..150
    #[arg(long)]
    show: Option<Seeds>,
    /// Print every gap, not only those with errors
    #[arg(long)]
    all: bool,
}

impl Gaps {
    pub(super) fn run(self) -> bool {
        let temperament = Temperament::from(self.hands);
        let (mut all, mut unique, mut filled) = (0, 0, 0);
        let mut late = Vec::new();
        let (mut clocks, mut right, mut invented, mut accused) = (0, 0, 0, 0);
        for seed in self.seeds.0 {
            let (gaps, events, presses) = gaps::play(seed, temperament);
            let second =
                |at: kiebitz_hardware::Timestamp| at.saturating_duration_since(OPENING).as_secs_f64();
            if let Some(Seeds(shown)) = &self.show {
                let shown = shown.start as f64..shown.end as f64;
                let events = events
                    .iter()
                    .map(|event| (event.ts, serde_json::to_string(event).unwrap()));
                let mut lines: Vec<(f64, String)> = events
                    .chain(presses)
                    .map(|(at, words)| (second(at), words))
                    .collect();
                lines.retain(|(at, _)| shown.contains(at));
                lines.sort_by(|(a, _), (b, _)| a.total_cmp(b));
                for (at, words) in lines {
                    println!("{at:.3} {words}");
                }
            }
            for gap in &gaps {
                all += 1;
                late.extend(gap.late);
                unique += usize::from(gap.unique);
                filled += usize::from(gap.unique && gap.filled);
                clocks += gap.clocks.0;
                right += gap.clocks.1;
                invented += usize::from(!gap.invented.is_empty());
                accused += usize::from(!gap.accusations.is_empty());
                if self.all || is_wrong(gap) {
                    println!(
                        "seed {seed} at {:.1} to {:.1}: {gap:?}",
                        second(gap.from),
                        second(gap.to)
                    );
                }
            }
        }
        println!("{all} gaps of a ply or more");
        println!("of one or two plies with one legal explanation: {filled} of {unique} filled");
        println!("clock times at plies over a gap: {right} of {clocks} right");
        late.sort_by(f64::total_cmp);
        let share = |percent: usize| late.get(late.len() * percent / 100).copied().unwrap_or_default();
        println!(
            "longest delay of a ply in the 20 s after a gap: median {:.1} s, 90 %: {:.1} s, 99 %: {:.1} s",
            share(50),
            share(90),
            share(99)
        );
        let soon = late.iter().take_while(|delay| **delay <= 5.0).count();
        println!(
            "gaps followed by a ply that came more than 5 s late: {}",
            late.len() - soon
        );
        println!("gaps with plies that nobody played: {invented}; with accusations: {accused}");
        true
    }
}

fn is_wrong(gap: &Gap) -> bool {
    let open = gap.unique && !gap.filled;
    open || !gap.off.is_empty() || !gap.invented.is_empty() || !gap.accusations.is_empty()
}
