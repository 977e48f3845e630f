//! What a document says of an operation in one sentence, and what that sentence is about.

use super::lexicon::{is_noun_too, is_verb, of_deed};
use super::operation::Operation;
use super::prose::{begins_with_verb, capital, imperative, sentences, uncapital};
use super::words::{plural, sentence, words};
use crate::limits::SENTENCE_CHARS_MAX;

/// What the document says of an operation, in a sentence that begins with a verb where one does: its
/// summary, else the start of its description, else a few words of either. `None`: it says nothing.
pub(super) fn headline(operation: &Operation<'_>) -> Option<String> {
    let from = |text: &str| sentences(text).into_iter().map(|sentence| imperative(&sentence)).collect::<Vec<_>>();
    let (mut summary, mut description) = (from(operation.text("summary")), from(operation.text("description")));
    // A summary that is the name of a function comes after what people wrote, and is read as its words.
    let named = words(operation.text("summary").trim_end_matches("()"));
    if !operation.text("summary").contains(' ') && named.len() > 1 {
        summary.clear();
        description.extend(from(&without_by(named).join(" ")));
    }
    let turned = summary.first().and_then(|sentence| of_noun(sentence));
    let mut commands = summary.iter().take(1).chain(turned.iter()).chain(description.iter().take(4));
    let mut few = summary.iter().take(1).chain(description.iter().take(1));
    let found = turned
        .as_ref()
        .or_else(|| commands.find(|sentence| begins_with_verb(sentence)))
        .or_else(|| few.find(|sentence| is_name(sentence)))?;
    sentence(found, SENTENCE_CHARS_MAX)
}

/// `Project list` is `List project`, and `Disk Resize` is `Resize disk`. `None`: its last word is no deed.
fn of_noun(name: &str) -> Option<String> {
    let all: Vec<&str> = name.trim_end_matches('.').split(' ').collect();
    let (last, before) = all.split_last().filter(|(_, before)| (1..4).contains(&before.len()))?;
    let (last, first) = (last.to_lowercase(), before[0].to_lowercase());
    let is_title = all.iter().all(|word| word.starts_with(|c: char| c.is_uppercase()));
    let begins = is_verb(&first) && !is_noun_too(&first);
    // `Login View` is a view, `Get Trigger` gets one.
    let is_view = last == "view" && first == "login";
    let is_named = is_title && is_verb(&last) && !is_noun_too(&last) && !begins || is_view;
    let verb = match of_deed(&last) {
        Some(verb) if !begins || first == "login" => verb,
        None if is_named => &last,
        _ => return None,
    };
    let thing = before.join(" ");
    let thing = if verb == "list" && !thing.ends_with('s') { plural(&thing) } else { thing };
    Some(format!("{} {}", capital(verb), uncapital(&thing)))
}

/// Whether a text is a name and no sentence: a few words, none of which says that something is.
fn is_name(text: &str) -> bool {
    const TELLING: [&str; 14] =
        ["is", "are", "was", "were", "will", "can", "must", "has", "have", "be", "you", "when", "if", "should"];
    let all: Vec<String> = text.split(' ').map(str::to_lowercase).collect();
    all.len() <= 8 && !all.iter().any(|word| TELLING.contains(&word.as_str()))
}

/// The words of the name of a function without what it is told: `getRoomById` gets a room.
pub(super) fn without_by(mut all: Vec<String>) -> Vec<String> {
    all.truncate(all.iter().position(|word| word == "by").filter(|at| *at > 1).unwrap_or(all.len()));
    all
}

/// The object of a command, without what goes with it. `None`: there is none that can be told.
pub(super) fn object(rest: &str) -> Option<String> {
    const ENDS: [&str; 22] = [
        ", ",
        "; ",
        " (",
        ": ",
        " using ",
        " with the following",
        " with the specified",
        " with the given",
        " with the provided",
        " with the new",
        " by ",
        " when ",
        " if ",
        " based on ",
        " used to ",
        " specified by ",
        " identified by ",
        " and ",
        " or ",
        " via ",
        " so that ",
        " which ",
    ];
    const STARTS: [&str; 11] = ["for", "to", "by", "with", "in", "on", "from", "of", "or", "and", "out"];
    let end = ENDS.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    let object = rest[..end].trim().trim_end_matches('.').to_owned();
    let is_cut = object.rsplit(' ').next().is_some_and(|last| STARTS.contains(&last));
    let first = object.split(' ').next().unwrap_or_default();
    if object.is_empty() || is_cut || STARTS.contains(&first) || object.chars().count() > SENTENCE_CHARS_MAX / 2 {
        return None;
    }
    let the = ["a specific ", "a specified ", "an existing ", "a single ", "a given "];
    let named = the.iter().find_map(|start| object.strip_prefix(start).map(|rest| format!("the {rest}")));
    Some(named.unwrap_or(object))
}
