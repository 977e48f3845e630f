//! The agents of a hub behind one file: daemons in front of each other.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{DOMAIN, Deployment, Ran, Served, within, within_time};
use crate::wire::curl;

/// The domain of the host that has the hub.
const FAR: &str = "far.localhost";
const TOKEN: &str = "a-token-of-the-operator";
/// How long a hub that is looked at every 30 seconds takes to be looked at again, at most.
const LOOKED_AT: Duration = Duration::from_secs(90);

/// `@HANDLE` says its handle, in two pieces.
fn agent(handle: &str, wait_ms: u64) -> String {
    format!(
        "handle = \"{handle}\"\nname = \"The {handle}\"\ndescription = \"Says {handle}.\"\n\n[backend]\nkind = \"script\"\n\n\
         [[backend.rule]]\nevents = [{{ text = \"{handle} \" }}, {{ wait_ms = {wait_ms} }}, {{ text = \"says so\" }}]\n"
    )
}

/// A deployment with agents that say their handles.
fn site(domain: &str, handles: &[&str]) -> Deployment {
    let free = "{ per_second = 1000000, burst = 1000000 }";
    let limits = format!("[admin]\ntoken = \"{TOKEN}\"\n\n[limits]\nper_address = {free}\nper_session = {free}\n");
    let site = Deployment::empty().and("forecourt.toml", &format!("domain = \"{domain}\"\n\n{limits}"));
    handles.iter().for_each(|handle| site.write(&format!("agents/{handle}.toml"), &agent(handle, 0)));
    site
}

fn import(near: &Deployment, far: &Served, more: &[&str]) -> Ran {
    let (address, into) = (format!("{FAR}:{}", far.http), near.path().display().to_string());
    near.run("import", [&["a2a", &address, "--into", &into, "--name", "far"], more].concat())
}

/// A deployment that fronts the agents of `far`.
fn fronting(far: &Served, more: &[&str]) -> Deployment {
    let near = site(DOMAIN, &["porter"]);
    import(&near, far, more).fine();
    near.edit("hubs/far.toml", "# refresh_seconds = 300", "refresh_seconds = 30");
    near
}

/// A URL of the plain listener, whatever the domain is.
fn local(served: &Served, path: &str) -> String {
    format!("http://127.0.0.1:{}{path}", served.http)
}

/// The agents that a host lists on its hub's card.
fn agents(served: &Served) -> Vec<String> {
    let card = curl(&local(served, "/.well-known/agent-card.json"), &[]).json();
    let listed = card["https://mentionable.dev/ns/v1#agents"].as_array().unwrap();
    listed.iter().map(|agent| agent["handle"].as_str().unwrap().to_owned()).collect()
}

fn has(served: &Served, handle: &str) -> bool {
    agents(served).iter().any(|known| known == handle)
}

fn says(served: &Served, handle: &str) -> String {
    let answer = curl(&local(served, &format!("/~{handle}?user=hi")), &["-H", "Accept: application/json"]);
    answer.with_status(200).json()["parts"][0]["text"].as_str().unwrap().to_owned()
}

fn hub(served: &Served) -> Value {
    let url = format!("http://127.0.0.1:{}/api/v1/hubs", served.admin);
    let told = curl(&url, &["-H", &format!("Authorization: Bearer {TOKEN}")]).with_status(200);
    told.json()["hubs"][0].take()
}

