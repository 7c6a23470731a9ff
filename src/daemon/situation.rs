//! The state of everything on which kiebitz depends, for MQTT and the status page.

use kiebitz_game::events::{Incident, version_text};
use kiebitz_game::hall::{Board, Hall};
use kiebitz_game::laws::Severity;
use kiebitz_hardware::Timestamp;

use super::machine::MachineWatch;
use crate::outputs::mqtt::{ConnectionState, DaemonHealth, DeliveryState, LineHealth, Outbox, StorageState};
use crate::outputs::shared::reports::{BROKER, Reports};
use crate::outputs::status::{BoardSummary, GameStatus, Status};

/// The sources of the daemon's state, apart from the boards.
#[derive(Debug)]
pub(super) struct Situation {
    pub(super) host: String,
    pub(super) started: Timestamp,
    pub(super) machine: MachineWatch,
    /// `None` if no broker is configured.
    pub(super) outbox: Option<Outbox>,
    pub(super) reports: Reports,
    /// Address of the desk; `None` without a desk, or if other computers cannot reach it.
    pub(super) desk: Option<String>,
}

impl Situation {
    /// Returns the state for subscribers on the broker. Omits the report about the broker itself, whose state
    /// subscribers can see.
    pub(super) fn health(&self, storage_and_round: (StorageState, Option<u32>)) -> DaemonHealth {
        let mut health = self.health_of_all(storage_and_round);
        health.outputs.remove(BROKER);
        health.desk.clone_from(&self.desk);
        health
    }

    fn health_of_all(&self, (storage, round): (StorageState, Option<u32>)) -> DaemonHealth {
        DaemonHealth {
            storage,
            delivery: self.outbox.as_ref().map(delivery).unwrap_or_default(),
            machine: self.machine.state(),
            outputs: self.reports.all(),
            round,
            desk: None,
        }
    }

    pub(super) fn status(
        &self,
        now: Timestamp,
        storage_and_round: (StorageState, Option<u32>),
        hall: &Hall,
    ) -> Status {
        let connection = self.outbox.as_ref().map(|outbox| *outbox.connection().borrow());
        let broker = connection.map(|connection| connection == ConnectionState::Connected);
        let health = self.health_of_all(storage_and_round);
        let boards = hall.boards().filter(|board| !board.is_forgotten());
        let boards = boards.map(|board| board_status(board, hall)).collect();
        Status::new(&self.host, (self.started, now), broker, health, boards)
    }
}

fn board_status(board: &Board, hall: &Hall) -> BoardSummary {
    BoardSummary {
        board: board.name().to_owned(),
        connected: board.is_connected(),
        port: board.port().to_owned(),
        serial: board.serial().map(str::to_owned),
        version: board.version().map(version_text),
        playing: !board.is_idle(),
        clock: board.has_clock(),
        battery: board.battery(),
        line: LineHealth::new(board.heard(), hall.counters(board.name())),
        game: board.playing().as_ref().map(GameStatus::of),
        times: board.clock().map(|face| face.clock),
        open: board.open_incidents().filter_map(describe_for_arbiter).collect(),
        same_number: hall.namesakes(board.name()).map(str::to_owned).collect(),
    }
}

/// Describes an incident that needs the arbiter; `None` for other incidents.
fn describe_for_arbiter(incident: &Incident) -> Option<String> {
    let needs_arbiter = incident.severity >= Severity::Advice;
    let squares = match incident.squares.as_slice() {
        [] => String::new(),
        squares => format!(" ({})", squares.join(" ")),
    };
    needs_arbiter.then(|| format!("{}{squares}", incident.kind.as_str().replace('_', " ")))
}

fn delivery(outbox: &Outbox) -> DeliveryState {
    let progress = outbox.progress();
    let progress = progress.borrow();
    let delivered = progress.delivered;
    let ms = |time: core::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    DeliveryState {
        queued: progress.queued,
        behind: progress.behind,
        last_ms: delivered.last.map(ms),
        events: delivered.events,
        all_ms: ms(delivered.all),
    }
}
