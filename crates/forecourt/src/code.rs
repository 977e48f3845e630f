//! The programs that a deployment names, in agents' backends and for servers behind it: whether they are there, and
//! whether the code of the deployment that they run can be read. Nothing of that code is run.
//!
//! | file | holds |
//! |---|---|
//! | `syntax.rs` | what is wrong with the syntax of a file |

mod syntax;

use std::path::{Path, PathBuf};

use forecourt_process::find;
use forecourt_settings::{Problem, Problems, Section, nearest};
use futures::future::BoxFuture;

use crate::agents::Backing;
use crate::deployment::Deployment;
use syntax::{CodeLanguage, SyntaxError, syntax_error};

/// The key under which programs are named, as a list of words.
const COMMAND: &str = "command";
/// Files of code of one deployment that are looked at; each takes an interpreter some 50 ms.
const CODE_FILES_MAX: usize = 50;
/// Names of files that are compared with the one that is missing.
const NEIGHBOURS_MAX: usize = 1_000;
/// What runs files of code, by the beginnings of their names.
const RUNNERS: [&str; 11] =
    ["python", "pypy", "node", "deno", "bun", "tsx", "ts-node", "npx", "uv", "poetry", "pipenv"];
/// The words behind which code itself stands, and no file.
const INLINE: [&str; 5] = ["-c", "-e", "-p", "--eval", "--print"];
/// The words by which what runs files goes to another folder first, from which on they are named.
const ELSEWHERE: [&str; 5] = ["--directory", "--cwd", "--prefix", "--dir", "-C"];
/// The words behind which the name of a package stands, which may end like a file of code.
const PACKAGES: [&str; 3] = ["--with", "--from", "--package"];
/// What runs a package by its name, the first word that is no option.
const PACKAGE_RUNNERS: [&str; 3] = ["npx", "uvx", "bunx"];

/// A program that a table of the settings names.
pub(crate) struct DeclaredProgram {
    /// The table.
    place: Section,
    /// The program and its arguments.
    words: Vec<String>,
    /// Where it runs.
    folder: PathBuf,
}

/// A file of code among the words of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CodeFile {
    /// Which of the words it is.
    word: usize,
    language: CodeLanguage,
    /// What it is looked at with: the interpreter that the program is, or the usual one of a file that is the program.
    /// `None`: something else runs it, such as `uv` or `bun`, which may have another version or another idea of the
    /// language.
    interpreter: Option<PathBuf>,
    path: PathBuf,
}

impl Deployment {
    /// Every program that its files name.
    fn programs(&self) -> Vec<DeclaredProgram> {
        let backends = self.agents.iter().filter_map(|agent| match &agent.backing {
            Backing::Section(section) => Some(section),
            Backing::Program(_) => None,
        });
        let tables = backends.chain(self.servers.iter().map(|server| &server.section));
        let named = tables.filter_map(|place| {
            let words: Vec<String> = place.texts(COMMAND)?.into_iter().map(str::to_owned).collect();
            Some(DeclaredProgram { place: place.clone(), words, folder: self.dir.clone() })
        });
        named.collect()
    }

    /// What is no reason not to serve it, and surely not what somebody meant: settings that do nothing, files that nobody
    /// reads, and programs and their files of code that are not there. Looks at files, and starts nothing.
    pub fn oversights(&self) -> Vec<Problem> {
        let path_variable = std::env::var("PATH").unwrap_or_default();
        let programs = self.programs();
        let missing = programs.iter().filter_map(|program| program.missing(&path_variable));
        self.oversights.iter().cloned().chain(missing).collect()
    }

    /// Errors in the syntax of the code that its programs run, each where it stands. Starts interpreters, which read that
    /// code and run none of it; of a language whose interpreter is not there, nothing is told.
    pub fn code_problems(&self) -> BoxFuture<'static, Problems> {
        let path_variable = std::env::var("PATH").unwrap_or_default();
        let (folder, programs) = (self.dir.clone(), self.programs());
        Box::pin(async move {
            let mut files: Vec<CodeFile> = Vec::new();
            for file in programs.iter().filter_map(|program| program.code(&path_variable)) {
                let is_inside = is_within(&folder, &file.path);
                // An interpreter of the deployment's own is its code, too, and not run. That of a virtual environment is a
                // link to one outside.
                let is_asked = file.interpreter.as_ref().is_some_and(|program| !is_within(&folder, program));
                let is_known = files.iter().any(|known| known.path == file.path);
                if is_inside && is_asked && !is_known && files.len() < CODE_FILES_MAX {
                    files.push(file);
                }
            }
            let mut problems = Problems::new();
            for file in files {
                let Some(interpreter) = &file.interpreter else { continue };
                if let Some(error) = syntax_error(file.language, interpreter, &file.path, &path_variable).await {
                    problems.push(problem(&file.path, error));
                }
            }
            problems
        })
    }
}

