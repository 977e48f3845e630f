//! What a person or a browser agreed to is shown to them alone, and taken back by their own pages alone.

use forecourt_core::{ConsentToken, Ending, Sender};
use serde_json::{Value, json};

use super::host::{Answer, Desk};

fn browser() -> (ConsentToken, String) {
    let token = ConsentToken::parse(&"C".repeat(43)).unwrap();
    let cookie = format!("__Host-forecourt_consents={}", token.expose());
    (token, cookie)
}

/// What the form on a page sends along to take a consent back.
fn named(page: &Answer) -> String {
    let after = page.body.split("name=\"consent\" value=\"").nth(1).unwrap_or_else(|| panic!("{}", page.body));
    after.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_browser_sees_what_it_keeps_and_takes_it_back() {
    let desk = Desk::without_provider().await;
    let (token, cookie) = browser();
    desk.agrees(Sender::anonymous(), Some(&token)).await;
    assert!(matches!(desk.asks_shop(Sender::anonymous(), Some(&token)).await, Ending::Complete));
    let page = desk.get("/account", &[&cookie]).await;
    assert_eq!((page.status, page.head["cache-control"].to_str().unwrap()), (200, "no-store"));
    assert!(page.body.contains("We keep your order.") && page.body.contains("/~shop"), "{}", page.body);
    assert!(!page.body.contains("<script") && !page.body.contains("sign-out"), "{}", page.body);
    let name = named(&page);
    let fields = [("action", "withdraw"), ("agent", "shop"), ("consent", name.as_str())];
    // Another site's page, another browser, another agent and a name of nothing take nothing back.
    assert_eq!(desk.post("/account", &[&cookie], "cross-site", &fields).await.status, 403);
    let other = format!("__Host-forecourt_consents={}", "D".repeat(43));
    for (cookie, agent, name) in [(&other, "shop", &*name), (&cookie, "echo", &*name), (&cookie, "shop", "x")] {
        let fields = [("action", "withdraw"), ("agent", agent), ("consent", name)];
        assert_eq!(desk.post("/account", &[cookie], "same-origin", &fields).await.status, 303);
    }
    assert!(matches!(desk.asks_shop(Sender::anonymous(), Some(&token)).await, Ending::Complete));
    let back = desk.post("/account", &[&cookie], "same-origin", &fields).await;
    assert_eq!((back.status, back.location.as_str()), (303, "https://demo.localhost/account"));
    assert!(matches!(desk.asks_shop(Sender::anonymous(), Some(&token)).await, Ending::Refused(_)));
    let page = desk.get("/account", &[&cookie]).await.body;
    assert!(page.contains("Over") && !page.contains("value=\"withdraw\""), "{page}");
}

#[tokio::test]
async fn a_browser_forgets_everything_with_one_button() {
    let desk = Desk::without_provider().await;
    let (token, cookie) = browser();
    desk.agrees(Sender::anonymous(), Some(&token)).await;
    let gone = desk.post("/account", &[&cookie], "same-origin", &[("action", "forget")]).await;
    assert!(gone.cookies.iter().any(|set| set.starts_with("__Host-forecourt_consents=;")), "{:?}", gone.cookies);
    assert!(matches!(desk.asks_shop(Sender::anonymous(), Some(&token)).await, Ending::Refused(_)));
}

#[tokio::test]
async fn nobody_sees_nothing() {
    let desk = Desk::without_provider().await;
    let (token, _) = browser();
    desk.agrees(Sender::anonymous(), Some(&token)).await;
    let unknown = format!("__Host-forecourt_consents={}", "D".repeat(43));
    for cookie in ["", unknown.as_str(), "__Host-forecourt_consents=x"] {
        let page = desk.get("/account", &[cookie]).await;
        assert_eq!(page.status, 200);
        assert!(!page.body.contains("We keep your order."), "{cookie}");
        let data: Value = serde_json::from_str(&desk.get("/account?format=json", &[cookie]).await.body).unwrap();
        assert_eq!(data, json!({"kept_by": "nobody", "subject": null, "entries": [], "credit": []}));
    }
    assert_eq!(desk.post("/account", &[], "same-origin", &[("action", "forget")]).await.status, 303);
    for (len, status) in [(4_096, 303), (4_097, 400)] {
        let form = "x".repeat(len - "x=".len());
        assert_eq!(desk.post("/account", &[], "same-origin", &[("x", &form)]).await.status, status, "{len}");
    }
}

#[tokio::test]
async fn a_person_sees_their_own_exports_them_and_ends_every_session() {
    let desk = Desk::open().await;
    let sessions = [desk.signs_in("ada").await, desk.signs_in("ada").await, desk.signs_in("bob").await];
    let [here, there, bob] = &sessions;
    let subject = format!("oidc:{}#ada", desk.provider.issuer);
    let person = Sender { verified: true, address: subject.clone(), ..Sender::anonymous() };
    desk.agrees(person.clone(), None).await;
    // The cookie of a browser counts for nothing beside somebody who is signed in.
    let (token, cookie) = browser();
    desk.agrees(Sender::anonymous(), Some(&token)).await;
    let data = desk.get("/account?format=json", &[here, &cookie]).await;
    assert_eq!(data.head["content-disposition"].to_str().unwrap(), "attachment; filename=\"account.json\"");
    let told: Value = serde_json::from_str(&data.body).unwrap();
    assert_eq!((told["kept_by"].as_str(), told["subject"].as_str()), (Some("subject"), Some(&*subject)));
    assert_eq!(told["entries"].as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!((&told["entries"][0]["agent"], &told["entries"][0]["status"]), (&json!("shop"), &json!("holds")));
    assert!(!desk.get("/account", &[bob]).await.body.contains("We keep your order."));
    let page = desk.get("/account", &[here]).await;
    assert!(page.body.contains("action=\"/sign-out\"") && page.body.contains("sign-out-everywhere"), "{}", page.body);
    let fields = [("action", "withdraw"), ("agent", "shop"), ("consent", &*named(&page))];
    assert_eq!(desk.post("/account", &[bob], "same-origin", &fields).await.status, 303);
    assert!(matches!(desk.asks_shop(person.clone(), None).await, Ending::Complete));
    assert_eq!(desk.post("/account", &[here], "same-origin", &fields).await.status, 303);
    assert!(matches!(desk.asks_shop(person, None).await, Ending::Refused(_)));
    let everywhere = [("action", "sign-out-everywhere")];
    assert_eq!(desk.post("/account", &[here], "same-origin", &everywhere).await.status, 200);
    for (session, is_open) in [(here, false), (there, false), (bob, true)] {
        let page = desk.get("/account", &[session]).await.body;
        assert_eq!(page.contains("sign-out-everywhere"), is_open, "{page}");
    }
}
