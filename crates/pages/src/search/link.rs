//! Where a question and what narrows it down are: one URL for each, that can be kept and shared.

use forecourt_core::SearchRefinement;

use super::{DECIDED, FILTER_PREFIX, RESULTS, pair};

/// A page of results.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The path of the agent.
    pub(super) path: String,
    /// The question as it was asked.
    pub(super) question: String,
    /// What narrows it down.
    pub(super) narrowing: SearchRefinement,
}

impl Place {
    /// The page with a value chosen, or without it when it was chosen: from its first results on.
    pub(super) fn toggled(&self, field: &str, value: &str) -> String {
        let mut narrowing = SearchRefinement { results: None, ..self.narrowing.clone() };
        let before = narrowing.exactly.len();
        narrowing.exactly.retain(|(name, other)| !is_same(name, other, field, value));
        if narrowing.exactly.len() == before {
            narrowing.exactly.push((field.to_owned(), value.to_owned()));
        }
        self.url(&narrowing)
    }

    /// The same page with so many results.
    pub(super) fn with_results(&self, results: usize) -> String {
        self.url(&SearchRefinement { results: Some(results), ..self.narrowing.clone() })
    }

    /// The page with nothing chosen.
    pub(super) fn widest(&self) -> String {
        self.url(&SearchRefinement { exactly: Vec::new(), results: None, ..self.narrowing.clone() })
    }

    /// The page without the question that would come first.
    pub(super) fn decided(&self) -> String {
        self.url(&SearchRefinement { decided: true, ..self.narrowing.clone() })
    }

    /// Whether a value is chosen.
    pub(super) fn has(&self, field: &str, value: &str) -> bool {
        self.narrowing.exactly.iter().any(|(name, other)| is_same(name, other, field, value))
    }

    fn url(&self, narrowing: &SearchRefinement) -> String {
        let filters = narrowing.exactly.iter().map(|(field, value)| pair(&format!("{FILTER_PREFIX}{field}"), value));
        let results = narrowing.results.map(|results| pair(RESULTS, &results.to_string()));
        let decided = narrowing.decided.then(|| pair(DECIDED.0, DECIDED.1));
        let query: Vec<String> =
            [pair("user", &self.question)].into_iter().chain(filters).chain(results).chain(decided).collect();
        format!("{}?{}", self.path, query.join("&"))
    }
}

fn is_same(name: &str, value: &str, field: &str, other: &str) -> bool {
    name == field && value.to_lowercase() == other.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(exactly: &[(&str, &str)]) -> Place {
        let exactly = exactly.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect();
        let narrowing = SearchRefinement { exactly, results: Some(20), decided: false };
        Place { path: "/~chef".to_owned(), question: "a & b".to_owned(), narrowing }
    }

    #[test]
    fn a_value_is_chosen_and_left_again() {
        let one = place(&[]).toggled("brand.name", "Ö=&");
        assert_eq!(one, "/~chef?user=a%20%26%20b&filter.brand.name=%C3%96%3D%26");
        assert_eq!(place(&[("genre", "Drama")]).toggled("genre", "drama"), "/~chef?user=a%20%26%20b");
        assert!(place(&[("genre", "Drama")]).has("genre", "DRAMA"));
        assert!(!place(&[("genre", "Drama")]).has("kind", "Drama"));
    }

    #[test]
    fn more_results_keep_what_was_chosen() {
        let url = place(&[("genre", "Drama")]).with_results(30);
        assert_eq!(url, "/~chef?user=a%20%26%20b&filter.genre=Drama&results=30");
        assert_eq!(place(&[("genre", "Drama")]).widest(), "/~chef?user=a%20%26%20b");
        assert!(place(&[]).decided().ends_with("&results=20&ask=no"));
    }
}
