# What the pages say on which people decide: consents, payments, refusals and signing in. Values are plain text.

decision-asks-agreement = { $name } pide su consentimiento
decision-do-you-agree = ¿Está de acuerdo?
decision-what-you-agree-to = Lo que acepta
decision-who-asks = Quién lo pide
decision-how-long = Duración
decision-no-end = Sin fecha de fin
decision-only-who-asked = Solo la persona que preguntó puede decidir.
decision-sign-in-first = Inicie sesión primero como esa persona.
decision-signed-in-as = Ha iniciado sesión como { $name }.
decision-agree = Acepto
decision-disagree = No acepto
decision-after-consent = Si acepta, vuelve a { $name }, que responde a su pregunta. Si no, no pasa nada. Le queda este tiempo para decidir: { $time }.
decision-terms-too-long = Estas condiciones son demasiado largas para mostrarse aquí, así que no puede aceptarlas en esta página.
decision-asks-payment = { $name } pide un pago
decision-has-price = Esta respuesta tiene un precio
decision-costs = Esta respuesta cuesta { $price }
decision-not-taken = Ese pago no se aceptó.
decision-not-charged = No se le cobró nada, y puede intentarlo de nuevo.
decision-what-it-costs = Lo que cuesta
decision-price = Precio
decision-price-below = Según los detalles de abajo
decision-who-gets-it = Quién lo recibe
decision-pays-for = Qué se paga
decision-when-taken = Cuándo se cobra
decision-before-answer = Antes de la respuesta
decision-when-complete = Cuando la respuesta está completa; hasta entonces solo queda reservado
decision-how-to-pay = Cómo pagar
decision-pay-by-program = Dé esta dirección a un programa que pague con x402, como un monedero o su asistente. Paga el precio de arriba, una vez:
decision-paste = Tengo un pago firmado para pegar
decision-signed-payment = El pago firmado, tal como lo escribió su programa
decision-payment-form = En JSON, o lo mismo en base64 como en el encabezado X-PAYMENT.
decision-pay = Pagar { $price }
decision-cannot-pay-here = Aquí no se puede aceptar este pago en una página. Quizá pueda el programa con el que preguntó.
decision-way-details = { $way }: los detalles
decision-no-thanks = No, gracias
decision-after-payment = En cuanto llegue el pago, { $name } responde a su pregunta. Se le cobra una vez como máximo. Le queda este tiempo para decidir: { $time }.
decision-after-check = En cuanto se compruebe el pago, { $name } responde a su pregunta. Se le cobra cuando la respuesta está completa, una vez como máximo. Le queda este tiempo para decidir: { $time }.
decision-covers-turn = La respuesta a esta única pregunta
decision-covers-period = Todas sus preguntas durante { $time }
decision-covers-credit = Sus preguntas hasta que se agote: lo que pague por encima del precio queda como crédito
decision-agreed = Ha aceptado
decision-can-answer = { $name } ya puede responder a su pregunta.
decision-paid = Pagado
decision-arrived = El pago ha llegado.
decision-reserved = Reservado
decision-taken-later = El pago está comprobado y todavía no se ha cobrado nada: se cobra cuando la respuesta está completa.
decision-get-answer = Ver la respuesta
decision-go-back = Vuelva a donde preguntó y envíe su pregunta de nuevo.
decision-said-no = Ha dicho que no
decision-nothing-agreed = No se aceptó nada, y su pregunta no tuvo respuesta.
decision-nothing-paid = No se pagó nada, y su pregunta no tuvo respuesta.
decision-changed-mind = Si cambia de opinión, pregunte de nuevo a { $name }.
decision-back-to = Volver a { $name }
decision-being-confirmed = Su pago se está confirmando
decision-no-word-yet = Se envió, y aún no se sabe si ha llegado. No pague de nuevo: en esta página se cobra una vez como máximo.
decision-look-again = Mirar otra vez
decision-the-terms = Las condiciones
decision-too-many-messages = Ha hecho tantas preguntas como puede hacer una persona en una hora. Inténtelo de nuevo más tarde.
decision-auto-deduct = Se descuenta de su crédito sin volver a preguntar
decision-per-turn-max = Máximo por pregunta, en dólares estadounidenses
decision-per-period-max = Máximo por periodo, en dólares estadounidenses
decision-pay-to = Se paga a
decision-amount = Importe, en la unidad más pequeña
decision-settled-within = Segundos para liquidarlo

span-seconds = { $count ->
    [one] 1 segundo
   *[other] { $count } segundos
}
span-minutes = { $count ->
    [one] 1 minuto
   *[other] { $count } minutos
}
span-hours = { $count ->
    [one] 1 hora
   *[other] { $count } horas
}
span-days = { $count ->
    [one] 1 día
   *[other] { $count } días
}

