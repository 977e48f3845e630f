//! The switches of the operator, and which methods are let in. AGTP-API 8.7 and 9.2.

use forecourt_contract::Method;
use forecourt_contract::catalog::LEGACY;
use serde_json::Value;

use super::FindingList;
use super::fields::Fields;

/// The switches that are on or off.
const SWITCHES: [&str; 4] =
    ["wildcards_accepted", "anonymous_discovery", "scope_required_for_invocation", "synthesis_enabled"];

pub(super) fn judge(fields: &Fields<'_>, found: &mut FindingList) {
    let Some(policies) = fields.object("policies", "8.7", found) else { return };
    for name in SWITCHES.into_iter().filter(|name| policies.get(name).and_then(Value::as_bool).is_none()) {
        found.wrong("8.7", &policies.at(name), format!("`{name}` must be true or false"));
    }
    if policies.get("max_synthesis_depth").and_then(Value::as_u64).is_none_or(|depth| depth == 0) {
        found.wrong("8.7", &policies.at("max_synthesis_depth"), "the depth is a positive integer");
    }
    if policies.given("methods").is_some()
        && let Some(methods) = policies.object("methods", "9.2", found)
    {
        method_policy(&methods, found);
    }
}

fn method_policy(methods: &Fields<'_>, found: &mut FindingList) {
    names(methods, "allow", &["*"], found);
    names(methods, "disallow", &[], found);
    for verb in names(methods, "legacy", &["*", "NONE"], found).into_iter().filter(|verb| !LEGACY.contains(verb)) {
        found.wrong("9.4", &methods.at("legacy"), format!("`{verb}` is none of {}", LEGACY.join(", ")));
    }
    if methods.given("aliases").is_some()
        && let Some(aliases) = methods.object("aliases", "9.2", found)
    {
        self::aliases(&aliases, found);
    }
    for (at, redirect) in methods.optional_list("redirects", "9.2", found).iter().enumerate() {
        let redirect = Fields::new(redirect, format!("{}/{at}", methods.at("redirects")));
        for name in ["from_method", "to_method"] {
            let method = redirect.text(name, "9.2", found);
            is_method(method, &redirect.at(name), found);
        }
        for name in ["from_path", "to_path"] {
            redirect.text_or_null(name, "9.2", found);
        }
    }
}

/// A list of methods, or one of the words that stand for many.
fn names<'a>(methods: &Fields<'a>, name: &str, words: &[&str], found: &mut FindingList) -> Vec<&'a str> {
    if methods.get(name).and_then(Value::as_str).is_some_and(|word| words.contains(&word)) {
        return Vec::new();
    }
    let names = methods.texts(name, "9.2", found);
    names.iter().for_each(|method| is_method(Some(method), &methods.at(name), found));
    names
}

/// One hop each, and none to another.
fn aliases(aliases: &Fields<'_>, found: &mut FindingList) {
    for (alias, method) in aliases.members() {
        let method = method.as_str();
        is_method(method.or(Some("")), &aliases.at(alias), found);
        if method.is_some_and(|method| aliases.get(method).is_some()) {
            found.wrong("9.2", &aliases.at(alias), "an alias must stand for a method, not for another alias");
        }
    }
}

fn is_method(text: Option<&str>, at: &str, found: &mut FindingList) {
    if text.is_some_and(|text| Method::parse(text).is_err()) {
        found.wrong("3.2", at, "a method is 3 to 32 capital letters");
    }
}
