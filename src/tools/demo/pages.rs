//! The demonstration in a browser: the wall, and the desk, at which the illegal move of the last recording can be judged.

use anyhow::Result;
use kiebitz_game::events::ExplainedEvent;

use super::part::Part;

#[cfg(target_os = "linux")]
use {
    crate::clock::ClockView,
    crate::config::{self, Config, Publish},
    crate::journal::Journal,
    crate::kept::Archive,
    crate::outputs::broadcast::EventFacts,
    crate::outputs::desk::{InHall, Role, user_line},
    crate::outputs::feeds::Feeds,
    crate::outputs::shared::board_status::BoardStatus,
    crate::outputs::shared::to_hall::{Request, ToHall},
    crate::system_time::wall_time,
    anyhow::Context,
    kiebitz_game::command::Answer,
    kiebitz_game::events::{Event, LIVE_STREAM},
    kiebitz_game::position::Seen,
    std::fs,
    std::net::{Ipv4Addr, SocketAddr, TcpListener},
    std::os::unix::fs::DirBuilderExt,
    std::path::{Path, PathBuf},
    std::sync::Arc,
    tokio::sync::mpsc,
};

/// Serves the pages until it is dropped.
#[derive(Debug)]
pub(super) struct Pages {
    #[cfg(target_os = "linux")]
    feeds: Feeds,
    /// What people do at the desk.
    #[cfg(target_os = "linux")]
    requests: mpsc::Receiver<Request>,
    /// Keeps the games for "Past games" at the desk; closed before its folder is removed.
    #[cfg(target_os = "linux")]
    journal: Journal,
    #[cfg(target_os = "linux")]
    _folder: Folder,
    addresses: Vec<String>,
}

/// The ports that the pages mostly have.
#[cfg(target_os = "linux")]
const WALL: u16 = 8080;
#[cfg(target_os = "linux")]
const DESK: u16 = 8038;
/// Who may log in at the desk. It is for this computer alone, and all that there is to see is a demonstration.
#[cfg(target_os = "linux")]
const LOGIN: (&str, &str) = ("demo", "touch-move");

/// A folder that is removed with this.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Folder(PathBuf);

#[cfg(target_os = "linux")]
impl Folder {
    /// One of this process, which nobody else can read.
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("kiebitz-demo-{}", std::process::id()));
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self(path))
    }
}

#[cfg(target_os = "linux")]
impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in the folder for temporary files is removed with the others there.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An address of the loopback interface: with that port if it is free, else with any.
#[cfg(target_os = "linux")]
fn free(usual: u16) -> Option<SocketAddr> {
    let free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|port| port.local_addr());
    free(usual).or_else(|_| free(0)).ok()
}

/// A desk at that address, whose users are in a file in that folder.
#[cfg(target_os = "linux")]
fn desk(listen: SocketAddr, folder: &Path) -> Result<config::DeskSettings> {
    let users_file = folder.join("users");
    let (name, password) = LOGIN;
    let line = user_line(name, Role::Operator, password)?;
    fs::write(&users_file, line + "\n").with_context(|| format!("cannot write {}", users_file.display()))?;
    Ok(config::DeskSettings {
        listen,
        users_file,
        user_header: None,
    })
}

