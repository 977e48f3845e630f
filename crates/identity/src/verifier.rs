//! This module turns all proofs of a request into a sender: the one entry point of this crate.

use std::path::Path;
use std::sync::Arc;

use forecourt_core::message::Profile;
use forecourt_core::store::StoreError;
use forecourt_core::{
    Address, AgentId, Authority, Bot, Domain, Entropy, Handle, IdentityEvidence, MaybeBoxed, Sender, Store,
    SubjectToken, Timestamp, at_once, in_time,
};
use forecourt_jose::ProofError;
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderName};
use serde_json::Value;

use crate::agents::{AgentIdentity, KnownAgents};
use crate::api_keys::{self, ApiKeyRefusal, ApiKeys};
use crate::bearer;
use crate::bots::{self, KnownBots, SignatureAgents, VerifiedBot};
use crate::config::IdentityConfig;
use crate::evidence::{self, UnverifiedEvidence};
use crate::http_signature::{self, KeyDirectory};
use crate::oidc::OidcSettings;
use crate::remote_keys::DocumentFetcher;
use crate::request::RequestProof;
use crate::sessions::{self, BrowserRequest, Sessions};
use crate::settings::{CheckedConfig, IdentityProblem, check};
use crate::verified::{Person, PresentedCredentials, TokenIssuer, VerifiedSender};

/// The hint of who calls. REST 7.4.
pub const FROM_HEADER: HeaderName = HeaderName::from_static("x-mentionable-from");

/// How a crawler is known that signs its requests.
const CRAWLER_METHOD: &str = "web-bot-auth";

/// The scheme of an agent's canonical URI. AGTP base 1, form 1.
const AGENT_URI: &str = "agtp://";

/// Verifies the proofs of requests, and makes senders of them. The whole host shares one.
pub struct Verifier {
    checked: CheckedConfig,
    directory: Option<Arc<dyn KeyDirectory>>,
    seen: Option<Arc<dyn Store>>,
    api_keys: Option<Arc<ApiKeys>>,
    sessions: Option<Sessions>,
    known: Option<KnownCeilings>,
    signature_agents: Option<Arc<SignatureAgents>>,
}

/// The agents that are known, by whose scopes a sender is bounded that proves to be one of them.
struct KnownCeilings {
    agents: Arc<KnownAgents>,
    domain: Domain,
}

/// What the request itself proves.
#[derive(Default)]
struct Own {
    identities: Vec<IdentityEvidence>,
    address: String,
    method: Option<&'static str>,
    key_id: Option<String>,
    token: Option<SubjectToken>,
    bot: Option<Bot>,
}

impl Verifier {
    /// A verifier under `config`. Key files are read relative to `base`; all problems are given at
    /// once.
    pub fn new(
        config: &IdentityConfig,
        base: &Path,
        documents: Arc<dyn DocumentFetcher>,
    ) -> Result<Self, Vec<IdentityProblem>> {
        let checked = check(config, base, &documents)?;
        Ok(Self {
            checked,
            directory: None,
            seen: None,
            api_keys: None,
            sessions: None,
            known: None,
            signature_agents: None,
        })
    }

    /// The same, finding the keys of signed requests in `directory`. Without one, signatures are not
    /// looked at.
    #[must_use]
    pub fn with_directory(mut self, directory: Arc<dyn KeyDirectory>) -> Self {
        self.directory = Some(directory);
        self
    }

    /// The same, verifying crawlers by the keys of these, where `[identity.bots]` has that. Without them, such
    /// signatures are not looked at.
    #[must_use]
    pub fn with_signature_agents(mut self, agents: Arc<SignatureAgents>) -> Self {
        self.signature_agents = Some(agents).filter(|_| self.checked.bot_signatures);
        self
    }

    /// The crawlers that are known by name.
    pub fn bots(&self) -> &KnownBots {
        &self.checked.bots
    }

