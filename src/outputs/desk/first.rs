//! The first operator. As long as the users' file has nobody, whoever can read the log may make one, with a code.

use core::fmt;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::door::{SharedDesk, refused, too_often};
use super::sessions::Guest;
use super::settings::DeskSettings;
use super::users::{self, Role};
use crate::outputs::mqtt::host_name;
use crate::system_time::moment;

/// The code, as long as it is good for something.
#[derive(Default)]
pub(super) struct FirstUserCode(Mutex<Option<String>>);

/// Letters and digits that nobody takes for one another: each is five bits.
const LETTERS: [u8; 32] = *b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH: usize = 10;
/// Those who try codes are counted under this name, which nobody has.
const TRIES: &str = "# the first operator";

impl FirstUserCode {
    /// Makes a code and has the log say it, where nobody could log in.
    pub(super) fn offered(settings: &DeskSettings) -> Self {
        if settings.user_header.is_some() || !users::are_none(&settings.users_file) {
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
        // Nobody can open the address that stands for all of a computer's.
        let place = match listen.ip().is_unspecified() {
            true => format!("{}:{}", host_name(), listen.port()),
            false => listen.to_string(),
        };
        tracing::warn!(
            "[desk]: there are no users yet; open http://{place}/ and create the first operator with the code {code}"
        );
        Self(Mutex::new(Some(code)))
    }

    /// Whether there is a code.
    pub(super) async fn is_offered(&self) -> bool {
        self.0.lock().await.is_some()
    }
}

impl fmt::Debug for FirstUserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("First").finish_non_exhaustive()
    }
}

fn code() -> Result<String> {
    let mut random = [0; LENGTH];
    getrandom::fill(&mut random).context("the system provides no random numbers")?;
    let letters = random.iter().map(|byte| LETTERS[usize::from(byte % 32)]);
    Ok(letters.map(char::from).collect())
}

/// Whether two texts are the same; how long that takes says nothing of where they differ.
fn are_same(one: &str, other: &str) -> bool {
    let differ = one
        .bytes()
        .zip(other.bytes())
        .fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && differ == 0
}

#[derive(Deserialize)]
pub(super) struct FirstUserForm {
    code: String,
    user: String,
    password: String,
}

/// Makes the first operator, and logs them in.
pub(super) async fn make(
    State(door): SharedDesk,
    headers: HeaderMap,
    Json(asked): Json<FirstUserForm>,
) -> Response {
    // One after another: the second finds that there is one.
    let mut code = door.first.0.lock().await;
    let Some(right) = &*code else {
        return refused(StatusCode::NOT_FOUND, "there already is an operator: log in");
    };
    if let Err(wait) = door.sessions(|all| all.may_try(moment(), TRIES)) {
        return too_often(wait);
    }
    if !are_same(right, asked.code.trim()) {
        tracing::warn!("[desk]: a wrong code was entered");
        return refused(StatusCode::UNAUTHORIZED, "wrong code: see the log");
    }
    let turn = Arc::clone(&door.turns).acquire_owned().await;
    let (file, name) = (door.settings.users_file.clone(), asked.user.clone());
    let made = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        users::add_first(&file, &asked.user, &asked.password)
    });
    if let Err(error) = made.await.context("interrupted").and_then(|made| made) {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, &format!("{error:#}"));
    }
    *code = None;
    tracing::info!("[desk]: {name} is the first operator");
    let role = Role::Operator;
    door.welcome(&headers, Guest { name, role })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_random_and_held_against_all_of_what_is_said() {
        let code = code().expect("randomness");
        assert_eq!(code.len(), LENGTH);
        assert!(code.bytes().all(|byte| LETTERS.contains(&byte)), "{code}");
        assert_ne!(code, super::code().expect("randomness"));
        assert!(are_same(&code, &code.clone()));
        for other in ["", &code[1..], &format!("{code}A"), "AAAAAAAAAA"] {
            assert!(!are_same(&code, other), "{other}");
        }
    }
}