fn problem(file: &Path, SyntaxError { line, excerpt, message }: SyntaxError) -> Problem {
    let text = format!("the code can't be read: {message}");
    let problem = match line {
        Some(line) => Problem::of_line(file, line, excerpt, text),
        None => Problem::of_file(file, text),
    };
    problem.hint("the program that runs it would end before it answers: mend the line, or one before it")
}

/// Whether a file that is there lies in the folder.
fn is_within(folder: &Path, file: &Path) -> bool {
    match (folder.canonicalize(), file.canonicalize()) {
        (Ok(folder), Ok(file)) => file.starts_with(folder),
        _ => false,
    }
}

impl DeclaredProgram {
    fn missing(&self, path_variable: &str) -> Option<Problem> {
        let name = self.words.first().filter(|name| !name.is_empty())?;
        // With a slash it is a path, as in a shell; `PATH` is not asked.
        let (is_there, place) = match name.contains('/') {
            true => (self.folder.join(name).is_file(), "the deployment's folder"),
            false => (find(name, path_variable).is_some(), "PATH"),
        };
        if !is_there {
            let hint = "install it, or name its path: one with a slash starts at the deployment's folder";
            let text = format!("there is no program `{name}` in {place}");
            return Some(self.place.problem(Some(COMMAND), text).hint(hint));
        }
        let file = self.code(path_variable).filter(|file| !file.path.is_file())?;
        let word = &self.words[file.word];
        let problem =
            self.place.item_problem(COMMAND, file.word, format!("there is no file `{word}` for `{name}` to run"));
        Some(match nearest_file(&file.path) {
            Some(near) => problem.hint(format!("did you mean `{near}`? Paths start at the deployment's folder")),
            None => problem.hint("paths start at the deployment's folder"),
        })
    }

    /// The file of code that it runs, if its words say one.
    fn code(&self, path_variable: &str) -> Option<CodeFile> {
        let is_elsewhere = |word: &str| ELSEWHERE.contains(&word.split('=').next().unwrap_or(word));
        if self.words.iter().skip(1).any(|word| INLINE.contains(&word.as_str()) || is_elsewhere(word)) {
            return None;
        }
        let name = self.words.first()?;
        let base = Path::new(name).file_name()?.to_str()?;
        let (word, language) = self
            .words
            .iter()
            .enumerate()
            .filter(|(at, _)| self.may_be_file(*at, base))
            .find_map(|(at, word)| Some((at, CodeLanguage::of(Path::new(word))?)))?;
        let interpreter = match (language.is_run_by(base), word) {
            // Options may have a loader read what Node itself does not.
            (true, 2..) if language == CodeLanguage::TypeScript => None,
            (true, _) if name.contains('/') => Some(self.folder.join(name)),
            (true, _) => find(name, path_variable),
            (false, 0) => find(language.usual_interpreter(), path_variable),
            (false, _) => None,
        };
        Some(CodeFile { word, language, interpreter, path: self.folder.join(&self.words[word]) })
    }

    /// Whether a word may be the path of a file that a program of this name runs: the program itself, or what it is given
    /// and is neither an option nor a package nor a URL.
    fn may_be_file(&self, at: usize, base: &str) -> bool {
        let word = &self.words[at];
        if at == 0 {
            return word.contains('/');
        }
        let runs_files = RUNNERS.iter().any(|runner| base.starts_with(runner));
        let first = self.words.iter().skip(1).position(|word| !word.starts_with('-')).map(|before| before + 1);
        let is_package =
            PACKAGES.contains(&self.words[at - 1].as_str()) || (PACKAGE_RUNNERS.contains(&base) && first == Some(at));
        runs_files && !is_package && !word.starts_with('-') && !word.contains(':')
    }
}

