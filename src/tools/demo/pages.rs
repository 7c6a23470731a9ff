//! The demonstration in a browser: the wall, and the desk, where an arbiter can decide about the illegal move of the
//! last recording.

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

/// Web pages of the demonstration, served until this value is dropped.
#[derive(Debug)]
pub(super) struct Pages {
    #[cfg(target_os = "linux")]
    feeds: Feeds,
    #[cfg(target_os = "linux")]
    requests: mpsc::Receiver<Request>,
    /// Stores the games for "Past games" at the desk. Declared before `_folder`, because it must be closed before its
    /// folder is removed.
    #[cfg(target_os = "linux")]
    journal: Journal,
    #[cfg(target_os = "linux")]
    _folder: Folder,
    addresses: Vec<String>,
}

/// Preferred ports of the pages.
#[cfg(target_os = "linux")]
const WALL_PORT: u16 = 8080;
#[cfg(target_os = "linux")]
const DESK_PORT: u16 = 8038;
/// Login of the desk. A fixed password is good enough: the desk listens on the loopback interface and shows only the
/// demonstration.
#[cfg(target_os = "linux")]
const LOGIN: (&str, &str) = ("demo", "touch-move");

/// A temporary folder that is removed on drop.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Folder(PathBuf);

#[cfg(target_os = "linux")]
impl Folder {
    /// Creates a folder named after this process, readable only by the current user.
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
        // Ignore errors: the system cleans up its temporary folder by itself.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns an address of the loopback interface, with the port `usual` if that is free, else with any free port.
#[cfg(target_os = "linux")]
fn free_address(usual: u16) -> Option<SocketAddr> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|port| port.local_addr());
    bind(usual).or_else(|_| bind(0)).ok()
}

/// Returns the settings of a desk at `listen`, whose user file is written into `folder`.
#[cfg(target_os = "linux")]
fn desk(listen: SocketAddr, folder: &Path) -> Result<config::DeskSettings> {
    let users_file = folder.join("users");
    let (name, password) = LOGIN;
    let line = user_line(name, Role::Operator, password)?;
    fs::write(&users_file, line + "\n").with_context(|| format!("cannot write {}", users_file.display()))?;
    Ok(config::DeskSettings {
        listen,
        users_file,
        url: None,
        user_header: None,
        proxies: config::Proxies::default(),
        proxy_secret_file: None,
        hosts: Vec::new(),
    })
}

#[cfg(target_os = "linux")]
impl Pages {
    /// Starts the pages. Must be called within a Tokio runtime. Fails if the user file or the journal cannot be
    /// written.
    pub(super) fn start() -> Result<Self> {
        let wall = free_address(WALL_PORT);
        let folder = Folder::new()?;
        // The temporary state directory keeps the demonstration out of this computer's journal.
        let mut config = Config::default();
        config.daemon.state_directory = Some(folder.0.clone());
        let journal = Journal::open(&config.journal_file())?;
        let desk = free_address(DESK_PORT).map(|address| desk(address, &folder.0));
        config.desk = desk.transpose()?;
        config.publish = wall.map(Publish::serving);
        let url = |address: SocketAddr| format!("http://{address}/");
        let (name, password) = LOGIN;
        let wall_line = wall.map(|address| format!("In a browser: {}", url(address)));
        let desk_line = config.desk.as_ref().map(|desk| {
            format!(
                "The arbiters' desk: {} (name {name}, password {password})",
                url(desk.listen)
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
            addresses: wall_line.into_iter().chain(desk_line).collect(),
        })
    }

    /// Stores the events of a step in the journal and shows them on the pages, stamped with the current time. Fails if
    /// the journal cannot be written.
    pub(super) fn show(&mut self, part: &Part, explained: &[ExplainedEvent]) -> Result<()> {
        let Some(board) = part.board() else { return Ok(()) };
        let now = wall_time();
        let events = explained.iter().map(|explained| Event {
            ts: now,
            at: None,
            stream: LIVE_STREAM.to_owned(),
            board: part.name.clone(),
            // All recordings were made on the same day, so their own game ids would collide.
            game: explained.event.game.as_ref().map(|game| part.game(game)),
            ..explained.event.clone()
        });
        let events: Vec<Event> = events.collect();
        if !events.is_empty() {
            self.journal.append(&events)?;
        }
        let clock = ClockView {
            as_of: Some(now),
            ..ClockView::new(board.clock())
        };
        let mut status = BoardStatus::of(board, None, Seen::default());
        (status.name, status.clock) = (part.name.clone(), clock);
        // Otherwise the board would vanish from the pages at the end of its recording.
        status.connected = true;
        self.feeds.see(now, status);
        self.feeds.send_events(now, &events);
        self.feeds.send_clock(now, &part.name, clock);
        Ok(())
    }

    /// Waits for the next command from the desk and carries it out. Cancel safe. Fails if a recording is damaged.
    pub(super) async fn handle_next_command(&mut self, parts: &mut [Part]) -> Result<()> {
        let Some(request) = self.requests.recv().await else {
            return core::future::pending().await;
        };
        let Request {
            board,
            command,
            answer,
        } = request;
        let answered = match parts.iter_mut().find(|part| part.name == board) {
            Some(part) => {
                let (answered, explained) = part.command(&command)?;
                self.show(part, &explained)?;
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
        // The send fails if the desk no longer waits for the answer.
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
    pub(super) async fn handle_next_command(&mut self, _: &mut [Part]) -> Result<()> {
        core::future::pending().await
    }
}

impl Pages {
    /// Returns one line of text per page with its address; none if no page is served.
    pub(super) fn addresses(&self) -> &[String] {
        &self.addresses
    }
}
