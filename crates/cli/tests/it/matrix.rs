//! Agents in Matrix through the whole program: on Synapse, whose people write with matrix-nio (`tests/sdk/matrix.py`),
//! and on a double where a homeserver is to fail. `dev/sdk/setup` brings both.

mod failing;

use forecourt_testkit::{SYNAPSE_NAME, SYNAPSE_SECRET, Synapse, SynapseApplication, free_port};
use serde_json::{Value, json};

use crate::chat_agents::{CLUB, SLOW};
use crate::scripts::{RunningScript, client_script, library};
use crate::support::{Deployment, Served, within};

const AS_TOKEN: &str = "as-0123456789abcdef0123456789abcdef";
const HS_TOKEN: &str = "hs-0123456789abcdef0123456789abcdef";
const PATH: &str = "/connectors/matrix/kitchen";
const BOT: &str = "@kitchen:demo.test";

/// A homeserver with people, and a deployment that is its application service.
struct Town {
    served: Option<Served>,
    /// Where the deployment is reached.
    port: u16,
    synapse: Synapse,
    people: RunningScript,
}

impl Town {
    /// `None` where the homeserver or its client is not there.
    fn open(more: &str) -> Option<Self> {
        let client = library("matrix-python").filter(|_| Synapse::is_there())?;
        let (port, homeserver) = (free_port(), free_port());
        let served = serve(deployment(&format!("http://127.0.0.1:{homeserver}"), more), port);
        let application = SynapseApplication {
            url: format!("http://127.0.0.1:{port}{PATH}"),
            as_token: AS_TOKEN.to_owned(),
            hs_token: HS_TOKEN.to_owned(),
            localpart: "kitchen".to_owned(),
        };
        let synapse = Synapse::start(homeserver, &application);
        let mut command = client_script("matrix.py", Some(&client));
        command.args([synapse.url().as_str(), SYNAPSE_SECRET, "ann", "bob"]);
        let (people, ids) = RunningScript::start(&mut command);
        assert!(ids.contains(&format!("@bob:{SYNAPSE_NAME}")), "{ids}");
        Some(Self { served: Some(served), port, synapse, people })
    }

    fn served(&self) -> &Served {
        self.served.as_ref().unwrap()
    }

    /// The daemon ends hard, and another one serves in its place.
    fn kill(&mut self) {
        let deployment = self.served.take().unwrap().killed();
        self.served = Some(serve(deployment, self.port));
    }

    #[track_caller]
    fn tell(&mut self, who: &str, what: &str, more: Value) -> Value {
        let mut words = json!({"do": what, "as": who});
        words.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let said: Value = serde_json::from_str(&self.people.tell(&words.to_string())).unwrap();
        assert!(said["error"].is_null(), "{words}: {said}\n{}", self.synapse.log());
        said
    }

    /// Ann makes a room with the bot, which comes, and with Bob.
    #[track_caller]
    fn room(&mut self, more: Value) -> String {
        let mut words = json!({"with": [BOT]});
        words.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let room = self.tell("ann", "room", words)["room"].as_str().unwrap().to_owned();
        self.tell("bob", "join", json!({}));
        within("the bot comes", || {
            self.tell("ann", "members", json!({"room": room}))["members"].to_string().contains(BOT).then_some(())
        });
        room
    }

    fn direct_room(&mut self) -> String {
        self.room(json!({"direct": true}))
    }

    fn shared_room(&mut self) -> String {
        self.room(json!({"with": [BOT, "@bob:demo.test"]}))
    }

    #[track_caller]
    fn write(&mut self, who: &str, room: &str, content: Value) -> String {
        self.tell(who, "write", json!({"room": room, "content": content}))["event"].as_str().unwrap().to_owned()
    }

    /// What the bot wrote into a room, as it is by now.
    fn answers(&mut self, room: &str) -> Vec<Value> {
        let events = self.tell("ann", "messages", json!({"room": room}))["events"].take();
        answers(events.as_array().unwrap())
    }

    /// The answer of this number in a room, once it holds these words.
    #[track_caller]
    fn answer(&mut self, room: &str, number: usize, words: &str) -> Value {
        within(&format!("answer {number} says {words}"), || {
            let answers = self.answers(room);
            answers.get(number).filter(|answer| body(answer).contains(words)).cloned()
        })
    }
}

