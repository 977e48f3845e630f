//! `forecourt init`: writes a working deployment into a new folder, commented so that it teaches.

use std::fs;
use std::path::Path;

use forecourt_core::Domain;

use super::schema;
use crate::args::Init;
use crate::output::{Failure, Outcome, stdoutln};
use crate::starters::Starter;

/// The file that says who the deployment is. `HANDLE` stands for the default agent.
const ABOUT: &str = include_str!("init/forecourt.toml");
/// What a program that writes deployments has to know of this one. `HANDLE` stands for the default agent.
const GUIDE: &str = include_str!("init/AGENTS.md");
/// The same as a skill, which such programs load when its description fits their task.
const SKILL: &str = include_str!("init/SKILL.md");
/// Where programs of several makers look for skills. The folder has the name that the skill gives itself.
const SKILL_FILE: &str = ".agents/skills/forecourt/SKILL.md";

/// What stands above the first tests.
const TESTS: &str = include_str!("init/tests.toml");

/// Writes the files, never over something that is there.
pub(crate) fn run(init: &Init) -> Outcome {
    let domain = Domain::parse(&init.domain).map_err(|error| Failure::yours(error.to_string()))?;
    let dir = &init.dir;
    if fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::yours(format!("{} is not empty", dir.display())).hint("name a new folder"));
    }
    let mut starters = init.with.clone();
    starters.sort_unstable();
    starters.dedup();
    // The one that was named first is the default agent, whatever the order of the files.
    let first = init.with.first().copied().unwrap_or_default();
    let local = |text: &str| text.replace("demo.localhost", domain.as_str());
    write(dir, "forecourt.toml", &local(&ABOUT.replace("HANDLE", first.handle())))?;
    write(dir, ".gitignore", ".forecourt/\n")?;
    write(dir, "AGENTS.md", &local(&GUIDE.replace("HANDLE", first.handle())))?;
    write(dir, SKILL_FILE, SKILL)?;
    schema::write_all(dir)?;
    for starter in &starters {
        for (name, text) in starter.files() {
            write(dir, name, &local(text))?;
        }
    }
    let is_alone = starters.len() == 1;
    // A model is told of the agents beside it, and that was not recorded.
    let holds = |starter: &&Starter| is_alone || **starter != Starter::Model;
    let tests: Vec<&str> = starters.iter().filter(holds).map(|starter| starter.test()).collect();
    write(dir, "tests/first.toml", &local(&format!("{TESTS}{}", tests.join("\n"))))?;
    stdoutln!("{} is a working deployment.", dir.display());
    stdoutln!();
    for starter in &starters {
        for (what, command) in starter.steps() {
            stdoutln!("  {what:<24} {}", command.replace("DIR", &dir.display().to_string()));
        }
    }
    stdoutln!("  {:<24} forecourt test {}", "test it", dir.display());
    stdoutln!("  {:<24} forecourt serve {}", "start it", dir.display());
    stdoutln!("  {:<24} forecourt ask @{}@{domain} \"{}\"", "ask", first.handle(), first.question());
    Ok(())
}

/// Writes a file of the new deployment, which names its schema where its kind has one.
fn write(deployment: &Path, name: &str, text: &str) -> Outcome {
    let file = deployment.join(name);
    let wrong = |error: std::io::Error| Failure::yours(format!("{} cannot be written: {error}", file.display()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(wrong)?;
    }
    fs::write(&file, format!("{}{text}", schema::directive(name).unwrap_or_default())).map_err(wrong)
}
