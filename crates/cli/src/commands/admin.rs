//! `forecourt admin`: the admin API of a running daemon, for people and scripts.

mod csv;
mod shown;
mod tables;
mod trends;
mod way;

use serde_json::{Value, json};

use self::tables::{BOTS, CONSENTS, HITS, PAYMENTS, Table};
use self::way::Way;
use crate::args::{Admin, AdminWhat, HeldList, ReasonedAction, SearchWords};
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};

/// Rows of a page of the API.
const PAGE_MAX: usize = 200;
/// Consents or payments that are printed at once.
const HELD_MAX: usize = 100_000;

/// Asks, and prints what there is or what came of it.
pub(crate) async fn run(admin: Admin) -> Outcome {
    let way = Way::to(&admin)?;
    let asked = asked(&way, &admin.what).await?;
    match admin.json {
        true => print_json(&asked)?,
        false => stdoutln!("{}", written(&admin.what, &asked)),
    }
    // CSV has no place for it, and a page that ends unsaid is taken for all there is.
    if matches!(admin.what, AdminWhat::Search(SearchWords { csv: true, .. }))
        && let Some(further) = shown::goes_on(&asked)
    {
        stderrln!("{further}");
    }
    verdict(&admin.what, &asked)
}

/// Asks for what is to be seen, or has it done.
async fn asked(way: &Way, what: &AdminWhat) -> Result<Value, Failure> {
    Ok(match what {
        AdminWhat::Status => way.get("/overview").await?,
        AdminWhat::Agents { handle: None } => way.get("/agents").await?,
        AdminWhat::Agents { handle: Some(handle) } => way.get(&format!("/agents/{}", part(handle))).await?,
        AdminWhat::Tasks { task: Some(task), .. } => way.get(&format!("/tasks/{}", part(task))).await?,
        AdminWhat::Tasks { task: None, state, agent, limit } => {
            let limit = limit.to_string();
            let query = [("state", state.as_deref()), ("agent", agent.as_deref()), ("limit", Some(limit.as_str()))];
            way.get(&with_query("/tasks", &query)).await?
        }
        what @ (AdminWhat::Follow { .. } | AdminWhat::Search(_) | AdminWhat::Alerts { .. } | AdminWhat::Why { .. }) => {
            way.get(&diagnosis_path(what)).await?
        }
        AdminWhat::Silence { rule, until, reason } => silence(way, rule, until, reason.as_deref()).await?,
        AdminWhat::Sessions => way.get("/sessions").await?,
        AdminWhat::Refusals { agent, outcome } => {
            let query = [("agent", agent.as_deref()), ("outcome", outcome.as_deref())];
            way.get(&with_query("/refusals", &query)).await?
        }
        AdminWhat::Consents(list) => held(way, "consents", list).await?,
        AdminWhat::Payments(list) => held(way, "payments", list).await?,
        AdminWhat::Usage { agent, who } => {
            let query = [("agent", agent.as_deref()), ("who", who.as_deref())];
            way.get(&with_query("/usage", &query)).await?
        }
        what @ AdminWhat::Trends { .. } => way.get(&trends_path(what)).await?,
        AdminWhat::Questions { limit, .. } => way.get(&format!("/questions?limit={limit}")).await?,
        AdminWhat::Bots { .. } => way.get("/bots").await?,
        AdminWhat::Bill { name, amount, reason } => bill(way, name, amount.as_deref(), reason.as_deref()).await?,
        AdminWhat::Costs => way.get("/costs").await?,
        AdminWhat::Contracts => way.get("/contracts").await?,
        AdminWhat::Deliveries => way.get("/deliveries").await?,
        AdminWhat::Queue { id: Some(id), .. } => way.get(&format!("/queue/{}", part(id))).await?,
        AdminWhat::Queue { id: None, all } => way.get(&with_query("/queue", &[("all", all.then_some("true"))])).await?,
        AdminWhat::Limits => way.get("/limits").await?,
        AdminWhat::Content => way.get("/content").await?,
        AdminWhat::Servers => way.get("/servers").await?,
        AdminWhat::Hubs => way.get("/hubs").await?,
        AdminWhat::Chats => way.get("/chats").await?,
        AdminWhat::RotateKey { reason } => way.post("/chats/rotate-key", &json!({ "reason": reason })).await?,
        AdminWhat::Nodes => way.get("/nodes").await?,
        AdminWhat::Certificates => way.get("/certificates").await?,
        AdminWhat::Config => way.get("/config").await?,
        AdminWhat::Deployment => way.get("/deployment").await?,
        AdminWhat::Actions => way.get("/actions").await?,
        AdminWhat::Reload { status: true, .. } => way.get("/reload").await?,
        AdminWhat::Reload { reason, .. } => way.post("/reload", &json!({ "reason": reason })).await?,
        AdminWhat::Answer { id, decision, reason } => {
            way.post(&format!("/queue/{}/answer", part(id)), &json!({ "decision": decision, "reason": reason })).await?
        }
        what => {
            let (noun, verb, ReasonedAction { name, reason }) = action(what)
                .ok_or_else(|| Failure::usage("this is not an action").hint("`forecourt admin --help` lists them"))?;
            // People write agents as `@chef`, as the tables show them.
            let name = part(name.trim_start_matches('@'));
            way.post(&format!("/{noun}/{name}/{verb}"), &json!({ "reason": reason })).await?
        }
    })
}

