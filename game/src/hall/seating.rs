//! Assigns observations to boards: the observations of a place on a line go to the board there, once it is identified.

use kiebitz_hardware::{Observation, Place};

use super::boards::BoardId;
use super::line::{LinePlace, identity_at};
use super::{Board, Hall, LineId, Names};

impl Hall {
    pub(super) fn hand_out_observations(&mut self, id: LineId) {
        while let Some(hall_line) = self.lines.get_mut(&id)
            && let Some((place, observed)) = hall_line.line.poll_observation()
        {
            let line_place = hall_line.places.entry(place).or_default();
            if let Some(board_id) = line_place.board
                && let Some(board) = self.boards.get_mut(board_id)
            {
                board.observe(&observed);
                if matches!(observed.observation, Observation::Closed { .. }) {
                    // The next board at this place may be a different one.
                    *line_place = LinePlace::default();
                }
                self.board_handled(board_id);
                continue;
            }
            let shown = matches!(observed.observation, Observation::Board { .. });
            line_place.store(observed);
            // A board identifies itself before it sends its placement. On a bus, its address identifies it.
            if shown || self.names.known_beforehand(&hall_line.port) || matches!(place, Place::At(_)) {
                self.identify_board(id, place);
            }
        }
    }

    /// Identifies the board at a place and hands the stored observations to it.
    fn identify_board(&mut self, id: LineId, place: Place) {
        let Some(line) = self.lines.get(&id) else { return };
        let Some(line_place) = line
            .places
            .get(&place)
            .filter(|line_place| !line_place.pending.is_empty())
        else {
            return;
        };
        let port = line.port.clone();
        let own = match place {
            Place::Alone => self.names.of(&line_place.identity, &port, false),
            Place::At(address) => self.names.of(&identity_at(address), &port, true),
        };
        let name = self.name_at(&own, &port);
        let known = self.boards.id(&name);
        let board_id = known.unwrap_or_else(|| self.boards.insert(self.new_board(&name)));
        let Some(board) = self.boards.get_mut(board_id) else {
            return;
        };
        board.sit(&port);
        let line_place = self
            .lines
            .get_mut(&id)
            .and_then(|line| line.places.get_mut(&place));
        let Some(line_place) = line_place else { return };
        for observed in line_place.pending.drain(..) {
            board.observe(&observed);
        }
        line_place.board = Some(board_id);
        self.own_names.insert(name.clone(), own);
        let others = self.namesakes(&name).filter_map(|other| self.boards.id(other));
        let others: Vec<BoardId> = others.collect();
        self.board_handled(board_id);
        // The views of the other boards show that they share their number.
        others.into_iter().for_each(|other| self.board_handled(other));
    }

    /// Chooses the name of a board that arrives at a port, among names not in use at the moment. `own` is its name if
    /// no other board reports the same number. Boards that share a number are told apart by the port on which each was
    /// last, so the order in which they answer does not matter.
    fn name_at(&self, own: &str, port: &str) -> String {
        let known = self.boards.by_name().filter(|board| {
            let name = board.name();
            let shares = name == own || self.names.is_qualified(name, own);
            shares && !board.is_forgotten() && !self.is_plugged_in(name)
        });
        if let Some(board) = known.clone().find(|board| board.port() == port) {
            return board.name().to_owned();
        }
        if !self.is_plugged_in(own) {
            return own.to_owned();
        }
        let mut others = known;
        match (others.next(), others.next()) {
            // The only one of these boards that is not plugged in was moved to this port.
            (Some(board), None) => board.name().to_owned(),
            _ => Names::qualified(own, port),
        }
    }

    /// The other connected boards that report the same number and would have the same name.
    pub fn namesakes<'h>(&'h self, board: &'h str) -> impl Iterator<Item = &'h str> {
        let own = self.own_names.get(board).filter(|_| self.is_plugged_in(board));
        let all = own.into_iter().flat_map(|own| {
            let same = self.own_names.iter().filter(move |(_, other)| *other == own);
            same.map(|(name, _)| name.as_str())
        });
        all.filter(move |name| *name != board && self.is_plugged_in(name))
    }

    pub(super) fn new_board(&self, name: &str) -> Board {
        let begun = self.last_seqs.boards.get(name).copied();
        let board = Board::new(name, &self.stream, self.names.regulations(name)).following(self.model);
        let mut board = board.begun_after(begun.unwrap_or(self.last_seqs.others));
        board.follow(&self.steps);
        board.leave_out(self.jumps.get(name));
        board
    }

    fn is_plugged_in(&self, name: &str) -> bool {
        self.boards
            .id(name)
            .is_some_and(|id| self.line_of_board(id).is_some())
    }
}
