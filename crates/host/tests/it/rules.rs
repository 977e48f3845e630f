//! Rules as an operator writes them: what each refuses, what it requires, and what it does not let be written.

mod callers;
mod limits;

use std::sync::Arc;

use forecourt_core::policy::{
    AcceptedPayment, Charge, Demand, Objection, OfferBuilder, OfferContext, PaidFor, RefusalKind, Requirement,
};
use forecourt_core::{AgentCard, Ending, Handle, IdentityEvidence, Language, Message, Policy, PolicyPart, Sender};
use forecourt_host::Run;
use forecourt_rules::{
    BuiltRule, CountryTable, GuardServices, RuleContext, RuleProblem, RuleServices, RuleSettings, rules,
};
use forecourt_testkit::{HandClock, ScriptedAgent, card};
use futures::FutureExt;
use serde_json::{Map, Value, json};

use crate::support::{Setup, handle, message, signed_in, site};

/// A scheme whose offers are a number of coins.
struct Coins;

impl OfferBuilder for Coins {
    fn key(&self) -> &'static str {
        "coins"
    }

    fn offers(&self, settings: &Map<String, Value>, of: &OfferContext<'_>) -> Result<Vec<AcceptedPayment>, String> {
        let count = settings.get("count").and_then(Value::as_u64).ok_or("`count` is missing")?;
        let Value::Object(payload) = json!({"count": count, "for": of.agent, "price": of.price}) else {
            return Ok(vec![]);
        };
        Ok(vec![AcceptedPayment { scheme: "coins.plain".into(), payload }])
    }
}

/// What rules are built from here.
struct Place {
    clock: Arc<HandClock>,
    services: RuleServices,
    countries: Option<Arc<CountryTable>>,
}

impl Default for Place {
    fn default() -> Self {
        Self { clock: Arc::new(HandClock::new()), services: RuleServices::default(), countries: None }
    }
}

impl Place {
    /// The rules of a list as it stands in a file.
    fn rules(&self, list: Value) -> Result<Vec<BuiltRule>, Vec<RuleProblem>> {
        let settings: Vec<RuleSettings> = serde_json::from_value(list).unwrap();
        rules(
            &settings,
            &RuleContext {
                sign_in: None,
                site: &site(),
                agent: &handle(),
                scope: "@bot".into(),
                services: self.services.clone(),
                countries: self.countries.clone(),
                offers: &[Arc::new(Coins)],
                clock: self.clock.clone(),
                guards: GuardServices::default(),
            },
        )
    }

    /// What the rules of a list say of a message.
    fn judge(&self, list: Value, message: Message) -> Result<(), Objection> {
        let policy = Policy::new(self.rules(list).unwrap());
        let card: Arc<AgentCard> = Arc::new(card("bot"));
        policy.admit(card, message, &[]).now_or_never().unwrap().map(drop).map_err(|(_, objection)| objection)
    }

    fn refused(&self, list: Value, message: Message) -> Box<PolicyPart> {
        match self.judge(list, message) {
            Err(Objection::Refused(part)) => part,
            other => panic!("{other:?}"),
        }
    }

    fn required(&self, list: Value, message: Message) -> Box<Requirement> {
        match self.judge(list, message) {
            Err(Objection::Required(requirement)) => requirement,
            other => panic!("{other:?}"),
        }
    }

    fn problem(&self, list: Value) -> RuleProblem {
        self.rules(list).map(|_| ()).unwrap_err().remove(0)
    }
}

fn from(sender: Sender) -> Message {
    Message { sender, ..message("hi") }
}

fn evidence(issuer: &str, subject: &str) -> IdentityEvidence {
    serde_json::from_value(json!({
        "subject": subject, "issuer": issuer, "method": "urn:test:token", "assurance": "oauth", "audience": "@bot@demo.localhost",
        "issued_at": "2026-01-01T00:00:00Z", "proof": {"type": "bearer-token"},
    }))
    .unwrap()
}

fn proven(issuer: &str, subject: &str) -> Sender {
    Sender { identities: vec![evidence(issuer, subject)], ..signed_in("") }
}

