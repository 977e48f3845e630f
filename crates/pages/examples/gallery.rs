//! Writes one page of each kind to a folder, to look at: `cargo run --example gallery -- DIR`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use forecourt_core::agent::{AgentCard, Endpoint, Skill};
use forecourt_core::part::{Artifact, ArtifactContent};
use forecourt_core::policy::{
    AcceptedPayment, AuthChallenge, Charge, ConsentTerms, Demand, PaidFor, PaymentTerms, RefusalKind, Requirement,
};
use forecourt_core::{
    Address, CollectedReply, Ending, File, Language, Link, Part, PolicyPart, Question, ToolCall, ToolOutcome,
};
use forecourt_pages::{
    AgentListItem, AgentPage, Branding, CardPanel, DecisionPage, DecisionStatus, DecisionVisitor, ErrorPage, FrontPage,
    RefusalPage, ReplyPage,
};
use serde_json::json;

const ANSWER: &str = r#"
Two recipes fit *something quick with chickpeas, no nuts*:

- **[Chana masala](https://demo.localhost/recipes/chana)** is ready in 25 minutes. Chickpeas simmered with tomato, ginger and garam masala. No nuts.
- **[Lemon chickpea salad](https://demo.localhost/recipes/salad)** is ready in 10 minutes. No cooking at all.

## How they compare

| Recipe | Minutes | Serves |
|:-------|--------:|:------:|
| Chana masala | 25 | 4 |
| Lemon chickpea salad | 10 | 2 |

> Rinse tinned chickpeas well; it takes most of the salt away.

1. Warm the oil.
2. Add the spices, and wait until they *smell*.

- [x] chickpeas
- [ ] lemon

```sh
curl 'https://demo.localhost/~chef?user=more'
```
"#;

fn main() -> std::io::Result<()> {
    let dir = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".to_owned()));
    let (chef, gate) = (chef(), gate());
    let (english, brand) = (Language::english(), Branding::default());
    write(&dir, "reply.html", &reply(&chef, &english))?;
    write(&dir, "question.html", &question(&chef, &english))?;
    for part in refusals() {
        let page = RefusalPage {
            brand: &Branding::default(),
            card: &gate,
            url: "https://demo.localhost/~gate?user=pay",
            language: &english,
            worded: &english,
            part: &part,
            asked: &[Part::text("pay")],
            path: "/~gate",
            account: Default::default(),
            price: ("0.05 USDC", &["Base".to_owned()]),
        };
        write(&dir, &format!("{}.html", part.kind()), &page.render())?;
    }
    for (name, page) in decisions(&chef) {
        write(&dir, name, &page)?;
    }
    write(&dir, "error.html", &error(&chef, &english))?;
    write(&dir, "index.html", &front(&brand, &chef, &gate, &english).0)?;
    write(&dir, "index.md", &front(&brand, &chef, &gate, &english).1)?;
    write(&dir, "agent.html", &agent(&brand, &chef, &english).render())?;
    write(&dir, "agent.md", &agent(&brand, &chef, &english).render_markdown())?;
    for path in brand.asset_paths() {
        let content = brand.asset(path).map(|asset| String::from_utf8_lossy(&asset.bytes).into_owned());
        write(&dir, path.trim_start_matches('/'), &content.unwrap_or_default())?;
    }
    Ok(())
}

fn write(dir: &Path, name: &str, content: &str) -> std::io::Result<()> {
    let file = dir.join(name);
    std::fs::create_dir_all(file.parent().unwrap_or(dir))?;
    std::fs::write(file, content)
}

fn card(address: &str, name: &str, description: &str, skills: &[(&str, &str)], examples: &[&str]) -> AgentCard {
    let address: Address = address.parse().expect("an address");
    let handle = address.local().as_str().to_owned();
    let endpoint = |protocol, path: &str| Endpoint::new(protocol, format!("https://demo.localhost:8443{path}"));
    AgentCard {
        name: name.to_owned(),
        description: description.to_owned(),
        version: "1.0.0".to_owned(),
        icon: None,
        skills: skills.iter().map(|(name, description)| skill(name, description)).collect(),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
        homepage: None,
        language: Language::english(),
        streams: true,
        uses_tools: true,
        remembers: true,
        composes: false,
        wants_token: false,
        finds: false,
        cors: false,
        cache_control: None,
        examples: examples.iter().map(|&text| text.to_owned()).collect(),
        via: Vec::new(),
        endpoints: vec![
            endpoint("web", &format!("/~{handle}")),
            endpoint("agents", &format!("/agents/{handle}")),
            endpoint("search", &format!("/~{handle}/ask")),
            endpoint("tools", &format!("/tools/{handle}")),
        ],
        address,
    }
}

fn skill(name: &str, description: &str) -> Skill {
    let (name, description) = (name.to_owned(), description.to_owned());
    Skill { id: name.clone(), name, description, tags: Vec::new(), examples: Vec::new() }
}

fn chef() -> AgentCard {
    card(
        "@chef@demo.localhost",
        "Chef",
        "Finds a recipe among three thousand, by what is in the cupboard and how much time there is.",
        &[("Find recipes", "by ingredient, time and diet"), ("Compare", "two or more recipes side by side")],
        &["Something quick with chickpeas, no nuts", "A cake for eight people", "What can I do with old bread?"],
    )
}

fn gate() -> AgentCard {
    card("@gate@demo.localhost", "Gate", "Shows every refusal on request.", &[("refuse", "")], &["pay", "consent"])
}

fn reply(card: &AgentCard, language: &Language) -> String {
    let recipe = json!({
        "@type": "Recipe", "name": "Chana masala", "url": "https://demo.localhost/recipes/chana",
        "description": "Chickpeas simmered with tomato, ginger and garam masala.", "totalTime": "PT25M",
        "recipeYield": 4, "author": {"name": "Ada"}, "matched": ["chickpeas", "no nuts", "under 30 min"],
    });
    let salad = json!({"@type": "Recipe", "name": "Lemon chickpea salad", "totalTime": "PT10M"});
    let call = ToolCall {
        id: "c1".to_owned(),
        name: "search".to_owned(),
        args: json!({"q": "chickpeas", "max_minutes": 30}),
        outcome: ToolOutcome::Result(json!({"hits": 2})),
    };
    let artifact = Artifact {
        mime: "text/plain".to_owned(),
        artifact_type: None,
        name: Some("Shopping list".to_owned()),
        content: ArtifactContent::Text("2 tins of chickpeas\n1 lemon".to_owned()),
    };
    let link = Link {
        url: "https://demo.localhost/recipes".to_owned(),
        title: Some("All recipes".to_owned()),
        description: Some("Three thousand of them.".to_owned()),
    };
    let collected = CollectedReply {
        findings: None,
        usage: forecourt_core::AnswerUsage::default(),
        receipt: None,
        parts: vec![
            Part::markdown(ANSWER),
            Part::data(json!([recipe, salad])),
            Part::Link(link),
            Part::File(File::inline("image/png", Some("chana.png".to_owned()), vec![0; 34_567].into())),
            Part::Artifact(artifact),
            Part::ToolCall(call),
        ],
        ending: Ending::Complete,
    };
    let url = "https://demo.localhost/~chef?user=something%20quick";
    ReplyPage {
        brand: &Branding::default(),
        card,
        url,
        language,
        collected: &collected,
        path: "/~chef",
        session: Some("abc"),
        asked: &[Part::text("something quick with chickpeas, no nuts")],
        kept_under: None,
        account: Default::default(),
        transaction: None,
    }
    .render()
}

fn question(card: &AgentCard, language: &Language) -> String {
    let question = Question {
        text: "For how many people should it be?".to_owned(),
        questions: vec![json!({"question": "Two"}), json!({"question": "Four or more"})],
    };
    let collected = CollectedReply::new(vec![Part::markdown("Gladly.")], Ending::Question(question));
    let url = "https://demo.localhost/~chef?user=cake";
    let asked = [Part::text("I would like a cake.")];
    ReplyPage {
        brand: &Branding::default(),
        card,
        url,
        language,
        collected: &collected,
        path: "/~chef",
        session: None,
        asked: &asked,
        kept_under: None,
        account: Default::default(),
        transaction: None,
    }
    .render()
}

/// A consent and a payment, open and as they end.
fn decisions(card: &AgentCard) -> Vec<(&'static str, String)> {
    let object = |value: serde_json::Value| value.as_object().cloned().unwrap_or_default();
    let consent = Demand::Consent(ConsentTerms {
        scope: object(json!({
            "text": "Chef keeps your questions for a month, to suggest dishes that you like.",
            "version": "2026-05", "data_kept": ["questions", "allergies"], "shared_with_others": false,
            "terms": "https://demo.localhost/terms",
        })),
        lifetime_seconds: Some(30 * 86_400),
    });
    let offer = json!({"x402Version": 1, "error": "payment required", "accepts": [{
        "scheme": "exact", "network": "base-sepolia", "maxAmountRequired": "50000",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
        "resource": "https://demo.localhost/~chef", "description": "An answer", "maxTimeoutSeconds": 300,
        "extra": {"name": "USDC", "version": "2"},
    }]});
    let payment = Demand::Payment(PaymentTerms {
        accepted: vec![AcceptedPayment { scheme: "x402.exact".to_owned(), payload: object(offer) }],
        price: "0.05 USDC".to_owned(),
        covers: PaidFor::Turn,
        credit: None,
        charge: Charge::After,
    });
    let requirement = |message: &str, demand| Requirement {
        rule: "terms".to_owned(),
        title: None,
        message: message.to_owned(),
        message_translations: Default::default(),
        demand,
    };
    let consent = requirement("Chef remembers what you ask. That needs your agreement.", consent);
    let payment = requirement("Chef's answers are made by a cook, who is paid for each of them.", payment);
    let amounts = [(1, "0.50 EUR".to_owned())];
    let page = |requirement: &Requirement, status, fault| {
        DecisionPage {
            brand: &Branding::default(),
            card,
            url: "https://demo.localhost/pay/k3P9x0vQ7mA2tY5rB8nC1dE4fG6hJ0kL3mN5pQ7rS9u",
            language: None,
            requirement,
            asked: &[Part::text("Something quick with chickpeas, but no nuts?\nFor four.")],
            agent_path: "/~chef",
            path: "/pay/k3P9x0vQ7mA2tY5rB8nC1dE4fG6hJ0kL3mN5pQ7rS9u",
            token: "T",
            return_to: Some("/~chef?state=k3P9"),
            time_left: Duration::from_secs(3_540),
            status,
            fault,
            receipt_callback: None,
            visitor: DecisionVisitor::MayDecide,
            networks: &["Base".to_owned()],
            wallet: None,
            by_card: Some(CardPanel { origin: "https://checkout.example", amounts: &amounts, is_begun: false }),
            credit: None,
        }
        .render()
    };
    let fault = Some("The wallet holds less than the price.");
    vec![
        ("consent.html", page(&consent, DecisionStatus::Open, None)),
        ("consent-done.html", page(&consent, DecisionStatus::Done, None)),
        ("consent-declined.html", page(&consent, DecisionStatus::Declined, None)),
        ("payment.html", page(&payment, DecisionStatus::Open, None)),
        ("payment-refused.html", page(&payment, DecisionStatus::Open, fault)),
        ("payment-pending.html", page(&payment, DecisionStatus::Pending, None)),
        ("payment-done.html", page(&payment, DecisionStatus::Done, None)),
    ]
}

fn refusals() -> Vec<PolicyPart> {
    let payload = json!({"network": "base", "asset": "USDC", "maxAmountRequired": "5000000"});
    let payment =
        AcceptedPayment { scheme: "x402.exact".to_owned(), payload: payload.as_object().cloned().unwrap_or_default() };
    let mut pay = PolicyPart::new(
        RefusalKind::PaymentRequired { accepted_payments: vec![payment] },
        "A backtest over thirty years costs five dollars.\nYou pay once, and can run it again for a week.",
    );
    pay.url = Some("https://demo.localhost/pay/demo".to_owned());
    pay.action_label = Some("Pay 5 USDC on Base".to_owned());
    let challenges = vec![AuthChallenge::new("Bearer").with("realm", "kitchen")];
    let wait = RefusalKind::TooManyRequests { retry_after_seconds: Some(90) };
    let mut blocked =
        PolicyPart::new(RefusalKind::UnavailableForLegalReasons, "A court order forbids this answer in your country.");
    blocked.url = Some("https://demo.localhost/legal".to_owned());
    vec![
        pay,
        PolicyPart::new(RefusalKind::Unauthorized { auth_challenges: challenges }, "This agent answers members only."),
        PolicyPart::new(wait, "That was a lot of questions."),
        blocked,
    ]
}

fn error(card: &AgentCard, language: &Language) -> String {
    ErrorPage {
        brand: &Branding::default(),
        asked: "hello",
        path: Some("/~chef"),
        may_work_again: false,
        address: Some(&card.address),
        url: "https://demo.localhost/~chef?q=hello",
        language,
        title: "The question is missing",
        message: "The query has no `user` entry, so there is nothing to answer.",
        is_english: true,
        hint: Some("GET /~chef?user=Something%20quick%20with%20chickpeas"),
    }
    .render()
}

fn front(brand: &Branding, chef: &AgentCard, gate: &AgentCard, language: &Language) -> (String, String) {
    let agents = [
        AgentListItem { card: chef, page: "/~chef", ask: Some("https://demo.localhost:8443/~chef") },
        AgentListItem { card: gate, page: "/~gate", ask: Some("https://demo.localhost:8443/~gate") },
    ];
    let page = FrontPage {
        brand,
        ask: agents.first(),
        name: "Demo kitchen",
        asks_several: false,
        domain: chef.address.domain(),
        url: "https://demo.localhost:8443/",
        language,
        agents: &agents,
        json_ld: Some(r#"{"@context":"https://schema.org","@type":"WebSite"}"#),
        manual_url: Some("/manual"),
        previous_page: None,
        next_page: None,
        account: forecourt_pages::Account::SignedOut("/sign-in?return_to=%2F".to_owned()),
    };
    (page.render(), page.render_markdown())
}

fn agent<'a>(brand: &'a Branding, chef: &'a AgentCard, language: &'a Language) -> AgentPage<'a> {
    AgentPage {
        brand,
        card: chef,
        url: "https://demo.localhost:8443/~chef",
        language,
        action: "/~chef",
        ask: Some("https://demo.localhost:8443/~chef"),
        host_name: "Demo kitchen",
        session: None,
        json_ld: None,
        account: forecourt_pages::Account::SignedIn("Ada Lovelace"),
    }
}
