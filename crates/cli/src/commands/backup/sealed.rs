//! Encryption of backups with age: for keys, or with a passphrase.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use forecourt_age::{AgeError, Identity, Locks, MAGIC, Passphrase, Reader, Recipient, Writer, decrypt, encrypt};
use forecourt_host::SystemEntropy;

use crate::output::Failure;

/// Bytes of a passphrase, at least: fewer could be guessed.
const PASSPHRASE_BYTES_MIN: usize = 12;

/// How a backup is locked.
pub(super) enum Lock {
    Open,
    Keys(Vec<Recipient>),
    Passphrase(Passphrase),
}

impl Lock {
    /// Reads the keys, or the passphrase.
    pub(super) fn new(keys: &[String], passphrase: Option<&Path>) -> Result<Self, Failure> {
        if let Some(file) = passphrase {
            return Ok(Self::Passphrase(read_passphrase(file)?));
        }
        let read = |key: &String| {
            key.parse().map_err(|error| {
                Failure::yours(format!("`{key}` is no age key: {error}"))
                    .hint("it begins with age1; `age-keygen` makes one")
            })
        };
        let keys: Vec<Recipient> = keys.iter().map(read).collect::<Result<_, _>>()?;
        Ok(if keys.is_empty() { Self::Open } else { Self::Keys(keys) })
    }

    /// What is written to it goes to `out` locked.
    pub(super) fn seal<W: Write>(self, out: W) -> Result<Sealed<W>, Failure> {
        let locks = match &self {
            Self::Open => return Ok(Sealed::Open(out)),
            Self::Passphrase(passphrase) => Locks::Passphrase(passphrase),
            Self::Keys(keys) => Locks::Keys(keys),
        };
        Ok(Sealed::Locked(encrypt(out, locks, &SystemEntropy)?))
    }
}

/// Where a backup is written to, locked or not.
pub(super) enum Sealed<W: Write> {
    Open(W),
    Locked(Writer<W>),
}

impl<W: Write> Sealed<W> {
    /// Ends it: what comes short of this can't be unlocked.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::Open(out) => Ok(out),
            Self::Locked(out) => out.finish(),
        }
    }
}

impl<W: Write> Write for Sealed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Open(out) => out.write(bytes),
            Self::Locked(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Open(out) => out.flush(),
            Self::Locked(out) => out.flush(),
        }
    }
}

/// What unlocks a backup.
pub(crate) struct Unlock {
    identities: Vec<Identity>,
}

impl Unlock {
    /// Reads the key, or the passphrase; there may be neither.
    pub(crate) fn new(identity: Option<&Path>, passphrase: Option<&Path>) -> Result<Self, Failure> {
        let mut identities = Vec::new();
        if let Some(file) = passphrase {
            identities.push(Identity::Passphrase(read_passphrase(file)?));
        }
        if let Some(file) = identity {
            let wrong = |error: String| Failure::yours(format!("{}: {error}", file.display()));
            let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
            identities.extend(Identity::file(&text).map_err(|error| wrong(format!("it holds no age key: {error}")))?);
        }
        Ok(Self { identities })
    }

    /// What is in a backup.
    pub(crate) fn open<R: Read>(&self, file: R) -> Result<Unlocked<R>, Failure> {
        let mut file = BufReader::new(file);
        if !file.fill_buf()?.starts_with(MAGIC) {
            return Ok(Unlocked::Open(file));
        }
        if self.identities.is_empty() {
            return Err(Failure::yours("the backup is encrypted").hint(
                "name the file with the key with --identity, or that with the passphrase with --passphrase-file",
            ));
        }
        let wrong = |error: AgeError| Failure::yours(format!("the backup can't be unlocked: {error}"));
        Ok(Unlocked::Locked(Box::new(decrypt(file, &self.identities).map_err(wrong)?)))
    }
}

/// What is read out of a backup.
pub(crate) enum Unlocked<R: Read> {
    Open(BufReader<R>),
    Locked(Box<Reader<BufReader<R>>>),
}

impl<R: Read> Read for Unlocked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Open(file) => file.read(into),
            Self::Locked(file) => file.read(into),
        }
    }
}

fn read_passphrase(file: &Path) -> Result<Passphrase, Failure> {
    let text = fs::read_to_string(file).map_err(|error| Failure::yours(format!("{}: {error}", file.display())))?;
    let line = text.lines().next().unwrap_or_default();
    if line.len() < PASSPHRASE_BYTES_MIN {
        let words = format!("the passphrase in {} has less than {PASSPHRASE_BYTES_MIN} bytes", file.display());
        return Err(Failure::yours(words).hint("it is the first line of the file"));
    }
    Ok(Passphrase::new(line.to_owned()))
}