#[tokio::test]
async fn rules_refuse_in_the_order_in_which_they_are_written() {
    let law = json!({"kind": "legal", "message": "a court", "url": "https://demo.localhost/why"});
    let closed = json!({"kind": "maintenance", "retry_after_seconds": 60});
    let identity = json!({"kind": "require_identity"});
    let deny = json!({"kind": "deny", "networks": ["192.0.2.0/24"]});
    let cases = [
        (json!([law, closed]), "unavailable_for_legal_reasons"),
        (json!([closed, law]), "service_unavailable"),
        (json!([identity]), "unauthorized"),
        (json!([deny, identity]), "forbidden"),
    ];
    for (list, kind) in cases {
        let setup = Setup { rules: Place::default().rules(list).unwrap(), ..Setup::default() };
        let agent = ScriptedAgent::saying(["never"]);
        let host = setup.host(agent.clone()).await;
        let answer = host.receive(message("hi"), Run::without_task()).await.unwrap().collect().await;
        let Ending::Refused(part) = answer.ending else { panic!("{kind}: {:?}", answer.ending) };
        assert_eq!(part.kind(), kind);
        assert_eq!(agent.begun_and_left(), (0, 0), "{kind}: the agent was reached");
    }
}

#[test]
fn policy3_2_a_url_elsewhere_is_refused_at_load() {
    let place = Place::default();
    for url in ["https://evil.example/", "http://demo.localhost/", "https://demo.localhost@evil.example/", "/why"] {
        let problem = place.problem(json!([{"kind": "legal", "message": "x", "url": url}]));
        assert_eq!(problem.key, Some("url"), "{url}");
    }
    let second = place
        .problem(json!([{"kind": "maintenance"}, {"kind": "deny", "subjects": ["*"], "url": "https://x.example/"}]));
    assert_eq!((second.index, second.key), (1, Some("url")));
}

#[test]
fn a_caller_without_proof_is_unauthorized_and_one_with_another_proof_is_forbidden() {
    let place = Place::default();
    let list = json!([{
        "kind": "require_identity", "issuers": ["https://login.example*"], "subjects": ["oauth:ada", "oauth:b*"],
        "message": "Sign in.", "url": "https://demo.localhost/login",
    }]);
    let part = place.refused(list.clone(), message("hi"));
    let RefusalKind::Unauthorized { auth_challenges } = &part.kind else { panic!("{part:?}") };
    assert_eq!(auth_challenges[0].encode().unwrap(), "Bearer realm=\"demo.localhost\"");
    assert_eq!((part.message.as_str(), part.url.as_deref()), ("Sign in.", Some("https://demo.localhost/login")));
    for (issuer, subject) in [("https://login.example", "oauth:eve"), ("https://other.example", "oauth:ada")] {
        let part = place.refused(list.clone(), from(proven(issuer, subject)));
        assert_eq!(part.kind, RefusalKind::Forbidden, "{issuer} {subject}");
    }
    for subject in ["oauth:ada", "oauth:bob"] {
        place.judge(list.clone(), from(proven("https://login.example/realm", subject))).unwrap();
    }
    // What is claimed and not verified is no proof at all.
    let claimed = Sender { verified: false, ..proven("https://login.example", "oauth:ada") };
    assert_eq!(place.refused(list, from(claimed)).kind(), "unauthorized");
}

#[test]
fn a_proof_must_fit_every_list_by_itself() {
    let place = Place::default();
    let list = json!([{"kind": "require_identity", "issuers": ["a.example"], "subjects": ["x:ada"]}]);
    let mixed =
        Sender { identities: vec![evidence("a.example", "x:eve"), evidence("b.example", "x:ada")], ..signed_in("") };
    assert_eq!(place.refused(list, from(mixed)).kind(), "forbidden");
}

