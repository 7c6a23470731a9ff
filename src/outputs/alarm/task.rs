//! Sends alarms: to a phone by ntfy, to an address by POST, or to a lamp.
//!
//! A file stores the alarms that were sent, so that after a restart none is raised twice and alarms that are over are
//! cleared. Alarms that were raised and cleared while the recipient could not be reached are not sent.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kiebitz_game::events::time_text;
use kiebitz_game::laws::{Language, Severity, word};
use kiebitz_hardware::Timestamp;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::lamp::Lamp;
use super::projection::{AlarmChange, Alarms};
use super::settings::{AlarmSettings, AlarmTo};
use crate::outputs::feeds::{FeedInput, Output, Starting};
use crate::outputs::mqtt::MqttConfig;
use crate::outputs::shared::address::{Address, PostFailure, token_problem};
use crate::outputs::shared::notes;
use crate::outputs::shared::reports::Reports;
use crate::outputs::shared::retry::sleep_until;
use crate::outputs::shared::trial::{Trial, TrialResult};
use crate::settings::Name;
use crate::system_time::wall_time;

impl Output for AlarmSettings {
    fn start(&self, starting: &mut Starting) {
        let inputs = starting.follow();
        let context = AlarmContext {
            language: starting.language,
            notes: starting.notes.clone(),
            broker: starting.broker.clone(),
            reports: starting.reports.clone(),
        };
        let (tests, tested) = mpsc::channel(TESTS);
        starting.trials.add([trial(&self.name, tests)]);
        starting.spawn(follow(self.clone(), context, inputs, tested));
    }

    fn secrets(&self) -> Vec<&Path> {
        self.to.token_file().into_iter().collect()
    }

    fn file_problems(&self) -> Vec<String> {
        self.to.token_file().and_then(token_problem).into_iter().collect()
    }
}

/// A request to test an alarm.
type Test = oneshot::Sender<TrialResult>;

/// Capacity of the queue of tests.
const TESTS: usize = 4;
/// Time for which lamps are on in a test.
const LAMP_TEST: Duration = Duration::from_secs(5);

/// Returns the test of an alarm, which its task carries out.
fn trial(name: &Name, tests: mpsc::Sender<Test>) -> Trial {
    let trial = Trial::new(output(name), move || {
        let tests = tests.clone();
        async move {
            let (answer, answered) = oneshot::channel();
            let stopped = || "kiebitz is stopping".to_owned();
            tests.send(answer).await.map_err(|_| stopped())?;
            answered.await.map_err(|_| stopped())?
        }
    });
    trial.of_alarm()
}

/// Returns the name of an alarm among the outputs.
fn output(name: &Name) -> String {
    format!("alarm {name}")
}

/// Settings that the tasks of all alarms share.
#[derive(Debug, Clone)]
struct AlarmContext {
    language: Language,
    /// Folder of the notes.
    notes: PathBuf,
    broker: Option<MqttConfig>,
    reports: Reports,
}

/// Follows the event feed until it ends.
async fn follow(
    settings: AlarmSettings,
    context: AlarmContext,
    mut inputs: mpsc::UnboundedReceiver<(Timestamp, Arc<FeedInput>)>,
    mut tests: mpsc::Receiver<Test>,
) {
    let Some(mut sender) = AlarmSender::new(settings, context) else {
        return;
    };
    let mut retry_at: Option<Instant> = None;
    let mut lamp_test_ends: Option<Instant> = None;
    loop {
        tokio::select! {
            biased;
            input = inputs.recv() => {
                let Some((now, input)) = input else { break };
                sender.apply(now, &input);
            }
            () = sender.channel.handle_connection() => {}
            Some(test) = tests.recv() => {
                // Nobody waits for the answer any more if the desk's request has ended.
                let _ = test.send(sender.test().await);
                lamp_test_ends = Some(Instant::now() + LAMP_TEST);
            }
            () = sleep_until(lamp_test_ends) => {
                lamp_test_ends = None;
                sender.channel.end_test();
            }
            () = sleep_until(retry_at) => retry_at = None,
        }
        loop {
            while let Ok((now, input)) = inputs.try_recv() {
                sender.apply(now, &input);
            }
            if retry_at.is_some() {
                break;
            }
            match sender.send_next().await {
                Ok(true) => {}
                Ok(false) => break,
                Err(pause) => retry_at = Some(Instant::now() + pause),
            }
        }
    }
    while let Ok(true) = sender.send_next().await {}
}

/// Connection to the recipient.
enum AlarmChannel {
    /// Topic and server.
    Ntfy(String, Address),
    Webhook(Address),
    Lamp(Box<Lamp>),
}

struct AlarmSender {
    output: String,
    channel: AlarmChannel,
    alarms: Alarms,
    /// Latest time of an input; `None` before the first.
    now: Option<Timestamp>,
    language: Language,
    notes: PathBuf,
    reports: Reports,
}

impl AlarmSender {
    fn new(settings: AlarmSettings, context: AlarmContext) -> Option<Self> {
        let output = output(&settings.name);
        let address = |url, token_file| Address::new(output.clone(), url, token_file);
        let channel = match settings.to {
            AlarmTo::Ntfy {
                server,
                topic,
                token_file,
            } => AlarmChannel::Ntfy(topic, address(server, token_file)),
            AlarmTo::Webhook { url, token_file } => AlarmChannel::Webhook(address(url, token_file)),
            // The configuration check rejects lamps without a broker.
            AlarmTo::Lamp { topic, on, off } => AlarmChannel::Lamp(Box::new(Lamp::new(
                context.broker?,
                &output,
                (topic, on, off),
                context.reports.clone(),
            ))),
        };
        let notes = context.notes.join(format!("alarm-{}.json", settings.name));
        context.reports.expect(&output);
        Some(Self {
            alarms: Alarms::new(context.language, &settings.kinds, notes::read(&notes)),
            output,
            channel,
            now: None,
            language: context.language,
            notes,
            reports: context.reports,
        })
    }

