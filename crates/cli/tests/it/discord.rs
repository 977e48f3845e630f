//! Agents in Discord through the whole program: commands as Discord signs them, messages told over its gateway, answers to
//! a double of its API.

use std::time::Instant;

use forecourt_core::Timestamp;
use forecourt_testkit::{
    DISCORD_APPLICATION, DISCORD_BOT, DISCORD_ROLE, DISCORD_TOKEN, DiscordDouble, DiscordMessage, GatewayOrder,
    discord_command, discord_public_key, discord_signature,
};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::chat_agents::{CLUB, SLOW};
use crate::support::{Deployment, FREE_PORTS, Served, within};

const PATH: &str = "/connectors/discord/kitchen";
const CHANNEL: &str = "50";

/// Discord, and a deployment whose agents are asked there.
struct Guild {
    discord: DiscordDouble,
    served: Served,
    /// On which the double answers.
    _runtime: tokio::runtime::Runtime,
}

impl Guild {
    fn open() -> Self {
        let guild = Self::with("");
        guild.is_heard();
        guild
    }

    fn with(more: &str) -> Self {
        Self::of(&DiscordDouble::default(), more)
    }

    fn of(discord: &DiscordDouble, more: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let origin = format!("http://{}", runtime.block_on(discord.start()));
        let connector = format!(
            "kind = \"discord\"\napplication_id = \"{DISCORD_APPLICATION}\"\npublic_key = \"{}\"\n\
             bot_token = \"${{TOKEN}}\"\napi = \"{origin}/api\"\nagent = \"echo\"\n{more}",
            discord_public_key()
        );
        let deployment = Deployment::gatehouse().open_to_loopback().and("connectors/kitchen.toml", &connector);
        let served = serve(deployment.and("agents/slow.toml", SLOW).and("agents/club.toml", CLUB));
        Self { discord: discord.clone(), served, _runtime: runtime }
    }

    /// Waits until messages are heard of.
    #[track_caller]
    fn is_heard(&self) {
        within("a session is begun", || (self.discord.books.lock().identifies > 0).then_some(()));
    }

    /// Somebody gives `/ask`; what answers it.
    fn ask(&self, id: &str, guild: Option<&str>, options: &Value) -> Value {
        let token = token(id);
        let body = discord_command(id, &token, guild, options).to_string();
        self.discord.give(&token, CHANNEL);
        let (begun, now) = (Instant::now(), Timestamp::now().as_second());
        let (status, answer) = post(&self.served, now, &discord_signature(now, &body), &body);
        self.discord.acknowledge(&token, status, &answer, begun.elapsed());
        serde_json::from_str(&answer).unwrap_or_default()
    }

    /// The message of this number, once it holds these words.
    #[track_caller]
    fn answer(&self, number: usize, words: &str) -> DiscordMessage {
        within(&format!("message {number} says {words}"), || {
            self.discord.messages().get(number).filter(|message| text(message).contains(words)).cloned()
        })
    }

    fn counts(&self) -> (usize, usize) {
        let books = self.discord.books.lock();
        (books.identifies, books.resumes)
    }

    /// Nothing was against the rules, and so many messages are there.
    #[track_caller]
    fn ends_with(&self, messages: usize) {
        assert_eq!(self.discord.books.lock().wrong, Vec::<String>::new());
        assert_eq!(self.discord.messages().len(), messages, "{:?}", self.discord.messages());
    }
}

fn serve(deployment: Deployment) -> Served {
    deployment.serve_with(&FREE_PORTS, &[("TOKEN", DISCORD_TOKEN)])
}

fn token(id: &str) -> String {
    format!("token-of-{id}-which-nobody-sees")
}

fn post(served: &Served, time: i64, signature: &str, body: &str) -> (u16, String) {
    let (signature, time) = (format!("x-signature-ed25519: {signature}"), format!("x-signature-timestamp: {time}"));
    let kind = "content-type: application/json";
    let answer = served.curl(PATH, &["-X", "POST", "-H", &signature, "-H", &time, "-H", kind, "--data-binary", body]);
    (answer.status, answer.text())
}

