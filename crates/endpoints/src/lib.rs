//! What answers endpoints: compositions, functions and services elsewhere. Draft-hood-agtp-api-01
//! section 12.
//!
//! | module | sections | holds |
//! |---|---|---|
//! | [`composition`] | 12.1 | calls made of calls, through the host that they are a part of |
//! | [`function`] | 12.2 | functions of this program, and the seam for other sources of them |
//! | [`python`] | 12.2 | functions of a deployment, in processes of their own |
//! | [`external`] | 12.3 | services elsewhere, behind the contract of an endpoint |
//! | [`mod@load`] | 4.5, 9.4, 13.2 | the files of a deployment, and everything that is wrong with them |
//! | [`policy`] | 9 | the section `[endpoints]` |
//! | [`limits`] | | every bound, with its unit |

pub mod composition;
pub mod external;
pub mod function;
pub mod limits;
pub mod load;
pub mod policy;
pub mod python;
mod unfit;

pub use composition::Composition;
pub use external::External;
pub use function::{FunctionError, FunctionSource, Functions};
pub use load::{Kinds, LoadReport, RegistrationTerms, load};
pub use policy::EndpointPolicy;
pub use python::Python;
pub use unfit::HandlerProblem;
