//! This module seals a task's event log: each event by itself, bound to its number.

use forecourt_core::{Event, StoreError};

use crate::seal::{Hash, Label, Seal};
use crate::slim;

fn label<'a>(task: &'a Hash, n: &'a [u8; 8]) -> Label<'a> {
    Label { kind: "event", of: task, part: n }
}

/// Events sealed one by one, numbered from `first`.
pub(crate) fn seal_all(seal: &Seal, task: &Hash, first: u64, events: &[Event]) -> Result<Vec<Vec<u8>>, StoreError> {
    let numbered = (first..).zip(events);
    let sealed = |(n, event): (u64, &Event)| match event {
        Event::Part(_) => seal.seal(label(task, &n.to_be_bytes()), &slim::event(event)?),
        event => seal.seal(label(task, &n.to_be_bytes()), event),
    };
    numbered.map(sealed).collect()
}

/// Opens the event of this number.
pub(crate) fn open(seal: &Seal, task: &Hash, n: u64, sealed: Vec<u8>) -> Result<Event, StoreError> {
    seal.open(label(task, &n.to_be_bytes()), sealed)
}
