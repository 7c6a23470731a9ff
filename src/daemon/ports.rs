//! The ports that there are: found, served, and let go.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use kiebitz_hardware::LineSettings;
use kiebitz_hardware::port::{Candidate, PortChange, PortList, PortWatch};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::port::{self, Input, Order};
use crate::config::{Config, PortMode};

/// A port that is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PortId(usize);

/// A port that has come or gone.
#[derive(Debug)]
pub(super) enum Change {
    Come {
        id: PortId,
        /// As it is configured, else the device.
        path: String,
        /// For files.
        name: String,
        line: LineSettings,
    },
    Gone(PortId),
}

/// Finds ports and serves each with a task of its own.
#[derive(Debug)]
pub(super) struct Ports {
    list: PortList,
    watch: PortWatch,
    modes: BTreeMap<PathBuf, PortMode>,
    served: BTreeMap<PathBuf, Served>,
    count: usize,
    inputs: mpsc::Sender<(PortId, Input)>,
    missing: BTreeSet<PathBuf>,
    trouble: bool,
}

#[derive(Debug)]
struct Served {
    id: PortId,
    orders: mpsc::UnboundedSender<Order>,
    task: JoinHandle<()>,
}

impl Ports {
    pub(super) fn new(config: &Config, inputs: mpsc::Sender<(PortId, Input)>) -> Self {
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

    /// Looks at what is plugged in. Costs some 50 µs.
    pub(super) fn look(&mut self) -> Vec<Change> {
        let listing = self.list.list();
        self.tell(
            &listing.missing,
            listing.trouble.map(|trouble| trouble.to_string()),
        );
        let changes = self.watch.handle_listing(listing.candidates);
        changes
            .into_iter()
            .filter_map(|change| self.apply(change))
            .collect()
    }

    /// Tells a port what to do; one that is gone does nothing.
    pub(super) fn order(&self, id: PortId, order: Order) {
        if let Some(served) = self.served.values().find(|served| served.id == id) {
            // A port that has just gone needs no orders.
            let _ = served.orders.send(order);
        }
    }

    fn apply(&mut self, change: PortChange) -> Option<Change> {
        match change {
            PortChange::Added(candidate) => Some(self.serve(candidate)),
            PortChange::Removed(candidate) => {
                let served = self.served.remove(&candidate.device)?;
                served.task.abort();
                Some(Change::Gone(served.id))
            }
        }
    }

    fn serve(&mut self, candidate: Candidate) -> Change {
        let id = PortId(self.count);
        self.count += 1;
        let path = candidate
            .configured
            .clone()
            .unwrap_or_else(|| candidate.device.clone());
        let mode = self.modes.get(&path).copied().unwrap_or_default();
        let line = LineSettings::for_port(candidate.kind, mode.line_mode());
        let change = Change::Come {
            id,
            path: path.display().to_string(),
            name: candidate.name(),
            line,
        };
        tracing::info!("{}: {}", path.display(), candidate.kind);
        let device = candidate.device.clone();
        let (orders, taken) = mpsc::unbounded_channel();
        let task = tokio::spawn(port::serve(id, candidate, self.inputs.clone(), taken));
        self.served.insert(device, Served { id, orders, task });
        change
    }

    /// Says once what is not there.
    fn tell(&mut self, missing: &[PathBuf], trouble: Option<String>) {
        let missing: BTreeSet<PathBuf> = missing.iter().cloned().collect();
        for path in missing.difference(&self.missing) {
            tracing::warn!(
                "{} is configured but not there: is it plugged in, and is that its name?",
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

impl Drop for Ports {
    fn drop(&mut self) {
        for served in self.served.values() {
            served.task.abort();
        }
    }
}
