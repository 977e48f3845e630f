//! From a path of OpenAPI to one of ours. What changes is marked; the service's own URL stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::Catalog;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::dialect::free;
use super::verb::behind_verb;
use super::words::{named, plural, without_format, words};

/// What a segment may have beside letters and digits. RFC 3986 3.3.
const OUTSIDE_SEGMENTS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@')
    .remove(b'%');

/// The same for a whole path and what may stand behind it.
const OUTSIDE_PATHS: &AsciiSet = &OUTSIDE_SEGMENTS.remove(b'/').remove(b'?').remove(b'#');

/// A piece of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Literal(String),
    /// The name as the document has it.
    Parameter(String),
}

/// A path of the document, taken apart.
#[derive(Clone, Debug)]
pub(super) struct Route {
    raw: String,
    segments: Vec<Segment>,
    /// The parameters' names: the document's to ours.
    pub(super) names: BTreeMap<String, String>,
    /// Whether a parameter shared its segment with other text.
    is_split: bool,
    /// Whether there are paths below it, so that its last segment is a thing and no deed.
    pub(super) is_branch: bool,
}

/// A path of ours, and what was changed to get there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rewritten {
    pub(super) path: String,
    /// `None`: it is the document's own.
    pub(super) change: Option<String>,
}

impl Route {
    /// Takes a path apart. A parameter within a segment becomes a segment.
    pub(super) fn new(raw: &str) -> Route {
        // A fragment tells operations of one path apart in a document, and is never sent (RFC 3986 3.5): here it is a
        // segment of its own.
        let (raw, fragment) = raw.split_once('#').unwrap_or((raw, ""));
        let mut route = Route {
            raw: raw.to_owned(),
            segments: Vec::new(),
            names: BTreeMap::new(),
            is_split: false,
            is_branch: false,
        };
        let plain = raw.split('?').next().unwrap_or_default();
        for segment in plain.split('/').filter(|segment| !matches!(*segment, "" | "." | "..")) {
            route.segment(segment);
        }
        let named = words(fragment).join("-");
        if !named.is_empty() {
            route.segment(&named);
        }
        route
    }

    fn segment(&mut self, segment: &str) {
        let pieces = parameters(segment);
        if pieces.is_empty() {
            let segment = without_format(segment);
            self.segments.push(Segment::Literal(utf8_percent_encode(segment, OUTSIDE_SEGMENTS).to_string()));
            return;
        }
        self.is_split |= pieces.len() > 1 || format!("{{{}}}", pieces[0]) != segment;
        for name in pieces {
            let plain = named(name);
            let ours = free(&plain, |ours| self.names.iter().all(|(theirs, other)| other != ours || theirs == name));
            self.names.entry(name.to_owned()).or_insert(ours);
            self.segments.push(Segment::Parameter(name.to_owned()));
        }
    }

    /// The literal segments.
    pub(super) fn literals(&self) -> Vec<&str> {
        let literals = self.segments.iter().filter_map(|segment| match segment {
            Segment::Literal(text) => Some(text.as_str()),
            Segment::Parameter(_) => None,
        });
        literals.collect()
    }

    /// Whether the last segment is literal.
    pub(super) fn ends_literal(&self) -> bool {
        matches!(self.segments.last(), Some(Segment::Literal(_)))
    }

    /// The document's path with our names in the braces, for the service's URL.
    pub(super) fn upstream(&self) -> String {
        let (mut url, mut rest) = (String::with_capacity(self.raw.len()), self.raw.as_str());
        while let Some((before, after)) = rest.split_once('{') {
            url.extend(utf8_percent_encode(before, OUTSIDE_PATHS));
            let known = after.split_once('}').and_then(|(name, more)| Some((self.names.get(name)?, more)));
            rest = match known {
                Some((ours, more)) => {
                    url.push_str(&format!("{{{ours}}}"));
                    more
                }
                // A brace that opens no parameter.
                None => {
                    url.push_str("%7B");
                    after
                }
            };
        }
        url.extend(utf8_percent_encode(rest, OUTSIDE_PATHS));
        url
    }

