//! This module has the method policy: which methods of the catalog a host accepts, and under which names. Sections 3.3,
//! 3.6 and 9. It knows no endpoints.

mod build;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value, json};

pub use settings::{MethodPolicySettings, Names, RedirectSettings};

use crate::catalog::{Catalog, EMBEDDED, LEGACY};
use crate::method::Method;
use crate::path::PathError;
use crate::reserved::is_native;

/// Which methods are accepted, and which method each of them stands for. By default all are accepted, each as itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MethodPolicy {
    /// `None`: all.
    allow: Option<BTreeSet<Method>>,
    disallow: BTreeSet<Method>,
    legacy: BTreeSet<Method>,
    aliases: BTreeMap<Method, Method>,
    custom: BTreeSet<Method>,
    redirects: Vec<Redirect>,
}

/// A method that is replaced by another, at every path or at one. Section 9.2.
#[derive(Clone, Debug, PartialEq)]
struct Redirect {
    from_method: Method,
    from_path: Option<String>,
    to_method: Method,
    to_path: Option<String>,
}

/// A method as it goes on, after aliases.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedMethod {
    /// The method that was sent.
    pub requested: Method,
    /// The method that is meant. Differs from `requested` for an alias or a legacy verb.
    pub method: Method,
    /// What a legacy verb adds to the input where the caller said nothing. Section 3.6.
    pub added: Map<String, Value>,
    /// Whether the caller's idempotency key goes into the input, as PUT has it. Section 3.6.
    pub is_keyed: bool,
}

/// A setting that keeps the host from starting. Section 9.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MethodPolicyError {
    /// A name that no method can have.
    #[error("invalid method name `{0}`: 3 to 32 capital letters")]
    Name(String),
    /// A word where a list, or one of the known words, belongs.
    #[error("`{key}` is a list of methods or {words}, not `{found}`")]
    Word {
        /// The key.
        key: &'static str,
        /// What may stand there instead of a list.
        words: &'static str,
        /// What stands there.
        found: String,
    },
    /// A verb under `legacy` that HTTP does not have. Section 9.4.
    #[error("`legacy` takes GET, POST, PUT, DELETE and PATCH, not `{0}`")]
    NotLegacy(String),
    /// An alias that leads to another alias, or to itself. Section 9.2.
    #[error("the alias `{0}` leads to `{1}`, which is an alias itself: name the method that is meant")]
    Chain(Method, Method),
    /// An alias that leads nowhere.
    #[error("the alias `{0}` leads to `{1}`, which is neither in the catalog nor under `custom`")]
    Nowhere(Method, Method),
    /// An alias of what every host answers itself. Section 6.1, tier A.
    #[error("`{0}` is a method that every host answers under its own name: it can't be an alias")]
    Floor(Method),
    /// A redirect with a path that is none.
    #[error("a redirect of `{0}` has an invalid path: {1}")]
    Path(String, PathError),
}

/// A setting without effect, told to the operator. Section 9.4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedSetting {
    /// Where it stands: `allow`, `disallow`, `aliases` or `redirects`.
    pub directive: &'static str,
    /// The method that it names.
    pub method: String,
    /// Why it has no effect.
    pub reason: &'static str,
}

