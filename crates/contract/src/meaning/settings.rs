//! The corrections as they stand in `meanings.toml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// The whole file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MeaningsFile {
    /// Members that mean something else than is inferred.
    pub meaning: Vec<MeaningSettings>,
    /// Other words for entities, in the singular: `purchase = "order"`.
    pub nouns: BTreeMap<String, String>,
}

/// One entry of `meaning`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeaningSettings {
    /// The endpoint, such as `FETCH /orders/{order_id}`; every one when left out.
    pub endpoint: Option<String>,
    /// The member: `input.contact` or `output.contact`; inside lists `output.orders.*.contact`.
    pub member: String,
    /// What it means, as entity and property: `customer.email`.
    #[serde(rename = "is")]
    pub meaning: String,
}