    /// Paths that an endpoint of that verb may be registered under, the best first. `others` are the shapes
    /// of all paths of the document.
    pub(super) fn rewritten(&self, verb: &str, others: &BTreeSet<String>, catalog: &Catalog) -> Vec<Rewritten> {
        let mut ways = Vec::new();
        if let Some((Segment::Literal(last), before)) = self.segments.split_last()
            // With paths below it the segment is a collection: `/orders` of `/orders/{id}` is not ORDER.
            && !self.is_branch
            && let Some(left) = behind_verb(last, verb, catalog).filter(|left| is_thing(left) || left.is_empty())
            && !(before.is_empty() && left.is_empty())
        {
            let change = format!("the document says {}: `{last}` is the method now", self.raw);
            let left = (!left.is_empty()).then(|| Segment::Literal(like(last, &left)));
            let segments: Vec<Segment> = before.iter().cloned().chain(left).collect();
            ways.push(Rewritten { path: self.joined(&segments, others, catalog).0, change: Some(change) });
        }
        if let Some(segments) = self.without_spelled(verb, catalog) {
            let change = format!("the document says {}: {verb} is the method now", self.raw);
            ways.push(Rewritten { path: self.joined(&segments, others, catalog).0, change: Some(change) });
        }
        let (path, renamed) = self.joined(&self.segments, others, catalog);
        let changed = self.is_split || !renamed.is_empty() || path != self.upstream();
        let reason = match renamed.is_empty() {
            false => format!(": {} may be no segment, since a path names no method", renamed.join(" and ")),
            true => String::new(),
        };
        ways.push(Rewritten { path, change: changed.then(|| format!("the document says {}{reason}", self.raw)) });
        ways
    }

    /// The segments without one before another literal that spells the verb: `/search/rooms` is `/rooms` for
    /// SEARCH. `None`: there is none.
    fn without_spelled(&self, verb: &str, catalog: &Catalog) -> Option<Vec<Segment>> {
        let spells = |segment: &Segment| matches!(segment, Segment::Literal(text) if catalog.verb_in(text).as_deref() == Some(verb));
        let pairs = self.segments.windows(2);
        let at = pairs.into_iter().position(|pair| spells(&pair[0]) && matches!(pair[1], Segment::Literal(_)))?;
        let mut segments = self.segments.clone();
        segments.remove(at);
        Some(segments)
    }

    /// The path of some segments, and which literals could not stay.
    fn joined(&self, segments: &[Segment], others: &BTreeSet<String>, catalog: &Catalog) -> (String, Vec<String>) {
        let (mut path, mut renamed, mut used) = (String::new(), Vec::new(), Vec::new());
        for segment in segments {
            path.push('/');
            match segment {
                // A name that occurs twice is one segment only.
                Segment::Parameter(name) if used.contains(&name) => drop(path.pop()),
                Segment::Parameter(name) => {
                    used.push(name);
                    path.push_str(&format!("{{{}}}", self.names[name]));
                }
                Segment::Literal(text) if catalog.verb_in(text).is_some() => {
                    renamed.push(format!("`{text}`"));
                    path.push_str(&harmless(&path, text, others, catalog));
                }
                Segment::Literal(text) => path.push_str(text),
            }
        }
        (if path.is_empty() { "/".to_owned() } else { path }, renamed)
    }
}

/// A segment behind `before` that spells no method and leads to none of the document's paths, `others`: its
/// plural, else with a word more.
fn harmless(before: &str, segment: &str, others: &BTreeSet<String>, catalog: &Catalog) -> String {
    let is_free = |text: &String| {
        let here = shape(&format!("{before}{text}"));
        let below = format!("{here}/");
        let leads_there = |other: &String| *other == here || other.starts_with(&below);
        // In order, what lies below comes right behind its own `/`.
        // Two looks into an ordered set: comparing each path with all others would be quadratic.
        let near = [others.range(here.clone()..).next(), others.range(below.clone()..).next()];
        catalog.verb_in(text).is_none() && !near.into_iter().flatten().any(leads_there)
    };
    let more = [plural(segment), format!("{segment}-resource")];
    more.into_iter().find(is_free).unwrap_or_else(|| format!("x-{segment}-resource"))
}

/// Whether what is left behind a verb names a thing: `Challenge` does, `ByStatus` and `WithList` do not.
fn is_thing(left: &str) -> bool {
    const JOINING: [&str; 12] = ["all", "and", "as", "at", "by", "for", "from", "in", "into", "of", "to", "with"];
    left.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        && words(left).first().is_some_and(|first| !JOINING.contains(&first.as_str()))
}

