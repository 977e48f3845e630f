//! One answer of several agents, for `site: all` and for a host of the web that more than one of them knows.
//! NLWeb 3.1.
//!
//! All are asked at once, each behind its own rules. Scores of different collections say nothing of each other,
//! so the items come in turn: the best of each agent, then the second best, and so on. The conversation
//! is kept by the caller, in its session, since no single agent has all of it.

use forecourt_core::findings::{AppliedLimit, ItemFindings};
use forecourt_core::{
    CollectedReply, Ending, Error, Event, EventStream, Findings, Message, Part, PaymentReceipt, Reply, UsageMeter,
};
use forecourt_host::{Host, Run};
use futures::future::join_all;
use futures::stream;

/// Asks every agent that a message is for, and puts what they find together. Fails as the first of them
/// does, when none answers.
pub(crate) async fn receive(host: &Host, messages: Vec<Message>) -> Result<Reply, Error> {
    // Without tasks: a promise stands for one agent's task, and there would be several.
    let begun = join_all(messages.into_iter().map(|message| host.receive(message, Run::without_task()))).await;
    let (mut replies, mut error) = (Vec::new(), None);
    for reply in begun {
        match reply {
            Ok(reply) => replies.push(reply),
            Err(failed) => error = error.or(Some(failed)),
        }
    }
    let Some(first) = replies.first() else {
        return Err(error.unwrap_or(Error::unavailable()));
    };
    if let Some(error) = error {
        tracing::warn!(%error, "an agent could not be asked beside the others");
    }
    let (agent, language) = (first.agent.clone(), first.language.clone());
    let answers = async move { together(join_all(replies.into_iter().map(Reply::collect)).await) };
    let events: EventStream =
        Box::pin(futures::StreamExt::flatten(stream::once(async { stream::iter(answers.await) })));
    Ok(Reply {
        agent,
        thread: None,
        task: None,
        language,
        receipt: PaymentReceipt::default(),
        usage: UsageMeter::default(),
        events,
    })
}

/// What one agent found.
struct AgentResults {
    findings: Findings,
    items: Vec<Item>,
}

/// An item with what was said of it, which has to keep up with it.
struct Item {
    part: Part,
    told: ItemFindings,
}

/// The events of all answers as one.
fn together(answers: Vec<CollectedReply>) -> Vec<Event> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for answer in answers {
        match answer.ending {
            Ending::Complete | Ending::Message(_) => found.push(of(answer)),
            other => others.push(other),
        }
    }
    // An ending of one agent counts only where nobody found anything: the items of the others are the answer.
    if found.iter().all(|one| one.items.is_empty())
        && let Some(ending) = most_useful(others)
    {
        return vec![Event::Ending(ending)];
    }
    let mut findings = merged(&found);
    let items = in_turn(found.into_iter().map(|one| one.items).collect());
    findings.items = items.iter().map(|item| item.told.clone()).collect();
    let told = std::iter::once(Event::Findings(Box::new(findings)));
    let told = told.chain(items.into_iter().map(|item| Event::Part(item.part)));
    told.chain([Event::Ending(Ending::Complete)]).collect()
}

fn of(answer: CollectedReply) -> AgentResults {
    let CollectedReply { parts, findings, .. } = answer;
    let findings = findings.map(|findings| *findings).unwrap_or_default();
    let is_item = |part: &Part| !matches!(part, Part::Text(_));
    let item = |(at, part): (usize, Part)| Item { part, told: findings.items.get(at).cloned().unwrap_or_default() };
    let items = parts.into_iter().filter(is_item).enumerate().map(item).collect();
    AgentResults { findings, items }
}

/// Who asks back can be helped; then come refusals, then failures.
fn most_useful(endings: Vec<Ending>) -> Option<Ending> {
    endings.into_iter().min_by_key(|ending| match ending {
        Ending::Question(_) | Ending::SignIn(_) => 0,
        Ending::Refused(_) => 1,
        _ => 2,
    })
}

