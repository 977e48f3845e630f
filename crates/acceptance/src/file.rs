//! The files of tests in a folder: read, and everything that is wrong with any of them found.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use forecourt_settings::{Environment, Problem, Problems, Section, files, nearest};
use regex::{Regex, RegexBuilder};

use crate::limit::Limit;
use crate::limits::{FILES_MAX, PATTERN_BYTES_MAX, SAY_BYTES_MAX, TEST_SECONDS_MAX, TEST_TIME, TESTS_MAX, TURNS_MAX};
use crate::settings::{Expectation, FileSettings, SenderSettings, TestSettings};
use crate::wire::Wire;

/// The folder of tests within a deployment.
pub const FOLDER: &str = "tests";
/// The folder of what was recorded, within that of tests.
pub const RECORDED: &str = "recorded";

/// All tests of a deployment, in the order of their files.
#[derive(Debug, Clone, Default)]
pub struct TestFiles {
    /// The tests.
    pub tests: Vec<TestCase>,
}

/// One test, checked.
#[derive(Debug, Clone)]
pub struct TestCase {
    /// What it is called.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// The line at which it begins.
    pub line: usize,
    /// The agent that is asked; `None`: the default agent.
    pub agent: Option<String>,
    /// Who asks.
    pub sender: SenderSettings,
    /// Over which protocols, one at least.
    pub over: Vec<Wire>,
    /// The language to answer in.
    pub language: Option<String>,
    /// For all of its turns.
    pub timeout: Duration,
    /// One at least.
    pub turns: Vec<Turn>,
}

/// One turn of a test, with its patterns and limits read.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The line at which its expectations begin.
    pub line: usize,
    /// What is said.
    pub say: String,
    /// What is expected.
    pub expect: Expectation,
    /// `matches` of it.
    pub matches: Vec<Regex>,
    /// `not_matches` of it.
    pub not_matches: Vec<Regex>,
    /// `limits` of it.
    pub limits: Vec<Limit>,
}

impl TestFiles {
    /// Reads the tests of the deployment in `folder`; none where there is no folder of them. `agents` are the handles
    /// that there are, where they are known.
    ///
    /// # Errors
    /// Everything that is wrong, each with its file and its line.
    pub fn read(folder: &Path, environment: &dyn Environment, agents: Option<&[String]>) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let mut tests: Vec<TestCase> = Vec::new();
        for file in files::files_in(&folder.join(FOLDER), FILES_MAX)? {
            let read = files::text_of(&file)
                .map_err(Problems::from)
                .and_then(|text| read_file(&file, &text, environment, agents));
            tests.extend(problems.absorb(read).into_iter().flatten());
        }
        if tests.len() > TESTS_MAX {
            let text = format!("has {} tests, and {TESTS_MAX} at most are run", tests.len());
            problems.push(Problem::of_file(&folder.join(FOLDER), text));
        }
        check_keys(&tests, &mut problems);
        problems.into_result(Self { tests })
    }
}

/// An API key is made once for all tests: one that had other scopes in a second test would have those of the first.
fn check_keys(tests: &[TestCase], problems: &mut Problems) {
    let mut keys: HashMap<&str, &TestCase> = HashMap::new();
    for test in tests {
        let Some(name) = test.sender.api_key.as_deref() else { continue };
        let first = *keys.entry(name).or_insert(test);
        if scopes_of(first) != scopes_of(test) {
            let (file, line) = (first.file.display(), first.line);
            let text = format!(
                "this `api_key` has other `scopes` in {file}, line {line}: a key has the same ones in all tests"
            );
            problems.push(Problem::of_line(&test.file, test.line, "[[test]]", text));
        }
    }
}

fn scopes_of(test: &TestCase) -> BTreeSet<&str> {
    test.sender.scopes.iter().map(String::as_str).collect()
}

fn read_file(
    file: &Path,
    text: &str,
    environment: &dyn Environment,
    agents: Option<&[String]>,
) -> Result<Vec<TestCase>, Problems> {
    let mut root = Section::parse(file, text, environment)?;
    let sections = root.take_list("test");
    let mut problems = Problems::new();
    problems.absorb(root.read::<FileSettings>());
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut tests = Vec::new();
    for section in sections {
        let Some(test) = problems.absorb(read_test(&section, agents)) else { continue };
        if let Some(line) = names.insert(test.name.clone(), test.line) {
            problems.push(section.problem(Some("name"), format!("`{}` is the test of line {line} already", test.name)));
        }
        tests.push(test);
    }
    problems.into_result(tests)
}

