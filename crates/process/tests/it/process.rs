//! Real processes: what they see of us, and that nothing of them is left.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use forecourt_process::{Program, RunningProgram, find, line};
use tokio::io::{AsyncReadExt, BufReader};
use tokio::time::timeout;

fn shell(script: &str) -> Program {
    let path_variable = std::env::var("PATH").unwrap();
    Program {
        file: find("sh", &path_variable).unwrap(),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        folder: Path::new("/").to_owned(),
        path_variable: Some(path_variable),
        variables: BTreeMap::from([("TOKEN".to_owned(), "sesame".to_owned())]),
    }
}

async fn text(mut stdout: tokio::process::ChildStdout) -> String {
    let mut text = String::new();
    stdout.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn a_program_sees_its_own_variables_and_nothing_else_of_ours() {
    let RunningProgram { mut process, stdout, .. } = shell("exec env").start().unwrap();
    let text = text(stdout).await;
    let mut names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.sort();
    // The shell adds where it is.
    names.retain(|name| !matches!(*name, "PWD" | "OLDPWD" | "SHLVL" | "_"));
    assert_eq!(names, ["LANG", "PATH", "TOKEN"]);
    assert!(process.wait().await.unwrap().success());
}

#[tokio::test]
async fn a_dropped_process_ends_with_its_children() {
    // Both hold the pipe of standard output: it ends when both are gone.
    let RunningProgram { process, stdout, .. } = shell("sleep 3600 & echo up; sleep 3600").start().unwrap();
    let mut stdout = BufReader::new(stdout);
    assert_eq!(line(&mut stdout, 10).await.unwrap(), Some(b"up".to_vec()));
    drop(process);
    let ended = timeout(Duration::from_secs(20), line(&mut stdout, 10)).await;
    assert_eq!(ended.expect("a child is left").unwrap(), None);
}

#[tokio::test]
async fn children_end_when_their_parent_does() {
    let RunningProgram { mut process, stdout, .. } = shell("sleep 3600 & exit 3").start().unwrap();
    assert_eq!(process.wait().await.unwrap().code(), Some(3));
    assert_eq!(timeout(Duration::from_secs(20), text(stdout)).await.expect("a child is left"), "");
    assert!(!process.is_running());
}

#[test]
fn a_program_is_found_in_the_first_folder_that_has_it() {
    let path_variable = std::env::var("PATH").unwrap();
    assert!(find("sh", &path_variable).is_some_and(|file| file.is_absolute()));
    assert_eq!(find("no-such-program", &path_variable), None);
    assert_eq!(find("sh", ""), None);
}
