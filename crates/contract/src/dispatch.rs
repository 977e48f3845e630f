//! This module takes a call to its outcome, in one order of checks for every protocol. Sections 5.4, 6.1, 9 and 13.2.
//!
//! The order: method, path grammar, route, identity and its proof, lifecycle state, policy, input, authority, and only
//! then the handler. What is wrong with the call itself is told before anything about the host.

pub mod host;
mod invoke;
mod steps;

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::call::{Call, CallOutcome, CallTrail, Caller, ContractTerms, Identity, LifecycleState, Tier};
use crate::catalog::{Catalog, EMBEDDED};
use crate::meaning::Meanings;
use crate::method::Method;
use crate::negotiation::{ContractRequest, Negotiation, ServingContract};
use crate::path::{PathError, RequestPath};
use crate::policy::{MethodPolicy, ResolvedMethod};
use crate::recipe::RecipeBook;
use crate::refusal::{IdentityRefusal, NotAllowed, Pair, Refusal};
use crate::registry::{MatchedEndpoint, RegisteredEndpoint, Registry};
use crate::reserved;
use host::HostHandle;
use invoke::{invoke, prepare};

/// Answers the pairs of the host itself. Section 6.1, tier A. A protocol sets it up.
pub trait Native: Send + Sync {
    /// Answers a call of a native pair, which the policy lets in, from a caller that is recognised and
    /// in service.
    fn answer(&self, call: Call, target: CallTarget) -> BoxFuture<'_, Result<Value, Refusal>>;
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

/// Everything that a call is checked against, and the checks.
pub struct Dispatcher {
    /// The vocabulary.
    pub catalog: Arc<Catalog>,
    /// Which methods are let in.
    pub policy: MethodPolicy,
    /// The endpoints.
    pub registry: Registry,
    /// What compositions are made of.
    pub recipes: Arc<RecipeBook>,
    /// Corrections of what members mean, for what is planned from endpoints.
    pub meanings: Arc<Meanings>,
    /// The operator's switches.
    pub rules: Rules,
    /// The host around it, which knows what answers the native pairs.
    pub host: HostHandle,
}

impl Default for Dispatcher {
    /// The shipped catalog and no endpoint.
    fn default() -> Dispatcher {
        Dispatcher {
            catalog: Catalog::shipped(),
            policy: MethodPolicy::default(),
            registry: Registry::default(),
            recipes: Arc::default(),
            meanings: Arc::default(),
            rules: Rules::default(),
            host: HostHandle::default(),
        }
    }
}

/// The result of routing a call. Routed once: code that looks at the target before the call is answered hands this on.
pub struct RoutedCall {
    /// Where it goes, or why nowhere.
    pub target: Result<CallTarget, Refusal>,
    /// What was found on the way.
    pub trail: CallTrail,
}

/// Where a call goes: a method and a path that are well formed, and who answers there.
pub struct CallTarget {
    /// The method as it was sent and as it was resolved.
    pub resolved: ResolvedMethod,
    /// The method after redirects.
    pub method: Method,
    /// The path after redirects.
    pub path: RequestPath,
    /// Who guarantees the pair.
    pub tier: Tier,
    matched: Option<MatchedEndpoint>,
    /// The segment of the path that spells a method: a fault unless a contract in force takes the path.
    leak: Option<PathError>,
}

/// The result of the checks: an answer, or a call of the host's own pairs that has passed them.
#[expect(clippy::large_enum_variant, reason = "a box would be one allocation more for each call")]
pub enum DispatchedCall {
    /// To its end: what its endpoint answered.
    Answered(Value),
    /// Past every check, to a pair of the host's own, which is now to be answered.
    Native(Call, CallTarget),
}

impl Dispatcher {
    /// Answers a call. The host's own pairs ([`Tier::Native`]) go to what [`Dispatcher::host`] has for
    /// them; while there is nothing they are refused as not implemented.
    pub fn dispatch(&self, call: Call) -> BoxFuture<'_, CallOutcome> {
        Box::pin(async move {
            let aimed = self.aim(&call);
            let CallOutcome { answer, trail } = self.dispatch_to(call, aimed).await;
            let answer = match answer {
                Ok(DispatchedCall::Answered(value)) => Ok(value),
                Ok(DispatchedCall::Native(call, target)) => self.native(call, target).await,
                Err(refusal) => Err(refusal),
            };
            CallOutcome { answer, trail }
        })
    }