impl fmt::Display for SkippedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` under `{}` {}: it has no effect", self.method, self.directive, self.reason)
    }
}

impl MethodPolicy {
    /// Whether a method is one here: in the catalog, or declared as custom. Section 3.2.
    pub fn knows(&self, method: &Method, catalog: &Catalog) -> bool {
        catalog.verb(method.as_str()).is_some() || self.custom.contains(method)
    }

    /// The methods that only this host has. Section 3.3.
    pub fn custom(&self) -> impl Iterator<Item = &Method> {
        self.custom.iter()
    }

    /// What a method that was sent stands for: an alias in one hop, else itself, else what an
    /// opted-in legacy verb means. `None`: it is no method here.
    pub fn resolve(&self, sent: &str, catalog: &Catalog) -> Option<ResolvedMethod> {
        let requested = Method::parse(sent).ok()?;
        let method = self.aliases.get(&requested).unwrap_or(&requested).clone();
        if self.knows(&method, catalog) {
            return Some(ResolvedMethod { requested, method, added: Map::new(), is_keyed: false });
        }
        let (name, action) = self.legacy.get(&requested).and_then(|verb| reframed(verb.as_str()))?;
        let method = Method::parse(name).ok()?;
        let added = action.map(|action| ("action".to_owned(), Value::from(action))).into_iter().collect();
        let is_keyed = requested.as_str() == "PUT";
        Some(ResolvedMethod { requested, method, added, is_keyed })
    }

    /// Whether calls of this method are let in: neither the word that was sent nor the method that
    /// is meant is disallowed, and the latter is allowed, as the embedded ones always are.
    pub fn admits(&self, requested: &Method, method: &Method) -> bool {
        let refused = self.disallow.contains(requested) || self.disallow.contains(method);
        // `allow` can't shut out what every host must answer (section 3.1).
        let embedded = EMBEDDED.contains(&method.as_str());
        !refused && (embedded || self.allow.as_ref().is_none_or(|allow| allow.contains(method)))
    }

    /// Where a call really goes, by the first redirect that it matches (section 9.2). What every host
    /// answers itself stays where it is (section 6.1).
    pub fn redirect(&self, method: &Method, path: &str) -> Option<(Method, String)> {
        let mut here = self.redirects.iter().filter(|redirect| redirect.applies(path));
        let redirect = here.find(|redirect| redirect.from_method == *method)?;
        Some((redirect.to_method.clone(), redirect.to_path.as_deref().unwrap_or(path).to_owned()))
    }

    /// The redirects at a path, from method to method, for a caller to learn from. Section 11.
    pub fn redirects_for(&self, path: &str) -> BTreeMap<Method, Method> {
        // In reverse, so that the first of two for one method is collected last and stays: `redirect` takes the first,
        // too.
        let here = self.redirects.iter().rev().filter(|redirect| redirect.applies(path));
        here.map(|redirect| (redirect.from_method.clone(), redirect.to_method.clone())).collect()
    }

    /// The policy as manifests show it. Section 9.3.
    pub fn to_json(&self) -> Value {
        let names = |methods: &BTreeSet<Method>| methods.iter().map(Method::to_string).collect::<Vec<_>>();
        let legacy = match self.legacy.len() {
            0 => json!("NONE"),
            all if all == LEGACY.len() => json!("*"),
            _ => json!(names(&self.legacy)),
        };
        json!({
            "allow": self.allow.as_ref().map_or_else(|| json!("*"), |allow| json!(names(allow))),
            "disallow": names(&self.disallow),
            "legacy": legacy,
            "aliases": self.aliases,
            "redirects": self.redirects.iter().map(Redirect::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Redirect {
    fn applies(&self, path: &str) -> bool {
        // A redirect without a path would also match the root, and take the method from the host (6.1).
        self.from_path.as_deref().is_none_or(|from| from == path) && !is_native(&self.from_method, path)
    }

    fn to_json(&self) -> Value {
        let fields = [
            ("from_method", Some(self.from_method.as_str())),
            ("from_path", self.from_path.as_deref()),
            ("to_method", Some(self.to_method.as_str())),
            ("to_path", self.to_path.as_deref()),
        ];
        let present = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), Value::from(value?))));
        Value::Object(present.collect())
    }
}

/// What a legacy verb means where no alias says otherwise: a method, and an action of it. Section 3.6.
fn reframed(verb: &str) -> Option<(&'static str, Option<&'static str>)> {
    match verb {
        "GET" => Some(("QUERY", None)),
        "POST" | "PUT" => Some(("EXECUTE", None)),
        "DELETE" => Some(("EXECUTE", Some("delete"))),
        "PATCH" => Some(("EXECUTE", Some("modify"))),
        _ => None,
    }
}