#[cfg(target_os = "linux")]
impl Pages {
    /// Starts them. Must be called within a runtime.
    ///
    /// # Errors
    ///
    /// When there is no room for the file with the desk's user or for the journal.
    pub(super) fn start() -> Result<Self> {
        let wall = free(WALL);
        let folder = Folder::new()?;
        // Past games are those of the demonstration, not of this computer's journal.
        let mut config = Config::default();
        config.daemon.state_directory = Some(folder.0.clone());
        let journal = Journal::open(&config.journal_file())?;
        let desk = free(DESK).map(|address| desk(address, &folder.0));
        config.desk = desk.transpose()?;
        config.publish = wall.map(Publish::serving);
        let named = |address: SocketAddr| format!("http://{address}/");
        let (name, password) = LOGIN;
        let of_wall = wall.map(|address| format!("In a browser: {}", named(address)));
        let of_desk = config.desk.as_ref().map(|desk| {
            format!(
                "The arbiters' desk: {} (name {name}, password {password})",
                named(desk.listen)
            )
        });
        let facts = EventFacts {
            name: Some("kiebitz demo".to_owned()),
            ..EventFacts::default()
        };
        let (sender, requests) = mpsc::channel(1);
        let in_hall = InHall::new(config.pairing_files(), Archive::of(&config));
        let settings = config.outputs(Some(in_hall));
        let (mut feeds, _) = Feeds::start(settings, &facts, ToHall::of_commands(sender));
        feeds.pair(wall_time(), Arc::default());
        Ok(Self {
            feeds,
            requests,
            journal,
            _folder: folder,
            addresses: of_wall.into_iter().chain(of_desk).collect(),
        })
    }

    /// Keeps and shows what came of a step of a recording, as if it happened now.
    ///
    /// # Errors
    ///
    /// When the journal cannot be written.
    pub(super) fn show(&mut self, part: &Part, said: &[ExplainedEvent]) -> Result<()> {
        let Some(board) = part.board() else { return Ok(()) };
        let now = wall_time();
        let events = said.iter().map(|said| Event {
            ts: now,
            at: None,
            stream: LIVE_STREAM.to_owned(),
            board: part.name.clone(),
            // The recordings were made on the same day, and their games are called the same.
            game: said.event.game.as_ref().map(|game| part.game(game)),
            ..said.event.clone()
        });
        let events: Vec<Event> = events.collect();
        if !events.is_empty() {
            self.journal.append(&events)?;
        }
        let clock = ClockView {
            as_of: Some(now),
            ..ClockView::new(board.clock())
        };
        let mut sight = BoardStatus::of(board, None, Seen::default());
        (sight.name, sight.clock) = (part.name.clone(), clock);
        // It would be gone when its recording ends.
        sight.connected = true;
        self.feeds.see(now, sight);
        self.feeds.take(now, &events);
        self.feeds.take_clock(now, &part.name, clock);
        Ok(())
    }

    /// Waits for something that somebody does at the desk, and does it. May be dropped and called again.
    ///
    /// # Errors
    ///
    /// When a recording is damaged.
    pub(super) async fn obey(&mut self, parts: &mut [Part]) -> Result<()> {
        let Some(setup) = self.requests.recv().await else {
            return core::future::pending().await;
        };
        let Request {
            board,
            command,
            answer,
        } = setup;
        let answered = match parts.iter_mut().find(|part| part.name == board) {
            Some(part) => {
                let (answered, said) = part.command(&command)?;
                self.show(part, &said)?;
                answered
            }
            None => Answer {
                id: Some(command.id),
                ok: false,
                note: None,
                error: Some("this board has not been in the demo yet".to_owned()),
                standing: None,
                kept: true,
            },
        };
        // Nobody waits any more if it took too long.
        let _ = answer.send(Ok(answered));
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
impl Pages {
    pub(super) fn start() -> Result<Self> {
        Ok(Self {
            addresses: Vec::new(),
        })
    }

    #[expect(clippy::unused_self, reason = "as where they are served")]
    #[expect(clippy::unnecessary_wraps, reason = "as where they are served")]
    pub(super) fn show(&mut self, _: &Part, _: &[ExplainedEvent]) -> Result<()> {
        Ok(())
    }

    #[expect(clippy::unused_self, reason = "as where they are served")]
    pub(super) async fn obey(&mut self, _: &mut [Part]) -> Result<()> {
        core::future::pending().await
    }
}

impl Pages {
    /// Where they are, a line each; none: they are served nowhere.
    pub(super) fn addresses(&self) -> &[String] {
        &self.addresses
    }
}
