//! This module builds the method policy from settings. It reports what keeps the host from starting, and what is
//! skipped. Section 9.4.

use std::collections::{BTreeMap, BTreeSet};

use super::settings::{MethodPolicySettings, Names, RedirectSettings};
use super::{MethodPolicy, MethodPolicyError, Redirect, SkippedSetting};
use crate::catalog::{Catalog, EMBEDDED, LEGACY};
use crate::method::Method;
use crate::path::RequestPath;
use crate::reserved::is_native;

const NOT_KNOWN: &str = "is neither in the catalog nor under `custom`";
const LEADS_NOWHERE: &str = "leads to a method that the catalog does not have";
const ALWAYS_ANSWERED: &str = "is answered by every host and can't be disallowed";
const ALWAYS_ANSWERED_THERE: &str = "is answered by every host there and can't be led elsewhere";

impl MethodPolicy {
    /// Builds the policy. Entries about methods that the catalog no longer has are skipped, so that
    /// a catalog can be upgraded first (section 9.4).
    ///
    /// # Errors
    /// Every setting that must be put right before the host may start.
    pub fn new(
        settings: &MethodPolicySettings,
        catalog: &Catalog,
    ) -> Result<(Self, Vec<SkippedSetting>), Vec<MethodPolicyError>> {
        let (custom, aliases) = (BTreeSet::new(), BTreeMap::new());
        let mut build = Build { catalog, custom, aliases, faults: Vec::new(), skipped: Vec::new() };
        // First these two, in this order: everything below asks whether a method is custom, or an alias.
        build.custom = build.all(&settings.custom).into_iter().collect();
        build.aliases = build.aliases(&settings.aliases);
        let policy = MethodPolicy {
            allow: build.allow(&settings.allow),
            disallow: build.disallow(&settings.disallow),
            legacy: build.legacy(&settings.legacy),
            redirects: settings.redirects.iter().filter_map(|redirect| build.redirect(redirect)).collect(),
            custom: build.custom,
            aliases: build.aliases,
        };
        if build.faults.is_empty() { Ok((policy, build.skipped)) } else { Err(build.faults) }
    }
}

/// Reads settings, noting what is wrong and what has no effect.
struct Build<'a> {
    catalog: &'a Catalog,
    custom: BTreeSet<Method>,
    aliases: BTreeMap<Method, Method>,
    faults: Vec<MethodPolicyError>,
    skipped: Vec<SkippedSetting>,
}

impl Build<'_> {
    fn method(&mut self, name: &str) -> Option<Method> {
        Method::parse(name).map_err(|_| self.faults.push(MethodPolicyError::Name(name.to_owned()))).ok()
    }

    fn all(&mut self, names: &[String]) -> Vec<Method> {
        names.iter().filter_map(|name| self.method(name)).collect()
    }

    fn knows(&self, method: &Method) -> bool {
        self.catalog.verb(method.as_str()).is_some() || self.custom.contains(method)
    }

    fn skip(&mut self, directive: &'static str, method: &Method, reason: &'static str) {
        self.skipped.push(SkippedSetting { directive, method: method.to_string(), reason });
    }

    fn allow(&mut self, names: &Names) -> Option<BTreeSet<Method>> {
        let names = match names {
            Names::Word(word) if word == "*" => return None,
            Names::Word(word) => {
                self.faults.push(MethodPolicyError::Word { key: "allow", words: "\"*\"", found: word.clone() });
                return None;
            }
            Names::List(names) if names.iter().any(|name| name == "*") => return None,
            Names::List(names) => names,
        };
        let (known, unknown): (Vec<_>, Vec<_>) = self.all(names).into_iter().partition(|method| self.knows(method));
        unknown.iter().for_each(|method| self.skip("allow", method, NOT_KNOWN));
        Some(known.into_iter().collect())
    }

    fn disallow(&mut self, names: &[String]) -> BTreeSet<Method> {
        let mut kept = BTreeSet::new();
        for method in self.all(names) {
            let is_word = LEGACY.contains(&method.as_str()) || self.aliases.contains_key(&method);
            match method.as_str() {
                name if EMBEDDED.contains(&name) => self.skip("disallow", &method, ALWAYS_ANSWERED),
                _ if is_word || self.knows(&method) => drop(kept.insert(method)),
                _ => self.skip("disallow", &method, NOT_KNOWN),
            }
        }
        kept
    }

    fn legacy(&mut self, names: &Names) -> BTreeSet<Method> {
        let names = match names {
            Names::Word(word) if word == "NONE" => Vec::new(),
            Names::Word(word) if word == "*" => LEGACY.map(str::to_owned).to_vec(),
            Names::Word(found) => {
                let words = "\"*\" or \"NONE\"";
                self.faults.push(MethodPolicyError::Word { key: "legacy", words, found: found.clone() });
                return BTreeSet::new();
            }
            Names::List(names) => names.clone(),
        };
        let wrong = names.iter().filter(|name| !LEGACY.contains(&name.as_str()));
        self.faults.extend(wrong.map(|name| MethodPolicyError::NotLegacy(name.clone())));
        names.iter().filter_map(|name| Method::parse(name).ok()).collect()
    }

    fn aliases(&mut self, names: &BTreeMap<String, String>) -> BTreeMap<Method, Method> {
        let pairs: BTreeMap<Method, Method> =
            names.iter().filter_map(|(from, to)| Some((self.method(from)?, self.method(to)?))).collect();
        let mut kept = BTreeMap::new();
        for (from, to) in &pairs {
            if EMBEDDED.contains(&from.as_str()) {
                self.faults.push(MethodPolicyError::Floor(from.clone()));
            } else if pairs.contains_key(to) {
                self.faults.push(MethodPolicyError::Chain(from.clone(), to.clone()));
            } else if self.knows(to) {
                kept.insert(from.clone(), to.clone());
            } else if is_seed(from, to) {
                self.skip("aliases", from, LEADS_NOWHERE);
            } else {
                self.faults.push(MethodPolicyError::Nowhere(from.clone(), to.clone()));
            }
        }
        kept
    }

    fn redirect(&mut self, settings: &RedirectSettings) -> Option<Redirect> {
        let (from_method, to_method) = (self.method(&settings.from_method)?, self.method(&settings.to_method)?);
        for path in [&settings.from_path, &settings.to_path].into_iter().flatten() {
            if let Err(fault) = RequestPath::parse(path, self.catalog) {
                self.faults.push(MethodPolicyError::Path(settings.from_method.clone(), fault));
                return None;
            }
        }
        for method in [&from_method, &to_method] {
            if !self.knows(method) {
                // Skipped and not an error, as under `allow` and `disallow`: a catalog that drops a verb can be
                // installed before the settings are changed (9.4).
                self.skip("redirects", method, NOT_KNOWN);
                return None;
            }
        }
        if settings.from_path.as_deref().is_some_and(|path| is_native(&from_method, path)) {
            self.skip("redirects", &from_method, ALWAYS_ANSWERED_THERE);
            return None;
        }
        let (from_path, to_path) = (settings.from_path.clone(), settings.to_path.clone());
        Some(Redirect { from_method, from_path, to_method, to_path })
    }
}

/// Whether the alias is one of the defaults of section 9.2: an operator's catalog need not have what these lead to.
fn is_seed(from: &Method, to: &Method) -> bool {
    MethodPolicySettings::default().aliases.get(from.as_str()).is_some_and(|seeded| seeded == to.as_str())
}
