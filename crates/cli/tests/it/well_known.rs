//! What programs look for on every host: robots.txt, llms.txt and the catalogs; and answers made smaller.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Deployment, Served};
use crate::wire::{curl, raw_curl};

/// Every document that a catalog names, fetched as a stranger does: its media type.
#[track_caller]
fn media_type(served: &Served, url: &Value) -> String {
    let url = url.as_str().expect("a URL");
    assert!(url.starts_with(&served.https_url("/")), "{url} is not on this host");
    let document = curl(url, &["--cacert", &served.ca()]).with_status(200);
    document.json();
    document.named("content-type")
}

#[test]
fn rfc_9727_the_api_catalog_names_every_endpoint_and_what_describes_it() {
    let served = Deployment::gatehouse().serve();
    let catalog = served.curl_tls("/.well-known/api-catalog", &[]).with_status(200);
    assert_eq!(
        catalog.named("content-type"),
        "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\""
    );
    let head = served.curl_tls("/.well-known/api-catalog", &["-I"]).with_status(200);
    assert!(head.named("link").contains("rel=\"api-catalog\"") && head.body.is_empty(), "{head:?}");
    let linkset = catalog.json()["linkset"].as_array().unwrap().clone();
    assert_eq!(linkset[0]["anchor"], served.https_url("/.well-known/api-catalog"));
    let items: BTreeSet<&str> =
        linkset[0]["item"].as_array().unwrap().iter().map(|i| i["href"].as_str().unwrap()).collect();
    assert!(items.contains(served.https_url("/~echo").as_str()), "{items:?}");
    let described: Vec<&Value> = linkset[1..].iter().collect();
    assert!(described.len() >= 4, "{linkset:?}");
    for one in described {
        assert!(items.contains(one["anchor"].as_str().unwrap()), "{one}");
        media_type(&served, &one["service-desc"][0]["href"]);
    }
}

#[test]
fn the_ai_catalog_leads_to_documents_of_the_types_that_it_names() {
    let served = Deployment::gatehouse().serve();
    let catalog = served.curl_tls("/.well-known/ai-catalog.json", &[]).with_status(200);
    assert_eq!(catalog.named("content-type"), "application/ai-catalog+json");
    assert_eq!(catalog.named("access-control-allow-origin"), "*");
    let catalog = catalog.json();
    assert_eq!((&catalog["specVersion"], &catalog["host"]["identifier"]), (&"1.0".into(), &"demo.localhost".into()));
    let entries = catalog["entries"].as_array().unwrap();
    let ids: BTreeSet<&str> = entries.iter().map(|entry| entry["identifier"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), entries.len(), "each once: {ids:?}");
    assert!(ids.contains("urn:air:demo.localhost:mcp:echo"), "{ids:?}");
    for entry in entries {
        let (said, found) = (entry["type"].as_str().unwrap(), media_type(&served, &entry["url"]));
        // Cards of A2A are served as JSON, as that protocol says.
        assert!(found == said || (found == "application/json" && said.ends_with("json")), "{said}: {found}");
    }
}

#[test]
fn an_mcp_server_is_described_beside_its_endpoint() {
    let served = Deployment::gatehouse().serve();
    let card = served.curl_tls("/mcp/echo/server-card", &[]).with_status(200).json();
    assert_eq!(card["name"], "localhost.demo/echo");
    assert_eq!(card["remotes"][0]["url"], served.https_url("/mcp/echo"));
    served.curl_tls("/mcp/nobody/server-card", &[]).with_status(404);
}

#[test]
fn llms_txt_says_who_is_here_and_how_to_ask() {
    let served = Deployment::gatehouse().serve();
    let text = served.curl_tls("/llms.txt", &[]).with_status(200).text();
    assert!(text.starts_with("# Demo kitchen\n\n> "), "{text}");
    assert!(text.contains(&format!("- [Echo]({})", served.https_url("/~echo"))), "{text}");
    assert!(text.find("[Gate]").unwrap() < text.find("[Echo]").unwrap(), "the default agent comes first");
}

