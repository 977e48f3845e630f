//! Checks of Mentionable REST: answers. Sections 4, 5.1 to 5.3 and 8.

use super::endpoint::{Rest, question, with_query};
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;
use crate::web::discovery::address;
use crate::web::exchange::{Draft, Exchange};
use crate::web::sse::events;

pub(super) const CHECKS: &[Check<Rest>] = &[
    check!("rest-4-html", "REST 4", Must, "an answer can be had as text/html, which is the default", html),
    check!("rest-4-markdown", "REST 4, 4.2", Must, "an answer can be had as text/markdown", markdown),
    check!("rest-4-json", "REST 4, 4.4", Should, "an answer can be had as application/json", json),
    check!("rest-4-stream", "REST 4, 4.3", Should, "an answer can be had as text/event-stream", stream),
    check!("rest-4-406", "REST 4", Must, "a media type that there is not is refused with 406", not_acceptable),
    check!(
        "rest-4.1",
        "REST 4.1",
        Must,
        "a page has the address, the way to markdown, and the answer in an article",
        page
    ),
    check!("rest-4.3", "REST 4.3", Must, "a stream is not cached, and ends with the event `end`", stream_ends),
    check!("rest-4.4", "REST 4.4", Must, "JSON has v, agent, and parts or a policy", json_shape),
    check!("rest-5.1", "REST 5.1, 5.2", Must, "every answer has Content-Language", language),
    check!("rest-5.2", "REST 5.2", Must, "every answer has X-Mentionable-Agent and Cache-Control", headers),
    check!("rest-5.2-charset", "REST 5.2", Must, "texts say charset=utf-8", charset),
    check!("rest-7.3", "REST 7.3, policy 4.5", Must, "401 has WWW-Authenticate", challenge),
    check!("rest-8.2", "REST 8.2", Must, "what a caller says is escaped in pages", escaped),
    check!("rest-8.2-csp", "REST 8.2", Should, "pages have a Content-Security-Policy", csp),
    check!("rest-8.5-header", "REST 8.5", Must, "every answer has X-Robots-Tag, refusals too", robots),
    check!("rest-8.5-meta", "REST 8.5, 4.1", Must, "pages tell robots to keep out", robots_meta),
];

/// An answer of a media type. What an agent refuses has one too.
async fn as_type(rest: &Rest, media_type: &str) -> Result<Exchange, Shortfall> {
    let exchange = question(rest, media_type).await?;
    match exchange.media_type() == media_type {
        true => Ok(exchange),
        false => {
            exchange.expect(&[200])?;
            Err(exchange.wrong(format!("it is not {media_type}")))
        }
    }
}

/// The same for checks of its content, which say nothing where there is none.
async fn of_type(rest: &Rest, media_type: &str) -> Result<Exchange, Shortfall> {
    let why = || Shortfall::skip(format!("no answer is {media_type}"));
    as_type(rest, media_type).await.map_err(|shortfall| match shortfall {
        // The check of the media type itself tells of it.
        Shortfall::Broken { .. } => why(),
        other => other,
    })
}

async fn html(rest: &Rest) -> Verdict {
    as_type(rest, "text/html").await?;
    // Whoever takes anything gets a page.
    let exchange = question(rest, "*/*").await?;
    match exchange.media_type() {
        "text/html" => Ok(()),
        _ => Err(exchange.wrong("the default is not text/html")),
    }
}

async fn markdown(rest: &Rest) -> Verdict {
    as_type(rest, "text/markdown").await.map(drop)
}

async fn json(rest: &Rest) -> Verdict {
    as_type(rest, "application/json").await.map(drop)
}

async fn stream(rest: &Rest) -> Verdict {
    as_type(rest, "text/event-stream").await.map(drop)
}

async fn not_acceptable(rest: &Rest) -> Verdict {
    question(rest, "application/x-conform-unknown").await?.expect(&[406])
}

async fn page(rest: &Rest) -> Verdict {
    let (handle, domain) = address(rest).await?;
    let own = format!("@{handle}@{domain}").to_lowercase();
    let exchange = of_type(rest, "text/html").await?;
    let text = exchange.text().to_lowercase();
    let title = text.split("<title").nth(1).and_then(|rest| rest.split("</title").next()).unwrap_or_default();
    let tag = |name: &str, words: &[&str]| {
        text.split(&format!("<{name}")).skip(1).any(|rest| {
            let inside = rest.split('>').next().unwrap_or_default();
            words.iter().all(|word| inside.contains(word))
        })
    };
    let rules = [
        ("the title has the address", title.contains(&own)),
        ("a link leads to the same as text/markdown", tag("link", &["alternate", "text/markdown"])),
        ("a meta element names the agent", tag("meta", &["mentionable:agent", &own])),
        ("the answer is in an article, or a main element", tag("article", &[]) || tag("main", &[])),
    ];
    exchange.holds(&rules)
}

