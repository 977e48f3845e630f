//! Crawlers: the rules before them over the real wire, signed by the library of Web Bot Auth as it is; what is told of the
//! rules; and people in Chromium, who meet none of it. `dev/sdk/setup` brings the library.

use std::path::Path;
use std::process::Command;
use std::thread;

use serde_json::{Value, json};

use crate::admin::{TOKEN, api, post};
use crate::browser::{Browser, View};
use crate::payment::Chain;
use crate::scripts::{RunningScript, client_script, library, run_checks};
use crate::support::{Deployment, Served};
use crate::wire::Answer;

/// Rules before pages and before answers, and a crawler that may owe.
const RULES: &str = r#"
[[identity.bots.known]]
name = "ExampleBot"
hosts = ["good.localhost"]

[[policy]]
kind = "deny"
bots = ["purpose:training"]
paths = ["/manual/*"]
message = "Not for training."

[[policy]]
kind = "limit"
by = "bot"
requests = 3
per = "1h"
bots = ["Bingbot"]
paths = ["*"]

[[policy]]
kind = "require_payment"
bots = ["*"]
except_bots = ["Googlebot", "Bingbot"]
paths = ["/manual/*"]
price = "$0.01"
offers = [{ crawler = { owed_max = "0.05" } }]

[[policy]]
kind = "require_payment"
bots = ["*"]
agents = ["echo"]
price = "$0.02"
offers = [{ crawler = { owed_max = "1.00" } }]
"#;

const GPTBOT: &str = "User-Agent: Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const GOOGLEBOT: &str = "User-Agent: Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const PERSON: &str = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

fn deployment() -> Deployment {
    let deployment = Deployment::gatehouse().with("admin", &format!("token = \"{TOKEN}\""));
    let text = deployment.read("forecourt.toml");
    deployment.and("forecourt.toml", &format!("{text}\n{RULES}"))
}

/// Signature agents on this machine, with a certificate that a deployment trusts.
struct Signers {
    script: RunningScript,
    port: String,
}

impl Signers {
    /// Starts them; `None` where the library is not there.
    fn start(folder: &Path) -> Option<Self> {
        let library = library("web-bot-auth-js")?;
        certificate(folder);
        let mut command = client_script("web_bot_auth.mjs", Some(&library));
        command.arg(folder.join("bots.pem")).arg(folder.join("bots.key"));
        let (script, port) = RunningScript::start(&mut command);
        Some(Self { script, port })
    }

    /// The fields of a request of `path` that the agent at `host` signed so many seconds ago.
    fn sign(&mut self, served: &Served, path: &str, host: &str, age: i64) -> Vec<String> {
        self.sign_url(&served.https_url(path), host, age)
    }

    fn sign_url(&mut self, url: &str, host: &str, age: i64) -> Vec<String> {
        let agent = format!("https://{host}.localhost:{}", self.port);
        let told = self.script.tell(&json!({"url": url, "agent": agent, "age": age}).to_string());
        let fields: Value = serde_json::from_str(&told).unwrap();
        let field = |(name, value): (&String, &Value)| format!("{name}: {}", value.as_str().unwrap());
        fields.as_object().unwrap().iter().map(field).collect()
    }

    /// How often a directory was asked for.
    fn asked(&mut self, host: &str) -> u64 {
        let told: Value = serde_json::from_str(&self.script.tell("{}")).unwrap();
        told[host].as_u64().unwrap_or_default()
    }
}

