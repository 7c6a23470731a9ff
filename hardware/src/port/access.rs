//! Permissions on a device, and the process that uses it.

use core::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::io::Errno;

/// A running process.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Process {
    /// Process id.
    pub id: u32,
    /// Name of the program, without control characters.
    pub name: String,
}

impl Process {
    /// Returns the process with the lowest id that has the device open, or `None` if there is no visible one. Processes
    /// of the same user are visible; for root, all processes.
    pub(super) fn holding(device: &Path) -> Option<Self> {
        let mut processes: Vec<u32> = fs::read_dir("/proc")
            .ok()?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect();
        processes.sort_unstable();
        let id = processes.into_iter().find(|id| holds(*id, device))?;
        let name = fs::read_to_string(format!("/proc/{id}/comm")).ok()?;
        let name = name.chars().filter(|letter| !letter.is_control()).collect();
        Some(Self { id, name })
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.id)
    }
}

fn holds(id: u32, device: &Path) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{id}/fd")) else {
        return false;
    };
    let mut targets = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    targets.any(|target| target == device)
}

/// A way to give this program access to a device.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Remedy {
    /// Add the user to the device's group.
    Join {
        /// Name of the group.
        group: String,
        /// Name of the user that runs this program, if it has one.
        user: Option<String>,
    },
    /// Run as the device's owner, or install a udev rule that gives the device to a group.
    Own {
        /// Name of the owner, if it has one.
        owner: Option<String>,
    },
    /// Allow the device in the systemd unit or container of this program.
    Unconfine,
}

impl Remedy {
    /// Returns the remedy if opening the device fails with `error`.
    pub(super) fn for_device(device: &Path, error: Errno) -> Self {
        if error == Errno::PERM {
            return Self::Unconfine;
        }
        let read = |file| fs::read_to_string(file).unwrap_or_default();
        let owners = fs::metadata(device).map(|device| Owners {
            user: device.uid(),
            group: device.gid(),
            mode: device.mode(),
        });
        let me = rustix::process::geteuid().as_raw();
        Self::for_owners(
            owners.unwrap_or_default(),
            me,
            &read("/etc/passwd"),
            &read("/etc/group"),
        )
    }

    /// Returns the remedy for user `me`. `users` and `groups` are the contents of `/etc/passwd` and `/etc/group`.
    fn for_owners(owners: Owners, me: u32, users: &str, groups: &str) -> Self {
        let group = name_of(owners.group, groups);
        // Never suggest joining group root, which would give far too many rights.
        match group.filter(|_| owners.group != 0 && owners.mode & READ_AND_WRITE == READ_AND_WRITE) {
            Some(group) => Self::Join {
                group,
                user: name_of(me, users),
            },
            None => Self::Own {
                owner: name_of(owners.user, users),
            },
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Join { group, user } => {
                let user = user.as_deref().unwrap_or("$USER");
                write!(
                    f,
                    "add the user to group {group}: sudo usermod -aG {group} {user}, then log in again \
                     (a service: restart it)"
                )
            }
            Self::Own { owner } => {
                let owner = owner.as_deref().unwrap_or("the owner");
                write!(
                    f,
                    "only {owner} may use the device: install a udev rule such as systemd/60-kiebitz.rules, \
                     which gives it to group dialout, and plug it in again"
                )
            }
            Self::Unconfine => f.write_str(
                "the service or container may not use the device: see DeviceAllow= in its unit, or the \
                 container's list of devices",
            ),
        }
    }
}

/// Owner, group and mode of a device.
#[derive(Copy, Clone, Default)]
struct Owners {
    user: u32,
    group: u32,
    mode: u32,
}

/// Returns the name for a user or group id in the format of `/etc/passwd` and `/etc/group`.
fn name_of(id: u32, database: &str) -> Option<String> {
    database.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let number: u32 = fields.nth(1)?.parse().ok()?;
        (number == id).then(|| name.to_owned())
    })
}

/// Mode bits for reading and writing by the group.
const READ_AND_WRITE: u32 = 0o060;

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str =
        "root:x:0:0:root:/root:/bin/bash\n\nkiebitz:x:998:998::/:/usr/sbin/nologin\nbroken:x\n";
    const GROUPS: &str = "root:x:0:\ntty:x:5:\ndialout:x:20:pi\n";

    fn remedy(user: u32, group: u32, mode: u32) -> String {
        Remedy::for_owners(Owners { user, group, mode }, 998, USERS, GROUPS).to_string()
    }

    #[test]
    fn joining_a_group_with_access_is_suggested() {
        assert_eq!(
            remedy(0, 20, 0o020_660),
            "add the user to group dialout: sudo usermod -aG dialout kiebitz, then log in again (a service: \
             restart it)"
        );
    }

    #[test]
    fn an_unknown_user_is_named_by_the_shell_variable() {
        let owners = Owners {
            user: 0,
            group: 20,
            mode: 0o660,
        };
        let remedy = Remedy::for_owners(owners, 4711, USERS, GROUPS).to_string();
        assert!(remedy.contains("usermod -aG dialout $USER"), "{remedy}");
    }

    #[test]
    fn a_udev_rule_is_suggested_if_only_root_has_access() {
        for (group, mode) in [(0, 0o660), (5, 0o620), (77, 0o660)] {
            let remedy = remedy(0, group, mode);
            assert!(
                remedy.starts_with(
                    "only root may use the device: install a udev rule such as systemd/60-kiebitz.rules"
                ),
                "{remedy}"
            );
        }
    }

    #[test]
    fn a_refusal_by_the_kernel_points_to_the_service_or_container() {
        assert_eq!(
            Remedy::for_device(Path::new("/dev/null"), Errno::PERM),
            Remedy::Unconfine
        );
    }

    #[test]
    fn the_process_that_has_a_file_open_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().canonicalize().unwrap();
        let holder = Process::holding(&path).unwrap();
        assert_eq!(holder.id, std::process::id());
        assert!(!holder.name.is_empty());
        assert_eq!(Process::holding(Path::new("/nowhere")), None);
    }
}
