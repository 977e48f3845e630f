//! The method policy as it stands in the settings. Section 9.2.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalog::{Catalog, LEGACY, PolicyUse};

/// The table `policies.methods`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MethodPolicySettings {
    /// `"*"`, or the methods that are let in beside the eighteen that every host answers.
    pub allow: Names,
    /// Methods that are refused, whatever `allow` says. Tested on the word that was sent and on the
    /// method that it stands for.
    pub disallow: Vec<String>,
    /// `"NONE"`, `"*"`, or those of GET, POST, PUT, DELETE and PATCH that are understood where no
    /// alias says what they mean.
    pub legacy: Names,
    /// Words and the method that each stands for; an empty table turns the five of HTTP off.
    pub aliases: BTreeMap<String, String>,
    /// Methods of this host alone, beyond the catalog.
    pub custom: Vec<String>,
    /// Calls that are taken for others.
    pub redirects: Vec<RedirectSettings>,
}

/// A word, or a list of methods.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Names {
    /// One of the known words.
    Word(String),
    /// Methods by name.
    List(Vec<String>),
}

/// One entry of `policies.methods.redirects`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedirectSettings {
    /// The method that is called.
    pub from_method: String,
    /// The path at which it is; every path when left out.
    pub from_path: Option<String>,
    /// The method that is meant.
    pub to_method: String,
    /// The path that is meant; the same when left out.
    pub to_path: Option<String>,
}

impl MethodPolicySettings {
    /// Every verb of a catalog that is named, for finding out what a newer catalog would break.
    /// Section 4.7.
    pub fn uses(&self, file: &str) -> Vec<PolicyUse> {
        let allow = if let Names::List(names) = &self.allow { names.as_slice() } else { &[] };
        let redirects = self.redirects.iter().flat_map(|redirect| [&redirect.from_method, &redirect.to_method]);
        let named = allow.iter().map(|verb| ("allow", verb));
        let named = named.chain(self.disallow.iter().map(|verb| ("disallow", verb)));
        let named = named.chain(self.aliases.values().map(|verb| ("aliases", verb)));
        let named = named.chain(redirects.map(|verb| ("redirects", verb)));
        let of = |(directive, verb): (&str, &String)| PolicyUse {
            file: file.to_owned(),
            directive: directive.to_owned(),
            verb: verb.clone(),
        };
        named.map(of).collect()
    }
}

impl Default for MethodPolicySettings {
    /// Everything is let in, and the verbs of HTTP stand for the methods that say the same.
    fn default() -> MethodPolicySettings {
        let catalog = Catalog::shipped();
        let preferred = |name: &str| catalog.legacy(name).map(|verb| (name.to_owned(), verb.preferred.clone()));
        MethodPolicySettings {
            allow: Names::Word("*".to_owned()),
            disallow: Vec::new(),
            legacy: Names::Word("NONE".to_owned()),
            aliases: LEGACY.into_iter().filter_map(preferred).collect(),
            custom: Vec::new(),
            redirects: Vec::new(),
        }
    }
}
