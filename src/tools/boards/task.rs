//! Task that inspects one port.

use std::sync::Arc;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{Content, Direction, LineMode};
use kiebitz_hardware::port::Candidate;
use tokio::sync::mpsc::{Sender, channel};

use super::inspection::Inspection;
use super::report::PortReport;
use super::text;
use super::trouble::TroubleReport;
use crate::config::Config;
use crate::port::{Port, PortOrder};
use crate::system_time::LiveTime;

#[derive(Debug)]
pub(super) struct PortUpdate {
    pub(super) report: PortReport,
    /// Description of the change, for users.
    pub(super) line: String,
}

#[derive(Debug)]
pub(super) struct PortTask {
    pub(super) candidate: Candidate,
    /// Configured mode; `None` if the line has to detect it.
    pub(super) mode: Option<LineMode>,
    pub(super) config: Arc<Config>,
    /// Problems with the settings of the computer for this port.
    pub(super) settings: Vec<TroubleReport>,
    pub(super) time: LiveTime,
    pub(super) updates: Sender<PortUpdate>,
}

/// The receiver of updates has been dropped.
struct UpdatesClosed;

enum StepOutcome {
    Nothing,
    /// The inspection has settled and its report is sent.
    Settled,
    /// The port is given up; the caller must send this report.
    Lost(Box<PortReport>),
}

struct OpenPort {
    inspection: Inspection,
    reported: bool,
}

impl PortTask {
    /// Inspects the port, sends one report and ends.
    pub(super) async fn once(self) {
        // Fails only if nobody receives the report.
        let _ = self.run(false).await;
    }

    /// Inspects the port, and sends a report and every later change.
    pub(super) async fn follow(self) {
        let _ = self.run(true).await;
    }

    async fn run(&self, follow: bool) -> Result<(), UpdatesClosed> {
        let (inputs, mut received) = channel(MAX_INPUTS);
        let port = Port::serve((), &self.candidate.device, inputs);
        let mut opened: Option<OpenPort> = None;
        let mut last = None;
        loop {
            let due = opened
                .as_ref()
                .and_then(|opened| opened.inspection.poll_deadline());
            let due = due.unwrap_or(Timestamp::from_micros(i64::MAX));
            let input = tokio::select! {
                Some(((), input)) = received.recv() => Some(input),
                () = self.time.until(due) => None,
            };
            let trouble = match input.transpose() {
                Err(error) => Some(PortReport::of(&self.candidate).refused(&error)),
                Ok(Some(Content::Closed { reason })) => opened
                    .as_ref()
                    .map(|opened| self.lost(&opened.inspection, TroubleReport::gone(&reason))),
                Ok(input) => match self.handle(input, &mut opened, &port).await? {
                    StepOutcome::Nothing => continue,
                    StepOutcome::Settled if follow => continue,
                    StepOutcome::Settled => return Ok(()),
                    StepOutcome::Lost(report) => Some(*report),
                },
            };
            let reported = opened.take().is_some_and(|opened| opened.reported);
            if let Some(report) = trouble
                && (reported || last.as_ref() != Some(&report))
            {
                last = Some(report.clone());
                self.report(report).await?;
            }
            if !follow && last.is_some() {
                return Ok(());
            }
        }
    }

    /// Handles an input of an open port; `None` if a deadline has passed.
    async fn handle(
        &self,
        input: Option<Content>,
        opened: &mut Option<OpenPort>,
        port: &Port,
    ) -> Result<StepOutcome, UpdatesClosed> {
        let now = self.time.now();
        if let Some(Content::Opened) = input {
            *opened = Some(OpenPort {
                inspection: Inspection::open(now, self.candidate.kind, self.mode),
                reported: false,
            });
        }
        let Some(OpenPort { inspection, reported }) = opened else {
            return Ok(StepOutcome::Nothing);
        };
        inspection.handle_deadline(now);
        if let Some(Content::Bytes { direction, bytes }) = input {
            match direction {
                Direction::Inbound => inspection.handle_bytes(now, &bytes),
                Direction::Outbound => inspection.handle_sent(now, &bytes),
            }
        }
        while let Some(bytes) = inspection.poll_transmit(now) {
            port.order(PortOrder::Write(bytes));
        }
        let settled = inspection.settled() && !*reported;
        if settled {
            *reported = true;
            self.report(self.found(inspection)).await?;
        }
        self.report_changes(inspection).await?;
        if let Some(reason) = inspection.poll_close() {
            let report = self.lost(inspection, self.silence_report(inspection, &reason));
            port.order(PortOrder::Close(reason));
            return Ok(StepOutcome::Lost(Box::new(report)));
        }
        Ok(if settled {
            StepOutcome::Settled
        } else {
            StepOutcome::Nothing
        })
    }

    fn found(&self, inspection: &Inspection) -> PortReport {
        let mut report = PortReport::of(&self.candidate).found(inspection, &self.config);
        report.troubles.extend(self.settings.iter().cloned());
        report
    }

    /// Creates a report without boards, because their earlier state is no longer valid.
    fn lost(&self, inspection: &Inspection, trouble: TroubleReport) -> PortReport {
        let mut report = self.found(inspection);
        report.boards.clear();
        report.troubles.insert(0, trouble);
        report
    }

    fn silence_report(&self, inspection: &Inspection, reason: &str) -> TroubleReport {
        match inspection.mode() {
            Some(LineMode::Bus) => TroubleReport::silent_bus(reason),
            _ if inspection.heard() => TroubleReport::garbled(reason),
            _ => TroubleReport::silent(reason, self.candidate.kind),
        }
    }

    async fn report_changes(&self, inspection: &mut Inspection) -> Result<(), UpdatesClosed> {
        while let Some((place, change)) = inspection.poll_change() {
            let report = self.found(inspection);
            let at = inspection.boards().position(|(other, _)| other == place);
            let Some(board) = at.and_then(|at| report.boards.get(at)) else {
                continue;
            };
            let line = text::change(board, &change);
            self.send(PortUpdate { line, report }).await?;
        }
        Ok(())
    }

    async fn report(&self, report: PortReport) -> Result<(), UpdatesClosed> {
        let line = text::line(&report);
        self.send(PortUpdate { report, line }).await
    }

    async fn send(&self, update: PortUpdate) -> Result<(), UpdatesClosed> {
        self.updates.send(update).await.map_err(|_| UpdatesClosed)
    }
}

/// Length of the queue of inputs. If it is full, the port is not read.
const MAX_INPUTS: usize = 64;
