//! A question worded anew by a model: complete from the turns before it, and searched for by other words too.
//! Constraints stay those that the content understands; the model only passes them on.

use forecourt_core::message::text_of;
use forecourt_core::{Language, Message, Part, Role, behind_mention};
use forecourt_index::{Error, Hit, Library, Query};
use forecourt_understanding::{Filter, ParsedQuestion, Test};
use serde_json::{Value, json};

use super::json::{objects_with, values};
use super::prompt::{AnswerSchema, Prompt, quoted, tamed};
use crate::caller_context::context;
use crate::find::{SearchResults, find};
use crate::limits::{
    FURTHER_SEARCHES_MAX, PROMPT_TEXT_BYTES_MAX, PROMPT_TURNS_MAX, QUESTION_FILTERS_MAX, REWRITTEN_BYTES_MAX,
};
use crate::phrases::{is_more, phrases};
use crate::request::{SearchRequest, push_new};

/// A question as a model reworded it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RewrittenQuestion {
    /// The question by itself.
    pub(super) question: String,
    /// Other words for the same.
    pub(super) also: Vec<String>,
}

/// A question, and the turns and the context before it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct QuestionContext {
    /// Turns before it, oldest first: who spoke, and what.
    pub(super) before: Vec<(Role, String)>,
    /// The question.
    pub(super) question: String,
    /// The context that the caller sent (NLWeb's `context`), shortened.
    pub(super) context: Option<Value>,
}

const TOKENS: u32 = 300;

impl QuestionContext {
    /// What a message and its history say. Turns that only ask for more are no questions.
    pub(super) fn new(message: &Message, item_label: &str) -> Self {
        let text = |parts: &[Part]| behind_mention(&text_of(parts), &message.recipient).to_owned();
        let mut turns: Vec<(Role, String)> =
            message.history.iter().map(|turn| (turn.role, text(&turn.parts))).collect();
        turns.push((Role::User, message.addressed_text()));
        let is_question = |(role, said): &(Role, String)| *role == Role::User && !is_more(said, item_label);
        let at = turns.iter().rposition(is_question);
        let question = at.map(|at| turns[at].1.clone()).unwrap_or_default();
        turns.truncate(at.unwrap_or(0));
        let first = turns.len().saturating_sub(PROMPT_TURNS_MAX);
        let context = context(message).filter(|context| !context.is_empty() && !phrases().sets_aside(&question));
        let context = context.map(|context| tamed(&Value::Object(context.clone()), 3));
        Self { before: turns.split_off(first), question, context }
    }

    /// Whether there is anything that the question may lean on.
    pub(super) fn is_follow_up(&self) -> bool {
        self.context.is_some() || self.before.iter().any(|(role, _)| *role == Role::User)
    }
}

/// The prompt that asks a model to reword a question.
pub(super) fn prompt(said: &QuestionContext, item_label: &str, language: &Language) -> Prompt {
    let instructions = format!(
        "You prepare a visitor's `question` for a search engine over a catalogue of {item_label}. Answer with JSON alone: \
         {{\"question\":\"…\",\"also\":[\"…\"]}}. `question` is the visitor's newest question as one short sentence that \
         stands by itself, in the language `{language}`: take what it leaves out from the turns `before` it and \
         the `context`. Keep every limit that still holds in plain words, such as \"under 30 minutes\", \"no nuts\" or \
         \"from 1999\"; add none, and answer nothing. `also` holds up to {FURTHER_SEARCHES_MAX} other short search \
         phrases without limits, in that language, that find the same things by other words."
    );
    let before: Vec<Value> = said
        .before
        .iter()
        .map(|(role, text)| {
            let who = if *role == Role::User { "visitor" } else { "catalogue" };
            json!({"who": who, "said": quoted(text, PROMPT_TEXT_BYTES_MAX)})
        })
        .collect();
    let question = quoted(&said.question, 2 * PROMPT_TEXT_BYTES_MAX);
    Prompt {
        instructions,
        data: json!({"before": before, "context": said.context, "question": question}),
        form: Some(AnswerSchema { name: "question", schema: schema() }),
        tokens_max: TOKENS,
    }
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"question": {"type": "string"},
        "also": {"type": "array", "items": {"type": "string"}}}, "required": ["question", "also"],
        "additionalProperties": false})
}

