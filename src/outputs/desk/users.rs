//! Users of the desk: a file with a line `NAME ROLE HASH` for each.

use core::fmt;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use kiebitz_game::events::Action;
use kiebitz_game::vocabulary;
use rustix::fs::Access;

use super::passwords::{HashMemory, check_hash};
use super::secrets::{Digest, digest};

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
            | Action::SetBye
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

/// Checks a password and returns the user; `None` if the user is unknown or the password wrong. Fails if the file cannot
/// be read or has an invalid line.
pub(super) fn by_password(
    file: &Path,
    name: &str,
    password: &str,
    memory: &mut HashMemory,
) -> Result<Option<User>> {
    let found = find(file, name)?;
    let hash = found.as_ref().map(|user| &*user.hash);
    let hash = hash.filter(|hash| *hash != BY_PROXY).unwrap_or(DUMMY_HASH);
    let is_right = memory.is_right(password, hash);
    let is_right = is_right.with_context(|| format!("{}: the line of {name}", file.display()))?;
    Ok(found.filter(|_| is_right))
}

/// Returns a user who has logged in at a proxy; `None` if the user is unknown. Fails if the file cannot be read or has
/// an invalid line.
pub(super) fn find(file: &Path, name: &str) -> Result<Option<User>> {
    let users = users(file)?;
    // If a name occurs twice, the last line applies.
    Ok(users.into_iter().rfind(|user| user.name == name))
}

fn users(file: &Path) -> Result<Vec<User>> {
    let text = crate::text_file::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let lines = lines_with_users(&text);
    lines
        .map(|(number, line)| User::read(line).with_context(|| format!("{}:{number}", file.display())))
        .collect()
}