fn read_test(section: &Section, agents: Option<&[String]>) -> Result<TestCase, Problems> {
    let settings: TestSettings = section.read()?;
    let mut problems = Problems::new();
    if settings.name.trim().is_empty() {
        problems.push(section.problem(Some("name"), "a test needs a name"));
    }
    if let (Some(agent), Some(agents)) = (&settings.agent, agents)
        && !agents.contains(agent)
    {
        let problem = section.problem(Some("agent"), format!("there is no agent `{agent}`"));
        problems.push(match nearest(agent, agents) {
            Some(known) => problem.hint(format!("did you mean `{known}`?")),
            None => problem,
        });
    }
    let over = problems.absorb(wires(section, &settings)).unwrap_or_default();
    problems.absorb(check_sender(section, &settings.sender));
    let timeout = problems.absorb(timeout(section, &settings)).unwrap_or_default();
    let turns = problems.absorb(turns(section, &settings, &over)).unwrap_or_default();
    let TestSettings { name, agent, sender, language, .. } = settings;
    let line = line_of(section);
    let file = section.file().to_path_buf();
    problems.into_result(TestCase { name, file, line, agent, sender, over, language, timeout, turns })
}

fn line_of(section: &Section) -> usize {
    section.problem(None, "").line().unwrap_or(1)
}

fn wires(section: &Section, settings: &TestSettings) -> Result<Vec<Wire>, Problems> {
    if settings.over.0.is_empty() {
        return Ok(vec![Wire::Rest]);
    }
    let read = settings.over.0.iter().map(|name| Wire::parse(name));
    read.collect::<Result<_, _>>().map_err(|wrong| section.problem(Some("over"), wrong).into())
}

fn timeout(section: &Section, settings: &TestSettings) -> Result<Duration, Problem> {
    match settings.timeout_seconds {
        None => Ok(TEST_TIME),
        Some(seconds) if (1..=TEST_SECONDS_MAX).contains(&seconds) => Ok(Duration::from_secs(seconds)),
        Some(_) => {
            let text = format!("`timeout_seconds` must be between 1 and {TEST_SECONDS_MAX}");
            Err(section.problem(Some("timeout_seconds"), text))
        }
    }
}

fn check_sender(section: &Section, sender: &SenderSettings) -> Result<(), Problem> {
    let wrong = |text: &str| Err(section.problem(Some("as"), text));
    let who = [&sender.subject, &sender.api_key, &sender.token].into_iter().flatten().count();
    let has_claims = sender.issuer.is_some() || !sender.claims.is_empty();
    match who {
        0 if *sender != SenderSettings::default() => wrong("`as` needs a `subject`, an `api_key` or a `token`"),
        0 | 1 if has_claims && sender.subject.is_none() => wrong("`issuer` and `claims` need a `subject` beside them"),
        1 if sender.token.is_some() && !sender.scopes.is_empty() => wrong("a `token` has the scopes that it has"),
        0 | 1 => Ok(()),
        _ => wrong("`as` is one of `subject`, `api_key` and `token`"),
    }
}

fn turns(section: &Section, settings: &TestSettings, over: &[Wire]) -> Result<Vec<Turn>, Problems> {
    let wrong = |key: Option<&str>, text: String| Problems::from(section.problem(key, text));
    let mut inner = section.clone();
    let place = inner.take("expect").unwrap_or_else(|| section.clone());
    let places = inner.take_list("turn");
    match (&settings.say, settings.turns.as_slice()) {
        (None, []) => Err(wrong(None, "a test needs `say`, or turns: [[test.turn]]".to_owned())),
        (Some(_), [_, ..]) => Err(wrong(Some("say"), "`say` and [[test.turn]] are one or the other".to_owned())),
        (None, all) if all.len() > TURNS_MAX => {
            Err(wrong(Some("turn"), format!("it has {} turns, and {TURNS_MAX} at most are taken", all.len())))
        }
        (None, _) if settings.expect.is_some() => {
            Err(wrong(Some("expect"), "`expect` belongs to a turn: [test.turn.expect]".to_owned()))
        }
        (Some(say), []) => Ok(vec![turn(section, &place, say, settings.expect.clone().unwrap_or_default(), over)?]),
        (None, all) => {
            let mut problems = Problems::new();
            let read = all.iter().zip(places).filter_map(|(settings, of_turn)| {
                let mut inner = of_turn.clone();
                let place = inner.take("expect").unwrap_or_else(|| of_turn.clone());
                problems.absorb(turn(&of_turn, &place, &settings.say, settings.expect.clone(), over))
            });
            let read = read.collect();
            problems.into_result(read)
        }
    }
}