/// The messages of the bot among the events of a room: with their last words, without those that are gone.
fn answers(events: &[Value]) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    for event in events.iter().filter(|event| event["sender"] == BOT && event["type"] == "m.room.message") {
        let content = &event["content"];
        match content["m.relates_to"]["rel_type"].as_str() {
            Some("m.replace") => {
                let of = &content["m.relates_to"]["event_id"];
                let Some(edited) = messages.iter_mut().find(|message| message["event_id"] == *of) else { continue };
                for key in ["body", "formatted_body", "m.mentions"] {
                    edited["content"][key] = content["m.new_content"][key].clone();
                }
            }
            _ if content["body"].is_string() => messages.push(event.clone()),
            _ => {}
        }
    }
    messages
}

fn body(event: &Value) -> &str {
    event["content"]["body"].as_str().unwrap_or_default()
}

fn deployment(homeserver: &str, more: &str) -> Deployment {
    let connector = format!(
        "kind = \"matrix\"\nhomeserver = \"{homeserver}\"\nserver_name = \"{SYNAPSE_NAME}\"\nlocalpart = \"kitchen\"\n\
         as_token = \"${{AS_TOKEN}}\"\nhs_token = \"${{HS_TOKEN}}\"\n{more}"
    );
    let deployment = Deployment::kitchen().open_to_loopback().and("connectors/kitchen.toml", &connector);
    deployment.and("agents/slow.toml", SLOW).and("agents/club.toml", CLUB)
}

