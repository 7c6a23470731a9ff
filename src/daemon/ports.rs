//! Finds the computer's ports and serves them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use kiebitz_hardware::LineSettings;
use kiebitz_hardware::port::{Candidate, PortChange, PortList, PortWatch};
use tokio::sync::mpsc;

use crate::config::{Config, PortMode};
use crate::port::{Port, PortInput, PortOrder};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PortId(usize);

/// A port that was added or removed, with its line.
#[derive(Debug)]
pub(super) enum LineChange {
    Come {
        id: PortId,
        device: PathBuf,
        /// Path as configured, or the device if the port is not configured.
        path: String,
        line: LineSettings,
    },
    Gone(PortId),
}

/// Finds ports and serves each of them with its own task.
#[derive(Debug)]
pub(super) struct Ports {
    list: PortList,
    watch: PortWatch,
    modes: BTreeMap<PathBuf, PortMode>,
    served: BTreeMap<PathBuf, Served>,
    count: usize,
    inputs: mpsc::Sender<(PortId, PortInput)>,
    missing: BTreeSet<PathBuf>,
    trouble: bool,
}

#[derive(Debug)]
struct Served {
    id: PortId,
    port: Port,
}

impl Ports {
    pub(super) fn new(config: &Config, inputs: mpsc::Sender<(PortId, PortInput)>) -> Self {
        let ports = &config.ports;
        Self {
            list: PortList::new(ports.settings()),
            watch: PortWatch::new(),
            modes: ports
                .listed
                .iter()
                .map(|port| (port.path.clone(), port.mode))
                .collect(),
            served: BTreeMap::new(),
            count: 0,
            inputs,
            missing: BTreeSet::new(),
            trouble: false,
        }
    }

    /// Scans for ports. Takes about 50 µs.
    pub(super) fn scan(&mut self) -> Vec<LineChange> {
        let listing = self.list.list();
        self.log(
            &listing.missing,
            listing.trouble.map(|trouble| trouble.to_string()),
        );
        let changes = self.watch.handle_listing(listing.candidates);
        changes
            .into_iter()
            .filter_map(|change| self.apply(change))
            .collect()
    }

    /// Passes an order to a port. Does nothing if the port is gone.
    pub(super) fn order(&self, id: PortId, order: PortOrder) {
        if let Some(served) = self.served.values().find(|served| served.id == id) {
            served.port.order(order);
        }
    }

    fn apply(&mut self, change: PortChange) -> Option<LineChange> {
        match change {
            PortChange::Added(candidate) => Some(self.serve(candidate)),
            PortChange::Removed(candidate) => {
                let served = self.served.remove(&candidate.device)?;
                Some(LineChange::Gone(served.id))
            }
        }
    }

    fn serve(&mut self, candidate: Candidate) -> LineChange {
        let id = PortId(self.count);
        self.count += 1;
        let path = candidate
            .configured
            .clone()
            .unwrap_or_else(|| candidate.device.clone());
        let mode = self.modes.get(&path).copied().unwrap_or_default();
        let line = LineSettings::for_port(candidate.kind, mode.line_mode());
        let change = LineChange::Come {
            id,
            device: candidate.device.clone(),
            path: path.display().to_string(),
            line,
        };
        tracing::info!("{}: {}", path.display(), candidate.kind);
        let device = candidate.device.clone();
        let port = Port::serve(id, &device, self.inputs.clone());
        self.served.insert(device, Served { id, port });
        change
    }

    /// Logs missing ports and errors, each only when it begins.
    fn log(&mut self, missing: &[PathBuf], trouble: Option<String>) {
        let missing: BTreeSet<PathBuf> = missing.iter().cloned().collect();
        for path in missing.difference(&self.missing) {
            tracing::warn!(
                "{} is configured but does not exist: plug the device in, or correct the path",
                path.display()
            );
        }
        self.missing = missing;
        if let Some(trouble) = trouble.as_ref().filter(|_| !self.trouble) {
            tracing::error!("{trouble}");
        }
        self.trouble = trouble.is_some();
    }
}
