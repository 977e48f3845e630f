# What is said about signing in at servers behind the host. Values are plain text.

server-sign-in-title = Sign in at a server
server-sign-in-why = Programs that ask as you through this host can use the server “{ $server }” in your name once you have signed in there. This host keeps what the server gives it sealed, shows it to that server alone, and forgets it when you say so here.
server-sign-in = Sign in there
server-signed-in-title = You are signed in there
server-signed-in-why = This host asks the server “{ $server }” in your name when programs of yours call it.
server-sign-in-anew = Sign in there anew
server-forget = Forget this sign-in
server-signed-in-now = The server “{ $server }” is asked in your name from now on. You can close this page and go back to the program that sent you here.
server-see-sign-in = See or end this sign-in
server-forgotten-title = Forgotten
server-forgotten-why = This host does not ask the server “{ $server }” in your name any more.
server-sign-in-again = Sign in there again
server-none-title = Not found
server-none-why = At no server of this name do people sign in.
server-begin-anew = Begin anew
server-failed-title = Not signed in there
server-failure = { $kind ->
    [away] The sign-in service of this server can’t be asked at the moment. Please try again later.
    [invalid] This sign-in did not hold. Please begin it anew.
    [declined] You were not signed in there.
    [stale] This sign-in has ended, was used already, or was begun by somebody else. Please begin it anew.
    [foreign] This was asked by a page of another site, and was not done.
   *[other] Sign-ins can’t be kept at the moment. Please try again later.
}
server-asks-people = The server `{ $server }` is asked in the name of people who sign in here, and you are none.
server-asks-you = The server `{ $server }` is asked in your name: sign in here first.
server-asks-sign-in = The server `{ $server }` behind this host answers who has signed in there. Please do that once, as yourself:
