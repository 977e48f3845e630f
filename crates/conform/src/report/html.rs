//! A report as one page that needs nothing else: what is not kept first, with what was sent and what came. It has no
//! script, and loads nothing.

use std::fmt::Write as _;

use forecourt_core::Timestamp;
use forecourt_pages::escape::text;

use super::{Comparison, Finding, OfferStatus, Outcome, ProtocolReport, Report, Summary};

/// The style of the page.
const STYLE: &str = include_str!("page.css");

impl Report {
    /// The report as a page, made `at` a time.
    pub fn html(&self, at: Timestamp, comparison: Option<&Comparison>) -> String {
        let target = text(&self.target);
        let seconds = Timestamp::from_second(at.as_second()).unwrap_or(at);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>Conformance of {target}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <h1>Conformance of {target}</h1>\n\
             <p class=\"soft\">Checked at <time datetime=\"{seconds}\">{seconds}</time>.</p>\n"
        );
        self.write_summary(&mut page);
        if let Some(comparison) = comparison {
            let lines = comparison.text().lines().map(|line| format!("<li>{}</li>\n", text(line))).collect::<String>();
            let _ = write!(page, "<h2>Against what was known</h2>\n<ul class=\"checks\">\n{lines}</ul>\n");
        }
        for protocol in self.protocols.iter().filter(|protocol| protocol.status == OfferStatus::Offered) {
            self.write_section(&mut page, protocol);
        }
        self.write_absent(&mut page);
        page.push_str("</body>\n</html>\n");
        page
    }

    fn write_summary(&self, page: &mut String) {
        let Summary { pass, fail, warn, skip } = self.summary;
        page.push_str("<ul class=\"counts\">\n");
        let counts =
            [("fail", fail, "failed"), ("warn", warn, "warned"), ("pass", pass, "passed"), ("skip", skip, "skipped")];
        for (class, count, word) in counts {
            let _ = writeln!(page, "<li><span class=\"word {class}\">{count}</span> {word}</li>");
        }
        page.push_str("</ul>\n");
    }

    fn write_section(&self, page: &mut String, protocol: &ProtocolReport) {
        let _ = writeln!(page, "<section>\n<h2>{}</h2>", text(protocol.name));
        for note in &protocol.notes {
            let _ = writeln!(page, "<p class=\"soft\">{}</p>", text(note));
        }
        let all: Vec<&Finding> = self.of_protocol(protocol.name).collect();
        let of = |outcome| all.iter().copied().filter(move |finding: &&Finding| finding.outcome == outcome);
        for finding in of(Outcome::Fail).chain(of(Outcome::Warn)) {
            write_finding(page, finding);
        }
        write_list(page, "passed", of(Outcome::Pass));
        write_list(page, "skipped", of(Outcome::Skip));
        page.push_str("</section>\n");
    }

    fn write_absent(&self, page: &mut String) {
        let mut absent = self.protocols.iter().filter(|protocol| protocol.status != OfferStatus::Offered).peekable();
        if absent.peek().is_none() {
            return;
        }
        page.push_str("<section>\n<h2>Not judged</h2>\n<ul class=\"checks\">\n");
        for protocol in absent {
            let (name, words) = (text(protocol.name), protocol.status.words());
            let reason = text(protocol.reason.as_deref().unwrap_or_default());
            let count = protocol.checks;
            let _ = writeln!(page, "<li>{name}: {words}, {count} skipped <span class=\"soft\">({reason})</span></li>");
        }
        page.push_str("</ul>\n</section>\n");
    }
}

fn write_finding(page: &mut String, finding: &Finding) {
    let (class, word) = match finding.outcome {
        Outcome::Fail => ("fail", "Failed"),
        _ => ("warn", "Warned"),
    };
    let Finding { id, section, level, title, .. } = finding;
    let _ = write!(
        page,
        "<article class=\"{class}\" id=\"{id}\"><span class=\"word\">{word}</span> <code>{id}</code>\n<p>{} \
         <span class=\"soft\">({level}, {})</span></p>\n",
        text(title),
        text(section)
    );
    if let Some(reason) = &finding.reason {
        let _ = writeln!(page, "<p><strong>{}</strong></p>", text(reason));
    }
    for (name, words) in [("Sent", &finding.sent), ("Came", &finding.came)] {
        if let Some(words) = words {
            // A line end after the tag is dropped by readers of HTML, one of the words' own must not be.
            let _ = writeln!(page, "<p class=\"soft\">{name}</p>\n<pre>\n{}</pre>", text(words));
        }
    }
    page.push_str("</article>\n");
}

fn write_list<'a>(page: &mut String, word: &str, findings: impl Iterator<Item = &'a Finding>) {
    let items = findings.map(|finding| {
        let reason = finding.reason.as_deref().map(|reason| format!(": {}", text(reason))).unwrap_or_default();
        let (id, title) = (finding.id, text(finding.title));
        format!("<li><code>{id}</code> {title}<span class=\"soft\">{reason}</span></li>\n")
    });
    let items: Vec<String> = items.collect();
    if !items.is_empty() {
        let (count, items) = (items.len(), items.concat());
        let _ =
            write!(page, "<details><summary>{count} {word}</summary>\n<ul class=\"checks\">\n{items}</ul></details>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finding, report};
    use super::*;

    #[test]
    fn a_stranger_writes_no_markup_and_the_page_loads_nothing() {
        let strange = Finding {
            reason: Some("<script>alert(1)</script>".to_owned()),
            came: Some("</pre><img src=x onerror=alert(1)>".to_owned()),
            ..finding("a", Outcome::Fail)
        };
        let page = report(vec![strange, finding("b", Outcome::Pass), finding("c", Outcome::Skip)])
            .html(Timestamp::UNIX_EPOCH, None);
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("src=\""), "{page}");
        assert!(page.contains("&lt;img src=x onerror") && page.contains("default-src 'none'"), "{page}");
        assert!(page.contains("1 passed") && page.contains("1 skipped"), "{page}");
    }

    #[test]
    fn what_is_new_stands_above() {
        let comparison = Comparison { new_failures: vec!["a".to_owned()], ..Comparison::default() };
        let page = report(vec![finding("a", Outcome::Fail)]).html(Timestamp::UNIX_EPOCH, Some(&comparison));
        assert!(page.contains("<li>new failure: a</li>"), "{page}");
    }
}
