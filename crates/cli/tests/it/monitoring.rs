//! What operators' programs read: metrics by name, a real Prometheus with our rules, the access log.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;
use regex::Regex;
use serde_json::Value;

use crate::support::{Deployment, Served, within};
use crate::wire::{Answer, curl};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of `deploy/monitoring`.
fn of_deploy(name: &str) -> String {
    fs::read_to_string(root().join("deploy/monitoring").join(name)).unwrap()
}

/// The names of metrics in a text, without what a kind of metric adds to its name.
fn names(text: &str) -> BTreeSet<String> {
    let name = Regex::new(r"\b(?:forecourt|process|http_server|gen_ai_client)_[a-z0-9_]+").unwrap();
    let suffix = Regex::new(r"_(?:total|bucket|sum|count|info)$").unwrap();
    name.find_iter(text).map(|found| suffix.replace(found.as_str(), "").into_owned()).collect()
}

/// The names of metrics that anything in the source registers.
fn registered() -> BTreeSet<String> {
    let ours =
        Regex::new(r#"(?:\.register\(\s*|encode_descriptor\(\s*|register_with_unit\(\s*|\n\s*\()"([a-z][a-z0-9_]+)""#)
            .unwrap();
    let mut names = BTreeSet::new();
    for entry in walkdir::WalkDir::new(root().join("crates")).into_iter().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if !name.ends_with(".rs") || path.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        if !text.contains("prometheus_client") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap();
        for found in ours.captures_iter(code) {
            let name = &found[1];
            let unit = unit_of(name);
            // What every program has is called as in every program.
            let is_common = ["process_", "http_server_", "gen_ai_client_"].iter().any(|own| name.starts_with(own));
            let prefix = if is_common { "" } else { "forecourt_" };
            names.insert(format!("{prefix}{name}{unit}"));
        }
    }
    names
}

/// What the unit adds to a name.
fn unit_of(name: &str) -> &'static str {
    match name {
        "process_cpu" | "process_start_time" | "deliveries_overdue" => "_seconds",
        "http_server_request_duration" | "gen_ai_client_operation_duration" => "_seconds",
        "process_resident_memory" | "process_virtual_memory" | "disk_free" | "disk_size" => "_bytes",
        _ => "",
    }
}

#[test]
fn every_metric_is_in_the_manual_and_the_manual_names_no_other() {
    let (registered, told) =
        (registered(), names(&fs::read_to_string(root().join("docs/reference/metrics.md")).unwrap()));
    let missing: Vec<_> = registered.difference(&told).collect();
    let made_up: Vec<_> = told.difference(&registered).collect();
    assert!(registered.len() > 30, "{registered:?}");
    assert!(missing.is_empty() && made_up.is_empty(), "not in the manual: {missing:?}; nowhere: {made_up:?}");
}

#[test]
fn rules_and_dashboard_use_metrics_that_exist() {
    let registered = registered();
    for file in ["alerts.yml", "alerts_test.yml", "grafana-dashboard.json"] {
        let unknown: Vec<_> = names(&of_deploy(file)).into_iter().filter(|name| !registered.contains(name)).collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?}");
    }
    let dashboard: Value = serde_json::from_str(&of_deploy("grafana-dashboard.json")).unwrap();
    assert!(dashboard["panels"].as_array().unwrap().len() > 20);
}

#[test]
fn a_daemon_exposes_what_the_manual_says_under_the_usual_names() {
    let served = Deployment::gatehouse().serve();
    served.curl("/~echo?user=hi", &[]).with_status(200);
    let text = served.operator("/metrics").text();
    let told = names(&fs::read_to_string(root().join("docs/reference/metrics.md")).unwrap());
    let exposed: BTreeSet<String> =
        names(&text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n"));
    let unknown: Vec<_> = exposed.difference(&told).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    for line in [
        format!("forecourt_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION")),
        "forecourt_http_in_flight{protocol=\"mentionable\"} 0".to_owned(),
        "forecourt_store_operation_seconds_count{operation=\"".to_owned(),
        "process_resident_memory_bytes ".to_owned(),
        "process_start_time_seconds ".to_owned(),
        "process_open_fds ".to_owned(),
    ] {
        assert!(text.contains(&line), "no {line} in {text}");
    }
}

