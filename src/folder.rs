//! The state directory, which contains confidential advice to arbiters and secrets.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Mode of a new state directory: members of the daemon's group may read the journal, others may not.
#[cfg(unix)]
const MODE: u32 = 0o750;

/// Creates a state directory that does not exist. The mode of an existing one is never changed, because it may be a
/// directory that kiebitz shares with others.
pub(crate) fn create(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, MODE);
    builder.create(directory)
}

/// Returns a problem, with its next step, if all users of this computer can look into a state directory.
#[cfg(target_os = "linux")]
pub(crate) fn exposed(directory: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;

    /// Permission bits of users who are neither the owner nor in the group.
    const OTHERS: u32 = 0o007;
    let mode = std::fs::metadata(directory).ok()?.permissions().mode();
    let shown = directory.display();
    (mode & OTHERS != 0).then(|| {
        format!(
            "every user of this computer can look into {shown}, which contains confidential advice to arbiters: run \
             `chmod {MODE:o} {shown}`, or set `state_directory` to a directory for kiebitz alone"
        )
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_a_new_directory_is_closed_to_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let directory = folder.path().join("a/state");
        let mode = || metadata(&directory).expect("a directory").permissions().mode() & 0o777;
        create(&directory).expect("a directory");
        assert_eq!(mode() & 0o007, 0, "{:o}", mode());
        assert_eq!(exposed(&directory), None);
        for wide in [0o755, 0o751] {
            set_permissions(&directory, Permissions::from_mode(wide)).expect("its owner");
            create(&directory).expect("a directory");
            assert_eq!(mode(), wide);
            let problem = exposed(&directory).expect("a problem");
            let advice = format!("run `chmod 750 {}`", directory.display());
            assert!(problem.contains(&advice), "{problem}");
        }
        assert_eq!(exposed(&folder.path().join("none")), None);
    }
}
