//! A circle on the earth: what lies within so many kilometres of a point, and how far away it is.

use std::sync::Arc;

use serde_json::Value;
use tantivy::columnar::{Column, DynamicColumn, NumericalType};
use tantivy::{DocId, SegmentReader};

use super::passing::ColumnTest;
use crate::facts;
use crate::index::number_column;
use forecourt_understanding::{Filter, Test};

/// The mean radius of the earth.
const EARTH_KM: f64 = 6_371.0;

/// A limit of distance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Circle {
    /// The paths of latitudes.
    fields: Vec<String>,
    latitude: f64,
    longitude: f64,
    km: f64,
}

impl Circle {
    /// The one that a limit draws.
    pub(super) fn of(filter: &Filter) -> Option<Self> {
        let Test::Near { latitude, longitude, km } = filter.test else { return None };
        Some(Self { fields: filter.fields.clone(), latitude, longitude, km })
    }

    /// The test of what lies within it. A limit of distance is a band of latitudes too, which an index finds at once.
    pub(super) fn test(self) -> ColumnTest {
        Arc::new(move |reader| {
            let positions = Positions::of(reader, &self)?;
            Ok(Box::new(move |doc| positions.km(doc).is_some_and(|km| km <= positions.circle.km)))
        })
    }

    /// How far away the nearest of the positions is that an item states, in kilometres.
    pub(super) fn km_of(&self, item: &Value) -> Option<f64> {
        let (mut latitudes, mut longitudes) =
            (vec![Vec::new(); self.fields.len()], vec![Vec::new(); self.fields.len()]);
        facts::visit(item, |fact| {
            let Some(number) = fact.number else { return };
            for (at, field) in self.fields.iter().enumerate() {
                if *field == fact.path {
                    latitudes[at].push(number);
                } else if longitude_of(field) == fact.path {
                    longitudes[at].push(number);
                }
            }
        });
        let pairs = latitudes.iter().zip(&longitudes).flat_map(|(all, others)| all.iter().zip(others));
        pairs.map(|(latitude, longitude)| self.km_to(*latitude, *longitude)).reduce(f64::min)
    }

    /// The great-circle distance of a position, by the haversine formula.
    fn km_to(&self, latitude: f64, longitude: f64) -> f64 {
        let half = |degrees: f64| (degrees.to_radians() / 2.0).sin().powi(2);
        let scale = self.latitude.to_radians().cos() * latitude.to_radians().cos();
        let chord = half(latitude - self.latitude) + scale * half(longitude - self.longitude);
        2.0 * EARTH_KM * chord.clamp(0.0, 1.0).sqrt().asin()
    }
}

fn longitude_of(latitude: &str) -> String {
    latitude.strip_suffix("latitude").map_or_else(String::new, |start| format!("{start}longitude"))
}

/// The positions of the documents of one segment.
pub(super) struct Positions {
    circle: Circle,
    columns: Vec<(Column<f64>, Column<f64>)>,
}

impl Positions {
    pub(super) fn of(reader: &SegmentReader, circle: &Circle) -> tantivy::Result<Self> {
        let mut columns = Vec::new();
        for field in &circle.fields {
            if let (Some(latitude), Some(longitude)) = (column(reader, field)?, column(reader, &longitude_of(field))?) {
                columns.push((latitude, longitude));
            }
        }
        Ok(Self { circle: circle.clone(), columns })
    }

    /// How far away a document is, in kilometres.
    pub(super) fn km(&self, doc: DocId) -> Option<f64> {
        let pairs = self
            .columns
            .iter()
            .flat_map(|(latitudes, longitudes)| latitudes.values_for_doc(doc).zip(longitudes.values_for_doc(doc)));
        pairs.map(|(latitude, longitude)| self.circle.km_to(latitude, longitude)).reduce(f64::min)
    }
}

fn column(reader: &SegmentReader, path: &str) -> tantivy::Result<Option<Column<f64>>> {
    for handle in reader.fast_fields().dynamic_column_handles(&number_column(path))? {
        if let Some(DynamicColumn::F64(column)) = handle.open()?.coerce_numerical(NumericalType::F64) {
            return Ok(Some(column));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn distances_are_those_of_the_earth() {
        let porto = Circle { fields: vec!["geo.latitude".to_owned()], latitude: 41.1496, longitude: -8.611, km: 5.0 };
        assert!((porto.km_to(38.7223, -9.1393) - 274.0).abs() < 2.0, "Lisbon: {}", porto.km_to(38.7223, -9.1393));
        assert!(porto.km_to(41.1496, -8.611) < 1e-6);
        let pole = Circle { latitude: 90.0, longitude: 0.0, ..porto.clone() };
        assert!((pole.km_to(-90.0, 180.0) - 20_015.0).abs() < 2.0);
        let item = json!({"geo": {"latitude": 41.15, "longitude": -8.61}});
        assert!(porto.km_of(&item).is_some_and(|km| km < 0.2));
        assert_eq!(porto.km_of(&json!({"geo": {"latitude": 41.15}})), None);
    }
}
