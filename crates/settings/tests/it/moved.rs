//! Keys under the names that they had: taken, told with file and line, and rewritten in place.

use std::path::Path;

use forecourt_settings::{KeyMove, MovedKey, Problems, Section, rewrite};
use proptest::prelude::*;
use serde::Deserialize;

const MOVED: &[MovedKey] = &[
    MovedKey { old: "wire.catalog", new: "endpoints.catalog" },
    MovedKey { old: "wire.policies.methods", new: "endpoints.methods" },
    MovedKey { old: "wire.patience", new: "wire.wait_max" },
    MovedKey { old: "wire.sharpen", new: "wire.rerank" },
];

const OLD: &str = r#"# The place.
domain = "demo.localhost"

[wire]
# How long to wait.
patience = 8   # seconds
# Where methods come from.
catalog = "methods.json"
on = true

[wire.sharpen]
model = "m" # small

[wire.policies.methods]
default = "allow" # all of them

[log]
level = "info"
"#;

const NEW: &str = r#"# The place.
domain = "demo.localhost"

[wire]
# How long to wait.
wait_max = 8   # seconds
on = true

[wire.rerank]
model = "m" # small

[endpoints.methods]
default = "allow" # all of them

[log]
level = "info"

[endpoints]
# Where methods come from.
catalog = "methods.json"
"#;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Endpoints {
    catalog: String,
    methods: Methods,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Methods {
    default: String,
}

fn parse(text: &str) -> Section {
    Section::parse(Path::new("forecourt.toml"), text, &|_: &str| None).unwrap()
}

fn accepted(text: &str) -> Section {
    let mut root = parse(text);
    root.accept_moved(MOVED);
    root
}

fn told(moves: &[KeyMove]) -> Vec<String> {
    moves.iter().map(ToString::to_string).collect()
}

#[test]
fn old_names_mean_what_new_ones_do() {
    let mut root = accepted(OLD);
    let endpoints: Endpoints = root.take("endpoints").unwrap().read().unwrap();
    let expected = Endpoints { catalog: "methods.json".into(), methods: Methods { default: "allow".into() } };
    assert_eq!(endpoints, expected);
    let wire = root.take("wire").unwrap();
    assert!(wire.has("wait_max") && wire.has("rerank") && !wire.has("patience") && !wire.has("catalog"));
}

#[test]
fn each_is_told_once_with_its_file_its_line_and_its_new_name() {
    let mut root = accepted(OLD);
    root.clone().accept_moved(MOVED);
    root.accept_moved(MOVED);
    let told = told(&root.moved_keys());
    assert_eq!(told.len(), 4, "{told:?}");
    assert_eq!(
        told[0],
        "forecourt.toml:6: `wire.patience` is now `wire.wait_max`; `forecourt check --fix` rewrites it"
    );
    assert!(told[1].starts_with("forecourt.toml:8: `wire.catalog` is now `endpoints.catalog`"), "{told:?}");
    assert_eq!(root.moved_keys()[2].line(), 11);
    assert!(accepted(NEW).moved_keys().is_empty());
}

#[test]
fn a_file_is_rewritten_with_its_comments_and_its_order() {
    let rewritten = rewrite(OLD, &accepted(OLD).moved_keys()).unwrap();
    assert_eq!(rewritten, NEW);
    assert_eq!(rewrite(NEW, &accepted(NEW).moved_keys()).unwrap(), NEW);
}

#[test]
fn what_is_wrong_with_a_moved_value_is_told_at_its_own_line() {
    let mut root = accepted("[wire]\n\ncatalog = 7\n");
    let wrong: Problems = root.take("endpoints").unwrap().read::<Endpoints>().unwrap_err();
    assert_eq!(wrong.iter().next().unwrap().line(), Some(3), "{wrong}");
}

#[test]
fn a_key_by_both_names_is_refused_at_the_old_one() {
    let text = "[wire]\npatience = 1\nwait_max = 2\n";
    let mut root = accepted(text);
    assert!(root.moved_keys().is_empty());
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Wire {
        wait_max: u64,
    }
    let wrong = root.take("wire").unwrap().read::<Wire>().unwrap_err();
    let problem = wrong.iter().next().unwrap();
    assert_eq!(problem.line(), Some(2));
    assert_eq!(problem.next_step(), Some("it is now `wire.wait_max`, which is there too: remove the old one"));
}

#[test]
fn sections_of_their_own_owner_and_items_of_lists_are_rewritten_too() {
    const RENAMED: &[MovedKey] = &[MovedKey { old: "noun", new: "item_label" }];
    let text = "[backend]\nkind = \"search\"\nnoun = \"dish\" # one\n\n[[backend.site]]\nnoun = \"page\"\n\n\
                [[backend.site]]\nurl = \"u\"\nnoun = \"post\"\n";
    let mut root = parse(text);
    let mut backend = root.take("backend").unwrap();
    backend.accept_moved(RENAMED);
    backend.take_list("site").iter_mut().for_each(|site| site.accept_moved(RENAMED));
    assert_eq!(root.moved_keys().len(), 3);
    assert_eq!(rewrite(text, &root.moved_keys()).unwrap(), text.replace("noun", "item_label"));
    let inline = "backend = { kind = \"search\", noun = \"dish\" }\n";
    let mut root = parse(inline);
    root.take("backend").unwrap().accept_moved(RENAMED);
    assert_eq!(rewrite(inline, &root.moved_keys()).unwrap(), inline.replace("noun", "item_label"));
}

#[test]
fn a_table_between_braces_gives_its_keys_away() {
    let text = "wire = { on = true, catalog = \"c\" }\n";
    let rewritten = rewrite(text, &accepted(text).moved_keys()).unwrap();
    assert_eq!(parse(&rewritten).take("endpoints").unwrap().text("catalog"), Some("c"));
    assert!(accepted(&rewritten).moved_keys().is_empty(), "{rewritten}");
}

proptest! {
    /// Whatever the file holds, its new text says what the old one was taken for.
    #[test]
    fn a_rewritten_file_means_the_same(
        keys in prop::collection::vec(("(wire|endpoints|log)", "(patience|wait_max|catalog|on|x)", 0_i64..9), 0..8)
    ) {
        let mut text = String::new();
        for section in ["wire", "endpoints", "log"] {
            let mut seen = std::collections::BTreeSet::new();
            text.push_str(&format!("# about {section}\n[{section}]\n"));
            for (_, key, value) in keys.iter().filter(|(of, key, _)| of == section && seen.insert(key.clone())) {
                text.push_str(&format!("{key} = {value} # why\n"));
            }
        }
        let old = accepted(&text);
        let new = accepted(&rewrite(&text, &old.moved_keys()).unwrap());
        prop_assert!(new.moved_keys().is_empty());
        let values = |root: &Section| root.read::<serde_json::Value>().unwrap();
        prop_assert_eq!(values(&old), values(&new));
    }
}
