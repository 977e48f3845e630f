//! This module has interpreters look at the syntax of a file. They compile it and run none of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use forecourt_process::{Program, RunningProgram};
use forecourt_settings::files;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// How long an interpreter may take for one file.
const CODE_CHECK_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of a file that is looked at. Of a larger one nothing is told.
const CODE_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of what an interpreter says that are read.
const SAID_BYTES_MAX: u64 = 64 * 1024;
/// Characters of a line of code that is shown.
const EXCERPT_CHARS_MAX: usize = 200;

/// What Python is told: compile standard input, and say the line and what is wrong with it. Compiling runs nothing.
const PYTHON: &str = "\
import sys
try:
    compile(sys.stdin.buffer.read(), sys.argv[1], 'exec', dont_inherit=True)
except SyntaxError as error:
    print(error.lineno or 0, error.msg, sep='\\t')
except ValueError as error:
    print(0, error, sep='\\t')
";

/// A language of which files are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeLanguage {
    /// Python 3.
    Python,
    /// JavaScript as Node reads it.
    JavaScript,
    /// TypeScript as Node reads it, where it does.
    TypeScript,
}

impl CodeLanguage {
    /// The language of a file by its ending; `None` for any other one.
    pub(super) fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()? {
            "py" => Some(Self::Python),
            "js" | "mjs" | "cjs" => Some(Self::JavaScript),
            "ts" | "mts" | "cts" => Some(Self::TypeScript),
            _ => None,
        }
    }

    /// What its files are usually run by.
    pub(super) fn usual_interpreter(self) -> &'static str {
        match self {
            Self::Python => "python3",
            Self::JavaScript | Self::TypeScript => "node",
        }
    }

    /// Whether a program of this name is an interpreter that can be asked.
    pub(super) fn is_run_by(self, name: &str) -> bool {
        match self {
            // A version may follow, and nothing else: `python-agent.py` is no interpreter, and would be run.
            Self::Python => ["python", "pypy"].iter().any(|interpreter| {
                let version = name.strip_prefix(*interpreter);
                version.is_some_and(|version| version.chars().all(|one| one.is_ascii_digit() || one == '.'))
            }),
            Self::JavaScript | Self::TypeScript => name == "node",
        }
    }
}

/// What is wrong with a file of code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    /// The line, from 1.
    pub(super) line: Option<usize>,
    /// That line.
    pub(super) excerpt: String,
    /// The interpreter's words.
    pub(super) message: String,
}

/// The first error in the syntax of a file. `None`: there is none, or nobody could tell.
pub(super) async fn syntax_error(
    language: CodeLanguage,
    interpreter: &Path,
    file: &Path,
    path_variable: &str,
) -> Option<SyntaxError> {
    let code = files::bytes_of(file, CODE_BYTES_MAX).ok()?;
    let name = std::path::absolute(file).ok()?.display().to_string();
    let arguments = match language {
        // Isolated, and without `site`: a module of the deployment that is called like one of Python's, or a
        // `sitecustomize`, would else be run.
        CodeLanguage::Python => vec!["-I", "-S", "-c", PYTHON, name.as_str()],
        CodeLanguage::JavaScript | CodeLanguage::TypeScript => vec!["--check", name.as_str()],
    };
    let program = Program {
        file: interpreter.to_path_buf(),
        arguments: arguments.into_iter().map(str::to_owned).collect(),
        folder: file.parent()?.to_path_buf(),
        path_variable: Some(path_variable.to_owned()),
        variables: BTreeMap::new(),
    };
    let input = if language == CodeLanguage::Python { code.clone() } else { Vec::new() };
    let (out, complaints) = timeout(CODE_CHECK_TIME_MAX, said(&program, input)).await.ok()??;
    let (line, message) = match language {
        CodeLanguage::Python => of_python(&out)?,
        CodeLanguage::JavaScript => of_node(&complaints).filter(|(_, message)| !is_about_modules(message))?,
        CodeLanguage::TypeScript => of_node(&complaints)?,
    };
    let text = String::from_utf8_lossy(&code);
    let excerpt = line.and_then(|line| text.lines().nth(line - 1)).unwrap_or_default();
    Some(SyntaxError { line, excerpt: excerpt.chars().take(EXCERPT_CHARS_MAX).collect(), message })
}

/// What a program says on its two outputs, given an input.
async fn said(program: &Program, input: Vec<u8>) -> Option<(String, String)> {
    // The process goes along: dropped, it would be ended before it has said anything.
    let RunningProgram { process: _process, mut stdin, stdout, stderr } = program.start().ok()?;
    let write = async move {
        // A program that reads nothing of it may still say something.
        let _ = stdin.write_all(&input).await;
    };
    let ((), out, complaints) = tokio::join!(write, text_of(stdout), text_of(stderr));
    Some((out, complaints))
}

