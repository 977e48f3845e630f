//! From a call to its outcome: one order of checks for every wire. Sections 5.4, 6.1, 9 and 13.2.
//!
//! A stranger learns what is wrong with the call before it learns what there is: method, path
//! grammar, route, identity and its proof, standing, policy, input, authority, and only then the handler.

mod invoke;
mod steps;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, Weak};

use futures::future::BoxFuture;
use serde_json::Value;

use crate::call::{Call, Caller, Identity, Outcome, Standing, Tier, Trail};
use crate::catalog::{Catalog, EMBEDDED};
use crate::method::Method;
use crate::path::RequestPath;
use crate::policy::{MethodPolicy, Resolved};
use crate::recipe::RecipeBook;
use crate::refusal::{IdentityRefusal, NotAllowed, Pair, Refusal};
use crate::registry::{Matched, Registered, Registry};
use crate::reserved;
use crate::scope::ScopeSet;
use invoke::{invoke, prepare};

/// Endpoints that were agreed on with single callers. Section 6.1, tier C.
pub trait Negotiated: Send + Sync {
    /// The endpoint that `caller` may call at the pair, by its own agreement.
    fn endpoint(&self, caller: &Caller, method: &Method, path: &str) -> Option<Registered>;
}

/// What the host answers itself. Section 6.1, tier A.
pub trait Native: Send + Sync {
    /// Answers a call of a native pair, which the policy lets in, from a caller that is recognised and
    /// in service.
    fn answer(&self, call: Call, target: Target) -> BoxFuture<'_, Result<Value, Refusal>>;
}

/// The operator's switches that calls depend on. Section 8.7.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether every call must claim its scopes.
    pub scope_required: bool,
    /// Whether the host consents to methods beyond the declared ones.
    pub wildcards_accepted: bool,
    /// Methods that are for callers who showed a bearer token, whatever the way in: as they were sent, as
    /// they are meant, or as a step of a composition. Base protocol, OAuth composition.
    pub token_required: BTreeSet<Method>,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { scope_required: true, wildcards_accepted: false, token_required: BTreeSet::new() }
    }
}

/// Everything that a call is held against.
pub struct Dispatcher {
    /// The vocabulary.
    pub catalog: Arc<Catalog>,
    /// Which methods are let in.
    pub policy: MethodPolicy,
    /// The endpoints.
    pub registry: Registry,
    /// What compositions are made of.
    pub recipes: Arc<RecipeBook>,
    /// The operator's switches.
    pub rules: Rules,
    /// The agreements, where there are any.
    pub negotiated: Option<Arc<dyn Negotiated>>,
    /// What answers the native pairs, set once it is there. It may itself hold the dispatcher.
    pub native: OnceLock<Weak<dyn Native>>,
}

impl Default for Dispatcher {
    /// The shipped catalog and no endpoint.
    fn default() -> Dispatcher {
        Dispatcher {
            catalog: Catalog::shipped(),
            policy: MethodPolicy::default(),
            registry: Registry::default(),
            recipes: Arc::default(),
            rules: Rules::default(),
            negotiated: None,
            native: OnceLock::new(),
        }
    }
}

/// Where a call goes: a method and a path that are well formed, and who answers there.
pub struct Target {
    /// The method as it was sent and as it was resolved.
    pub resolved: Resolved,
    /// The method after redirects.
    pub method: Method,
    /// The path after redirects.
    pub path: RequestPath,
    /// Who guarantees the pair.
    pub tier: Tier,
    matched: Option<Matched>,
}

impl Dispatcher {
    /// Answers a call. The host's own pairs ([`Tier::Native`]) go to [`Dispatcher::native`]; while
    /// that is not there they are refused as not implemented.
    pub async fn dispatch(&self, call: Call) -> Outcome {
        let mut trail = Trail::default();
        let answer = self.answer(call, &mut trail).await;
        Outcome { answer, trail }
    }

    /// The whole trip of a call.
    async fn answer(&self, mut call: Call, trail: &mut Trail) -> Result<Value, Refusal> {
        let target = self.aim(&call, trail)?;
        self.route(&target, &call.caller)?;
        recognise(&call.caller, &self.rules)?;
        self.prove(&target, &call.caller)?;
        in_service(&call.caller)?;
        if let Some(native) = self.native(&target) {
            self.admit_native(&target)?;
            return native.answer(call, target).await;
        }
        let matched = self.admit(&target, &call.caller)?;
        let input = prepare(&target, &matched, &mut call)?;
        let scopes = self.authorise(&target, &matched, &call)?;
        invoke(&target, matched.registered, input, scopes, call).await
    }

