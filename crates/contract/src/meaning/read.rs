//! This module reads the file of corrections, and gives every problem its line.

use std::collections::BTreeMap;

use forecourt_settings::{Problems, Section};
use serde::Deserialize;

use super::settings::MeaningSettings;
use super::{Correction, Meanings};
use crate::limits::{CORRECTIONS_MAX, RESULT_MEMBERS_MAX};
use crate::method::Method;

/// The keys of the file beside `[[meaning]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rest {
    #[serde(default)]
    nouns: BTreeMap<String, String>,
}

/// Reads a file of corrections: those that are fine, and every problem of the others.
pub fn read(mut file: Section) -> (Meanings, Problems) {
    let mut problems = Problems::new();
    let sections = file.take_list("meaning");
    let nouns = problems.absorb(file.read::<Rest>()).map(|rest| rest.nouns).unwrap_or_default();
    if sections.len() + nouns.len() > CORRECTIONS_MAX {
        problems.push(file.problem(None, format!("a host has at most {CORRECTIONS_MAX} corrections of meanings")));
        return (Meanings::default(), problems);
    }
    let mut members = Vec::new();
    for section in &sections {
        let Some(settings) = problems.absorb(section.read::<MeaningSettings>()) else { continue };
        let correction = correction(settings).map_err(|(key, message)| section.problem(Some(key), message));
        members.extend(problems.absorb::<Correction>(correction));
    }
    let mut kept = BTreeMap::new();
    for (word, entity) in nouns {
        match is_word(&word) && is_word(&entity) {
            true => drop(kept.insert(word, entity)),
            false => problems.push(file.problem(
                Some("nouns"),
                format!(
                    "meanings-bad-noun: `{word} = \"{entity}\"`: both are nouns in the singular, of letters and `_`"
                ),
            )),
        }
    }
    (Meanings { members, nouns: kept }, problems)
}

fn correction(settings: MeaningSettings) -> Result<Correction, (&'static str, String)> {
    let MeaningSettings { endpoint, member, meaning } = settings;
    let endpoint = endpoint.map(|endpoint| {
        let pair = endpoint.split_once(' ').and_then(|(method, path)| Some((Method::parse(method).ok()?, path.trim())));
        let pair = pair.filter(|(_, path)| path.starts_with('/')).map(|(method, path)| (method, path.to_owned()));
        pair.ok_or(("endpoint", "meanings-bad-endpoint: write it as `FETCH /orders/{order_id}`".to_owned()))
    });
    let member: Vec<String> = member.split('.').map(str::to_owned).collect();
    let is_led_to = matches!(member.first().map(String::as_str), Some("input" | "output"))
        && (2..=RESULT_MEMBERS_MAX + 1).contains(&member.len())
        && member.iter().all(|name| !name.is_empty());
    if !is_led_to {
        let message = "meanings-bad-member: write it as `output.contact`, or `output.orders.*.contact` in a list";
        return Err(("member", message.to_owned()));
    }
    let is_meaning = meaning.split_once('.').is_some_and(|(entity, property)| is_word(entity) && is_word(property));
    match is_meaning {
        true => Ok(Correction { endpoint: endpoint.transpose()?, member, meaning }),
        false => {
            let message = "meanings-bad-meaning: write it as an entity and a property, such as `customer.email`";
            Err(("is", message.to_owned()))
        }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn file(text: &str) -> (Meanings, Vec<String>) {
        let section = Section::parse(Path::new("meanings.toml"), text, &|_: &str| None).unwrap();
        let (meanings, problems) = read(section);
        (meanings, problems.iter().map(|problem| problem.message().to_owned()).collect())
    }

    #[test]
    fn each_mistake_is_named_and_the_rest_is_kept() {
        let (meanings, problems) = file(
            "[[meaning]]\nmember = \"output.contact\"\nis = \"carrier.phone\"\n\
             [[meaning]]\nmember = \"contact\"\nis = \"carrier.phone\"\n\
             [[meaning]]\nmember = \"input.contact\"\nis = \"phone\"\n\
             [[meaning]]\nendpoint = \"/orders\"\nmember = \"input.contact\"\nis = \"a.b\"\n\
             [nouns]\npurchase = \"order\"\n\"Big word\" = \"order\"\n",
        );
        let tags: Vec<&str> = problems.iter().filter_map(|message| message.split(':').next()).collect();
        assert_eq!(tags, ["meanings-bad-member", "meanings-bad-meaning", "meanings-bad-endpoint", "meanings-bad-noun"]);
        assert_eq!((meanings.members.len(), meanings.nouns().len()), (1, 1));
    }

    #[test]
    fn corrections_have_a_bound() {
        let nouns = |count: usize| {
            let lines: Vec<String> = (0..count).map(|at| format!("w{at} = \"order\"")).collect();
            file(&format!("[nouns]\n{}\n", lines.join("\n")))
        };
        assert_eq!(nouns(CORRECTIONS_MAX).1, [""; 0]);
        let (meanings, problems) = nouns(CORRECTIONS_MAX + 1);
        assert!(meanings.nouns().is_empty() && problems[0].contains(&CORRECTIONS_MAX.to_string()), "{problems:?}");
    }
}
