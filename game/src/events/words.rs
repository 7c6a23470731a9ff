//! The words of events. Words that the tracker or the laws use too are defined there.

use shakmaty::{Color, KnownOutcome};

vocabulary! {
    "ground of move.settled"
    /// What settled a ply.
    pub enum SettledBy {
        /// The mover pressed the clock.
        Press = "press",
        /// The opponent replied.
        Reply = "reply",
        /// The motion came to rest where nothing else can follow.
        Shape = "shape",
        /// The arbiter entered the move.
        Arbiter = "arbiter",
    }
}

vocabulary! {
    "ground of move.completed"
    /// What completed a ply in the sense of the Laws.
    pub enum CompletedBy {
        /// The mover pressed the clock.
        Press = "press",
        /// The mover did not, and made their next move (Laws 2018 and later, Art. 6.2.1.2).
        OwnNextMove = "own_next_move",
        /// The move ended the game.
        GameEnd = "game_end",
        /// The arbiter entered the move.
        Arbiter = "arbiter",
    }
}

vocabulary! {
    "reason of a correction"
    /// Why a ply was amended or retracted.
    pub enum CorrectionReason {
        /// The piece had only rested and went on.
        MovedOn = "moved_on",
        /// Pieces were being set up for the next game.
        SetUp = "set_up",
        /// The kings were on their way to the centre to show the result.
        Kings = "kings",
        /// The move was taken back.
        Takeback = "takeback",
        /// An irregular move was put right.
        IllegalRestored = "illegal_restored",
        /// Later evidence showed another line.
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
        /// The board's memory held what happened.
        Memory = "memory",
        /// Only these moves lead from what stood there before to what stands there now.
        Inferred = "inferred",
        /// Different moves do, or none that the search finds: what was played is not known.
        Undecidable = "undecidable",
    }
}

vocabulary! {
    "result"
    /// A game's result.
    pub enum GameResult {
        /// White won.
        WhiteWins = "1-0",
        /// Black won.
        BlackWins = "0-1",
        /// A draw.
        Draw = "1/2-1/2",
        /// Both lose: for their conduct (2023: Art. 11.8), or because neither came.
        BothLose = "0-0",
        /// Black loses for their conduct; White could not have won, and gets half a point (2023: Art. 12.9.6).
        HalfForWhite = "1/2-0",
        /// White loses, and Black gets half a point.
        HalfForBlack = "0-1/2",
        /// Nobody knows, or the game is being played.
        Unknown = "*",
    }
}

vocabulary! {
    "end reason"
    /// Why a game ended.
    pub enum EndReason {
        /// Checkmate.
        Checkmate = "checkmate",
        /// Stalemate.
        Stalemate = "stalemate",
        /// Neither side can mate any more.
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
        /// Moves are missing that cannot be found out.
        Gap = "gap",
        /// A player resigned.
        Resignation = "resignation",
        /// A draw was agreed.
        Agreement = "agreement",
        /// A flag fell.
        Flag = "flag",
        /// Illegal moves.
        IllegalMoves = "illegal_moves",
        /// A draw was claimed.
        Claim = "claim",
        /// A draw was claimed with less than two minutes left (1997: Art. 10.2; 2023: Guidelines III.5).
        Quickplay = "quickplay",
        /// A player did not come in time.
        Default = "default",
        /// A player broke the rules of conduct (2023: Art. 11, 12.9.6).
        Conduct = "conduct",
        /// The arbiter's decision.
        Arbiter = "arbiter",
        /// The game does not count.
        Void = "void",
        /// The game is adjourned.
        Adjourned = "adjourned",
    }
}

vocabulary! {
    "source of game.ended"
    /// Who or what ended a game.
    pub enum DecidedBy {
        /// What the players showed on the board.
        Board = "board",
        /// The Laws.
        Laws = "laws",
        /// The arbiter.
        Arbiter = "arbiter",
    }
}

vocabulary! {
    "reason of claim.available"
    /// What a draw may be claimed for.
    pub enum ClaimReason {
        /// The same position for the third time.
        Threefold = "threefold",
        /// 50 moves without a capture or a pawn move.
        FiftyMoves = "fifty_moves",
    }
}

vocabulary! {
    "source of incident.closed"
    /// Who or what closed an incident.
    pub enum ClosedBy {
        /// What stands on the board.
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
        /// It was put right.
        Restored = "restored",
        /// Another move replaced it.
        Replaced = "replaced",
        /// It can no longer be put right.
        Stands = "stands",
        /// There is nothing more to it.
        Passed = "passed",
        /// Another incident says it in its place.
        Superseded = "superseded",
        /// The arbiter decided.
        Decided = "decided",
        /// The game is over.
        GameOver = "game_over",
    }
}

vocabulary! {
    "command"
    /// What a command asks for.
    pub enum Action {
        /// Name the players.
        SetPlayers = "set_players",
        /// Set the time control.
        SetTimeControl = "set_time_control",
        /// Enter the result, or let the game go on.
        SetResult = "set_result",
        /// The game counts for that pairing.
        AssignGame = "assign_game",
        /// Set the position.
        SetPosition = "set_position",
        /// Correct the moves.
        CorrectMoves = "correct_moves",
        /// Decide an incident.
        CloseIncident = "close_incident",
        /// Note something.
        Annotate = "annotate",
        /// Begin another game.
        NewGame = "new_game",
        /// End the game without a result.
        EndGame = "end_game",
        /// Show which board this is.
        Identify = "identify",
        /// Say which side of the clock is White's.
        SyncClockSides = "sync_clock_sides",
        /// Say when the round begins.
        StartRound = "start_round",
        /// Take down a player's claim of a draw.
        Claim = "claim",
        /// Decide a claim.
        DecideClaim = "decide_claim",
        /// Put the board at another table.
        SetTable = "set_table",
        /// Take a board that is gone out of everything that is published.
        Forget = "forget",
    }
}

impl GameResult {
    /// Who won; `None` where nobody did.
    #[must_use]
    pub const fn winner(self) -> Option<Color> {
        match self {
            Self::WhiteWins => Some(Color::White),
            Self::BlackWins => Some(Color::Black),
            Self::Draw | Self::BothLose | Self::HalfForWhite | Self::HalfForBlack | Self::Unknown => None,
        }
    }

    /// Whether the players' points do not come to one: only an arbiter decides so.
    #[must_use]
    pub const fn is_penalty(self) -> bool {
        matches!(self, Self::BothLose | Self::HalfForWhite | Self::HalfForBlack)
    }

    /// Whether that player loses; both do with "0-0".
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
