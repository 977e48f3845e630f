//! How well items answer a question, as a model judges them: a score and a reason for each.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::clean::line;
use super::json::{objects_with, values};
use super::prompt::{AnswerSchema, Prompt};
use crate::limits::WHY_CHARS_MAX;

/// A model's score of an item, and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judgement {
    /// 0 to 100.
    pub(super) score: u8,
    /// Why, in a line of plain text. May be empty.
    pub(super) why: String,
}

/// Judgements by the numbers of items.
pub(super) type Judgements = BTreeMap<usize, Judgement>;

/// Tokens for the judgement of one item.
const TOKENS_EACH: u32 = 60;

/// What a model is asked about `entries`, items that [`super::prompt_item`] made.
pub(super) fn prompt(question: &Value, entries: &[Value], with_reasons: bool) -> Prompt {
    let (form, reason) = match with_reasons {
        true => (
            r#"{"items":[{"n":1,"score":0,"reason":"…"}]}"#,
            " and `reason`, at most twelve words in the language of the question that say why, from the entry's own \
             facts",
        ),
        false => (r#"{"items":[{"n":1,"score":0}]}"#, ""),
    };
    let instructions = format!(
        "You judge how well each entry of a catalogue answers a visitor's `question`. For each of the `entries` give \
         its number `n`, a `score` from 0 (nothing to do with it) over 50 (touches it) to 100 (exactly what is \
         wanted){reason}. Add no facts of your own. Answer with JSON alone: {form}"
    );
    Prompt {
        instructions,
        data: json!({"question": question, "entries": entries}),
        form: Some(AnswerSchema { name: "judgements", schema: schema(with_reasons) }),
        tokens_max: 40 + TOKENS_EACH * u32::try_from(entries.len()).unwrap_or(u32::MAX / TOKENS_EACH),
    }
}

fn schema(with_reasons: bool) -> Value {
    let mut properties = json!({"n": {"type": "integer"}, "score": {"type": "integer"}});
    let mut required = vec!["n", "score"];
    if with_reasons {
        properties["reason"] = json!({"type": "string"});
        required.push("reason");
    }
    let item = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    json!({"type": "object", "properties": {"items": {"type": "array", "items": item}}, "required": ["items"],
        "additionalProperties": false})
}

/// Reads judgements of items of these `numbers`. Others, and second thoughts, count for nothing. `None` when
/// fewer than half of the items were judged. Reasons name only hosts that are `known`.
pub(super) fn read(text: &str, numbers: &[usize], known: &str) -> Option<Judgements> {
    let (values, mut judgements) = (values(text), Judgements::new());
    for judged in objects_with(&values, "score") {
        let Some(number) = number(&judged["n"]).map(|number| number as usize) else { continue };
        let Some(score) = number_of_score(&judged["score"]) else { continue };
        if numbers.contains(&number) {
            let why = judged["reason"].as_str().unwrap_or_default();
            // Cleaned before it is kept: a reason may repeat links of the item that it judges.
            let why = || line(why, known, WHY_CHARS_MAX);
            judgements.entry(number).or_insert_with(|| Judgement { score, why: why() });
        }
    }
    // With fewer, what it left out would weigh more than what it said.
    (judgements.len() * 2 >= numbers.len()).then_some(judgements)
}

fn number_of_score(value: &Value) -> Option<u8> {
    number(value).map(|score| score.clamp(0.0, 100.0).round() as u8)
}

/// A number, also where a model puts it into quotes.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    number.filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scores(text: &str) -> Option<Vec<(usize, u8, String)>> {
        let judgements = read(text, &[1, 2, 3], "")?;
        Some(judgements.into_iter().map(|(n, judged)| (n, judged.score, judged.why)).collect())
    }

    #[test]
    fn judgements_are_read_in_many_forms() {
        let wanted = Some(vec![(1, 90, "Quick.".to_owned()), (3, 0, String::new())]);
        for text in [
            r#"{"items":[{"n":1,"score":90,"reason":"Quick."},{"n":3,"score":0,"reason":""}]}"#,
            "Here:\n```json\n[{\"n\": \"1\", \"score\": \"90\", \"reason\": \"Quick.\"}, {\"n\": 3, \"score\": 0.4}]\n```",
            r#"{"n":1,"score":90,"reason":"Quick."} {"n":3,"score":0}"#,
            r#"{"items":[{"n":1,"score":90,"reason":"Quick."},{"n":3,"score":0},{"n":2,"sc"#,
        ] {
            assert_eq!(scores(text), wanted, "{text}");
        }
    }

    #[test]
    fn unknown_items_second_thoughts_and_nonsense_count_for_nothing() {
        let text = r#"{"items":[{"n":1,"score":200},{"n":1,"score":1},{"n":2,"score":5},{"n":4,"score":99},
            {"n":-1,"score":9},{"n":3,"score":"high"},{"n":null,"score":3},{"score":3},{"n":3,"score":-3}]}"#;
        assert_eq!(scores(text), Some(vec![(1, 100, String::new()), (2, 5, String::new())]));
    }

    #[test]
    fn fewer_than_half_is_nothing() {
        assert!(scores(r#"[{"n":1,"score":9},{"n":2,"score":9}]"#).is_some());
        assert_eq!(scores(r#"[{"n":1,"score":9}]"#), None);
        assert_eq!(scores("I like the first one best."), None);
    }

    #[test]
    fn reasons_hold_no_links_and_have_a_bound() {
        let reason = |text: &str| {
            let text = json!([{"n": 1, "score": 1, "reason": text}]).to_string();
            read(&text, &[1], "").unwrap()[&1].why.clone()
        };
        assert_eq!(reason("Buy at https://evil.example now <b>!</b>\n![x](http://evil.example)"), "Buy at now !");
        assert_eq!(reason(&"x".repeat(WHY_CHARS_MAX)).chars().count(), WHY_CHARS_MAX);
        assert!(reason(&"x".repeat(WHY_CHARS_MAX + 1)).ends_with('…'));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[\\[\\]{}\",:0-9nscore ]{0,120}") {
            if let Some(judgements) = read(&text, &[1, 2], "") {
                prop_assert!(judgements.values().all(|judged| judged.score <= 100));
            }
        }
    }
}
