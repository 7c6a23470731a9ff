//! The vocabularies of events. Words that the tracker or the laws also use are defined in those modules.

use shakmaty::{Color, KnownOutcome};

vocabulary! {
    "ground of move.settled"
    /// Evidence that settled a ply.
    pub enum SettledBy {
        /// The mover pressed the clock.
        Press = "press",
        /// The opponent replied.
        Reply = "reply",
        /// The pieces came to rest and no other continuation is possible.
        Shape = "shape",
        /// The arbiter entered the move.
        Arbiter = "arbiter",
    }
}

vocabulary! {
    "ground of move.completed"
    /// Act that completed a ply in the sense of the Laws.
    pub enum CompletedBy {
        /// The mover pressed the clock.
        Press = "press",
        /// The mover made their next move without having pressed (Laws 2018 and later, Art. 6.2.1.2).
        OwnNextMove = "own_next_move",
        /// The move ended the game.
        GameEnd = "game_end",
        /// The arbiter entered the move.
        Arbiter = "arbiter",
    }
}

vocabulary! {
    "reason of a correction"
    /// Reason for which a ply was amended or retracted.
    pub enum CorrectionReason {
        /// The piece paused on a square and then moved on.
        MovedOn = "moved_on",
        /// The pieces were being set up for the next game.
        SetUp = "set_up",
        /// The kings were on their way to the centre to show the result.
        Kings = "kings",
        /// The move was taken back.
        Takeback = "takeback",
        /// An irregular move was put right.
        IllegalRestored = "illegal_restored",
        /// Later evidence supports another line of play.
        Recovered = "recovered",
        /// The ply before it ended the game.
        AfterEnd = "after_end",
        /// The arbiter corrected the moves, or set an earlier position.
        Arbiter = "arbiter",
    }
}

vocabulary! {
    "ground of board.recovered"
    /// How a gap was closed.
    pub enum Recovery {
        /// The board's memory contained the changes of the gap.
        Memory = "memory",
        /// Exactly one line of moves, or none at all, leads from the placement before the gap to the one after it.
        Inferred = "inferred",
        /// Several lines of moves fit, or the search finds none: the moves are unknown.
        Undecidable = "undecidable",
    }
}

vocabulary! {
    "result"
    /// Result of a game.
    pub enum GameResult {
        /// White won.
        WhiteWins = "1-0",
        /// Black won.
        BlackWins = "0-1",
        /// A draw.
        Draw = "1/2-1/2",
        /// Both players lose, for their conduct (2023: Art. 11.8) or because neither came.
        BothLose = "0-0",
        /// Black loses for their conduct, and White gets half a point because White could not have won (2023: Art.
        /// 12.9.6).
        HalfForWhite = "1/2-0",
        /// White loses, and Black gets half a point.
        HalfForBlack = "0-1/2",
        /// The result is unknown, or the game is in progress.
        Unknown = "*",
    }
}

vocabulary! {
    "end reason"
    /// Reason for which a game ended.
    pub enum EndReason {
        /// Checkmate.
        Checkmate = "checkmate",
        /// Stalemate.
        Stalemate = "stalemate",
        /// Neither side can mate.
        DeadPosition = "dead_position",
        /// The same position for the fifth time.
        Fivefold = "fivefold",
        /// 75 moves without a capture or a pawn move.
        SeventyFiveMoves = "seventy_five_moves",
        /// The kings were put in the centre.
        Kings = "kings",
        /// A piece that stands for a result was put on the board.
        ResultPiece = "result_piece",
        /// A start position was set up before a result was shown.
        Reset = "reset",
        /// Moves are missing and cannot be reconstructed.
        Gap = "gap",
        /// A player resigned.
        Resignation = "resignation",
        /// A draw was agreed.
        Agreement = "agreement",
        /// A flag fell.
        Flag = "flag",
        /// The player completed too many illegal moves.
        IllegalMoves = "illegal_moves",
        /// A draw was claimed.
        Claim = "claim",
        /// A draw was claimed with less than two minutes left (1997: Art. 10.2; 2023: Guidelines III.5).
        Quickplay = "quickplay",
        /// A player did not come in time.
        Default = "default",
        /// A player broke the rules of conduct (2023: Art. 11, 12.9.6).
        Conduct = "conduct",
        /// The arbiter decided, without a more specific reason.
        Arbiter = "arbiter",
        /// The game does not count.
        Void = "void",
        /// The game is adjourned.
        Adjourned = "adjourned",
    }
}

vocabulary! {
    "source of game.ended"
    /// Authority that ended a game.
    pub enum DecidedBy {
        /// The players showed the result on the board.
        Board = "board",
        /// The Laws.
        Laws = "laws",
        /// The arbiter.
        Arbiter = "arbiter",
    }
}