    /// Takes a call that was aimed through the one order of checks, for endpoints and for the host's own pairs: the
    /// former to their answer, the latter to whoever answers them.
    pub async fn dispatch_to(&self, call: Call, aimed: RoutedCall) -> CallOutcome<DispatchedCall> {
        let RoutedCall { target, mut trail } = aimed;
        let answer = match target {
            Ok(target) => self.answer(call, target, &mut trail).await,
            Err(refusal) => Err(refusal),
        };
        CallOutcome { answer, trail }
    }

    /// The whole trip of a call.
    async fn answer(
        &self,
        mut call: Call,
        mut target: CallTarget,
        trail: &mut CallTrail,
    ) -> Result<DispatchedCall, Refusal> {
        // The order is the draft's (13.2): route 404, identity 401, standing, policy 405, input 422, scope 455. A later
        // check may tell more about what is here, so that it must not come before an earlier one.
        let negotiation = self.negotiation(&target, &call);
        // A caller without a contract header may still hold a contract for the pair; if not, it gets the usual 404 in
        // the usual order.
        let is_plain = call.contract == ContractTerms::default();
        // Also where only a contract can tell whether the path is one: what is wrong with the call comes first.
        let is_early = is_plain || target.leak.is_some();
        if let Some(negotiation) = negotiation.as_deref().filter(|_| is_early && self.admits(&target)) {
            self.agree(&call, &mut target, trail, negotiation).await?;
        }
        if is_early || negotiation.is_none() {
            self.route(&target, &call.caller)?;
        }
        recognise(&target, &call.caller, &self.rules)?;
        self.prove(&target, &call.caller)?;
        in_service(&target, &call.caller)?;
        if let Some(negotiation) = negotiation.filter(|_| !is_early) {
            self.agree(&call, &mut target, trail, negotiation.as_ref()).await?;
        }
        let Some(matched) = self.admit(&target, &call.caller)? else {
            within_its_claim(&target, &call.caller)?;
            return Ok(DispatchedCall::Native(call, target));
        };
        // Input before scopes, as 13.2 has it: whoever got here may call the method, and is told first what to correct.
        let input = prepare(&target, &matched, &mut call)?;
        self.authorise(&target, &matched, &call.caller)?;
        invoke(&target, matched.registered, input, call).await.map(DispatchedCall::Answered)
    }

    /// Who is asked whether a call is served under a contract: nobody for what the host answers itself and for
    /// what is registered, unless the caller presents one. An unrecognised caller who presents none gets the same
    /// answer everywhere where nothing is, and so learns of nobody's contracts.
    fn negotiation(&self, target: &CallTarget, call: &Call) -> Option<Arc<dyn Negotiation>> {
        let presents = call.contract.presented.is_some();
        let is_asked = presents || (target.matched.is_none() && call.caller.identity == Identity::Recognised);
        if target.tier == Tier::Native || !is_asked {
            return None;
        }
        self.host.negotiation()
    }

    /// Section 10.1: the contract that a call is served under takes the place of what is registered.
    async fn agree(
        &self,
        call: &Call,
        target: &mut CallTarget,
        trail: &mut CallTrail,
        negotiation: &dyn Negotiation,
    ) -> Result<(), Refusal> {
        if call.caller.identity != Identity::Recognised {
            return Err(Refusal::Identity(IdentityRefusal::Missing));
        }
        // Before the negotiator is asked: no contract is made for a method that the operator refuses.
        if !self.admits(target) {
            return Err(self.not_allowed(target, NotAllowed::Policy));
        }
        let may_be_new = target.leak.is_none();
        let asked = ContractRequest { call, method: &target.method, path: &target.path, may_be_new };
        let refused = |refusal| Refusal::Contract { pair: pair(target), refusal: Box::new(refusal) };
        let Some(ServingContract { matched, stamp }) = negotiation.contract_for(asked).await.map_err(refused)? else {
            return Ok(());
        };
        // Asked again, as the steps of the contract's plan may need a token that the pair itself does not.
        self.showed(&call.caller, &target.resolved, &target.method, Some(&matched.registered))
            .map_err(Refusal::Identity)?;
        trail.path = Some(target.path.as_str().to_owned());
        trail.tier = Some(Tier::Negotiated);
        trail.endpoint = Some(Arc::clone(&matched.registered.endpoint));
        trail.endpoint_notice = matched.registered.endpoint.notice();
        trail.contract = Some(stamp);
        (target.tier, target.matched, target.leak) = (Tier::Negotiated, Some(matched), None);
        Ok(())
    }

    /// Answers a pair of the host itself, by what a protocol has set up.
    ///
    /// # Errors
    /// What it refuses; [`NotAllowed::NotImplemented`] while nothing is set up.
    pub fn native(&self, call: Call, target: CallTarget) -> BoxFuture<'_, Result<Value, Refusal>> {
        Box::pin(async move {
            match self.host.native() {
                Some(native) => native.answer(call, target).await,
                None => Err(self.not_allowed(&target, NotAllowed::NotImplemented)),
            }
        })
    }

    /// Reads the method and the path and says who answers there: [`Refusal::Method`], then [`Refusal::Path`],
    /// where they can't be read.
    pub fn aim(&self, call: &Call) -> RoutedCall {
        let mut trail = CallTrail::default();
        let target = self.find(call, &mut trail);
        RoutedCall { target, trail }
    }

    /// The same, filling in the trail as it goes.
    fn find(&self, call: &Call, trail: &mut CallTrail) -> Result<CallTarget, Refusal> {
        let resolved = self.policy.resolve(&call.method, &self.catalog).ok_or_else(|| self.unknown(&call.method))?;
        // The trail is written as each step passes, so that a refusal by the next one still has its notice and record.
        trail.requested = Some(resolved.requested.clone());
        trail.method = Some(resolved.method.clone());
        trail.method_notice = self.catalog.notice(resolved.method.as_str());
        let (path, leak) = self.sent(&resolved.method, &call.path)?;
        if let Some(leak) = leak {
            return self.leaking(call, resolved, path, leak);
        }
        let (method, path) = self.redirected(&resolved.method, path)?;
        // The word that was called comes first; a redirect's target is told only where that word is not deprecated
        // itself.
        if trail.method_notice.is_none() && method != resolved.method {
            trail.method_notice = self.catalog.notice(method.as_str());
        }
        let (tier, matched) = self.classify(&method, &path);
        trail.method = Some(method.clone());
        trail.path = Some(path.as_str().to_owned());
        trail.tier = Some(tier);
        trail.endpoint = matched.as_ref().map(|matched| Arc::clone(&matched.registered.endpoint));
        trail.endpoint_notice = trail.endpoint.as_ref().and_then(|endpoint| endpoint.notice());
        Ok(CallTarget { resolved, method, path, tier, matched, leak: None })
    }

    /// The target of a path in which a segment spells a method and that no endpoint takes. A contract of the caller
    /// may take it, so that it goes on where there can be one.
    fn leaking(
        &self,
        call: &Call,
        resolved: ResolvedMethod,
        path: RequestPath,
        leak: PathError,
    ) -> Result<CallTarget, Refusal> {
        if call.caller.identity != Identity::Recognised || self.host.negotiation().is_none() {
            return Err(not_a_path(path.as_str(), leak));
        }
        let method = resolved.method.clone();
        Ok(CallTarget { resolved, method, path, tier: Tier::Unregistered, matched: None, leak: Some(leak) })
    }

    /// Checks that the caller showed a bearer token where the operator requires one for the target, or for a step that
    /// the target is known to make.
    ///
    /// # Errors
    /// [`Refusal::Identity`].
    fn prove(&self, target: &CallTarget, caller: &Caller) -> Result<(), Refusal> {
        let registered = target.matched.as_ref().map(|matched| &matched.registered);
        self.showed(caller, &target.resolved, &target.method, registered).map_err(Refusal::Identity)
    }

    /// [`Self::prove`] for a call of `registered` under these method names.
    fn showed(
        &self,
        caller: &Caller,
        resolved: &ResolvedMethod,
        method: &Method,
        registered: Option<&RegisteredEndpoint>,
    ) -> Result<(), IdentityRefusal> {
        // Most hosts require no token: their calls look at no method here.
        if self.rules.token_required.is_empty() || caller.sender.showed_token() {
            return Ok(());
        }
        let needs_token =
            self.takes_token(resolved, method) || registered.is_some_and(|registered| registered.needs.token);
        if needs_token { Err(IdentityRefusal::NoToken) } else { Ok(()) }
    }

    /// Whether a method needs a token under any of the words that it went by.
    fn takes_token(&self, resolved: &ResolvedMethod, method: &Method) -> bool {
        let needed = &self.rules.token_required;
        // Every word that it went by, or an alias or a redirect would get around the token (base 7.4).
        [&resolved.requested, &resolved.method, method].iter().any(|word| needed.contains(*word))
    }

    /// The methods that a path may be called by. Section 11.
    pub fn allowed_methods(&self, path: &RequestPath) -> BTreeSet<Method> {
        self.methods_at(path).into_iter().filter(|method| self.policy.admits(method, method)).collect()
    }

    /// Reads the path of a call of `method`. A segment may spell a method where an endpoint takes it as a value.
    /// Sections 5.1 and 5.3.
    ///
    /// # Errors
    /// [`Refusal::Path`], with the first segment that breaks a rule.
    pub fn path(&self, method: &Method, raw: &str) -> Result<RequestPath, Refusal> {
        match self.sent(method, raw)? {
            (path, None) => Ok(path),
            (path, Some(leak)) => Err(not_a_path(path.as_str(), leak)),
        }
    }

    /// The same, with the segment that spells a method where no endpoint takes the path.
    fn sent(&self, method: &Method, raw: &str) -> Result<(RequestPath, Option<PathError>), Refusal> {
        let (path, leak) = RequestPath::sent(raw, &self.catalog).map_err(|fault| not_a_path(raw, fault))?;
        let leak = leak.filter(|_| self.registry.find(method, &path).is_none());
        Ok((path, leak))
    }

    /// Section 9.2: a call that is taken for another.
    fn redirected(&self, method: &Method, path: RequestPath) -> Result<(Method, RequestPath), Refusal> {
        match self.policy.redirect(method, path.as_str()) {
            Some((method, to)) => {
                let path = self.path(&method, &to)?;
                Ok((method, path))
            }
            None => Ok((method.clone(), path)),
        }
    }

    /// Section 6.1: exactly one tier for every pair, before contracts. What an operator overrides is the operator's.
    fn classify(&self, method: &Method, path: &RequestPath) -> (Tier, Option<MatchedEndpoint>) {
        // Before the host's own pairs: registration admits one of those only where the operator overrides it (5.9).
        if let Some(matched) = self.registry.find(method, path) {
            return (Tier::Registered, Some(matched));
        }
        if reserved::is_native(method, path.as_str()) {
            return (Tier::Native, None);
        }
        (Tier::Unregistered, None)
    }

    /// Section 5.4, the last pass: a path at which nothing is. Where one side consented to what is not declared,
    /// the call goes on to the checks that tell more than that.
    fn route(&self, target: &CallTarget, caller: &Caller) -> Result<(), Refusal> {
        if let Some(leak) = &target.leak {
            return Err(not_a_path(target.path.as_str(), leak.clone()));
        }
        let goes_on = self.is_there(target) || self.is_half_consented(caller);
        if goes_on { Ok(()) } else { Err(Refusal::NotFound(pair(target))) }
    }

    fn is_there(&self, target: &CallTarget) -> bool {
        // The set is gathered last: it is costly, and for messages to agents (native) the answer is known without it.
        target.matched.is_some() || target.tier == Tier::Native || !self.methods_at(&target.path).is_empty()
    }

    /// Section 9: the policy, and whether the path has this method. `None`: the host answers it itself.
    fn admit(&self, target: &CallTarget, caller: &Caller) -> Result<Option<MatchedEndpoint>, Refusal> {
        if !self.admits(target) {
            return Err(self.not_allowed(target, NotAllowed::Policy));
        }
        match &target.matched {
            Some(matched) => Ok(Some(matched.clone())),
            None if target.tier == Tier::Native => Ok(None),
            None if self.is_there(target) => {
                // The root is the host's own, so that a method there is one that it does not implement, and not another
                // endpoint's.
                let is_root = target.path.as_str() == "/";
                let why = if is_root { NotAllowed::NotImplemented } else { NotAllowed::OtherMethods };
                Err(self.not_allowed(target, why))
            }
            None if self.is_half_consented(caller) => Err(Refusal::Wildcards(pair(target))),
            None => Err(Refusal::NotFound(pair(target))),
        }
    }

    fn admits(&self, target: &CallTarget) -> bool {
        let ResolvedMethod { requested, method, .. } = &target.resolved;
        self.policy.admits(requested, method) && self.policy.admits(&target.method, &target.method)
    }

    /// Section 16.4: one side consented to methods beyond the declared ones, and the other did not.
    fn is_half_consented(&self, caller: &Caller) -> bool {
        // Only a recognised caller has an identity document that could consent.
        caller.identity == Identity::Recognised && caller.wildcards != self.rules.wildcards_accepted
    }

    /// Section 6.4 and the base protocol: what is claimed is held, and what is required is claimed.
    fn authorise(&self, target: &CallTarget, matched: &MatchedEndpoint, caller: &Caller) -> Result<(), Refusal> {
        let required = &matched.registered.needs.scopes;
        // Before what is missing: a caller that claimed nothing is told to claim, not that it lacks what it may hold.
        if caller.authority().claimed().is_none() && self.rules.scope_required {
            return Err(Refusal::ScopeAbsent { pair: pair(target), required: required.to_vec() });
        }
        within_its_claim(target, caller)?;
        let missing = caller.authority().in_use().missing(required.iter());
        if missing.is_empty() { Ok(()) } else { Err(Refusal::Scope { pair: pair(target), missing }) }
    }

    /// The methods at a path, the host's own included.
    fn methods_at(&self, path: &RequestPath) -> BTreeSet<Method> {
        let mut methods = self.registry.methods_at(path);
        let own = EMBEDDED.iter().filter_map(|name| Method::parse(name).ok());
        methods.extend(own.filter(|method| reserved::is_native(method, path.as_str())));
        methods
    }

    fn not_allowed(&self, target: &CallTarget, why: NotAllowed) -> Refusal {
        let allowed_methods = self.allowed_methods(&target.path);
        let redirects = self.policy.redirects_for(target.path.as_str());
        let mut pair = pair(target);
        // Name the word that was sent where the policy refuses that word, and not the method that it is an alias of.
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

fn not_a_path(path: &str, fault: PathError) -> Refusal {
    let reason = fault.to_string();
    Refusal::Path { path: path.to_owned(), segment: fault.segment, reason }
}

fn pair(target: &CallTarget) -> Pair {
    Pair { method: target.method.clone(), path: target.path.as_str().to_owned() }
}

/// The base protocol, section 5, step 11: nobody claims more than it holds.
fn within_its_claim(target: &CallTarget, caller: &Caller) -> Result<(), Refusal> {
    let excess = caller.authority().excess();
    if excess.is_empty() { Ok(()) } else { Err(Refusal::ScopeClaim { pair: pair(target), excess }) }
}

/// Anonymous callers may ask the host itself; each of its methods says what more it needs.
fn recognise(target: &CallTarget, caller: &Caller, rules: &Rules) -> Result<(), Refusal> {
    match caller.identity {
        Identity::Unrecognised => Err(Refusal::Identity(IdentityRefusal::Unknown)),
        // An anonymous caller holds no scopes, so that it could never claim what `scope_required` demands.
        Identity::Anonymous if rules.scope_required && target.tier != Tier::Native => {
            Err(Refusal::Identity(IdentityRefusal::Missing))
        }
        Identity::Anonymous | Identity::Recognised => Ok(()),
    }
}

fn in_service(target: &CallTarget, caller: &Caller) -> Result<(), Refusal> {
    // A suspended agent must be able to learn that it is, and to be reinstated (base 3.2).
    if target.tier == Tier::Native && reserved::is_open_to_suspended(&target.method) {
        return Ok(());
    }
    let refusal = |is_final| Err(Refusal::Standing { agent_id: caller.agent_id.clone(), is_final });
    match caller.standing {
        LifecycleState::Active | LifecycleState::Deprecated => Ok(()),
        LifecycleState::Suspended => refusal(false),
        LifecycleState::Retired => refusal(true),
    }
}
