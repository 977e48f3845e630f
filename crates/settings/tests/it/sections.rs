//! What an operator sees when a settings file is wrong, and what an owner gets when it is right.

use std::path::Path;

use forecourt_settings::{PROBLEMS_MAX, Problems, Section};
use serde::Deserialize;

const GATE: &str = r#"handle = "gate"
rate = 3

[backend]
kind = "http"
url = "https://example.com"
colour = "red"

[[backend.rule]]
text = "^pay"

[[backend.rule]]
text = "^go"
"#;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Backend {
    kind: String,
    url: String,
    #[serde(default)]
    color: Option<String>,
    #[serde(default)]
    timeout_seconds: u64,
}

fn parse(text: &str) -> Result<Section, Problems> {
    let environment = |name: &str| match name {
        "SECRET" => Some("hunter2\"quoted".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    Section::parse(Path::new("agents/gate.toml"), text, &environment)
}

fn section(text: &str) -> Section {
    parse(text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn backend(text: &str) -> Problems {
    section(text).read::<Backend>().expect_err("this is wrong")
}

#[test]
fn an_unknown_key_names_file_line_and_the_nearest_key() {
    let mut root = section(GATE);
    let mut backend = root.take("backend").unwrap();
    assert_eq!(backend.take_list("rule").len(), 2);
    let problems = backend.read::<Backend>().unwrap_err();
    let expected = "error: unknown key `colour` in [backend]\n  --> agents/gate.toml:7:1\n  |\n7 | colour = \"red\"\n  | ^\n  hint: did you mean `color`?";
    assert_eq!(problems.to_string(), expected);
}

#[test]
fn several_problems_of_one_section_are_found_at_once() {
    let problems = backend("kind = 7\nurl = \"x\"\nulr = \"y\"\ntimeout_seconds = \"soon\"\n");
    let lines: Vec<_> = problems.iter().map(|problem| problem.line().unwrap()).collect();
    assert_eq!(problems.len(), 3, "{problems}");
    assert!([1, 3, 4].iter().all(|line| lines.contains(line)), "{problems}");
    assert!(!problems.to_string().contains("missing"), "what was left out is not missing too: {problems}");
}

#[test]
fn a_missing_key_is_named() {
    let problems = backend("kind = \"http\"\n");
    assert!(problems.to_string().starts_with("error: missing key `url`\n  --> agents/gate.toml"), "{problems}");
}

#[test]
fn a_wrong_type_names_the_path_and_what_was_expected() {
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct Outer {
        limits: Inner,
    }
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Inner {
        burst: u32,
    }
    let problems = section("[limits]\nburst = -1\n").read::<Outer>().unwrap_err();
    assert!(
        problems.to_string().contains("`limits.burst` has to be a whole number of at least 0, and is `-1`"),
        "{problems}"
    );
    assert!(problems.to_string().contains("agents/gate.toml:2:1"), "{problems}");
    let problems = section("[limits]\nburts = 1\nburst = 1").read::<Outer>().unwrap_err();
    assert!(problems.to_string().contains("unknown key `burts` in [limits]"), "{problems}");
}

#[test]
fn every_syntax_error_of_a_file_is_reported() {
    let problems = parse("a = \nb = 1\nc = [1\n").unwrap_err();
    assert!(problems.len() >= 2, "{problems}");
    assert_eq!(problems.iter().next().unwrap().line(), Some(1));
    assert!(parse("a = 1\na = 2\n").is_err(), "a key stands once");
}

#[test]
fn variables_are_filled_in_and_dollars_escape_them() {
    let mut root = section(r#"a = "x${EMPTY}y${SECRET}" \n"#.replace("\\n", "").as_str());
    assert_eq!(root.text("a"), Some("xyhunter2\"quoted"));
    root = section(r#"a = "$${SECRET} and $5 and {host}""#);
    assert_eq!(root.text("a"), Some("${SECRET} and $5 and {host}"));
}

#[test]
fn variables_that_are_not_set_are_all_named() {
    let problems = parse("a = \"${NOPE}\"\n[b]\nc = [\"${NADA}\"]\n").unwrap_err();
    let text = problems.to_string();
    assert_eq!(problems.len(), 2);
    assert!(text.contains("`NOPE` is not set") && text.contains("`NADA` is not set"), "{text}");
    assert!(text.contains("gate.toml:1:5") && text.contains("gate.toml:3:6"), "{text}");
}

#[test]
fn a_broken_placeholder_is_refused() {
    for text in ["${", "${}", "${A B}", "${1A}", "${A"] {
        let problems = parse(&format!("a = \"{text}\"")).unwrap_err();
        assert!(problems.to_string().contains("$${"), "{problems}");
    }
}

#[test]
fn what_came_from_the_environment_is_never_shown() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Port {
        port: u16,
    }
    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Http,
    }
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct Choice {
        kind: Kind,
    }
    let port = section("port = \"${SECRET}\"").read::<Port>().unwrap_err().to_string();
    let kind = section("kind = \"${SECRET}\"").read::<Choice>().unwrap_err().to_string();
    for text in [&port, &kind] {
        assert!(!text.contains("hunter2"), "{text}");
    }
    assert!(port.contains("`port` has to be a whole number from 0 to 65535\n"), "{port}");
    assert!(kind.contains("`kind` has to be `http`"), "{kind}");
}

#[test]
fn the_value_of_a_secret_key_is_never_shown() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Auth {
        api_key: u16,
    }
    for text in ["api_key = \"hunter2\"", "api_key = 1\napi_kye_secret = \"hunter2\""] {
        let shown = section(text).read::<Auth>().unwrap_err().to_string();
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn a_table_that_is_not_one_is_said_to_be_wanted() {
    let mut root = section("backend = \"http\"\n");
    assert!(root.take("backend").is_none());
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    let problems = root.read::<Nothing>().unwrap_err();
    assert!(problems.to_string().contains("`backend` must be a table"), "{problems}");
    let mut root = section("[backnd]\n");
    assert!(root.take("backend").is_none());
    assert!(root.read::<Nothing>().unwrap_err().to_string().contains("did you mean `backend`?"));
}

#[test]
fn owners_report_problems_at_their_keys() {
    let mut root = section(GATE);
    let mut backend = root.take("backend").unwrap();
    let rules = backend.take_list("rule");
    assert_eq!(backend.name(), "agents/gate.toml [backend]");
    assert_eq!(backend.problem(Some("url"), "no").line(), Some(6));
    assert_eq!(backend.problem(None, "no").line(), Some(4));
    assert_eq!(rules[1].name(), "agents/gate.toml [backend.rule[1]]");
    assert_eq!(rules[1].problem(Some("text"), "no").line(), Some(13));
    assert_eq!(root.problem(None, "no").line(), None);
}

#[test]
fn keys_keep_the_order_of_the_file() {
    assert_eq!(section("z = 1\na = 2\n[m]\n").keys().collect::<Vec<_>>(), ["z", "a", "m"]);
}

#[test]
fn paths_start_at_the_folder_of_the_file() {
    assert_eq!(section("").folder(), Path::new("agents"));
    assert_eq!(section("").resolve_path("x.json"), Path::new("agents/x.json"));
    assert_eq!(section("").resolve_path("/x.json"), Path::new("/x.json"));
    let root = Section::parse(Path::new("forecourt.toml"), "", &|_: &str| None).unwrap();
    assert_eq!(root.folder(), Path::new("."));
}

#[test]
fn numbers_out_of_range_are_refused() {
    assert!(parse("a = 9223372036854775807").is_ok());
    assert!(parse("a = 9223372036854775808").is_err());
    assert!(parse("a = nan").is_err());
    assert!(parse("a = 0xff").is_ok());
}

#[test]
fn no_more_problems_than_the_cap_are_collected() {
    let text: String = (0..PROBLEMS_MAX + 5).map(|n| format!("k{n} = 1\n")).collect();
    assert_eq!(backend(&text).iter().count(), PROBLEMS_MAX);
}

#[test]
fn an_absent_section_reads_as_its_defaults() {
    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default, deny_unknown_fields)]
    struct Limits {
        burst: u32,
    }
    assert_eq!(section("").take_or_empty("limits").read::<Limits>(), Ok(Limits::default()));
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[a-c =.\\[\\]{}\"'$\\n#0-9é]{0,60}") {
        if let Ok(mut section) = parse(&text) {
            let _ = (section.take("a"), section.take_list("b"), section.read::<Backend>());
        }
    }

    #[test]
    fn a_variable_is_never_shown(key in "[a-z]{1,8}", wrong in "[a-z]{1,8}") {
        let text = format!("{key} = \"${{SECRET}}\"\nkind = \"${{SECRET}}\"\n{wrong}.url = \"${{SECRET}}\"\n");
        if let Ok(section) = parse(&text)
            && let Err(problems) = section.read::<Backend>()
        {
            proptest::prop_assert!(!problems.to_string().contains("hunter2"), "{}", problems);
        }
    }
}

#[test]
fn what_goes_before_the_file_is_read_and_blamed_in_its_place() {
    let mut backend = section(GATE).take("backend").unwrap();
    backend.take("rule");
    backend.take_list("rule");
    backend.overrule("kind", "mcp", "--kind");
    backend.overrule("color", "blue", "--color");
    assert!(backend.has("color"));
    let problems = backend.read::<Backend>().unwrap_err().to_string();
    assert!(problems.contains("`colour`") && problems.contains("agents/gate.toml:7:1"), "{problems}");
    let problem = |key| backend.problem(Some(key), "is wrong").to_string();
    assert_eq!(problem("kind"), "error: --kind is wrong");
    assert_eq!(problem("color"), "error: --color is wrong");
    assert!(problem("url").contains("agents/gate.toml:6:1"));
    backend.overrule("timeout_seconds", "soon", "--timeout");
    let problems = backend.read::<Backend>().unwrap_err().to_string();
    assert!(problems.contains("--> --timeout"), "{problems}");
    let mut plain = Section::empty(Path::new("agents/gate.toml"), "backend");
    plain.overrule("kind", "mcp", "--kind");
    plain.overrule("url", "https://example.com/${SECRET}", "--url");
    let read: Backend = plain.read().unwrap();
    assert_eq!((read.kind.as_str(), read.url.as_str()), ("mcp", "https://example.com/${SECRET}"), "it is what it is");
}
