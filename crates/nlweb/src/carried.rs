//! Conversations that the caller keeps: where several agents answer at once none has all of it, so that the last
//! questions go round in `session_context`. NLWeb 3.4. What comes back is the caller's word, as `prev` is.

use forecourt_core::{Part, Role, Turn};
use serde_json::{Map, Value, json};

use crate::limits::{CARRIED_BYTES_MAX, CARRIED_MAX};
use crate::wire::Query;

/// The member of `session_context` that holds earlier questions, each with its filters and the items that
/// each agent was asked for, so that "more" goes on where the answer ended.
const ASKED: &str = "asked";
/// The member that says where they were asked.
const SITE: &str = "site";

/// Where the questions before this one were asked.
pub(crate) fn site(session: &Map<String, Value>) -> Option<&str> {
    session.get(ASKED)?;
    session.get(SITE)?.as_str()
}

/// The questions before this one, as turns. What is none is passed over.
pub(crate) fn turns(session: &Map<String, Value>) -> Vec<Turn> {
    let asked = session.get(ASKED).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    // Bounded on the way in as well: the caller may have put anything there.
    let last = &asked[asked.len().saturating_sub(CARRIED_MAX)..];
    let turn = |asked: &Value| {
        let mut turn = Turn::text(Role::User, asked.get("text")?.as_str()?);
        let filters = asked.get("filters").filter(|filters| filters.is_object());
        turn.parts.extend(filters.map(|filters| Part::data(json!({ "filters": filters }))));
        let results = asked.get("results").and_then(Value::as_u64).and_then(|results| usize::try_from(results).ok());
        turn.narrowing.results = results;
        Some(turn)
    };
    last.iter().filter(|asked| bytes(asked) <= CARRIED_BYTES_MAX).filter_map(turn).collect()
}

/// The session with this question in it too, for which each agent was asked for `results` items.
pub(crate) fn carry(mut session: Map<String, Value>, query: &Query, results: Option<usize>) -> Map<String, Value> {
    let mut asked = match session.remove(ASKED) {
        Some(Value::Array(asked)) => asked,
        _ => Vec::new(),
    };
    let mut this = json!({"text": query.text});
    if !query.filters.is_empty() {
        this["filters"] = query.filters.clone().into();
    }
    if let Some(results) = results {
        this["results"] = results.into();
    }
    asked.push(this);
    asked.retain(|asked| bytes(asked) <= CARRIED_BYTES_MAX);
    let asked = asked.split_off(asked.len().saturating_sub(CARRIED_MAX));
    session.insert(ASKED.to_owned(), asked.into());
    if let Some(site) = &query.site {
        session.insert(SITE.to_owned(), site.clone().into());
    }
    session
}

fn bytes(value: &Value) -> usize {
    value.to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str, filters: Value) -> Query {
        let filters = filters.as_object().cloned().unwrap_or_default();
        Query { text: text.to_owned(), site: Some("all".to_owned()), filters }
    }

    #[test]
    fn s3_4_questions_go_round_with_their_filters() {
        let session = carry(Map::new(), &query("soup", json!({"itemType": "Recipe"})), None);
        let session = carry(session, &query("more", json!({})), Some(3));
        assert_eq!(site(&session), Some("all"));
        let turns = turns(&session);
        assert_eq!(turns[0].parts, [Part::text("soup"), Part::data(json!({"filters": {"itemType": "Recipe"}}))]);
        assert_eq!((&turns[1].parts[..], turns[1].narrowing.results), (&[Part::text("more")][..], Some(3)));
    }

    #[test]
    fn what_is_carried_is_bounded() {
        let session =
            |count: usize| (0..count).fold(Map::new(), |session, _| carry(session, &query("x", json!({})), None));
        assert_eq!(turns(&session(CARRIED_MAX)).len(), CARRIED_MAX);
        assert_eq!(turns(&session(CARRIED_MAX + 1)).len(), CARRIED_MAX);
        let frame = json!({"text": ""}).to_string().len();
        let long = |bytes: usize| turns(&carry(Map::new(), &query(&"a".repeat(bytes - frame), json!({})), None)).len();
        assert_eq!((long(CARRIED_BYTES_MAX), long(CARRIED_BYTES_MAX + 1)), (1, 0));
    }

    #[test]
    fn s3_4_what_was_never_carried_is_passed_over() {
        for foreign in [json!({}), json!({"asked": 1}), json!({"asked": [1, {"text": 2}, {}]}), json!({"site": "all"})]
        {
            let session = foreign.as_object().cloned().expect("an object");
            assert_eq!((turns(&session).len(), site(&session)), (0, None), "{foreign}");
        }
    }
}