const TOKEN: &str = "the-token-of-a-prometheus";

/// Where a daemon is watched from elsewhere, once it says so.
fn watched(served: &Served, data: &Path) -> u16 {
    let port = || {
        let told: Value = serde_json::from_slice(&fs::read(data.join("serving.json")).ok()?).ok()?;
        u16::try_from(told["sockets"]["metrics"].as_u64()?).ok()
    };
    let port = within("it says where", port);
    assert_ne!(port, served.admin);
    port
}

/// A path there, as somebody asks who knows it by its address.
fn look(port: u16, path: &str, authorization: Option<&str>) -> Answer {
    let (url, host) = (format!("http://127.0.0.1:{port}{path}"), format!("Host: 10.0.0.7:{port}"));
    let proof = authorization.map(|value| format!("Authorization: {value}"));
    let mut words = vec!["-H", &host];
    words.extend(proof.iter().flat_map(|field| ["-H", field.as_str()]));
    curl(&url, &words)
}

#[test]
fn what_watches_from_elsewhere_sees_health_and_with_the_token_metrics_and_nothing_else() {
    let settings = format!("listen = \"0.0.0.0:0\"\ntoken = \"{TOKEN}\"");
    let served = Deployment::gatehouse().with("metrics", &settings).with("drain", "seconds = 4").serve();
    let port = watched(&served, &served.deployment.data());
    let bearer = format!("Bearer {TOKEN}");
    let metrics = look(port, "/metrics", Some(&bearer)).with_status(200);
    assert!(metrics.text().contains("forecourt_build_info") && metrics.text().ends_with("# EOF\n"));
    for wrong in [None, Some("Bearer the-token-of-nobody-here"), Some(TOKEN)] {
        let refused = look(port, "/metrics", wrong).with_status(401);
        assert!(refused.named("www-authenticate").starts_with("Bearer realm=\"metrics\""), "{refused:?}");
        assert!(!refused.text().contains("forecourt_"), "{refused:?}");
    }
    assert_eq!(look(port, "/healthz", None).with_status(200).text(), "ok\n");
    assert_eq!(look(port, "/readyz", None).with_status(200).text(), "ready\n");
    for path in ["/", "/domains", "/queue", "/reload", "/questions", "/console", "/api/v1/overview", "/~echo?user=hi"] {
        look(port, path, Some(&bearer)).with_status(404);
    }
    // The socket is there until the end, and says no more than that this node goes.
    served.signal(Signal::SIGTERM);
    let unready = within("it is unready", || Some(look(port, "/readyz", None)).filter(|answer| answer.status == 503));
    assert_eq!(unready.text(), "not ready\n");
    assert!(served.operator("/readyz").text().contains("told to stop"));
    assert!(served.ended().0.success());
}

#[test]
fn a_socket_for_what_watches_comes_and_its_token_changes_while_it_is_served() {
    let served = Deployment::gatehouse().serve();
    let text = served.deployment.read("forecourt.toml");
    let with = |token: &str| format!("{text}\n[metrics]\nlisten = \"0.0.0.0:0\"\ntoken = \"{token}\"\n");
    served.deployment.write("forecourt.toml", &with(TOKEN));
    let port = watched(&served, &served.deployment.data());
    let status = |token: &str| look(port, "/metrics", Some(&format!("Bearer {token}"))).status;
    within("the token opens it", || (status(TOKEN) == 200).then_some(()));
    let other = "another-token-of-a-prometheus";
    served.deployment.write("forecourt.toml", &with(other));
    within("the other one does", || (status(other) == 200).then_some(()));
    assert_eq!(status(TOKEN), 401);
}

#[test]
fn a_socket_off_loopback_without_a_token_is_refused_and_on_loopback_a_page_of_elsewhere_is() {
    let open = Deployment::gatehouse().with("metrics", "listen = \"0.0.0.0:0\"");
    for command in ["check", "serve"] {
        let told = open.run(command, ["."]).failed(1);
        assert!(told.contains("`listen` off loopback needs `token`") && told.contains("forecourt.toml:"), "{told}");
    }
    let served = Deployment::gatehouse().with("metrics", "listen = \"127.0.0.1:0\"").serve();
    let port = watched(&served, &served.deployment.data());
    curl(&format!("http://127.0.0.1:{port}/metrics"), &[]).with_status(200);
    // A name of elsewhere that leads to this machine.
    look(port, "/metrics", None).with_status(421);
}

