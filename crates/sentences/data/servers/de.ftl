# What is said about signing in at servers behind the host. Values are plain text.

server-sign-in-title = Bei einem Server anmelden
server-sign-in-why = Programme, die über diesen Host als Sie fragen, können den Server „{ $server }“ in Ihrem Namen nutzen, sobald Sie sich dort angemeldet haben. Dieser Host bewahrt verschlüsselt auf, was er vom Server bekommt, zeigt es nur diesem Server und vergisst es, wenn Sie es hier sagen.
server-sign-in = Dort anmelden
server-signed-in-title = Sie sind dort angemeldet
server-signed-in-why = Dieser Host fragt den Server „{ $server }“ in Ihrem Namen, wenn Ihre Programme ihn aufrufen.
server-sign-in-anew = Dort neu anmelden
server-forget = Diese Anmeldung vergessen
server-signed-in-now = Der Server „{ $server }“ wird von nun an in Ihrem Namen gefragt. Sie können diese Seite schließen und zu dem Programm zurückkehren, das Sie hergeschickt hat.
server-see-sign-in = Diese Anmeldung ansehen oder beenden
server-forgotten-title = Vergessen
server-forgotten-why = Dieser Host fragt den Server „{ $server }“ nicht mehr in Ihrem Namen.
server-sign-in-again = Dort wieder anmelden
server-none-title = Nicht gefunden
server-none-why = An keinem Server dieses Namens melden sich Personen an.
server-begin-anew = Neu beginnen
server-failed-title = Dort nicht angemeldet
server-failure = { $kind ->
    [away] Der Anmeldedienst dieses Servers ist im Moment nicht erreichbar. Bitte versuchen Sie es später noch einmal.
    [invalid] Diese Anmeldung ist nicht gültig. Bitte beginnen Sie neu.
    [declined] Sie wurden dort nicht angemeldet.
    [stale] Diese Anmeldung ist abgelaufen, wurde schon benutzt oder von jemand anderem begonnen. Bitte beginnen Sie neu.
    [foreign] Das hat eine Seite einer anderen Website verlangt; es wurde nicht ausgeführt.
   *[other] Anmeldungen können im Moment nicht gespeichert werden. Bitte versuchen Sie es später noch einmal.
}
server-asks-people = Der Server `{ $server }` wird im Namen von Personen gefragt, die sich hier anmelden; Sie sind keine davon.
server-asks-you = Der Server `{ $server }` wird in Ihrem Namen gefragt: Melden Sie sich erst hier an.
server-asks-sign-in = Der Server `{ $server }` hinter diesem Host antwortet denen, die sich dort angemeldet haben. Bitte tun Sie das einmal, als Sie selbst:
