//! Endpoints out of OpenAPI documents, and back. Draft-hood-agtp-api-01 section 14.1 and appendix A.3.