fn turn(section: &Section, place: &Section, say: &str, expect: Expectation, over: &[Wire]) -> Result<Turn, Problems> {
    let mut problems = Problems::new();
    if say.trim().is_empty() || say.len() > SAY_BYTES_MAX {
        problems.push(section.problem(Some("say"), format!("`say` has 1 to {SAY_BYTES_MAX} bytes")));
    }
    let words = [
        ("contains", &expect.contains.0),
        ("not_contains", &expect.not_contains.0),
        ("matches", &expect.matches.0),
        ("not_matches", &expect.not_matches.0),
        ("files", &expect.files.0),
        ("not_called", &expect.not_called.0),
    ];
    for (key, all) in words {
        if let Some(at) = all.iter().position(|text| text.trim().is_empty()) {
            // Such as an empty variable of the environment.
            problems.push(place.item_problem(key, at, format!("`{key}` needs words: no words are in every text")));
        }
    }
    let matches = problems.absorb(patterns(place, "matches", &expect.matches.0)).unwrap_or_default();
    let not_matches = problems.absorb(patterns(place, "not_matches", &expect.not_matches.0)).unwrap_or_default();
    let read =
        |(at, text): (usize, &String)| Limit::parse(text).map_err(|wrong| place.item_problem("limits", at, wrong));
    let limits: Result<Vec<Limit>, Problem> = expect.limits.0.iter().enumerate().map(read).collect();
    let limits = problems.absorb(limits).unwrap_or_default();
    if let Some(other) = over.iter().find(|wire| **wire != Wire::Rest).filter(|_| expect.status.is_some()) {
        problems.push(place.problem(Some("status"), format!("over {other} an answer has no status of its own")));
    }
    let asks_of_tools = [("calls", !expect.calls.is_empty()), ("not_called", !expect.not_called.0.is_empty())];
    for (key, _) in asks_of_tools.into_iter().filter(|(_, is_expected)| *is_expected) {
        if let Some(other) = over.iter().find(|wire| !wire.tells_of_calls()) {
            problems.push(place.problem(Some(key), format!("over {other} nobody is told which tools are called")));
        }
    }
    if expect.cost_max.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
        problems.push(place.problem(Some("cost_max"), "`cost_max` is an amount, 0 or more"));
    }
    if expect.refusal.is_some() && expect.failure.is_some() {
        problems.push(place.problem(Some("failure"), "an answer has a `refusal` or a `failure`, and never both"));
    }
    let line = line_of(place);
    problems.into_result(Turn { line, say: say.to_owned(), expect, matches, not_matches, limits })
}

