//! Users of the desk: a file with a line `NAME ROLE HASH` for each.

use core::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use kiebitz_game::events::Action;
use kiebitz_game::vocabulary;
use rustix::fs::Access;

vocabulary! {
    "role"
    /// Role of a user, which decides what they may do at the desk.
    pub(crate) enum Role {
        /// Sees everything and changes nothing.
        Viewer = "viewer",
        /// Decides about games and incidents.
        Arbiter = "arbiter",
        /// Also manages boards, rounds and pairings.
        Operator = "operator",
    }
}

impl Role {
    pub(crate) const fn may(self, action: Action) -> bool {
        match action {
            Action::SetTable | Action::StartRound | Action::Forget => matches!(self, Self::Operator),
            Action::SetPlayers
            | Action::SetTimeControl
            | Action::SetResult
            | Action::AssignGame
            | Action::SetPosition
            | Action::CorrectMoves
            | Action::CloseIncident
            | Action::Annotate
            | Action::Attend
            | Action::NewGame
            | Action::EndGame
            | Action::Identify
            | Action::SyncClockSides
            | Action::Claim
            | Action::DecideClaim => !matches!(self, Self::Viewer),
        }
    }
}

/// Hash that no password matches. It is checked for unknown users, so that their logins take as long as others.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$c29tZSBvdGhlciBzYWx0$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Placeholder for the hash of users who log in at a proxy.
const BY_PROXY: &str = "-";

/// Checks a password and returns the user's role; `None` if the user is unknown or the password wrong. Fails if the
/// file cannot be read or has an invalid line.
pub(super) fn role_of(file: &Path, name: &str, password: &str) -> Result<Option<Role>> {
    let found = find(file, name)?;
    let hash = found.as_ref().map(|(_, hash)| &**hash);
    let hash = hash.filter(|hash| *hash != BY_PROXY).unwrap_or(DUMMY_HASH);
    let hash = PasswordHash::new(hash).map_err(|error| anyhow!("{}: {error}", file.display()))?;
    let is_right = Argon2::default()
        .verify_password(password.as_bytes(), &hash)
        .is_ok();
    Ok(found.filter(|_| is_right).map(|(role, _)| role))
}

/// Returns the role of a user who has logged in at a proxy; `None` if the user is unknown. Fails if the file cannot be
/// read or has an invalid line.
pub(super) fn role_by_proxy(file: &Path, name: &str) -> Result<Option<Role>> {
    Ok(find(file, name)?.map(|(role, _)| role))
}

fn find(file: &Path, name: &str) -> Result<Option<(Role, String)>> {
    let users = users(file)?;
    let found = users.into_iter().rfind(|user| user.name == name);
    Ok(found.map(|user| (user.role, user.hash)))
}

fn users(file: &Path) -> Result<Vec<User>> {
    let text = crate::text_file::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| User::read(line).with_context(|| format!("{}:{number}", file.display())))
        .collect()
}