/// The name, in the folder of a file that is not there, which is nearest to its own.
fn nearest_file(missing: &Path) -> Option<String> {
    let entries = std::fs::read_dir(missing.parent()?).ok()?.flatten().take(NEIGHBOURS_MAX);
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    nearest(missing.file_name()?.to_str()?, &names).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(words: &[&str], folder: &Path) -> DeclaredProgram {
        let file = folder.join("agents/a.toml");
        let list: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        let text = format!("[backend]\ncommand = [\n{}\n]", list.join(",\n"));
        let place = Section::parse(&file, &text, &|_: &str| None).unwrap().take("backend").unwrap();
        DeclaredProgram {
            place,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            folder: folder.to_owned(),
        }
    }

    /// A folder with `agent.py`, and a `PATH` with a program `python3` in it.
    fn folder() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["agent.py", "bin/python3"] {
            std::fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let path = folder.path().join("bin").display().to_string();
        (folder, path)
    }

    #[test]
    fn a_program_that_is_not_there_is_told_where_it_is_named() {
        let (folder, path) = folder();
        let missing = |words: &[&str]| declared(words, folder.path()).missing(&path);
        for there in [&["python3", "agent.py"][..], &["bin/python3", "-u", "agent.py"], &["python3", "-m", "x"]] {
            assert_eq!(missing(there), None, "{there:?}");
        }
        let told = missing(&["pyhton3", "agent.py"]).unwrap();
        assert_eq!((told.message(), told.line()), ("there is no program `pyhton3` in PATH", Some(2)));
        assert!(missing(&["./run"]).unwrap().message().contains("the deployment's folder"));
    }

    #[test]
    fn code_that_is_not_there_is_told_with_the_nearest_name() {
        let (folder, path) = folder();
        let told = declared(&["python3", "-u", "agnet.py"], folder.path()).missing(&path).unwrap();
        assert_eq!((told.message(), told.line()), ("there is no file `agnet.py` for `python3` to run", Some(5)));
        assert!(told.next_step().unwrap().contains("`agent.py`"), "{told}");
    }

    #[test]
    fn the_code_of_a_program_is_the_first_file_of_a_language_that_it_is_given() {
        let (folder, path) = folder();
        let code = |words: &[&str]| {
            let file = declared(words, folder.path()).code(&path)?;
            Some((file.path.strip_prefix(folder.path()).unwrap().display().to_string(), file.language))
        };
        let python = |name: &str| Some((name.to_owned(), CodeLanguage::Python));
        assert_eq!(code(&["python3", "-m", "forecourt_agent", "shirts.py"]), python("shirts.py"));
        assert_eq!(code(&["uv", "run", "agent.py", "other.py"]), python("agent.py"));
        assert_eq!(code(&["./agent.py"]), python("agent.py"));
        assert_eq!(code(&["node", "agent.mjs"]), Some(("agent.mjs".to_owned(), CodeLanguage::JavaScript)));
        for none in
            [&["python3", "-c", "print('a.py')"][..], &["node", "-e", "1", "a.js"], &["grep", "x", "a.py"], &["x"]]
        {
            assert_eq!(code(none), None, "{none:?}");
        }
    }

    #[test]
    fn what_is_no_file_of_this_folder_is_not_missed() {
        let (folder, path) = folder();
        for name in ["uv", "npx", "deno", "bun"] {
            std::fs::write(folder.path().join("bin").join(name), "").unwrap();
        }
        for fine in [
            &["uv", "--directory", "service", "run", "server.py"][..],
            &["uv", "--directory=service", "run", "server.py"],
            &["uv", "run", "--with", "web.py", "agent.py"],
            &["bun", "run", "--cwd", "service", "server.ts"],
            &["deno", "run", "https://tools.example/server.ts"],
            &["npx", "-y", "highlight.js"],
        ] {
            assert_eq!(declared(fine, folder.path()).missing(&path), None, "{fine:?}");
        }
        for wrong in [&["uv", "run", "--with", "web.py", "agnet.py"][..], &["npx", "tsx", "server.ts"]] {
            assert!(declared(wrong, folder.path()).missing(&path).is_some(), "{wrong:?}");
        }
    }

    #[test]
    fn code_is_looked_at_by_the_interpreter_that_runs_it_and_by_no_other() {
        let (folder, path) = folder();
        let asked = |words: &[&str]| declared(words, folder.path()).code(&path).unwrap().interpreter;
        let python = folder.path().join("bin/python3");
        assert_eq!(asked(&["python3", "-u", "agent.py"]), Some(python.clone()));
        assert_eq!(asked(&["bin/python3", "agent.py"]), Some(python.clone()));
        // A program of the deployment that is called like an interpreter is none, and is not run.
        for own in ["./python-agent.py", "./agent.py"] {
            assert_eq!(asked(&[own]), Some(python.clone()), "{own}");
        }
        // They may have another version of the language.
        for other in [&["uv", "run", "agent.py"][..], &["bun", "a.ts"], &["node", "--import", "tsx", "a.ts"]] {
            assert_eq!(asked(other), None, "{other:?}");
        }
    }
}
