//! Questions in the query language of the search API.

use forecourt_retrieval::{CandidateQuery, Predicate, QuantityOrder, ScoredTerm, TermField};
use serde_json::{Map, Value, json};

/// The name of the field of a list of terms.
pub(super) fn field(field: TermField) -> &'static str {
    match field {
        TermField::Words => "words",
        TermField::Pairs => "pairs",
        TermField::Spelled => "spelled",
        TermField::Facts => "facts",
    }
}

/// A key as a text, in the order of keys.
pub(super) fn key_text(key: u64) -> String {
    format!("{key:020}")
}

/// Documents that pass a test.
pub(super) fn test(predicate: &Predicate) -> Value {
    let of = |all: &[Predicate]| all.iter().map(test).collect::<Vec<Value>>();
    match predicate {
        Predicate::All(all) if all.is_empty() => json!({"match_all": {}}),
        Predicate::Any(any) if any.is_empty() => json!({"match_none": {}}),
        Predicate::All(all) => json!({"bool": {"filter": of(all)}}),
        Predicate::Any(any) => match same_field(any) {
            Some((name, terms)) if terms.len() > 1 => json!({"terms": {name: terms}}),
            _ => json!({"bool": {"should": of(any), "minimum_should_match": 1}}),
        },
        Predicate::Not(not) => json!({"bool": {"must_not": [test(not)]}}),
        Predicate::Term(list, term) => json!({"term": {field(*list): {"value": term}}}),
        Predicate::FactBegins(beginning) => json!({"prefix": {"facts": {"value": beginning}}}),
        Predicate::Key(key) => json!({"term": {"key": {"value": key_text(*key)}}}),
        Predicate::Within { path, from, to } => within(path, *from, *to),
    }
}

/// Items that pass a test: documents with a key, which the summary has not.
pub(super) fn items(predicate: &Predicate) -> Value {
    json!({"bool": {"filter": [{"exists": {"field": "key"}}, test(predicate)]}})
}

/// The terms of tests that ask for one each, of the same list. `None`: one of them asks for something else.
fn same_field(predicates: &[Predicate]) -> Option<(&'static str, Vec<&str>)> {
    let term = |predicate: &'_ Predicate| match predicate {
        Predicate::Term(list, _) => Some(field(*list)),
        _ => None,
    };
    let first = predicates.first().and_then(term)?;
    let text = |predicate| match predicate {
        &Predicate::Term(list, ref text) if field(list) == first => Some(text.as_str()),
        _ => None,
    };
    Some((first, predicates.iter().map(text).collect::<Option<_>>()?))
}

fn within(path: &str, from: Option<f64>, to: Option<f64>) -> Value {
    let name = number_field(path);
    let ends = [("gte", from), ("lte", to)].into_iter().filter_map(|(end, at)| Some((end.to_owned(), json!(at?))));
    let ends: Map<String, Value> = ends.collect();
    if ends.is_empty() { json!({"exists": {"field": name}}) } else { json!({"range": {name: ends}}) }
}

/// The name of the field of a number inside of `numbers`. Never blank, which the API refuses.
pub(super) fn number_name(path: &str) -> String {
    format!("n{path}")
}

fn number_field(path: &str) -> String {
    format!("numbers.{}", number_name(path))
}

fn scored(term: &ScoredTerm) -> Value {
    json!({"term": {field(term.field): {"value": term.term, "boost": term.boost}}})
}

/// Words that are spelled almost as one, by the rule that the index here has, or begin with it.
fn almost(word: &str) -> [Value; 2] {
    let near = json!({"fuzzy": {"spelled": {"value": word, "fuzziness": "AUTO:5,7", "prefix_length": 0}}});
    [near, json!({"prefix": {"spelled": {"value": word}}})]
}

/// The body of a search for candidates.
pub(super) fn search(query: &CandidateQuery) -> Value {
    let any: Vec<Value> =
        query.terms.iter().map(scored).chain(query.almost.iter().flat_map(|word| almost(word))).collect();
    let mut clauses = Map::new();
    clauses.insert("filter".to_owned(), json!([items(&query.limits)]));
    if !any.is_empty() {
        clauses.insert("should".to_owned(), any.into());
        clauses.insert("minimum_should_match".to_owned(), json!(1));
    }
    let by_key = json!({"key": {"order": "asc"}});
    let sort = match &query.order {
        Some(order) => json!([by_quantity(order), by_key]),
        None if clauses.contains_key("should") => json!([{"_score": {"order": "desc"}}, by_key]),
        None => json!([by_key]),
    };
    json!({
        "size": query.most, "query": {"bool": clauses}, "sort": sort, "track_total_hits": false,
        "_source": ["key", "hash", "origin", "lengths", "id", "item"],
    })
}

fn by_quantity(order: &QuantityOrder) -> Value {
    let direction = if order.descending { "desc" } else { "asc" };
    json!({number_field(&order.path): {"order": direction, "missing": "_last", "unmapped_type": "double"}})
}

/// The body of a search that only counts.
pub(super) fn counting(limits: &Predicate, most: usize) -> Value {
    // Numbers of the API are signed and of 32 bits; `true` counts all.
    let tracked = i32::try_from(most).map_or(json!(true), |most| json!(most));
    json!({"size": 0, "query": items(limits), "track_total_hits": tracked})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_said_in_the_words_of_the_api() {
        let term = |term: &str| Predicate::Term(TermField::Facts, term.to_owned());
        assert_eq!(test(&Predicate::everything()), json!({"match_all": {}}));
        assert_eq!(test(&Predicate::nothing()), json!({"match_none": {}}));
        assert_eq!(test(&Predicate::Any(vec![term("a"), term("b")])), json!({"terms": {"facts": ["a", "b"]}}));
        let mixed = Predicate::Any(vec![term("a"), Predicate::Key(7).negated()]);
        let not = json!({"bool": {"must_not": [{"term": {"key": {"value": "00000000000000000007"}}}]}});
        let either = json!([{"term": {"facts": {"value": "a"}}}, not]);
        assert_eq!(test(&mixed), json!({"bool": {"should": either, "minimum_should_match": 1}}));
        let open = Predicate::Within { path: "a/b".to_owned(), from: None, to: None };
        assert_eq!(test(&open), json!({"exists": {"field": "numbers.na/b"}}));
        let from = Predicate::Within { path: "a/b".to_owned(), from: Some(1.5), to: None };
        assert_eq!(test(&from), json!({"range": {"numbers.na/b": {"gte": 1.5}}}));
    }

    #[test]
    fn counting_ends_at_a_bound_that_the_api_can_say() {
        assert_eq!(counting(&Predicate::everything(), 10)["track_total_hits"], json!(10));
        assert_eq!(counting(&Predicate::everything(), usize::MAX)["track_total_hits"], json!(true));
    }
}
