//! The reference of settings: every key with its type, default and meaning.
#![allow(dead_code, reason = "only their shapes are read")]

use forecourt_settings::{DocumentedSection, document};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

/// Limits of the host.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Limits {
    /// Requests a second,
    /// for each caller.
    rate: f64,
    /// Buckets.
    per_address: Bucket,
    undescribed: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default)]
struct Bucket {
    /// Requests at once | in a row.
    burst: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Backend {
    /// Answers with the question.
    Echo,
    /// Asks a process.
    Command {
        /// The program.
        program: String,
        /// Its rules.
        rules: Vec<Bucket>,
    },
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { rate: 50.0, per_address: Bucket::default(), undescribed: None }
    }
}

impl Default for Bucket {
    fn default() -> Bucket {
        Bucket { burst: 200 }
    }
}

const SECTIONS: [DocumentedSection; 2] = [
    DocumentedSection {
        section: "forecourt.toml [limits]",
        about: "How much is too much.",
        schema: || schema_for!(Limits),
    },
    DocumentedSection { section: "agents/*.toml [backend]", about: "Who answers.", schema: || schema_for!(Backend) },
];

#[test]
fn every_key_is_in_the_tables_with_type_default_and_meaning() {
    let page = document(&SECTIONS).markdown();
    for row in [
        "## forecourt.toml [limits]\n\nHow much is too much.\n",
        "| `rate` | float | `50.0` | Requests a second, for each caller. |",
        "| `per_address` | table | `{ burst = 200 }` | Buckets. |",
        "| `per_address.burst` | integer | `200` | Requests at once \\| in a row. |",
        "| `undescribed` | string |  |  |",
        "| `kind` | \"echo\" or \"command\" | required | `\"echo\"`: Answers with the question; `\"command\"`: Asks a process |",
        "| `program` | string | required | The program. |",
        "| `rules` | list of table | required | Its rules. |",
        "| `rules[].burst` | integer | `200` |",
    ] {
        assert!(page.contains(row), "{row}\nis not in\n{page}");
    }
}

#[test]
fn undocumented_keys_are_listed() {
    let missing = document(&SECTIONS).undocumented();
    assert_eq!(missing, ["forecourt.toml [limits]: undescribed"]);
}

#[test]
fn a_schema_that_holds_itself_ends() {
    #[derive(Deserialize, JsonSchema)]
    struct Tree {
        /// Below.
        children: Vec<Tree>,
    }
    let reference = document(&[DocumentedSection { section: "tree", about: "", schema: || schema_for!(Tree) }]);
    let keys: usize = reference.sections().map(|(_, keys)| keys.len()).sum();
    assert!(keys < 20, "{}", reference.markdown());
}
