//! What an operation means, as far as its document and its HTTP method tell. Section 7, and 14.1: a
//! person confirms it.

use std::collections::BTreeSet;

use forecourt_contract::Catalog;

use super::effect::effect;
use super::headline::{headline, object, without_by};
use super::lexicon::{is_noun_too, is_verb, meant, participle};
use super::operation::Operation;
use super::prose::{capital, imperative, sentences, uncapital, verb_of};
use super::verb::{Choice, category};
use super::words::{plural, sentence, singular, words};
use crate::limits::SENTENCE_CHARS_MAX;

/// Descriptions of responses that say nothing.
const EMPTY_WORDS: [&str; 14] = [
    "ok",
    "success",
    "successful",
    "successful operation",
    "successful response",
    "successful request",
    "created",
    "accepted",
    "no content",
    "default response",
    "response",
    "successfully created",
    "the request was successful",
    "expected response to a valid request",
];

/// The semantic block.
#[derive(Clone, Debug)]
pub(super) struct Semantic {
    pub(super) intent: String,
    pub(super) actor: String,
    pub(super) outcome: String,
    pub(super) capability: String,
    pub(super) confidence: f64,
    pub(super) impact: String,
    pub(super) is_idempotent: bool,
    /// What a person has to look at, in a sentence each. Nothing where the document states all of it, as
    /// one that was exported does.
    pub(super) doubts: Vec<&'static str>,
    /// Whether the document states all of it.
    pub(super) is_stated: bool,
}

/// What an operation that became `verb` means. `choice`: what spoke for the verb, unless it is another's.
pub(super) fn semantic(
    operation: &Operation<'_>,
    verb: &str,
    choice: &Choice,
    outcome: &str,
    catalog: &Catalog,
) -> Semantic {
    let stated = &operation.value["x-agtp-semantic"];
    let text = |key: &str| stated[key].as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let is_known = |name: &String| catalog.has_category(name);
    let confidence = stated["confidence"].as_f64().filter(|value| (0.0..=1.0).contains(value));
    // What the operator says goes before what the document says.
    let ruled = operation.ruled_impact.map(str::to_owned);
    let impact = ruled
        .or_else(|| text("impact"))
        .filter(|word| ["informational", "reversible", "irreversible"].contains(&word.as_str()));
    let (intent, actor, idempotent) = (text("intent"), text("actor"), stated["is_idempotent"].as_bool());
    let (after, capability) = (text("outcome"), text("capability").filter(is_known));
    let is_stated =
        [intent.is_some(), actor.is_some(), after.is_some(), capability.is_some()].iter().all(|there| *there)
            && impact.is_some()
            && idempotent.is_some()
            && confidence.is_some();
    let is_said = headline(operation).is_some();
    let effect = effect(operation, verb, catalog);
    let mut doubts = Vec::new();
    if intent.is_none() && !is_said {
        doubts.push("the document has no words about it: say what it does and what is true afterwards");
    }
    let intent = intent.unwrap_or_else(|| summary(operation, verb));
    let reads = impact.as_deref().unwrap_or(effect.impact()) == "informational";
    let after = after.or_else(|| said(outcome, reads)).or_else(|| afterwards(&intent, reads, catalog));
    if impact.is_none() {
        doubts.extend(effect.doubt());
    }
    Semantic {
        actor: actor.unwrap_or_else(|| "agent".to_owned()),
        outcome: after.unwrap_or_else(|| usual(&operation.http, reads).to_owned()),
        capability: capability.or_else(|| category(verb, catalog).map(str::to_owned)).unwrap_or_default(),
        confidence: confidence.unwrap_or_else(|| sureness(is_said, choice)),
        is_idempotent: idempotent.unwrap_or(reads || (!effect.is_informational() && effect.is_idempotent())),
        impact: impact.unwrap_or_else(|| effect.impact().to_owned()),
        doubts: if is_stated { Vec::new() } else { doubts },
        is_stated,
        intent,
    }
}

/// How sure an endpoint is of what nobody has looked at: words and verb, one of them, or neither.
fn sureness(is_said: bool, choice: &Choice) -> f64 {
    match (is_said, choice.is_literal) {
        (true, true) => 0.8,
        (true, false) | (false, true) => 0.7,
        (false, false) => 0.5,
    }
}