/// Returns the lines that are neither empty nor comments, with their numbers.
fn lines_with_users(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the digests of the lines that apply, without invalid ones. A missing file has none. Fails if the file cannot
/// be read.
pub(super) fn listed(file: &Path) -> io::Result<Vec<Digest>> {
    let text = read_or_empty(file)?;
    let users = lines_with_users(&text).filter_map(|(_, line)| User::read(line).ok());
    let users: BTreeMap<String, Digest> = users
        .map(|user| {
            let line = user.line_digest();
            (user.name, line)
        })
        .collect();
    Ok(users.into_values().collect())
}

/// Returns the names of the users in a file. Fails if the file cannot be read.
pub(crate) fn names(file: &Path) -> io::Result<Vec<String>> {
    let text = crate::text_file::read(file)?;
    let users = lines_with_users(&text).filter_map(|(_, line)| User::read(line).ok());
    Ok(users.map(|user| user.name).collect())
}

/// Whether the file has no users or does not exist. A file that cannot be read may have some.
pub(super) fn has_no_users(file: &Path) -> bool {
    has_users(file).is_ok_and(|has_users| !has_users)
}

/// Whether the file has users. Fails if the file exists but cannot be read.
pub(super) fn has_users(file: &Path) -> io::Result<bool> {
    let text = read_or_empty(file)?;
    Ok(lines_with_users(&text).next().is_some())
}

/// Reads the file. A missing file is empty.
fn read_or_empty(file: &Path) -> io::Result<String> {
    // A comment in Latin-1 must not keep users of removed lines logged in.
    match crate::text_file::read_lossy(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

/// Checks a file of users. Returns the problem with its next step. A missing file is not a problem if it can be created,
/// because the desk then asks for the first operator. `by_proxy` is whether a proxy checks the passwords.
pub(super) fn problem(file: &Path, by_proxy: bool) -> Option<String> {
    let shown = file.display();
    let is = |error: &io::Error, kind| error.kind() == kind;
    if file
        .metadata()
        .is_err_and(|error| is(&error, io::ErrorKind::NotFound))
    {
        let existing = file.ancestors().skip(1).find(|folder| folder.exists())?;
        let access = rustix::fs::access(existing, Access::WRITE_OK | Access::EXEC_OK);
        return access.is_err().then(|| {
            format!(
                "{shown} does not exist, and the desk cannot create it: correct `users_file`, or add a user with \
                 `kiebitz user --role operator NAME >>{shown}`"
            )
        });
    }
    let users = match users(file) {
        Ok(users) => users,
        Err(error)
            if error
                .downcast_ref()
                .is_some_and(|error| is(error, io::ErrorKind::PermissionDenied)) =>
        {
            return Some(format!(
                "you have no permission to read {shown}, so its users are not checked: repeat this as the user who runs \
                 kiebitz, for example with `sudo -u kiebitz`"
            ));
        }
        Err(error) => {
            return Some(format!(
                "nobody can log in at the desk: {error:#}; correct the file, or its permissions"
            ));
        }
    };
    if by_proxy {
        return None;
    }
    // If a name occurs twice, the last line applies.
    let users: BTreeMap<&str, &User> = users.iter().map(|user| (&*user.name, user)).collect();
    let is_damaged = |user: &&User| user.hash != BY_PROXY && check_hash(&user.hash).is_err();
    let user = users.into_values().find(is_damaged)?;
    Some(format!(
        "{} cannot log in at the desk: {shown} has no valid hash for this user; copy the whole line that `kiebitz user` \
         prints",
        user.name
    ))
}

/// Adds an operator to a file without users and returns the operator. Creates the file's folder if it is missing. Fails
/// if the file has users, the name or the password is not allowed, or the file cannot be written.
pub(super) fn add_first(file: &Path, name: &str, password: &str, memory: &mut HashMemory) -> Result<User> {
    if !has_no_users(file) {
        bail!("there already is an operator: log in");
    }
    let line = line_with(name, Role::Operator, password, memory)?;
    let created = file.parent().map_or(Ok(()), crate::folder::create);
    let mut options = OpenOptions::new();
    let opened = created.and_then(|()| options.create(true).append(true).mode(0o600).open(file));
    let written = opened.and_then(|mut opened| {
        // Some editors omit the line break after the last line, which may be a comment.
        let text = read_or_empty(file)?;
        let line_break = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        opened.write_all(format!("{line_break}{line}\n").as_bytes())
    });
    written.with_context(|| {
        format!(
            "cannot write {} (`kiebitz user` prints a line to add by hand)",
            file.display()
        )
    })?;
    User::read(&line)
}

/// Creates the line of a user. Fails if the name or the password is not allowed.
pub(crate) fn line(name: &str, role: Role, password: &str) -> Result<String> {
    line_with(name, role, password, &mut HashMemory::default())
}

fn line_with(name: &str, role: Role, password: &str, memory: &mut HashMemory) -> Result<String> {
    if name.is_empty()
        || name.starts_with('#')
        || name.contains(|c: char| c.is_whitespace() || c.is_control())
    {
        bail!("a name must not contain spaces or begin with #");
    }
    if password.chars().count() < MIN_PASSWORD {
        bail!("a password needs at least {MIN_PASSWORD} characters");
    }
    let hash = memory.hash(password).context("cannot hash the password")?;
    Ok(format!("{name} {role} {hash}"))
}

/// Minimum length of a password, in characters.
const MIN_PASSWORD: usize = 8;

/// A line of the file.
pub(super) struct User {
    pub(super) name: String,
    pub(super) role: Role,
    hash: String,
}

impl User {
    /// Returns the digest of the line, which changes with role and password.
    pub(super) fn line_digest(&self) -> Digest {
        digest(&format!("{} {} {}", self.name, self.role, self.hash))
    }

    pub(super) fn read(line: &str) -> Result<Self> {
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

    fn role_of(file: &Path, name: &str, password: &str) -> Result<Option<Role>> {
        let user = by_password(file, name, password, &mut HashMemory::default());
        Ok(user?.map(|user| user.role))
    }

    fn add_first(file: &Path, name: &str, password: &str) -> Result<User> {
        super::add_first(file, name, password, &mut HashMemory::default())
    }

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
    fn the_lines_that_apply_are_listed() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("users");
        let digests = |lines: &[&str]| -> Vec<Digest> {
            let users = lines.iter().map(|line| User::read(line).expect("a user"));
            users.map(|user| user.line_digest()).collect()
        };
        assert_eq!(listed(&file).ok(), Some(Vec::new()), "there is no file");
        let text = "hall viewer -\n# meier viewer -\nmeier chief -\nmeier  arbiter x\nhall viewer y\n";
        std::fs::write(&file, text).expect("a file");
        assert_eq!(
            listed(&file).ok(),
            Some(digests(&["hall viewer y", "meier arbiter x"]))
        );
        std::fs::write(&file, b"# f\xfcr alle\nmeier arbiter x\nm\xfcller chief -\n").expect("a file");
        assert_eq!(listed(&file).ok(), Some(digests(&["meier arbiter x"])), "Latin-1");
        assert_ne!(digests(&["meier arbiter x"]), digests(&["meier viewer x"]));
        assert_ne!(digests(&["meier arbiter x"]), digests(&["meier arbiter y"]));
        assert!(listed(directory.path()).is_err());
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
        let in_new_folder = directory.path().join("state/users");
        assert_eq!(problem(&in_new_folder, false), None);
        add_first(&in_new_folder, "chief", "operate-it").expect("the first");
        let below_a_file = file.join("users");
        let found = problem(&below_a_file, false).expect("it cannot be created");
        assert!(found.contains("nobody can log in at the desk"), "{found}");
        assert!(add_first(&below_a_file, "chief", "operate-it").is_err());
    }

    #[test]
    fn only_lines_that_apply_to_a_login_are_checked() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("users");
        let right = line("meier", Role::Arbiter, "rook-on-a1").expect("a line");
        std::fs::write(&file, format!("meier arbiter half\n{right}\n")).expect("a file");
        assert_eq!(problem(&file, false), None, "the last line applies");
        std::fs::write(&file, format!("{right}\nmeier arbiter half\n")).expect("a file");
        let found = problem(&file, false).expect("no hash");
        assert!(found.starts_with("meier cannot log in at the desk"), "{found}");
        assert_eq!(problem(&file, true), None, "the proxy checks passwords");
    }

    #[test]
    fn the_first_operator_gets_a_line_after_an_unfinished_one() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("users");
        for (text, begin) in [
            ("# arbiters", "# arbiters\nchief operator "),
            ("", "chief operator "),
        ] {
            std::fs::write(&file, text).expect("a file");
            add_first(&file, "chief", "operate-it").expect("the first");
            let written = std::fs::read_to_string(&file).expect("users");
            assert!(written.starts_with(begin) && written.ends_with('\n'), "{written}");
            let role = role_of(&file, "chief", "operate-it").expect("users");
            assert_eq!(role, Some(Role::Operator), "{text}");
        }
    }

    #[test]
    fn unknown_users_take_as_long_as_known_ones() {
        let known = line("meier", Role::Arbiter, "rook-on-a1").expect("a line");
        let cost = "$argon2id$v=19$m=19456,t=2,p=1$";
        assert!(known.contains(cost) && DUMMY_HASH.starts_with(cost), "{known}");
        let is_right = HashMemory::default().is_right("any", DUMMY_HASH);
        assert_eq!(is_right.ok(), Some(false));
    }
}