vocabulary! {
    "reason of claim.available"
    /// Ground of a draw claim.
    pub enum ClaimReason {
        /// The same position for the third time.
        Threefold = "threefold",
        /// 50 moves without a capture or a pawn move.
        FiftyMoves = "fifty_moves",
    }
}

vocabulary! {
    "source of incident.closed"
    /// Authority or device that closed an incident.
    pub enum ClosedBy {
        /// The board, by the pieces on it.
        Board = "board",
        /// The clock.
        Clock = "clock",
        /// The Laws.
        Laws = "laws",
        /// The arbiter.
        Arbiter = "arbiter",
    }
}

vocabulary! {
    "reason of incident.closed"
    /// How an incident ended.
    pub enum IncidentEnd {
        /// The situation was put right.
        Restored = "restored",
        /// Another move replaced the irregular one.
        Replaced = "replaced",
        /// The situation can no longer be put right.
        Stands = "stands",
        /// The situation passed without consequences.
        Passed = "passed",
        /// Another incident covers the same situation.
        Superseded = "superseded",
        /// The arbiter decided.
        Decided = "decided",
        /// The game is over.
        GameOver = "game_over",
    }
}

vocabulary! {
    "points of a bye"
    /// Points of a player without an opponent in a round.
    pub enum Bye {
        /// As for a win: the player was left over in the pairing, or the opponent is absent.
        Full = "1",
        /// Half a point, as for an absence that was announced.
        Half = "1/2",
        /// No points: the player is absent.
        Zero = "0",
    }
}

impl Bye {
    /// Twice the points.
    #[must_use]
    pub const fn half_points(self) -> u32 {
        match self {
            Self::Full => 2,
            Self::Half => 1,
            Self::Zero => 0,
        }
    }
}

vocabulary! {
    "command"
    /// Action that a command requests.
    pub enum Action {
        /// Name the players.
        SetPlayers = "set_players",
        /// Set the time control.
        SetTimeControl = "set_time_control",
        /// Enter the result, or let the game go on.
        SetResult = "set_result",
        /// Give a player without an opponent points for a round.
        SetBye = "set_bye",
        /// Make the game count for a pairing.
        AssignGame = "assign_game",
        /// Set the position.
        SetPosition = "set_position",
        /// Correct the moves.
        CorrectMoves = "correct_moves",
        /// Decide an incident.
        CloseIncident = "close_incident",
        /// Add a note.
        Annotate = "annotate",
        /// Go to an incident or a board, or no longer.
        Attend = "attend",
        /// Begin another game.
        NewGame = "new_game",
        /// End the game without a result.
        EndGame = "end_game",
        /// Show which board this is.
        Identify = "identify",
        /// Set which side of the clock is White's.
        SyncClockSides = "sync_clock_sides",
        /// Set the start of the round.
        StartRound = "start_round",
        /// Record a player's claim of a draw.
        Claim = "claim",
        /// Decide a claim.
        DecideClaim = "decide_claim",
        /// Move the board to another table.
        SetTable = "set_table",
        /// Remove a disconnected board from everything that is published.
        Forget = "forget",
    }
}

impl GameResult {
    /// The winner; `None` for draws, double losses and unknown results.
    #[must_use]
    pub const fn winner(self) -> Option<Color> {
        match self {
            Self::WhiteWins => Some(Color::White),
            Self::BlackWins => Some(Color::Black),
            Self::Draw | Self::BothLose | Self::HalfForWhite | Self::HalfForBlack | Self::Unknown => None,
        }
    }

    /// Whether the points of the players do not add up to one, which only an arbiter can decide.
    #[must_use]
    pub const fn is_penalty(self) -> bool {
        matches!(self, Self::BothLose | Self::HalfForWhite | Self::HalfForBlack)
    }

    /// Whether the player loses; with "0-0" both do.
    #[must_use]
    pub const fn loses(self, color: Color) -> bool {
        match self {
            Self::WhiteWins | Self::HalfForWhite => matches!(color, Color::Black),
            Self::BlackWins | Self::HalfForBlack => matches!(color, Color::White),
            Self::BothLose => true,
            Self::Draw | Self::Unknown => false,
        }
    }
}

impl From<KnownOutcome> for GameResult {
    fn from(outcome: KnownOutcome) -> Self {
        match outcome {
            KnownOutcome::Decisive { winner: Color::White } => Self::WhiteWins,
            KnownOutcome::Decisive { winner: Color::Black } => Self::BlackWins,
            KnownOutcome::Draw => Self::Draw,
        }
    }
}
