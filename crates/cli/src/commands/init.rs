//! `forecourt init`: a working deployment in a new folder, commented so that it teaches.

use std::fs;
use std::path::Path;

use forecourt_core::Domain;

use crate::args::Init;
use crate::output::{Failure, Outcome, stdoutln};

/// The files of a new deployment.
const FILES: &[(&str, &str)] = &[
    ("forecourt.toml", include_str!("init/forecourt.toml")),
    ("agents/search.toml", include_str!("init/search.toml")),
    ("agents/echo.toml", include_str!("init/echo.toml")),
    ("content/welcome.md", include_str!("init/welcome.md")),
    (".gitignore", ".forecourt/\n"),
];

/// Writes the files, never over something that is there.
pub(crate) fn run(init: &Init) -> Outcome {
    let domain = Domain::parse(&init.domain).map_err(|error| Failure::yours(error.to_string()))?;
    let dir = &init.dir;
    if fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::yours(format!("{} is not empty", dir.display())).hint("name a new folder"));
    }
    for (name, text) in FILES {
        write(&dir.join(name), &text.replace("demo.localhost", domain.as_str()))?;
    }
    stdoutln!("{} is a working deployment.", dir.display());
    stdoutln!();
    stdoutln!("  put your content under   {}", dir.join("content").display());
    stdoutln!("  then                     forecourt serve {}", dir.display());
    stdoutln!("  and ask                  forecourt ask @search@{domain} \"what is here?\"");
    Ok(())
}

fn write(file: &Path, text: &str) -> Outcome {
    let wrong = |error: std::io::Error| Failure::yours(format!("{} cannot be written: {error}", file.display()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(wrong)?;
    }
    fs::write(file, text).map_err(wrong)
}