/// The call for what is wrong, or happened.
fn diagnosis_path(what: &AdminWhat) -> String {
    match what {
        AdminWhat::Follow { task } => format!("/tasks/{}/history", part(task)),
        AdminWhat::Search(words) => search_path(words),
        AdminWhat::Why { agent, question, item } => {
            let path = format!("/content/{}/why", part(agent.trim_start_matches('@')));
            with_query(&path, &[("question", Some(question)), ("item", Some(item))])
        }
        _ => "/alerts".to_owned(),
    }
}

/// The call for what happened, searched.
fn search_path(words: &SearchWords) -> String {
    let (text, limit) = (words.text.join(" "), words.limit.to_string());
    let query = [
        ("text", Some(text.as_str()).filter(|text| !text.is_empty())),
        ("kind", words.kind.as_deref()),
        ("agent", words.agent.as_deref()),
        ("who", words.who.as_deref()),
        ("since", words.since.as_deref()),
        ("until", words.until.as_deref()),
        ("cursor", words.cursor.as_deref()),
        ("limit", Some(limit.as_str())),
    ];
    with_query("/search", &query)
}

/// The call for what happened over time.
fn trends_path(what: &AdminWhat) -> String {
    let AdminWhat::Trends { span, agent, node, .. } = what else { return "/trends".to_owned() };
    let query = [("span", span.as_deref()), ("agent", agent.as_deref()), ("node", node.as_deref())];
    with_query("/trends", &query)
}

/// An answer as CSV where that is wanted, else for people.
fn written(what: &AdminWhat, asked: &Value) -> String {
    match csv_table(what) {
        Some(table) => csv::of(table, asked),
        None if matches!(what, AdminWhat::Trends { csv: true, .. }) => trends::as_csv(asked),
        None => shown::shown(what, asked),
    }
}

/// The table that is wanted as CSV, if one is.
fn csv_table(what: &AdminWhat) -> Option<&'static Table> {
    match what {
        AdminWhat::Consents(HeldList { csv: true, .. }) => Some(&CONSENTS),
        AdminWhat::Payments(HeldList { csv: true, .. }) => Some(&PAYMENTS),
        AdminWhat::Bots { csv: true } => Some(&BOTS),
        AdminWhat::Search(SearchWords { csv: true, .. }) => Some(&HITS),
        AdminWhat::Questions { csv: Some(list), .. } => Some(shown::of_list(*list)),
        _ => None,
    }
}

