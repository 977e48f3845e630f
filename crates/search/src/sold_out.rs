//! What nobody can have at the moment: it is sold out, or the last day of all its offers has passed. Where all that was
//! found is gone, nothing fits: it is told, and not listed.

use forecourt_index::{Hit, Library, is_sold_out};
use forecourt_understanding::measure;
use serde_json::Value;

use super::boost;
use super::current;
use super::kind_named;
use super::request::SearchRequest;

/// What says until when something is offered.
const ENDS: [&str; 2] = ["validThrough", "availabilityEnds"];

/// Takes out what is gone, and gives it back. What is cheapest is so, whoever can have it, unless nobody can have any of
/// it.
pub(super) fn taken_out(library: &Library, asked: &SearchRequest, hits: &mut Vec<Hit>) -> Vec<Hit> {
    let is_out = |hit: &Hit| !hit.is_pinned && is_gone(asked, hit);
    let gone = hits.iter().filter(|hit| is_out(hit)).count();
    let stays = gone == 0 || (asked.order.is_some() && gone < hits.len());
    if stays || !asks_what_is_there(library, asked, hits) {
        return Vec::new();
    }
    let (gone, there) = std::mem::take(hits).into_iter().partition(is_out);
    *hits = there;
    gone
}

/// Whether a question asks for what can be had, and neither for one of these by its name nor for what is sold out.
fn asks_what_is_there(library: &Library, asked: &SearchRequest, hits: &[Hit]) -> bool {
    let is_named = |hit: &Hit| is_gone(asked, hit) && kind_named::says_name(library, &asked.text, hit);
    !asked.filters.iter().any(boost::asks_availability) && !hits.iter().any(is_named)
}

fn is_gone(asked: &SearchRequest, hit: &Hit) -> bool {
    let today = asked.current.as_ref().and_then(current::first_day);
    is_sold_out(&hit.item) || today.is_some_and(|today| has_ended(&hit.item, today))
}

/// Whether each offer of an item says until when it holds, and all of that is before a day.
fn has_ended(item: &Value, today: f64) -> bool {
    let offers = match item.get("offers") {
        Some(Value::Array(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => return false,
    };
    let end = |offer: &Value| ENDS.iter().find_map(|key| measure::quantity(key, offer.get(*key)?.as_str()?));
    !offers.is_empty() && offers.iter().all(|offer| end(offer).is_some_and(|end| end < today))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_offered_no_more_is_gone() {
        let day = measure::quantity("validThrough", "2026-12-05").unwrap_or_default();
        let ended = |offers: Value| has_ended(&json!({"offers": offers}), day);
        assert!(ended(json!({"validThrough": "2026-12-04"})));
        assert!(ended(json!([{"availabilityEnds": "2026-10-31"}, {"validThrough": "2026-12-04T20:00"}])));
        for there in [
            json!({"validThrough": "2026-12-05"}),
            json!([{"validThrough": "2026-12-04"}, {"price": 3}]),
            json!({"validThrough": "soon"}),
            json!([]),
            json!({"price": 3}),
        ] {
            assert!(!ended(there.clone()), "{there}");
        }
        assert!(!has_ended(&json!({"name": "x"}), day));
    }
}
