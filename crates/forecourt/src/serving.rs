//! This module lets one process at a time work in a data folder. Where a running deployment is found is
//! for its clients to know, too.

use std::fs::{File, TryLockError};
use std::path::Path;

use forecourt_client::serving::LOCK;
pub use forecourt_client::serving::{Serving, user_folder};

use crate::error::Error;

/// Takes the data folder for this process alone, as long as the result is kept; the system lets go of
/// it with the process. Two daemons in one folder would take each other's tasks for cut off.
pub fn hold(data: &Path) -> Result<File, Error> {
    let file = data.join(LOCK);
    let wrong = |error: std::io::Error| Error::new(format!("{} cannot be used: {error}", file.display()));
    let lock = File::options().create(true).truncate(false).write(true).open(&file).map_err(wrong)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::Error(error)) => Err(wrong(error)),
        Err(TryLockError::WouldBlock) => {
            Err(Error::new(format!("a deployment is being served from {} already", data.display()))
                .hint("stop it first, or name another folder with --data DIR"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_held_by_one_and_free_again_after_it() {
        let data = tempfile::tempdir().unwrap();
        let held = hold(data.path()).unwrap();
        assert!(hold(data.path()).is_err());
        drop(held);
        hold(data.path()).unwrap();
    }
}
