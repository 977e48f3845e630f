//! Room for as many open files as the bounds on connections allow.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Open files beside connections: the database, indices, programs, connections of our own.
const FILES_BESIDE: u64 = 1_024;

/// Raises how many files may be open as far as it goes, and warns when that is too few for `connections`.
pub(super) fn raise(connections: u64) {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    // The soft limit is 1,024 on many systems, for programs that use `select`; a process may raise it up to the hard
    // one.
    if soft < hard
        && let Err(error) = setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
    {
        tracing::warn!(%error, soft, hard, "the limit of open files could not be raised");
    }
    if let Some(warning) = too_few(hard, connections) {
        tracing::warn!("{warning}");
    }
}

/// What to say when `files` are too few for `connections`.
fn too_few(files: u64, connections: u64) -> Option<String> {
    let wanted = connections.saturating_add(FILES_BESIDE);
    (files < wanted).then(|| {
        format!(
            "at most {files} files can be open, and {wanted} may be needed for {connections} connections: raise the \
             hard limit (ulimit -Hn, LimitNOFILE of systemd), or lower connections_max in [http]"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_files_are_said_with_both_numbers() {
        assert_eq!(too_few(1_000 + FILES_BESIDE, 1_000), None);
        let said = too_few(1_000 + FILES_BESIDE - 1, 1_000).unwrap();
        assert!(said.contains("2023") && said.contains("2024") && said.contains("connections_max"), "{said}");
    }
}
