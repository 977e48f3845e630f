//! Alerts that are firing, and the rules that they go by.

use forecourt_core::Timestamp;
use forecourt_pages::escape::query;

use crate::api_error::ApiError;
use crate::console::view::{Act, Cell, Page, Section, Tone};
use crate::desk::Ask;
use crate::nouns::alerts::{self, Alerts, NodeAlert, RuleState};

/// For how long an alert may be silenced from the page.
const SPANS: [&str; 5] = ["1h", "8h", "24h", "7d", "30d"];

pub(super) async fn alerts_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let Alerts { firing, rules } = alerts::list(ask).await?;
    let alert = |one: NodeAlert| {
        vec![
            severity(&one.alert.severity),
            Cell::text(&one.alert.rule),
            Cell::text(&one.alert.summary),
            Cell::text(&one.alert.description),
            Cell::Code(one.node),
            Cell::time(one.alert.since, now),
            one.silenced_until.map_or(Cell::Nothing, |until| Cell::time(until, now)),
        ]
    };
    let head = vec!["", "Rule", "What", "What to do", "Node", "Since", "Silenced until"];
    let none = "Nothing is firing. Rules are looked at once a minute; the first look is when a minute is over.";
    let rule_head = vec!["Rule", "", "Firing", "", "Silenced until", "For", "Watches for"];
    let no_rules = "There are no rules.";
    Ok(Page {
        lead: Some(LEAD.to_owned()),
        sections: vec![
            Section::table("Firing", head, firing.into_iter().map(alert).collect(), none),
            Section::table("Rules", rule_head, rules.into_iter().map(|rule| row(rule, now)).collect(), no_rules),
        ],
        is_live: true,
        ..Page::new("/console/alerts", "Alerts")
    })
}

const LEAD: &str = "On every node, a minute behind at most. The rules are those of deploy/monitoring/alerts.yml, and your own \
                    under [[admin.alert]].";

fn severity(severity: &str) -> Cell {
    let tone = if severity == "critical" { Tone::Bad } else { Tone::Warn };
    Cell::Badge { tone, text: severity.to_owned() }
}

fn row(state: RuleState, now: Timestamp) -> Vec<Cell> {
    let RuleState { rule, firing, silenced_until, silenced_by, silence_reason } = state;
    let path = |verb: &str| format!("alerts/{}/{verb}", query(&rule.rule));
    let act = match silenced_until {
        None => Act {
            choice: Some(("For", "until", SPANS.to_vec())),
            ..Act::new(path("silence"), "Silence", "It goes on being looked at, and nobody is told.")
        },
        Some(_) => Act::new(path("unsilence"), "Hear again", "It is reported again."),
    };
    let silenced = silenced_until.map_or(Cell::Nothing, |until| {
        let by = [silenced_by, silence_reason].into_iter().flatten().collect::<Vec<_>>().join(": ");
        Cell::Several(vec![Cell::time(until, now), Cell::text(by)])
    });
    let held = match rule.for_seconds {
        0 => "at once".to_owned(),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    };
    let firing = match firing {
        0 => Cell::Nothing,
        count => Cell::Badge { tone: Tone::Bad, text: count.to_string() },
    };
    vec![
        Cell::text(&rule.rule),
        severity(&rule.severity),
        firing,
        Cell::Act(Box::new(act)),
        silenced,
        Cell::text(held),
        Cell::Code(rule.condition),
    ]
}