async fn text_of(from: impl AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    let mut from = from.take(SAID_BYTES_MAX);
    // What came before a fault is said all the same.
    let _ = from.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `LINE<tab>MESSAGE`, as [`PYTHON`] prints it.
fn of_python(out: &str) -> Option<(Option<usize>, String)> {
    let (line, message) = out.lines().next()?.split_once('\t')?;
    Some((line.parse().ok().filter(|line| *line > 0), message.to_owned()))
}

/// `FILE:LINE` and, further down, `SyntaxError: MESSAGE`, as Node writes it. Any other fault is none of the syntax.
fn of_node(complaints: &str) -> Option<(Option<usize>, String)> {
    let said = complaints.lines().find(|line| line.starts_with("SyntaxError"))?;
    let message = said.split_once(": ").map_or(said, |(_, message)| message);
    let place = complaints.lines().next().and_then(|first| first.rsplit_once(':'));
    let line = place.and_then(|(_, line)| line.trim().parse().ok()).filter(|line| *line > 0);
    Some((line, message.to_owned()))
}

/// Whether Node only complains that a file is a module: newer ones run it as one, though they check it as none.
fn is_about_modules(message: &str) -> bool {
    ["import statement outside a module", "'export'", "import.meta", "await is only valid"]
        .iter()
        .any(|about| message.contains(about))
}

#[cfg(test)]
mod tests {
    use forecourt_process::find;
    use proptest::prelude::*;

    use super::*;

    /// The first error of a file with this name and text, by the interpreter of this machine.
    async fn error_in(name: &str, text: &str) -> Option<(Option<usize>, String)> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        // A module of the deployment is not imported by whoever looks at it.
        std::fs::write(folder.path().join("sys.py"), "open('ran', 'w')").unwrap();
        let (language, path) = (CodeLanguage::of(&file).unwrap(), std::env::var("PATH").unwrap());
        let interpreter = find(language.usual_interpreter(), &path).expect("an interpreter is on this machine");
        let error = syntax_error(language, &interpreter, &file, &path).await;
        assert!(!folder.path().join("ran").exists(), "code was run");
        error.map(|error| (error.line, error.excerpt))
    }

    #[tokio::test]
    async fn errors_in_python_are_told_with_their_line_and_nothing_is_run() {
        assert_eq!(error_in("a.py", "open('ran', 'w')\nprint('fine')\n").await, None);
        let broken = "open('ran', 'w')\ndef f(:\n    pass\n";
        assert_eq!(error_in("a.py", broken).await, Some((Some(2), "def f(:".to_owned())));
        assert_eq!(error_in("a.py", "x = 1\nreturn x\n").await, Some((Some(2), "return x".to_owned())));
    }

    #[tokio::test]
    async fn errors_in_javascript_are_told_with_their_line_and_nothing_is_run() {
        let run = "require('fs').writeFileSync('ran', '')\n";
        assert_eq!(error_in("a.cjs", run).await, None);
        assert_eq!(error_in("a.mjs", "import fs from 'node:fs'\nawait 1\n").await, None);
        assert_eq!(error_in("a.js", "import fs from 'node:fs'\n").await, None, "it may be a module");
        assert_eq!(error_in("a.cjs", &format!("{run}const x = ;\n")).await, Some((Some(2), "const x = ;".to_owned())));
    }

    #[test]
    fn an_interpreter_is_known_by_its_whole_name() {
        for name in ["python", "python3", "python3.13", "pypy3"] {
            assert!(CodeLanguage::Python.is_run_by(name), "{name}");
        }
        for other in ["python-agent.py", "python3-agent", "pythonic", "pypy.sh", "node", "uv"] {
            assert!(!CodeLanguage::Python.is_run_by(other), "{other}");
        }
    }

    #[tokio::test]
    async fn without_an_interpreter_nothing_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.py");
        std::fs::write(&file, "def f(:").unwrap();
        assert_eq!(syntax_error(CodeLanguage::Python, Path::new("none"), &file, "").await, None);
    }

    #[test]
    fn what_node_says_of_anything_but_syntax_is_no_error_of_it() {
        let unknown = "node:internal/errors\nTypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension \".ts\"\n";
        assert_eq!(of_node(unknown), None);
        let said = "/srv/a.ts:3\nconst x = ;\n\nSyntaxError [ERR_INVALID_TYPESCRIPT_SYNTAX]: Expression expected\n";
        assert_eq!(of_node(said), Some((Some(3), "Expression expected".to_owned())));
    }

    proptest! {
        #[test]
        fn whatever_an_interpreter_says_is_read(said in "\\PC{0,80}", lines in "[a-zA-Z:0-9\\n\\t ]{0,120}") {
            for text in [said, lines] {
                let _ = (of_python(&text), of_node(&text));
            }
        }
    }
}
