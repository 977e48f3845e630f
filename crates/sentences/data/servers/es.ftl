# What is said about signing in at servers behind the host. Values are plain text.

server-sign-in-title = Iniciar sesión en un servidor
server-sign-in-why = Los programas que preguntan en su nombre a través de este host pueden usar el servidor «{ $server }» en su nombre en cuanto haya iniciado sesión allí. Este host guarda cifrado lo que el servidor le da, solo lo muestra a ese servidor y lo olvida cuando usted lo indique aquí.
server-sign-in = Iniciar sesión allí
server-signed-in-title = Ha iniciado sesión allí
server-signed-in-why = Este host pregunta al servidor «{ $server }» en su nombre cuando sus programas lo llaman.
server-sign-in-anew = Iniciar sesión allí de nuevo
server-forget = Olvidar este inicio de sesión
server-signed-in-now = A partir de ahora se pregunta al servidor «{ $server }» en su nombre. Puede cerrar esta página y volver al programa que le envió aquí.
server-see-sign-in = Ver o terminar este inicio de sesión
server-forgotten-title = Olvidado
server-forgotten-why = Este host ya no pregunta al servidor «{ $server }» en su nombre.
server-sign-in-again = Volver a iniciar sesión allí
server-none-title = No encontrado
server-none-why = En ningún servidor con este nombre se inicia sesión.
server-begin-anew = Empezar de nuevo
server-failed-title = No ha iniciado sesión allí
server-failure = { $kind ->
    [away] El servicio de inicio de sesión de este servidor no está disponible en este momento. Inténtelo de nuevo más tarde.
    [invalid] Este inicio de sesión no es válido. Empiece de nuevo.
    [declined] No se inició su sesión allí.
    [stale] Este inicio de sesión ha caducado, ya se usó o lo empezó otra persona. Empiece de nuevo.
    [foreign] Lo pidió una página de otro sitio y no se hizo.
   *[other] En este momento no se pueden guardar los inicios de sesión. Inténtelo de nuevo más tarde.
}
server-asks-people = Al servidor `{ $server }` se le pregunta en nombre de personas que inician sesión aquí, y usted no es una de ellas.
server-asks-you = Al servidor `{ $server }` se le pregunta en su nombre: inicie sesión aquí primero.
server-asks-sign-in = El servidor `{ $server }` detrás de este host responde a quien ha iniciado sesión allí. Hágalo una vez, como usted mismo:
