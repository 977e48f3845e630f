//! Where a question and what narrows it down are: one URL for each, that can be kept and shared.

use forecourt_core::SearchRefinement;
use forecourt_core::findings::{Facet, ItemOrder};

use super::pair;
use crate::click_path;
use crate::limits::{CLICK_BYTES_MAX, EARLIER_MAX};
use crate::query::{DECIDED, EARLIER, FILTER_PREFIX, ORDER, RESULTS};

/// A page of results.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The path of the agent.
    pub(super) path: String,
    /// The question as it was asked.
    pub(super) question: String,
    /// What was asked before it, the oldest first.
    pub(super) earlier: Vec<String>,
    /// What narrows it down.
    pub(super) narrowing: SearchRefinement,
}

impl Place {
    /// The page with a value of a property chosen, or without it when it was chosen: from its first results on.
    pub(super) fn toggled(&self, facet: &Facet, value: &str) -> String {
        let field = facet.field.as_str();
        if self.has(field, value) {
            return self.left(field, value);
        }
        // Another choice has other results: how many were opened before says nothing of them.
        let mut narrowing = SearchRefinement { results: None, ..self.narrowing.clone() };
        // A range takes the place of another one: both together would say the part that they share.
        if facet.is_ranges {
            narrowing.exactly.retain(|(name, _)| name != field);
        }
        narrowing.exactly.push((field.to_owned(), value.to_owned()));
        self.url(&narrowing)
    }

    /// The page without a value that was chosen: from its first results on.
    pub(super) fn left(&self, field: &str, value: &str) -> String {
        let mut narrowing = SearchRefinement { results: None, ..self.narrowing.clone() };
        narrowing.exactly.retain(|(name, other)| !is_same(name, other, field, value));
        self.url(&narrowing)
    }

    /// The same page with so many results.
    pub(super) fn with_results(&self, results: usize) -> String {
        self.url(&SearchRefinement { results: Some(results), ..self.narrowing.clone() })
    }

    /// The page in another order, or in that of how well items fit.
    pub(super) fn ordered(&self, order: Option<ItemOrder>) -> String {
        self.url(&SearchRefinement { order, results: None, ..self.narrowing.clone() })
    }

    /// The page with nothing chosen.
    pub(super) fn widest(&self) -> String {
        self.url(&SearchRefinement { exactly: Vec::new(), results: None, ..self.narrowing.clone() })
    }

    /// The page without the question that would come first.
    pub(super) fn decided(&self) -> String {
        self.url(&SearchRefinement { decided: true, ..self.narrowing.clone() })
    }

    /// The earlier questions, each with its own page.
    pub(super) fn trail(&self) -> Vec<(&str, String)> {
        let page = |at: usize| {
            let narrowing = SearchRefinement::default();
            Self {
                path: self.path.clone(),
                question: self.earlier[at].clone(),
                earlier: self.earlier[..at].to_vec(),
                narrowing,
            }
        };
        self.earlier.iter().enumerate().map(|(at, asked)| (asked.as_str(), page(at).widest())).collect()
    }

    /// What the next question goes on with: the last of the earlier ones, and this one.
    pub(super) fn going_on(&self) -> impl Iterator<Item = &str> {
        let all = self.earlier.iter().chain(Some(&self.question).filter(|asked| !asked.is_empty()));
        let count = self.earlier.len() + usize::from(!self.question.is_empty());
        all.skip(count.saturating_sub(EARLIER_MAX)).map(String::as_str)
    }

    /// The page of this question by itself, with nothing before it.
    pub(super) fn alone(&self) -> String {
        Self { earlier: Vec::new(), ..self.clone() }.widest()
    }

    /// Whether a value is chosen.
    pub(super) fn has(&self, field: &str, value: &str) -> bool {
        self.narrowing.exactly.iter().any(|(name, other)| is_same(name, other, field, value))
    }

    /// Whether a value of this name is chosen, whichever property it is of.
    pub(super) fn has_value(&self, value: &str) -> bool {
        self.narrowing.exactly.iter().any(|(_, chosen)| chosen.to_lowercase() == value.to_lowercase())
    }

    /// The page of another question, narrowed down as this one.
    pub(super) fn with_question(&self, question: String) -> String {
        let narrowing = SearchRefinement { results: None, ..self.narrowing.clone() };
        Self { question, ..self.clone() }.url(&narrowing)
    }

    /// Where a click on an item is counted. `None` for one whose address would be too long.
    pub(super) fn click(&self, item: &str) -> Option<String> {
        let url = format!("{}?{}&{}", click_path(&self.path), pair("question", &self.question), pair("item", item));
        Some(url).filter(|url| url.len() <= CLICK_BYTES_MAX)
    }

