//! What nodes tell each other, and the operator: how they do, and which alerts are firing.

use std::time::Duration;

use forecourt_admin::nouns::nodes::mark;
use forecourt_admin::report::{self, FiringAlert, NodeReport};
use serde_json::{Value, json};

use crate::desk::{Console, SECOND};

const EVIL: &str = "<img src=x onerror=alert(1)>";

fn alert(rule: &str, severity: &str, summary: &str) -> FiringAlert {
    FiringAlert {
        rule: rule.to_owned(),
        severity: severity.to_owned(),
        labels: [("agent".to_owned(), EVIL.to_owned())].into(),
        value: 0.95,
        since: "2026-11-30T00:00:00Z".parse().unwrap(),
        summary: summary.to_owned(),
        description: "Look at it.".to_owned(),
    }
}

impl Console {
    async fn reports(&self, node: &str, alerts: Vec<FiringAlert>) {
        let at = self.now();
        let report = NodeReport { node: node.to_owned(), at, version: "9".to_owned(), alerts, ..NodeReport::default() };
        report::write(&self.host.mount.host, &report).await.unwrap();
    }

    async fn firing(&self) -> Vec<Value> {
        self.asks("/api/v1/alerts").await.1["firing"].as_array().unwrap().clone()
    }
}

#[tokio::test]
async fn alerts_of_all_nodes_are_told_on_every_page_until_their_nodes_say_otherwise() {
    let console = Console::open().await;
    let cookie = console.log_in(&["staff"]).await;
    let head = async || console.get("/console/agents", &[&cookie]).await.body.contains("class=\"told firing");
    assert!(!head().await, "nothing is firing");
    console.reports("n1", vec![alert("A", "warning", "slow"), alert("B", "critical", EVIL)]).await;
    console.reports("n2", vec![alert("A", "warning", "slow")]).await;
    let rules: Vec<_> = console.firing().await.iter().map(|one| one["rule"].clone()).collect();
    assert_eq!(rules, ["B", "A", "A"], "what hurries comes first");
    let page = console.get("/console/agents", &[&cookie]).await.body;
    assert!(page.contains("3 alerts are firing") && !page.contains("<img"), "{page}");
    let page = console.get("/console/alerts", &[&cookie]).await.body;
    assert!(page.contains("n2") && !page.contains("<img") && page.len() < 100_000, "{page}");
    assert_eq!(console.asks("/api/v1/overview").await.1["alerts_firing"], 3);
    // One node is well again, the other is gone.
    console.advance(60 * SECOND);
    console.reports("n1", Vec::new()).await;
    assert_eq!(console.firing().await.len(), 1);
    console.advance(91 * SECOND);
    assert!(console.firing().await.is_empty() && !head().await);
}

#[tokio::test]
async fn what_is_silenced_is_told_nowhere_until_its_time_is_over() {
    let console = Console::open().await;
    console.reports("n1", vec![alert("A", "warning", "slow"), alert("B", "warning", "late")]).await;
    let order = |until: &str| json!({"until": until, "reason": "known"});
    assert_eq!(console.orders("/api/v1/alerts/A/silence", &order("2m")).await.0, 400);
    assert_eq!(console.orders("/api/v1/alerts/A/silence", &order("31d")).await.0, 400);
    assert_eq!(console.orders("/api/v1/alerts/C/silence", &order("1h")).await.0, 404);
    assert_eq!(console.orders("/api/v1/alerts/A/silence", &order("1h")).await.1["outcome"], "done");
    assert_eq!(console.asks("/api/v1/overview").await.1["alerts_firing"], 1);
    let firing = console.firing().await;
    assert_eq!((&firing[0]["rule"], &firing[1]["rule"]), (&json!("B"), &json!("A")), "what is silenced comes last");
    assert!(firing[1]["silenced_until"].is_string());
    assert_eq!(console.orders("/api/v1/alerts/A/unsilence", &json!({})).await.1["outcome"], "done");
    assert_eq!(console.orders("/api/v1/alerts/A/unsilence", &json!({})).await.1["outcome"], "already");
    assert_eq!(console.asks("/api/v1/overview").await.1["alerts_firing"], 2);
    console.orders("/api/v1/alerts/A/silence", &order("1h")).await;
    console.advance(Duration::from_secs(3_600));
    console.reports("n1", vec![alert("A", "warning", "slow")]).await;
    assert_eq!(console.asks("/api/v1/overview").await.1["alerts_firing"], 1);
    let did = console.asks("/api/v1/actions").await.1["actions"].to_string();
    assert!(did.contains("alert A") && did.contains("unsilence") && did.contains("known"), "{did}");
}

#[tokio::test]
async fn the_last_word_about_an_alert_counts_even_once_it_is_over() {
    let console = Console::open().await;
    let silence = async |until: &str| {
        console.reports("n1", vec![alert("A", "warning", "slow")]).await;
        let done = console.orders("/api/v1/alerts/A/silence", &json!({"until": until})).await;
        assert_eq!(done.1["outcome"], "done", "{until}");
    };
    let is_heard = async || {
        console.reports("n1", vec![alert("A", "warning", "slow")]).await;
        console.asks("/api/v1/overview").await.1["alerts_firing"] == 1
    };
    silence("30d").await;
    silence("1h").await;
    assert!(!is_heard().await);
    console.advance(Duration::from_secs(3_601));
    assert!(is_heard().await, "the shorter one took the place of the longer one");
    silence("30d").await;
    silence("1h").await;
    assert_eq!(console.orders("/api/v1/alerts/A/unsilence", &json!({})).await.1["outcome"], "done");
    assert!(is_heard().await);
    console.advance(Duration::from_secs(3_601));
    assert!(is_heard().await);
}

#[tokio::test]
async fn nodes_are_side_by_side_with_what_they_said_of_themselves() {
    let console = Console::open().await;
    let node = mark(&console.host.mount.host.run());
    console.reports(&node, Vec::new()).await;
    let (_, told) = console.asks("/api/v1/nodes").await;
    let own = told["nodes"].as_array().unwrap().iter().find(|one| one["node"] == json!(node)).unwrap();
    assert_eq!((&own["report"]["version"], &own["differs"]), (&json!("9"), &json!([])), "{told}");
    let page = console.get("/console/nodes", &[&console.with_token().await]).await;
    assert!(page.status == 200 && page.body.len() < 100_000);
}