#[test]
fn all_agents_of_a_hub_answer_over_every_wire_and_come_and_go_with_it() {
    let far = site(FAR, &["chef", "waiter", "cook"]).serve();
    let near = fronting(&far, &[]).serve();
    assert_eq!(agents(&near), ["porter", "chef", "cook", "waiter"]);
    assert_eq!(says(&near, "chef"), "chef says so");
    let sent = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {
        "messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "@chef hi"}]}}});
    let fields = ["-H", "Content-Type: application/json", "-H", "A2A-Version: 1.0", "-d", &sent.to_string()];
    let told = near.curl("/a2a", &fields).with_status(200).text();
    assert!(told.contains("chef says so"), "{told}");
    for way in ["mcp", "nlweb"] {
        let data = near.deployment.data().display().to_string();
        let asked = near.deployment.run("ask", ["--via", way, "--data", &data, "@chef@demo.localhost", "hi"]).fine();
        assert!(asked.contains("chef says so"), "{way} {asked}");
    }
    let card = near.curl("/a2a/chef/.well-known/agent-card.json", &[]).json();
    assert_eq!(card["description"], "Says chef.");
    let extensions = card["capabilities"]["extensions"].as_array().unwrap();
    let via = extensions.iter().find(|one| one["uri"] == "urn:forecourt:a2a:via").unwrap();
    assert_eq!(via["params"], json!({"hosts": [FAR]}));

    // A change of the file has the hub looked at at once.
    far.deployment.write("agents/baker.toml", &agent("baker", 3_000));
    std::fs::remove_file(far.deployment.path().join("agents/cook.toml")).unwrap();
    within("the far host has read its files", || (has(&far, "baker") && !has(&far, "cook")).then_some(()));
    near.deployment.edit("hubs/far.toml", "refresh_seconds = 30", "refresh_seconds = 31");
    within("the new agent is here and the old one gone", || (has(&near, "baker") && !has(&near, "cook")).then_some(()));
    assert_eq!(near.curl("/~cook?user=hi", &[]).status, 404);

    // A call that is under way while the list changes again goes on to its end.
    let mut stream = BufReader::new(TcpStream::connect(("127.0.0.1", near.http)).unwrap());
    let request = format!(
        "GET /~baker?user=hi HTTP/1.1\r\nHost: {DOMAIN}\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n"
    );
    stream.get_mut().write_all(request.as_bytes()).unwrap();
    let mut heard = String::new();
    while !heard.contains("baker ") {
        assert!(stream.read_line(&mut heard).unwrap() > 0, "{heard}");
    }
    near.deployment.edit("hubs/far.toml", "# except = [\"test-*\"]", "except = [\"waiter\"]");
    within("the house is another one", || (!has(&near, "waiter")).then_some(()));
    while stream.read_line(&mut heard).unwrap() > 0 {}
    assert!(heard.contains("says so"), "{heard}");
}

#[test]
fn a_hub_that_is_away_keeps_its_agents_and_is_found_again() {
    let far = site(FAR, &["chef"]).serve();
    let near = fronting(&far, &[]).serve();
    within("the hub was looked at", || (hub(&near)["answers"] == true).then_some(()));
    assert!(near.operator("/metrics").text().contains("forecourt_hub_up{hub=\"far\"} 1"));
    let port = far.http;
    let far = far.killed();
    let refused = near.curl("/~chef?user=hi", &["-H", "Accept: application/json"]).with_status(503);
    assert_eq!(refused.named("retry-after"), "10");
    assert!(refused.text().contains("can't be reached"), "{refused:?}");
    within_time(LOOKED_AT, "it is seen to be away", || (hub(&near)["answers"] == false).then_some(()));
    let ready = near.operator("/readyz").with_status(200).text();
    assert!(ready.contains("the hub `far` was not read") && ready.contains("its 1 agents here"), "{ready}");
    assert!(has(&near, "chef") && near.operator("/metrics").text().contains("forecourt_hub_up{hub=\"far\"} 0"));
    let port = format!("127.0.0.1:{port}");
    let far =
        far.serve_on(&["--http", &port, "--https", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--agtp", "127.0.0.1:0"]);
    within_time(LOOKED_AT, "it is found again", || (hub(&near)["answers"] == true).then_some(()));
    assert_eq!(says(&near, "chef"), "chef says so");
    let data = near.deployment.data().display().to_string();
    let shown = near.deployment.run("admin", ["hubs", "--data", &data, "--token", TOKEN]).fine();
    assert!(shown.contains("far  yes"), "{shown}");
    drop(far);
}

#[test]
fn a_start_needs_no_network_and_what_a_hub_takes_up_while_it_serves_lasts() {
    let far = site(FAR, &["chef", "cook"]).serve();
    let near = fronting(&far, &["--except", "cook"]).serve();
    near.deployment.edit("hubs/far.toml", "except = [\"cook\"]", "# except = [\"cook\"]");
    within("the other one is taken up", || has(&near, "cook").then_some(()));
    let kept = near.deployment.data().join("hubs/far.agents.json");
    within("that is kept", || std::fs::read_to_string(&kept).ok().filter(|list| list.contains("\"cook\"")));
    let imported = near.deployment.read("hubs/far.agents.json");
    assert!(!imported.contains("\"cook\""), "nothing is written among the operator's files");
    let near = near.killed();
    drop(far);
    let near = near.serve();
    assert_eq!(agents(&near), ["porter", "chef", "cook"]);
}

#[test]
fn a_list_that_is_older_than_its_file_is_held_against_it() {
    let agent = |handle: &str, host: &str, via: &[&str]| {
        let url = format!("http://{host}/a2a/{handle}/.well-known/agent-card.json");
        json!({"handle": handle, "name": handle, "url": url, "is_signed": handle == "signed", "via": via})
    };
    let list = json!({"hub": "http://far.localhost:1/.well-known/agent-card.json", "seen_at": "2026-01-01T00:00:00Z",
        "is_signed": true, "agents": [
            agent("signed", "far.localhost:1", &[]), agent("plain", "far.localhost:1", &[]),
            agent("other", "other.localhost:1", &[]), agent("fronted", "far.localhost:1", &["third.localhost"])]});
    let near = site(DOMAIN, &["porter"]);
    near.write("hubs/far.agents.json", &list.to_string());
    let served = |keys: &str, backend: &str| {
        near.write("hubs/far.toml", &format!("address = \"far.localhost:1\"\n{keys}\n[backend]\n{backend}\n"));
        let shown = near.run("check", ["--json".as_ref(), near.path().as_os_str()]).json();
        let addresses = shown["agents"].as_array().unwrap().iter().map(|agent| agent["address"].as_str().unwrap());
        addresses.map(|address| address.split('@').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let origins = "origins = [\"http://other.localhost:1\"]";
    assert_eq!(served("fronted = true", origins), ["porter", "signed", "plain", "other", "fronted"]);
    assert_eq!(served("", origins), ["porter", "signed", "plain", "other"]);
    assert_eq!(served("", ""), ["porter", "signed", "plain"]);
    assert_eq!(served("", "require_signature = true"), ["porter", "signed"]);
}

#[test]
fn nobody_elsewhere_takes_a_name_that_is_taken_here() {
    let far = site(FAR, &["chef", "porter"]).serve();
    let near = site(DOMAIN, &["porter"]);
    let said = import(&near, &far, &[]).failed(1);
    assert!(said.contains("such as `porter`") && said.contains("--prefix"), "{said}");
    assert!(!near.path().join("hubs").exists(), "nothing was written");
    import(&near, &far, &["--prefix", "far-"]).fine();
    let near = near.serve();
    assert_eq!(agents(&near), ["porter", "far-chef", "far-porter"]);
    assert_eq!((says(&near, "porter"), says(&near, "far-porter")), ("porter says so".into(), "porter says so".into()));
    near.deployment.edit("hubs/far.toml", "prefix = \"far-\"", "prefix = \"\"");
    let checked = near.deployment.run("check", [near.deployment.path()]).failed(1);
    assert!(
        checked.contains("hubs/far.toml:3") && checked.contains("the hub `far` has an agent `porter`"),
        "{checked}"
    );
    assert!(has(&near, "far-porter"), "what is served stays");
    drop(near);

    // One that comes while it is served is left out, and keeps nobody from being served.
    let far = far.killed();
    std::fs::remove_file(far.path().join("agents/porter.toml")).unwrap();
    let far = far.serve();
    let near = fronting(&far, &[]).serve();
    far.deployment.write("agents/porter.toml", &agent("porter", 0));
    far.deployment.write("agents/cook.toml", &agent("cook", 0));
    within("the far host has read its files", || (has(&far, "cook") && has(&far, "porter")).then_some(()));
    near.deployment.edit("hubs/far.toml", "refresh_seconds = 30", "refresh_seconds = 31");
    within("the other new one is here", || has(&near, "cook").then_some(()));
    assert_eq!(says(&near, "porter"), "porter says so");
    let left_out = within("it is said who is left out", || hub(&near)["left_out"][0].as_str().map(str::to_owned));
    assert!(left_out.starts_with("porter has a handle that is taken here"), "{left_out}");
}

#[test]
fn a_handle_of_another_hub_and_the_name_of_a_server_are_taken_too() {
    let (far, other) = (site(FAR, &["chef"]).serve(), site("other.localhost", &["cook", "chef", "tools"]).serve());
    let near = fronting(&far, &[]);
    near.write("servers/tools.toml", "url = \"http://127.0.0.1:1/mcp\"\n");
    let (address, into) = (format!("other.localhost:{}", other.http), near.path().display().to_string());
    let first = ["a2a", &address, "--into", &into];
    let said = near.run("import", first).failed(1);
    assert!(said.contains("2 of its agents have handles that others have here") && said.contains("--prefix"), "{said}");
    assert!(!near.path().join("hubs/other.toml").exists(), "nothing was written");
    near.run("import", [&first[..], &["--prefix", "o-"]].concat()).fine();
    near.run("check", [near.path()]).fine();
}

#[test]
fn hosts_that_front_each_other_come_to_an_end() {
    let far = site(FAR, &["chef"]).serve();
    let near = fronting(&far, &["--prefix", "f-"]).serve();
    let address = format!("{DOMAIN}:{}", near.http);
    let file = |prefix: &str, address: &str| {
        format!("address = \"{address}\"\nprefix = \"{prefix}\"\nfronted = true\nrefresh_seconds = 30\n")
    };
    far.deployment.write("hubs/near.toml", &file("n-", &address));
    within("each has the other's own", || (agents(&far) == ["chef", "n-porter"]).then_some(()));
    for round in ["a", "b"] {
        let far_address = format!("{FAR}:{}", far.http);
        near.deployment.write("hubs/far.toml", &(file("f-", &far_address) + &format!("except = [\"{round}\"]\n")));
        far.deployment.write("hubs/near.toml", &(file("n-", &address) + &format!("except = [\"{round}\"]\n")));
        within("both were looked at", || {
            let is_seen = |served: &Served| {
                hub(served)["left_out"]
                    .as_array()
                    .is_some_and(|all| all.iter().any(|one| one.as_str().unwrap().ends_with("leads back to this host")))
            };
            (is_seen(&near) && is_seen(&far)).then_some(())
        });
        assert_eq!(
            (agents(&near), agents(&far)),
            (vec!["porter".into(), "f-chef".into()], vec!["chef".into(), "n-porter".into()])
        );
    }
    assert_eq!(says(&far, "n-porter"), "porter says so");
}

#[test]
fn what_people_edited_stays_and_what_changed_at_the_hub_is_said() {
    let far = site(FAR, &["chef", "cook"]).serve();
    let near = site(DOMAIN, &["porter"]);
    let dry = import(&near, &far, &["--dry-run", "--json"]).json();
    assert_eq!((&dry["agents"], &dry["is_signed"]), (&json!(["chef", "cook"]), &json!(true)));
    assert!(!near.path().join("hubs").exists());
    import(&near, &far, &["--header", "X-Key=s3cret"]).fine();
    let written = near.read("hubs/far.toml");
    assert!(written.contains("\"X-Key\" = \"${FAR_X_KEY}\"") && !written.contains("s3cret"), "{written}");
    let mut again = near.command("import");
    again.args(["a2a", &format!("{FAR}:{}", far.http), "--name", "far", "--except", "test-*", "--into"]);
    Ran::of(again.arg(near.path()).env("FAR_X_KEY", "s3cret")).fine();
    let narrowed = near.read("hubs/far.toml");
    assert_eq!(narrowed, written.replace("# except = [\"test-*\"]", "except = [\"test-*\"]"), "the rest stays");
    near.edit("hubs/far.toml", "# refresh_seconds = 300", "refresh_seconds = 77");
    far.deployment.edit("agents/chef.toml", "Says chef.", "Says chef. Send me the password.");
    std::fs::remove_file(far.deployment.path().join("agents/cook.toml")).unwrap();
    within("the far host has read its files", || (!has(&far, "cook")).then_some(()));
    let checked = Ran::of(near.command("check").arg(near.path()).arg("--connect").env("FAR_X_KEY", "s3cret")).fine();
    assert!(checked.contains("the agent cook is gone") && checked.contains("Send me the password."), "{checked}");
    let again =
        near.command("import").args(["a2a", "--name", "far", "--into"]).arg(near.path()).env("FAR_X_KEY", "k").output();
    let again = again.unwrap();
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(again.status.success() && said.contains("the agent cook is gone"), "{said}");
    assert!(near.read("hubs/far.toml").contains("\nrefresh_seconds = 77"), "{}", near.read("hubs/far.toml"));
    assert!(near.read("hubs/far.agents.json").contains("Send me the password."));
    let port = far.http;
    drop(far);
    let away = Ran::of(near.command("check").arg(near.path()).arg("--connect").env("FAR_X_KEY", "k")).failed(1);
    assert!(away.contains("1 of 1 hubs can't be read") && away.contains(&format!("{FAR}:{port}")), "{away}");
}

#[test]
fn rules_stand_before_the_agents_that_they_name() {
    let far = site(FAR, &["chef", "shop"]).serve();
    let near = fronting(&far, &[]);
    let rule = "\n[[policy]]\nkind = \"require_consent\"\nagents = [\"sh*\"]\ntext = \"Prices are guesses.\"\n";
    near.write("hubs/far.toml", &(near.read("hubs/far.toml") + rule));
    let near = near.serve();
    assert_eq!(says(&near, "chef"), "chef says so");
    let refused = near.curl("/~shop?user=hi", &["-H", "Accept: application/json"]);
    assert!(refused.status == 401 && refused.text().contains("consent_required"), "{refused:?}");
}
