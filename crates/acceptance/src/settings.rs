//! The keys of a file of tests.

use std::collections::BTreeMap;

use forecourt_settings::DocumentedSection;
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::wire::Wire;

/// A file, for the reference and for editors.
pub const DOCUMENTED: DocumentedSection = DocumentedSection {
    section: "tests/*.toml",
    about: "Tests of the deployment, which `forecourt test` runs.",
    schema: || schema_for!(FileSettings),
};

/// A file of tests.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FileSettings {
    /// The tests, in the order in which they are run.
    #[serde(rename = "test")]
    pub tests: Vec<TestSettings>,
}

/// `[[test]]`: what one caller says, and what is expected of the answer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestSettings {
    /// What it is called, once in its file.
    pub name: String,
    /// The agent that is asked, by its handle. Default: the default agent.
    #[serde(default)]
    pub agent: Option<String>,
    /// What is said. Either this or `turn`.
    #[serde(default)]
    pub say: Option<String>,
    /// Who says it. Default: somebody whom nobody knows.
    #[serde(default, rename = "as")]
    pub sender: SenderSettings,
    /// Over which protocol, or several of them one after the other. Default: `rest`.
    #[serde(default)]
    pub over: Wires,
    /// The language to answer in, such as `de`.
    #[serde(default)]
    pub language: Option<String>,
    /// Seconds for the whole test, at most 600. Default: 60.
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
    /// What holds of the answer to `say`.
    #[serde(default)]
    pub expect: Option<Expectation>,
    /// The turns of a conversation, at most 50, in one session.
    #[serde(default, rename = "turn")]
    pub turns: Vec<TurnSettings>,
}

/// `[[test.turn]]`: one turn of a conversation.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnSettings {
    /// What is said.
    pub say: String,
    /// What holds of the answer.
    #[serde(default)]
    pub expect: Expectation,
}

/// `as`: who says it. One of `subject`, `api_key` and `token`, or nothing for somebody whom nobody knows.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SenderSettings {
    /// The `sub` of a person who has signed in: a token is made for them that holds in the test alone.
    pub subject: Option<String>,
    /// Whose token it would be: an `issuer` of `[[identity.bearer]]`. Default: the first of them, or one of the tests'
    /// own.
    pub issuer: Option<String>,
    /// Further claims of that token.
    pub claims: Map<String, Value>,
    /// The name of an API key, which is made for the test.
    pub api_key: Option<String>,
    /// The scopes of that token or key.
    pub scopes: Vec<String>,
    /// A bearer token as it is, best from the environment: `"${STAFF_TOKEN}"`.
    pub token: Option<String>,
}

/// `expect`: what holds of an answer. Where neither `refusal`, `failure` nor `status` says otherwise, an answer or a
/// question is expected.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Expectation {
    /// Words that are in the text, in whatever case.
    pub contains: Texts,
    /// Words that are not.
    pub not_contains: Texts,
    /// Regular expressions that the text matches somewhere.
    pub matches: Texts,
    /// Regular expressions that it does not.
    pub not_matches: Texts,
    /// The kind of a refusal, such as `payment_required`; `any` for each.
    pub refusal: Option<String>,
    /// The code of a failure, such as `agent-failed`; `any` for each.
    pub failure: Option<String>,
    /// The HTTP status. Over `rest` alone.
    pub status: Option<u16>,
    /// It asks back, with these words.
    pub asks: Option<String>,
    /// What is listed.
    pub items: ItemExpectation,
    /// What each listed item keeps, such as `price <= 60`.
    pub limits: Texts,
    /// Calls of tools that are made, in any order. Over `rest` and `a2a`.
    pub calls: Vec<CallExpectation>,
    /// Tools that are not called; `*` for all.
    pub not_called: Texts,
    /// Names of files that come with it.
    pub files: Texts,
    /// What the models behind it cost at most, in the unit of money of their prices.
    pub cost_max: Option<f64>,
    /// A sentence about the answer that a model finds true. Only with `--judge`.
    pub judge: Option<String>,
}

/// `items`: what is listed. Items are meant by their id, URL or name.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ItemExpectation {
    /// At least so many.
    pub at_least: Option<usize>,
    /// At most so many.
    pub at_most: Option<usize>,
    /// The one that stands first.
    pub first: Option<String>,
    /// All of these are among them.
    pub include: Texts,
    /// None of these is.
    pub exclude: Texts,
}

/// A call of a tool.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallExpectation {
    /// The tool.
    pub tool: String,
    /// Arguments that it is called with; it may have others.
    #[serde(default)]
    pub arguments: BTreeMap<String, Value>,
}

/// One text, or a list of several.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "OneOrSeveral<String>")]
#[schemars(with = "OneOrSeveral<String>")]
pub struct Texts(pub Vec<String>);

/// One protocol, or a list of several; `rest` where it is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "OneOrSeveral<String>")]
#[schemars(with = "OneOrSeveral<Wire>")]
pub struct Wires(pub Vec<String>);

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum OneOrSeveral<T> {
    One(T),
    Several(Vec<T>),
}

impl<T> OneOrSeveral<T> {
    fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::Several(all) => all,
        }
    }
}

impl From<OneOrSeveral<String>> for Texts {
    fn from(given: OneOrSeveral<String>) -> Self {
        Self(given.into_vec())
    }
}

impl From<OneOrSeveral<String>> for Wires {
    fn from(given: OneOrSeveral<String>) -> Self {
        Self(given.into_vec())
    }
}
