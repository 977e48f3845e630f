//! What publishing needs and only a release would find out: one version everywhere, workflows and a compose.yaml that
//! name what is there.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use forecourt_core::yaml::{YamlBounds, parse};
use regex::Regex;
use serde_json::Value;

use super::root;

const COMPOSE: &str = "deploy/compose";
/// Lines that a reader sees before scrolling.
const SCREEN: usize = 40;
const BOUNDS: YamlBounds = YamlBounds { nodes_max: 10_000, repeated_max: 10_000 };

fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn yaml(file: &str) -> Value {
    parse(text(file).as_bytes(), BOUNDS).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The entries of a table, and nothing where there is none.
fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// The texts of a list, or the names of a table.
fn names(value: &Value) -> BTreeSet<&str> {
    let listed = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    listed.chain(value.as_str()).chain(entries(value).map(|(name, _)| name.as_str())).collect()
}

/// What a key of a service is, its own or that of all nodes.
fn key<'a>(service: &'a Value, name: &str) -> &'a Value {
    service.get(name).unwrap_or(&service["<<"][name])
}

/// The workflows, each with its name in the repository.
fn workflows() -> Vec<(String, Value)> {
    let files = ["test", "release"].map(|name| format!(".github/workflows/{name}.yml"));
    files.map(|file| (file.clone(), yaml(&file))).into()
}

/// The steps of all jobs of a workflow.
fn steps(workflow: &Value) -> impl Iterator<Item = &Value> {
    entries(&workflow["jobs"]).flat_map(|(_, job)| job["steps"].as_array().into_iter().flatten())
}

#[test]
fn every_place_that_repeats_the_version_says_the_one_of_cargo_toml() {
    let checked = Command::new(root().join("dev/version")).arg("--check").output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&[checked.stdout, checked.stderr].concat()));
    let said = Command::new(root().join("dev/version")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), env!("CARGO_PKG_VERSION"));
    let page = Regex::new(r#"(?m)^repository = "(.*)"$"#).unwrap();
    let manifest = text("Cargo.toml");
    let home = &page.captures(&manifest).unwrap()[1];
    assert_eq!(yaml("deploy/helm/forecourt/Chart.yaml")["home"], *home, "the page of the project, as in Cargo.toml");
}

#[test]
fn workflows_may_do_little_and_end() {
    for (file, workflow) in workflows() {
        let allowed: Vec<_> = entries(&workflow["permissions"]).collect();
        assert!(workflow["permissions"].is_object(), "{file} has no permissions, so it has all");
        assert!(allowed.iter().all(|(scope, may)| *scope == "contents" && *may == "read"), "{file}: {allowed:?}");
        assert!(workflow["concurrency"]["group"].is_string(), "{file} runs beside itself");
        for (name, job) in entries(&workflow["jobs"]) {
            assert!(job["timeout-minutes"].is_u64(), "{file}: {name} may run for ever");
            let has_secrets = job.to_string().contains("secrets.");
            assert!(!has_secrets || job["environment"] == "release", "{file}: {name} has secrets outside of `release`");
            for needed in names(&job["needs"]) {
                assert!(workflow["jobs"][needed].is_object(), "{file}: {name} needs {needed}, which is no job");
            }
        }
    }
}

