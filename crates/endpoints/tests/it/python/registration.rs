//! What can't be bound to an endpoint, and what the operator is told.

use std::time::Duration;

use forecourt_endpoints::{FunctionSource, Functions};
use serde_json::json;

use crate::python::support::{call, rooms, with};

#[test]
fn s12_2_a_fault_names_the_file_the_line_and_the_exception() {
    for (text, told) in [
        ("def book(ctx):\n  return {\n", "functions/rooms.py line 2: SyntaxError: '{' was never closed"),
        ("def book(ctx):\nreturn {}\n", "functions/rooms.py line 2: IndentationError: expected an indented block"),
        ("x = 1\n\nimport nowhere\n", "functions/rooms.py line 3: ModuleNotFoundError: No module named 'nowhere'"),
        ("\nraise ValueError('no database')\n", "functions/rooms.py line 2: ValueError: no database"),
        ("def cook(ctx): return {}\n", "functions/rooms.py has no function `book`"),
        ("book = 7\n", "functions/rooms.py has something else under the name `book`"),
        ("import os\nos._exit(4)\n", "it ended its worker (exit status: 4) while it was imported"),
        ("import sys\nsys.exit(4)\n", "functions/rooms.py line 2: SystemExit: 4"),
        (
            "import forecourt\nraise forecourt.EndpointError('full', 'Full.')\n",
            "functions/rooms.py line 2: EndpointError: ('full', 'Full.')",
        ),
        ("x = '\0'\n", "SyntaxError: source code string cannot contain null bytes"),
        ("x = bytearray(10 ** 10)\n", "functions/rooms.py line 1: MemoryError"),
    ] {
        let refusal = rooms(text).refusal("rooms.book");
        assert!(refusal.contains(told), "{text:?}: {refusal}");
    }
}

#[test]
fn an_import_that_fails_in_a_library_is_blamed_on_the_line_that_asked_for_it() {
    let deployment = rooms("import json\n\njson.loads('{')\n");
    let refusal = deployment.refusal("rooms.book");
    assert!(refusal.starts_with("functions/rooms.py line 3: JSONDecodeError: "), "{refusal}");
    let deployment = rooms("import night\n");
    deployment.write("functions/night.py", "\n1 / 0\n");
    assert_eq!(deployment.refusal("rooms.book"), "functions/night.py line 2: ZeroDivisionError: division by zero");
}

#[test]
fn only_modules_of_the_folder_can_be_bound() {
    let deployment = rooms("def book(ctx): return {}\n");
    assert_eq!(deployment.refusal("os.system"), "there is no functions/os.py");
    assert_eq!(deployment.refusal("nowhere.at.all"), "there is no functions/nowhere/at.py");
    assert!(deployment.refusal("book").contains("has a module"));
    deployment.write("functions/json.py", "def loads(ctx): return {}\n");
    assert_eq!(deployment.refusal("json.loads"), "the name of the module `json` is taken by one of Python's own");
    deployment.function("rooms.book");
}

#[test]
fn without_a_folder_or_an_interpreter_the_operator_learns_which_is_missing() {
    let deployment = with("def book(ctx): return {}\n", |options| options.path_variable = Some("/nowhere".to_owned()));
    assert_eq!(deployment.refusal("rooms.book"), "functions need python3 on PATH");
    let deployment = with("def book(ctx): return {}\n", |options| options.python = "venv/bin/python3".to_owned());
    assert_eq!(deployment.refusal("rooms.book"), "functions need Python, and there is no venv/bin/python3");
    std::fs::remove_dir_all(deployment.root.path().join("functions")).unwrap();
    assert_eq!(deployment.refusal("rooms.book"), "there is no functions/rooms.py");
}

#[test]
fn an_interpreter_that_is_none_is_told() {
    let deployment = with("def book(ctx): return {}\n", |options| options.python = "false".to_owned());
    assert_eq!(deployment.refusal("rooms.book"), "it ended its worker (exit status: 1) while it was imported");
    let deployment = with("def book(ctx): return {}\n", |options| options.python = "functions/rooms.py".to_owned());
    assert!(deployment.refusal("rooms.book").starts_with("its worker could not be started: "));
}

#[test]
fn an_import_that_hangs_is_ended() {
    let deployment = with("while True: pass\n", |options| options.import_time = Duration::from_millis(500));
    assert_eq!(deployment.refusal("rooms.book"), "it was not imported in time");
}

#[tokio::test]
async fn functions_of_the_program_go_before_those_of_the_deployment() {
    let deployment = rooms("def book(ctx): return {'by': 'python'}\ndef count(ctx): return {'by': 'python'}\n");
    let functions = Functions::new()
        .with("rooms.book", |_| async { Ok(json!({"by": "rust"})) })
        .then(std::sync::Arc::new(deployment.python));
    // Found from inside a runtime, too.
    for (dotted, by) in [("rooms.book", "rust"), ("rooms.count", "python")] {
        assert_eq!(call(&functions.find(dotted).unwrap(), json!({})).await, Ok(json!({"by": by})));
    }
    let refusal = functions.find("rooms.burn").err().map(|fault| fault.to_string());
    assert_eq!(refusal.as_deref(), Some("functions/rooms.py has no function `burn`"));
}