async fn stream_ends(rest: &Rest) -> Verdict {
    let exchange = of_type(rest, "text/event-stream").await?;
    let all = events(&exchange.text());
    let is_cached = exchange.field("Cache-Control").is_none_or(|value| !value.contains("no-"));
    match all.last().map(|event| event.name.as_str()) {
        Some("end") if is_cached => Err(exchange.wrong("Cache-Control is not no-cache")),
        Some("end") => Ok(()),
        _ => Err(exchange.wrong("the last event is not `end`")),
    }
}

async fn json_shape(rest: &Rest) -> Verdict {
    let exchange = of_type(rest, "application/json").await?;
    let body = exchange.json()?;
    let rules = [
        ("v is v0.1", body["v"] == "v0.1"),
        ("agent is a text", body["agent"].is_string()),
        ("there are parts, or a policy", body["parts"].is_array() || body["policy"].is_object()),
    ];
    exchange.holds(&rules)
}

/// An answer as it is given to anybody.
async fn answer(rest: &Rest) -> Result<Exchange, Shortfall> {
    question(rest, "text/markdown").await
}

fn has(exchange: &Exchange, names: &[&str]) -> Verdict {
    match names.iter().find(|name| exchange.field(name).is_none_or(str::is_empty)) {
        Some(name) => Err(exchange.wrong(format!("there is no {name}"))),
        None => Ok(()),
    }
}

async fn language(rest: &Rest) -> Verdict {
    for media_type in ["text/markdown", "text/html"] {
        has(&question(rest, media_type).await?, &["Content-Language"])?;
    }
    Ok(())
}

async fn headers(rest: &Rest) -> Verdict {
    has(&answer(rest).await?, &["X-Mentionable-Agent", "Cache-Control", "Content-Type"])
}

async fn charset(rest: &Rest) -> Verdict {
    for media_type in ["text/markdown", "text/html"] {
        let exchange = question(rest, media_type).await?;
        let value = exchange.field("Content-Type").unwrap_or_default().to_ascii_lowercase().replace(['"', ' '], "");
        if !value.contains("charset=utf-8") {
            return Err(exchange.wrong("Content-Type does not say charset=utf-8"));
        }
    }
    Ok(())
}

async fn challenge(rest: &Rest) -> Verdict {
    let exchange = answer(rest).await?;
    match exchange.status() {
        401 => has(&exchange, &["WWW-Authenticate"]),
        _ => Err(Shortfall::skip("the agent does not want to know who calls")),
    }
}

async fn escaped(rest: &Rest) -> Verdict {
    // In the three places where it could break out: an element, an attribute, and a header that is shown.
    let query = "user=%3Cscript%3Econform()%3C%2Fscript%3E%22%3E%3Cimg%20src%3Dx%20onerror%3Dconform()%3E";
    let url = with_query(&rest.endpoint()?, query);
    let draft = Draft::get(&url).field("Accept", "text/html").field("X-Mentionable-From", "<script>conform()</script>");
    let exchange = rest.ask(draft).await?;
    let text = exchange.text().to_lowercase();
    match text.contains("<script>conform()") || text.contains("<img src=x onerror") {
        true => Err(exchange.wrong("what was said is in the page as it was said")),
        false => Ok(()),
    }
}

async fn csp(rest: &Rest) -> Verdict {
    has(&of_type(rest, "text/html").await?, &["Content-Security-Policy"])
}

async fn robots(rest: &Rest) -> Verdict {
    let refused = rest.ask(Draft::get(&with_query(&rest.endpoint()?, "user=hello&assistant=hello"))).await?;
    for exchange in [answer(rest).await?, refused] {
        let value = exchange.field("X-Robots-Tag").unwrap_or_default().to_ascii_lowercase();
        if !["noindex", "nofollow", "noarchive"].iter().all(|word| value.contains(word)) {
            return Err(exchange.wrong("X-Robots-Tag is not noindex, nofollow, noarchive"));
        }
    }
    Ok(())
}

async fn robots_meta(rest: &Rest) -> Verdict {
    let exchange = of_type(rest, "text/html").await?;
    let text = exchange.text().to_lowercase();
    let tells = text.split("<meta").skip(1).any(|rest| {
        let inside = rest.split('>').next().unwrap_or_default();
        ["robots", "noindex", "nofollow", "noarchive"].iter().all(|word| inside.contains(word))
    });
    match tells {
        true => Ok(()),
        false => Err(exchange.wrong("no meta element of robots says noindex, nofollow, noarchive")),
    }
}