/// A certificate of the hosts of signature agents, `bots.pem`, and that of its authority, `bots-ca.pem`.
fn certificate(folder: &Path) {
    let hosts =
        ["good", "stranger", "unsigned", "wrong", "huge", "moved", "slow"].map(|host| format!("DNS:{host}.localhost"));
    let names = format!("subjectAltName={}\nbasicConstraints=CA:FALSE\n", hosts.join(","));
    std::fs::write(folder.join("names"), names).unwrap();
    let new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    for words in [
        [
            &["req", "-x509", "-subj", "/CN=bots ca", "-days", "9", "-keyout", "ca.key", "-out", "bots-ca.pem"],
            &new_key[..],
        ]
        .concat(),
        [&["req", "-subj", "/CN=bots", "-keyout", "bots.key", "-out", "bots.csr"], &new_key[..]].concat(),
        vec![
            "x509",
            "-req",
            "-in",
            "bots.csr",
            "-CA",
            "bots-ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-days",
            "9",
            "-extfile",
            "names",
            "-out",
            "bots.pem",
        ],
    ] {
        let ran = Command::new("openssl").args(words).current_dir(folder).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// A deployment that fetches directories from this machine, served, with the agents that sign.
fn with_signers() -> Option<(Served, Signers)> {
    let deployment =
        deployment().with("egress", "allow = [\"127.0.0.0/8\", \"::1/128\"]\nca_files = [\"bots-ca.pem\"]");
    let signers = Signers::start(deployment.path())?;
    Some((deployment.serve(), signers))
}

fn get(served: &Served, path: &str, fields: &[String]) -> Answer {
    let words: Vec<&str> = fields.iter().flat_map(|field| ["-H", field.as_str()]).collect();
    served.curl_tls(path, &words)
}

fn with(mut fields: Vec<String>, more: &str) -> Vec<String> {
    fields.push(more.to_owned());
    fields
}

#[test]
fn crawlers_that_name_themselves_meet_the_rules_and_people_do_not() {
    let served = deployment().serve();
    let refused = served.curl("/manual/rules", &["-H", GPTBOT]).with_status(403);
    assert!(refused.text().contains("Not for training."), "{refused:?}");
    let page = served.curl("/manual/agents", &["-H", PERSON]).with_status(200);
    assert_eq!(page.named("content-usage"), "train-ai=n, search=n");
    assert!(page.named("link").contains("/license.xml>; rel=\"license\""), "{page:?}");
    // A crawler that only says that it is Googlebot gets no right of one that proves it.
    let claimed = served.curl("/manual/agents", &["-H", GOOGLEBOT]).with_status(402);
    assert_eq!(claimed.named("crawler-price"), "USD 0.01");
    for agreed in ["crawler-max-price: USD 0.05", "crawler-exact-price: USD 0.01"] {
        let answer = served.curl("/manual/agents", &["-H", GOOGLEBOT, "-H", agreed]).with_status(402);
        assert!(answer.field("crawler-charged").is_none(), "who proved nothing owes nothing: {answer:?}");
    }
    // Answers have the rules of their agent.
    let answer =
        served.curl("/~echo?user=hello", &["-H", GOOGLEBOT, "-H", "Accept: application/json"]).with_status(402);
    assert_eq!(answer.named("crawler-price"), "USD 0.02");
    served.curl("/~echo?user=hello", &["-H", PERSON, "-H", "Accept: application/json"]).with_status(200);
    served.curl("/~gate", &["-H", GPTBOT]).with_status(200);
}

#[test]
fn a_rule_is_before_each_spelling_of_its_path() {
    let rule =
        "\n[[policy]]\nkind = \"deny\"\nbots = [\"*\"]\npaths = [\"/~echo\", \"/~echo/ask\", \"/manual/rules\"]\n";
    let deployment = Deployment::gatehouse();
    let text = deployment.read("forecourt.toml");
    let served = deployment.and("forecourt.toml", &format!("{text}{rule}")).serve();
    for path in [
        "/~echo",
        "/~echo/",
        "/~ECHO",
        "/%7Eecho",
        "/~%65cho",
        "/%7e%45cho/?user=hello",
        "/manual/rul%65s",
        "/~ECHO/%61sk/?query=a",
    ] {
        served.curl(path, &["-H", GPTBOT]).with_status(403);
        assert_ne!(served.curl(path, &["-H", PERSON, "-H", "Accept: application/json"]).status, 403, "{path}");
    }
    served.curl("/~gate", &["-H", GPTBOT]).with_status(200);
}

#[test]
fn a_limit_counts_a_crawler_by_its_name() {
    let served = deployment().serve();
    let bing = "User-Agent: Mozilla/5.0 (compatible; bingbot/2.0)";
    for _ in 0..3 {
        served.curl("/", &["-H", bing, "-H", "Accept: text/markdown"]).with_status(200);
    }
    let over = served.curl("/", &["-H", bing]).with_status(429);
    assert!(over.field("retry-after").is_some(), "{over:?}");
    served.curl("/robots.txt", &["-H", bing]).with_status(200);
    served.curl("/", &["-H", PERSON, "-H", "Accept: text/markdown"]).with_status(200);
}

#[test]
fn what_is_told_comes_from_the_rules() {
    let served = deployment().serve();
    let robots = served.curl("/robots.txt", &["-H", GPTBOT]).with_status(200).text();
    let group = robots.split("\n\n").find(|group| group.contains("User-agent: GPTBot\n")).unwrap();
    assert!(group.contains("Disallow: /manual/\n") && group.contains("Disallow: /*?\n"), "{robots}");
    assert!(!group.contains("User-agent: Googlebot"), "{robots}");
    let all = robots.split("\n\n").last().unwrap();
    assert!(all.starts_with("User-agent: *\nContent-Usage: train-ai=y, search=y\n"), "{robots}");
    assert!(all.contains("Content-Usage: /manual/ train-ai=n, search=n\n"), "{robots}");
    assert!(!all.contains("Disallow: /manual/"), "{robots}");
    assert!(all.contains("\nLicense: http"), "{robots}");
    let license = served.curl("/license.xml", &[]).with_status(200);
    assert!(license.named("content-type").starts_with("application/rsl+xml"));
    let license = license.text();
    let manual = license.split("<content ").find(|part| part.contains("/manual/*")).unwrap();
    assert!(manual.contains("<prohibits type=\"usage\">ai-train</prohibits>"), "{license}");
    assert!(manual.contains("<amount currency=\"USD\">0.01</amount>"), "{license}");
    assert!(license.contains("/~echo?*") && license.contains(">0.02<"), "{license}");
    let llms = served.curl("/llms.txt", &[]).with_status(200).text();
    assert!(llms.contains("- `/manual/*`: search USD 0.01 for each page, training refused"), "{llms}");
}

#[test]
fn without_rules_for_crawlers_nothing_is_told_and_nothing_changes() {
    let served = Deployment::gatehouse().serve();
    let robots = served.curl("/robots.txt", &[]).with_status(200).text();
    assert_eq!(
        robots,
        "User-agent: *\nDisallow: /*?\nDisallow: /tasks/\nDisallow: /consent/\nDisallow: /pay/\nDisallow: /sign-in\nAllow: /\n"
    );
    served.curl("/license.xml", &[]).with_status(404);
    let page = served.curl("/manual/agents", &["-H", GPTBOT]).with_status(200);
    assert!(page.field("content-usage").is_none() && page.field("link").is_none(), "{page:?}");
    assert!(!served.curl("/llms.txt", &[]).text().contains("## Terms"));
}

#[test]
fn a_verified_crawler_is_charged_what_it_agrees_to_and_owes_it() {
    let Some((served, mut signers)) = with_signers() else { return };
    let path = "/manual/agents";
    let priced = get(&served, path, &signers.sign(&served, path, "good", 0)).with_status(402);
    assert_eq!(priced.named("crawler-price"), "USD 0.01");
    let low = with(signers.sign(&served, path, "good", 0), "crawler-max-price: USD 0.009");
    assert!(get(&served, path, &low).with_status(402).text().contains("agrees to"));
    for (wrong, why) in [
        ("crawler-max-price: EUR 0.05", "USD"),
        ("crawler-max-price: USD -0.05", "above 0"),
        ("crawler-max-price: USD 0.05, USD 0.06", "one price"),
    ] {
        let answer = get(&served, path, &with(signers.sign(&served, path, "good", 0), wrong)).with_status(400);
        assert!(answer.text().contains(why), "{wrong}: {answer:?}");
    }
    for agreed in ["crawler-max-price: USD 0.05", "crawler-exact-price: USD 0.01"] {
        let page = get(&served, path, &with(signers.sign(&served, path, "good", 0), agreed)).with_status(200);
        assert_eq!(page.named("crawler-charged"), "USD 0.01");
        assert!(page.text().contains("# "), "{page:?}");
    }
    // A page that is not there is not charged for.
    let nothing = "/manual/nothing";
    let agreed = with(signers.sign(&served, nothing, "good", 0), "crawler-max-price: USD 0.05");
    assert!(get(&served, nothing, &agreed).with_status(404).field("crawler-charged").is_none());
    // Answers over GET, too: no link can have a request signed.
    let question = "/~echo?user=hello";
    let agreed = with(signers.sign(&served, question, "good", 0), "crawler-max-price: USD 0.05");
    let answer = get(&served, question, &with(agreed, "Accept: text/markdown")).with_status(200);
    assert_eq!((answer.text().as_str(), answer.named("crawler-charged").as_str()), ("hello", "USD 0.02"));
    assert_eq!(signers.asked("good"), 1, "one directory for all");
    // One that nobody knows has a host name and no more.
    let stranger = with(signers.sign(&served, path, "stranger", 0), "crawler-max-price: USD 0.05");
    assert!(get(&served, path, &stranger).with_status(402).field("crawler-charged").is_none());
    // Another wire verifies what is for its agent, and finds the nonce used up by this very request.
    let asked = "/~gate/ask?query=hello";
    let other = get(&served, asked, &with(signers.sign(&served, asked, "good", 0), "Accept: application/json"));
    other.with_status(200);

    let bots = api(&served, "/bots", &[]).with_status(200).json();
    let bot = bots["bots"].as_array().unwrap().iter().find(|bot| bot["name"] == "good.localhost").unwrap().clone();
    assert_eq!((&bot["is_verified"], &bot["owed"], &bot["taken"]), (&json!(true), &json!("0.04"), &json!(4)));
    let csv = served.deployment.run("admin", ["bots", "--csv"]).fine();
    assert!(csv.lines().any(|line| line.starts_with("good.localhost,true")), "{csv}");
    post(&served, "/bots/good.localhost/bill", &json!({"amount": "1.00"})).with_status(409);
    post(&served, "/bots/nobody.example/bill", &json!({})).with_status(404);
    served.deployment.run("admin", ["bill", "good.localhost", "--amount", "0.03", "--reason", "bill 7"]).fine();
    let bots = api(&served, "/bots", &[]).with_status(200).json();
    assert_eq!((&bots["bots"][0]["owed"], &bots["bots"][0]["billed"]), (&json!("0.01"), &json!("0.03")));
}

#[test]
fn two_hundred_at_once_owe_no_more_than_the_cap() {
    let Some((served, mut signers)) = with_signers() else { return };
    let path = "/manual/agents";
    // The directory is known before: two hundred programs that begin at once leave a busy machine little time for it.
    get(&served, path, &signers.sign(&served, path, "good", 0)).with_status(402);
    let signed: Vec<_> =
        (0..200).map(|_| with(signers.sign(&served, path, "good", 0), "crawler-max-price: USD 0.05")).collect();
    let answers: Vec<Answer> = thread::scope(|scope| {
        let ask = |fields: &Vec<String>| {
            let (served, fields) = (&served, fields.clone());
            scope.spawn(move || get(served, path, &fields))
        };
        let all: Vec<_> = signed.iter().map(ask).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let charged = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(charged, 5, "five pages of a cent are the cap of five cents");
    let others = answers.iter().filter(|answer| answer.status != 200);
    others.for_each(|answer| assert!([402, 429, 503].contains(&answer.status), "{answer:?}"));
    let bots = api(&served, "/bots", &[]).with_status(200).json();
    assert_eq!(bots["bots"][0]["owed"], "0.05");
}

#[test]
fn signatures_and_directories_that_do_not_hold_are_refused() {
    let Some((served, mut signers)) = with_signers() else { return };
    let path = "/manual/agents";
    let once = signers.sign(&served, path, "good", 0);
    get(&served, path, &once).with_status(402);
    let replayed = get(&served, path, &once).with_status(401);
    assert!(replayed.text().contains("used before"), "{replayed:?}");
    let old = get(&served, path, &signers.sign(&served, path, "good", 600)).with_status(401);
    assert!(old.text().contains("expired"), "{old:?}");
    let elsewhere = signers.sign_url("https://elsewhere.example/manual/agents", "good", 0);
    let elsewhere = get(&served, path, &elsewhere).with_status(401);
    assert!(elsewhere.text().contains("does not match"), "{elsewhere:?}");
    for host in ["unsigned", "wrong", "huge", "moved"] {
        let fields = signers.sign(&served, path, host, 0);
        let refused = get(&served, path, &fields).with_status(401);
        assert!(refused.text().contains("the key is not known"), "{host}: {refused:?}");
        assert_eq!(signers.asked(host), 1, "{host}");
    }
    let slow = get(&served, path, &signers.sign(&served, path, "slow", 0)).with_status(503);
    assert!(slow.text().contains("can't be checked at the moment"), "{slow:?}");
    let bots = api(&served, "/bots", &[]).with_status(200).json();
    let unproven = bots["bots"].as_array().unwrap().iter().find(|bot| bot["name"] == "(signature did not hold)");
    assert!(unproven.is_some_and(|bot| bot["is_verified"] == false && bot["refused"] == 8), "{bots}");
}

#[test]
fn a_directory_on_a_private_address_is_not_asked() {
    let deployment = deployment().with("egress", "ca_files = [\"bots-ca.pem\"]");
    let Some(mut signers) = Signers::start(deployment.path()) else { return };
    let served = deployment.serve();
    let fields = signers.sign(&served, "/manual/agents", "good", 0);
    get(&served, "/manual/agents", &fields).with_status(401);
    assert_eq!(signers.asked("good"), 0);
}

#[test]
fn a_crawler_pays_for_a_page_with_x402() {
    let (Some(chain), Some(folder)) = (Chain::start(), library("x402-js")) else { return };
    let page = "\n[[policy]]\nkind = \"require_payment\"\nbots = [\"*\"]\npaths = [\"/manual/*\"]\nprice = \"$0.05\"\n\
                offers = [{ x402 = { network = \"base-sepolia\" } }]\n";
    let deployment = Deployment::gatehouse().open_to_loopback().with("payments", &chain.settings());
    let text = deployment.read("forecourt.toml");
    let served = deployment.and("forecourt.toml", &format!("{text}\n{page}")).serve();
    let mut command = client_script("x402_page.mjs", Some(&folder));
    command.current_dir(served.deployment.path()).env("FORECOURT_URL", served.https_url(""));
    command.env("FORECOURT_WALLET_KEY", chain.fact("payerKey"));
    command.env("SSL_CERT_FILE", served.ca()).env("NODE_EXTRA_CA_CERTS", served.ca()).env_remove("SSL_CERT_DIR");
    run_checks(&mut command);
    assert_eq!(chain.paid(), 50_000, "once");
}

#[test]
fn a_person_in_a_browser_meets_no_price() {
    let Some(browser) = Browser::open(View::Desk) else { return };
    let served = deployment().serve();
    browser.go(&served.url("/manual/agents"));
    assert!(browser.find("h1").text().contains("gent"));
    browser.go(&served.url("/~echo?user=hello"));
    assert!(browser.find("main").text().contains("hello"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn check_tells_what_contradicts_the_rules() {
    let wrong = |rule: &str| {
        let deployment = Deployment::gatehouse();
        let text = deployment.read("forecourt.toml");
        deployment.write("forecourt.toml", &format!("{text}\n[[policy]]\n{rule}\n"));
        deployment
    };
    for (rule, why) in [
        ("kind = \"deny\"\nnetworks = [\"203.0.113.0/24\"]\npaths = [\"/manual/*\"]", "such a rule names `bots`"),
        ("kind = \"deny\"\nbots = [\"*\"]\nagents = [\"echo\"]\npaths = [\"/\"]", "write two"),
        ("kind = \"deny\"\nbots = [\"*\"]\npaths = [\"manual\"]", "begins with `/`"),
        ("kind = \"deny\"\nbots = [\"*\"]\npaths = [\"/~Echo/\"]", "is written `/~echo`"),
        ("kind = \"deny\"\nbots = [\"purpose:profit\"]", "is no purpose"),
        (
            "kind = \"require_payment\"\nbots = [\"*\"]\nprice = \"$-1\"\noffers = [{ crawler = {} }]",
            "crawlers pay in dollars",
        ),
        (
            "kind = \"require_payment\"\nbots = [\"*\"]\nprice = \"$1\"\noffers = [{ crawler = { owed_max = \"0.5\" } }]",
            "below the price",
        ),
    ] {
        let told = wrong(rule).run("check", [] as [&str; 0]).failed(1);
        assert!(told.contains(why), "{rule}: {told}");
    }
    let doubtful = wrong("kind = \"deny\"\nbots = [\"GPTBoot\"]\npaths = [\"/manual/*\"]");
    doubtful.write("public/robots.txt", "User-agent: *\nAllow: /\n");
    let ran = doubtful.run("check", [] as [&str; 0]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("names itself `GPTBoot`"), "{ran:?}");
    assert!(ran.stderr.contains("it lets `GPTBoot` read /manual/"), "{ran:?}");
}