#[test]
fn workflows_name_versions_of_actions_and_files_that_are_there() {
    let pinned = Regex::new(r"^[\w.-]+/[\w./-]+@(v\d+(\.\d+\.\d+)?|release/v\d+|[0-9a-f]{40})$").unwrap();
    let path = Regex::new(r#"(?m)(?:^|[\s"'(])((?:dev|deploy|\.ci)/[\w./-]+)"#).unwrap();
    for (file, workflow) in workflows() {
        for step in steps(&workflow) {
            if let Some(action) = step["uses"].as_str() {
                assert!(pinned.is_match(action), "{file}: {action} is of no version");
            }
            let run = step["run"].as_str().unwrap_or_default();
            assert!(!run.contains("${{"), "{file}: a script takes values from its environment alone: {run}");
            for named in path.captures_iter(run).map(|found| found.extract::<1>().1[0]) {
                assert!(root().join(named).exists(), "{file} names {named}, which is not there");
            }
        }
    }
}

#[test]
fn services_of_the_compose_file_have_what_they_name() {
    let compose = yaml(&format!("{COMPOSE}/compose.yaml"));
    let prepare = text(&format!("{COMPOSE}/prepare"));
    for (name, service) in entries(&compose["services"]) {
        assert!(key(service, "healthcheck")["test"].is_array(), "{name} has no health check");
        assert_eq!(key(service, "restart"), "unless-stopped", "{name}");
        for needed in names(key(service, "depends_on")) {
            assert!(compose["services"][needed].is_object(), "{name} needs {needed}, which is no service");
        }
        for volume in names(key(service, "volumes")) {
            let source = volume.split(':').next().unwrap();
            let is_there = match source.strip_prefix("./") {
                Some(file) => root().join(COMPOSE).join(file).exists(),
                None => compose["volumes"].get(source).is_some(),
            };
            assert!(is_there, "{name} mounts {source}, which is not there");
        }
        for secret in names(key(service, "secrets")) {
            assert_eq!(compose["secrets"][secret]["file"], format!("./secrets/{secret}"), "{name}");
            let made =
                [format!("secret {secret} "), format!("-out secrets/{secret}"), format!("-keyout secrets/{secret}")];
            assert!(made.iter().any(|words| prepare.contains(words)), "`prepare` does not make {secret}");
        }
    }
}

#[test]
fn the_nodes_of_the_compose_file_are_those_that_the_proxy_and_the_deployment_know() {
    let compose = yaml(&format!("{COMPOSE}/compose.yaml"));
    let (proxy, site) = (text(&format!("{COMPOSE}/Caddyfile")), text(&format!("{COMPOSE}/site/forecourt.toml")));
    let nodes: BTreeSet<&str> =
        entries(&compose["services"]).map(|(name, _)| name.as_str()).filter(|name| name.starts_with("node")).collect();
    assert_eq!(nodes.len(), 3);
    let upstream = Regex::new(r"https://(\w+):8443").unwrap();
    let asked: BTreeSet<&str> = upstream.captures_iter(&proxy).map(|found| found.extract::<1>().1[0]).collect();
    assert_eq!(asked, nodes);
    let subnet = compose["networks"]["default"]["ipam"]["config"][0]["subnet"].as_str().unwrap();
    assert!(site.contains(&format!("trusted_proxies = [\"{subnet}\"]")), "nodes do not believe their proxy");
    let secrets = names(key(&compose["services"]["node1"], "secrets"));
    let named = Regex::new(r"\$\{credential:([\w.-]+)\}|/run/secrets/([\w.-]+)").unwrap();
    for found in named.captures_iter(&site) {
        let secret = found.get(1).or(found.get(2)).unwrap().as_str();
        assert!(secrets.contains(secret), "the deployment names the secret {secret}, which nodes do not have");
    }
}

/// Who opens the page sees how to install it, and then the two commands from source.
#[test]
fn the_readme_begins_with_the_install_and_two_commands_from_source() {
    let readme = text("README.md");
    let mut blocks = readme.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let (install, _) = blocks.next().unwrap();
    assert!(install.lines().all(|line| line.starts_with("uvx forecourt ")), "{install}");
    let (source, _) = blocks.next().unwrap();
    let commands: Vec<&str> = source.lines().collect();
    assert_eq!(commands.len(), 2, "{source}");
    assert!(commands[0].starts_with("cargo run --release -- serve "), "{source}");
    assert!(commands[1].starts_with("cargo run --release -- ask "), "{source}");
    let line = readme[..readme.find(source).unwrap()].lines().count() + 1;
    assert!(line <= SCREEN, "the two commands stand on line {line}, which is no first screen");
}
