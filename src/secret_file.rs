//! Permissions of files with secrets.

use std::path::Path;

/// The user who runs the daemon and must be able to read its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecretReader {
    user: u32,
    groups: Vec<u32>,
}

impl SecretReader {
    /// Returns the user of this process, which is the daemon. `None` on systems other than Unix.
    #[cfg(unix)]
    pub(crate) fn of_process() -> Option<Self> {
        use rustix::process::{getegid, geteuid, getgroups};

        let others = getgroups().unwrap_or_default();
        let groups = [getegid()].into_iter().chain(others);
        Some(Self {
            user: geteuid().as_raw(),
            groups: groups.map(|group| group.as_raw()).collect(),
        })
    }

    #[cfg(not(unix))]
    pub(crate) const fn of_process() -> Option<Self> {
        None
    }

    /// Returns the owner of the daemon's state directory. `None` if the directory does not exist yet.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_state(directory: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;

        let metadata = std::fs::metadata(directory).ok()?;
        Some(Self {
            user: metadata.uid(),
            groups: vec![metadata.gid()],
        })
    }
}

/// Whether every user of this computer may read a file; false if its permissions cannot be read.
pub(crate) fn is_open_to_all(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let mode = std::fs::metadata(path).map(|metadata| metadata.permissions().mode());
        mode.is_ok_and(|mode| mode & 0o004 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Returns the message about a file that every user may read, with the command that leaves it to `reader`. `secret` names
/// the content.
pub(crate) fn exposed(path: &Path, secret: &str, reader: Option<&SecretReader>) -> String {
    let shown = path.display();
    let advice = match reader.and_then(|reader| missing_group(path, reader)) {
        Some(group) => format!("run `chgrp {group} {shown} && chmod 640 {shown}`"),
        None if reader.is_some() => format!("run `chmod 640 {shown}`"),
        None => format!(
            "run `chmod 640 {shown}`, and make sure that the user who runs kiebitz owns the file or is in its group"
        ),
    };
    format!("{shown} contains {secret} and is readable by every user of this computer: {advice}")
}

/// Returns the group that a file needs so that `reader` can read it without the permission for all; `None` if the
/// reader is its owner or in its group.
#[cfg(unix)]
fn missing_group(path: &Path, reader: &SecretReader) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    let metadata = std::fs::metadata(path).ok()?;
    if metadata.uid() == reader.user || reader.groups.contains(&metadata.gid()) {
        return None;
    }
    let group = *reader.groups.first()?;
    let groups = std::fs::read_to_string("/etc/group").unwrap_or_default();
    Some(group_name(&groups, group).unwrap_or_else(|| group.to_string()))
}

#[cfg(not(unix))]
const fn missing_group(_path: &Path, _reader: &SecretReader) -> Option<String> {
    None
}

/// Returns the name of a group from the lines `NAME:PASSWORD:NUMBER:MEMBERS` of /etc/group.
#[cfg(unix)]
fn group_name(groups: &str, number: u32) -> Option<String> {
    let number = number.to_string();
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == number).then(|| name.to_owned())
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    #[test]
    fn file_readable_by_everyone_is_recognised() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("password");
        std::fs::write(&path, "secret").expect("room");
        for (mode, open) in [(0o600, false), (0o640, false), (0o644, true), (0o604, true)] {
            set_permissions(&path, Permissions::from_mode(mode)).expect("the test's own file");
            assert_eq!(is_open_to_all(&path), open, "{mode:o}");
        }
        assert!(!is_open_to_all(&directory.path().join("none")));
    }

    #[test]
    fn the_advice_leaves_the_file_to_the_daemon() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("users");
        std::fs::write(&path, "secret").expect("room");
        let owner = std::fs::metadata(&path).expect("a file");
        let (user, group) = (owner.uid(), owner.gid());
        let reader = |user, groups: &[u32]| SecretReader {
            user,
            groups: groups.to_vec(),
        };
        let advice = |reader: Option<SecretReader>| {
            let message = exposed(&path, "a secret", reader.as_ref());
            let (_, advice) = message.split_once("computer: ").expect("advice");
            advice.replace(&path.display().to_string(), "FILE")
        };
        let unknown = 4_000_000_000;
        for kept in [reader(user, &[unknown]), reader(user + 1, &[unknown, group])] {
            assert_eq!(advice(Some(kept)), "run `chmod 640 FILE`");
        }
        assert_eq!(
            advice(Some(reader(user + 1, &[unknown]))),
            format!("run `chgrp {unknown} FILE && chmod 640 FILE`")
        );
        assert!(advice(None).contains("owns the file or is in its group"));
        assert_eq!(
            SecretReader::of_state(directory.path()).map(|reader| reader.user),
            Some(user)
        );
        assert_eq!(SecretReader::of_state(&path.join("none")), None);
    }

    #[test]
    fn groups_are_named() {
        let groups = "root:x:0:\nkiebitz:x:998:pi\n";
        assert_eq!(group_name(groups, 998).as_deref(), Some("kiebitz"));
        assert_eq!(group_name(groups, 99), None);
    }
}
