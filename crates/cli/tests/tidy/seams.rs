//! What crates wait for of each other is boxed where it is written: the body of an `async fn`, and whatever it awaits,
//! is compiled once more in every crate that polls it.

use std::collections::BTreeSet;
use std::fs;

use regex::Regex;

use super::{files, root, shown};

/// The public functions that still hand out a bare future or stream, by crate and name, and why that costs no other
/// crate a body. It may only shrink.
const BARE: &[(&str, &str, &str)] = &[
    ("completions", "next_piece", "a `poll_fn` around one function that is compiled in its crate"),
    ("completions", "next_text", "a `poll_fn` around one function that is compiled in its crate"),
    ("contract", "dispatch_to", "`host` alone polls it, within the one future that it makes of a call"),
    ("email", "speak", "generic over what it speaks on, and polled in its own crate alone"),
    ("host", "invoke_to", "the thin outside of a boxed inside: what is left is the caller's own future"),
    ("server", "carry", "the caller's own future, with a span around it"),
];

#[test]
fn what_crates_await_of_each_other_is_boxed() {
    let bare = Regex::new(r"(?m)^\s*pub (?:async fn (\w+)|fn (\w+)\b[^{;]*-> impl (?:Future|Stream)\b)").unwrap();
    let crate_of = |file: &str| file.split('/').nth(1).unwrap_or_default().to_owned();
    let mut found = BTreeSet::new();
    let mut wrong = Vec::new();
    for path in files("crates", "rs") {
        let file = shown(&path);
        let is_test = crate_of(&file).starts_with("test") || !file.contains("/src/") || file.contains("/tests");
        if is_test {
            continue;
        }
        let text = fs::read_to_string(root().join(&path)).unwrap();
        for name in bare.captures_iter(&text).filter_map(|found| found.get(1).or_else(|| found.get(2))) {
            let (owner, name) = (crate_of(&file), name.as_str().to_owned());
            if !BARE.iter().any(|(left, function, _)| *left == owner && *function == name) {
                wrong.push(format!(
                    "{file}: `{name}` would be compiled again in every crate that awaits it. Return a `BoxFuture` \
                     (`Box::pin(async move {{ .. }})`), or a `MaybeBoxed` where most callers have nothing to wait for; \
                     where no other crate awaits it, it is `pub(crate)`"
                ));
            }
            found.insert((owner, name));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let is_gone = |entry: &&(&str, &str, &str)| !found.contains(&(entry.0.to_owned(), entry.1.to_owned()));
    let gone: Vec<_> = BARE.iter().filter(is_gone).collect();
    assert!(gone.is_empty(), "take these from the list, so that it only shrinks: {gone:?}");
}