    /// Reads the method and the path and says who answers there. Fills in the trail as it goes.
    ///
    /// # Errors
    /// [`Refusal::Method`], then [`Refusal::Path`].
    pub fn aim(&self, call: &Call, trail: &mut Trail) -> Result<Target, Refusal> {
        let resolved = self.policy.resolve(&call.method, &self.catalog).ok_or_else(|| self.unknown(&call.method))?;
        trail.requested = Some(resolved.requested.clone());
        trail.method = Some(resolved.method.clone());
        trail.method_notice = self.catalog.notice(resolved.method.as_str());
        let path = self.path(&call.path)?;
        let (method, path) = self.redirected(&resolved.method, path)?;
        if trail.method_notice.is_none() && method != resolved.method {
            trail.method_notice = self.catalog.notice(method.as_str());
        }
        let (tier, matched) = self.classify(&call.caller, &method, &path);
        trail.method = Some(method.clone());
        trail.path = Some(path.as_str().to_owned());
        trail.tier = Some(tier);
        trail.endpoint = matched.as_ref().map(|matched| Arc::clone(&matched.registered.endpoint));
        trail.endpoint_notice = trail.endpoint.as_ref().and_then(|endpoint| endpoint.notice());
        Ok(Target { resolved, method, path, tier, matched })
    }

    fn native(&self, target: &Target) -> Option<Arc<dyn Native>> {
        let native = self.native.get().filter(|_| target.tier == Tier::Native)?;
        native.upgrade()
    }

    /// Whether the caller showed what the operator asks to be shown for a target, or for anything that it is
    /// known to be made of.
    ///
    /// # Errors
    /// [`Refusal::Identity`].
    pub fn prove(&self, target: &Target, caller: &Caller) -> Result<(), Refusal> {
        let registered = target.matched.as_ref().map(|matched| &matched.registered);
        self.showed(caller, &target.resolved, &target.method, registered).map_err(Refusal::Identity)
    }

    /// The same of a call that goes to `registered` under these words.
    fn showed(
        &self,
        caller: &Caller,
        resolved: &Resolved,
        method: &Method,
        registered: Option<&Registered>,
    ) -> Result<(), IdentityRefusal> {
        if self.rules.token_required.is_empty() || caller.sender.showed_token() {
            return Ok(());
        }
        let needs_token = self.takes_token(resolved, method)
            || registered.is_some_and(|registered| self.takes_tokens_within(&registered.endpoint));
        if needs_token { Err(IdentityRefusal::NoToken) } else { Ok(()) }
    }

    /// Whether a method needs a token under any of the words that it went by.
    fn takes_token(&self, resolved: &Resolved, method: &Method) -> bool {
        let needed = &self.rules.token_required;
        [&resolved.requested, &resolved.method, method].iter().any(|word| needed.contains(*word))
    }

    /// Whether the policy lets a target in. For the host's own pairs, which no other check follows.
    ///
    /// # Errors
    /// [`Refusal::NotAllowed`].
    pub fn admit_native(&self, target: &Target) -> Result<(), Refusal> {
        if self.admits(target) { Ok(()) } else { Err(self.not_allowed(target, NotAllowed::Policy)) }
    }

    /// The methods that a path may be called by. Section 11.
    pub fn allowed_methods(&self, path: &RequestPath) -> BTreeSet<Method> {
        self.methods_at(path).into_iter().filter(|method| self.policy.admits(method, method)).collect()
    }

    fn path(&self, raw: &str) -> Result<RequestPath, Refusal> {
        RequestPath::parse(raw, &self.catalog).map_err(|fault| {
            let reason = fault.to_string();
            Refusal::Path { path: raw.to_owned(), segment: fault.segment, reason }
        })
    }

    /// Section 9.2: a call that is taken for another.
    fn redirected(&self, method: &Method, path: RequestPath) -> Result<(Method, RequestPath), Refusal> {
        match self.policy.redirect(method, path.as_str()) {
            Some((method, to)) => Ok((method, self.path(&to)?)),
            None => Ok((method.clone(), path)),
        }
    }

    /// Section 6.1: exactly one tier for every pair. What an operator overrides is the operator's.
    fn classify(&self, caller: &Caller, method: &Method, path: &RequestPath) -> (Tier, Option<Matched>) {
        if let Some(matched) = self.registry.find(method, path) {
            return (Tier::Registered, Some(matched));
        }
        if reserved::is_native(method, path.as_str()) {
            return (Tier::Native, None);
        }
        let agreed = self.negotiated.as_ref().and_then(|all| all.endpoint(caller, method, path.as_str()));
        match agreed {
            Some(registered) => (Tier::Negotiated, Some(Matched { registered, values: Vec::new() })),
            None => (Tier::Unregistered, None),
        }
    }

