//! What comes near a pair that can't be had: registered endpoints, as everybody may see them. Section 10.3, 5b.

use std::collections::BTreeSet;

use forecourt_contract::{Dispatcher, Endpoint, Semantic};
use serde_json::Value;

use crate::limits::{COUNTER_LOOKED_AT_MAX, COUNTER_PROPOSALS_MAX};

/// Letters that a word has at least to say something.
const WORD_CHARS_MIN: usize = 4;
/// Words that say nothing of what an endpoint is about.
const EMPTY_WORDS: [&str; 12] =
    ["that", "this", "with", "from", "into", "given", "named", "returned", "returns", "their", "which", "what"];

/// Up to [`COUNTER_PROPOSALS_MAX`] endpoints near a pair, the nearest first: those of its path, then those whose
/// method, words and capability are most like it. Those whose method the operator refuses are left out, since no call of
/// them would pass. `None`: nothing is like it.
pub(crate) fn counter_proposal(
    dispatcher: &Dispatcher,
    method: &str,
    path: &str,
    semantic: Option<&Semantic>,
) -> Option<Value> {
    let wanted = NearbyQuery {
        method,
        path,
        capability: semantic.map(|semantic| semantic.capability.as_str()),
        words: {
            let mut words = words(path);
            words.extend(semantic.iter().flat_map(|semantic| words_of(semantic)));
            words
        },
    };
    let is_admitted = |endpoint: &Endpoint| dispatcher.policy.admits(&endpoint.method, &endpoint.method);
    let registered = dispatcher.registry.iter().take(COUNTER_LOOKED_AT_MAX);
    let registered = registered.filter(|registered| is_admitted(&registered.endpoint));
    let mut near: Vec<(u32, &Endpoint)> = registered
        .filter_map(|registered| {
            let nearness = wanted.nearness(&registered.endpoint);
            (nearness > 0).then_some((nearness, &*registered.endpoint))
        })
        .collect();
    // The order of the registry decides between equals.
    near.sort_by_key(|(nearness, _)| std::cmp::Reverse(*nearness));
    let shown: Vec<Value> =
        near.into_iter().take(COUNTER_PROPOSALS_MAX).map(|(_, endpoint)| endpoint.projection()).collect();
    (!shown.is_empty()).then_some(Value::Array(shown))
}

struct NearbyQuery<'a> {
    method: &'a str,
    path: &'a str,
    capability: Option<&'a str>,
    words: BTreeSet<String>,
}

impl NearbyQuery<'_> {
    /// How near an endpoint comes; 0 when it has nothing in common but its kind.
    fn nearness(&self, endpoint: &Endpoint) -> u32 {
        let is_same_path = endpoint.path.as_str() == self.path;
        let is_same_method = endpoint.method.as_str() == self.method;
        let mut own = words(endpoint.path.as_str());
        own.extend(words_of(&endpoint.semantic));
        // Fifty words come to as much as the same path: with a bound, no flood of words in a proposal outweighs it.
        let common = u32::try_from(self.words.intersection(&own).count()).unwrap_or(u32::MAX).min(50);
        if !is_same_path && !is_same_method && common == 0 {
            return 0;
        }
        let is_alike = self.capability.is_some_and(|capability| capability == endpoint.semantic.capability);
        let is_going = endpoint.deprecated.is_some();
        let nearness = 1000 * u32::from(is_same_path) + 40 * u32::from(is_same_method) + 20 * common;
        (nearness + 10 * u32::from(is_alike)).saturating_sub(5 * u32::from(is_going))
    }
}

pub(crate) fn words_of(semantic: &Semantic) -> BTreeSet<String> {
    words(&semantic.intent)
}

/// The words of a text, in lower case and without the endings of plurals.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() >= WORD_CHARS_MIN && !EMPTY_WORDS.contains(&word.as_str()))
        .map(|word| word.strip_suffix('s').map_or(word.clone(), str::to_owned))
        .collect()
}
