//! This module brings what stands in no settings file: variables of the environment, files with a secret, and
//! credentials of systemd. Nothing of it is ever shown.

use std::path::{Path, PathBuf};

use crate::files;

/// Bytes of a file that holds a secret.
pub const SECRET_FILE_BYTES_MAX: usize = 64 * 1024;

/// The variable in which systemd says where the credentials of a unit are.
const CREDENTIALS_DIRECTORY: &str = "CREDENTIALS_DIRECTORY";

/// Where container engines and systemd put secrets, with permissions of their own choosing.
const RUN: [&str; 2] = ["/run", "/var/run"];

/// Where `${VAR}` comes from. Implemented for closures, so that tests need no process environment.
pub trait Environment {
    /// The value of a variable. `None`: not set, or not Unicode.
    fn variable(&self, name: &str) -> Option<String>;

    /// The names of the variables that begin with `prefix`. None of them, where that is not known.
    fn names(&self, prefix: &str) -> Vec<String> {
        let _ = prefix;
        Vec::new()
    }
}

impl<F: Fn(&str) -> Option<String>> Environment for F {
    fn variable(&self, name: &str) -> Option<String> {
        self(name)
    }
}

/// The environment of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn names(&self, prefix: &str) -> Vec<String> {
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        names.filter(|name| name.starts_with(prefix)).collect()
    }
}

/// What `${…}` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference<'a> {
    /// `${NAME}`: a variable of the environment.
    Variable(&'a str),
    /// `${file:PATH}`: what a file holds, without the end of its last line.
    File(&'a str),
    /// `${credential:NAME}`: a credential of systemd.
    Credential(&'a str),
}

/// A value that stands in no settings file.
pub(crate) struct ReferredValue {
    pub(crate) value: String,
    /// What there is to say about where it was found, in a sentence.
    pub(crate) notice: Option<String>,
}

/// Why there is no such value.
pub(crate) struct MissingValue {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl<'a> Reference<'a> {
    /// What stands behind `${`, and what follows the `}`. `None`: nothing of the three.
    pub(crate) fn parse(text: &'a str) -> Option<(Self, &'a str)> {
        let (inside, after) = text.split_once('}')?;
        let reference = match inside.split_once(':') {
            None => is_variable(inside).then_some(Self::Variable(inside)),
            Some(("file", path)) => (!path.is_empty()).then_some(Self::File(path)),
            Some(("credential", name)) => is_credential(name).then_some(Self::Credential(name)),
            Some(_) => None,
        };
        Some((reference?, after))
    }

    /// Its value; relative paths are taken from `folder`.
    pub(crate) fn value(self, environment: &dyn Environment, folder: &Path) -> Result<ReferredValue, MissingValue> {
        let missing = |message: String, hint: Option<String>| MissingValue { message, hint };
        match self {
            Self::Variable(name) => match environment.variable(name) {
                Some(value) => Ok(ReferredValue { value, notice: None }),
                None => Err(missing(format!("the environment variable `{name}` is not set"), None)),
            },
            Self::File(path) => {
                let file = folder.join(path);
                let value = secret_of(&file).map_err(|why| missing(format!("the file `{path}` {why}"), None))?;
                Ok(ReferredValue { value, notice: open_to_all(&file) })
            }
            Self::Credential(name) => {
                let hint = format!("systemd passes it to units with `LoadCredential={name}:/path/of/the/file`");
                let Some(folder) = environment.variable(CREDENTIALS_DIRECTORY) else {
                    let message = format!("there is no credential `{name}`: `{CREDENTIALS_DIRECTORY}` is not set");
                    return Err(missing(message, Some(hint)));
                };
                let value = secret_of(&PathBuf::from(folder).join(name))
                    .map_err(|why| missing(format!("the credential `{name}` {why}"), Some(hint)))?;
                Ok(ReferredValue { value, notice: None })
            }
        }
    }
}

/// The text of a file that holds a secret, without the end of its last line.
pub(crate) fn secret_of(file: &Path) -> Result<String, String> {
    let bytes = files::bytes_of(file, SECRET_FILE_BYTES_MAX)?;
    let mut text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?;
    // Editors and `echo` end a file with one, and it belongs to no secret.
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

/// A warning when every user of this machine may read the file.
#[cfg(unix)]
fn open_to_all(file: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    // What is set there is not the operator's to change: the advice would help nobody.
    if RUN.iter().any(|run| file.starts_with(run)) {
        return None;
    }
    let is_open = std::fs::metadata(file).is_ok_and(|meta| meta.mode() & 0o004 != 0);
    let shown = file.display();
    is_open.then(|| format!("every user of this machine can read the secret in {shown}: `chmod 600 {shown}`"))
}

#[cfg(not(unix))]
fn open_to_all(_: &Path) -> Option<String> {
    None
}

fn is_variable(name: &str) -> bool {
    let legal = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    legal && !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// One file name, of the folder and of no other.
fn is_credential(name: &str) -> bool {
    let legal = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    legal && !name.is_empty() && !name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_one_of_three() {
        assert_eq!(Reference::parse("A_1}b"), Some((Reference::Variable("A_1"), "b")));
        assert_eq!(Reference::parse("file:/run/secrets/x}"), Some((Reference::File("/run/secrets/x"), "")));
        assert_eq!(Reference::parse("credential:db.pass}"), Some((Reference::Credential("db.pass"), "")));
        for wrong in
            ["", "}", "1A}", "A", "a b}", "file:}", "credential:}", "credential:../x}", "credential:a/b}", "x:y}"]
        {
            assert_eq!(Reference::parse(wrong), None, "{wrong}");
        }
    }
}