/// What the answers say of themselves, but for their items. A filter that meant something to one of them was not left out.
fn merged(found: &[AgentResults]) -> Findings {
    let telling = found.iter().filter(|one| !one.items.is_empty());
    let telling: Vec<&AgentResults> = match telling.clone().next() {
        Some(_) => telling.collect(),
        None => found.iter().take(1).collect(),
    };
    let summaries = telling.iter().map(|one| one.findings.whole_summary());
    let summaries: Vec<String> = summaries.filter(|summary| !summary.is_empty()).collect();
    // Only what meant nothing to any of them was left out.
    let is_ignored = |name: &&String| telling.iter().all(|one| one.findings.ignored.contains(name));
    let first = telling.first().map(|one| one.findings.ignored.as_slice()).unwrap_or_default();
    Findings {
        summary: summaries.join("\n\n"),
        count: telling.iter().map(|one| one.items.len()).sum(),
        more: telling.iter().any(|one| one.findings.more),
        notes: telling.iter().flat_map(|one| one.findings.notes.clone()).collect(),
        applied: applied(&telling),
        not_understood: of_all(&telling, |findings| &findings.not_understood),
        left_out: of_all(&telling, |findings| &findings.left_out),
        decontextualized: telling.iter().find_map(|one| one.findings.decontextualized.clone()),
        ignored: first.iter().filter(is_ignored).cloned().collect(),
        ..Findings::default()
    }
}

