//! The task that looks at one port.

use std::io;
use std::sync::Arc;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::port::{Backoff, Candidate};
use tokio::sync::mpsc::Sender;

use super::look::Look;
use super::report::PortReport;
use super::text;
use super::trouble::Trouble;
use super::wire::Wire;
use crate::config::Config;
use crate::system_time::LiveTime;

/// How a port is as of now.
#[derive(Debug)]
pub(super) struct News {
    pub(super) report: PortReport,
    /// What is new of it, for people.
    pub(super) line: String,
}

/// A port to be looked at.
#[derive(Debug)]
pub(super) struct Visit {
    pub(super) candidate: Candidate,
    /// How its boards speak, if that need not be found out.
    pub(super) mode: Option<LineMode>,
    pub(super) config: Arc<Config>,
    pub(super) time: LiveTime,
    pub(super) news: Sender<News>,
}

/// Nobody wants to hear of the port any more.
struct Unwanted;

/// How a look ended.
struct Ended {
    report: PortReport,
    /// When the port was opened; `None`: it was not.
    opened_at: Option<Timestamp>,
    /// What was found was told already.
    told: bool,
}

impl Visit {
    /// Looks once, until it is known what is on the port, and tells it.
    pub(super) async fn once(self) {
        if let Ok(ended) = self.look(false).await {
            // Whoever does not want the answer has gone.
            let _ = self.tell(ended.report).await;
        }
    }

    /// Tells what is on the port, and then every change.
    pub(super) async fn follow(self) {
        let mut backoff = Backoff::new(self.time.now());
        let mut last = None;
        loop {
            if let Some(due) = backoff.poll_deadline() {
                self.time.until(due).await;
            }
            let Ok(ended) = self.look(true).await else { return };
            if let Some(at) = ended.opened_at {
                backoff.handle_opened(at);
            }
            let report = ended.report;
            // A device has its rights a moment after it comes.
            let denied = report.troubles.iter().any(|trouble| trouble.kind == "denied");
            let early = denied && backoff.failures() == 0;
            backoff.handle_failed(self.time.now());
            if !early && (ended.told || last.as_ref() != Some(&report)) {
                last = Some(report.clone());
                if self.tell(report).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Looks until the port is gone or given up or, if nobody follows it, until all is known.
    async fn look(&self, follow: bool) -> Result<Ended, Unwanted> {
        let report = PortReport::of(&self.candidate);
        let mut wire = match Wire::open(&self.candidate.device) {
            Ok(wire) => wire,
            Err(error) => {
                return Ok(Ended {
                    report: report.refused(&error),
                    opened_at: None,
                    told: false,
                });
            }
        };
        let opened_at = Some(self.time.now());
        let mut look = Look::open(self.time.now(), self.candidate.kind, self.mode);
        let mut told = false;
        let trouble = loop {
            if let Err(error) = self.write(&mut wire, &mut look).await {
                break Trouble::gone(&error.to_string());
            }
            if look.settled() && !told {
                let report = report.clone().found(&look, &self.config);
                if !follow {
                    return Ok(Ended {
                        report,
                        opened_at,
                        told,
                    });
                }
                told = true;
                self.tell(report).await?;
            }
            self.tell_changes(&report, &mut look).await?;
            if let Some(reason) = look.poll_close() {
                break self.given_up(&look, &reason);
            }
            if let Err(error) = self.wait(&mut wire, &mut look).await {
                break Trouble::gone(&error.to_string());
            }
        };
        let mut report = report.found(&look, &self.config);
        // What a board said before it was lost is not so any more.
        report.boards.clear();
        report.troubles.push(trouble);
        Ok(Ended {
            report,
            opened_at,
            told,
        })
    }

    async fn write(&self, wire: &mut Wire, look: &mut Look) -> io::Result<()> {
        while let Some(bytes) = look.poll_transmit(self.time.now()) {
            wire.write(&bytes).await?;
            look.handle_sent(self.time.now(), &bytes);
        }
        Ok(())
    }

    async fn wait(&self, wire: &mut Wire, look: &mut Look) -> io::Result<()> {
        let due = look.poll_deadline().unwrap_or(Timestamp::from_micros(i64::MAX));
        tokio::select! {
            read = wire.read() => {
                let bytes = read?;
                let now = self.time.now();
                look.handle_deadline(now);
                look.handle_bytes(now, bytes);
            }
            () = self.time.until(due) => look.handle_deadline(self.time.now()),
        }
        Ok(())
    }

    fn given_up(&self, look: &Look, reason: &str) -> Trouble {
        match look.mode() {
            Some(LineMode::Bus) => Trouble::silent_bus(reason),
            _ if look.heard() => Trouble::garbled(reason),
            _ => Trouble::silent(reason, self.candidate.kind),
        }
    }

    async fn tell_changes(&self, report: &PortReport, look: &mut Look) -> Result<(), Unwanted> {
        while let Some((place, change)) = look.poll_change() {
            let report = report.clone().found(look, &self.config);
            let at = look.boards().position(|(other, _)| other == place);
            let Some(board) = at.and_then(|at| report.boards.get(at)) else {
                continue;
            };
            let line = text::change(board, &change);
            self.send(News { line, report }).await?;
        }
        Ok(())
    }

    async fn tell(&self, report: PortReport) -> Result<(), Unwanted> {
        let line = text::line(&report);
        self.send(News { report, line }).await
    }

    async fn send(&self, news: News) -> Result<(), Unwanted> {
        self.news.send(news).await.map_err(|_| Unwanted)
    }
}
