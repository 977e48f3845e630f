//! The search box for other sites: who may embed it, and what it is told.

use forecourt_core::AgentCard;
use forecourt_testkit::{ScriptedAgent, card};
use http::request::Builder;
use serde_json::{Value, json};

use crate::support::*;

const SHOP: &str = "https://shop.example";
const OTHER: &str = "https://evil.example";

/// `shut`, the default agent, which a listed site may ask, and `open`, which everybody may.
async fn place() -> Place {
    let open = AgentCard { cors: true, ..card("open") };
    let pages = format!("embed = [\"{SHOP}\"]\npowered_by = false\ncolours = {{ accent = \"#a8321e\" }}");
    let setup = Setup::default().with(card("shut"), ScriptedAgent::saying(["x"]));
    setup.with(open, ScriptedAgent::saying(["x"])).pages(&pages).start().await
}

fn from(method: &str, path: &str, origin: &str) -> Builder {
    request(method, path).header("content-type", "application/json").header("origin", origin)
}

fn hi() -> String {
    json!({"query": {"text": "hi"}}).to_string()
}

#[tokio::test(start_paused = true)]
async fn a_listed_site_may_ask_and_read_and_no_other() {
    let place = place().await;
    for method in ["OPTIONS", "POST"] {
        let answer = place.send(from(method, "/~shut/ask", SHOP), hi()).await;
        assert_eq!(answer.field("access-control-allow-origin"), SHOP, "{method}");
        assert!(answer.field("access-control-allow-headers").contains("Content-Type"));
        assert!(answer.field("access-control-allow-credentials").is_empty());
        for origin in [OTHER, "null", "https://shop.example.evil.example", "http://shop.example"] {
            let answer = place.send(from(method, "/~shut/ask", origin), hi()).await;
            assert_eq!(answer.field("access-control-allow-origin"), "", "{method} {origin}");
        }
        let answer = place.send(from(method, "/~open/ask", OTHER), hi()).await;
        assert_eq!(answer.field("access-control-allow-origin"), "*", "{method}");
    }
    // A fault can be read, too, else nobody could be told of it.
    let fault = place.send(from("POST", "/~shut/ask", SHOP), "{}").await;
    assert_eq!((fault.status.as_u16(), fault.field("access-control-allow-origin")), (400, SHOP));
}

