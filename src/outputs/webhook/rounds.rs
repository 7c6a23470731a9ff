//! Posts the complete PGN of a round whenever it changes.

use core::time::Duration;
use std::collections::BTreeMap;

use axum::body::Bytes;

use super::settings::Webhook;
use super::task::address;
use crate::outputs::broadcast::recipient::{Recipient, follow as follow_rounds, rounds};
use crate::outputs::broadcast::task::Snapshot;
use crate::outputs::broadcast::{Files, PublishedFile};
use crate::outputs::shared::address::{Address, PostFailure};
use crate::outputs::shared::reports::Reports;
use crate::system_time::wall_time;

pub(super) async fn follow(settings: Webhook, files: Snapshot, reports: Reports) {
    let poster = RoundPoster {
        address: address(&settings),
        sent: BTreeMap::new(),
        reports,
    };
    poster.reports.expect(poster.address.output());
    follow_rounds(files, poster).await;
}

struct RoundPoster {
    address: Address,
    /// The content of each round that the address accepted last.
    sent: BTreeMap<u32, Bytes>,
    reports: Reports,
}

impl Recipient<Files> for RoundPoster {
    async fn deliver(&mut self, files: &Files) -> Option<Duration> {
        let refused = self.post_changes(files).await.err()?;
        Some(self.address.wait(&refused))
    }
}

impl RoundPoster {
    async fn post_changes(&mut self, files: &Files) -> Result<(), PostFailure> {
        let output = self.address.output().to_owned();
        for (round, content) in rounds(files) {
            if content.is_empty() || self.sent.get(&round) == Some(&content) {
                continue;
            }
            let posted = self
                .address
                .post(
                    Some(round),
                    PublishedFile::media_type("games.pgn"),
                    content.to_vec(),
                )
                .await;
            if let Err(refused) = posted {
                if self.reports.problems(&output, vec![refused.problem.clone()]) {
                    tracing::warn!("{output}: {}; retrying", refused.problem);
                }
                return Err(refused);
            }
            if self.reports.done(&output, wall_time(), format!("round {round}")) {
                tracing::info!("{output} accepts games again");
            }
            self.sent.insert(round, content);
        }
        Ok(())
    }
}
