//! `robots.txt`, as RFC 9309 reads it.

use std::time::Duration;

use crate::limits::{ROBOTS_DELAY_MAX, ROBOTS_RULES_MAX};

/// What a site asks of a visitor.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Robots {
    rules: Vec<Rule>,
    /// The time that it wants between requests, at most [`ROBOTS_DELAY_MAX`].
    pub(crate) delay: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq)]
struct Rule {
    allows: bool,
    pattern: String,
}

/// The groups of one file that may concern us.
#[derive(Default)]
struct Groups {
    own: Option<Robots>,
    others: Robots,
}

impl Robots {
    /// The rules for the product token `agent`; those for everybody when it has none of its own.
    /// RFC 9309 2.2.1.
    pub(crate) fn read(text: &str, agent: &str) -> Self {
        let mut groups = Groups::default();
        let (mut is_own, mut is_others, mut in_heads) = (false, false, false);
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            if key == "user-agent" {
                if !in_heads {
                    (is_own, is_others) = (false, false);
                }
                in_heads = true;
                is_own |= value.eq_ignore_ascii_case(agent);
                is_others |= value == "*";
                if is_own {
                    // A group without rules counts too: it allows us everything, whatever the group for all says.
                    groups.own.get_or_insert_default();
                }
                continue;
            }
            // A sitemap belongs to no group and ends none. RFC 9309 2.2.4.
            if key == "sitemap" {
                continue;
            }
            in_heads = false;
            if is_own && let Some(own) = &mut groups.own {
                own.take(&key, value);
            }
            if is_others {
                groups.others.take(&key, value);
            }
        }
        groups.own.unwrap_or(groups.others)
    }

    fn take(&mut self, key: &str, value: &str) {
        match key {
            "allow" | "disallow" if !value.is_empty() && self.rules.len() < ROBOTS_RULES_MAX => {
                self.rules.push(Rule { allows: key == "allow", pattern: encoded(value) });
            }
            "crawl-delay" => {
                let seconds = value.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
                // Not in RFC 9309, and in use all the same. Bounded before the conversion, which panics on infinite
                // and huge numbers.
                self.delay = seconds.map(|s| Duration::from_secs_f64(s.min(ROBOTS_DELAY_MAX.as_secs_f64())));
            }
            _ => {}
        }
    }

    /// Whether a path, with its query, may be read: the longest rule that fits decides, and of two
    /// equally long ones the kinder. RFC 9309 2.2.2.
    pub(crate) fn allows(&self, path: &str) -> bool {
        let fitting = self.rules.iter().filter(|rule| fits(&rule.pattern, path));
        fitting.max_by_key(|rule| (rule.pattern.len(), rule.allows)).is_none_or(|rule| rule.allows)
    }
}

/// What the values of `X-Robots-Tag`, one a line, ask of us, as a page would say it: those for everybody, and
/// those that begin with our name.
pub(crate) fn of_header(values: &str, agent: &str) -> String {
    const RULES_WITH_VALUES: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];
    let mut out = Vec::new();
    for value in values.lines() {
        let mut is_for_us = true;
        for part in value.split(',') {
            let named = part.split_once(':').map(|(name, rule)| (name.trim(), rule));
            let named = named.filter(|(name, _)| !RULES_WITH_VALUES.iter().any(|rule| rule.eq_ignore_ascii_case(name)));
            is_for_us = named.map_or(is_for_us, |(name, _)| name == "*" || name.eq_ignore_ascii_case(agent));
            if is_for_us {
                out.push(named.map_or(part, |(_, rule)| rule).trim());
            }
        }
    }
    out.join(",")
}

/// As URLs have it: what is not ASCII in percent signs.
fn encoded(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    for byte in pattern.bytes() {
        match byte.is_ascii() {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Whether a path begins as the pattern says: `*` is anything, a last `$` the end.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, is_whole) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| path.strip_prefix(first)) else { return false };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return !is_whole || rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() && is_whole {
            // The last piece at the end of the path: the first place that fits may not be the last.
            return rest.ends_with(piece);
        }
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

/// Whether a `robots.txt` lets a visitor of this name read a path.
pub fn robots_allow(robots: &str, agent: &str, path: &str) -> bool {
    Robots::read(robots, agent).allows(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn s2_2_1_the_own_group_counts_and_groups_of_one_name_are_one() {
        let text = "User-agent: *\nDisallow: /\n\nuser-agent: other\nuser-agent: Forecourt # us\nDisallow: /a\n\
            sitemap: https://e.org/s.xml\nCrawl-delay: 2.5\n\nUser-Agent: forecourt\nDisallow: /b";
        let robots = Robots::read(text, "forecourt");
        assert!(robots.allows("/") && !robots.allows("/a/x") && !robots.allows("/b"));
        assert_eq!(robots.delay, Some(Duration::from_millis(2_500)));
        assert!(!Robots::read(text, "somebody").allows("/c"));
        let empty = "user-agent: forecourt\n\nuser-agent: *\ndisallow: /";
        assert!(!Robots::read(empty, "nobody").allows("/"));
    }

    #[test]
    fn s2_2_2_the_longest_rule_decides_and_ties_allow() {
        let robots = Robots::read("user-agent:*\ndisallow:/x\nallow:/x/y\nallow:/tie\ndisallow:/tie\ndisallow:", "f");
        assert!(!robots.allows("/x/z") && robots.allows("/x/y/z") && robots.allows("/tie") && robots.allows("/"));
    }

    #[test]
    fn s2_2_3_stars_and_ends() {
        for (pattern, path, expected) in [
            ("/*.php$", "/a/b.php", true),
            ("/*.php$", "/a/b.php?x", false),
            ("/a*b*c", "/aXbYc/z", true),
            ("/a*b*c", "/acb", false),
            ("/a$", "/a", true),
            ("/a$", "/ab", false),
            ("*", "/", true),
            ("/a*", "/a", true),
        ] {
            assert_eq!(fits(pattern, path), expected, "{pattern} {path}");
        }
        assert!(!Robots::read("user-agent:*\ndisallow: /ü", "f").allows("/%C3%BC"));
    }

    #[test]
    fn rules_and_delays_end_at_their_bounds() {
        let lines = |n: usize| format!("user-agent: *\n{}disallow: /last", "disallow: /no\n".repeat(n));
        assert!(!Robots::read(&lines(ROBOTS_RULES_MAX - 1), "f").allows("/last"));
        assert!(Robots::read(&lines(ROBOTS_RULES_MAX), "f").allows("/last"));
        let delay = Robots::read("user-agent: *\ncrawl-delay: 99999999", "f").delay;
        assert_eq!(delay, Some(ROBOTS_DELAY_MAX));
    }

    #[test]
    fn headers_are_for_everybody_or_for_who_they_name() {
        assert_eq!(of_header("noindex, nofollow", "forecourt"), "noindex,nofollow");
        assert_eq!(of_header("googlebot: noindex, nofollow\nForecourt: noarchive", "forecourt"), "noarchive");
        assert_eq!(of_header("unavailable_after: 25 Jun 2030, noindex", "f"), "unavailable_after: 25 Jun 2030,noindex");
        assert_eq!(of_header("", "f"), "");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(user-agent|disallow|allow|crawl-delay|[:*$/#a\n -])*", path in "/[a-c/*$]{0,9}") {
            Robots::read(&text, "a").allows(&path);
        }
    }
}
