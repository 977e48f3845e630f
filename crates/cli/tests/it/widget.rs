//! The widget that models' clients show results with, in Chromium: in a frame, with a host that says
//! what MCP Apps says.

use std::fs;

use serde_json::{Value, json};

use crate::browser::{Browser, View};
use crate::support::{Deployment, Served, within};

/// A client in few words: it puts the widget into a frame, answers what that asks and hands it a
/// result. It may look into the frame, which real ones may not.
const CLIENT: &str = r#"<!doctype html><meta charset="utf-8">
<iframe sandbox="allow-scripts allow-same-origin" style="width:900px;height:700px" srcdoc="WIDGET"></iframe>
<script>
const said = [], result = RESULT, frame = document.querySelector('iframe');
const say = message => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, '*');
addEventListener('message', ({ data }) => {
  said.push(data.method);
  if (data.method === 'ui/initialize') say({ id: data.id, result: { hostContext: { theme: 'light' } } });
  if (data.method === 'ui/notifications/initialized') say({ method: 'ui/notifications/tool-result', params: result });
});
const shown = selector => [...frame.contentDocument.querySelectorAll(selector)].map(node => node.textContent);
</script>"#;

/// Asks over MCP as a client of 2026-07-28.
fn ask(served: &Served, method: &str, mut params: Value) -> Value {
    let named = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let (method, name) = (format!("mcp-method: {method}"), format!("mcp-name: {named}"));
    let arguments = [
        "-H",
        "content-type: application/json",
        "-H",
        "mcp-protocol-version: 2026-07-28",
        "-H",
        &method,
        "-H",
        &name,
        "--data-binary",
        &body,
    ];
    served.curl("/mcp", &arguments).json()["result"].clone()
}

/// Shows `result` in the widget; waits until it says how many cards there are.
fn show(browser: &Browser, folder: &std::path::Path, widget: &str, result: &Value) {
    let escaped = widget.replace('&', "&amp;").replace('"', "&quot;");
    let page = CLIENT.replace("WIDGET", &escaped).replace("RESULT", &result.to_string().replace("</", "<\\/"));
    let file = folder.join("client.html");
    fs::write(&file, page).unwrap();
    browser.go(&format!("file://{}", file.display()));
    let cards = || browser.value("frame.contentDocument?.body?.dataset.shown ?? null").as_str().map(str::to_owned);
    within("cards", cards);
}

#[test]
fn results_are_cards() {
    let Some(browser) = Browser::open(View::Desk) else { return };
    let served = Deployment::kitchen().serve();
    let read = ask(&served, "resources/read", json!({"uri": "ui://forecourt/results.html"}));
    let widget = read["contents"][0]["text"].as_str().unwrap().to_owned();
    let folder = served.deployment.path();

    let found = ask(&served, "tools/call", json!({"name": "ask_chef", "arguments": {"message": "chickpea"}}));
    show(&browser, folder, &widget, &found);
    let items: Vec<_> =
        found["structuredContent"]["items"].as_array().unwrap().iter().map(|i| i["name"].clone()).collect();
    assert_eq!(browser.value("shown('.card h2')"), Value::Array(items));
    assert!(browser.value("shown('.card a').length").as_u64() > Some(0));
    browser.picture("widget");

    let hostile = json!({"structuredContent": {"results": [
        {"name": "<b>bold</b>", "url": "javascript:alert(1)", "image": "http://192.0.2.1/x.png",
            "description": "<img src=x onerror=\"parent.said.push('pwned')\">"},
        {"@type": "Summary", "text": "One of them."},
    ]}});
    show(&browser, folder, &widget, &hostile);
    assert_eq!(browser.value("shown('.card h2')"), json!(["<b>bold</b>"]));
    assert_eq!(browser.value("shown('.card a, .card img, .card b').length"), 0);
    assert_eq!(browser.value("shown('#text')"), json!(["One of them."]));
    assert_eq!(browser.value("said.includes('pwned')"), false);

    let nothing = json!({"structuredContent": {"state": "failed", "text": "", "error": "No gas."}, "isError": true});
    show(&browser, folder, &widget, &nothing);
    assert!(browser.value("shown('#text')").to_string().contains("No gas."));
}