#[test]
fn each_of_several_domains_has_its_metrics_there() {
    let deployment = Deployment::empty();
    for name in ["a", "b"] {
        let settings = format!("[metrics]\nlisten = \"0.0.0.0:0\"\ntoken = \"{TOKEN}-{name}\"\n");
        deployment.write(&format!("{name}/forecourt.toml"), &format!("domain = \"{name}.localhost\"\n\n{settings}"));
        let agent = format!("handle = \"{name}\"\nname = \"Agent\"\n\n[backend]\nkind = \"echo\"\n");
        deployment.write(&format!("{name}/agents/agent.toml"), &agent);
    }
    let served = deployment.serve();
    within("both are served", || served.operator("/domains").text().contains("b.localhost").then_some(()));
    let port = watched(&served, &served.deployment.path().join("a/.forecourt"));
    let of = |path: &str, token: &str| look(port, path, Some(&format!("Bearer {TOKEN}-{token}")));
    assert!(of("/metrics", "a").with_status(200).text().contains("forecourt_http_requests"));
    assert_eq!(of("/metrics", "b").status, 401);
    assert!(!of("/domains/b.localhost/metrics", "b").with_status(200).text().contains("forecourt_http_requests"));
    assert_eq!(of("/domains/b.localhost/metrics", "a").status, 401);
    assert_eq!(of("/domains/c.localhost/metrics", "a").status, 404);
    assert_eq!(of("/domains/b.localhost/queue", "b").status, 404);
}