/// A sentence about an operation in the imperative: what the document says, else its id or its path in
/// words.
pub(super) fn summary(operation: &Operation<'_>, verb: &str) -> String {
    let commanded = |thing: &str| format!("{} {}", capital(&verb.to_lowercase()), uncapital(thing));
    let is_command = |text: &str| {
        let word = verb_of(text).map(|(word, _)| word);
        word.is_some_and(|word| {
            !is_noun_too(&word) || text.split(' ').nth(1).is_some_and(is_small) || spells(&word, verb)
        })
    };
    let said = headline(operation).map(|found| if is_command(&found) { found } else { commanded(&found) });
    let made = || sentence(&of_id(operation, verb).or_else(|| of_path(operation, verb))?, SENTENCE_CHARS_MAX);
    let named = || sentence(&commanded(&format!("what is at {}", operation.path)), SENTENCE_CHARS_MAX);
    said.or_else(made).or_else(named).unwrap_or_default()
}

/// Whether a word is one that stands before nouns, so that a verb goes before it.
fn is_small(word: &str) -> bool {
    const SMALL: [&str; 15] = [
        "a", "an", "the", "all", "this", "that", "if", "whether", "for", "your", "new", "existing", "multiple", "one",
        "to",
    ];
    SMALL.contains(&word.to_lowercase().as_str())
}

/// Whether a word is how the verb is spelt here or elsewhere.
fn spells(word: &str, verb: &str) -> bool {
    meant(word, &Catalog::shipped()).is_some_and(|meant| meant == verb)
}

/// The path in words: `Create a charge` for `/v1/charges`. `None`: it has no words.
fn of_path(operation: &Operation<'_>, verb: &str) -> Option<String> {
    let is_thing = |segment: &&str| {
        let all = words(super::words::without_format(segment));
        !all.is_empty() && !segment.contains('{') && !spells(&all.concat(), verb)
    };
    let literal = operation.path.split('/').rfind(is_thing)?;
    let mut all = words(super::words::without_format(literal));
    let last = all.pop()?;
    let one = singular(&last);
    all.push(if verb == "LIST" { plural(&one) } else { one.clone() });
    // `Refund a refund` is `create` one.
    let word = if one.eq_ignore_ascii_case(verb) { "create".to_owned() } else { verb.to_lowercase() };
    let article = if verb == "LIST" { String::new() } else { format!("{} ", article(&all[0])) };
    Some(format!("{word} {article}{}", all.join(" ")))
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" }
}

/// The words of an id: `createRoomKey` is `Create a room key`. `None`: it has none.
fn of_id(operation: &Operation<'_>, verb: &str) -> Option<String> {
    let mut all = without_by(words(operation.id));
    // What HTTP says alone, as in `PostCharges`, says nothing.
    if all.first().is_some_and(|first| ["get", "post", "put", "patch"].contains(&first.as_str())) {
        return None;
    }
    if !all.first().is_some_and(|first| is_verb(first)) {
        all.insert(0, verb.to_lowercase());
    }
    let last = all.last().filter(|_| all.len() > 1 && !operation.id.is_empty())?.clone();
    let segment = operation.path.rsplit('/').next().map(super::words::without_format).unwrap_or_default();
    let at_end = words(segment).last().cloned().unwrap_or_default();
    if at_end == plural(&last) && verb == "LIST" {
        all.pop();
        all.push(at_end);
    } else if verb != "LIST" && singular(&last) == last {
        all.insert(1, article(&all[1]).to_owned());
    }
    Some(all.join(" "))
}

/// What an endpoint is for people: the sentence about it, and what else its description says of it.
pub(super) fn description(operation: &Operation<'_>, verb: &str) -> String {
    let mut text = summary(operation, verb);
    let plain = |text: &str| text.trim_end_matches(['.', '!']).to_lowercase();
    for more in sentences(operation.text("description")) {
        let Some(more) = sentence(&more, SENTENCE_CHARS_MAX) else { continue };
        let is_new = !plain(&text).contains(&plain(&imperative(&more))) && says_more(&more, &text);
        if is_new && text.chars().count() + more.chars().count() < SENTENCE_CHARS_MAX {
            text = format!("{text} {more}");
        } else if is_new {
            break;
        }
    }
    text
}

