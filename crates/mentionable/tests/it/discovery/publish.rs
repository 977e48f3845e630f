//! What can't be published is said at start.

use forecourt_core::agent::Icon;
use forecourt_core::{AgentCard, Endpoint, Skill};

use crate::discovery::support::{ORIGIN, Setup, reachable};

async fn refused(card: AgentCard) -> String {
    match (Setup { cards: vec![card], ..Setup::default() }).publish().await {
        Ok(_) => panic!("it was published"),
        Err(problems) => problems.to_string(),
    }
}

#[tokio::test]
async fn wf_2_5_every_endpoint_is_on_the_canonical_host() {
    for url in ["https://other.example/mcp/chef", "https://demo.localhost/mcp/chef", "http://demo.localhost:8443/x"] {
        let mut card = reachable("chef");
        card.endpoints.push(Endpoint::new("mcp", url.to_owned()));
        let problems = refused(card).await;
        assert!(problems.contains("@chef") && problems.contains(url), "{problems}");
        assert!(problems.contains("demo.localhost:8443"), "{problems}");
    }
}

#[tokio::test]
async fn rest_2_the_endpoint_is_on_the_canonical_host() {
    let mut card = reachable("chef");
    card.endpoints[0].url = "https://other.example/~chef".to_owned();
    let problems = refused(card).await;
    assert!(problems.contains("/endpoint: must be on demo.localhost:8443"), "{problems}");
}

#[tokio::test]
async fn card_3_5_malformed_cards_name_agent_and_field() {
    let icon = Some(Icon { url: "http://example.com/a.png".to_owned(), mime: None });
    let problems = refused(AgentCard { icon, ..reachable("chef") }).await;
    assert!(problems.contains("@chef") && problems.contains("/icon/url"), "{problems}");
    let problems = refused(AgentCard { homepage: Some("example.com".to_owned()), ..reachable("chef") }).await;
    assert!(problems.contains("/mentionable/homepage"), "{problems}");
    let skill = Skill {
        id: "a".to_owned(),
        name: "A".to_owned(),
        description: String::new(),
        tags: Vec::new(),
        examples: Vec::new(),
    };
    let problems = refused(AgentCard { skills: vec![skill.clone(), skill], ..reachable("chef") }).await;
    assert!(problems.contains("/a2a/skills/1/id"), "{problems}");
}

#[tokio::test]
async fn all_problems_are_said_at_once() {
    let mut one = reachable("chef");
    one.homepage = Some("http://example.com".to_owned());
    let mut two = reachable("gate");
    two.endpoints.push(Endpoint::new("mcp", format!("{ORIGIN}.evil.example/")));
    let setup = Setup { cards: vec![one, two], ..Setup::default() };
    let Err(problems) = setup.publish().await else { panic!("it was published") };
    let text = problems.to_string();
    assert!(text.contains("@chef") && text.contains("@gate"), "{text}");
}