    /// Section 5.4, the last pass: a path at which nothing is.
    fn route(&self, target: &Target, caller: &Caller) -> Result<(), Refusal> {
        let is_there = target.matched.is_some() || !self.methods_at(&target.path).is_empty();
        if is_there { Ok(()) } else { Err(self.unconsented(target, caller).unwrap_or(Refusal::NotFound(pair(target)))) }
    }

    /// Section 9: the policy, and whether the path has this method.
    fn admit(&self, target: &Target, caller: &Caller) -> Result<Matched, Refusal> {
        if !self.admits(target) {
            return Err(self.not_allowed(target, NotAllowed::Policy));
        }
        if let Some(matched) = &target.matched {
            return Ok(matched.clone());
        }
        if target.tier == Tier::Native {
            return Err(self.not_allowed(target, NotAllowed::NotImplemented));
        }
        Err(self.unconsented(target, caller).unwrap_or_else(|| self.not_allowed(target, NotAllowed::OtherMethods)))
    }

    fn admits(&self, target: &Target) -> bool {
        let Resolved { requested, method, .. } = &target.resolved;
        self.policy.admits(requested, method) && self.policy.admits(&target.method, &target.method)
    }

    /// Section 16.4: one side consented to methods beyond the declared ones, and the other did not.
    fn unconsented(&self, target: &Target, caller: &Caller) -> Option<Refusal> {
        let is_known = caller.identity == Identity::Recognised;
        (is_known && caller.wildcards != self.rules.wildcards_accepted).then(|| Refusal::Wildcards(pair(target)))
    }

    /// Section 6.4 and the base protocol: what is claimed is held, and what is required is claimed.
    fn authorise(&self, target: &Target, matched: &Matched, call: &Call) -> Result<ScopeSet, Refusal> {
        let scopes = match &call.claimed {
            Some(claimed) => claimed,
            None if self.rules.scope_required => return Err(Refusal::ScopeAbsent(pair(target))),
            None => &call.caller.declared,
        };
        let excess = call.caller.declared.missing(scopes.iter());
        if !excess.is_empty() {
            return Err(Refusal::ScopeClaim { pair: pair(target), excess });
        }
        let missing = scopes.missing(&self.required_scopes(&matched.registered.endpoint));
        if missing.is_empty() { Ok(scopes.clone()) } else { Err(Refusal::Scope { pair: pair(target), missing }) }
    }

    /// The methods at a path, the host's own included.
    fn methods_at(&self, path: &RequestPath) -> BTreeSet<Method> {
        let mut methods = self.registry.methods_at(path);
        let own = EMBEDDED.iter().filter_map(|name| Method::parse(name).ok());
        methods.extend(own.filter(|method| reserved::is_native(method, path.as_str())));
        methods
    }

    fn not_allowed(&self, target: &Target, why: NotAllowed) -> Refusal {
        let allowed_methods = self.allowed_methods(&target.path);
        let redirects = self.policy.redirects_for(target.path.as_str());
        let mut pair = pair(target);
        // The word that was sent is what the policy refuses, and not the method that it stands for.
        if why == NotAllowed::Policy && self.policy.admits(&target.method, &target.method) {
            pair.method = target.resolved.requested.clone();
        }
        Refusal::NotAllowed { pair, why, allowed_methods, redirects }
    }

    fn unknown(&self, method: &str) -> Refusal {
        let (suggestions, catalog_version) = (self.catalog.suggest(method), self.catalog.version().to_owned());
        Refusal::Method { method: method.to_owned(), suggestions, catalog_version }
    }
}

fn pair(target: &Target) -> Pair {
    Pair { method: target.method.clone(), path: target.path.as_str().to_owned() }
}

fn recognise(caller: &Caller, rules: &Rules) -> Result<(), Refusal> {
    match caller.identity {
        Identity::Unrecognised => Err(Refusal::Identity(IdentityRefusal::Unknown)),
        // Nobody holds scopes, so nobody could claim them.
        Identity::Anonymous if rules.scope_required => Err(Refusal::Identity(IdentityRefusal::Missing)),
        Identity::Anonymous | Identity::Recognised => Ok(()),
    }
}

fn in_service(caller: &Caller) -> Result<(), Refusal> {
    let refusal = |is_final| Err(Refusal::Standing { agent_id: caller.agent_id.clone(), is_final });
    match caller.standing {
        Standing::Active | Standing::Deprecated => Ok(()),
        Standing::Suspended => refusal(false),
        Standing::Retired => refusal(true),
    }
}
