//! The task that looks at one port.

use std::sync::Arc;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::port::Candidate;
use tokio::sync::mpsc::{Sender, channel};

use super::look::Look;
use super::report::PortReport;
use super::text;
use super::trouble::Trouble;
use crate::config::Config;
use crate::port::{Port, PortInput, PortOrder};
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

/// What has come of an input.
enum Taken {
    Nothing,
    /// It is now known what is on the port, and reported.
    Settled,
    /// The port is given up, which is to be reported.
    Lost(Box<PortReport>),
}

/// A port that is open, and what is found there.
struct Opened {
    look: Look,
    /// What was found has been printed.
    reported: bool,
}

impl Visit {
    /// Looks once, until it is known what is on the port, and reports it.
    pub(super) async fn once(self) {
        // Whoever does not want the answer has gone.
        let _ = self.attend(false).await;
    }

    /// Reports what is on the port, and then every change.
    pub(super) async fn follow(self) {
        let _ = self.attend(true).await;
    }

    async fn attend(&self, follow: bool) -> Result<(), Unwanted> {
        let (inputs, mut heard) = channel(INPUTS);
        let port = Port::serve((), &self.candidate.device, inputs);
        let mut opened: Option<Opened> = None;
        let mut last = None;
        loop {
            let due = opened.as_ref().and_then(|opened| opened.look.poll_deadline());
            let due = due.unwrap_or(Timestamp::from_micros(i64::MAX));
            let input = tokio::select! {
                Some(((), input)) = heard.recv() => Some(input),
                () = self.time.until(due) => None,
            };
            let trouble = match input {
                Some(PortInput::Refused(error)) => Some(PortReport::of(&self.candidate).refused(&error)),
                Some(PortInput::Closed(reason)) => opened
                    .as_ref()
                    .map(|opened| self.lost(&opened.look, Trouble::gone(&reason))),
                input => match self.take(input, &mut opened, &port).await? {
                    Taken::Nothing => continue,
                    Taken::Settled if follow => continue,
                    Taken::Settled => return Ok(()),
                    Taken::Lost(report) => Some(*report),
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

    /// Takes in what comes from a port that is open, or that time has passed (`None`), and does what follows.
    async fn take(
        &self,
        input: Option<PortInput>,
        opened: &mut Option<Opened>,
        port: &Port,
    ) -> Result<Taken, Unwanted> {
        let now = self.time.now();
        if let Some(PortInput::Opened) = input {
            *opened = Some(Opened {
                look: Look::open(now, self.candidate.kind, self.mode),
                reported: false,
            });
        }
        let Some(Opened { look, reported }) = opened else {
            return Ok(Taken::Nothing);
        };
        look.handle_deadline(now);
        match input {
            Some(PortInput::Received(bytes)) => look.handle_bytes(now, &bytes),
            Some(PortInput::Written(bytes)) => look.handle_sent(now, &bytes),
            _ => {}
        }
        while let Some(bytes) = look.poll_transmit(now) {
            port.order(PortOrder::Write(bytes));
        }
        let settled = look.settled() && !*reported;
        if settled {
            *reported = true;
            self.report(self.found(look)).await?;
        }
        self.report_changes(look).await?;
        if let Some(reason) = look.poll_close() {
            let report = self.lost(look, self.given_up(look, &reason));
            port.order(PortOrder::Close(reason));
            return Ok(Taken::Lost(Box::new(report)));
        }
        Ok(if settled { Taken::Settled } else { Taken::Nothing })
    }

    fn found(&self, look: &Look) -> PortReport {
        PortReport::of(&self.candidate).found(look, &self.config)
    }

    /// What a board said before it was lost is not so any more.
    fn lost(&self, look: &Look, trouble: Trouble) -> PortReport {
        let mut report = self.found(look);
        report.boards.clear();
        report.troubles.push(trouble);
        report
    }

    fn given_up(&self, look: &Look, reason: &str) -> Trouble {
        match look.mode() {
            Some(LineMode::Bus) => Trouble::silent_bus(reason),
            _ if look.heard() => Trouble::garbled(reason),
            _ => Trouble::silent(reason, self.candidate.kind),
        }
    }

    async fn report_changes(&self, look: &mut Look) -> Result<(), Unwanted> {
        while let Some((place, change)) = look.poll_change() {
            let report = self.found(look);
            let at = look.boards().position(|(other, _)| other == place);
            let Some(board) = at.and_then(|at| report.boards.get(at)) else {
                continue;
            };
            let line = text::change(board, &change);
            self.send(News { line, report }).await?;
        }
        Ok(())
    }

    async fn report(&self, report: PortReport) -> Result<(), Unwanted> {
        let line = text::line(&report);
        self.send(News { report, line }).await
    }

    async fn send(&self, news: News) -> Result<(), Unwanted> {
        self.news.send(news).await.map_err(|_| Unwanted)
    }
}

/// Inputs of a port that wait to be looked at.
const INPUTS: usize = 64;
