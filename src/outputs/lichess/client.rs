//! The client of Lichess's HTTP API.

use core::fmt;
use core::time::Duration;
use std::path::PathBuf;

use reqwest::header::RETRY_AFTER;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::Value;
use thiserror::Error;

use super::form::LichessForm;
use super::settings::Lichess;
use super::task::LONGEST_PAUSE;
use crate::outputs::shared::address::read_token;
use crate::outputs::shared::answers::{MAX_ERROR, describe_no_answer, shortened, text_up_to};

pub(super) struct LichessClient {
    http: reqwest::Client,
    settings: Lichess,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pushed {
    /// Lichess has read this number of plies.
    Moves(usize),
    /// Lichess rejects the game and gives this error.
    Refused(String),
}

#[derive(Debug, Error)]
pub(super) enum LichessFailure {
    /// The file or credential contains no token.
    #[error("{0}")]
    NoToken(String),
    /// The token is invalid or lacks the scope `study:write`.
    #[error("the token was rejected: create one with the scope study:write at {server}/account/oauth/token")]
    Token { server: String },
    /// The token's account may not change the broadcast.
    #[error("the token's account has no permission: check that the broadcast belongs to it")]
    Forbidden,
    #[error("too many requests: Lichess asks for a pause of {} s", pause.as_secs())]
    TooMany { pause: Duration },
    #[error("not found on Lichess: {object}")]
    Missing { object: String },
    /// Any other error status, or an answer that cannot be parsed.
    #[error("Lichess answered {status}: {text}")]
    Answer {
        status: StatusCode,
        /// The error message of the answer, shortened.
        text: String,
    },
    /// No answer, for this reason.
    #[error("{0}")]
    Silent(String),
}

impl LichessFailure {
    /// The pause before the next attempt, if the failure requires a specific one.
    pub(super) const fn pause(&self) -> Option<Duration> {
        match self {
            Self::TooMany { pause } => Some(*pause),
            // Only a person can correct these failures, so frequent attempts are pointless.
            Self::NoToken(_) | Self::Token { .. } | Self::Forbidden => Some(LONGEST_PAUSE),
            _ => None,
        }
    }

    /// Whether Lichess rejects what was sent, so that sending the same again is pointless.
    pub(super) fn is_rejection(&self) -> bool {
        matches!(self, Self::Answer { status, .. } if *status == StatusCode::BAD_REQUEST)
    }

    pub(super) const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }
}

/// Timeout of a request. Lichess processes a push for at most ten seconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// Limit for an answer in bytes. The longest lists the games of a round.
const MAX_ANSWER: usize = 4 << 20;
const CREDENTIAL: &str = "lichess-token";
const SCOPE: &str = "study:write";
/// Query of an edit that keeps the fields that the form does not have. Without it, Lichess deletes their values.
const PATCH: &str = "patch=true";

impl LichessClient {
    pub(super) fn new(settings: Lichess) -> Self {
        let agent = concat!("kiebitz/", env!("CARGO_PKG_VERSION"));
        let http = reqwest::Client::builder()
            .user_agent(agent)
            .timeout(PATIENCE)
            .build();
        Self {
            // If this computer has no CA certificates, the first request reports the error.
            http: http.unwrap_or_default(),
            settings,
        }
    }

    pub(super) fn server(&self) -> &str {
        self.settings.server.trim_end_matches('/')
    }

    pub(super) fn configured(&self) -> Option<&str> {
        self.settings.broadcast.as_deref()
    }

    /// Checks that the token has the scope `study:write`.
    pub(super) async fn check_token(&self) -> Result<(), LichessFailure> {
        let token = self.token()?;
        let request = self
            .http
            .post(format!("{}/api/token/test", self.server()))
            .body(token.clone());
        let answer = json(checked(request).await?).await?;
        let scopes = answer
            .get(&token)
            .and_then(|known| known.get("scopes"))
            .and_then(Value::as_str);
        let allows = scopes.is_some_and(|scopes| scopes.split(',').any(|scope| scope.trim() == SCOPE));
        allows.then_some(()).ok_or_else(|| self.wrong_token())
    }

    pub(super) async fn rounds(&self, tour: &str) -> Result<Vec<(String, String)>, LichessFailure> {
        let request = self.http.get(format!("{}/api/broadcast/{tour}", self.server()));
        let answer = self.request_json(request, &format!("broadcast {tour}")).await?;
        let rounds = answer.get("rounds").and_then(Value::as_array);
        let text = |round: &Value, name: &str| Some(round.get(name)?.as_str()?.to_owned());
        let named = |round: &Value| Some((text(round, "name")?, text(round, "id")?));
        Ok(rounds.into_iter().flatten().filter_map(named).collect())
    }

    /// Creates a broadcast and returns its id.
    pub(super) async fn new_tour(&self, form: &LichessForm) -> Result<String, LichessFailure> {
        let answer = self
            .submit("broadcast/new", form, "the page for new broadcasts")
            .await?;
        id(&answer, "tour")
    }

    /// Changes the fields of a broadcast that the form has.
    pub(super) async fn edit_tour(&self, tour: &str, form: &LichessForm) -> Result<(), LichessFailure> {
        let path = format!("broadcast/{tour}/edit?{PATCH}");
        self.submit(&path, form, &format!("broadcast {tour}"))
            .await
            .map(drop)
    }

