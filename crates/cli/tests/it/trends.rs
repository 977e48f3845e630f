//! What happened over time, kept by a daemon and shown by it after it was stopped and begun again.

use nix::sys::signal::Signal;

use crate::admin::{api, deployment};
use crate::support::Served;

fn total(served: &Served, query: &str, chart: &str, line: &str) -> Option<f64> {
    let told = api(served, &format!("/trends?span=hour{query}"), &[]).json();
    let charts = told["charts"].as_array().unwrap().clone();
    let lines = charts.into_iter().find(|one| one["chart"] == chart).unwrap()["lines"].clone();
    lines.as_array().unwrap().iter().find(|one| one["name"] == line)?["total"].as_f64()
}

#[test]
fn nothing_is_lost_at_an_orderly_stop_and_each_run_is_told_apart() {
    let mut served = deployment().serve();
    for round in [3.0, 5.0] {
        for _ in 0..(if round < 4.0 { 3 } else { 2 }) {
            served.curl("/~gate", &["-F", "user=hello"]);
        }
        served.curl("/~gate", &["-F", "user=forbid"]);
        served.signal(Signal::SIGTERM);
        let (status, _, deployment) = served.ended();
        assert!(status.success());
        served = deployment.serve();
        let refused = if round < 4.0 { 1.0 } else { 2.0 };
        assert_eq!(total(&served, "", "requests", "gate"), Some(round + refused));
        assert_eq!(total(&served, "&agent=gate", "requests", "rest"), Some(round + refused));
        assert_eq!(total(&served, "&agent=@gate", "refusals", "forbidden"), Some(refused));
        assert!(total(&served, "", "latency", "half of them (p50)").is_some_and(|seconds| seconds > 0.0));
        assert_eq!(total(&served, "&agent=nobody", "requests", "rest"), None);
    }
    let nodes = api(&served, "/trends", &[]).json()["nodes"].as_array().unwrap().clone();
    assert_eq!(nodes.len(), 2, "{nodes:?}");
    let of = |node: &serde_json::Value| {
        let query = format!("&node={}", node.as_str().unwrap());
        total(&served, &query, "requests", "gate").unwrap()
    };
    let mut each: Vec<f64> = nodes.iter().map(of).collect();
    each.sort_by(f64::total_cmp);
    assert_eq!(each, [3.0, 4.0]);
    let wrong = api(&served, "/trends?span=century", &[]);
    assert_eq!(wrong.status, 400);
    assert!(wrong.text().contains("hour, day, week, month"), "{}", wrong.text());
    let page = served.operator("/console/trends");
    assert!(!page.text().contains("requests"), "nobody reads it who has not logged in");
}
