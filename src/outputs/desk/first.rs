//! Creation of the first operator. While the users' file is empty, anyone who can read the log may create one, with a
//! one-time code that kiebitz logs at its start.

use core::fmt;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use serde::Deserialize;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::door::{SharedDesk, refused, too_many_tries, try_again};
use super::limits::Source;
use super::secrets::{are_same, random};
use super::settings::DeskSettings;
use super::users;
use crate::outputs::mqtt::host_name;
use crate::outputs::shared::http::Peer;
use crate::system_time::moment;

/// One-time code; `None` once there are users.
#[derive(Default)]
pub(super) struct FirstUserCode(Arc<Mutex<Option<String>>>);

/// Text in the log before the code, by which `kiebitz bundle` finds and hides the code.
pub(crate) const CODE_INTRO: &str = "create the first operator with the code ";
/// Letters and digits of the code, five bits each. I, O, 0 and 1 are left out, because they are easily confused.
const LETTERS: [u8; 32] = *b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH: usize = 10;
/// Name under which wrong codes are counted. Names of users cannot begin with #.
const CODE_ATTEMPTS: &str = "# the first operator";

impl FirstUserCode {
    /// Creates a code and logs it, if the users' file is empty and no proxy is configured.
    pub(super) fn offered(settings: &DeskSettings) -> Self {
        if settings.user_header.is_some() || !users::has_no_users(&settings.users_file) {
            return Self::default();
        }
        let code = match code() {
            Ok(code) => code,
            Err(error) => {
                tracing::warn!("[desk]: nobody can log in: {error:#}");
                return Self::default();
            }
        };
        let listen = settings.listen;
        // Browsers cannot open the unspecified address, such as 0.0.0.0.
        let host = match listen.ip().is_unspecified() {
            true => format!("{}:{}", host_name(), listen.port()),
            false => listen.to_string(),
        };
        tracing::warn!("[desk]: there are no users yet; open http://{host}/ and {CODE_INTRO}{code}");
        Self::of(code)
    }

    fn of(code: String) -> Self {
        Self(Arc::new(Mutex::new(Some(code))))
    }

    pub(super) async fn is_offered(&self, users_file: &Path) -> bool {
        self.current(users_file).await.is_some()
    }

    #[cfg(test)]
    pub(super) async fn offer(&self, code: &str) {
        *self.0.lock().await = Some(code.to_owned());
    }

    /// Returns the locked code if the file still has no users. Discards the code once the file has users.
    async fn current(&self, users_file: &Path) -> Option<OwnedMutexGuard<Option<String>>> {
        let mut code = Arc::clone(&self.0).lock_owned().await;
        code.as_ref()?;
        let file = users_file.to_owned();
        // The code stays locked, so that at most one thread waits for the disk.
        let read = tokio::task::spawn_blocking(move || users::has_users(&file)).await;
        match read {
            Ok(Ok(false)) => Some(code),
            Ok(Ok(true)) => {
                tracing::info!(
                    "[desk]: there are users now; the code for the first operator is no longer valid"
                );
                *code = None;
                None
            }
            // The file may have users, or may be readable later, so the code is neither offered nor discarded.
            Ok(Err(_)) | Err(_) => None,
        }
    }
}

impl fmt::Debug for FirstUserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("First").finish_non_exhaustive()
    }
}

fn code() -> Result<String> {
    let random: [u8; LENGTH] = random()?;
    let letters = random.iter().map(|byte| LETTERS[usize::from(byte % 32)]);
    Ok(letters.map(char::from).collect())
}

/// Normalises a typed code: people type it in lower case and divide it with hyphens or spaces.
fn normalized(typed: &str) -> String {
    let is_divider = |c: char| c.is_whitespace() || matches!(c, '-' | '\u{2010}'..='\u{2015}');
    let letters = typed.chars().filter(|c| !is_divider(*c));
    letters.map(|c| c.to_ascii_uppercase()).collect()
}

#[derive(Deserialize)]
pub(super) struct FirstUserForm {
    code: String,
    user: String,
    password: String,
}

/// Creates the first operator and begins their session.
pub(super) async fn create(
    State(state): SharedDesk,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    Json(form): Json<FirstUserForm>,
) -> Response {
    // Locked until the operator is created, so that only one of several concurrent requests creates one.
    let code = state.first.current(&state.settings.users_file).await;
    let Some((mut code, expected)) = code.and_then(|code| code.clone().map(|expected| (code, expected)))
    else {
        return refused(StatusCode::NOT_FOUND, "there already is an operator: log in");
    };
    let source = Source::of_address(peer.0);
    if let Err(wait) = state.limits(|limits| limits.begin(moment(), source, CODE_ATTEMPTS)) {
        return too_many_tries(wait);
    }
    if !are_same(&expected, &normalized(&form.code)) {
        tracing::warn!("[desk]: a wrong code was entered");
        return refused(StatusCode::UNAUTHORIZED, "wrong code: see the log");
    }
    let file = state.settings.users_file.clone();
    // The closure runs to its end even if the client hangs up, so it must own the lock and discard the code.
    let create = move |memory: &mut _| {
        let user = users::add_first(&file, &form.user, &form.password, memory)?;
        tracing::info!("[desk]: {} is the first operator", user.name);
        *code = None;
        anyhow::Ok(user)
    };
    let user = match state.passwords.run(source, create).await {
        Err(unchecked) => {
            state.limits(|limits| limits.withdraw(source, CODE_ATTEMPTS));
            return try_again(&unchecked);
        }
        Ok(Err(error)) => return refused(StatusCode::UNPROCESSABLE_ENTITY, &format!("{error:#}")),
        Ok(Ok(user)) => user,
    };
    state.begin_session(&headers, &user, source).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_random_and_compared_in_full() {
        let code = code().expect("randomness");
        assert_eq!(code.len(), LENGTH);
        assert!(code.bytes().all(|byte| LETTERS.contains(&byte)), "{code}");
        assert_ne!(code, super::code().expect("randomness"));
        assert!(are_same(&code, &code.clone()));
        for other in ["", &code[1..], &format!("{code}A"), "AAAAAAAAAA"] {
            assert!(!are_same(&code, other), "{other}");
        }
    }

    #[test]
    fn a_code_may_be_typed_in_lower_case_and_with_hyphens() {
        for typed in [
            "ABCDE23456",
            "abcde23456",
            " abcde-23456 ",
            "AbC-dE2-345-6",
            "abcde\u{2013}23456",
        ] {
            assert_eq!(normalized(typed), "ABCDE23456", "{typed}");
        }
        assert_ne!(normalized("ABCDE_23456"), "ABCDE23456");
    }

    #[tokio::test]
    async fn the_code_is_discarded_once_the_file_has_users() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("users");
        let first = FirstUserCode::of("ABCDE23456".to_owned());
        assert!(first.is_offered(&file).await, "there is no file");
        std::fs::create_dir(&file).expect("a folder");
        assert!(!first.is_offered(&file).await, "it cannot be read");
        std::fs::remove_dir(&file).expect("a folder");
        std::fs::write(&file, "# arbiters\n").expect("users");
        assert!(first.is_offered(&file).await, "there are no users");
        std::fs::write(&file, "# arbiters\nmeier arbiter -\n").expect("users");
        assert!(!first.is_offered(&file).await);
        std::fs::write(&file, "").expect("users");
        assert!(!first.is_offered(&file).await, "the code was dropped");
        assert!(!FirstUserCode::default().is_offered(&file).await);
    }
}