/// Has nobody told of the alerts of a rule.
async fn silence(way: &Way, rule: &str, until: &str, reason: Option<&str>) -> Result<Value, Failure> {
    way.post(&format!("/alerts/{}/silence", part(rule)), &json!({ "until": until, "reason": reason })).await
}

/// Writes down what a crawler was billed.
async fn bill(way: &Way, name: &str, amount: Option<&str>, reason: Option<&str>) -> Result<Value, Failure> {
    way.post(&format!("/bots/{}/bill", part(name)), &json!({ "amount": amount, "reason": reason })).await
}

/// Consents or payments, page after page where all of them are wanted.
async fn held(way: &Way, rows: &str, list: &HeldList) -> Result<Value, Failure> {
    let limit = if list.all { PAGE_MAX } else { list.limit }.to_string();
    let mut before: Option<String> = None;
    let mut told: Option<Value> = None;
    loop {
        let query = [
            ("agent", list.agent.as_deref()),
            ("who", list.who.as_deref()),
            ("since", list.since.as_deref()),
            ("before", before.as_deref()),
            ("limit", Some(limit.as_str())),
        ];
        let mut page = way.get(&with_query(&format!("/{rows}"), &query)).await?;
        before = page["next"].as_u64().map(|next| next.to_string());
        let told = match &mut told {
            Some(told) => {
                if let (Some(all), Some(more)) = (told[rows].as_array_mut(), page[rows].as_array_mut()) {
                    all.append(more);
                }
                told["next"] = page["next"].take();
                told
            }
            None => told.insert(page),
        };
        let count = told[rows].as_array().map_or(0, Vec::len);
        if !list.all || before.is_none() || count >= HELD_MAX {
            return Ok(told.take());
        }
    }
}

/// The noun and the verb of an action.
fn action(what: &AdminWhat) -> Option<(&'static str, &'static str, &ReasonedAction)> {
    Some(match what {
        AdminWhat::Suspend(of) => ("agents", "suspend", of),
        AdminWhat::Resume(of) => ("agents", "resume", of),
        AdminWhat::Retire(of) => ("agents", "retire", of),
        AdminWhat::Cancel(of) => ("tasks", "cancel", of),
        AdminWhat::Unsilence(of) => ("alerts", "unsilence", of),
        AdminWhat::Retry(of) => ("deliveries", "retry", of),
        AdminWhat::Drop(of) => ("deliveries", "drop", of),
        AdminWhat::PutBack(of) => ("deployment/versions", "put-back", of),
        AdminWhat::WithdrawConsent(of) => ("consents", "withdraw", of),
        AdminWhat::EndSession(of) => ("sessions", "end", of),
        AdminWhat::EndContract(of) => ("contracts", "end", of),
        _ => return None,
    })
}

/// What a script should know by the exit code alone.
fn verdict(what: &AdminWhat, asked: &Value) -> Outcome {
    match what {
        AdminWhat::Status if asked["is_ready"] == false => {
            Err(Failure::yours("it is not ready").hint("`forecourt admin status` says what is missing"))
        }
        AdminWhat::Reload { status: false, .. } | AdminWhat::PutBack(_) if asked["is_applied"] == false => {
            Err(Failure::yours("the deployment was not taken up, and nothing has changed")
                .hint("`forecourt check` finds the same mistakes without a server"))
        }
        _ => Ok(()),
    }
}

/// Text as a part of a path.
fn part(text: &str) -> String {
    // A space is `+` in a query and `%20` in a path.
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

fn with_query(path: &str, pairs: &[(&str, Option<&str>)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    let query = query.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_not_lead_to_another_path() {
        assert_eq!(part("../a b?c#d"), "..%2Fa%20b%3Fc%23d");
        assert_eq!(with_query("/tasks", &[("state", Some("a&b")), ("agent", None)]), "/tasks?state=a%26b");
        assert_eq!(with_query("/queue", &[("all", None)]), "/queue");
    }
}
