//! Every sentence about signing in at servers behind the host, with the values that it takes.

use fluent_bundle::FluentArgs;

use crate::sentences::{Sentences, sentences};

sentences! { SERVER_METHODS;
    /// The heading of the page on which people sign in at a server.
    server_sign_in_title = "server-sign-in-title" ();
    /// What a sign-in there means.
    server_sign_in_why = "server-sign-in-why" (server: &str);
    /// The link that signs in there.
    server_sign_in = "server-sign-in" ();
    /// Somebody is signed in there.
    server_signed_in_title = "server-signed-in-title" ();
    /// What that means.
    server_signed_in_why = "server-signed-in-why" (server: &str);
    /// The link that signs in there once more.
    server_sign_in_anew = "server-sign-in-anew" ();
    /// The button that ends it.
    server_forget = "server-forget" ();
    /// Somebody has just signed in there.
    server_signed_in_now = "server-signed-in-now" (server: &str);
    /// The link to what is kept of it.
    server_see_sign_in = "server-see-sign-in" ();
    /// A sign-in was forgotten.
    server_forgotten_title = "server-forgotten-title" ();
    /// What that means.
    server_forgotten_why = "server-forgotten-why" (server: &str);
    /// The link that signs in there again.
    server_sign_in_again = "server-sign-in-again" ();
    /// There is no such server.
    server_none_title = "server-none-title" ();
    /// The same in a sentence.
    server_none_why = "server-none-why" ();
    /// The link that begins once more.
    server_begin_anew = "server-begin-anew" ();
    /// A sign-in came to nothing.
    server_failed_title = "server-failed-title" ();
    /// Why it did.
    server_failure = "server-failure" (kind: &str);
    /// The refusal of a caller who is no person.
    server_asks_people = "server-asks-people" (server: &str);
    /// The refusal of a caller who is not known.
    server_asks_you = "server-asks-you" (server: &str);
    /// The refusal of a caller who has not signed in there.
    server_asks_sign_in = "server-asks-sign-in" (server: &str);
}
