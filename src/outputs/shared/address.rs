//! POST requests to other servers.

use core::time::Duration;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use reqwest::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};

use super::answers::{MAX_ERROR, describe_no_answer, shortened, text_up_to};

/// Timeout of a request.
const PATIENCE: Duration = Duration::from_secs(20);
/// First and longest pause after failures. The pause doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Address that accepts POST requests.
#[derive(Debug)]
pub(in crate::outputs) struct Address {
    http: Client,
    /// Name of the output in reports.
    output: String,
    /// URL in which `{round}` is replaced by the number of the round.
    url: String,
    /// File with a bearer token in its first line.
    token_file: Option<PathBuf>,
    /// Pause after the next failure.
    pause: Duration,
}

#[derive(Debug)]
pub(in crate::outputs) struct PostFailure {
    pub(in crate::outputs) problem: String,
    /// Value of the server's `Retry-After` header, at most [`LONGEST_PAUSE`].
    retry_after: Option<Duration>,
}

impl Address {
    pub(in crate::outputs) fn new(output: String, url: String, token_file: Option<PathBuf>) -> Self {
        let agent = concat!("kiebitz/", env!("CARGO_PKG_VERSION"));
        let http = Client::builder()
            .user_agent(agent)
            .timeout(PATIENCE)
            // A redirect would turn the POST into a GET.
            .redirect(Policy::none())
            .build();
        Self {
            http: http.unwrap_or_default(),
            output,
            url,
            token_file,
            pause: FIRST_PAUSE,
        }
    }

    pub(in crate::outputs) fn output(&self) -> &str {
        &self.output
    }

    /// Posts to the address of a round. Returns the status of the server's answer.
    pub(in crate::outputs) async fn post(
        &mut self,
        round: Option<u32>,
        media_type: &str,
        body: Vec<u8>,
    ) -> Result<StatusCode, PostFailure> {
        let result = self.try_to_post(round, media_type, body).await;
        if result.is_ok() {
            self.pause = FIRST_PAUSE;
        }
        result
    }

    /// Returns the pause before the next attempt, the longer one of backoff and `Retry-After`, and doubles the backoff.
    pub(in crate::outputs) fn wait(&mut self, failure: &PostFailure) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        failure.retry_after.unwrap_or(pause).max(pause)
    }

    async fn try_to_post(
        &self,
        round: Option<u32>,
        media_type: &str,
        body: Vec<u8>,
    ) -> Result<StatusCode, PostFailure> {
        let round = round.map(|round| round.to_string()).unwrap_or_default();
        let url = self.url.replace("{round}", &round);
        let mut request = self.http.post(url).header(CONTENT_TYPE, media_type).body(body);
        if let Some(token) = self.token()? {
            request = request.bearer_auth(token);
        }
        let answer = request
            .send()
            .await
            .map_err(|error| describe_no_answer(&error.without_url()))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(status);
        }
        let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let retry_after = header(RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
        let retry_after = retry_after.map(|seconds| Duration::from_secs(seconds).min(LONGEST_PAUSE));
        let redirect = header(LOCATION).map(|location| format!(", moved to {}", shortened(location)));
        let problem = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                format!("the server answered {status}: check the token")
            }
            _ => {
                let redirect = redirect.unwrap_or_default();
                let text = shortened(&text_up_to(answer, MAX_ERROR).await.unwrap_or_default());
                let text = if text.is_empty() {
                    text
                } else {
                    format!(": {text}")
                };
                format!("the server answered {status}{redirect}{text}")
            }
        };
        Err(PostFailure { problem, retry_after })
    }

    /// Reads the token again for each request, so that a new token needs no restart.
    fn token(&self) -> Result<Option<String>> {
        self.token_file.as_deref().map(read_token).transpose()
    }
}

pub(in crate::outputs) fn read_token(file: &Path) -> Result<String> {
    let text = crate::text_file::read(file)
        .with_context(|| format!("cannot read the token from {}", file.display()))?;
    let token = text.lines().next().unwrap_or_default().trim();
    if token.is_empty() || token.contains(|c: char| !c.is_ascii_graphic()) {
        bail!("there is no token in the first line of {}", file.display());
    }
    Ok(token.to_owned())
}

/// Checks a token file. Returns the problem and how to solve it; `None` if the file has a token.
pub(in crate::outputs) fn token_problem(file: &Path) -> Option<String> {
    let error = read_token(file).err()?;
    Some(format!(
        "{error:#}: correct `token_file`, or write the token to that file"
    ))
}

impl From<anyhow::Error> for PostFailure {
    fn from(error: anyhow::Error) -> Self {
        Self {
            problem: format!("{error:#}"),
            retry_after: None,
        }
    }
}

impl From<String> for PostFailure {
    fn from(problem: String) -> Self {
        Self {
            problem,
            retry_after: None,
        }
    }
}