#[tokio::test(start_paused = true)]
async fn who_may_not_embed_it_is_told_why() {
    let place = place().await;
    let refused = place.send(from("GET", "/widget.json?agent=shut", OTHER), "").await;
    let error = refused.json()["error"].clone();
    assert_eq!((refused.status.as_u16(), &error["code"]), (403, &json!("ORIGIN_NOT_LISTED")));
    let said = error["message"].as_str().unwrap();
    assert!(said.contains(OTHER) && said.contains("[pages]") && said.contains("embed"), "{said}");
    assert_eq!(refused.field("access-control-allow-origin"), "*", "the reason can be read");
    for (path, origin) in
        [("shut", SHOP), ("@shut@demo.localhost", SHOP), ("", SHOP), ("open", OTHER), ("shut", ORIGIN)]
    {
        let answer = place.send(from("GET", &format!("/widget.json?agent={path}"), origin), "").await;
        assert_eq!(answer.status.as_u16(), 200, "{path} {origin}");
    }
    assert_eq!(place.send(request("GET", "/widget.json"), "").await.status.as_u16(), 200, "a page of this host");
    for (path, status) in [("/widget.json?agent=nobody", 404), ("/widget.json?agent=shut@other.example", 404)] {
        assert_eq!(place.send(from("GET", path, SHOP), "").await.status.as_u16(), status, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn it_is_told_who_answers_and_how_the_site_looks() {
    let about: Value = place().await.send(from("GET", "/widget.json?agent=%40shut", SHOP), "").await.json();
    assert_eq!((&about["page"], &about["ask"]), (&json!("/~shut"), &json!("/~shut/ask")));
    assert_eq!((&about["powered_by"], &about["address"]), (&json!(false), &json!("@shut@demo.localhost")));
    assert!(about["accent"].as_str().unwrap().starts_with("#a8321e,#"), "{about}");
}

#[tokio::test(start_paused = true)]
async fn its_script_is_for_every_page_and_is_not_sent_twice() {
    let place = place().await;
    let script = place.send(from("GET", "/widget.js", OTHER), "").await;
    assert!(script.text.len() < 30 * 1024 && script.text.contains("customElements.define"));
    assert_eq!(script.field("content-type"), "text/javascript; charset=utf-8");
    assert_eq!(script.field("cross-origin-resource-policy"), "cross-origin");
    let again = request("GET", "/widget.js").header("if-none-match", script.field("etag"));
    assert_eq!(place.send(again, "").await.status.as_u16(), 304);
    assert_eq!(place.send(request("POST", "/widget.js"), "").await.status.as_u16(), 405);
    assert_eq!(place.send(request("OPTIONS", "/widget.json"), "").await.status.as_u16(), 204);
}

#[tokio::test(start_paused = true)]
async fn a_box_may_ask_several_agents_or_all_that_find_things() {
    let finding = |handle: &str| AgentCard { finds: true, cors: true, ..card(handle) };
    let saying = || ScriptedAgent::saying(["x"]);
    let setup = Setup::default().with(card("shut"), saying()).with(finding("shop"), saying());
    let place = setup.with(finding("films"), saying()).pages(&format!("embed = [\"{SHOP}\"]")).start().await;
    let about =
        async |query: &str, origin: &str| place.send(from("GET", &format!("/widget.json?{query}"), origin), "").await;
    let named = |about: &Value| -> Vec<String> {
        let agents = about["agents"].as_array().unwrap().iter();
        agents.map(|agent| agent["ask"].as_str().unwrap().to_owned()).collect()
    };
    let all = about("agent=all&lang=de-CH", OTHER).await.json();
    assert_eq!(named(&all), ["/~shop/ask", "/~films/ask"], "all that find things");
    assert_eq!((&all["name"], &all["words"]["ask"]), (&json!("Demo"), &json!("Fragen")));
    for several in ["agent=%40films+%40shop%40demo.localhost", "agent=films,shop,films"] {
        assert_eq!(named(&about(several, OTHER).await.json()), ["/~films/ask", "/~shop/ask"], "{several}");
    }
    let one = about("agent=films", OTHER).await.json();
    assert_eq!((named(&one).len(), &one["ask"], &one["words"]["ask"]), (0, &json!("/~films/ask"), &json!("Ask")));
    assert_eq!(about("agent=films+shut", OTHER).await.status.as_u16(), 403, "a site is listed for each of them");
    assert_eq!(about("agent=films+shut", SHOP).await.status.as_u16(), 200);
    assert_eq!(about("agent=films+nobody", OTHER).await.status.as_u16(), 404);
    let many = |count: usize| format!("agent={}", vec!["films"; count].join("+"));
    assert_eq!(about(&many(8), OTHER).await.status.as_u16(), 200);
    assert_eq!(about(&many(9), OTHER).await.status.as_u16(), 400);
}

#[tokio::test(start_paused = true)]
async fn a_question_to_several_is_told_to_the_agent_as_that() {
    let agent = ScriptedAgent::saying(["x"]);
    let place = Setup::default().with(card("bot"), agent.clone()).start().await;
    for (meta, several) in [(json!({"forecourt/asks_several": true}), true), (json!({}), false)] {
        let body = json!({"query": {"text": "hi"}, "meta": meta}).to_string();
        place.send(request("POST", "/~bot/ask").header("content-type", "application/json"), body).await;
        let heard = agent.heard();
        let heard = heard.last().unwrap();
        assert_eq!((heard.search.asks_several, heard.unrecorded), (several, several));
    }
    let wrong = json!({"query": {"text": "hi"}, "meta": {"forecourt/asks_several": "yes"}}).to_string();
    let answer = place.send(request("POST", "/~bot/ask").header("content-type", "application/json"), wrong).await;
    assert_eq!(answer.status.as_u16(), 400);
}
