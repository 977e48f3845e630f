//! Standard output that nobody reads, and what exit codes mean.

use std::process::{Command, ExitStatus, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_forecourt");

/// A program whose reader of standard output has gone before it says a word.
fn unread(arguments: &[&str], errors_too: bool) -> (ExitStatus, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(BINARY);
    command.args(arguments).env_remove("FORECOURT_DATA_DIR").stdin(Stdio::null()).stdout(writer.try_clone().unwrap());
    match errors_too {
        true => command.stderr(writer),
        false => command.stderr(Stdio::piped()),
    };
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    (output.status, String::from_utf8(output.stderr).unwrap())
}

fn deployment() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new(BINARY).arg("init").arg(folder.path().join("site")).output().unwrap();
    assert!(made.status.success());
    folder
}

#[test]
fn a_reader_that_went_away_ends_nothing_with_a_panic() {
    let folder = deployment();
    let site = folder.path().join("site");
    let (site, fresh) = (site.to_str().unwrap(), folder.path().join("fresh"));
    for arguments in [
        &["check", site][..],
        &["check", site, "--json"],
        &["keys", site],
        &["index", site, "--explain", "hello"],
        &["init", fresh.to_str().unwrap()],
        &["reference"],
        &["--help"],
        &["ask", "--help"],
        &["--version"],
    ] {
        let (status, errors) = unread(arguments, false);
        assert_eq!(status.code(), Some(0), "{arguments:?}: {errors}");
        assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
    }
}

#[test]
fn nobody_has_to_listen_to_standard_error() {
    let folder = deployment();
    let site = folder.path().join("site");
    let site = site.to_str().unwrap();
    for (arguments, code) in [
        (&["index", site][..], 0),
        (&["check", "no-such-folder"], 1),
        (&["nonsense"], 2),
        (&["ask", "http://127.0.0.1:1/~a", "hi"], 3),
    ] {
        assert_eq!(unread(arguments, true).0.code(), Some(code), "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_was_lost_is_a_failure() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(BINARY).arg("reference").stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output can't be written"));
}

#[test]
fn exit_codes_are_those_that_help_tells() {
    let run = |arguments: &[&str]| Command::new(BINARY).args(arguments).stdin(Stdio::null()).output().unwrap();
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    for line in ["Exit codes:", "  0  done", "  1  refused", "  2  the command line", "  3  the other side"] {
        assert!(help.contains(line), "{line} in {help}");
    }
    for (arguments, code) in [
        (&["--version"][..], 0),
        (&["check", "no-such-folder"], 1),
        (&[], 2),
        (&["nonsense"], 2),
        (&["ask"], 2),
        (&["ask", "nobody", "hi"], 2),
        (&["discover", "@a"], 2),
        (&["ask", "http://127.0.0.1:1/~a", "hi"], 3),
        (&["discover", "nowhere.localhost"], 3),
    ] {
        assert_eq!(run(arguments).status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn an_index_is_explained_as_data_too() {
    let folder = deployment();
    let site = folder.path().join("site");
    let run = |arguments: &[&str]| Command::new(BINARY).arg("index").arg(&site).args(arguments).output().unwrap();
    assert!(run(&[]).status.success());
    let told = run(&["--explain", "welcome", "--json"]);
    assert!(told.status.success(), "{told:?}");
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    let (agent, best) = (&told[0], &told[0]["items"][0]);
    assert!(agent["agent"].is_string() && agent["question"] == "welcome", "{told}");
    assert!(best["id"].is_string() && best["score"].is_number() && best["terms"].is_array(), "{told}");
}

#[test]
fn an_index_of_which_nothing_could_be_read_is_a_failure() {
    let folder = deployment();
    let site = folder.path().join("site");
    for entry in std::fs::read_dir(site.join("content")).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let index = || Command::new(BINARY).arg("index").arg(&site).output().unwrap();
    assert_eq!(index().status.code(), Some(0), "nothing there is nothing wrong");
    std::fs::write(site.join("content/broken.jsonl"), "{not json\n{neither\n").unwrap();
    let output = index();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("nothing of the content of @search could be read"), "{errors}");
    std::fs::write(site.join("content/fine.md"), "# Fine\n\nWords.\n").unwrap();
    assert_eq!(index().status.code(), Some(0), "something could");
}
