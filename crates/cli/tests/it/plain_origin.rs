//! The addresses that documents name when they are fetched from a plain listener: those of that listener, or the
//! public ones behind a proxy.

use std::process::Command;

use crate::support::{Deployment, Served};

/// What a plain listener says under one Host.
fn fetched(served: &Served, host: &str, path: &str) -> (String, String) {
    let url = format!("http://127.0.0.1:{}{path}", served.http);
    let output = Command::new("curl")
        .args(["-s", "--noproxy", "*", "-w", "\n%{http_code}", "-H", &format!("Host: {host}")])
        .args(["-H", "X-Forwarded-Host: evil.example", "-H", "X-Forwarded-Proto: https", &url])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (status.to_owned(), body.to_owned())
}

const DOCUMENTS: [&str; 7] = [
    "/.well-known/agent-card.json",
    "/a2a/gate/.well-known/agent-card.json",
    "/.well-known/agent-card/gate",
    "/.well-known/webfinger?resource=acct:gate@demo.localhost",
    "/.well-known/mentionable-agents.json",
    "/~gate",
    "/",
];

#[test]
fn design_18_documents_name_the_plain_origin_at_which_they_were_fetched() {
    let served = Deployment::gatehouse().serve();
    for host in ["127.0.0.1", "localhost", "[::1]", "demo.localhost"] {
        for path in DOCUMENTS {
            let (status, body) = fetched(&served, &format!("{host}:{}", served.http), path);
            let origin = format!("http://{host}:{}/", served.http);
            assert_eq!(status, "200", "{host} {path}");
            assert!(body.contains(&origin), "{host} {path}: {body}");
            for other in ["https://demo.localhost", "https://127.0.0.1", "evil.example"] {
                assert!(!body.contains(other), "{host} {path} names {other}: {body}");
            }
        }
    }
    for host in ["evil.example", "127.0.0.2", "demo.localhost.evil.example"] {
        assert_eq!(fetched(&served, host, DOCUMENTS[0]).0, "421", "{host}");
    }
}

#[test]
fn s3_2_pages_lead_on_where_they_were_opened_and_refusals_name_the_canonical_host() {
    let served = Deployment::gatehouse().serve();
    for host in ["127.0.0.1", "demo.localhost"] {
        let authority = format!("{host}:{}", served.http);
        let opened = |media: &str| {
            let url = format!("http://127.0.0.1:{}/~gate?user=consent", served.http);
            let output = Command::new("curl")
                .args([
                    "-s",
                    "--noproxy",
                    "*",
                    "-H",
                    &format!("Host: {authority}"),
                    "-H",
                    "X-Forwarded-Host: evil.example",
                ])
                .args(["-H", &format!("Accept: {media}"), &url])
                .output()
                .unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let page = opened("text/html");
        assert!(page.contains(&format!("href=\"http://{authority}/consent/")), "{host}: {page}");
        assert!(!page.contains("https://demo.localhost"), "{host}: {page}");
        let part = opened("application/json");
        assert!(part.contains(&format!("https://demo.localhost:{}/consent/", served.https)), "{host}: {part}");
    }
}

#[test]
fn serve_and_check_say_where_programs_reach_everything() {
    let deployment = Deployment::gatehouse();
    let checked = deployment.run("check", ["."]);
    assert!(checked.stdout.contains("for programs: "), "{}", checked.stdout);
    let served = deployment.serve();
    assert_eq!(served.hubs, format!("http://127.0.0.1:{}/a2a and /mcp", served.http));
    assert_eq!(fetched(&served, &format!("127.0.0.1:{}", served.http), "/a2a/.well-known/agent-card.json").0, "200");
}

#[test]
fn design_18_behind_a_proxy_documents_name_the_public_base() {
    for line in ["public_url = \"https://kitchen.example\"\n", "trusted_proxies = [\"127.0.0.1/32\"]\n"] {
        let deployment = Deployment::gatehouse();
        let text = deployment.read("forecourt.toml");
        let served = deployment.and("forecourt.toml", &format!("{line}{text}")).serve();
        for path in DOCUMENTS {
            let (status, body) = fetched(&served, "127.0.0.1", path);
            assert_eq!(status, "200", "{path}");
            assert!(!body.contains("http://127.0.0.1"), "{line} {path}: {body}");
        }
    }
}

#[test]
fn a_proxy_that_is_trusted_with_nothing_is_warned_of() {
    let public = "public_url = \"https://kitchen.example\"\n";
    let trusted = "trusted_proxies = [\"127.0.0.1/32\"]\n";
    for (lines, domain, is_warned) in [
        (public.to_owned(), "kitchen.example", true),
        (format!("{public}{trusted}"), "kitchen.example", false),
        (public.to_owned(), "demo.localhost", false),
    ] {
        let deployment = Deployment::gatehouse();
        let text = deployment.read("forecourt.toml").replace("demo.localhost", domain);
        let checked = deployment.and("forecourt.toml", &format!("{lines}{text}")).run("check", ["."]);
        assert_eq!(
            checked.stderr.contains(&format!("{domain}: `public_url` is set")),
            is_warned,
            "{domain} {}",
            checked.stderr
        );
    }
}
