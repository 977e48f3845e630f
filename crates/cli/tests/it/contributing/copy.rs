//! A copy of the project with the patches of all pages in it, built beside the artefacts that are there: only crates of
//! this workspace are compiled again, and those once.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use walkdir::{DirEntry, WalkDir};

use super::{FOLDER, patch_of, root};

/// Folders that are no part of the project.
const SKIPPED: [&str; 7] = ["target", "dist", ".git", ".cache", ".forecourt", "node_modules", "__pycache__"];

/// What is optimised for the sake of other tests is not here.
const QUICK: [&str; 6] = [
    "--config",
    "profile.dev.package.forecourt-index.opt-level=0",
    "--config",
    "profile.dev.package.forecourt-understanding.opt-level=0",
    "--config",
    "profile.dev.package.forecourt-vocabulary.opt-level=0",
];

/// Where the copy is made and built.
struct CopyPaths {
    /// Where cargo keeps what this test was built from.
    build: PathBuf,
    /// The profile that it was built with, as its folder is called.
    profile: String,
    /// The folder of all that follows. Kept between runs.
    kept: PathBuf,
}

impl CopyPaths {
    fn new() -> Self {
        let program = std::env::current_exe().unwrap();
        // target/debug/deps/it-…
        let of_profile = program.parent().and_then(Path::parent).expect("a folder of cargo's");
        let build = of_profile.parent().unwrap().to_owned();
        let profile = of_profile.file_name().unwrap().to_string_lossy().into_owned();
        Self { kept: build.join("contributing"), build, profile }
    }

    /// The project as it is, then with the patches: made anew in each run.
    fn stage(&self) -> PathBuf {
        self.kept.join("stage")
    }

    /// The same, but for files that are as they were: these are not written, so that cargo compiles what changed.
    fn tree(&self) -> PathBuf {
        self.kept.join("tree")
    }

    /// Where the program of the copy goes, so that nothing of this project's own is overwritten.
    fn programs(&self) -> PathBuf {
        self.kept.join("programs")
    }

    /// A command in one of these folders, of which it knows nothing above.
    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).stdin(Stdio::null()).env("GIT_CEILING_DIRECTORIES", &self.kept);
        // No lints are asked for here, and another repository is none of ours.
        for variable in ["RUSTC_WORKSPACE_WRAPPER", "CLIPPY_ARGS", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(variable);
        }
        command
    }

    fn cargo(&self, folder: &Path, words: &[&str]) -> Output {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let mut command = self.command(&cargo, folder);
        command.args(words).env("CARGO_BUILD_BUILD_DIR", &self.build).env("CARGO_TARGET_DIR", self.programs());
        // The program would be in a folder of that machine's name.
        command.env_remove("CARGO_BUILD_TARGET");
        command.output().expect("cargo is there")
    }

    fn apply(&self, page: &str, words: &[&str]) -> Result<(), String> {
        let mut command = self.command("git", &self.stage());
        let output = command.arg("apply").args(words).arg(patch_of(page)).output().expect("git is installed");
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        }
    }
}

/// The program with what all pages add. Says of each page what is wrong with its patch.
pub(super) fn build(pages: &[&str]) -> PathBuf {
    let paths = CopyPaths::new();
    let (stage, tree) = (paths.stage(), paths.tree());
    let _ = fs::remove_dir_all(&stage);
    bring(&root(), &stage);
    patch(&paths, pages);
    tell_apart(&stage);
    // The lock file is no part of patches: a version of anything would break them.
    let updated = paths.cargo(&stage, &["update", "--workspace", "--offline", "--quiet"]);
    assert!(updated.status.success(), "{}", String::from_utf8_lossy(&updated.stderr));
    bring(&stage, &tree);
    remove_others(&tree, &stage);
    let mut words = vec!["build", "-p", "forecourt-cli", "--locked", "--offline"];
    let folder = paths.profile.clone();
    match folder.as_str() {
        // Nothing is searched here for long: it is built as quickly as it can be.
        "debug" => words.extend(QUICK),
        _ => words.extend(["--profile", &folder]),
    }
    let built = paths.cargo(&tree, &words);
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{}", broken(pages, &said));
    paths.programs().join(&paths.profile).join("forecourt")
}

/// Applies each patch to the project as it is, then all of them one after another.
fn patch(paths: &CopyPaths, pages: &[&str]) {
    let remake = "CONTRIBUTING.md says under \"Remake a patch\" how it is made anew";
    let wrong: Vec<String> = pages
        .iter()
        .filter_map(|page| {
            let git = paths.apply(page, &["--check"]).err()?;
            Some(format!("the patch of {FOLDER}/{page}.md no longer applies: {git}\n{remake}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (page, before) in pages.iter().zip(0..) {
        if let Err(git) = paths.apply(page, &[]) {
            let others = pages[..before].join(", ");
            panic!("the patch of {FOLDER}/{page}.md does not apply after those of {others}: {git}\n{remake}");
        }
    }
}

/// Gives the crates of the copy a version of their own. In one folder of artefacts cargo tells crates apart by their names
/// and versions, and not by where their sources are: the copy would be built over the project, and each again in turn.
fn tell_apart(stage: &Path) {
    let manifest = stage.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let own = concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"");
    let apart = concat!("version = \"", env!("CARGO_PKG_VERSION"), "+example\"");
    assert!(text.contains(own), "the version of the workspace is not where it was: {own}");
    fs::write(&manifest, text.replacen(own, apart, 1)).unwrap();
}

/// What is said of a copy that does not build: the pages whose files the compiler names, and its own words.
fn broken(pages: &[&str], said: &str) -> String {
    let of_page = |page: &&&str| {
        let patch = fs::read_to_string(patch_of(page)).unwrap();
        super::files_of(&patch).iter().any(|file| said.contains(&format!("--> {file}:")))
    };
    let named: Vec<String> = pages.iter().filter(of_page).map(|page| format!("{FOLDER}/{page}.md")).collect();
    let named = if named.is_empty() { "the pages".to_owned() } else { named.join(" and ") };
    format!("the example of {named} no longer compiles: change the page and its patch\n{said}")
}

/// The files of the project under `folder`, by their path from there.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let is_ours = |entry: &DirEntry| entry.depth() == 0 || !SKIPPED.iter().any(|name| entry.file_name() == *name);
    let found = WalkDir::new(folder).into_iter().filter_entry(is_ours).filter_map(Result::ok);
    let found = found.filter(|entry| entry.file_type().is_file());
    found.map(|entry| entry.path().strip_prefix(folder).unwrap().to_owned()).collect()
}

/// Copies the files that are not the same there.
fn bring(from: &Path, to: &Path) {
    for file in files(from) {
        let (source, target) = (from.join(&file), to.join(&file));
        // A file that a program beside us writes for a moment may be gone by now.
        let Ok(bytes) = fs::read(&source) else { continue };
        if fs::read(&target).is_ok_and(|old| old == bytes) {
            continue;
        }
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&source, &target).unwrap();
    }
}

/// Removes the files that are not in `model`.
fn remove_others(folder: &Path, model: &Path) {
    let wanted = files(model);
    for file in files(folder).difference(&wanted) {
        fs::remove_file(folder.join(file)).unwrap();
    }
}