refusal-try-again-in = Inténtelo de nuevo en { $time }.
refusal-too-fast = Pregunta más deprisa de lo que permite este host.
refusal-credentials = Credenciales aceptadas
refusal-right = Lo correcto sería
refusal-declined = Este agente lo rechazó.
refusal-title = { $kind ->
    [consent_required] Se necesita su consentimiento
    [unauthorized] Es necesario iniciar sesión
    [payment_required] Es necesario pagar
    [forbidden] No permitido
    [too_many_requests] Demasiadas solicitudes
    [unavailable_for_legal_reasons] No disponible por motivos legales
    [service_unavailable] Servicio no disponible
   *[other] Rechazado
}
refusal-action = { $kind ->
    [unauthorized] Iniciar sesión
    [payment_required] Pagar ahora
    [unavailable_for_legal_reasons] Quién lo bloquea
   *[other] Continuar
}

account-signed-in = Sesión iniciada
account-signed-out = Sesión cerrada
account-signed-out-here = Ha cerrado la sesión en este sitio.
account-sign-in-again = Iniciar sesión de nuevo
account-sign-out-there = Cerrar también la sesión en el servicio de acceso
account-failure-title = { $kind ->
    [not_offered] Esta página no existe
    [unavailable] El acceso no está disponible
    [stale] Inicie sesión de nuevo
    [not_verified] Sesión no iniciada
    [not_allowed] Esta cuenta no tiene acceso
   *[other] Solicitud no válida
}
account-failure = { $kind ->
    [not_offered] En este sitio no se inicia sesión.
    [return_to] La dirección de regreso no es de este sitio.
    [unavailable] El servicio de acceso no está disponible en este momento. Su pregunta se conserva: inténtelo de nuevo enseguida.
    [stale] Este inicio de sesión ya se usó, tardó demasiado o se empezó en otro navegador.
    [declined] El servicio de acceso no inició su sesión.
    [invalid] No se pudo verificar la respuesta del servicio de acceso, así que no se inició la sesión.
    [not_allowed] Su cuenta no es de las que pueden iniciar sesión aquí.
    [foreign] Esta solicitud no viene de una página de este sitio.
    [form] Este formulario es demasiado largo o no ha llegado entero.
   *[other] En este momento no se puede iniciar ni cerrar la sesión. Inténtelo de nuevo enseguida.
}

held-title = Consentimientos y pagos
held-by-browser = Nadie ha iniciado sesión. Estos son los consentimientos que guarda este navegador, en una cookie que no dice nada de usted.
held-by-nobody = Nadie ha iniciado sesión, y este navegador no guarda aquí ningún consentimiento.
held-nothing = Aquí no se ha aceptado ni pagado nada.
held-consents = Lo que ha aceptado
held-payments = Lo que ha pagado
held-credit = Crédito restante
held-given-on = Aceptado el
held-paid-on = Pagado el
held-until = Válido hasta
held-status = Estado
held-state = { $state ->
    [holds] Válido
    [over] Terminado
    [unused] Pagado y aún sin usar
    [pending] En confirmación
    [given_back] Devuelto
   *[paid] Pagado
}
held-transaction = Transacción
held-withdraw = Retirar
held-withdraw-all = Retirar todo
held-export = Descargar como JSON
held-newest = Se muestran los { $count } más recientes.
held-sign-out-everywhere = Cerrar sesión en todas partes

page-failure-title = { $code ->
    [agent-not-found] Este agente no existe
    [not-found] No encontrado
    [task-not-found] Esta tarea no existe
    [already-answered] Ya respondida
    [unavailable] No disponible
    [forbidden] No permitido
    [too-large] Demasiado grande
    [agent-failed] El agente no pudo responder
    [gone] Ya no está
    [idempotency-unsettled] Ya está en curso
    [idempotency-key-reused] Clave ya usada
    [state-conflict] No encaja con el estado actual
    [bad-request] Esta petición está mal formada
    [method-not-allowed] Este método no existe aquí
    [not-acceptable] No hay respuesta en esta forma
    [unsupported-media-type] Aquí no se lee este tipo de contenido
    [request-timeout] Demasiado lento
    [storage-quota-exceeded] Demasiado guardado
    [storage-full] No queda sitio
    [sign-in-needed] Primero inicie sesión
    [declined] El agente ha rechazado
    [server-error] Error en este lado
   *[other] No ha funcionado
}
page-failure-message = { $code ->
    [agent-not-found] Aquí no hay ningún agente con ese nombre.
    [not-found] En esta dirección no hay nada, o ya no lo hay.
    [task-not-found] La tarea no se encontró, o su plazo ha pasado.
    [already-answered] Esta pregunta ya tuvo respuesta, y lo que se hizo por ella está consumido.
   *[unavailable] Hay demasiada actividad aquí en este momento. Inténtelo de nuevo enseguida.
}
decision-open-consent = Aceptar
decision-open-payment = Pagar
decision-open-sign-in = Iniciar sesión
chat-told-directly = Le he escrito directamente: es solo para usted.
chat-encrypted = No puedo leer aquí, porque esta sala está cifrada. Escríbame en una sala sin cifrado.
file-by-link = El archivo { $file } ({ $size }) se abre con [este enlace]({ $url }), para quien lo tenga, hasta las { $until }.
file-not-sent = El archivo { $file } ({ $size }) no se ha podido enviar.
files-not-sent = { $count ->
    [one] Un archivo más no se ha enviado.
   *[other] { $count } archivos más no se han enviado.
}
file-not-taken = Su archivo { $file } no se ha aceptado: tiene { $size }, y como máximo son posibles { $max }.