/// Whether a sentence has at least two words of weight that a text does not have.
fn says_more(sentence: &str, text: &str) -> bool {
    const LIGHT: [&str; 8] = ["this", "that", "your", "with", "from", "specified", "specific", "given"];
    let weight = |text: &str| -> BTreeSet<String> {
        let all = words(&imperative(text)).into_iter().filter(|word| word.len() > 3 && !LIGHT.contains(&word.as_str()));
        all.map(|word| singular(&word)).collect()
    };
    weight(sentence).difference(&weight(text)).count() > 1
}

/// What a response says is true afterwards, if it says anything.
fn said(text: &str, reads: bool) -> Option<String> {
    let first = sentences(text).into_iter().next()?;
    let plain = first.trim().trim_end_matches(['.', '!']).to_lowercase();
    // `200 response` and `JSON response` are about HTTP.
    if plain.ends_with(" response") || plain.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if EMPTY_WORDS.contains(&plain.as_str()) || plain.split(' ').count() < 2 {
        return None;
    }
    const EMPTY_STARTS: [&str; 13] = [
        "ok -",
        "ok,",
        "ok.",
        "no error",
        "response",
        "if ",
        "when ",
        "success",
        "the action was",
        "the request",
        "request ",
        "http",
        "status",
    ];
    if EMPTY_STARTS.iter().any(|start| plain.starts_with(start)) || plain.ends_with(" successful") {
        return None;
    }
    let tells = [" is ", " are ", " was ", " were ", " has ", " have ", " been ", " exists ", " will ", " gone "];
    let is_clause = [" that ", " which ", " who "].iter().any(|word| plain.contains(word));
    let is_sentence = !is_clause && tells.iter().any(|verb| format!("{plain} ").contains(verb));
    match verb_of(&imperative(&first)) {
        _ if is_sentence => sentence(&first, SENTENCE_CHARS_MAX),
        Some((_, at)) if reads => got(imperative(&first).get(at..)?),
        None if reads => got(&first),
        _ => None,
    }
}

/// What is true after an intent was carried out: its object is there, gone, or what the verb makes of it.
fn afterwards(intent: &str, reads: bool, catalog: &Catalog) -> Option<String> {
    let (word, at) = verb_of(intent)?;
    let object = object(intent.get(at..)?)?;
    let (is, exists, has) = if is_many(&object) { ("are", "exist", "have") } else { ("is", "exists", "has") };
    let thing = capital(&object);
    let text = match meant(&word, catalog).as_deref().unwrap_or_default() {
        _ if reads && (object.starts_with("whether ") || object.starts_with("if ")) => {
            format!("The caller knows {object}; nothing changed")
        }
        _ if reads => return got(&object),
        "CREATE" => format!("{thing} {exists}"),
        "REMOVE" => format!("{thing} {is} gone"),
        "UPDATE" | "MODIFY" | "EDIT" | "CHANGE" | "SET" => format!("{thing} {has} the values that were sent"),
        "REPLACE" => format!("{thing} {is} as the caller described it"),
        _ => format!("{thing} {is} {}", participle(&word)),
    };
    sentence(&text, SENTENCE_CHARS_MAX)
}

/// Whether an object is many: its noun, before what goes with it, has the ending of a plural.
fn is_many(object: &str) -> bool {
    const JOINING: [&str; 12] =
        ["of", "for", "in", "on", "by", "to", "from", "with", "at", "within", "associated", "belonging"];
    let mut all = object.split(' ');
    let starts = all.clone().next().unwrap_or_default();
    let noun = all.by_ref().take_while(|word| !JOINING.contains(word)).last().unwrap_or_default();
    let ends = noun.ends_with('s') && !["ss", "us", "is", "ms"].iter().any(|end| noun.ends_with(end));
    !matches!(starts, "a" | "an" | "A" | "An") && ends
}

fn got(thing: &str) -> Option<String> {
    let thing = uncapital(thing.trim().trim_end_matches('.'));
    let starts_well = !["for ", "to ", "by ", "with ", "in ", "on "].iter().any(|word| thing.starts_with(word));
    (starts_well && !thing.is_empty() && thing.chars().count() < SENTENCE_CHARS_MAX / 2)
        .then(|| format!("The caller has {thing}; nothing changed."))
}

fn usual(http: &str, reads: bool) -> &'static str {
    match http {
        _ if reads => "The caller has what was asked for; nothing changed.",
        "DELETE" => "What was named is gone.",
        "PUT" => "What was named is as the caller described it.",
        "PATCH" => "What was named has the values that were sent.",
        _ => "The service has taken up what was sent.",
    }
}
