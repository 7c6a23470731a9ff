//! Serves the boards as programs know them from LiveChess, over HTTP and WebSockets.
//!
//! One task follows what happens, and has all that is [said and answered](super::projection). Each connection has
//! a task of its own: one that does not read what it is told is hung up on, and holds up nobody.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use kiebitz_hardware::Timestamp;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::door;
use super::projection::{Asked, LiveChess, Session};
use super::settings::LiveChess as Settings;
use crate::outputs::broadcast::EventFacts;
use crate::outputs::feeds::{News, Output, Starting};
use crate::outputs::shared::to_hall::Setup;
use crate::system_time::wall_time;

/// What a connection wants.
#[derive(Debug)]
pub(super) enum Ask {
    /// Something is looked up.
    Look(Look, oneshot::Sender<Option<Value>>),
    /// A client has connected, and is told what happens.
    Open(Session, mpsc::Sender<String>),
    /// It says something.
    Call(Session, String),
    Close(Session),
}

/// What can be looked up without a connection that stays.
#[derive(Debug)]
pub(super) enum Look {
    Boards,
    Tournaments,
    Tournament(String),
    Round(String, u32),
    Game(String),
}

/// So many requests wait; then connections do.
const ASKS: usize = 64;
/// So much may wait for a client: what all its boards show at once, and then some.
pub(super) const WAITING: usize = 1024;
/// The daemon answers within this time: the answer waits for the disk for up to 3 s.
const PATIENCE: Duration = Duration::from_secs(5);

impl Output for Settings {
    fn start(&self, starting: &mut Starting) {
        starting.want_sights();
        let told = starting.follow();
        let setups = starting.hall.setups.clone();
        start(self.clone(), starting.facts.clone(), told, setups);
    }
}

/// Starts the tasks. Must be called within a runtime.
fn start(
    settings: Settings,
    facts: EventFacts,
    told: mpsc::UnboundedReceiver<(Timestamp, Arc<News>)>,
    setups: mpsc::Sender<Setup>,
) {
    if settings.is_open() {
        tracing::warn!(
            "[livechess]: everybody who can reach {} sees every move at once, despite the delay for spectators",
            settings.listen
        );
    }
    let (asks, asked) = mpsc::channel(ASKS);
    let host = Host {
        livechess: LiveChess::new(facts, settings.setup),
        clients: BTreeMap::new(),
        setups,
    };
    // They work as long as the program runs, and there is nothing to finish.
    tokio::spawn(host.work(told, asked));
    tokio::spawn(door::serve(settings, asks));
}

/// Has all that is said and answered.
struct Host {
    livechess: LiveChess,
    /// Where clients are told what happens.
    clients: BTreeMap<Session, mpsc::Sender<String>>,
    setups: mpsc::Sender<Setup>,
}

impl Host {
    async fn work(
        mut self,
        mut told: mpsc::UnboundedReceiver<(Timestamp, Arc<News>)>,
        mut asked: mpsc::Receiver<Ask>,
    ) {
        loop {
            tokio::select! {
                biased;
                news = told.recv() => {
                    let Some((now, news)) = news else { return };
                    self.hear(now, &news);
                    // What is on its way belongs to the same move.
                    while let Ok((now, news)) = told.try_recv() {
                        self.hear(now, &news);
                    }
                }
                Some(ask) = asked.recv() => self.answer(ask).await,
            }
            self.send();
        }
    }

    fn hear(&mut self, now: Timestamp, news: &News) {
        let livechess = &mut self.livechess;
        match news {
            News::Events(events) => events.iter().for_each(|event| livechess.take(now, event)),
            News::Clock(board, clock) => livechess.take_clock(now, board, clock),
            News::Sight(sight) => livechess.see((**sight).clone()),
            News::Past(board, events) => livechess.resume(now, board, events),
            News::Pairings(Some(tournament)) => livechess.pair(Arc::clone(tournament)),
            News::Facts(facts) => livechess.rename(facts.clone()),
            // Nothing is held.
            News::Serial(..)
            | News::Pairings(None)
            | News::Round(_)
            | News::SetForward(_)
            | News::Restart(_)
            | News::Kept(_)
            | News::Journals(_)
            | News::Tick => {}
        }
    }

    async fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Look(look, answer) => {
                // Who asked may be gone.
                let _ = answer.send(self.look(&look));
            }
            Ask::Open(session, frames) => {
                self.livechess.open(session);
                self.clients.insert(session, frames);
            }
            Ask::Call(session, text) if self.clients.contains_key(&session) => {
                if let Some(asked) = self.livechess.hear(wall_time(), session, &text) {
                    self.set_up(*asked).await;
                }
            }
            // It was hung up on.
            Ask::Call(..) => {}
            Ask::Close(session) => self.hang_up(session),
        }
    }

    fn look(&self, look: &Look) -> Option<Value> {
        match look {
            Look::Boards => Some(self.livechess.eboards()),
            Look::Tournaments => Some(self.livechess.tournaments()),
            Look::Tournament(uuid) => self.livechess.tournament(uuid),
            Look::Round(uuid, index) => self.livechess.round(uuid, *index),
            Look::Game(uuid) => self.livechess.game(uuid),
        }
    }

    /// Has the desk carry out a command. Nothing else is done meanwhile, so that the answer comes before what follows.
    async fn set_up(&mut self, asked: Asked) {
        let (sender, answer) = oneshot::channel();
        let setup = Setup {
            board: asked.board.clone(),
            command: asked.command.clone(),
            answer: sender,
        };
        let setups = self.setups.clone();
        let carried_out = async {
            setups.send(setup).await.ok()?;
            answer.await.ok()
        };
        let answer = tokio::time::timeout(PATIENCE, carried_out).await;
        self.livechess
            .answered(wall_time(), asked, answer.ok().flatten().and_then(Result::ok));
    }

    fn send(&mut self) {
        for (session, frame) in self.livechess.frames(wall_time()) {
            let client = self.clients.get(&session);
            if client.is_some_and(|client| client.try_send(frame).is_err()) {
                tracing::debug!("[livechess]: a client reads too slowly and was disconnected");
                self.hang_up(session);
            }
        }
    }

    fn hang_up(&mut self, session: Session) {
        self.clients.remove(&session);
        self.livechess.close(session);
    }
}