/// What is left of a segment, beginning as the segment did.
fn like(segment: &str, left: &str) -> String {
    let (first, rest) = left.split_at(left.chars().next().map_or(0, char::len_utf8));
    match segment.starts_with(|c: char| c.is_lowercase()) {
        true => first.to_lowercase() + rest,
        false => left.to_owned(),
    }
}

/// A path whatever its parameters are called and its format is.
pub(super) fn shape(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.contains('{') { "{}" } else { without_format(segment) });
    segments.collect::<Vec<_>>().join("/")
}

/// The names in braces within a segment.
fn parameters(segment: &str) -> Vec<&str> {
    let opened = segment.split('{').skip(1);
    opened.filter_map(|rest| rest.split_once('}')).map(|(name, _)| name).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(raw: &str, verb: &str) -> String {
        Route::new(raw).rewritten(verb, &BTreeSet::new(), &Catalog::shipped()).remove(0).path
    }

    #[test]
    fn s14_1_paths_are_kept() {
        for path in ["/", "/pets", "/pets/{petId}", "/v1.2/a-b/{x_1}/~me"] {
            let ways = Route::new(path).rewritten("FETCH", &BTreeSet::new(), &Catalog::shipped());
            assert_eq!(ways, [Rewritten { path: path.to_owned(), change: None }]);
        }
    }

    #[test]
    fn s5_1_a_segment_that_spells_a_method_gives_way() {
        assert_eq!(best("/orders/{id}/cancel", "CANCEL"), "/orders/{id}");
        assert_eq!(best("/orders/search", "SEARCH"), "/orders");
        assert_eq!(best("/orders/search", "LIST"), "/orders/searches");
        assert_eq!(best("/store/order", "CREATE"), "/store/orders");
        assert_eq!(best("/get", "FETCH"), "/gets");
        assert_eq!(best("/order", "ORDER"), "/orders");
    }

    #[test]
    fn s5_3_a_parameter_is_a_whole_segment() {
        assert_eq!(best("/users/{user-id}.json", "FETCH"), "/users/{user_id}");
        assert_eq!(best("/range/{from}...{to}/", "FETCH"), "/range/{from}/{to}");
        assert_eq!(Route::new("/users/{user-id}.json").upstream(), "/users/{user_id}.json");
        assert_eq!(best("/a/{x}/b/{x}", "FETCH"), "/a/{x}/b");
    }

    #[test]
    fn s5_4_a_segment_that_gives_way_takes_no_other_path() {
        let beside = |others: &[&str]| {
            let others = others.iter().map(|path| shape(path)).collect();
            Route::new("/order/{id}").rewritten("FETCH", &others, &Catalog::shipped()).remove(0).path
        };
        assert_eq!(beside(&["/orders"]), "/order-resource/{id}");
        assert_eq!(beside(&["/order/{id}", "/orders-of-old", "/orders/{orderId}/lines"]), "/order-resource/{id}");
        assert_eq!(beside(&["/order/{id}", "/orders-of-old", "/v1/orders"]), "/orders/{id}");
    }

    #[test]
    fn a_segment_with_more_below_it_is_a_thing() {
        let route = Route { is_branch: true, ..Route::new("/store/order") };
        assert_eq!(route.rewritten("ORDER", &BTreeSet::new(), &Catalog::shipped())[0].path, "/store/orders");
    }

    #[test]
    fn the_services_url_keeps_everything_but_the_names() {
        for (raw, url) in [
            ("/a/{x-1}/{x_1}", "/a/{x_1}/{x_1_2}"),
            ("/a b/{c}:d", "/a%20b/{c}:d"),
            ("/a{/b}{c}", "/a%7B/b%7D{c}"),
            ("/a/?x=1", "/a/?x=1"),
        ] {
            assert_eq!(Route::new(raw).upstream(), url);
        }
    }

    #[test]
    fn braces_that_close_nothing_are_text() {
        assert_eq!(best("/a{/b}", "FETCH"), "/a%7B/b%7D");
        assert_eq!(best("/{}", "FETCH"), "/%7B%7D");
    }
}