#[test]
fn policy3_3_1_challenges_come_from_the_file_and_none_can_leave_its_header() {
    let place = Place::default();
    let list = json!([{"kind": "require_identity", "challenges": [
        {"scheme": "DPoP", "params": {"algs": "ES256"}}, {"scheme": "Bearer", "params": {"realm": "a \"b\""}},
    ]}]);
    let part = place.refused(list, message("hi"));
    let RefusalKind::Unauthorized { auth_challenges } = &part.kind else { panic!("{part:?}") };
    let encoded: Vec<_> = auth_challenges.iter().map(|c| c.encode().unwrap()).collect();
    assert_eq!(encoded, ["DPoP algs=\"ES256\"", "Bearer realm=\"a \\\"b\\\"\""]);
    for params in [json!({"realm": "a\r\nSet-Cookie: x"}), json!({"re alm": "a"})] {
        let list = json!([{"kind": "require_identity", "challenges": [{"scheme": "Bearer", "params": params}]}]);
        assert_eq!(place.problem(list).key, Some("challenges"));
    }
}

#[test]
fn a_consent_is_required_with_its_text_version_and_scope() {
    let list = json!([{
        "kind": "require_consent", "name": "terms", "text": "You agree.", "version": "2", "title": "Terms",
        "lifetime": "30d", "scope": {"purpose": "answers"}, "translations": {"de": {"title": "Bedingungen", "message": "Bitte."}},
    }]);
    let required = Place::default().required(list, message("hi"));
    assert_eq!((required.rule.as_str(), required.message.as_str()), ("terms", "You agree."));
    assert_eq!(required.message_translations["de"].title.as_deref(), Some("Bedingungen"));
    let Demand::Consent(terms) = required.demand else { panic!() };
    assert_eq!(Value::Object(terms.scope), json!({"text": "You agree.", "version": "2", "purpose": "answers"}));
    assert_eq!(terms.lifetime_seconds, Some(30 * 86_400));
}

#[test]
fn a_consent_that_can_not_be_asked_for_is_refused_at_load() {
    let place = Place::default();
    let text = "x".repeat(16 * 1024);
    assert!(place.rules(json!([{"kind": "require_consent", "text": text}])).is_ok());
    for (key, rule) in [
        ("text", json!({"kind": "require_consent", "text": text + "x"})),
        ("text", json!({"kind": "require_consent", "text": " "})),
        ("scope", json!({"kind": "require_consent", "text": "a", "scope": {"version": 1}})),
        ("translations", json!({"kind": "require_consent", "text": "a", "translations": {"not a tag": "x"}})),
        ("url", json!({"kind": "require_consent", "text": "a", "url": "https://demo.localhost/terms"})),
    ] {
        assert_eq!(place.problem(json!([rule])).key, Some(key), "{rule}");
    }
}

#[test]
fn a_payment_is_required_with_its_offers_in_their_order() {
    let list = json!([{
        "kind": "require_payment", "price": "2 coins", "per": {"period": "30d"},
        "offers": [{"coins": {"count": 2}}, {"scheme": "ln.invoice", "payload": {"a": 1, "__proto__": {}}}],
    }]);
    let required = Place::default().required(list, message("hi"));
    let Demand::Payment(terms) = required.demand else { panic!() };
    assert_eq!((terms.price.as_str(), terms.covers), ("2 coins", PaidFor::Period { seconds: 30 * 86_400 }));
    let schemes: Vec<_> = terms.accepted.iter().map(|offer| offer.scheme.as_str()).collect();
    assert_eq!(schemes, ["coins.plain", "ln.invoice"]);
    assert_eq!(json!(terms.accepted[0].payload), json!({"count": 2, "for": "bot", "price": "2 coins"}));
    assert_eq!(json!(terms.accepted[1].payload), json!({"a": 1}));
}

