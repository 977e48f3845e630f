//! WebFinger, sections 2.2 and 2.3 of its document; RFC 7033.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::discovery::support::{Answer, ORIGIN, published};

const CARD: &str = "https://mentionable.dev/ns/rel/agent-card";
const PROFILE: &str = "http://webfinger.net/rel/profile-page";

async fn ask(query: &str) -> Answer {
    published().await.get(&format!("/.well-known/webfinger{query}")).await
}

async fn rels(query: &str) -> Vec<String> {
    let answer = ask(&format!("?resource=acct:chef@demo.localhost{query}")).await;
    let links = answer.json()["links"].as_array().unwrap().clone();
    links.iter().map(|link| link["rel"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn wf_2_2_missing_resource_is_400() {
    for query in ["", "?", "?rel=self", "?Resource=acct:chef@demo.localhost"] {
        let answer = ask(query).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(answer.error().contains("?resource=acct:"), "{query}");
        assert_eq!(answer.field("cache-control"), Some("no-store"));
    }
}

#[tokio::test]
async fn wf_2_2_what_is_no_uri_is_400() {
    for resource in ["", "chef", "@chef@demo.localhost", "chef@demo.localhost", "https://", "%FF%FE", "%zz"] {
        let answer = ask(&format!("?resource={resource}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{resource}");
        assert!(answer.error().contains("URI"), "{resource}");
    }
}

#[tokio::test]
async fn rfc7033_4_1_resource_occurs_once() {
    let answer = ask("?resource=acct:chef@demo.localhost&resource=acct:gate@demo.localhost").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.error().contains("once"));
}

#[tokio::test]
async fn wf_2_2_what_does_not_live_here_is_404() {
    let unknown = [
        "acct:nobody@demo.localhost",
        "acct:chef@other.example",
        "acct:chef@sub.demo.localhost",
        "acct:chef@demo.localhost:8443",
        "acct:chef@demo.localhost.",
        "acct:chef",
        "acct:",
        "acct:@demo.localhost",
        "acct:@@demo.localhost",
        "acct:@chef@demo.localhost",
        "acct:chef@demo.localhost@demo.localhost",
        "acct:chef%20@demo.localhost",
        "acct:chef%00@demo.localhost",
        "acct:chef%2F..@demo.localhost",
        "acct:..@demo.localhost",
        "acct:ch%C3%A9f@demo.localhost",
        "acct:chef+x@demo.localhost",
        "mailto:chef@demo.localhost",
        "https://demo.localhost/~chef",
        "urn:x:chef@demo.localhost",
    ];
    for resource in unknown {
        let answer = ask(&format!("?resource={resource}")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{resource}");
        assert_eq!(answer.field("cache-control"), Some("public, max-age=60"), "{resource}");
        assert!(!answer.error().contains("chef"), "{resource} is echoed");
    }
}

#[tokio::test]
async fn wf_2_3_subject_aliases_and_links_in_their_order() {
    let answer = ask("?resource=acct%3Achef%40demo.localhost").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(
        answer.json(),
        json!({
            "subject": "acct:chef@demo.localhost",
            "aliases": [format!("{ORIGIN}/~chef")],
            "links": [
                {
                    "rel": CARD,
                    "type": "application/json",
                    "href": format!("{ORIGIN}/.well-known/agent-card/chef"),
                },
                {"rel": PROFILE, "type": "text/html", "href": format!("{ORIGIN}/~chef")},
            ],
        })
    );
}

#[tokio::test]
async fn rfc7033_4_1_the_urls_that_a_record_lists_are_taken_as_its_resource() {
    let record = ask("?resource=acct:chef@demo.localhost").await.json();
    let links = record["links"].as_array().unwrap().iter().map(|link| &link["href"]);
    let listed: Vec<&str> =
        record["aliases"].as_array().unwrap().iter().chain(links).map(|url| url.as_str().unwrap()).collect();
    assert_eq!(listed.len(), 3);
    for url in listed {
        let encoded: String = url::form_urlencoded::byte_serialize(url.as_bytes()).collect();
        let answer = ask(&format!("?resource={encoded}")).await;
        assert_eq!((answer.status, answer.json()), (StatusCode::OK, record.clone()), "{url}");
    }
    let upper = ask(&format!("?resource={}", ORIGIN.to_uppercase() + "/~chef")).await;
    assert_eq!(upper.status, StatusCode::OK, "scheme and host have no case");
}

#[tokio::test]
async fn rfc7033_4_1_urls_that_no_record_lists_are_404() {
    let others =
        ["/~nobody", "/~chef?user=a", "/~chef#a", "/~chef/", "/chef", "/~@chef", "/", "", "/~chef%2F..", "/x/~chef"];
    let own = others.map(|path| format!("{ORIGIN}{}", path.replace('#', "%23")));
    let foreign = ["https://other.example/~chef", "http://demo.localhost/~chef", "https://chef@demo.localhost/~chef"];
    for url in own.iter().map(String::as_str).chain(foreign) {
        assert_eq!(ask(&format!("?resource={url}")).await.status, StatusCode::NOT_FOUND, "{url}");
    }
}

#[tokio::test]
async fn wf_2_3_every_href_is_https() {
    let answer = ask("?resource=acct:chef@demo.localhost").await;
    let links: Vec<Value> = answer.json()["links"].as_array().unwrap().clone();
    assert!(!links.is_empty());
    assert!(links.iter().all(|link| link["href"].as_str().unwrap().starts_with("https://")));
}

#[tokio::test]
async fn wf_2_1_addresses_compare_without_case() {
    for resource in ["ACCT:CHEF@DEMO.LOCALHOST", "acct:Chef@Demo.Localhost", "acct:chef@DEMO.localhost"] {
        let answer = ask(&format!("?resource={resource}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{resource}");
        assert_eq!(answer.json()["subject"], "acct:chef@demo.localhost");
    }
}

#[tokio::test]
async fn wf_2_2_media_type_cache_and_cors() {
    let answer = ask("?resource=acct:chef@demo.localhost").await;
    assert_eq!(answer.field("content-type"), Some("application/jrd+json"));
    assert_eq!(answer.field("cache-control"), Some("public, max-age=3600"));
    assert_eq!(answer.field("access-control-allow-origin"), Some("*"));
    let tag = answer.field("etag").unwrap();
    assert!(tag.starts_with('"') && tag.ends_with('"') && tag.len() > 10, "{tag}");
}

#[tokio::test]
async fn rfc7033_4_3_rel_filters_links_and_nothing_else() {
    assert_eq!(rels("").await, [CARD, PROFILE]);
    assert_eq!(rels("&rel=http%3A%2F%2Fwebfinger.net%2Frel%2Fprofile-page").await, [PROFILE]);
    assert_eq!(rels(&format!("&rel={PROFILE}&rel={CARD}")).await, [CARD, PROFILE]);
    assert_eq!(rels("&rel=self").await, Vec::<String>::new());
    let answer = ask("?rel=self&resource=acct:chef@demo.localhost").await;
    assert_eq!(
        (answer.json()["subject"].as_str(), answer.json()["aliases"][0].is_string()),
        (Some("acct:chef@demo.localhost"), true)
    );
}

#[tokio::test]
async fn url_scheme_only_the_canonical_rel_is_written() {
    let answer = ask("?resource=acct:chef@demo.localhost").await;
    let text = String::from_utf8(answer.body).unwrap();
    assert!(text.contains(CARD) && !text.contains("https://mentionable.dev/agent-card"));
}

#[tokio::test]
async fn rfc9110_13_1_2_a_known_tag_is_304_without_a_body() {
    let published = published().await;
    let path = "/.well-known/webfinger?resource=acct:chef@demo.localhost";
    let first = published.get(path).await;
    let tag = first.field("etag").unwrap();
    for known in [tag.to_owned(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
        let again = published.send(Method::GET, path, &[("if-none-match", &known)]).await;
        assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0), "{known}");
        assert_eq!(again.field("etag"), Some(tag));
        assert_eq!(again.field("cache-control"), Some("public, max-age=3600"));
        assert_eq!(again.field("access-control-allow-origin"), Some("*"));
    }
    for other in ["\"x\"", tag.trim_matches('"'), ""] {
        let again = published.send(Method::GET, path, &[("if-none-match", other)]).await;
        assert_eq!(again.status, StatusCode::OK, "{other}");
    }
}

#[tokio::test]
async fn rfc9110_9_3_2_head_is_get_without_the_body() {
    let published = published().await;
    let known = "/.well-known/webfinger?resource=acct:chef@demo.localhost";
    for path in [known, "/.well-known/webfinger", "/.well-known/agent-card/chef", "/.well-known/agent-card/nobody"] {
        let get = published.get(path).await;
        let head = published.send(Method::HEAD, path, &[]).await;
        assert_eq!((head.status, &head.headers, head.body.len()), (get.status, &get.headers, 0), "{path}");
        assert_eq!(get.field("content-length"), Some(get.body.len().to_string().as_str()));
    }
}

#[tokio::test]
async fn wf_2_2_other_methods_are_405() {
    let published = published().await;
    let paths = ["webfinger", "agent-card/chef", "mentionable-agents.json", "jwks.json"];
    for path in paths.map(|path| format!("/.well-known/{path}")) {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::TRACE] {
            let answer = published.send(method.clone(), &path, &[]).await;
            assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            assert_eq!(answer.field("allow"), Some("GET, HEAD, OPTIONS"));
            assert!(answer.error().contains("GET"));
        }
        let options = published.send(Method::OPTIONS, &path, &[("origin", "https://a.example")]).await;
        assert_eq!((options.status, options.body.len()), (StatusCode::NO_CONTENT, 0));
        assert_eq!(options.field("access-control-allow-origin"), Some("*"));
        assert_eq!(options.field("access-control-allow-credentials"), None);
    }
}
