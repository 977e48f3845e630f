//! What contradicts what the rules say to crawlers: told by `forecourt check`, and never refused.

use std::path::Path;

use forecourt_crawler::robots_allow;
use forecourt_identity::bots::KnownBots;
use forecourt_settings::Problem;

use crate::crawl::{CrawlTerms, RobotsGroup};
use crate::rules::HostRule;
use crate::wellknown::public_file;

/// What is doubtful: names that nobody is known by, and files of the operator's own that say something else.
pub(crate) fn doubts(terms: &CrawlTerms, rules: &[HostRule], known: &KnownBots, folder: &Path) -> Vec<Problem> {
    let mut doubts = Vec::new();
    for rule in rules {
        let unknown = |name: &&str| !name.contains('.') && !name.ends_with('*') && !is_known(known, name);
        for name in rule.settings.rule.scope.names().filter(unknown) {
            let text = format!("no crawler is known that names itself `{name}`, so that nobody is taken for it");
            let hint = "add it to `[[identity.bots.known]]`, or write the name as its operator does";
            doubts.push(rule.section.problem(Some("bots"), text).hint(hint));
        }
    }
    doubts.extend(of_own_robots(terms, folder));
    doubts
}

fn is_known(known: &KnownBots, name: &str) -> bool {
    known.iter().any(|bot| bot.name.eq_ignore_ascii_case(name))
}

/// Where a `robots.txt` of the operator's own lets crawlers read what rules refuse them.
fn of_own_robots(terms: &CrawlTerms, folder: &Path) -> Option<Problem> {
    let text = public_file(folder, "robots.txt").filter(|_| !terms.is_empty())?;
    let (everybody, groups) = terms.groups().clone();
    let everybody = RobotsGroup { products: vec!["*".to_owned()], disallowed: everybody };
    let told = std::iter::once(everybody).chain(groups).flat_map(|RobotsGroup { products, disallowed }| {
        products.into_iter().flat_map(move |name| disallowed.clone().into_iter().map(move |path| (name.clone(), path)))
    });
    let allowed = |(name, path): &(String, String)| robots_allow(&text, name, path.trim_end_matches('$'));
    let (name, path) = told.into_iter().find(allowed)?;
    let file = folder.join("public").join("robots.txt");
    let text = format!("it lets `{name}` read {path}, which a rule refuses");
    let hint = "add `Disallow` to it, or delete the file: what is served then is written from the rules";
    Some(Problem::of_file(&file, text).hint(hint))
}

#[cfg(test)]
mod tests {
    use forecourt_rules::HostRuleSettings;

    use crate::crawl::robots_pattern;

    use super::*;

    #[test]
    fn a_robots_file_of_the_operator_that_allows_what_is_refused_is_told() {
        let rule: HostRuleSettings =
            toml::from_str("kind = \"deny\"\nbots = [\"GPTBot\"]\npaths = [\"/manual/*\"]\n").unwrap();
        assert_eq!(robots_pattern(&rule.paths[0]), "/manual/");
        let terms = CrawlTerms::new(std::iter::once(&rule), std::iter::empty(), KnownBots::default());
        let folder = tempfile::tempdir().unwrap();
        assert!(of_own_robots(&terms, folder.path()).is_none());
        std::fs::create_dir(folder.path().join("public")).unwrap();
        let write = |text: &str| std::fs::write(folder.path().join("public/robots.txt"), text).unwrap();
        write("User-agent: *\nAllow: /\n");
        let told = of_own_robots(&terms, folder.path()).unwrap().to_string();
        assert!(told.contains("`GPTBot`") && told.contains("/manual/"), "{told}");
        write("User-agent: GPTBot\nDisallow: /manual/\n");
        assert!(of_own_robots(&terms, folder.path()).is_none());
    }
}
