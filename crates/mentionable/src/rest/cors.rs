//! What pages of other origins may do over this transport: exactly the listed values. REST 8.6.

use forecourt_surface::cors::Cors;

pub(crate) const CORS: Cors = Cors {
    methods: "GET, POST, OPTIONS",
    fields: "Content-Type, Accept, Accept-Language, Authorization, Signature, Signature-Input, \
             Mentionable-Identity-Evidence, Mentionable-Identity, X-Mentionable-Identity, X-Mentionable-From",
    exposed: "X-Mentionable-Agent, X-Mentionable-Session, Content-Language",
};