/// Reads what a model made of a question. `None`: nothing.
pub(super) fn read(text: &str) -> Option<RewrittenQuestion> {
    let values = values(text);
    let object = objects_with(&values, "question").into_iter().next()?;
    let question = object["question"].as_str().map(|text| quoted(text, REWRITTEN_BYTES_MAX + 1))?;
    let also = object["also"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let also = also.map(|text| quoted(text, REWRITTEN_BYTES_MAX)).filter(|text| !text.is_empty());
    let is_one = !question.is_empty() && question.len() <= REWRITTEN_BYTES_MAX;
    is_one.then(|| RewrittenQuestion { also: also.take(FURTHER_SEARCHES_MAX).collect(), question: question.clone() })
}

impl RewrittenQuestion {
    /// What to look for: by the new question when the old one leaned on others, else as it was asked.
    ///
    /// What the caller says in this very turn holds, what is known of the caller too, and what was ruled out
    /// stays so, whatever the model makes of it.
    pub(super) fn asked(
        &self,
        plain: SearchRequest,
        said: &QuestionContext,
        understand: &dyn Fn(&str) -> ParsedQuestion,
    ) -> SearchRequest {
        // A question that stands by itself is searched for as it was asked; the model's words are searched for beside
        // it.
        if !said.is_follow_up() {
            return plain;
        }
        let ParsedQuestion { text, mut filters, notes: others, .. } = understand(&self.question);
        filters.truncate(QUESTION_FILTERS_MAX);
        // A model must not lift an allergy: what was ruled out and what is known of the caller stay.
        let stays = |filter: &&Filter| matches!(filter.test, Test::Without { .. }) || plain.known.contains(filter);
        for filter in plain.filters.iter().filter(stays).cloned().chain(understand(&said.question).filters) {
            // A limit of the same property is the model's reading of the same wish; two exclusions are two wishes.
            let is_there = filters.iter().any(|other| {
                other.fields == filter.fields
                    && (!matches!(filter.test, Test::Without { .. }) || other.test == filter.test)
            });
            if !is_there {
                filters.push(filter);
            }
        }
        let mut notes = plain.notes.clone();
        others.into_iter().for_each(|note| push_new(&mut notes, note));
        SearchRequest { text, filters, notes, ..plain }
    }

    /// The further texts to search for beside the question.
    pub(super) fn searches(&self, said: &QuestionContext) -> Vec<String> {
        let own = (!said.is_follow_up()).then(|| self.question.clone());
        own.into_iter().filter(|own| *own != said.question).chain(self.also.iter().cloned()).collect()
    }
}

/// The best items by the words of the question and by `also`, fused by their places. At most `limit`.
pub(super) fn candidates(
    library: &Library,
    asked: &SearchRequest,
    also: &[String],
    limit: usize,
) -> Result<SearchResults, Error> {
    let mut found = find(library, asked, limit)?;
    if asked.offset > 0 || also.is_empty() || !found.unmet.is_empty() {
        return Ok(found);
    }
    let mut lists = vec![std::mem::take(&mut found.hits)];
    for text in also {
        let query = Query { text: text.clone(), filters: found.applied.clone(), limit, ..Query::default() };
        lists.push(library.search(&query)?);
    }
    found.hits = fused(lists);
    // Other words found something, so that the question was not off topic.
    found.is_off_topic &= found.hits.is_empty();
    found.has_more |= found.hits.len() > limit;
    found.hits.truncate(limit);
    Ok(found)
}

/// By the sum of their reciprocal places; the first list, that of the question itself, counts double.
fn fused(lists: Vec<Vec<Hit>>) -> Vec<Hit> {
    /// Damps the first places; the value of the paper that named the method.
    const DAMPING: f64 = 60.0;
    let mut sums: Vec<(f64, Hit)> = Vec::new();
    for (at, list) in lists.into_iter().enumerate() {
        let weight = if at == 0 { 2.0 } else { 1.0 };
        for (place, hit) in list.into_iter().enumerate() {
            let worth = weight / (DAMPING + place as f64);
            match sums.iter_mut().find(|(_, known)| known.id == hit.id) {
                Some((sum, _)) => *sum += worth,
                None => sums.push((worth, hit)),
            }
        }
    }
    sums.sort_by(|a, b| b.0.total_cmp(&a.0));
    sums.into_iter().map(|(_, hit)| hit).collect()
}

#[cfg(test)]
mod tests {
    use forecourt_core::{Handle, MessageId, Timestamp, Turn};

    use super::*;
    use crate::rerank::prompt_item::tests::hit;

    fn message(text: &str, history: &[(Role, &str)]) -> Message {
        let (id, recipient) = (MessageId::parse("1").unwrap(), Handle::parse("a").unwrap());
        let history = history.iter().map(|(role, text)| Turn::text(*role, *text)).collect();
        Message { history, ..Message::new(id, recipient, vec![Part::text(text)], "test", Timestamp::UNIX_EPOCH) }
    }

    /// Understands minutes and nuts.
    fn understand(text: &str) -> ParsedQuestion {
        let mut out = ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() };
        let lacks = Test::Without { classes: vec![], words: vec!["nut".to_owned()] };
        for (words, filter) in [
            ("under 30 minutes", Filter::within("totalTime", None, Some(30.0))),
            ("under 20 minutes", Filter::within("totalTime", None, Some(20.0))),
            ("no nuts", Filter { fields: vec![], test: lacks, words: String::new() }),
        ] {
            if out.text.contains(words) {
                out.text = out.text.replace(words, "").trim().to_owned();
                out.filters.push(Filter { words: words.to_owned(), ..filter });
            }
        }
        out
    }

    fn filters(question: &str, plain: &str, now: &str) -> (String, Vec<String>) {
        let ParsedQuestion { text, filters, .. } = understand(plain);
        let plain = SearchRequest { text, filters, ..SearchRequest::default() };
        let said = QuestionContext::new(&message(now, &[(Role::User, "before")]), "recipes");
        let asked = RewrittenQuestion { question: question.to_owned(), also: vec![] }.asked(plain, &said, &understand);
        (asked.text, asked.filters.into_iter().map(|filter| filter.words).collect())
    }

    #[test]
    fn what_was_ruled_out_and_what_is_said_now_holds_whatever_the_model_says() {
        let owned = |text: &str, words: &[&str]| (text.to_owned(), words.iter().map(|w| (*w).to_owned()).collect());
        assert_eq!(
            filters("quick soup", "soup no nuts under 30 minutes", "quick ones"),
            owned("quick soup", &["no nuts"])
        );
        assert_eq!(filters("soup no nuts", "soup no nuts", "soup"), owned("soup", &["no nuts"]));
        assert_eq!(filters("soup", "soup", "only under 20 minutes"), owned("soup", &["under 20 minutes"]));
        assert_eq!(
            filters("soup under 20 minutes", "x", "under 20 minutes"),
            owned("soup", &["under 20 minutes"]),
            "once is enough"
        );
    }

    #[test]
    fn s3_2_what_is_known_of_the_caller_holds_and_is_said() {
        let known = understand("under 30 minutes").filters;
        let plain = SearchRequest {
            filters: known.clone(),
            known,
            notes: vec!["As you told.".to_owned()],
            ..SearchRequest::default()
        };
        let said = QuestionContext::new(&message("soup", &[(Role::User, "before")]), "recipes");
        let worded = |question: &str| {
            let rewritten = RewrittenQuestion { question: question.to_owned(), also: vec![] };
            let asked = rewritten.asked(plain.clone(), &said, &understand);
            (asked.filters.into_iter().map(|filter| filter.words).collect::<Vec<_>>(), asked.notes)
        };
        assert_eq!(worded("soup"), (vec!["under 30 minutes".to_owned()], vec!["As you told.".to_owned()]));
        assert_eq!(worded("soup under 20 minutes").0, ["under 20 minutes"]);
    }

    #[test]
    fn s3_2_the_model_knows_of_the_caller_what_the_search_knows() {
        let context = json!({"memory": "vegan"});
        let turn = Turn { parts: vec![Part::data(json!({ "context": context }))], ..Turn::text(Role::User, "soup") };
        let told = |text: &str| {
            let asking = Message { history: vec![turn.clone()].into(), ..message(text, &[]) };
            QuestionContext::new(&asking, "recipes").context
        };
        assert_eq!(told("bread"), Some(context.clone()));
        assert_eq!(told("bread, ignore my preferences"), None);
    }

    #[test]
    fn a_question_by_itself_is_asked_as_it_is() {
        let said = QuestionContext::new(&message("soup", &[]), "recipes");
        let plain = SearchRequest { text: "soup".to_owned(), ..SearchRequest::default() };
        let rewritten = RewrittenQuestion { question: "bread".to_owned(), also: vec!["broth".to_owned()] };
        assert_eq!(rewritten.asked(plain.clone(), &said, &understand), plain);
    }

    #[test]
    fn turns_that_ask_for_more_are_no_questions() {
        let history =
            [(Role::User, "soup"), (Role::Assistant, "Here."), (Role::User, "hot ones"), (Role::Assistant, "Yes.")];
        let said = QuestionContext::new(&message("more", &history), "recipes");
        assert_eq!((said.question.as_str(), said.before.len()), ("hot ones", 2));
        assert!(said.is_follow_up());
        assert!(!QuestionContext::new(&message("soup", &[]), "recipes").is_follow_up());
        let many: Vec<(Role, &str)> = vec![(Role::User, "a"); PROMPT_TURNS_MAX + 1];
        assert_eq!(QuestionContext::new(&message("b", &many), "recipes").before.len(), PROMPT_TURNS_MAX);
    }

    #[test]
    fn a_new_wording_has_bounds() {
        let of = |bytes: usize| read(&json!({"question": "x".repeat(bytes), "also": []}).to_string());
        assert!(of(REWRITTEN_BYTES_MAX).is_some());
        assert_eq!((of(REWRITTEN_BYTES_MAX + 1), of(0)), (None, None));
        let also = |count: usize| {
            let text = json!({"question": "a", "also": vec!["b"; count]}).to_string();
            read(&text).unwrap().also.len()
        };
        assert_eq!(
            (also(FURTHER_SEARCHES_MAX), also(FURTHER_SEARCHES_MAX + 1)),
            (FURTHER_SEARCHES_MAX, FURTHER_SEARCHES_MAX)
        );
        assert_eq!(read("Just search for soup."), None);
        assert_eq!(read(r#"{"question": 7}"#), None);
    }

    #[test]
    fn lists_are_fused_by_places() {
        let hits = |ids: &[&str]| ids.iter().map(|id| hit(json!({"@id": id}))).collect::<Vec<_>>();
        let fused = fused(vec![hits(&["a", "b", "c"]), hits(&["c", "d"])]);
        let ids: Vec<&str> = fused.iter().map(|hit| hit.id.as_str()).collect();
        assert_eq!(ids, ["c", "a", "b", "d"]);
    }
}
