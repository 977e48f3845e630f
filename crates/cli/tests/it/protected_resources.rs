//! Where clients learn who gives out tokens: over every wire the same. RFC 9728.

use serde_json::{Value, json};

use crate::identity::believing;
use crate::support::{Deployment, Served};

const ISSUER: &str = "https://issuer.example";

/// A gatehouse with `@vip`, who answers nobody but proven callers.
fn served(identity: &str) -> Served {
    let deployment = Deployment::gatehouse();
    let top = deployment.read("forecourt.toml");
    let vip =
        "handle = \"vip\"\nname = \"Vip\"\n[backend]\nkind = \"echo\"\n[[policy.rules]]\nkind = \"require_identity\"\n";
    deployment.and("forecourt.toml", &format!("{top}\n{identity}")).and("agents/vip.toml", vip).serve()
}

/// What a wire answers, whose caller shows a token that does not hold, and the path of its resource.
fn refused(served: &Served, path: &str, token: bool) -> String {
    let posted = |body: &Value| {
        let body = body.to_string();
        let version = if path.starts_with("/mcp") { "MCP-Protocol-Version: 2025-06-18" } else { "A2A-Version: 1.0" };
        let mut words = vec!["-H", "Content-Type: application/json", "-H", version, "-d", &body];
        words.extend(["-H", "Accept: application/json, text/event-stream"]);
        words.extend(if token { vec!["-H", "Authorization: Bearer x.y.z"] } else { vec![] });
        served.curl_tls(path, &words).with_status(401).named("www-authenticate")
    };
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello"}]});
    match path {
        "/a2a" | "/a2a/vip" => {
            posted(&json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}))
        }
        "/mcp" | "/mcp/vip" => posted(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})),
        "/~vip/ask" => posted(&json!({"query": {"text": "hello"}})),
        _ => {
            let words = ["-H", "Accept: application/json", "-H", "Authorization: Bearer x.y.z"];
            let words = if token { &words[..] } else { &words[..2] };
            served.curl_tls(&format!("{path}?user=hello"), words).with_status(401).named("www-authenticate")
        }
    }
}

#[test]
fn rfc9728_every_challenge_leads_to_metadata_that_names_what_was_asked() {
    let served = served(&believing());
    let origin = served.https_url("");
    for path in ["/~vip", "/a2a/vip", "/a2a", "/mcp", "/mcp/vip", "/~vip/ask"] {
        let challenge = refused(&served, path, true);
        let url = format!("{origin}/.well-known/oauth-protected-resource{path}");
        assert!(challenge.contains(&format!("resource_metadata=\"{url}\"")), "{path}: {challenge}");
        assert!(challenge.contains("error=\"invalid_token\""), "{path}: {challenge}");
        let metadata = served.curl_tls(&format!("/.well-known/oauth-protected-resource{path}"), &[]);
        let metadata = metadata.with_status(200).json();
        assert_eq!(metadata["resource"], format!("{origin}{path}"));
        assert_eq!(metadata["authorization_servers"], json!([ISSUER]));
        assert_eq!(metadata["bearer_methods_supported"], json!(["header"]));
    }
    for path in ["/~vip", "/~vip/ask"] {
        let challenge = refused(&served, path, false);
        assert!(challenge.contains("resource_metadata=") && !challenge.contains("error="), "{path}: {challenge}");
    }
    let root = served.curl_tls("/.well-known/oauth-protected-resource", &[]).with_status(200).json();
    assert_eq!(root["resource"], origin);
    for path in ["/~nobody", "/mcp/nobody", "/a2a/nobody", "/~vip/tasks", "/elsewhere", "/~vip/await"] {
        served.curl_tls(&format!("/.well-known/oauth-protected-resource{path}"), &[]).with_status(404);
    }
    // Cards and metadata say the same.
    let card = served.curl_tls("/.well-known/agent-card/vip", &[]).json();
    assert!(card.to_string().contains(ISSUER), "{card}");
    let card = served.curl_tls("/a2a/vip/.well-known/agent-card.json", &[]).json();
    assert!(card["securitySchemes"].to_string().contains(ISSUER), "{card}");
}

#[test]
fn rfc9728_without_issuers_nothing_is_promised() {
    let served = served("");
    let challenge = served.curl_tls("/~vip?user=hello", &["-H", "Accept: application/json"]).named("www-authenticate");
    assert!(!challenge.contains("resource_metadata"), "{challenge}");
    served.curl_tls("/.well-known/oauth-protected-resource/~vip", &[]).with_status(404);
}