/// What any of them says, each once.
fn of_all<T: Clone + PartialEq>(telling: &[&AgentResults], of: fn(&Findings) -> &Vec<T>) -> Vec<T> {
    let mut all = Vec::new();
    for one in telling.iter().flat_map(|one| of(&one.findings)) {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
    all
}

/// The limits that hold for the items of everybody. They are the same by their words: each agent has its own way to
/// find where the question says them.
fn applied(telling: &[&AgentResults]) -> Vec<AppliedLimit> {
    let (first, others) = match telling.split_first() {
        Some((first, others)) => (first.findings.applied.as_slice(), others),
        None => return Vec::new(),
    };
    let same = |one: &AgentResults, limit: &AppliedLimit| {
        one.findings.applied.iter().find(|other| other.words == limit.words).map(|other| other.said.clone())
    };
    let shared = first.iter().filter_map(|limit| {
        let others: Vec<Option<String>> = others.iter().map(|one| same(one, limit)).collect::<Option<_>>()?;
        let said = limit.said.clone().or_else(|| others.into_iter().flatten().next());
        Some(AppliedLimit { said, ..limit.clone() })
    });
    shared.collect()
}

/// The first of each list, then the second of each.
fn in_turn<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    let mut placed: Vec<(usize, T)> = lists.into_iter().flat_map(|list| list.into_iter().enumerate()).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests {
    use forecourt_core::findings::MatchReason;
    use forecourt_core::{PolicyPart, Question, policy};
    use serde_json::json;

    use super::*;

    fn answer(names: &[&str], ignored: &[&str]) -> CollectedReply {
        let findings = Findings {
            summary: format!("{} of them.", names.len()),
            count: names.len(),
            ignored: ignored.iter().map(|name| (*name).to_owned()).collect(),
            items: vec![ItemFindings::scored(1.0); names.len()],
            ..Findings::default()
        };
        let items = names.iter().map(|name| Part::data(json!({ "name": name })));
        let parts = std::iter::once(Part::text("1. A list")).chain(items).collect();
        CollectedReply { findings: Some(Box::new(findings)), ..CollectedReply::new(parts, Ending::Complete) }
    }

    fn ended(ending: Ending) -> CollectedReply {
        CollectedReply::new(Vec::new(), ending)
    }

    fn told(answers: Vec<CollectedReply>) -> (Findings, Vec<String>) {
        let mut findings = Findings::default();
        let mut names = Vec::new();
        for event in together(answers) {
            match event {
                Event::Findings(told) => findings = *told,
                Event::Part(Part::Data(data)) => names.push(data.data["name"].as_str().unwrap_or_default().to_owned()),
                Event::Ending(ending) => assert_eq!(ending, Ending::Complete),
                other => panic!("{other:?}"),
            }
        }
        (findings, names)
    }

    #[test]
    fn s3_1_items_come_in_turn() {
        let (findings, names) = told(vec![answer(&["a1", "a2", "a3"], &["x", "y"]), answer(&["b1"], &["y"])]);
        assert_eq!(names, ["a1", "b1", "a2", "a3"]);
        assert_eq!((findings.count, findings.items.len()), (4, 4));
        assert_eq!((findings.summary.as_str(), findings.ignored), ("3 of them.\n\n1 of them.", vec!["y".to_owned()]));
    }

    #[test]
    fn what_is_said_of_an_item_stays_with_it() {
        let mut judged = answer(&["b1", "b2"], &[]);
        let reason = |why: &str| MatchReason { why: why.to_owned(), ..MatchReason::default() };
        let items = vec![
            ItemFindings::scored(9.0).because(reason("first")),
            ItemFindings::scored(8.0).because(reason("second")),
        ];
        let findings = Findings { summary: "Two.".to_owned(), items, ..Findings::default() };
        judged.findings = Some(Box::new(findings));
        let mut silent = answer(&["a1", "a2"], &[]);
        silent.findings = None;
        let (findings, names) = told(vec![silent, judged]);
        assert_eq!(names, ["a1", "b1", "a2", "b2"]);
        let told: Vec<_> =
            findings.items.iter().map(|item| (item.score, item.reason.as_ref().map(|r| r.why.as_str()))).collect();
        assert_eq!(told, [(0.0, None), (9.0, Some("first")), (0.0, None), (8.0, Some("second"))]);
        assert_eq!(findings.summary, "Two.");
    }

    #[test]
    fn who_finds_nothing_says_nothing_beside_who_does() {
        let question = Ending::Question(Question { text: "Which?".to_owned(), questions: Vec::new() });
        let (findings, names) = told(vec![answer(&[], &["x"]), ended(question), answer(&["b"], &[])]);
        assert_eq!((names, findings.summary.as_str(), findings.ignored.len()), (vec!["b".to_owned()], "1 of them.", 0));
        let (findings, names) = told(vec![answer(&[], &[]), answer(&[], &[])]);
        assert_eq!((names.len(), findings.count, findings.summary.as_str()), (0, 0, "0 of them."));
    }

    #[test]
    fn a_limit_holds_for_all_by_its_words() {
        let limited = |limits: &[(&str, Option<&str>)]| {
            let limit = |(words, said): &(&str, Option<&str>)| AppliedLimit {
                words: (*words).to_owned(),
                said: said.map(str::to_owned),
            };
            let findings = Findings { applied: limits.iter().map(limit).collect(), ..Findings::default() };
            CollectedReply { findings: Some(Box::new(findings)), ..answer(&["a"], &[]) }
        };
        let one = limited(&[("no nuts", None), ("vegan", Some("vegan")), ("at most 60 €", None)]);
        let other = limited(&[("vegan", Some("is vegan")), ("no nuts", Some("without nuts"))]);
        let shared: Vec<_> =
            told(vec![one, other]).0.applied.into_iter().map(|limit| (limit.words, limit.said)).collect();
        let limit = |words: &str, said: &str| (words.to_owned(), Some(said.to_owned()));
        assert_eq!(shared, [limit("no nuts", "without nuts"), limit("vegan", "vegan")]);
    }

    #[test]
    fn when_nobody_finds_anything_the_most_useful_ending_is_told() {
        let question = Ending::Question(Question { text: "Which?".to_owned(), questions: Vec::new() });
        let refused = Ending::Refused(Box::new(PolicyPart::new(policy::RefusalKind::Forbidden, "No.")));
        let failed = Ending::failed("It broke.");
        for (endings, wanted) in [
            (vec![failed.clone(), refused.clone(), question.clone()], question),
            (vec![failed.clone(), refused.clone()], refused),
            (vec![failed.clone()], failed),
        ] {
            let answers = endings.into_iter().map(ended).chain([answer(&[], &[])]).collect();
            assert_eq!(together(answers), [Event::Ending(wanted)]);
        }
    }
}
