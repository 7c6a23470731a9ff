//! Addresses of others that something is posted to.

use core::time::Duration;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use reqwest::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};

use super::answers::{shortened, silence};

/// An address takes longer for nothing, or it is not there.
const PATIENCE: Duration = Duration::from_secs(20);
/// Pauses after a failure, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// An address, and how it is posted to.
#[derive(Debug)]
pub(in crate::outputs) struct Address {
    http: Client,
    /// What it is called among the outputs.
    output: String,
    /// `{round}` in it stands for the number of the round.
    url: String,
    /// The file with a token in its first line.
    token_file: Option<PathBuf>,
    /// After the next failure.
    pause: Duration,
}

/// What could not be posted.
#[derive(Debug)]
pub(in crate::outputs) struct PostFailure {
    pub(in crate::outputs) problem: String,
    /// The address itself says when it wants to be asked again.
    again: Option<Duration>,
}

impl Address {
    pub(in crate::outputs) fn new(output: String, url: String, token_file: Option<PathBuf>) -> Self {
        let agent = concat!("kiebitz/", env!("CARGO_PKG_VERSION"));
        let http = Client::builder()
            .user_agent(agent)
            .timeout(PATIENCE)
            // What is posted would become a question.
            .redirect(Policy::none())
            .build();
        Self {
            // Where there are no certificates on this computer, the first request says so.
            http: http.unwrap_or_default(),
            output,
            url,
            token_file,
            pause: FIRST_PAUSE,
        }
    }

    /// What it is called among the outputs.
    pub(in crate::outputs) fn output(&self) -> &str {
        &self.output
    }

    /// Posts something to the address of a round.
    pub(in crate::outputs) async fn post(
        &mut self,
        round: Option<u32>,
        media_type: &str,
        body: Vec<u8>,
    ) -> Result<(), PostFailure> {
        let posted = self.try_to_post(round, media_type, body).await;
        if posted.is_ok() {
            self.pause = FIRST_PAUSE;
        }
        posted
    }

    /// How long to wait after a failure.
    pub(in crate::outputs) fn wait(&mut self, refused: &PostFailure) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        refused.again.unwrap_or(pause).max(pause)
    }

    async fn try_to_post(
        &self,
        round: Option<u32>,
        media_type: &str,
        body: Vec<u8>,
    ) -> Result<(), PostFailure> {
        let round = round.map(|round| round.to_string()).unwrap_or_default();
        let url = self.url.replace("{round}", &round);
        let mut request = self.http.post(url).header(CONTENT_TYPE, media_type).body(body);
        if let Some(token) = self.token()? {
            request = request.bearer_auth(token);
        }
        let answer = request
            .send()
            .await
            .map_err(|error| silence(&error.without_url()))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let again = header(RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
        let again = again.map(|seconds| Duration::from_secs(seconds).min(LONGEST_PAUSE));
        let elsewhere = header(LOCATION).map(|place| format!(", moved to {}", shortened(place)));
        let problem = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                format!("the server answered {status}: check the token")
            }
            _ => {
                let elsewhere = elsewhere.unwrap_or_default();
                let text = shortened(&answer.text().await.unwrap_or_default());
                let text = if text.is_empty() {
                    text
                } else {
                    format!(": {text}")
                };
                format!("the server answered {status}{elsewhere}{text}")
            }
        };
        Err(PostFailure { problem, again })
    }

    /// It is read each time: a new one needs no restart.
    fn token(&self) -> Result<Option<String>> {
        let Some(file) = &self.token_file else {
            return Ok(None);
        };
        let text = crate::text_file::read(file)
            .with_context(|| format!("cannot read the token from {}", file.display()))?;
        let token = text.lines().next().unwrap_or_default().trim();
        if token.is_empty() || token.contains(|c: char| !c.is_ascii_graphic()) {
            bail!("there is no token in the first line of {}", file.display());
        }
        Ok(Some(token.to_owned()))
    }
}

impl From<anyhow::Error> for PostFailure {
    fn from(error: anyhow::Error) -> Self {
        Self {
            problem: format!("{error:#}"),
            again: None,
        }
    }
}

impl From<String> for PostFailure {
    fn from(problem: String) -> Self {
        Self { problem, again: None }
    }
}
