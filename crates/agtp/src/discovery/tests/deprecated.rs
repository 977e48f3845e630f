//! The deprecated form that names the surface in the body. AGTP-API 5.10.

use forecourt_agtp_wire::status::Status;

use super::*;

fn targeting(ask: Ask, target: &str) -> Ask {
    asking(ask, json!({"target": target}))
}

#[tokio::test]
async fn s5_10_a_target_in_the_body_is_the_path() {
    let place = Place::with("").await;
    for name in ["methods", "agents", "genesis", "tools", "apis"] {
        let (by_body, by_path) = (targeting(place.by("chef", "/"), name), place.by("chef", &format!("/{name}")));
        assert_eq!(place.json(&by_body).await, place.json(&by_path).await, "{name}");
    }
    let anonymous = Ask { is_targetless: true, ..targeting(stranger("/"), "agents") };
    assert_eq!(place.json(&anonymous).await, place.json(&stranger("/agents")).await);
}

#[tokio::test]
async fn s5_10_a_body_that_contradicts_the_path_is_refused() {
    let place = Place::with("").await;
    let problem = place.refused(&targeting(place.by("chef", "/methods"), "agents")).await;
    assert_eq!(problem.status, Status::BAD_REQUEST);
    assert_eq!((&problem.error["path"], &problem.error["target"]), (&json!("/methods"), &json!("/agents")));
    for target in [json!("everything"), json!(""), json!(7)] {
        let problem = place.refused(&asking(place.by("chef", "/methods"), json!({"target": target}))).await;
        assert_eq!((problem.status, &problem.error["path"]), (Status::BAD_REQUEST, &json!("/methods")), "{target}");
    }
    assert!(
        place.json(&targeting(place.by("chef", "/methods"), "methods")).await.is_array(),
        "saying it twice is fine"
    );
}

#[tokio::test]
async fn s5_10_a_target_that_is_none_is_refused() {
    let place = Place::with("").await;
    for target in [json!("everything"), json!(""), json!(7)] {
        let problem = place.refused(&asking(place.by("chef", "/"), json!({"target": target}))).await;
        assert_eq!(problem.status, Status::UNPROCESSABLE, "{target}");
    }
    assert!(place.json(&asking(place.by("chef", "/"), json!({"target": null}))).await.get("directory").is_some());
}

#[tokio::test]
async fn s5_10_each_agent_is_told_once() {
    let place = Place::with("").await;
    let warning = |reply: &Reply| field(reply, "AGTP-Endpoint-Warning").map(str::to_owned);
    let first = place.reply(&targeting(place.by("chef", "/"), "methods")).await;
    assert_eq!(warning(&first).as_deref(), Some("deprecated; successor=DISCOVER /methods"));
    assert_eq!(warning(&place.reply(&targeting(place.by("chef", "/"), "agents")).await), None);
    assert!(warning(&place.reply(&targeting(place.by("clerk", "/"), "agents")).await).is_some());
    assert_eq!(warning(&place.reply(&place.by("clerk", "/agents")).await), None, "the path is no deprecated form");
}