#[test]
fn a_message_is_charged_for_when_it_is_answered_and_what_is_bought_at_once() {
    let place = Place::default();
    let rule = |per: Value, charge: Option<&str>| {
        let mut rule =
            json!({"kind": "require_payment", "price": "1", "per": per, "offers": [{"coins": {"count": 2}}]});
        if let Some(charge) = charge {
            rule["charge"] = charge.into();
        }
        json!([rule])
    };
    let period = json!({"period": "30d"});
    for (per, said, charge) in [
        (json!("turn"), None, Charge::After),
        (json!("turn"), Some("after"), Charge::After),
        (json!("turn"), Some("before"), Charge::Before),
        (period.clone(), None, Charge::Before),
        (period.clone(), Some("before"), Charge::Before),
    ] {
        let Demand::Payment(terms) = place.required(rule(per, said), message("hi")).demand else { panic!() };
        assert_eq!((terms.charge, terms.is_charged_after()), (charge, charge == Charge::After), "{said:?}");
    }
    assert_eq!(place.problem(rule(period, Some("after"))).key, Some("charge"));
}

#[test]
fn payments_last_by_a_name_that_one_rule_of_one_price_has() {
    let pay = |name: &str, bots: Value| {
        let offers = json!([{"coins": {"count": 2}}]);
        json!({"kind": "require_payment", "name": name, "price": "1", "bots": bots, "offers": offers})
    };
    let everybody = || json!([]);
    for (list, lasting) in [
        (json!([{"kind": "require_identity"}]), vec![]),
        (json!([pay("a", everybody())]), vec!["a"]),
        (json!([pay("a", json!(["*"]))]), vec!["a"]),
        (json!([pay("a", everybody()), pay("b", json!(["*"]))]), vec!["a", "b"]),
        (json!([pay("a", everybody()), pay("b", everybody()), pay("a", json!(["*"]))]), vec!["b"]),
    ] {
        let policy = Policy::new(Place::default().rules(list.clone()).unwrap());
        assert_eq!(policy.lasting(), lasting, "{list}");
    }
}

#[test]
fn policy_f7_deductions_have_the_caps_of_the_file() {
    let rule = json!({
        "kind": "require_payment", "price": "0.05 USD", "per": "credit", "offers": [{"coins": {"count": 2}}],
        "credit": {"per_turn": "0.05", "unit": "USDC", "decimals": 6},
        "auto_deduct": {"per_turn_max_usd": "0.05", "period_max_usd": "10.00", "period": "monthly"},
    });
    let required = Place::default().required(json!([rule]), message("hi"));
    assert_eq!(required.kind(), "payment_required");
    let Demand::Consent(terms) = &required.deduction_consent().unwrap().demand else { panic!() };
    let scope =
        json!({"auto_deduct": true, "per_turn_max_usd": "0.05", "period_max_usd": "10.00", "period": "monthly"});
    assert_eq!(json!(terms.scope), scope);
}

#[test]
fn a_payment_that_can_not_be_made_is_refused_at_load() {
    let place = Place::default();
    let offer = json!({"coins": {"count": 1}});
    let full: Vec<Value> = vec![offer.clone(); 16];
    let over: Vec<Value> = vec![offer.clone(); 17];
    let rule = |price: &str, per: Value, offers: Value| json!([{"kind": "require_payment", "price": price, "per": per, "offers": offers}]);
    assert!(place.rules(rule("1", json!("turn"), json!(full))).is_ok());
    for (key, list) in [
        ("offers", rule("1", json!("turn"), json!([]))),
        ("offers", rule("1", json!("turn"), json!(over))),
        ("offers", rule("1", json!("turn"), json!([{"stripe": {}}]))),
        ("offers", rule("1", json!("turn"), json!([{"coins": {}}]))),
        ("offers", rule("1", json!("turn"), json!([{"scheme": "a.b"}]))),
        ("offers", rule("1", json!("turn"), json!([{"scheme": "a.b", "payload": {}, "more": 1}]))),
        ("price", rule(" ", json!("turn"), json!([offer]))),
    ] {
        assert_eq!(place.problem(list.clone()).key, Some(key), "{list}");
    }
    for amount in ["", "0", "-1", "1e3", "1.", ".5", "1.2.3", "000", "0.0000001"] {
        let rule = |per_turn: &str, cap: &str| {
            json!([{
                "kind": "require_payment", "price": "1", "per": "credit", "offers": [offer],
                "credit": {"unit": "USDC", "per_turn": per_turn, "decimals": 6},
                "auto_deduct": {"per_turn_max_usd": cap, "period_max_usd": "1", "period": "daily"},
            }])
        };
        assert!(place.rules(rule("0.05", "0.05")).is_ok());
        assert_eq!(place.problem(rule(amount, "1")).key, Some("credit"), "{amount}");
        assert_eq!(place.problem(rule("1", amount)).key, Some("auto_deduct"), "{amount}");
    }
    assert_eq!(place.problem(rule("1", json!("credit"), json!([offer]))).key, Some("credit"));
    let caps = json!({"per_turn_max_usd": "1", "period_max_usd": "1", "period": "daily"});
    let list = json!([{"kind": "require_payment", "price": "1", "offers": [offer], "auto_deduct": caps}]);
    assert_eq!(place.problem(list).key, Some("auto_deduct"));
}