    fn url(&self, narrowing: &SearchRefinement) -> String {
        let filters = narrowing.exactly.iter().map(|(field, value)| pair(&format!("{FILTER_PREFIX}{field}"), value));
        let results = narrowing.results.map(|results| pair(RESULTS, &results.to_string()));
        let order = narrowing.order.map(|order| pair(ORDER, order.name()));
        let decided = narrowing.decided.then(|| pair(DECIDED.0, DECIDED.1));
        let earlier = self.earlier.iter().map(|asked| pair(EARLIER, asked));
        let question = [pair("user", &self.question)].into_iter();
        let query: Vec<String> =
            question.chain(earlier).chain(filters).chain(order).chain(results).chain(decided).collect();
        format!("{}?{}", self.path, query.join("&"))
    }
}

/// The ends of a value that is a range of quantities: `20..50`, `4+`.
pub(super) fn range(value: &str) -> Option<(&str, Option<&str>)> {
    let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    match (value.split_once(".."), value.strip_suffix('+')) {
        (Some((from, to)), _) if is_number(from) && is_number(to) => Some((from, Some(to))),
        (None, Some(from)) if is_number(from) => Some((from, None)),
        _ => None,
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
        let narrowing = SearchRefinement { exactly, results: Some(20), ..SearchRefinement::default() };
        Place { path: "/~chef".to_owned(), question: "a & b".to_owned(), earlier: Vec::new(), narrowing }
    }

    fn of(field: &str) -> Facet {
        Facet { field: field.to_owned(), ..Facet::default() }
    }

    #[test]
    fn a_value_is_chosen_and_left_again() {
        let one = place(&[]).toggled(&of("brand.name"), "Ö=&");
        assert_eq!(one, "/~chef?user=a%20%26%20b&filter.brand.name=%C3%96%3D%26");
        assert_eq!(place(&[("genre", "Drama")]).toggled(&of("genre"), "drama"), "/~chef?user=a%20%26%20b");
        assert!(place(&[("genre", "Drama")]).has("genre", "DRAMA"));
        assert!(!place(&[("genre", "Drama")]).has("kind", "Drama"));
    }

    #[test]
    fn a_question_goes_on_with_the_last_ones_and_each_has_its_page() {
        let asked = |count: usize| Place { earlier: (0..count).map(|n| format!("q{n}")).collect(), ..place(&[]) };
        let two = asked(2);
        assert_eq!(two.trail(), [("q0", "/~chef?user=q0".to_owned()), ("q1", "/~chef?user=q1&prev=q0".to_owned())]);
        assert_eq!(two.going_on().collect::<Vec<_>>(), ["q0", "q1", "a & b"]);
        assert_eq!(two.alone(), "/~chef?user=a%20%26%20b");
        assert!(two.toggled(&of("genre"), "Drama").contains("&prev=q0&prev=q1&filter.genre=Drama"));
        let many = asked(EARLIER_MAX);
        assert_eq!((many.going_on().count(), many.going_on().next()), (EARLIER_MAX, Some("q1")));
    }

    #[test]
    fn a_range_takes_the_place_of_another_and_an_order_is_kept() {
        let cheap = place(&[("offers.price", "20..50"), ("color", "red")]);
        let prices = Facet { is_ranges: true, ..of("offers.price") };
        assert_eq!(
            cheap.toggled(&prices, "50..100"),
            "/~chef?user=a%20%26%20b&filter.color=red&filter.offers.price=50..100"
        );
        assert!(!cheap.toggled(&prices, "20..50").contains("price"));
        let ordered = cheap.ordered(Some(ItemOrder::Cheapest));
        assert!(ordered.ends_with("&filter.color=red&sort=cheapest"), "{ordered}");
        assert!(!cheap.ordered(None).contains("sort"));
        // Texts that look like ranges are none: several of them may be wanted.
        let rated = place(&[("contentRating", "16+")]).toggled(&of("contentRating"), "18+");
        assert_eq!(rated, "/~chef?user=a%20%26%20b&filter.contentRating=16%2B&filter.contentRating=18%2B");
        for (value, ends) in [
            ("20..50", Some(("20", Some("50")))),
            ("0.5..1", Some(("0.5", Some("1")))),
            ("4+", Some(("4", None))),
            ("a..b", None),
            ("nan..inf", None),
            ("C++", None),
            ("5", None),
        ] {
            assert_eq!(range(value), ends, "{value}");
        }
    }

    #[test]
    fn a_click_says_its_question_and_its_item_within_its_bound() {
        let place = place(&[]);
        let url = place.click("https://a.example/?x=1&y").unwrap();
        assert_eq!(url, "/~chef/click?question=a%20%26%20b&item=https%3A%2F%2Fa.example%2F%3Fx%3D1%26y");
        let room = CLICK_BYTES_MAX - place.click("").unwrap().len();
        assert!(place.click(&"x".repeat(room)).is_some() && place.click(&"x".repeat(room + 1)).is_none());
    }

    #[test]
    fn more_results_keep_what_was_chosen() {
        let url = place(&[("genre", "Drama")]).with_results(30);
        assert_eq!(url, "/~chef?user=a%20%26%20b&filter.genre=Drama&results=30");
        assert_eq!(place(&[("genre", "Drama")]).widest(), "/~chef?user=a%20%26%20b");
        assert!(place(&[]).decided().ends_with("&results=20&ask=no"));
    }
}
