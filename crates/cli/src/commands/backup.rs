//! `forecourt backup`: a deployment with its state, identities and keys in one file, also while it is served.
//!
//! | file | holds |
//! |---|---|
//! | `chosen.rs` | what is kept, what is left out, and why |
//! | `archive.rs` | files one after another into a compressed archive |
//! | `manifest.rs` | what an archive says of itself, at its end |
//! | `sealed.rs` | encryption with age |

mod archive;
mod chosen;
pub(super) mod manifest;
pub(super) mod sealed;

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use forecourt::Deployment;
use forecourt_admin::{LAST_BACKUP_FILE, LastBackup};
use forecourt_store::schema_version;
use jiff::Timestamp;

use self::archive::Archive;
use self::chosen::BackupContents;
use self::manifest::{FORMAT, Manifest, StoreManifest};
use self::sealed::Lock;
use crate::args::Backup;
use crate::output::{Failure, Outcome, print_json, stderrln};

/// The database of the store in a data folder.
pub(super) const DATABASE: &str = "forecourt.db";
/// The levels of zstd go from 1 to 22: above this one it takes long for little.
const COMPRESSION: i32 = 3;

/// Writes the file, and says what is in it.
pub(crate) fn run(backup: &Backup) -> Outcome {
    let deployment = super::load(&backup.place)?;
    let lock = Lock::new(&backup.recipient, backup.passphrase_file.as_deref())?;
    let manifest = match backup.out.as_os_str() == "-" {
        true => write(&deployment, lock, std::io::stdout().lock())?,
        false => into_file(&deployment, lock, &backup.out)?,
    };
    note(deployment.data_folder());
    tell(backup, &manifest)
}

/// Writes down that there is a backup, for the operator to see. One that may only read the folder makes a backup too.
fn note(data: &Path) {
    let text = serde_json::to_vec(&LastBackup { made_at: Timestamp::now() }).unwrap_or_default();
    if let Err(error) = fs::write(data.join(LAST_BACKUP_FILE), text) {
        stderrln!(
            "note: {} could not be written ({error}), so that the console won't tell of this backup",
            LAST_BACKUP_FILE
        );
    }
}

/// Writes aside first, so that a file of this name is whole.
fn into_file(deployment: &Deployment, lock: Lock, out: &Path) -> Result<Manifest, Failure> {
    // `symlink_metadata`: a link that leads nowhere is there too, and would be followed.
    if out.symlink_metadata().is_ok() {
        return Err(Failure::yours(format!("{} is there already", out.display())).hint("name another file with --out"));
    }
    let wrong = |error: std::io::Error| Failure::yours(format!("{}: {error}", out.display()));
    let mut aside = out.as_os_str().to_owned();
    aside.push(".part");
    let aside = Path::new(&aside);
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(aside).map_err(wrong)?;
    let written = write(deployment, lock, BufWriter::new(&file));
    let done = written.and_then(|manifest| {
        // On disk before it has its name: after a crash a file of this name is whole or not there.
        file.sync_all().and_then(|()| fs::rename(aside, out)).map_err(wrong)?;
        Ok(manifest)
    });
    if done.is_err() {
        let _ = fs::remove_file(aside);
    }
    done
}

fn write(deployment: &Deployment, lock: Lock, out: impl Write) -> Result<Manifest, Failure> {
    let (folder, data) = (deployment.folder(), deployment.data_folder());
    let chosen = BackupContents::find(folder, data)?;
    let store = store_of(data)?;
    let manifest = Manifest {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        domain: deployment.domain().to_string(),
        made_at: Timestamp::now().to_string(),
        store,
        files: Vec::new(),
        left_out: chosen.left_out,
    };
    let sealed = lock.seal(out)?;
    let compressed = zstd::Encoder::new(sealed, COMPRESSION)?;
    let staging = tempfile::tempdir()?;
    let mut archive = Archive::new(compressed, manifest, staging.path());
    for file in &chosen.files {
        archive.add(file)?;
    }
    let (compressed, manifest) = archive.finish()?;
    compressed.finish()?.finish()?.flush()?;
    Ok(manifest)
}

/// What there is to say about the store; nothing when it is elsewhere, or nothing was kept yet.
fn store_of(data: &Path) -> Result<Option<StoreManifest>, Failure> {
    let database = data.join(DATABASE);
    if !database.exists() {
        return Ok(None);
    }
    let wrong = |error| Failure::yours(format!("{}: {error}", database.display()));
    Ok(Some(StoreManifest { schema: schema_version(&database).map_err(wrong)? }))
}

fn tell(backup: &Backup, manifest: &Manifest) -> Outcome {
    if backup.json {
        return print_json(manifest);
    }
    let bytes: u64 = manifest.files.iter().map(|file| file.bytes).sum();
    stderrln!(
        "kept {} files of {}, {} bytes, in {}",
        manifest.files.len(),
        manifest.domain,
        bytes,
        backup.out.display()
    );
    for left in &manifest.left_out {
        stderrln!("left out: {} ({})", left.path, left.why);
    }
    if manifest.store.is_none() {
        stderrln!("note: there is no store in the data folder; one that is a PostgreSQL server has backups of its own");
    }
    if backup.recipient.is_empty() && backup.passphrase_file.is_none() {
        stderrln!("note: it holds private keys and is not encrypted: keep it as you keep keys");
    }
    Ok(())
}

/// A file that is read from its beginning.
fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| Failure::yours(format!("{}: {error}", path.display())))
}
