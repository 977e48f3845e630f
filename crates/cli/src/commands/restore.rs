//! `forecourt restore`: what a backup kept, into a new folder, whole or not at all.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use aws_lc_rs::digest::{Context, SHA256};
use forecourt::deployment;
use forecourt_store::SCHEMA_VERSION;

use super::backup::manifest::{DATA, DEPLOYMENT, FORMAT, Manifest, NAME};
use super::backup::sealed::Unlock;
use crate::args::Restore;
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};

/// Bytes of a manifest.
const MANIFEST_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Restores, or compares only.
pub(crate) fn run(restore: &Restore) -> Outcome {
    let data = restore.data.clone().unwrap_or_else(|| restore.dir.join(deployment::DATA));
    for place in [&restore.dir, &data] {
        // Never into a folder with files: what is there would be mixed with what is restored.
        if place.read_dir().is_ok_and(|mut entries| entries.next().is_some()) || place.is_file() {
            return Err(Failure::yours(format!("{} is there already", place.display())).hint("name a new folder"));
        }
    }
    let unlock = Unlock::new(restore.identity.as_deref(), restore.passphrase_file.as_deref())?;
    let file: Box<dyn Read> = match restore.file.as_os_str() == "-" {
        true => Box::new(io::stdin().lock()),
        false => Box::new(File::open(&restore.file).map_err(|error| wrong(&restore.file, &error))?),
    };
    // On the same file system, so that the last step is a rename: the folder is restored whole or not at all.
    let beside = beside(&restore.dir)?;
    let places = [beside.path().join(DEPLOYMENT), beside.path().join(DATA)];
    let manifest = unpack(unlock.open(file)?, (!restore.check).then_some(beside.path()))?;
    if !restore.check {
        places.iter().try_for_each(|place| private_folder(place)).map_err(|error| wrong(beside.path(), &error))?;
        put(&places[0], &restore.dir)?;
        put(&places[1], &data)?;
    }
    tell(restore, &manifest)
}

/// A folder on the same file system as the one to make, removed again unless it is taken.
fn beside(dir: &Path) -> Result<tempfile::TempDir, Failure> {
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|error| wrong(parent, &error))?;
    tempfile::Builder::new().prefix(".restoring-").tempdir_in(parent).map_err(|error| wrong(parent, &error))
}

/// Reads all of it, writes it below `into` if given, and compares it with its manifest.
fn unpack(archive: impl Read, into: Option<&Path>) -> Result<Manifest, Failure> {
    let damaged = |error: io::Error| {
        Failure::yours(format!("the backup is damaged or cut short: {error}")).hint("nothing was restored")
    };
    let mut tar = tar::Archive::new(zstd::Decoder::new(archive).map_err(damaged)?);
    let mut hashes: HashMap<String, (u64, String)> = HashMap::new();
    let mut manifest = None;
    for entry in tar.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let name = entry.path().map_err(damaged)?.to_string_lossy().into_owned();
        if name == NAME {
            let mut text = String::new();
            entry.take(MANIFEST_BYTES_MAX).read_to_string(&mut text).map_err(damaged)?;
            manifest = Some(read(&text)?);
            continue;
        }
        let to = place(&name)?;
        let mut out: Box<dyn Write> = match into {
            Some(into) => Box::new(create(&into.join(to))?),
            None => Box::new(io::sink()),
        };
        let kept = copy(&mut entry, &mut out).map_err(damaged)?;
        hashes.insert(name, kept);
    }
    // The manifest is the last entry: without it the archive was cut short.
    let manifest = manifest.ok_or_else(|| damaged(io::Error::other("it has no end")))?;
    compare(&manifest, &hashes)?;
    Ok(manifest)
}

fn read(text: &str) -> Result<Manifest, Failure> {
    let manifest: Manifest =
        serde_json::from_str(text).map_err(|error| Failure::yours(format!("the manifest can't be read: {error}")))?;
    let newer = |what: &str, has: usize, known: usize| {
        Failure::yours(format!("the backup has {what} {has}, this program knows up to {known}"))
            .hint(format!("restore it with version {} or newer", manifest.program))
    };
    if manifest.format > FORMAT {
        return Err(newer("format", manifest.format as usize, FORMAT as usize));
    }
    match &manifest.store {
        Some(store) if store.schema > SCHEMA_VERSION => Err(newer("a store of schema", store.schema, SCHEMA_VERSION)),
        _ => Ok(manifest),
    }
}

/// Where a file of an archive goes: below one of the two folders, and nowhere else.
fn place(name: &str) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(name);
    // An archive may come from anywhere: `..` and absolute paths would write outside of the folder.
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    match plain && (path.starts_with(DEPLOYMENT) || path.starts_with(DATA)) && path.components().count() > 1 {
        true => Ok(path),
        false => Err(Failure::yours(format!("the backup holds {name:?}, which is not a place in it"))),
    }
}

fn create(file: &Path) -> Result<File, Failure> {
    let folder = file.parent().unwrap_or(file);
    let made =
        private_folder(folder).and_then(|()| OpenOptions::new().write(true).create_new(true).mode(0o600).open(file));
    made.map_err(|error| wrong(file, &error))
}

fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Copies, and gives the bytes and their hash.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<(u64, String)> {
    let (mut hash, mut bytes, mut buffer) = (Context::new(&SHA256), 0, vec![0; 64 * 1024]);
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            to.flush()?;
            return Ok((bytes, hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()));
        }
        hash.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
        bytes += read as u64;
    }
}

fn compare(manifest: &Manifest, found: &HashMap<String, (u64, String)>) -> Outcome {
    let said = |file: &super::backup::manifest::KeptFile| (file.bytes, file.sha256.clone());
    let differs = manifest.files.iter().find(|file| found.get(&file.path) != Some(&said(file)));
    match differs {
        Some(file) => Err(Failure::yours(format!("the backup is damaged: {} is not what was kept", file.path))
            .hint("nothing was restored")),
        // Files that were added to an archive have no hash to be compared with.
        None if found.len() != manifest.files.len() => {
            Err(Failure::yours("the backup holds files that its manifest does not name").hint("nothing was restored"))
        }
        None => Ok(()),
    }
}

/// Puts a folder where it belongs, in one step.
fn put(from: &Path, to: &Path) -> Outcome {
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let moved = fs::create_dir_all(parent).and_then(|()| fs::rename(from, to));
    match moved {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            Err(wrong(to, &error).hint("restore with both folders on one file system, and move one afterwards"))
        }
        moved => moved.map_err(|error| wrong(to, &error)),
    }
}

fn wrong(path: &Path, error: &io::Error) -> Failure {
    Failure::yours(format!("{}: {error}", path.display()))
}

fn tell(restore: &Restore, manifest: &Manifest) -> Outcome {
    if restore.json {
        return print_json(manifest);
    }
    let (files, domain, made_at) = (manifest.files.len(), &manifest.domain, &manifest.made_at);
    if restore.check {
        stdoutln!("{} is whole: {files} files of {domain}, made at {made_at}", restore.file.display());
        return Ok(());
    }
    stdoutln!("restored {files} files of {domain}, made at {made_at}, into {}", restore.dir.display());
    let data = restore.data.as_ref().map_or_else(String::new, |data| format!(" --data {}", data.display()));
    stderrln!("next: forecourt serve {}{data}", restore.dir.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_place() {
        assert!(place("data/forecourt.db").is_ok() && place("deployment/agents/a.toml").is_ok());
        for wrong in ["", "data", "/etc/passwd", "data/../x", "../data/x", "other/x"] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }
}