    /// Creates a round whose games are pushed, and returns its id.
    pub(super) async fn new_round(&self, tour: &str, form: &LichessForm) -> Result<String, LichessFailure> {
        let path = format!("broadcast/{tour}/new");
        let answer = self.submit(&path, form, &format!("broadcast {tour}")).await?;
        id(&answer, "round")
    }

    /// Changes the fields of a round that the form has.
    pub(super) async fn edit_round(&self, round: &str, form: &LichessForm) -> Result<(), LichessFailure> {
        let path = format!("broadcast/round/{round}/edit?{PATCH}");
        self.submit(&path, form, &format!("round {round}"))
            .await
            .map(drop)
    }

    async fn submit(&self, path: &str, form: &LichessForm, object: &str) -> Result<Value, LichessFailure> {
        let request = self
            .http
            .post(format!("{}/{path}", self.server()))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form.encoded());
        self.request_json(request, object).await
    }

    /// Sends the games of a round. Returns the outcome for each game.
    pub(super) async fn push(&self, round: &str, pgn: &str) -> Result<Vec<Pushed>, LichessFailure> {
        let url = format!("{}/api/broadcast/round/{round}/push", self.server());
        let request = self
            .http
            .post(url)
            .header("content-type", "text/plain; charset=utf-8")
            .body(pgn.to_owned());
        let answer = self.request_json(request, &format!("round {round}")).await?;
        let games = answer.get("games").and_then(Value::as_array);
        let pushed = games.into_iter().flatten().map(|game| {
            let error = game.get("error").and_then(Value::as_str);
            let moves = game.get("moves").and_then(Value::as_u64).unwrap_or_default();
            error.map_or_else(
                || Pushed::Moves(usize::try_from(moves).unwrap_or(usize::MAX)),
                |error| Pushed::Refused(shortened(error)),
            )
        });
        Ok(pushed.collect())
    }

    async fn request_json(&self, request: RequestBuilder, object: &str) -> Result<Value, LichessFailure> {
        let request = request
            .bearer_auth(self.token()?)
            .header("accept", "application/json");
        match checked(request).await {
            Ok(answer) => json(answer).await,
            Err(LichessFailure::Answer { status, .. }) if status == StatusCode::UNAUTHORIZED => {
                Err(self.wrong_token())
            }
            Err(LichessFailure::Answer { status, .. }) if status == StatusCode::FORBIDDEN => {
                Err(LichessFailure::Forbidden)
            }
            Err(LichessFailure::Answer { status, .. }) if status == StatusCode::NOT_FOUND => {
                Err(LichessFailure::Missing {
                    object: object.to_owned(),
                })
            }
            Err(failure) => Err(failure),
        }
    }

    fn wrong_token(&self) -> LichessFailure {
        let server = self.server().to_owned();
        LichessFailure::Token { server }
    }

    /// Reads the token for each request, so that a new token needs no restart.
    fn token(&self) -> Result<String, LichessFailure> {
        let credentials = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
        let file = self
            .settings
            .token_file
            .clone()
            .or_else(|| Some(credentials?.join(CREDENTIAL)));
        let Some(file) = file else {
            let problem = "there is no token: write it to a file, and set `token_file` under [lichess]";
            return Err(LichessFailure::NoToken(problem.to_owned()));
        };
        read_token(&file).map_err(|error| LichessFailure::NoToken(format!("{error:#}")))
    }
}

/// Omits the token.
impl fmt::Debug for LichessClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

async fn checked(request: RequestBuilder) -> Result<Response, LichessFailure> {
    let answer = request.send().await.map_err(|error| no_answer(&error))?;
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    if status == StatusCode::TOO_MANY_REQUESTS {
        let after = answer
            .headers()
            .get(RETRY_AFTER)
            .and_then(|after| after.to_str().ok()?.parse().ok());
        let pause = after.map_or(LONGEST_PAUSE, |seconds| {
            Duration::from_secs(seconds).max(LONGEST_PAUSE)
        });
        return Err(LichessFailure::TooMany { pause });
    }
    let text = text_up_to(answer, MAX_ERROR).await.unwrap_or_default();
    let error: Option<Value> = serde_json::from_str(&text).ok();
    let error = error.as_ref().and_then(|error| error.get("error"));
    let text = error.map_or(text, |error| {
        error.as_str().map_or_else(|| error.to_string(), str::to_owned)
    });
    Err(LichessFailure::Answer {
        status,
        text: shortened(&text),
    })
}

async fn json(answer: Response) -> Result<Value, LichessFailure> {
    let status = answer.status();
    let text = text_up_to(answer, MAX_ANSWER)
        .await
        .map_err(|error| no_answer(&error))?;
    serde_json::from_str(&text).map_err(|_| LichessFailure::Answer {
        status,
        text: shortened(&text),
    })
}

fn no_answer(error: &reqwest::Error) -> LichessFailure {
    LichessFailure::Silent(describe_no_answer(error))
}

fn id(answer: &Value, of: &str) -> Result<String, LichessFailure> {
    let id = answer.get(of).and_then(|of| of.get("id")).and_then(Value::as_str);
    id.map(str::to_owned).ok_or_else(|| LichessFailure::Answer {
        status: StatusCode::OK,
        text: shortened(&answer.to_string()),
    })
}