/// A Prometheus of its own, with the files of `deploy/monitoring`. Killed when dropped.
struct Prometheus {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    /// Scrapes `target` and looks at the rules every second, without waiting before an alert fires. `None` where it is
    /// not installed.
    fn start(target: u16) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let config = of_deploy("prometheus.yml")
            .replace("127.0.0.1:9080", &format!("127.0.0.1:{target}"))
            .replace("_interval: 15s", "_interval: 1s");
        let held = Regex::new(r"(?m)^\s+for: .*\n").unwrap();
        fs::write(folder.path().join("prometheus.yml"), config).unwrap();
        fs::write(folder.path().join("alerts.yml"), held.replace_all(&of_deploy("alerts.yml"), "").as_ref()).unwrap();
        let port = forecourt_testkit::free_port();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", folder.path().join("prometheus.yml").display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match child {
            Ok(child) => Some(Self { child, port, _folder: folder }),
            Err(_) => {
                eprintln!("skipped: prometheus is not installed");
                None
            }
        }
    }

    /// What its API says; null while it does not answer.
    fn api(&self, path: &str) -> Value {
        let url = format!("http://127.0.0.1:{}/api/v1/{path}", self.port);
        let output = Command::new("curl").args(["-s", &url]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    fn value(&self, query: &str) -> Option<f64> {
        self.api(&format!("query?query={query}")).pointer("/data/result/0/value/1")?.as_str()?.parse().ok()
    }

    fn fires(&self, alert: &str) -> bool {
        let alerts = self.api("alerts");
        let all = alerts.pointer("/data/alerts").and_then(Value::as_array);
        all.into_iter().flatten().any(|one| one["labels"]["alertname"] == alert && one["state"] == "firing")
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_real_prometheus_scrapes_and_an_alert_fires() {
    let served = Deployment::gatehouse().serve();
    let Some(prometheus) = Prometheus::start(served.admin) else { return };
    served.curl("/~gate?user=pay", &[]).with_status(402);
    within("it is scraped", || (prometheus.value("up") == Some(1.0)).then_some(()));
    within("its numbers arrive", || prometheus.value("forecourt_replies_total").filter(|count| *count >= 1.0));
    within("the start of the process arrives", || {
        prometheus.value("process_start_time_seconds").filter(|at| *at > 1e9)
    });
    let refused = || (0..5).for_each(|_| drop(served.curl("/~gate?user=pay", &[]).with_status(402)));
    within("an alert about refusals fires", || {
        refused();
        prometheus.fires("ForecourtRefusesMany").then_some(())
    });
    assert!(!prometheus.fires("ForecourtDown"));
    let _deployment = served.killed();
    within("an alert says that it is down", || prometheus.fires("ForecourtDown").then_some(()));
}

#[test]
fn promtool_finds_the_rules_right() {
    let folder = root().join("deploy/monitoring");
    for words in
        [["check", "config", "prometheus.yml"], ["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]]
    {
        match Command::new("promtool").args(words).current_dir(&folder).output() {
            Ok(output) => assert!(output.status.success(), "{words:?}: {output:?}"),
            Err(_) => eprintln!("skipped: promtool is not installed"),
        }
    }
}

/// The lines of the access log, once there are so many.
fn lines(served: &Served, count: usize) -> Vec<String> {
    within("the lines are written", || {
        let text = fs::read_to_string(served.deployment.path().join("access.log")).unwrap_or_default();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        (lines.len() >= count).then_some(lines)
    })
}

#[test]
fn the_access_log_has_every_wire_and_no_secret() {
    let served = Deployment::gatehouse().with("log", "access = \"json\"\naccess_file = \"access.log\"").serve();
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let headers = [
        "-H",
        &format!("traceparent: 00-{trace}-00f067aa0ba902b7-01"),
        "-H",
        "Authorization: Bearer bearer-secret",
        "-A",
        "curl-of-a-test",
        "-e",
        "https://a.example/page?token=referer-secret",
    ];
    let answer = served.curl("/~echo?user=sesame-question", &headers).with_status(200);
    let begun = served.curl("/~echo", &["-H", "Prefer: respond-async", "-F", "user=later"]).with_status(202);
    let task = begun.named("content-location");
    let id = task.rsplit('/').next().unwrap().to_owned();
    assert!(id.len() >= 40, "{task}");
    served.curl(&format!("/tasks/{id}"), &[]);
    served.curl("/made-up/sesame-path?x=1", &[]).with_status(404);
    served.deployment.run("agtp", ["DISCOVER", "agtp://demo.localhost/agents"]).fine();
    served.operator("/healthz").with_status(200);
    let lines = lines(&served, 6);
    let all = lines.join("\n");
    for secret in ["sesame", "bearer-secret", "referer-secret", &id] {
        assert!(!all.contains(secret), "{secret} is in {all}");
    }
    let entries: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first = &entries[0];
    assert_eq!(
        (&first["protocol"], &first["agent"], &first["method"]),
        (&"mentionable".into(), &"echo".into(), &"GET".into())
    );
    assert_eq!((&first["status"], &first["route"]), (&200.into(), &"/~{handle}?".into()));
    assert_eq!(first["bytes"], answer.body.len());
    assert_eq!((&first["request_id"], &first["trace_id"]), (&answer.named("x-request-id").into(), &trace.into()));
    assert_eq!(first["is_cut"], false);
    for protocol in ["agtp", "operator", "none"] {
        assert!(entries.iter().any(|entry| entry["protocol"] == protocol), "no line of {protocol} in {all}");
    }
}

#[test]
fn lines_of_the_common_format_stand_on_standard_error() {
    let served = Deployment::gatehouse().with("log", "access = \"combined\"").serve();
    served.curl("/~echo?user=hi", &["-A", "curl-of-a-test"]).with_status(200);
    curl(&served.url("/~echo?user=hi"), &["-I"]);
    served.signal(Signal::SIGTERM);
    let (status, log, _) = served.ended();
    assert!(status.success(), "{log}");
    let line = Regex::new(r#"(?m)^127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000\] "GET /~echo\? HTTP/1\.1" 200 \d+ "-" "curl-of-a-test" [0-9a-f]{16} - mentionable \d+\.\d{3}$"#).unwrap();
    assert!(line.is_match(&log), "{log}");
    assert!(log.contains("\"HEAD /~echo? HTTP/1.1\" 200 0 "), "{log}");
}

#[test]
fn a_log_that_can_not_be_written_is_said_at_once() {
    let deployment = Deployment::gatehouse().with("log", "access = \"common\"\naccess_file = \"nowhere/access.log\"");
    let said = deployment
        .run("serve", ["--http", "127.0.0.1:0", "--https", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
        .failed(1);
    assert!(said.contains("nowhere/access.log") && said.contains("hint: "), "{said}");
}
