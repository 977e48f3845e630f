//! Encryption of backups with age: for keys, or with a passphrase.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use age::secrecy::SecretString;
use age::stream::{StreamReader, StreamWriter};
use age::{Decryptor, Encryptor, Identity, IdentityFile, Recipient, scrypt, x25519};

use crate::output::Failure;

/// What an encrypted backup begins with.
const AGE: &[u8] = b"age-encryption.org/";
/// Bytes of a passphrase, at least: fewer could be guessed.
const PASSPHRASE_BYTES_MIN: usize = 12;

/// How a backup is locked.
pub(super) enum Lock {
    Open,
    Keys(Vec<x25519::Recipient>),
    Passphrase(SecretString),
}

impl Lock {
    /// Reads the keys, or the passphrase.
    pub(super) fn new(keys: &[String], passphrase: Option<&Path>) -> Result<Self, Failure> {
        if let Some(file) = passphrase {
            return Ok(Self::Passphrase(read_passphrase(file)?));
        }
        let read = |key: &String| {
            key.parse().map_err(|error| {
                Failure::yours(format!("`{key}` is not an age key: {error}"))
                    .hint("it begins with age1; `age-keygen` makes one")
            })
        };
        let keys: Vec<x25519::Recipient> = keys.iter().map(read).collect::<Result<_, _>>()?;
        Ok(if keys.is_empty() { Self::Open } else { Self::Keys(keys) })
    }

    /// What is written to it goes to `out` locked.
    pub(super) fn seal<W: Write>(self, out: W) -> Result<BackupWriter<W>, Failure> {
        let encryptor = match self {
            Self::Open => return Ok(BackupWriter::Open(out)),
            Self::Passphrase(passphrase) => Encryptor::with_user_passphrase(passphrase),
            Self::Keys(keys) => Encryptor::with_recipients(keys.iter().map(|key| key as &dyn Recipient))
                .map_err(|error| Failure::yours(error.to_string()))?,
        };
        Ok(BackupWriter::Locked(encryptor.wrap_output(out)?))
    }
}

/// Where a backup is written to, locked or not.
pub(super) enum BackupWriter<W: Write> {
    Open(W),
    Locked(StreamWriter<W>),
}

impl<W: Write> BackupWriter<W> {
    /// Ends it: what comes short of this can't be unlocked.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::Open(out) => Ok(out),
            Self::Locked(out) => out.finish(),
        }
    }
}

impl<W: Write> Write for BackupWriter<W> {
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
    identities: Vec<Box<dyn Identity>>,
}

impl Unlock {
    /// Reads the key, or the passphrase; there may be neither.
    pub(crate) fn new(identity: Option<&Path>, passphrase: Option<&Path>) -> Result<Self, Failure> {
        let mut identities: Vec<Box<dyn Identity>> = Vec::new();
        if let Some(file) = passphrase {
            identities.push(Box::new(scrypt::Identity::new(read_passphrase(file)?)));
        }
        if let Some(file) = identity {
            let wrong = |error: String| Failure::yours(format!("{}: {error}", file.display()));
            let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
            let read = IdentityFile::from_buffer(text.as_bytes()).map_err(|error| wrong(error.to_string()))?;
            let keys = read.into_identities().map_err(|_| wrong("it holds no age key".to_owned()))?;
            identities.extend(keys.into_iter().map(|key| key as Box<dyn Identity>));
        }
        Ok(Self { identities })
    }

    /// What is in a backup.
    pub(crate) fn open<R: Read>(&self, file: R) -> Result<BackupReader<R>, Failure> {
        let mut file = BufReader::new(file);
        // The file tells whether it is encrypted, so nobody has to remember it.
        if !file.fill_buf()?.starts_with(AGE) {
            return Ok(BackupReader::Open(file));
        }
        if self.identities.is_empty() {
            return Err(Failure::yours("the backup is encrypted").hint(
                "name the file with the key with --identity, or that with the passphrase with --passphrase-file",
            ));
        }
        let wrong = |error: age::DecryptError| Failure::yours(format!("the backup can't be unlocked: {error}"));
        let decryptor = Decryptor::new_buffered(file).map_err(wrong)?;
        let opened = decryptor.decrypt(self.identities.iter().map(|identity| &**identity)).map_err(wrong)?;
        Ok(BackupReader::Locked(Box::new(opened)))
    }
}

/// What is read out of a backup.
pub(crate) enum BackupReader<R: Read> {
    Open(BufReader<R>),
    Locked(Box<StreamReader<BufReader<R>>>),
}

impl<R: Read> Read for BackupReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Open(file) => file.read(into),
            Self::Locked(file) => file.read(into),
        }
    }
}

fn read_passphrase(file: &Path) -> Result<SecretString, Failure> {
    let text = fs::read_to_string(file).map_err(|error| Failure::yours(format!("{}: {error}", file.display())))?;
    let line = text.lines().next().unwrap_or_default();
    if line.len() < PASSPHRASE_BYTES_MIN {
        let words = format!("the passphrase in {} has less than {PASSPHRASE_BYTES_MIN} bytes", file.display());
        return Err(Failure::yours(words).hint("it is the first line of the file"));
    }
    Ok(SecretString::from(line.to_owned()))
}