fn patterns(place: &Section, key: &str, texts: &[String]) -> Result<Vec<Regex>, Problem> {
    let read = |(at, text): (usize, &String)| {
        let regex = RegexBuilder::new(text).size_limit(PATTERN_BYTES_MAX).build();
        regex.map_err(|error| {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            place.item_problem(key, at, format!("`{text}` is no regular expression: {why}"))
        })
    };
    texts.iter().enumerate().map(read).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Vec<TestCase>, Problems> {
        let agents = ["chef".to_owned(), "gate".to_owned()];
        read_file(Path::new("tests/a.toml"), text, &|name: &str| (name == "T").then(|| "t".to_owned()), Some(&agents))
    }

    #[track_caller]
    fn told(text: &str, line: usize, words: &str) {
        let problems = read(text).unwrap_err();
        let problem = problems.iter().next().unwrap();
        assert_eq!(problem.line(), Some(line), "{problems}");
        assert!(problems.to_string().contains(words), "{problems}");
    }

    #[test]
    fn a_test_is_read_with_all_that_it_says() {
        let tests = read(
            "[[test]]\nname = \"soups\"\nagent = \"chef\"\nsay = \"soup\"\nas = { token = \"${T}\" }\nover = [\"rest\", \"a2a\"]\n\
             [test.expect]\ncontains = \"leek\"\nlimits = [\"price <= 3\"]\nmatches = [\"^a\"]\n\
             [[test]]\nname = \"talk\"\n[[test.turn]]\nsay = \"a\"\n[[test.turn]]\nsay = \"b\"\nexpect = { asks = \"Which\" }\n",
        );
        let tests = tests.unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!((tests.len(), tests[0].line, tests[0].over.len(), tests[1].turns.len()), (2, 1, 2, 2));
        assert_eq!(tests[0].sender.token.as_deref(), Some("t"));
        assert_eq!((tests[0].turns[0].line, tests[0].timeout), (7, TEST_TIME));
    }

    #[test]
    fn mistakes_are_told_with_their_line_and_what_is_meant() {
        let test = |lines: &str| format!("[[test]]\nname = \"x\"\n{lines}");
        told(&test("say = \"a\"\nexepct = {}"), 4, "expect");
        told(&test("say = \"a\"\n[test.expect]\ncontians = \"b\""), 5, "contains");
        told(&test("say = \"a\"\nagent = \"chief\""), 4, "did you mean `chef`?");
        told(&test("say = \"a\"\nover = \"agtp\""), 4, "forecourt agtp");
        told(&test("say = \"a\"\nover = \"smtp\""), 4, "rest, a2a, mcp, nlweb");
        told(&test("say = \"a\"\nas = { subject = \"a\", api_key = \"b\" }"), 4, "one of");
        told(&test("say = \"a\"\nas = { issuer = \"a\" }"), 4, "subject");
        told(&test("say = \"a\"\n[test.expect]\nmatches = [\"a\", \"(\"]"), 5, "regular expression");
        told(&test("say = \"a\"\n[test.expect]\nlimits = [\"price\"]"), 5, "price <= 60");
        told(&test("say = \"a\"\n[test.expect]\ncontains = [\"a\", \" \"]"), 5, "`contains` needs words");
        told(&test("say = \"a\"\nexpect = { matches = \"\" }"), 4, "`matches` needs words");
        told(&test("say = \"a\"\nover = \"mcp\"\n[test.expect]\ncalls = [{ tool = \"x\" }]"), 6, "over mcp");
        told(&test("say = \"a\"\nover = \"nlweb\"\n[test.expect]\nstatus = 200"), 6, "over nlweb");
        told(&test("agent = \"chef\""), 1, "[[test.turn]]");
        told(&test("say = \"\""), 3, "1 to");
        told("test = 3", 1, "test");
        told("[[tset]]\nname = \"a\"", 1, "test");
        told("[[test]]\nname = \"x\"\nsay = \"a\"\n[[test]]\nname = \"x\"\nsay = \"a\"", 5, "line 1");
    }

    #[test]
    fn an_api_key_has_the_same_scopes_in_all_tests() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(FOLDER)).unwrap();
        let write = |file: &str, name: &str, scopes: &str| {
            let text = format!(
                "# Who.\n[[test]]\nname = \"x\"\nsay = \"a\"\nas = {{ api_key = \"{name}\", scopes = [{scopes}] }}\n"
            );
            std::fs::write(folder.path().join(FOLDER).join(file), text).unwrap();
        };
        let read = || TestFiles::read(folder.path(), &|_: &str| None, None);
        write("a.toml", "nightly", "\"r\", \"w\"");
        write("b.toml", "nightly", "\"w\", \"r\"");
        write("c.toml", "daily", "");
        assert_eq!(read().unwrap().tests.len(), 3);
        write("c.toml", "nightly", "\"r\"");
        let problems = read().unwrap_err();
        let problem = problems.iter().next().unwrap();
        assert!(problem.file().ends_with("c.toml") && problem.line() == Some(2), "{problems}");
        assert!(problem.message().contains("a.toml, line 2") && !problem.message().contains("nightly"), "{problems}");
        assert_eq!(problems.len(), 1);
    }

    #[test]
    fn bounds_are_told() {
        let turns = |count: usize| format!("[[test]]\nname = \"x\"\n{}", "[[test.turn]]\nsay = \"a\"\n".repeat(count));
        assert!(read(&turns(TURNS_MAX)).is_ok());
        assert!(read(&turns(TURNS_MAX + 1)).unwrap_err().to_string().contains("50 at most"));
        let seconds = |seconds: u64| read(&format!("[[test]]\nname = \"x\"\nsay = \"a\"\ntimeout_seconds = {seconds}"));
        assert!(seconds(TEST_SECONDS_MAX).is_ok());
        assert!(seconds(TEST_SECONDS_MAX + 1).unwrap_err().to_string().contains("600"));
        let bytes = |count: usize| read(&format!("[[test]]\nname = \"x\"\nsay = \"{}\"", "a".repeat(count)));
        assert!(bytes(SAY_BYTES_MAX).is_ok());
        assert!(bytes(SAY_BYTES_MAX + 1).unwrap_err().to_string().contains("1044480 bytes"));
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(FOLDER)).unwrap();
        let all: String = (0..=TESTS_MAX).map(|n| format!("[[test]]\nname = \"{n}\"\nsay = \"a\"\n")).collect();
        std::fs::write(folder.path().join("tests/a.toml"), all).unwrap();
        let problems = TestFiles::read(folder.path(), &|_: &str| None, None).unwrap_err();
        assert!(problems.to_string().contains("2001 tests, and 2000"), "{problems}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,200}", say in "\\PC{0,40}") {
            let _ = read(&text);
            let _ = read(&format!("[[test]]\nname = \"x\"\nsay = '''{say}'''"));
        }
    }
}
