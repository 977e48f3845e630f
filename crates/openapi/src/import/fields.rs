//! The fields of one input, each under a name of its own.

use serde_json::{Value, json};

use super::dialect::free;
use super::operation::Parameter;
use super::words::{line, snake};
use crate::limits::SENTENCE_CHARS_MAX;

/// One field of the input.
pub(super) struct Field {
    pub(super) ours: String,
    pub(super) schema: Value,
    pub(super) is_required: bool,
    pub(super) description: Option<String>,
}

/// The field of a parameter, or of a place in the path that no parameter declares.
pub(super) fn field(ours: String, parameter: Option<&Parameter<'_>>, is_required: bool) -> Field {
    let schema = parameter.map_or_else(|| json!({ "type": "string" }), |parameter| parameter.schema.clone());
    let description = parameter.and_then(|parameter| parameter.value["description"].as_str());
    Field { ours, schema, is_required, description: description.map(|text| line(text, SENTENCE_CHARS_MAX)) }
}

/// A name that no other field has: the one that is wanted, else with the place it comes from before it.
pub(super) fn name(fields: &[Field], wanted: &str, place: &str) -> String {
    let is_free = |name: &str| fields.iter().all(|field| field.ours != name);
    match is_free(wanted) {
        true => wanted.to_owned(),
        false => free(&format!("{place}_{}", snake(wanted)), is_free),
    }
}

/// A name as models and templates take it: letters, digits and `_`, `-` and `.`. What compares stays a word:
/// `sent<` is `sent_lt`, `user_ids[]` is `user_ids`, `page[size]` is `page_size`.
pub(super) fn plain(theirs: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !theirs.is_empty() && theirs.chars().all(is_plain) {
        return theirs.to_owned();
    }
    let spelled = theirs.replace("<=", "_lte").replace(">=", "_gte").replace('<', "_lt").replace('>', "_gt");
    let mut name = String::with_capacity(spelled.len());
    for c in spelled.chars() {
        match is_plain(c) {
            true => name.push(c),
            false if name.ends_with('_') => {}
            false => name.push('_'),
        }
    }
    let name = name.trim_matches('_');
    if name.is_empty() { "value".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_still_say_what_they_said() {
        for (theirs, ours) in [
            ("petId", "petId"),
            ("user_ids[]", "user_ids"),
            ("page[size]", "page_size"),
            ("DateCreated<", "DateCreated_lt"),
            ("DateCreated>=", "DateCreated_gte"),
            ("Trunking.Sid-1", "Trunking.Sid-1"),
            ("$filter", "filter"),
            ("größe", "gr_e"),
            ("", "value"),
        ] {
            assert_eq!(plain(theirs), ours, "{theirs}");
        }
    }
}