    /// The same, remembering in `store` what is good for one use. Without one, a nonce adds nothing,
    /// and what the configuration requires to be single use is refused.
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn Store>) -> Self {
        let sessions = |oidc: &OidcSettings| Sessions::new(store.clone(), oidc.session_lifetime, oidc.session_idle);
        self.sessions = self.checked.oidc.as_ref().map(sessions);
        self.seen = Some(store);
        self
    }

    /// The same, accepting these API keys as bearer tokens.
    #[must_use]
    pub fn with_api_keys(mut self, keys: Arc<ApiKeys>) -> Self {
        self.api_keys = Some(keys);
        self
    }

    /// The same, knowing `agents`, of whom those that live here live at `domain`: whoever proves to be one of them
    /// may do no more than that agent, over every protocol.
    #[must_use]
    pub fn with_agents(mut self, agents: Arc<KnownAgents>, domain: Domain) -> Self {
        self.known = Some(KnownCeilings { agents, domain });
        self
    }

    /// The authority of a sender with this verified evidence, and the handle of the agent of this host that it is, if
    /// it is one.
    pub fn authority(&self, identities: &[IdentityEvidence]) -> (Authority, Option<Handle>) {
        let agents: Vec<_> = identities.iter().filter_map(|evidence| self.agent_of(evidence)).collect();
        let granted = Authority::of_evidence(identities);
        // Every agent that is proven bounds it: two proofs together are not worth more than each.
        let authority = agents.iter().fold(granted, |authority, agent| authority.within(&agent.declared));
        (authority, agents.iter().find_map(|agent| agent.handle.clone()))
    }

    /// The known agent that evidence names as its subject: by its canonical name or URI, or by its address here.
    fn agent_of(&self, evidence: &IdentityEvidence) -> Option<&Arc<AgentIdentity>> {
        let KnownCeilings { agents, domain } = self.known.as_ref()?;
        let subject = self.token_subject(evidence).unwrap_or(&evidence.subject);
        let id = subject.strip_prefix(AGENT_URI).unwrap_or(subject);
        match AgentId::parse(id) {
            Ok(id) => agents.get(&id),
            Err(_) => {
                // Of this domain only: an agent elsewhere may have the same local part as one of ours.
                let address = Address::parse(subject).ok().filter(|address| address.domain() == domain)?;
                agents.of_handle(address.local())
            }
        }
    }

    /// The subject of a bearer token, as its issuer wrote it. `None` for other evidence.
    pub fn token_subject<'e>(&self, evidence: &'e IdentityEvidence) -> Option<&'e str> {
        let issuer = self.checked.bearer.iter().find(|issuer| issuer.issuer == evidence.issuer)?;
        let is_token = evidence.method == bearer::METHOD;
        evidence.subject.strip_prefix(issuer.subject_prefix.as_str()).filter(|_| is_token)
    }

    /// The person of the provider at which people sign in here whom evidence is of, as a sign-in names them: by a
    /// sign-in, or by a bearer token of that very provider, where `sub` is what tells people apart (RFC 9068 2.2).
    /// `None` for other evidence.
    pub fn person_of(&self, evidence: &IdentityEvidence) -> Option<String> {
        let oidc = self.checked.oidc.as_ref().filter(|oidc| oidc.issuer == evidence.issuer)?;
        if evidence.method == sessions::METHOD {
            return Some(evidence.subject.clone());
        }
        let subject = self.token_subject(evidence).filter(|_| oidc.subject_claim == "sub")?;
        Some(format!("{}{subject}", oidc.subject_prefix()))
    }

    /// The issuers whose bearer tokens are accepted, in the order of the configuration.
    pub fn token_issuers(&self) -> impl Iterator<Item = TokenIssuer<'_>> {
        self.checked.bearer.iter().map(|issuer| TokenIssuer {
            issuer: &issuer.issuer,
            audience: &issuer.audience,
            jwks_url: issuer.keys.url(),
        })
    }

    /// Whether evidence is a bearer token whose whole subject, as its issuer wrote it, is `subject`.
    pub fn is_token_of(&self, evidence: &IdentityEvidence, subject: &str) -> bool {
        self.token_subject(evidence) == Some(subject)
    }

    /// The provider at which people sign in, if there is one.
    pub fn oidc(&self) -> Option<&OidcSettings> {
        self.checked.oidc.as_ref()
    }

    /// Who is signed in. `None` where nobody can sign in, or nothing is remembered.
    pub fn sessions(&self) -> Option<&Sessions> {
        self.sessions.as_ref()
    }

    /// The person whose browser sent `request` to `agent`, by its session cookie where that counts:
    /// [`BrowserRequest::is_own`]. For the pages of this host and what they ask; no other wire looks at cookies.
    ///
    /// # Errors
    /// The store can't be asked, so that nobody knows.
    pub fn person<'a>(
        &'a self,
        request: BrowserRequest<'a>,
        agent: &'a Address,
        now: Timestamp,
        entropy: &'a dyn Entropy,
    ) -> MaybeBoxed<'a, Result<Option<Person>, StoreError>> {
        let (Some(sessions), true) = (&self.sessions, request.session_token().is_some()) else {
            return at_once(Ok(None));
        };
        in_time(|| self.signed_in(sessions, request, agent, now, entropy))
    }

    async fn signed_in(
        &self,
        sessions: &Sessions,
        request: BrowserRequest<'_>,
        agent: &Address,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<Option<Person>, StoreError> {
        let Some(token) = request.session_token() else { return Ok(None) };
        let Some(session) = sessions.find(token, now).await? else { return Ok(None) };
        let replaced = match session.token_is_old {
            true => sessions.replace(token, &session, now, entropy).await?,
            false => None,
        };
        let name = session.person.name().to_owned();
        let identities = vec![session.person.evidence(&agent.to_string(), session.until)];
        let (authority, agent) = self.authority(&identities);
        let sender = Sender {
            auth_method: "cookie-session".to_owned(),
            verified: true,
            profile: Some(Profile { display_name: Some(name.clone()), ..Profile::default() }),
            identities,
            authority,
            agent,
            ..Sender::anonymous()
        };
        let cookie =
            replaced.and_then(|token| sessions::session_cookie(&token, session.until, now, request.is_plain()));
        Ok(Some(Person { sender, name, cookie }))
    }

    /// Who sent `request`. Never fails: what can't be proven leaves the sender anonymous.
    pub fn verify<'a>(&'a self, request: &'a RequestProof<'a>) -> BoxFuture<'a, VerifiedSender> {
        Box::pin(self.sender(request, None))
    }

    /// The same for a request whose crawler was verified before, by [`Verifier::crawler`]: its nonce is used up.
    /// Everything else is verified for the agent that `request` names.
    pub fn verify_beside<'a>(
        &'a self,
        crawler: &'a VerifiedBot,
        request: &'a RequestProof<'a>,
    ) -> BoxFuture<'a, VerifiedSender> {
        Box::pin(self.sender(request, Some(crawler)))
    }

    /// The crawler that signed a request, and uses up the nonce of that. `None` where such signatures are not looked at,
    /// and where there is none. Web Bot Auth.
    ///
    /// # Errors
    /// The check of its signature that failed.
    pub fn crawler<'a>(
        &'a self,
        request: &'a RequestProof<'a>,
    ) -> BoxFuture<'a, Option<Result<VerifiedBot, ProofError>>> {
        Box::pin(self.bot(request))
    }

    /// A crawler as a sender to `agent`, by its signature alone.
    pub fn crawler_sender(&self, crawler: &VerifiedBot, agent: &Address) -> Sender {
        let identities = vec![crawler.evidence(agent)];
        let (authority, agent) = self.authority(&identities);
        Sender {
            auth_method: CRAWLER_METHOD.to_owned(),
            verified: true,
            key_id: Some(crawler.key_id.clone()),
            identities,
            authority,
            agent,
            bot: Some(Box::new(crawler.bot.clone())),
            ..Sender::anonymous()
        }
    }

    async fn sender(&self, request: &RequestProof<'_>, crawler: Option<&VerifiedBot>) -> VerifiedSender {
        let mut sender = Sender::anonymous();
        sender.claimed_address = claimed_address(request.headers);
        let presented = match self.own(request, crawler).await {
            Err(presented) => return VerifiedSender { sender, presented },
            Ok(own) => {
                let presented =
                    if own.method.is_some() { PresentedCredentials::Valid } else { PresentedCredentials::Nothing };
                let carried = evidence::decode(request.headers);
                // Forwarded identities first: the first one is the owner (`Sender::owner`), and the Connector's own
                // proof only names the relay.
                sender.identities = self.holding(&carried, request.agent, &own.identities, request.now).await;
                sender.identities.extend(own.identities);
                sender.verified = !sender.identities.is_empty();
                (sender.authority, sender.agent) = self.authority(&sender.identities);
                sender.address = own.address;
                sender.key_id = own.key_id;
                sender.token = own.token;
                sender.bot = own.bot.map(Box::new);
                if let Some(method) = own.method {
                    sender.auth_method = method.to_owned();
                }
                presented
            }
        };
        VerifiedSender { sender, presented }
    }

    /// The entries of forwarded evidence that hold, for `agent`. `own` is the evidence of the
    /// request itself. For carriers other than the header, such as the metadata of A2A messages.
    pub fn forwarded<'a>(
        &'a self,
        carried: &'a UnverifiedEvidence,
        agent: &'a Address,
        own: &'a [IdentityEvidence],
        now: Timestamp,
    ) -> MaybeBoxed<'a, Vec<IdentityEvidence>> {
        match carried.entries.is_empty() {
            true => at_once(Vec::new()),
            false => in_time(|| self.holding(carried, agent, own, now)),
        }
    }

    async fn holding(
        &self,
        carried: &UnverifiedEvidence,
        agent: &Address,
        own: &[IdentityEvidence],
        now: Timestamp,
    ) -> Vec<IdentityEvidence> {
        let mut holding = Vec::new();
        for entry in &carried.entries {
            match self.one_forwarded(entry, agent, own, now).await {
                Ok(evidence) => holding.push(evidence),
                Err(fault) => tracing::debug!(%fault, "forwarded evidence is left out"),
            }
        }
        holding
    }

    async fn one_forwarded(
        &self,
        entry: &Value,
        agent: &Address,
        own: &[IdentityEvidence],
        now: Timestamp,
    ) -> Result<IdentityEvidence, ProofError> {
        let entry = evidence::verify(&self.checked.issuers, entry, agent, own, now).await?;
        if self.checked.one_time_evidence {
            self.claim(&format!("evidence:{}", entry.replay_key), now, entry.until, true).await?;
        }
        Ok(entry.evidence)
    }

    /// What the request proves by itself. A signature names an agent, so it comes first; a token
    /// beside it must hold too.
    async fn own(
        &self,
        request: &RequestProof<'_>,
        crawler: Option<&VerifiedBot>,
    ) -> Result<Own, PresentedCredentials> {
        let mut own = Own::default();
        if let Some(signed) = self.signed(request).await.transpose().map_err(PresentedCredentials::InvalidSignature)? {
            own.address = signed.address.to_string();
            own.key_id = Some(signed.key_id);
            own.method = Some("http-message-signature");
            own.identities.push(signed.evidence);
        }
        let crawler = match crawler {
            Some(crawler) => Some(crawler.clone()),
            None => self.bot(request).await.transpose().map_err(PresentedCredentials::InvalidSignature)?,
        };
        if let Some(bot) = crawler {
            own.method.get_or_insert(CRAWLER_METHOD);
            own.identities.push(bot.evidence(request.agent));
            own.key_id.get_or_insert(bot.key_id);
            own.bot = Some(bot.bot);
        }
        if let Some(evidence) = self.borne(request).await.transpose()? {
            if evidence.method == bearer::METHOD {
                own.token = bearer::token(request.headers).and_then(Result::ok).map(SubjectToken::new);
            }
            own.method.get_or_insert(if evidence.method == api_keys::METHOD { "api-key" } else { "http-bearer" });
            own.identities.push(evidence);
        }
        Ok(own)
    }

    /// The signature of a request, where signatures are looked at and there is one. RFC 9421.
    async fn signed(
        &self,
        request: &RequestProof<'_>,
    ) -> Option<Result<http_signature::VerifiedSignature, ProofError>> {
        let (policy, directory) = (self.checked.signatures.as_ref()?, self.directory.as_ref()?);
        let signed = match http_signature::verify(policy, directory.as_ref(), request).await? {
            Ok(signed) => signed,
            Err(fault) => return Some(Err(fault)),
        };
        let Some(nonce) = &signed.nonce else { return Some(Ok(signed)) };
        // After the signature holds, and by agent: nobody can use up the nonces of somebody else.
        let key = format!("nonce:{} {nonce}", signed.address);
        let claimed = self.claim(&key, request.now, signed.until, policy.require_nonce).await;
        Some(claimed.map(|()| signed))
    }

    /// The crawler that signed a request, where such signatures are looked at and there is one. Web Bot Auth.
    async fn bot(&self, request: &RequestProof<'_>) -> Option<Result<VerifiedBot, ProofError>> {
        let agents = self.signature_agents.as_ref()?;
        let bot = match bots::verify(agents, &self.checked.bots, request).await? {
            Ok(bot) => bot,
            Err(fault) => return Some(Err(fault)),
        };
        let Some(nonce) = &bot.nonce else { return Some(Ok(bot)) };
        // After the signature holds, and by agent, as with other signatures.
        let key = format!("nonce:{} {nonce}", bot.subject());
        let claimed = self.claim(&key, request.now, bot.until, false).await;
        Some(claimed.map(|()| bot))
    }

    /// The evidence of a bearer token, where tokens are looked at and there is one. RFC 6750.
    async fn borne(&self, request: &RequestProof<'_>) -> Option<Result<IdentityEvidence, PresentedCredentials>> {
        if self.checked.bearer.is_empty() && self.api_keys.is_none() {
            return None;
        }
        let token = match bearer::token(request.headers)? {
            Ok(token) => token,
            // Without configured issuers a malformed token is ignored, as a well-formed one is.
            Err(_) if self.checked.bearer.is_empty() => return None,
            Err(fault) => return Some(Err(PresentedCredentials::Invalid(fault))),
        };
        match &self.api_keys {
            Some(keys) if api_keys::is_api_key(token) => Some(self.keyed(keys, token, request).await),
            _ if self.checked.bearer.is_empty() => None,
            _ => {
                let verified = bearer::verify(&self.checked.bearer, token, request.now).await;
                Some(verified.map_err(PresentedCredentials::Invalid))
            }
        }
    }

    /// The evidence of an API key.
    async fn keyed(
        &self,
        keys: &ApiKeys,
        token: &str,
        request: &RequestProof<'_>,
    ) -> Result<IdentityEvidence, PresentedCredentials> {
        keys.verify(token, request.agent, request.now).await.map_err(|refusal| match refusal {
            ApiKeyRefusal::Proof(fault) => PresentedCredentials::Invalid(fault),
            ApiKeyRefusal::Limited(limit, retry_after_seconds) => {
                PresentedCredentials::Limited { limit, retry_after_seconds }
            }
        })
    }

    /// Uses up a nonce or an entry of evidence, before the request has any effect. [`ProofError::Replayed`]: it was
    /// used before.
    async fn claim(&self, key: &str, now: Timestamp, until: Timestamp, required: bool) -> Result<(), ProofError> {
        let Some(store) = &self.seen else {
            // Nothing remembers here: what must be single use is refused, as it could be replayed.
            return if required { Err(ProofError::KeysUnavailable) } else { Ok(()) };
        };
        match store.claim_once(key, now, until).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(ProofError::Replayed),
            // A store that is away is no replay: the caller is told to try again, and not that its proof is bad.
            Err(_) => Err(ProofError::KeysUnavailable),
        }
    }
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verifier").finish_non_exhaustive()
    }
}

/// The address in `X-Mentionable-From`, when it is one. A hint and no more (REST 7.4).
fn claimed_address(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(FROM_HEADER)?.to_str().ok()?;
    Some(Address::parse(text.trim()).ok()?.to_string())
}
