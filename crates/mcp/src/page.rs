//! Lists in pages, by a cursor that means nothing to clients.

use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

use crate::limits::PAGE_SIZE;

/// One page of a list that is the same for every caller of an endpoint.
#[derive(Debug)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<String>,
}

impl<T> Page<T> {
    /// The page that is asked for, the first without a cursor. Fails for cursors that are none of ours.
    pub(crate) fn of(all: Vec<T>, request: Option<PaginatedRequestParams>) -> Result<Self, ErrorData> {
        let wrong = || ErrorData::invalid_params("this cursor is not one of this list", None);
        let count = all.len();
        let from = match request.and_then(|request| request.cursor) {
            Some(cursor) => cursor.strip_prefix('p').and_then(|text| text.parse().ok()).ok_or_else(wrong)?,
            None => 0,
        };
        if from > count {
            return Err(wrong());
        }
        let items = all.into_iter().skip(from).take(PAGE_SIZE).collect();
        let next = from + PAGE_SIZE;
        Ok(Self { items, next: (next < count).then(|| format!("p{next}")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(count: usize, cursor: Option<&str>) -> Result<(usize, Option<String>), ErrorData> {
        let request = serde_json::from_value(serde_json::json!({"cursor": cursor})).expect("params");
        Page::of(vec![(); count], Some(request)).map(|page| (page.items.len(), page.next))
    }

    #[test]
    fn lists_come_in_pages() {
        assert_eq!(page(PAGE_SIZE, None).expect("a page"), (PAGE_SIZE, None));
        let (items, next) = page(PAGE_SIZE + 1, None).expect("a page");
        assert_eq!(items, PAGE_SIZE);
        assert_eq!(page(PAGE_SIZE + 1, next.as_deref()).expect("a page"), (1, None));
    }

    #[test]
    fn cursors_of_others_are_refused() {
        for cursor in ["", "p", "p-1", "100", "p101", "p99999999999999999999999"] {
            assert!(page(PAGE_SIZE, Some(cursor)).is_err(), "{cursor}");
        }
    }
}