#[test]
fn policy3_2_messages_are_told_in_the_language_that_suits() {
    let list =
        json!([{"kind": "maintenance", "message": "Closed.", "translations": {"de": "Zu.", "pt-BR": "Fechado."}}]);
    let part = Place::default().refused(list, message("hi"));
    let told = |tag: &str| part.in_language(Language::parse(tag).as_ref()).1.to_owned();
    assert_eq!((told("de-AT").as_str(), told("pt-br").as_str(), told("pt").as_str()), ("Zu.", "Fechado.", "Closed."));
}

#[test]
fn a_window_says_when_it_is_over() {
    let place = Place::default();
    let now = forecourt_core::Clock::now(&*place.clock);
    let at = |seconds: i64| (now + jiff_seconds(seconds)).to_string();
    let closed = json!([{"kind": "maintenance", "from": at(-60), "until": at(90)}]);
    let part = place.refused(closed, message("hi"));
    assert_eq!(part.kind, RefusalKind::ServiceUnavailable { retry_after_seconds: Some(90) });
    place.judge(json!([{"kind": "maintenance", "from": at(60), "until": at(90)}]), message("hi")).unwrap();
    place.judge(json!([{"kind": "maintenance", "until": at(0)}]), message("hi")).unwrap();
}

fn jiff_seconds(seconds: i64) -> jiff::SignedDuration {
    jiff::SignedDuration::from_secs(seconds)
}

#[test]
fn a_hundred_rules_are_built_and_one_more_is_refused() {
    let place = Place::default();
    let list = |count: usize| Value::Array(vec![json!({"kind": "maintenance"}); count]);
    assert!(place.rules(list(100)).is_ok());
    assert_eq!(place.problem(list(101)).index, 100);
}

#[test]
fn keys_that_no_kind_has_are_refused() {
    for rule in [
        json!({"kind": "maintenance", "retry": 1}),
        json!({"kind": "limit", "by": "address", "requests": 1, "per": "1m", "burts": 2}),
        json!({"kind": "legal", "message": "x", "networks": []}),
        json!({"kind": "nonsense"}),
        json!({"kind": "limit", "by": "address", "requests": 0, "per": "1m"}),
        json!({"kind": "limit", "by": "address", "requests": 1, "per": "11y"}),
    ] {
        assert!(serde_json::from_value::<RuleSettings>(rule.clone()).is_err(), "{rule}");
    }
}

#[test]
fn a_rule_of_the_host_stands_before_the_agents_that_it_names() {
    use forecourt_rules::HostRuleSettings;
    let read = |rule: Value| serde_json::from_value::<HostRuleSettings>(rule).unwrap();
    let (bot, chef) = (handle(), Handle::parse("chef").unwrap());
    let all = read(json!({"kind": "maintenance"}));
    assert!(all.is_before(&bot) && all.is_before(&chef));
    let one = read(json!({"kind": "maintenance", "agents": ["bot"], "message": "x"}));
    assert!(one.is_before(&bot) && !one.is_before(&chef));
    let others = read(json!({"kind": "maintenance", "except": ["bot"]}));
    assert!(!others.is_before(&bot) && others.is_before(&chef));
}
