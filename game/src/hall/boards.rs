//! The boards of the hall. A board keeps its id, so its name is looked up only if it comes from outside the hall.

use std::collections::BTreeMap;

use super::Board;

/// Identifies a board of the hall. Boards that the hall met earlier have lower ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BoardId(usize);

#[derive(Debug, Default)]
pub(super) struct Boards {
    list: Vec<Board>,
    ids: BTreeMap<String, BoardId>,
}

impl Boards {
    /// Adds a board. It replaces a board of the same name.
    pub(super) fn insert(&mut self, board: Board) -> BoardId {
        if let Some(id) = self.id(board.name()) {
            self.list[id.0] = board;
            return id;
        }
        let id = BoardId(self.list.len());
        self.ids.insert(board.name().to_owned(), id);
        self.list.push(board);
        id
    }

    pub(super) fn id(&self, name: &str) -> Option<BoardId> {
        self.ids.get(name).copied()
    }

    pub(super) fn get(&self, id: BoardId) -> Option<&Board> {
        self.list.get(id.0)
    }

    pub(super) fn get_mut(&mut self, id: BoardId) -> Option<&mut Board> {
        self.list.get_mut(id.0)
    }

    pub(super) fn named(&self, name: &str) -> Option<&Board> {
        self.get(self.id(name)?)
    }

    pub(super) fn named_mut(&mut self, name: &str) -> Option<&mut Board> {
        self.get_mut(self.id(name)?)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = BoardId> + use<> {
        (0..self.list.len()).map(BoardId)
    }

    pub(super) fn by_name(&self) -> impl Iterator<Item = &Board> + Clone {
        self.ids.values().filter_map(|id| self.get(*id))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Board> {
        self.list.iter_mut()
    }
}
