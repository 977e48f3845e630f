//! What pages of other origins may do, for agents whose cards let them in, as on every wire.

use forecourt_surface::cors::Cors;

pub(crate) const CORS: Cors = Cors {
    methods: "GET, POST, DELETE, OPTIONS",
    fields: "Content-Type, Accept, Accept-Language, Authorization, A2A-Version, A2A-Extensions, \
             X-A2A-Extensions, Last-Event-ID",
    exposed: "A2A-Extensions, X-A2A-Extensions, WWW-Authenticate, Retry-After",
};
