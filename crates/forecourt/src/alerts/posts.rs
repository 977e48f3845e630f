//! What the operator is told of alerts: that each began and that it ended, once each, and later where it can't be at once.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_admin::report::FiringAlert;
use serde_json::{Map, Value, json};

use super::evaluator::AlertName;

/// Posts to the operator about alerts in one minute. The next minute goes on with those that are left.
pub(crate) const POSTS_MAX: usize = 20;

/// Alerts of which the operator knows that they are firing, each as it was told.
#[derive(Default)]
pub(crate) struct AlertPosts {
    posted: BTreeMap<AlertName, AlertPost>,
}

/// What the operator is told of an alert.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AlertPost {
    /// Whether it is firing; else it has ended.
    is_firing: bool,
    /// What the node is called that told of its beginning.
    node: String,
    alert: FiringAlert,
}

impl AlertPosts {
    /// What is to be told in this minute by what is firing, what hurries first; at most [`POSTS_MAX`]. That of a rule
    /// which is silenced begins is told once it is heard again. That it ended is told whether it is silenced or not, since
    /// its beginning was.
    pub(crate) fn due(&self, firing: &[FiringAlert], silenced: &BTreeSet<String>, node: &str) -> Vec<AlertPost> {
        let now: BTreeSet<AlertName> = firing.iter().map(name).collect();
        let is_new = |alert: &&FiringAlert| !silenced.contains(&alert.rule) && !self.posted.contains_key(&name(alert));
        let begun = firing.iter().filter(is_new).map(|alert| AlertPost {
            is_firing: true,
            node: node.to_owned(),
            alert: alert.clone(),
        });
        let is_over = |(name, _): &(&AlertName, &AlertPost)| !now.contains(name);
        let ended = self.posted.iter().filter(is_over).map(|(_, post)| AlertPost { is_firing: false, ..post.clone() });
        let mut posts: Vec<AlertPost> = begun.chain(ended).collect();
        posts.sort_by_key(|post| !post.alert.is_critical());
        posts.truncate(POSTS_MAX);
        posts
    }

    /// A post is on its way: the store has it. One that it does not take is due again.
    pub(crate) fn queued(&mut self, post: AlertPost) {
        match post.is_firing {
            true => self.posted.insert(name(&post.alert), post),
            false => self.posted.remove(&name(&post.alert)),
        };
    }
}

impl AlertPost {
    /// What is posted.
    pub(crate) fn details(&self) -> Map<String, Value> {
        let Self { is_firing, node, alert } = self;
        let mut details = Map::new();
        details.insert("event".to_owned(), "alert".into());
        details.insert("state".to_owned(), if *is_firing { "firing" } else { "ended" }.into());
        details.insert("node".to_owned(), node.as_str().into());
        details.insert("key".to_owned(), key(alert).into());
        if let Value::Object(alert) = json!(alert) {
            details.extend(alert);
        }
        details
    }
}

fn name(alert: &FiringAlert) -> AlertName {
    (alert.rule.clone(), alert.labels.clone())
}

/// The same on every node: the rule, and its labels as Prometheus writes them.
fn key(alert: &FiringAlert) -> String {
    let labels: Vec<String> =
        alert.labels.iter().map(|(label, value)| format!("{label}={}", Value::from(value.as_str()))).collect();
    format!("{}{{{}}}", alert.rule, labels.join(","))
}

#[cfg(test)]
mod tests {
    use forecourt_core::Timestamp;

    use super::*;

    fn alert(rule: &str, agent: &str) -> FiringAlert {
        FiringAlert {
            rule: rule.to_owned(),
            severity: if rule == "Z" { "critical" } else { "warning" }.to_owned(),
            labels: [("agent".to_owned(), agent.to_owned())].into(),
            value: 0.5,
            since: Timestamp::UNIX_EPOCH,
            summary: "s".to_owned(),
            description: String::new(),
        }
    }

    /// What is told in a minute in which the store takes all of it.
    fn minute(posts: &mut AlertPosts, firing: &[FiringAlert], silenced: &[&str]) -> Vec<String> {
        let silenced = silenced.iter().map(|rule| (*rule).to_owned()).collect();
        let due = posts.due(firing, &silenced, "n1");
        let told = due.iter().map(|post| format!("{} {}", post.alert.rule, post.details()["state"].as_str().unwrap()));
        let told = told.collect();
        due.into_iter().for_each(|post| posts.queued(post));
        told
    }

    #[test]
    fn an_alert_that_begins_silenced_is_told_once_it_is_heard() {
        let (mut posts, on) = (AlertPosts::default(), [alert("A", "chef")]);
        assert_eq!(minute(&mut posts, &on, &["A"]), [""; 0]);
        assert_eq!(minute(&mut posts, &on, &[]), ["A firing"]);
        assert_eq!(minute(&mut posts, &on, &[]), [""; 0], "once");
    }

    #[test]
    fn an_alert_that_was_told_ends_even_if_it_is_silenced_and_one_that_was_not_does_not() {
        let (mut posts, on) = (AlertPosts::default(), [alert("A", "chef")]);
        minute(&mut posts, &on, &[]);
        assert_eq!(minute(&mut posts, &[], &["A"]), ["A ended"]);
        assert_eq!(minute(&mut posts, &on, &["A"]), [""; 0]);
        assert_eq!(minute(&mut posts, &[], &[]), [""; 0], "nobody knew of it");
    }

    #[test]
    fn what_has_no_room_in_a_minute_is_told_in_the_next_and_what_hurries_goes_first() {
        let (mut posts, none) = (AlertPosts::default(), BTreeSet::new());
        let mut on: Vec<FiringAlert> = (0..POSTS_MAX).map(|n| alert("A", &n.to_string())).collect();
        assert_eq!(posts.due(&on, &none, "n1").len(), POSTS_MAX);
        on.push(alert("Z", "chef"));
        let told = minute(&mut posts, &on, &[]);
        assert_eq!((told.len(), told[0].as_str()), (POSTS_MAX, "Z firing"));
        assert_eq!(minute(&mut posts, &on, &[]), ["A firing"]);
        assert_eq!(minute(&mut posts, &[], &[]).len(), POSTS_MAX);
        assert_eq!(minute(&mut posts, &[], &[]), ["A ended"]);
    }

    #[test]
    fn what_the_store_does_not_take_is_due_again() {
        let (mut posts, none, on) = (AlertPosts::default(), BTreeSet::new(), [alert("A", "chef")]);
        let first = posts.due(&on, &none, "n1");
        assert_eq!(posts.due(&on, &none, "n1"), first);
        posts.queued(first[0].clone());
        assert!(!posts.due(&[], &none, "n1").is_empty() && !posts.due(&[], &none, "n1").is_empty());
    }

    #[test]
    fn the_end_has_the_node_of_the_beginning_and_the_key_of_every_node() {
        let mut posts = AlertPosts::default();
        minute(&mut posts, &[alert("A", "a\"b")], &[]);
        let ended = posts.due(&[], &BTreeSet::new(), "n2")[0].details();
        assert_eq!((&ended["node"], &ended["key"]), (&json!("n1"), &json!("A{agent=\"a\\\"b\"}")));
        assert_eq!((&ended["event"], &ended["rule"]), (&json!("alert"), &json!("A")));
    }
}