fn text(message: &DiscordMessage) -> String {
    message.fields["content"].as_str().unwrap_or_default().to_owned()
}

fn question(text: &str) -> Value {
    json!([{"name": "question", "type": 3, "value": text}])
}

fn to(agent: &str, text: &str) -> Value {
    json!([{"name": "question", "type": 3, "value": text}, {"name": "agent", "type": 3, "value": agent}])
}

/// A message of Ann.
fn said(id: &str, content: &str, more: &Value) -> Value {
    let mut message = json!({
        "id": id, "channel_id": CHANNEL, "guild_id": "60", "type": 0, "content": content, "edited_timestamp": null,
        "author": {"id": "7", "username": "ann", "global_name": "Ann"}, "member": {"nick": null, "roles": []},
        "mentions": [], "mention_roles": [], "attachments": [], "tts": false,
    });
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    message
}

/// A message of Ann that mentions the bot.
fn mention(id: &str, content: &str) -> Value {
    said(id, &format!("<@{DISCORD_BOT}> {content}"), &json!({"mentions": [{"id": DISCORD_BOT, "bot": true}]}))
}

/// Agrees on the page of a button; gives its path.
fn agree(served: &Served, message: &DiscordMessage) -> String {
    let button = &message.fields["components"][0]["components"][0];
    let url = button["url"].as_str().unwrap();
    let path = url[url.find("/consent/").unwrap()..].to_owned();
    let own_page = ["-H", "Accept: text/html", "-H", "Sec-Fetch-Site: same-origin"];
    let page = served.curl(&path, &own_page).with_status(200).text();
    let token = page.split("name=\"token\" value=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
    let token = format!("token={}", token.unwrap_or_default());
    let decided = [&own_page[..], &["--data-urlencode", &token, "-d", "decision=accept"]].concat();
    served.curl(&path, &decided).with_status(303);
    path
}

#[test]
fn a_command_is_answered_in_the_place_of_its_promise() {
    let guild = Guild::open();
    assert_eq!(guild.discord.books.lock().commands[0]["name"], "ask", "it is registered by itself");
    let now = Timestamp::now().as_second();
    let ping = json!({"id": "1", "application_id": DISCORD_APPLICATION, "type": 1, "token": "t"}).to_string();
    assert_eq!(post(&guild.served, now, &discord_signature(now, &ping), &ping), (200, json!({"type": 1}).to_string()));
    assert_eq!(guild.ask("901", Some("60"), &to("echo", "hi *there* @everyone")), json!({"type": 5}));
    let first = guild.answer(0, "hi *there* @\u{2060}everyone");
    assert!(first.channel == CHANNEL && !first.is_ephemeral && first.fields["message_reference"].is_null());
    // Given again, since its acknowledgement was not heard.
    guild.ask("901", Some("60"), &to("echo", "hi *there* @everyone"));
    // Nobody of that name: who asked is told, and nobody else.
    guild.ask("902", Some("60"), &to("nobody", "hello"));
    let nobody = within("it is told", || guild.discord.messages().into_iter().find(|message| message.is_ephemeral));
    assert!(text(&nobody).contains("Nobody here is called @\u{2060}nobody"), "{nobody:?}");
    within("the promise is gone", || (guild.discord.messages().len() == 2).then_some(()));
    // Discord takes no answer to a command any more when this one is whole.
    guild.ask("903", Some("60"), &to("slow", "hello"));
    guild.answer(2, "Well.");
    guild.discord.expire(&token("903"));
    guild.answer(2, "Well. Done.");
    // The same before anything of it was shown, in a conversation with the bot.
    guild.ask("904", None, &to("echo", "late"));
    guild.answer(3, "late");
    guild.ends_with(4);
    assert_eq!(guild.discord.books.lock().commands.len(), 1);
}

#[test]
fn a_mention_is_answered_as_a_reply_and_a_thread_stays_with_its_agent() {
    let guild = Guild::open();
    let tell = |data: &Value| guild.discord.tell("MESSAGE_CREATE", data);
    tell(&mention("101", "soup?"));
    let first = guild.answer(0, "soup?");
    assert_eq!(first.fields["message_reference"]["message_id"], "101");
    // Told of again, as after a session that went on.
    tell(&mention("101", "soup?"));
    // What others say, and what programs say.
    tell(&said("102", "anybody here?", &json!({})));
    tell(&said("103", &format!("<@{DISCORD_BOT}> hi"), &json!({"author": {"id": "8", "bot": true}})));
    tell(&said("104", &format!("<@{DISCORD_BOT}> hi"), &json!({"webhook_id": "5"})));
    // A role of the bot, and one of others.
    tell(&said("105", "<@&4444> hi", &json!({"mention_roles": ["4444"]})));
    tell(&said("106", &format!("<@&{DISCORD_ROLE}> with a role"), &json!({"mention_roles": [DISCORD_ROLE]})));
    guild.answer(1, "with a role");
    let reply = json!({"type": 19, "referenced_message": {"id": first.id, "author": {"id": DISCORD_BOT}}});
    tell(&said("107", "and salt?", &reply));
    guild.answer(2, "and salt?");
    // A thread is a channel of its own: once an agent was asked there, it needs no mention.
    guild.discord.books.lock().threads.insert("51".to_owned());
    let in_thread = |id: &str, text: &str| said(id, text, &json!({"channel_id": "51"}));
    tell(&in_thread("108", "nobody was asked here"));
    tell(&in_thread("109", &format!("<@{DISCORD_BOT}> in the thread")));
    assert_eq!(guild.answer(3, "in the thread").channel, "51");
    tell(&in_thread("110", "and once more"));
    guild.answer(4, "and once more");
    tell(&in_thread("111", "<@8> what do you think?"));
    let direct = said("112", "between us", &json!({"guild_id": null, "channel_id": "90007"}));
    tell(&direct);
    let direct = guild.answer(5, "between us");
    assert!(direct.channel == "90007" && direct.fields["message_reference"].is_null(), "{direct:?}");
    guild.ends_with(6);
}

#[test]
fn edits_deletions_files_and_long_answers_are_those_of_discord() {
    let guild = Guild::open();
    guild.discord.tell("MESSAGE_CREATE", &mention("101", "one"));
    let first = guild.answer(0, "one");
    let edit = |text: &str| {
        let mut message = mention("101", text);
        message["edited_timestamp"] = json!("2026-01-01T00:00:00Z");
        message
    };
    // A preview of a link changes a message, too.
    guild.discord.tell("MESSAGE_UPDATE", &mention("101", "one"));
    guild.discord.tell("MESSAGE_UPDATE", &edit("two"));
    assert_eq!(guild.answer(0, "two").id, first.id);
    guild.discord.tell("MESSAGE_CREATE", &mention("102", "another"));
    guild.answer(1, "another");
    guild.discord.tell("MESSAGE_DELETE", &json!({"id": "101", "channel_id": CHANNEL, "guild_id": "60"}));
    within("its answer is gone", || (guild.discord.messages().len() == 1).then_some(()));
    guild.discord.tell("MESSAGE_DELETE_BULK", &json!({"ids": ["99", "102"], "channel_id": CHANNEL, "guild_id": "60"}));
    within("all are gone", || guild.discord.messages().is_empty().then_some(()));

    let url = guild.discord.share("soup.txt", b"water and salt");
    let file = json!({"id": "1", "filename": "soup.txt", "content_type": "text/plain", "size": 14, "url": url});
    let foreign = json!({"id": "2", "filename": "x.txt", "size": 1, "url": "https://evil.example/x"});
    let mut with_files = mention("103", "look");
    with_files["attachments"] = json!([file, foreign]);
    guild.discord.tell("MESSAGE_CREATE", &with_files);
    guild.answer(0, "The file x.txt could not be handed on");
    let (channel, form) = within("the file comes back", || guild.discord.books.lock().files.first().cloned());
    let form = String::from_utf8_lossy(&form).into_owned();
    assert!(channel == CHANNEL && form.contains("filename=\"soup.txt\"") && form.contains("water and salt"), "{form}");

    // Discord wants to be asked again later, once; the answer comes, in two messages, parted between paragraphs.
    guild.discord.fail("POST messages", 429);
    let paragraph = "word ".repeat(250);
    guild.discord.tell("MESSAGE_CREATE", &mention("104", &format!("{paragraph}\n\n{paragraph}")));
    guild.answer(1, "word");
    guild.answer(2, "word");
    guild.ends_with(3);
}

#[test]
fn a_refusal_is_for_who_asked_alone_and_its_answer_for_everybody() {
    let guild = Guild::open();
    guild.ask("901", Some("60"), &to("club", "What is the secret?"));
    let refusal = within("it is told", || guild.discord.messages().into_iter().find(|message| message.is_ephemeral));
    assert!(text(&refusal).contains("Bitte stimmen Sie zu."), "{refusal:?}");
    assert_eq!(refusal.fields["components"][0]["components"][0]["label"], "Zustimmen");
    within("the promise is gone", || (guild.discord.messages().len() == 1).then_some(()));
    let path = agree(&guild.served, &refusal);
    let answer = guild.answer(1, "What is the secret?");
    assert!(!answer.is_ephemeral && answer.channel == CHANNEL, "{answer:?}");

    // A mention: nothing in a channel is for one person, so it goes to the person.
    guild.discord.tell(
        "MESSAGE_CREATE",
        &said(
            "101",
            &format!("<@{DISCORD_BOT}> @club And now?"),
            &json!({
                "author": {"id": "9", "username": "bea"},
            }),
        ),
    );
    let refusal = guild.answer(2, "Please agree.");
    assert_eq!(refusal.channel, DiscordDouble::direct("9"));
    agree(&guild.served, &refusal);
    let answer = guild.answer(3, "And now?");
    assert_eq!((answer.channel.as_str(), &answer.fields["message_reference"]["message_id"]), (CHANNEL, &json!("101")));

    // Who takes no messages of the bot is told in the channel how to be, and no link.
    guild.discord.books.lock().closed.insert("10".to_owned());
    guild.discord.tell(
        "MESSAGE_CREATE",
        &said(
            "102",
            &format!("<@{DISCORD_BOT}> @club And I?"),
            &json!({
                "author": {"id": "10", "username": "cy"},
            }),
        ),
    );
    let told = guild.answer(4, "Please agree.");
    assert!(told.channel == CHANNEL && text(&told).contains("/ask") && told.fields["components"].is_null(), "{told:?}");
    guild.ends_with(5);

    let state = path.rsplit('/').next().unwrap().to_owned();
    let Guild { served, .. } = guild;
    served.signal(Signal::SIGTERM);
    let (_, log, _) = served.ended();
    for secret in [state.as_str(), DISCORD_TOKEN, &token("901")] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

#[test]
fn a_daemon_that_is_killed_answers_what_it_acknowledged_and_hears_what_it_missed() {
    let mut guild = Guild::open();
    assert_eq!(guild.ask("901", Some("60"), &to("slow", "hello")), json!({"type": 5}));
    guild.answer(0, "Well.");
    guild.discord.tell("MESSAGE_CREATE", &mention("101", "@echo before"));
    guild.answer(1, "before");
    let deployment = guild.served.killed();
    // Told of while nobody listens.
    guild.discord.tell("MESSAGE_CREATE", &mention("102", "meanwhile"));
    guild.served = serve(deployment);
    guild.answer(2, "meanwhile");
    let answer = guild.answer(0, "Done.");
    assert_eq!(text(&answer).matches("Done.").count(), 1);
    assert_eq!(guild.counts(), (1, 1), "the session went on");
    // Discord did not hear the acknowledgement, and the person gives the command again: it is another one.
    guild.ask("902", Some("60"), &question("again"));
    guild.answer(3, "again");
    // Stopped in order, and served again: the session goes on once more.
    guild.served.signal(Signal::SIGTERM);
    guild.served = serve(guild.served.ended().2);
    guild.discord.tell("MESSAGE_CREATE", &mention("103", "after"));
    guild.answer(4, "after");
    guild.ends_with(5);
    assert_eq!(guild.counts(), (1, 2));
}

#[test]
fn forged_and_replayed_commands_reach_no_agent() {
    let guild = Guild::open();
    let now = Timestamp::now().as_second();
    let body = discord_command("901", "t", Some("60"), &question("hi")).to_string();
    let good = discord_signature(now, &body);
    let other = discord_command("902", "t", Some("60"), &question("hi")).to_string();
    assert_eq!(post(&guild.served, now, &good, &other).0, 401, "another body");
    assert_eq!(post(&guild.served, now + 1, &good, &body).0, 401, "another time");
    assert_eq!(post(&guild.served, now, &"0".repeat(128), &body).0, 401, "no signature");
    assert_eq!(post(&guild.served, now - 301, &discord_signature(now - 301, &body), &body).0, 401, "too long ago");
    assert_eq!(guild.served.curl(PATH, &["-X", "POST", "-d", &body]).status, 401, "unsigned");
    let foreign = body.replace(DISCORD_APPLICATION, "2002");
    assert_eq!(post(&guild.served, now, &discord_signature(now, &foreign), &foreign).0, 400, "for another");
    assert_eq!(guild.served.curl("/connectors/discord/nowhere", &["-X", "POST", "-d", "{}"]).status, 404);
    guild.ask("903", Some("60"), &question("the only one"));
    guild.answer(0, "the only one");
    guild.ends_with(1);
}

#[test]
fn a_connection_that_is_lost_goes_on_and_one_that_can_not_work_is_not_tried_again() {
    let guild = Guild::open();
    let hear = |id: &str, number: usize| {
        guild.discord.tell("MESSAGE_CREATE", &mention(id, &format!("number {id}")));
        guild.answer(number, &format!("number {id}"));
    };
    hear("101", 0);
    let after = |order: GatewayOrder, resumes: usize| {
        guild.discord.order(order);
        within("the session goes on", || (guild.discord.books.lock().resumes == resumes).then_some(()));
    };
    after(GatewayOrder::Break, 1);
    hear("102", 1);
    after(GatewayOrder::Say(json!({"op": 7, "d": null})), 2);
    after(GatewayOrder::Close(4_000), 3);
    after(GatewayOrder::Say(json!({"op": 9, "d": true})), 4);
    hear("103", 2);
    // Nobody answers heartbeats: the connection is dead, whatever the network says.
    within("a heart beats", || (guild.discord.books.lock().beats > 0).then_some(()));
    guild.discord.books.lock().is_mute = true;
    within("the session goes on", || (guild.discord.books.lock().resumes > 4).then_some(()));
    guild.discord.books.lock().is_mute = false;
    // Discord has forgotten the session.
    guild.discord.forget_sessions();
    guild.discord.order(GatewayOrder::Break);
    within("another session is begun", || (guild.discord.books.lock().identifies == 2).then_some(()));
    hear("104", 3);
    // What can't work is told once, and `/ask` works on.
    guild.discord.books.lock().refuses_sessions = Some(4_014);
    guild.discord.order(GatewayOrder::Close(4_009));
    within("it is refused", || (guild.discord.books.lock().refused_sessions == 1).then_some(()));
    guild.ask("901", Some("60"), &question("still here"));
    guild.answer(4, "still here");
    guild.ends_with(5);
    let Guild { served, discord, .. } = guild;
    served.signal(Signal::SIGTERM);
    let (_, log, _) = served.ended();
    assert_eq!(log.matches("turn on Message Content Intent").count(), 1, "{log}");
    let books = discord.books.lock();
    assert_eq!((books.identifies, books.refused_sessions), (2, 1));
}

#[test]
fn a_message_that_is_too_large_ends_its_session_and_what_was_said_meanwhile_is_answered_once() {
    let guild = Guild::open();
    guild.discord.tell("MESSAGE_CREATE", &mention("101", "before"));
    guild.answer(0, "before");
    // Nobody speaks with the bot in this channel.
    let other = |id: &str, text: &str| {
        let mut message = mention(id, text);
        message["channel_id"] = json!("70");
        message
    };
    // More than one message of the gateway may have, in what nobody reads.
    let mut large = mention("102", "large");
    large["embeds"] = json!("x".repeat(1_100_000));
    guild.discord.tell("MESSAGE_CREATE", &large);
    guild.discord.tell("MESSAGE_CREATE", &said("103", "among ourselves", &json!({})));
    guild.discord.tell("MESSAGE_CREATE", &mention("104", "behind it"));
    guild.discord.tell("MESSAGE_CREATE", &other("105", "elsewhere"));
    within("another session is begun", || (guild.discord.books.lock().identifies == 2).then_some(()));
    guild.answer(1, "large");
    guild.answer(2, "behind it");
    guild.discord.tell("MESSAGE_CREATE", &mention("106", "after"));
    guild.answer(3, "after");
    guild.ends_with(4);
    assert_eq!(guild.counts().1, 2, "as often as it was tried to go on");
    let metrics = guild.served.operator("/metrics").text();
    let line = "forecourt_platform_events_total{platform=\"discord\",outcome=\"missed\"} 1\n";
    assert!(metrics.contains(line), "{metrics}");
    guild.served.signal(Signal::SIGTERM);
    let (_, log, _) = guild.served.ended();
    assert!(log.contains("a session is given up: a message is too large"), "{log}");
}

#[test]
fn what_is_said_anew_in_a_channel_is_for_its_agent_and_a_reply_for_who_answered() {
    let guild = Guild::open();
    let tell = |data: &Value| guild.discord.tell("MESSAGE_CREATE", data);
    tell(&mention("101", "@slow hello"));
    let of_slow = guild.answer(0, "Well.");
    // Of the agent of the connector, which says what it hears.
    tell(&mention("102", "who is there?"));
    guild.answer(1, "who is there?");
    let reply = json!({"type": 19, "referenced_message": {"id": of_slow.id, "author": {"id": DISCORD_BOT}}});
    tell(&said("103", "and now?", &reply));
    let again = guild.answer(2, "Well.");
    assert_eq!(again.fields["message_reference"]["message_id"], "103");
    // A thread stays with whom it names, also where the bot alone is mentioned.
    guild.discord.books.lock().threads.insert("51".to_owned());
    let in_thread = |id: &str, text: &str| said(id, text, &json!({"channel_id": "51"}));
    tell(&in_thread("104", &format!("<@{DISCORD_BOT}> @slow hello")));
    guild.answer(3, "Well.");
    tell(&in_thread("105", &format!("<@{DISCORD_BOT}> and here?")));
    guild.answer(4, "Well.");
    guild.ends_with(5);
}

#[test]
fn a_connector_is_checked_and_its_credentials_are_tried() {
    let guild = Guild::with("mentions = false\nmessages_per_sender_per_hour = 1\n");
    guild.ask("901", None, &question("between us"));
    guild.answer(0, "between us");
    // One more than a person has within an hour: a command wants an answer all the same.
    let told = guild.ask("902", None, &question("and more"));
    assert_eq!((&told["type"], &told["data"]["flags"]), (&json!(4), &json!(64)), "{told}");
    guild.ends_with(2);
    assert_eq!(guild.counts(), (0, 0), "no messages are wanted");
    let deployment = &guild.served.deployment;
    let folder = deployment.path().to_str().unwrap();
    let said = deployment.run_with("check", [folder, "--connect"], &[("TOKEN", DISCORD_TOKEN.to_owned())]).fine();
    assert!(said.contains("connectors/kitchen.toml: @cook"), "{said}");
    let said = deployment.run_with("check", [folder, "--connect"], &[("TOKEN", "a.b.c".to_owned())]);
    assert!(said.code == Some(1) && format!("{said:?}").contains("Unauthorized"), "{said:?}");
    let steps =
        deployment.run_with("connect", ["discord", folder, "--name", "team"], &[("TOKEN", DISCORD_TOKEN.to_owned())]);
    let steps = steps.fine();
    assert!(steps.contains("/connectors/discord/team") && steps.contains("Interactions Endpoint URL"), "{steps}");
}
