//! The endpoints and recipes of `examples/hotel`, with functions that answer at once.

use std::path::Path;
use std::sync::Arc;

use forecourt_contract::{Dispatcher, Failure, HostHandle, Invocation};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_endpoints::{EndpointPolicy, Functions, Kinds, load};
use forecourt_settings::Section;
use serde_json::json;

/// The endpoints.
pub fn endpoints() -> Arc<Dispatcher> {
    let look = |_: Invocation| async { Ok::<_, Failure>(json!({"beds": 2, "price": 95})) };
    let book = |call: Invocation| async move {
        match call.input["room_id"] == "13" {
            true => Err(Failure::named("no_such_room", "There is no such room.")),
            false => Ok(json!({"reservation_id": "r-1", "nights": call.input.get("nights").unwrap_or(&json!(1))})),
        }
    };
    let functions = Functions::new().with("rooms.look", look).with("rooms.book", book);
    let egress = Egress::builder(EgressConfig::default()).build().expect("a way out");
    let kinds = Kinds { egress, functions, host: HostHandle::default() };
    let section = Section::parse(Path::new("forecourt.toml"), "", &|_: &str| None).expect("a section");
    let terms = EndpointPolicy::read(&section).unwrap_or_else(|wrong| panic!("{wrong}")).terms;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/hotel");
    let loaded = load(&folder, terms, &|_: &str| None, &kinds);
    assert!(loaded.refused.is_empty(), "{}", loaded.refused);
    loaded.dispatcher
}
