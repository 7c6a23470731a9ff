//! Serves LiveChess's local interface over HTTP and WebSockets.
//!
//! One task owns the [state](super::projection), applies events and answers requests. Each connection has its own task.
//! A client that reads too slowly is disconnected, so it does not delay others.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use kiebitz_hardware::Timestamp;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::door;
use super::projection::{CallCommand, LiveChess, Session};
use super::settings::LiveChessSettings as Settings;
use crate::outputs::broadcast::EventFacts;
use crate::outputs::feeds::{FeedInput, Output, Starting};
use crate::outputs::shared::http;
use crate::outputs::shared::to_hall::Request;
use crate::system_time::wall_time;

#[derive(Debug)]
pub(super) enum ClientRequest {
    /// A lookup, with the channel for its answer.
    Look(Lookup, oneshot::Sender<Option<Value>>),
    /// A client has connected. Its frames go to the channel.
    Open(Session, mpsc::Sender<String>),
    Call(Session, String),
    Close(Session),
}

/// An object that can be looked up without a WebSocket.
#[derive(Debug)]
pub(super) enum Lookup {
    Boards,
    Tournaments,
    Tournament(String),
    Round(String, u32),
    Game(String),
}

/// Capacity of the queue of requests. Connections wait while it is full.
const MAX_REQUESTS: usize = 64;
/// Capacity of a client's queue of frames: more than all boards send at once.
pub(super) const WAITING: usize = 1024;
/// Maximum time to wait for the answer to a command. The answer itself waits up to 3 s for the disk.
const PATIENCE: Duration = Duration::from_secs(5);

impl Output for Settings {
    fn start(&self, starting: &mut Starting) {
        starting.want_statuses();
        let inputs = starting.follow();
        let requests = starting.hall.requests.clone();
        start(self.clone(), starting.facts.clone(), inputs, requests);
    }
}

/// Starts the tasks. Must be called within a runtime.
fn start(
    settings: Settings,
    facts: EventFacts,
    inputs: mpsc::UnboundedReceiver<(Timestamp, Arc<FeedInput>)>,
    requests: mpsc::Sender<Request>,
) {
    if settings.is_open() {
        tracing::warn!(
            "[livechess]: everybody who can reach {} sees every move at once, despite the delay for spectators",
            settings.listen
        );
    }
    let (request_sender, client_requests) = mpsc::channel(MAX_REQUESTS);
    let host = LiveChessTask {
        livechess: LiveChess::new(facts, settings.setup),
        clients: BTreeMap::new(),
        requests,
    };
    // Shutdown does not wait for these tasks, as they have nothing to finish.
    http::spawn(host.work(inputs, client_requests));
    http::spawn(door::serve(settings, request_sender));
}

struct LiveChessTask {
    livechess: LiveChess,
    clients: BTreeMap<Session, mpsc::Sender<String>>,
    requests: mpsc::Sender<Request>,
}

impl LiveChessTask {
    async fn work(
        mut self,
        mut inputs: mpsc::UnboundedReceiver<(Timestamp, Arc<FeedInput>)>,
        mut client_requests: mpsc::Receiver<ClientRequest>,
    ) {
        loop {
            tokio::select! {
                biased;
                input = inputs.recv() => {
                    let Some((now, input)) = input else { return };
                    self.apply_input(now, &input);
                    // Further waiting input is often about the same move, and one frame can show all of it.
                    while let Ok((now, input)) = inputs.try_recv() {
                        self.apply_input(now, &input);
                    }
                }
                Some(request) = client_requests.recv() => self.answer(request).await,
            }
            self.send();
        }
    }

    fn apply_input(&mut self, now: Timestamp, input: &FeedInput) {
        let livechess = &mut self.livechess;
        match input {
            FeedInput::Events(events) => events.iter().for_each(|event| livechess.apply(now, event)),
            FeedInput::Clock(board, clock) => livechess.apply_clock(now, board, clock),
            FeedInput::Status(status) => livechess.see((**status).clone()),
            FeedInput::Past(board, events) => livechess.resume(now, board, events),
            FeedInput::Pairings(Some(tournament)) => livechess.pair(Arc::clone(tournament)),
            FeedInput::Facts(facts) => livechess.set_facts(facts.clone()),
            // This interface has no delay and does not show the round, so it ignores all other input.
            FeedInput::Serial(..)
            | FeedInput::Pairings(None)
            | FeedInput::Round(_)
            | FeedInput::SetForward(_)
            | FeedInput::Restart(_)
            | FeedInput::Kept(_)
            | FeedInput::Journals(_)
            | FeedInput::Tick => {}
        }
    }

    async fn answer(&mut self, request: ClientRequest) {
        match request {
            ClientRequest::Look(lookup, answer) => {
                // The connection may be gone.
                let _ = answer.send(self.look_up(&lookup));
            }
            ClientRequest::Open(session, frames) => {
                self.livechess.open(session);
                self.clients.insert(session, frames);
            }
            ClientRequest::Call(session, text) if self.clients.contains_key(&session) => {
                if let Some(call) = self.livechess.handle_message(wall_time(), session, &text) {
                    self.set_up(*call).await;
                }
            }
            // The client has been disconnected.
            ClientRequest::Call(..) => {}
            ClientRequest::Close(session) => self.disconnect(session),
        }
    }

    fn look_up(&self, lookup: &Lookup) -> Option<Value> {
        match lookup {
            Lookup::Boards => Some(self.livechess.eboards()),
            Lookup::Tournaments => Some(self.livechess.tournaments()),
            Lookup::Tournament(uuid) => self.livechess.tournament(uuid),
            Lookup::Round(uuid, index) => self.livechess.round(uuid, *index),
            Lookup::Game(uuid) => self.livechess.game(uuid),
        }
    }

    /// Sends a command to the event loop and waits for the answer. Meanwhile no frames are sent, so the client gets the
    /// answer before the changes that follow from the command.
    async fn set_up(&mut self, call: CallCommand) {
        let (sender, answer) = oneshot::channel();
        let request = Request {
            board: call.board.clone(),
            command: call.command.clone(),
            answer: sender,
        };
        let requests = self.requests.clone();
        let carried_out = async {
            requests.send(request).await.ok()?;
            answer.await.ok()
        };
        let answer = tokio::time::timeout(PATIENCE, carried_out).await;
        self.livechess
            .answered(wall_time(), call, answer.ok().flatten().and_then(Result::ok));
    }

    fn send(&mut self) {
        for (session, frame) in self.livechess.frames(wall_time()) {
            let client = self.clients.get(&session);
            if client.is_some_and(|client| client.try_send(frame).is_err()) {
                tracing::debug!("[livechess]: a client reads too slowly and was disconnected");
                self.disconnect(session);
            }
        }
    }

    fn disconnect(&mut self, session: Session) {
        self.clients.remove(&session);
        self.livechess.close(session);
    }
}
