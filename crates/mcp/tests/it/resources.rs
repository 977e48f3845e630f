//! Resources of the owner's naming: texts, files, forms of addresses; in prompts, and watched.

use std::path::{Path, PathBuf};

use forecourt_testkit::{ScriptedAgent, card};
use serde_json::{Value, json};

use crate::support::{Place, Setup, modern, next, rpc};

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("forecourt-mcp-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn place(section: String) -> Place {
    let setup = Setup { section: section.leak(), ..Setup::default() };
    setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start().await
}

async fn read(place: &Place, uri: &str) -> Value {
    place.modern("/mcp", "resources/read", json!({"uri": uri})).await.last().clone()
}

#[tokio::test]
async fn texts_files_and_forms_are_listed_and_read() {
    let folder = Folder::new("read");
    let (menu, picture) = (folder.write("menu.md", b"# Soup"), folder.write("dish.png", b"\x89PNG"));
    let place = place(format!(
        r##"
[[resources]]
uri = "menu://today"
title = "Today"
text = "soup {{today}}"

[[resources]]
uri = "menu://card"
file = "{menu}"

[[resources]]
uri = "menu://picture"
file = "{picture}"

[[resources]]
uri = "menu://days/{{day}}"
mime_type = "application/json"
text = '{{{{"day": "{{day}}"}}}}'
"##
    ))
    .await;
    let listed = place.modern("/mcp", "resources/list", json!({})).await;
    let all = listed.last()["result"]["resources"].as_array().unwrap().clone();
    let types: Vec<_> = all.iter().skip(2).map(|one| (one["uri"].clone(), one["mimeType"].clone())).collect();
    let wanted = [("menu://today", "text/plain"), ("menu://card", "text/markdown"), ("menu://picture", "image/png")];
    assert_eq!(types, wanted.map(|(uri, mime)| (json!(uri), json!(mime))));
    let forms = place.modern("/mcp", "resources/templates/list", json!({})).await;
    assert_eq!(forms.last()["result"]["resourceTemplates"][0]["uriTemplate"], "menu://days/{day}");
    assert_eq!(read(&place, "menu://today").await["result"]["contents"][0]["text"], "soup {today}");
    assert_eq!(read(&place, "menu://card").await["result"]["contents"][0]["text"], "# Soup");
    assert_eq!(read(&place, "menu://picture").await["result"]["contents"][0]["blob"], "iVBORw==");
    let day = read(&place, "menu://days/a%22b").await["result"]["contents"][0].clone();
    assert_eq!((&day["uri"], &day["text"]), (&json!("menu://days/a%22b"), &json!(r#"{"day": "a\"b"}"#)));
    for missing in ["menu://tomorrow", "menu://days/", "menu://days/a/b", "file:///etc/passwd"] {
        assert_eq!(read(&place, missing).await["error"]["code"], -32602, "{missing}");
    }
    folder.write("menu.md", b"# Stew");
    assert_eq!(read(&place, "menu://card").await["result"]["contents"][0]["text"], "# Stew", "read anew");
    std::fs::remove_file(Path::new(&menu)).unwrap();
    let gone = read(&place, "menu://card").await;
    assert!(gone["error"]["message"].as_str().unwrap().contains("file not found: menu.md"), "{gone}");
}

#[tokio::test]
async fn what_is_wrong_with_a_resource_is_found() {
    let fine = async |section: &str| {
        let setup = Setup { section: section.to_owned().leak(), ..Setup::default() };
        setup.with(card("chef"), ScriptedAgent::saying(["x"])).try_start().await.is_ok()
    };
    assert!(fine("[[resources]]\nuri = \"a:b\"\ntext = \"x\"\n").await);
    for wrong in [
        "uri = \"a:b\"",
        "uri = \"nonsense\"\ntext = \"x\"",
        "uri = \"agent://chef\"\ntext = \"x\"",
        "uri = \"a:b\"\nfile = \"/no/such/file\"",
        "uri = \"a:b\"\nfile = \"/\"",
        "uri = \"a:b\"\ntext = \"x\"\nfile = \"/dev/null\"",
        "uri = \"a:{b}\"\ntext = \"{c}\"",
        "uri = \"a:{b}{c}\"\ntext = \"x\"",
        "uri = \"a:b\"\ntext = \"x\"\n[[resources]]\nuri = \"a:b\"\ntext = \"y\"",
    ] {
        assert!(!fine(&format!("[[resources]]\n{wrong}\n")).await, "{wrong}");
    }
}

#[tokio::test]
async fn s3_a_prompt_may_bring_files_and_resources() {
    let folder = Folder::new("prompt");
    let picture = folder.write("dish.png", b"\x89PNG");
    let place = place(format!(
        r#"
[[resources]]
uri = "menu://today"
text = "soup"

[[prompts]]
name = "look"
description = "d"
text = "What is this?"
files = ["{picture}"]
resources = ["{{what}}"]
arguments = {{ what = "An address." }}
"#
    ))
    .await;
    let get = async |what: &str| {
        let params = json!({"name": "look", "arguments": {"what": what}});
        place.modern("/mcp", "prompts/get", params).await.last().clone()
    };
    let messages = get("menu://today").await["result"]["messages"].clone();
    assert_eq!(messages[0]["content"], json!({"type": "image", "data": "iVBORw==", "mimeType": "image/png"}));
    assert_eq!(messages[1]["content"]["resource"]["text"], "soup");
    assert_eq!(messages[2]["content"]["text"], "What is this?");
    assert_eq!(get("menu://nothing").await["error"]["code"], -32602);
}

#[tokio::test(start_paused = true)]
async fn s1_who_subscribes_is_told_when_a_file_changes() {
    let folder = Folder::new("watch");
    let menu = folder.write("menu.md", b"# Soup");
    let place = place(format!("[[resources]]\nuri = \"menu://card\"\nfile = \"{menu}\"\n")).await;
    let session = crate::sessions::begin(&place).await;
    let post =
        |method: &str, uri: &str| crate::sessions::within(&session).body(rpc(2, method, json!({"uri": uri}))).unwrap();
    assert_eq!(place.send(post("resources/subscribe", "menu://card")).await.last()["result"], json!({}));
    assert_eq!(place.send(post("resources/subscribe", "menu://none")).await.last()["error"]["code"], -32002);
    let get = http::Request::get("/mcp").header("host", "demo.localhost").header("accept", "text/event-stream");
    let get = get.header("mcp-session-id", &session).header("mcp-protocol-version", "2025-11-25");
    let mut stream = place.raw(get.body(axum::body::Body::empty()).unwrap()).await.into_body();
    let listen = json!({"notifications": {"resourceSubscriptions": ["menu://card", "menu://none"]}});
    let mut newer = place.raw(modern("/mcp", "subscriptions/listen", listen, json!({}))).await.into_body();
    let known = next(&mut newer, "notifications/subscriptions/acknowledged").await;
    assert_eq!(known["params"]["notifications"]["resourceSubscriptions"], json!(["menu://card"]));
    // The stamps are taken before the file changes: a listener has what it was acknowledged.
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    folder.write("menu.md", b"# Stew, longer");
    for body in [&mut stream, &mut newer] {
        assert_eq!(next(body, "notifications/resources/updated").await["params"]["uri"], "menu://card");
    }
    assert_eq!(place.send(post("resources/unsubscribe", "menu://card")).await.last()["result"], json!({}));
}