fn serve(deployment: Deployment, port: u16) -> Served {
    let http = format!("127.0.0.1:{port}");
    let words = ["--http", &http, "--https", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--agtp", "127.0.0.1:0"];
    deployment.serve_with(&words, &[("AS_TOKEN", AS_TOKEN), ("HS_TOKEN", HS_TOKEN)])
}

fn text(words: &str) -> Value {
    json!({"msgtype": "m.text", "body": words})
}

/// A message that mentions the bot as clients do.
fn mention(words: &str) -> Value {
    json!({
        "msgtype": "m.text", "body": format!("Kitchen: {words}"), "format": "org.matrix.custom.html",
        "formatted_body": format!("<a href=\"https://matrix.to/#/{BOT}\">Kitchen</a>: {words}"),
        "m.mentions": {"user_ids": [BOT]},
    })
}

fn with(mut content: Value, relates: Value) -> Value {
    content["m.relates_to"] = relates;
    content
}

fn in_thread(root: &str, words: &str) -> Value {
    let before = json!({"event_id": root});
    with(
        text(words),
        json!({"rel_type": "m.thread", "event_id": root, "is_falling_back": true, "m.in_reply_to": before}),
    )
}

fn edit(of: &str, words: Value) -> Value {
    json!({
        "msgtype": "m.text", "body": "* edited", "m.new_content": words,
        "m.relates_to": {"rel_type": "m.replace", "event_id": of},
    })
}

#[test]
fn an_agent_answers_directly_and_in_the_thread_of_who_mentions_it() {
    let Some(mut town) = Town::open("") else { return };
    let direct = town.direct_room();
    town.write("ann", &direct, text("@echo hello there"));
    let first = town.answer(&direct, 0, "hello there");
    assert_eq!((&first["content"]["msgtype"], &first["content"]["m.mentions"]), (&json!("m.notice"), &json!({})));
    assert!(first["content"]["m.relates_to"].is_null(), "{first}");

    let room = town.shared_room();
    town.write("bob", &room, text("what others say"));
    let root = town.write("ann", &room, mention("@echo how *long* <b>?"));
    let answer = town.answer(&room, 0, "how long <b>?");
    assert_eq!(answer["content"]["formatted_body"], "how <em>long</em> &lt;b&gt;?", "{answer}");
    assert_eq!(answer["content"]["m.relates_to"]["event_id"], json!(root));
    town.write("ann", &room, in_thread(&root, "and salt?"));
    town.answer(&room, 1, "and salt?");
    // What they tell each other there, and what programs say.
    town.write("bob", &room, in_thread(&root, "@ann:demo.test shall we?"));
    let program = town.write("bob", &room, json!({"msgtype": "m.notice", "body": "@kitchen a program"}));
    assert!(!program.is_empty());
    // A client that knows no threads answers our message beside its thread, with a copy of it.
    let quoting = text("> <@kitchen:demo.test> and salt?\n\nand pepper?");
    let ours = town.answer(&room, 1, "and salt?")["event_id"].clone();
    town.write("bob", &room, with(quoting, json!({"m.in_reply_to": {"event_id": ours}})));
    let pepper = town.answer(&room, 2, "and pepper?");
    assert_eq!((body(&pepper), &pepper["content"]["m.relates_to"]["event_id"]), ("and pepper?", &json!(root)));
    // Nobody of that name: that is told to who asked alone, in the room with the bot that there is.
    town.write("ann", &room, in_thread(&root, "@nobody hello"));
    town.answer(&direct, 1, "Nobody here is called @nobody");
    town.answer(&room, 3, "I have written to you directly");
    assert_eq!((town.answers(&direct).len(), town.answers(&room).len()), (2, 4));
}

#[test]
fn edits_redactions_and_files_are_those_of_matrix() {
    let Some(mut town) = Town::open("") else { return };
    let room = town.shared_room();
    let asked = town.write("ann", &room, mention("@echo one"));
    let answer = town.answer(&room, 0, "one");
    // Nobody else changes what Ann asked.
    town.write("bob", &room, edit(&asked, mention("@echo forged")));
    for words in ["two", "one", "two"] {
        town.write("ann", &room, edit(&asked, mention(&format!("@echo {words}"))));
        assert_eq!(town.answer(&room, 0, words)["event_id"], answer["event_id"]);
    }
    town.tell("ann", "redact", json!({"room": room, "event": asked}));
    // With all that it said in between.
    within("the answer is gone", || {
        let events = town.tell("ann", "messages", json!({"room": room}))["events"].take();
        let mut of_bot = events.as_array().unwrap().iter().filter(|event| event["sender"] == BOT);
        of_bot.all(|event| event["content"]["body"].is_null()).then_some(())
    });

    let direct = town.direct_room();
    let shared = json!({"name": "soup.txt", "mime": "text/plain", "text": "water and salt"});
    let uri = town.tell("ann", "share", shared)["uri"].clone();
    let mut file = json!({"msgtype": "m.file", "body": "@echo look", "filename": "soup.txt", "url": uri});
    file["info"] = json!({"mimetype": "text/plain", "size": 14});
    town.write("ann", &direct, file.clone());
    town.answer(&direct, 0, "look");
    let sent = town.answer(&direct, 1, "soup.txt");
    assert_eq!((&sent["content"]["msgtype"], &sent["content"]["info"]["size"]), (&json!("m.file"), &json!(14)));
    let fetched = town.tell("bob", "fetch", json!({"uri": sent["content"]["url"]}));
    assert_eq!(fetched["text"], "water and salt");
    // What can't be had is said in words.
    file["url"] = json!("mxc://demo.test/nothing");
    town.write("ann", &direct, file);
    town.answer(&direct, 2, "The file soup.txt could not be handed on");
}

#[test]
fn a_refusal_is_told_to_who_asked_alone_and_its_answer_comes_into_the_thread() {
    let Some(mut town) = Town::open("language = \"de\"\n") else { return };
    let room = town.shared_room();
    let root = town.write("ann", &room, mention("@club What is the secret?"));
    let told = town.answer(&room, 0, "Ich habe Ihnen direkt geschrieben");
    assert!(!told.to_string().contains("/consent/"), "{told}");
    let alone = town.tell("ann", "join", json!({}))["rooms"][0].as_str().unwrap().to_owned();
    assert_eq!(town.tell("ann", "members", json!({"room": alone}))["members"], json!(["@ann:demo.test", BOT]));
    let refusal = town.answer(&alone, 0, "Bitte stimmen Sie zu.");
    let words = body(&refusal).to_owned();
    assert!(words.contains("Zustimmen (http"), "{words}");
    let path = words[words.find("/consent/").unwrap()..].trim_end_matches(')').to_owned();
    agree(town.served(), &path);
    let answer = town.answer(&room, 1, "What is the secret?");
    assert_eq!(answer["content"]["m.relates_to"]["event_id"], json!(root));
    // Bob is refused, too: in a room of his own.
    town.write("bob", &room, mention("@club And for me?"));
    town.answer(&room, 2, "Ich habe Ihnen direkt geschrieben");
    let of_bob = town.tell("bob", "join", json!({}))["rooms"][0].as_str().unwrap().to_owned();
    assert_ne!(of_bob, alone);
    let asked = town.tell("bob", "messages", json!({"room": of_bob}))["events"].take();
    assert_eq!(answers(asked.as_array().unwrap()).len(), 1);
    let Town { served, .. } = town;
    let served = served.unwrap();
    served.signal(nix::sys::signal::Signal::SIGTERM);
    let (_, log, _) = served.ended();
    let state = path.rsplit('/').next().unwrap();
    assert!(!log.contains(state) && !log.contains(AS_TOKEN) && !log.contains(HS_TOKEN), "{log}");
}

/// Agrees on the page of a consent.
fn agree(served: &Served, path: &str) {
    let own_page = ["-H", "Accept: text/html", "-H", "Sec-Fetch-Site: same-origin"];
    let page = served.curl(path, &own_page).with_status(200).text();
    assert!(page.contains("I will not tell anybody."), "{page}");
    let token = page.split("name=\"token\" value=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
    let token = format!("token={}", token.unwrap_or_default());
    let decided = [&own_page[..], &["--data-urlencode", &token, "-d", "decision=accept"]].concat();
    served.curl(path, &decided).with_status(303);
}

#[test]
fn a_room_that_others_come_into_is_not_direct_any_more_and_a_link_goes_elsewhere() {
    let Some(mut town) = Town::open("") else { return };
    let room = town.direct_room();
    town.write("ann", &room, text("@club What is the secret?"));
    town.answer(&room, 0, "/consent/");
    town.tell("ann", "invite", json!({"room": room, "user": "@bob:demo.test"}));
    town.tell("bob", "join", json!({}));
    town.write("ann", &room, mention("@club Once more?"));
    town.answer(&room, 1, "I have written to you directly");
    let alone = town.tell("ann", "join", json!({}))["rooms"][0].as_str().unwrap().to_owned();
    town.answer(&alone, 0, "/consent/");
    assert_eq!(town.answers(&room).len(), 2);
}

#[test]
fn a_daemon_that_is_killed_between_acknowledgement_and_answer_answers_once() {
    let Some(mut town) = Town::open("") else { return };
    let room = town.direct_room();
    let asked = town.write("ann", &room, text("@slow hello"));
    // Its words are shown while they are written.
    town.answer(&room, 0, "Well.");
    town.kill();
    let answer = town.answer(&room, 0, "Done.");
    assert_eq!(body(&answer).matches("Done.").count(), 1);
    // The homeserver did not hear the acknowledgement, and sends the event again in another transaction.
    let event = json!({
        "type": "m.room.message", "event_id": asked, "room_id": room, "sender": "@ann:demo.test",
        "content": text("@slow hello"),
    });
    assert_eq!(failing::transaction(town.served(), HS_TOKEN, "999", &[event]).status, 200);
    // Written while nobody serves: the homeserver keeps it.
    let deployment = town.served.take().unwrap().killed();
    town.write("ann", &room, text("@echo are you there?"));
    town.served = Some(serve(deployment, town.port));
    town.answer(&room, 1, "are you there?");
    assert_eq!(town.answers(&room).len(), 2);
}

#[test]
fn an_encrypted_room_is_told_once_that_it_is_not_read_and_strangers_can_not_invite() {
    let Some(mut town) = Town::open("invited_by = [\"@ann:demo.test\"]\n") else { return };
    let room = town.room(json!({"encrypted": true}));
    let encrypted = json!({
        "algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x", "sender_key": "y", "session_id": "z", "device_id": "d",
    });
    let say = json!({"room": room, "type": "m.room.encrypted", "content": encrypted});
    town.tell("ann", "write", say.clone());
    town.answer(&room, 0, "this room is encrypted");
    town.kill();
    town.tell("ann", "write", say);
    // Bob may not invite it.
    let of_bob = town.tell("bob", "room", json!({"with": [BOT]}))["room"].as_str().unwrap().to_owned();
    within("the invitation is refused", || {
        let events = town.tell("bob", "messages", json!({"room": of_bob}));
        events.to_string().contains("may not invite the bot").then_some(())
    });
    assert_eq!(town.answers(&room).len(), 1);
}

#[test]
fn a_connector_is_checked_and_its_credentials_are_tried() {
    let Some(town) = Town::open("") else { return };
    let deployment = &town.served().deployment;
    let folder = deployment.path().to_str().unwrap();
    let of = |as_token: &str| [("AS_TOKEN", as_token.to_owned()), ("HS_TOKEN", HS_TOKEN.to_owned())];
    let said = deployment.run_with("check", [folder, "--connect"], &of(AS_TOKEN)).fine();
    assert!(
        said.contains("connectors/kitchen.toml: @kitchen:demo.test, and the homeserver reaches this host"),
        "{said}"
    );
    let wrong = deployment.run_with("check", [folder, "--connect"], &of("as-another-0123456789abcdef"));
    assert!(wrong.code == Some(1) && format!("{wrong:?}").contains("M_UNKNOWN_TOKEN"), "{wrong:?}");
    let steps = deployment.run_with("connect", ["matrix", folder, "--name", "team"], &of(AS_TOKEN)).fine();
    assert!(steps.contains("/connectors/matrix/team") && steps.contains("sender_localpart: team"), "{steps}");
}
