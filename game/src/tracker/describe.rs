//! Builds the announced ply from a node of the tree, with the evidence for it.

use kiebitz_hardware::Timestamp;
use shakmaty::uci::UciMove;

use super::Tracker;
use super::node::{NodeId, Played};
use super::tree::Tree;
use crate::events::{Evidence, Grounds, Ply, Rival};
use crate::model::A_FEW;

impl Tracker {
    /// Builds the ply of a node, and marks the node as ambiguous if another one is as credible. `None` for the root.
    pub(super) fn describe(&mut self, now: Timestamp, id: NodeId, grounds: Grounds) -> Option<Ply> {
        let tree = &mut self.line.as_mut()?.tree;
        let ambiguous = tree.is_ambiguous(id, tree.best());
        if tree.node(id).ambiguous != ambiguous {
            tree.mark(id).ambiguous = ambiguous;
        }
        let tree = self.tree()?;
        let node = tree.node(id);
        let parent = tree.node(node.parent?);
        let (played, uci, san, captured) = match node.played {
            Played::Move(m) => (
                Some(m),
                Some(parent.state.uci(m)),
                Some(parent.state.san(m)),
                m.capture(),
            ),
            Played::Irregular(Some((from, to))) => {
                let uci = UciMove::Normal {
                    from,
                    to,
                    promotion: None,
                };
                let castles = node.footprint.is_some_and(|made| made.squares().count() == 4);
                let captured = parent.state.board().role_at(to).filter(|_| !castles);
                (None, Some(uci), None, captured)
            }
            Played::Irregular(None) | Played::Root => (None, None, None, None),
        };
        Some(Ply {
            number: node.ply,
            color: node.mover(),
            played,
            uci,
            san,
            after: node.state.clone(),
            captured,
            lifted_at: node.lifted_at,
            stood_at: self
                .playback
                .filter(|playback| playback.recovered)
                .map_or_else(|| node.since.min(now), |playback| playback.known_at),
            inferred: node.inferred || node.ambiguous || self.recovering(),
            recovered: self.recovering(),
            any_order: node.any_order,
            clock: self.face_now(),
            evidence: Evidence {
                changes: self.sensors.changes_since(parent.since).copied().collect(),
                grounds: Some(grounds),
                differs: node.differs.into_iter().collect(),
                others: tree
                    .rivals(id)
                    .into_iter()
                    .take(A_FEW)
                    .map(|(other, against)| rival(tree, other, node.parent, against))
                    .collect(),
            },
        })
    }
}

fn rival(tree: &Tree, id: NodeId, parent: Option<NodeId>, against: i64) -> Rival {
    let node = tree.node(id);
    let before = node.parent.map(|parent| &tree.node(parent).state);
    let name = match node.played {
        _ if Some(id) == parent => None,
        Played::Root => None,
        Played::Move(m) => before.map(|state| state.san(m)),
        Played::Irregular(_) => Some("an irregular move".to_owned()),
    };
    Rival {
        ply: node.ply,
        name,
        against,
        differs: node.differs.count(),
        withdraws: tree.withdrawn_by(id),
        stood: node.stood,
    }
}
