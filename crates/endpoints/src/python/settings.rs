//! The keys of the table `[functions]`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use forecourt_settings::{DocumentedSection, Problems, Section};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::limits::{
    FUNCTION_MEMORY_MB_MAX, FUNCTION_MEMORY_MB_MIN, FUNCTION_VARIABLES_MAX, IMPORT_SECONDS_MAX, WORKERS_DEFAULT_MAX,
    WORKERS_MAX,
};

/// The keys of the table, for the reference of settings.
pub const DOCUMENTED: DocumentedSection = DocumentedSection {
    section: "forecourt.toml [functions]",
    about: "How the Python functions of `functions/` run. Nothing is started in a deployment that uses none.",
    schema: || schemars::schema_for!(FunctionsSettings),
};

/// Where the functions of a deployment lie, below its folder.
const FOLDER: &str = "functions";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FunctionsSettings {
    /// The interpreter: a name that is looked for in `PATH`, or a path from the deployment's folder, such
    /// as `venv/bin/python3`. Python 3.9 or later.
    #[serde(default = "python")]
    python: String,
    /// Processes that run functions, each one call at a time. A call that takes longer than a second makes
    /// room for another process, up to three times as many. Default: one for each processor, at most 4.
    #[serde(default)]
    workers: Option<usize>,
    /// Megabytes of address space for each of them, libraries included.
    #[serde(default = "memory_mb")]
    memory_mb: u64,
    /// Seconds for a module to be imported.
    #[serde(default = "import_seconds")]
    import_seconds: u64,
    /// Variables that functions see beside `PATH`, such as `{ DATABASE = "${DATABASE}" }`.
    #[serde(default)]
    env: BTreeMap<String, String>,
}

fn python() -> String {
    "python3".to_owned()
}

fn memory_mb() -> u64 {
    512
}

fn import_seconds() -> u64 {
    30
}

/// How functions run, checked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where they lie.
    pub folder: PathBuf,
    /// The deployment's folder, from where a path to the interpreter starts.
    pub deployment: PathBuf,
    /// The interpreter's name or path.
    pub python: String,
    /// Where programs are looked for.
    pub path_variable: Option<String>,
    /// What functions see of an environment.
    pub variables: BTreeMap<String, String>,
    /// Processes at once.
    pub workers: usize,
    /// Bytes of address space of each.
    pub memory_bytes: u64,
    /// For the import of one module.
    pub import_time: Duration,
}

impl Options {
    /// Reads the table of a deployment's settings. `path_variable` is our own `PATH`.
    ///
    /// # Errors
    /// Every value that is out of its bounds.
    pub fn read(section: &Section, path_variable: Option<String>) -> Result<Options, Problems> {
        let settings: FunctionsSettings = section.read()?;
        let mut problems = Problems::new();
        let mut bounded = |key: &str, value: u64, min: u64, max: u64| {
            if !(min..=max).contains(&value) {
                problems.push(section.problem(Some(key), format!("`{key}` must be between {min} and {max}")));
            }
        };
        let workers = settings.workers.unwrap_or_else(processors);
        bounded("workers", workers as u64, 1, WORKERS_MAX as u64);
        bounded("memory_mb", settings.memory_mb, FUNCTION_MEMORY_MB_MIN, FUNCTION_MEMORY_MB_MAX);
        bounded("import_seconds", settings.import_seconds, 1, IMPORT_SECONDS_MAX);
        bounded("env", settings.env.len() as u64, 0, FUNCTION_VARIABLES_MAX as u64);
        let is_name = |name: &String| !name.is_empty() && !name.contains(['=', '\0']);
        if !settings.env.iter().all(|(name, value)| is_name(name) && !value.contains('\0')) {
            problems.push(section.problem(Some("env"), "`env` holds a name or a value that can't be one"));
        }
        let deployment = section.folder().to_owned();
        problems.into_result(Options {
            folder: deployment.join(FOLDER),
            deployment,
            python: settings.python,
            path_variable,
            variables: settings.env,
            workers,
            memory_bytes: settings.memory_mb.saturating_mul(1024 * 1024),
            import_time: Duration::from_secs(settings.import_seconds),
        })
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(WORKERS_DEFAULT_MAX)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Result<Options, String> {
        let file = Path::new("/srv/kitchen/forecourt.toml");
        let section = Section::parse(file, text, &|_: &str| None).unwrap();
        Options::read(&section, None).map_err(|problems| problems.to_string())
    }

    #[test]
    fn without_keys_there_are_defaults() {
        let options = read("").unwrap();
        assert_eq!(options.folder, Path::new("/srv/kitchen/functions"));
        assert_eq!((options.python.as_str(), options.memory_bytes), ("python3", 512 * 1024 * 1024));
        assert!((1..=WORKERS_DEFAULT_MAX).contains(&options.workers));
    }

    #[test]
    fn every_number_has_bounds() {
        for (key, min, max) in [
            ("workers", 1, WORKERS_MAX as u64),
            ("memory_mb", FUNCTION_MEMORY_MB_MIN, FUNCTION_MEMORY_MB_MAX),
            ("import_seconds", 1, IMPORT_SECONDS_MAX),
        ] {
            for (value, is_fine) in [(min - 1, false), (min, true), (max, true), (max + 1, false)] {
                let read = read(&format!("{key} = {value}\n"));
                assert_eq!(read.is_ok(), is_fine, "{key} = {value}");
                assert!(is_fine || read.unwrap_err().contains(key), "{key} = {value}");
            }
        }
    }

    #[test]
    fn variables_have_names() {
        assert_eq!(read("env = { A = \"b\" }\n").unwrap().variables["A"], "b");
        assert!(read("env = { \"A=\" = \"b\" }\n").unwrap_err().contains("env"));
        assert!(read("envy = {}\n").unwrap_err().contains("env"));
        let many = |count: usize| (0..count).map(|n| format!("env.V{n} = \"\"\n")).collect::<String>();
        assert!(read(&many(FUNCTION_VARIABLES_MAX)).is_ok());
        assert!(read(&many(FUNCTION_VARIABLES_MAX + 1)).is_err());
    }
}
