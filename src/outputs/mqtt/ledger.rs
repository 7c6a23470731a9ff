//! Tracks how far the broker has acknowledged the events of each board.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The events in memory, by board. If the broker acknowledges events out of order, an event counts only once all
/// earlier ones are acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    boards: BTreeMap<Arc<str>, VecDeque<LedgerEntry>>,
}

#[derive(Debug)]
struct LedgerEntry {
    seq: u64,
    acknowledged: bool,
}

impl Ledger {
    pub(crate) fn add(&mut self, board: &Arc<str>, seq: u64) {
        let entries = self.boards.entry(Arc::clone(board)).or_default();
        entries.push_back(LedgerEntry {
            seq,
            acknowledged: false,
        });
    }

    /// Marks an event as acknowledged. Returns the seq up to which all of the board's events are acknowledged, if it
    /// has advanced.
    pub(crate) fn acknowledge(&mut self, board: &str, seq: u64) -> Option<u64> {
        let entries = self.boards.get_mut(board)?;
        let entry = entries
            .iter_mut()
            .find(|entry| entry.seq == seq && !entry.acknowledged)?;
        entry.acknowledged = true;
        let mut all = None;
        while entries.front().is_some_and(|entry| entry.acknowledged) {
            all = entries.pop_front().map(|entry| entry.seq);
        }
        if entries.is_empty() {
            self.boards.remove(board);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_counts_when_all_before_it_are_acknowledged() {
        let mut ledger = Ledger::default();
        let (a, b) = (Arc::from("a"), Arc::from("b"));
        for seq in [1, 2, 7] {
            ledger.add(&a, seq);
        }
        ledger.add(&b, 1);
        assert_eq!(ledger.acknowledge("a", 2), None);
        assert_eq!(ledger.acknowledge("b", 1), Some(1));
        assert_eq!(ledger.acknowledge("a", 1), Some(2));
        assert_eq!(ledger.acknowledge("a", 1), None);
        assert_eq!(ledger.acknowledge("a", 7), Some(7));
        assert!(ledger.boards.is_empty());
    }
}