#[test]
fn files_of_the_operator_go_before_what_is_made() {
    let plain = Deployment::gatehouse().serve();
    let robots = plain.curl("/robots.txt", &[]).with_status(200).text();
    assert!(robots.contains("User-agent: *") && robots.contains("Disallow: /*?"), "{robots}");
    plain.curl("/.well-known/security.txt", &[]).with_status(404);
    let deployment = Deployment::gatehouse();
    deployment.write("public/robots.txt", "User-agent: *\nDisallow: /\n");
    deployment.write("public/security.txt", "Contact: mailto:security@demo.localhost\n");
    let own = deployment.serve();
    assert_eq!(own.curl("/robots.txt", &[]).with_status(200).text(), "User-agent: *\nDisallow: /\n");
    assert!(own.curl("/.well-known/security.txt", &[]).with_status(200).text().starts_with("Contact:"));
    assert!(own.curl("/llms.txt", &[]).with_status(200).text().contains("## Agents"));
}

/// What a tool makes of bytes that were made smaller.
fn unpacked(tool: &[&str], bytes: &[u8]) -> Vec<u8> {
    let mut child =
        Command::new(tool[0]).args(&tool[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect(tool[0]);
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), bytes).unwrap();
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    output.stdout
}

#[test]
fn rfc_9110_12_5_3_answers_are_as_small_as_the_client_can_read() {
    let served = Deployment::gatehouse().serve();
    let ask =
        |encoding: &str| served.curl("/", &["-H", "Accept: text/html", "-H", &format!("Accept-Encoding: {encoding}")]);
    let whole = ask("identity").with_status(200);
    assert!(whole.field("content-encoding").is_none() && whole.body.len() > 2_000);
    for encoding in ["gzip", "br", "zstd"] {
        let small = ask(encoding).with_status(200);
        assert_eq!(small.named("content-encoding"), encoding);
        assert!(small.named("vary").to_lowercase().contains("accept-encoding"), "{:?}", small.named("vary"));
        assert!(small.body.len() * 2 < whole.body.len(), "{encoding}: {} of {}", small.body.len(), whole.body.len());
    }
    let packed = ask("gzip").body;
    let text = unpacked(
        &["python3", "-c", "import gzip,sys; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))"],
        &packed,
    );
    assert!(String::from_utf8(text).unwrap().contains("</html>"));
    assert!(ask("x-unknown, *;q=0").field("content-encoding").is_none());
}

#[test]
fn rfc_9110_8_8_3_a_document_made_smaller_has_a_weak_tag_that_still_counts() {
    let served = Deployment::gatehouse().serve();
    let small = served.curl("/.well-known/ai-catalog.json", &["-H", "Accept-Encoding: gzip"]).with_status(200);
    let tag = small.named("etag");
    assert!(tag.starts_with("W/\""), "{tag}");
    served.curl("/.well-known/ai-catalog.json", &["-H", &format!("If-None-Match: {tag}")]).with_status(304);
}

#[test]
fn streams_and_small_answers_leave_as_they_are() {
    let served = Deployment::gatehouse().serve();
    let encoding = ["-H", "Accept-Encoding: gzip, br, zstd"];
    let stream = served.curl("/~echo?user=hello", &[&encoding[..], &["-H", "Accept: text/event-stream"]].concat());
    assert!(stream.field("content-encoding").is_none() && stream.text().contains("hello"), "{stream:?}");
    let small = served.curl("/~echo?user=hello", &[&encoding[..], &["-H", "Accept: text/markdown"]].concat());
    assert!(small.field("content-encoding").is_none() && small.text() == "hello", "{small:?}");
    let written = raw_curl(&[&served.url("/llms.txt"), "--compressed"]);
    assert!(String::from_utf8(written).unwrap().starts_with("# Demo kitchen"));
}
