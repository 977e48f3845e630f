//! The pages on which people sign in at servers behind this host.
//!
//! | what | module |
//! |---|---|
//! | what they say and do | `page` |
//! | their routes | `surface` |

mod page;
mod surface;

pub(crate) use page::SignInPages;
pub(crate) use surface::routes;