/// Whether the file has no users or does not exist. A file that cannot be read may have some.
pub(super) fn has_no_users(file: &Path) -> bool {
    match crate::text_file::read(file) {
        Ok(text) => text
            .lines()
            .map(str::trim)
            .all(|line| line.is_empty() || line.starts_with('#')),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Checks a file of users. Returns the problem with its next step. A missing file is not a problem if it can be created,
/// because the desk then asks for the first operator.
pub(super) fn problem(file: &Path) -> Option<String> {
    let shown = file.display();
    if !file.exists() {
        let folder = file.parent()?;
        let access = rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK);
        return access.is_err().then(|| {
            format!(
                "{shown} does not exist, and the desk cannot create it: correct `users_file`, or add a user with \
                 `kiebitz user --role operator NAME >>{shown}`"
            )
        });
    }
    let users = match users(file) {
        Ok(users) => users,
        Err(error) => {
            return Some(format!(
                "nobody can log in at the desk: {error:#}; correct the file, or its permissions"
            ));
        }
    };
    let is_damaged = |user: &&User| user.hash != BY_PROXY && PasswordHash::new(&user.hash).is_err();
    let user = users.iter().find(is_damaged)?;
    Some(format!(
        "{} cannot log in at the desk: {shown} has no valid hash for this user; copy the whole line that `kiebitz user` \
         prints",
        user.name
    ))
}

/// Adds an operator to a file without users. Fails if the file has users, the name or the password is not allowed, or
/// the file cannot be written.
pub(super) fn add_first(file: &Path, name: &str, password: &str) -> Result<()> {
    if !has_no_users(file) {
        bail!("there already is an operator: log in");
    }
    let line = line(name, Role::Operator, password)?;
    let mut options = OpenOptions::new();
    let opened = options.create(true).append(true).mode(0o600).open(file);
    opened
        .and_then(|mut file| writeln!(file, "{line}"))
        .with_context(|| {
            format!(
                "cannot write {} (`kiebitz user` prints a line to add by hand)",
                file.display()
            )
        })
}

/// Creates the line of a user. Fails if the name or the password is not allowed.
pub(crate) fn line(name: &str, role: Role, password: &str) -> Result<String> {
    if name.is_empty()
        || name.starts_with('#')
        || name.contains(|c: char| c.is_whitespace() || c.is_control())
    {
        bail!("a name must not contain spaces or begin with #");
    }
    if password.chars().count() < MIN_PASSWORD {
        bail!("a password needs at least {MIN_PASSWORD} characters");
    }
    let hash = Argon2::default()
        .hash_password(password.as_bytes())
        .map_err(|error| anyhow!("cannot hash the password: {error}"))?;
    Ok(format!("{name} {role} {hash}"))
}

/// Minimum length of a password, in characters.
const MIN_PASSWORD: usize = 8;

/// A line of the file.
struct User {
    name: String,
    role: Role,
    hash: String,
}

impl User {
    fn read(line: &str) -> Result<Self> {
        let mut parts = line.split_whitespace();
        let (Some(name), Some(role), Some(hash), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            bail!("expected a name, a role and a hash, as printed by `kiebitz user`");
        };
        let known = Role::ALL.iter().find(|known| known.as_str() == role);
        let role =
            *known.with_context(|| format!("unknown role {role:?}; expected viewer, arbiter or operator"))?;
        Ok(Self {
            name: name.to_owned(),
            role,
            hash: hash.to_owned(),
        })
    }
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User")
            .field("name", &self.name)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_let_in_only_with_their_password() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("users");
        let lines = [
            line("meier", Role::Arbiter, "rook-on-a1").expect("a line"),
            line("hall", Role::Viewer, "look at it").expect("a line"),
        ];
        std::fs::write(&file, format!("# arbiters\n\n{}\r\n", lines.join("\n"))).expect("a file");
        let role = |name, password| role_of(&file, name, password).expect("users");
        assert_eq!(role("meier", "rook-on-a1"), Some(Role::Arbiter));
        assert_eq!(role("hall", "look at it"), Some(Role::Viewer));
        assert_eq!(role("meier", "look at it"), None);
        assert_eq!(role("Meier", "rook-on-a1"), None);
        assert_eq!(role("", ""), None);
        assert_ne!(
            lines[0],
            line("meier", Role::Arbiter, "rook-on-a1").expect("a line"),
            "salted"
        );
    }

    #[test]
    fn a_wrong_line_is_reported_with_its_number() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("users");
        for (text, problem) in [
            ("meier arbiter", "users:1: expected a name, a role and a hash"),
            ("\nmeier chief $argon2id$", "users:2: unknown role \"chief\""),
            ("meier arbiter secret", "users: "),
        ] {
            std::fs::write(&file, text).expect("a file");
            let error = format!("{:#}", role_of(&file, "meier", "secret").expect_err("no users"));
            assert!(error.contains(problem), "{error}");
        }
        assert!(role_of(&directory.path().join("none"), "meier", "secret").is_err());
        for (name, password) in [
            ("", "long enough"),
            ("a b", "long enough"),
            ("#a", "long enough"),
            ("a", "short"),
        ] {
            assert!(line(name, Role::Viewer, password).is_err(), "{name}");
        }
    }

    #[test]
    fn the_first_operator_is_added_to_a_file_without_users() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("users");
        assert!(has_no_users(&file), "there is no file");
        assert!(add_first(&file, "chief", "short").is_err());
        std::fs::write(&file, "# those who work here\n\n").expect("a file");
        assert!(has_no_users(&file));
        add_first(&file, "chief", "operate-it").expect("the first");
        assert!(!has_no_users(&file));
        let role = role_of(&file, "chief", "operate-it").expect("users");
        assert_eq!(role, Some(Role::Operator));
        assert!(add_first(&file, "other", "operate-it").is_err(), "there is one");
        assert!(
            add_first(directory.path(), "chief", "operate-it").is_err(),
            "a folder"
        );
    }

    #[test]
    fn unknown_users_take_as_long_as_known_ones() {
        let hash = PasswordHash::new(DUMMY_HASH).expect("a hash");
        assert!(Argon2::default().verify_password(b"any", &hash).is_err());
    }
}
