//! `forecourt upgrade --check`: what this version would do to a deployment of an older one.

use std::path::Path;

use forecourt::Deployment;
use forecourt_store::{SCHEMA_VERSION, schema_version};
use nix::sys::statvfs::statvfs;
use serde_json::json;

use super::backup::DATABASE;
use crate::args::Upgrade;
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};

/// A migration writes tables anew: so many times the database must fit beside it.
const ROOM: u64 = 2;

/// What there is to say.
struct UpgradeReport {
    /// The schema of the store, when there is one here, and its bytes.
    store: Option<(usize, u64)>,
    /// Bytes that are free where it is.
    free: u64,
    /// Keys that have other names now.
    moved: Vec<String>,
}

/// Looks and tells.
pub(crate) fn run(upgrade: &Upgrade) -> Outcome {
    let deployment = super::load(&upgrade.place)?;
    let data = deployment.data_folder().to_path_buf();
    let (store, free) = (store_of(&data)?, free_in(&data));
    let found = UpgradeReport { store, free, moved: moved(deployment)? };
    let refused = found.refused();
    if upgrade.json {
        print_json(&found.json(refused.as_deref()))?;
    } else {
        found.tell(upgrade);
    }
    match refused {
        Some(why) => Err(Failure::yours(why).hint("nothing was changed")),
        None => Ok(()),
    }
}

fn store_of(data: &Path) -> Result<Option<(usize, u64)>, Failure> {
    let database = data.join(DATABASE);
    let Ok(is) = database.metadata() else { return Ok(None) };
    let wrong = |error| Failure::yours(format!("{}: {error}", database.display()));
    Ok(Some((schema_version(&database).map_err(wrong)?, is.len())))
}

fn free_in(data: &Path) -> u64 {
    // A file system that does not tell its room must not stand in the way of an upgrade.
    statvfs(data).map_or(u64::MAX, |is| is.blocks_available().saturating_mul(is.fragment_size()))
}

/// Builds the deployment, so that all of its keys are known. Fails with what `serve` would refuse.
fn moved(deployment: Deployment) -> Result<Vec<String>, Failure> {
    // Asked for before `build` takes the deployment, and called after it, when every section was read.
    let moved = deployment.moved_keys();
    deployment.build()?;
    Ok(moved().iter().map(ToString::to_string).collect())
}

impl UpgradeReport {
    /// Why `serve` would refuse.
    fn refused(&self) -> Option<String> {
        let (schema, bytes) = self.store?;
        if schema > SCHEMA_VERSION {
            return Some(format!("the store has schema {schema}, this program knows up to {SCHEMA_VERSION}"));
        }
        let needed = bytes.saturating_mul(ROOM);
        let is_short = schema < SCHEMA_VERSION && self.free < needed;
        is_short.then(|| format!("migrating the store needs {needed} bytes of disk, and {} are free", self.free))
    }

    fn json(&self, refused: Option<&str>) -> serde_json::Value {
        let store = self.store.map(|(schema, bytes)| json!({"schema": schema, "bytes": bytes}));
        json!({
            "program": env!("CARGO_PKG_VERSION"),
            "schema": SCHEMA_VERSION,
            "store": store,
            "free_bytes": self.free,
            "moved_keys": self.moved,
            "refused": refused,
        })
    }

    fn tell(&self, upgrade: &Upgrade) {
        let dir = upgrade.place.dir.display();
        match self.store {
            None => stdoutln!("store     none here yet, or elsewhere: nothing to migrate"),
            Some((schema, _)) if schema == SCHEMA_VERSION => {
                stdoutln!("store     schema {schema}, as this program has it")
            }
            Some((schema, bytes)) => {
                stdoutln!("store     schema {schema} becomes {SCHEMA_VERSION} when it is served ({bytes} bytes)");
                stdoutln!("          after that no older version opens it: first `forecourt backup {dir} --out FILE`");
            }
        }
        match self.moved.len() {
            0 => stdoutln!("settings  fine"),
            moved => {
                stdoutln!("settings  {moved} keys have other names now: `forecourt check --fix {dir}` rewrites them")
            }
        }
        self.moved.iter().for_each(|key| stderrln!("warning: {key}"));
    }
}