    fn apply(&mut self, now: Timestamp, input: &FeedInput) {
        self.now = self.now.max(Some(now));
        match input {
            FeedInput::SetForward(by) => self.alarms.set_forward(now, *by),
            FeedInput::Events(events) => events.iter().for_each(|event| self.alarms.apply(event)),
            FeedInput::Past(board, events) => self.alarms.resume(board, events),
            FeedInput::Pairings(Some(tournament)) => self.alarms.pair(Arc::clone(tournament)),
            FeedInput::Tick => {
                let mut outputs = self.reports.all();
                // This output cannot report its own failure.
                outputs.remove(&self.output);
                self.alarms.update_outputs(now, &outputs);
            }
            _ => {}
        }
    }

    /// Sends the next message and returns whether there was one. Fails with the pause before the next attempt.
    async fn send_next(&mut self) -> Result<bool, Duration> {
        let Some(now) = self.now else { return Ok(false) };
        let change = self.alarms.changes(now).into_iter().next();
        let has_change = change.is_some();
        if let Some(change) = change {
            self.post(now, &change).await?;
            self.alarms.note(change);
            if let Err(error) = notes::write(&self.notes, self.alarms.raised()) {
                let notes = self.notes.display();
                tracing::warn!("cannot write {notes}: {error}; after the next start, alarms are sent again");
            }
        }
        if let AlarmChannel::Lamp(lamp) = &mut self.channel {
            lamp.show(&self.alarms);
        }
        Ok(has_change)
    }

    /// Sends a test message and returns the recipient's answer.
    async fn test(&mut self) -> TrialResult {
        let [title, text] = ["test", "test_text"].map(|name| word(self.language, "alarm", name));
        let (address, body) = match &mut self.channel {
            AlarmChannel::Ntfy(topic, address) => {
                let body =
                    json!({"topic": topic, "title": title, "message": text, "priority": 4, "tags": ["bell"]});
                (address, body)
            }
            AlarmChannel::Webhook(address) => {
                let at = time_text(wall_time());
                (
                    address,
                    json!({"alarm": "test", "state": "test", "at": at, "title": title, "text": text}),
                )
            }
            AlarmChannel::Lamp(lamp) => return lamp.test(&self.alarms).await,
        };
        let body = body.to_string().into_bytes();
        match address.post(None, "application/json", body).await {
            Ok(status) => {
                self.reports.done(&self.output, wall_time(), title.to_owned());
                Ok(status.to_string())
            }
            Err(PostFailure { problem, .. }) => Err(problem),
        }
    }

    async fn post(&mut self, now: Timestamp, change: &AlarmChange) -> Result<(), Duration> {
        let (address, body) = match &mut self.channel {
            AlarmChannel::Ntfy(topic, address) => (address, ntfy_message(topic, change, self.language)),
            AlarmChannel::Webhook(address) => (address, webhook_body(change, now)),
            // A lamp shows the state of all alarms, see `Lamp::show`.
            AlarmChannel::Lamp(_) => return Ok(()),
        };
        let body = body.to_string().into_bytes();
        match address.post(None, "application/json", body).await {
            Ok(_) => {
                let title = &change.alarm().1.title;
                if self.reports.done(&self.output, wall_time(), title.clone()) {
                    tracing::info!("{} accepts alarms again", self.output);
                }
                Ok(())
            }
            Err(failure) => {
                let PostFailure { problem, .. } = &failure;
                if self.reports.problems(&self.output, vec![problem.clone()]) {
                    tracing::warn!("{}: {problem}; retrying", self.output);
                }
                Err(address.wait(&failure))
            }
        }
    }
}

impl AlarmChannel {
    /// Handles the next change of the channel's own connection.
    async fn handle_connection(&mut self) {
        match self {
            Self::Lamp(lamp) => lamp.handle_connection().await,
            Self::Ntfy(..) | Self::Webhook(_) => core::future::pending().await,
        }
    }

    /// Ends a lamp test, so that the lamps show the state of all alarms again.
    fn end_test(&mut self) {
        if let Self::Lamp(lamp) = self {
            lamp.end_test();
        }
    }
}

/// Builds a message for an ntfy server (<https://docs.ntfy.sh/publish/#publish-as-json>).
fn ntfy_message(topic: &str, change: &AlarmChange, language: Language) -> Value {
    let (_, alarm) = change.alarm();
    // Priorities range from 1 to 5; 3 is the default.
    let (message, priority, tag) = match change {
        AlarmChange::Raised(..) if alarm.severity >= Severity::Violation => {
            (&*alarm.text, 5, "rotating_light")
        }
        AlarmChange::Raised(..) => (&*alarm.text, 4, "warning"),
        AlarmChange::Cleared(..) => (word(language, "alarm", "over"), 2, "white_check_mark"),
    };
    json!({"topic": topic, "title": alarm.title, "message": message, "priority": priority, "tags": [tag]})
}

fn webhook_body(change: &AlarmChange, now: Timestamp) -> Value {
    let (key, alarm) = change.alarm();
    let state = match change {
        AlarmChange::Raised(..) => "raised",
        AlarmChange::Cleared(..) => "cleared",
    };
    let mut body = json!({"alarm": key, "state": state, "at": time_text(now)});
    if let (Some(body), Ok(Value::Object(alarm))) = (body.as_object_mut(), serde_json::to_value(alarm)) {
        body.extend(alarm);
    }
    body
}
