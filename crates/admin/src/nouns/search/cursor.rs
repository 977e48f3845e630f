//! Where a search goes on: a place in each of its sources, as text.

use super::sources::{Place, SOURCES};
use crate::api_error::ApiError;

/// A place in each source, in their order; none in one that is at its end, or not asked.
pub(super) type Places = [Option<Place>; SOURCES.len()];

/// What stands for no place.
const OVER: &str = "x";

pub(super) fn write(places: &Places) -> String {
    let one = |place: &Option<Place>| {
        place.map_or_else(|| OVER.to_owned(), |Place { number, within }| format!("{number}.{within}"))
    };
    places.iter().map(one).collect::<Vec<_>>().join("_")
}

pub(super) fn read(text: &str) -> Result<Places, ApiError> {
    let wrong = || ApiError::invalid("`cursor` is none that a search gave").hint("begin without one");
    let mut places = Places::default();
    let mut parts = text.split('_');
    for place in &mut places {
        *place = match parts.next().ok_or_else(wrong)? {
            OVER => None,
            part => {
                let (number, within) = part.split_once('.').ok_or_else(wrong)?;
                let number = number.parse().map_err(|_| wrong())?;
                Some(Place { number, within: within.parse().map_err(|_| wrong())? })
            }
        };
    }
    if parts.next().is_some() { Err(wrong()) } else { Ok(places) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_nothing_else_is_one() {
        let places = [Some(Place { number: 7, within: 3 }), None, Some(Place::START), None, None, None];
        assert_eq!(read(&write(&places)).unwrap(), places);
        let long = "9".repeat(10_000);
        for odd in ["", "x", "x_x_x_x_x", "x_x_x_x_x_x_x", "1_x_x_x_x_x", "-1.0_x_x_x_x_x", "1.a_x_x_x_x_x", &long] {
            assert!(read(odd).is_err(), "{odd}");
        }
    }
}
