# What the page says on which people pay, and its script. Values are plain text.

pay-price-on = { $price } en { $networks }
pay-either = { $one } o { $other }
pay-time-left = Se puede pagar durante
pay-with-wallet = Pagar con un monedero
pay-wallet-about = Su monedero muestra lo que firma y le pregunta antes. Usted firma que el precio puede ir a esta cuenta, una sola vez, y nada más. Firmar no cuesta comisión:
pay-choose-wallet = Elija su monedero
pay-choose-network = Elija la red
pay-choose-amount = Elija cuánto
pay-amount = { $count ->
    [one] { $price }: esta pregunta
   *[other] { $price }: esta pregunta y { $others } más
}
pay-needs-script = Los monederos de este navegador necesitan el script de esta página. Sin él, le quedan los caminos de abajo.
pay-looking = Buscando monederos en este navegador…
pay-no-wallet = No hay ningún monedero en este navegador. Abra esta página en el navegador de una aplicación de monedero, por ejemplo en su teléfono.
pay-browser-wallet = El monedero de este navegador
pay-connecting = { $wallet } le pregunta si esta página puede ver su cuenta.
pay-switching = { $wallet } le pregunta si cambiar a { $network }.
pay-adding = { $wallet } le pregunta si añadir { $network }.
pay-checking = Mirando cuánto hay en la cuenta…
pay-signing = { $wallet } le pide que firme que { $price } pueden ir a { $payee }, hasta las { $time }.
pay-sending = Firmado. Se está comprobando el pago…
pay-silent = { $wallet } aún no ha contestado. Quizá esté bloqueado, o le espere en una ventana propia; con un monedero físico esto tarda minutos. Esta página espera.
pay-cancel = Cancelar
pay-try-again = Intentarlo de nuevo
pay-send-again = Enviarlo de nuevo
pay-declined = Ha dicho que no en el monedero. No se firmó ni se pagó nada.
pay-cancelled = Ha cancelado. Si el monedero aún pregunta, diga que no: lo que se firme ahora no se usa.
pay-busy = El monedero ya tiene una pregunta abierta. Contéstela allí e inténtelo de nuevo.
pay-locked = El monedero no muestra ninguna cuenta a esta página. Desbloquéelo e inténtelo de nuevo.
pay-wrong-network = El monedero está en otra red. Cámbielo a { $network } e inténtelo de nuevo.
pay-unknown-network = El monedero no conoce { $network }. Añádala allí e inténtelo de nuevo.
pay-too-little = La cuenta tiene { $has }, y se piden { $price }. Elija otra cuenta en el monedero o recárguela. No se pagó nada.
pay-too-late = La firma llegó cuando su tiempo había pasado, y no se usa. No se pagó nada: firme de nuevo.
pay-wallet-failed = El monedero no pudo hacerlo. No se pagó nada.
pay-unsent = El pago firmado no llegó aquí. Envíelo de nuevo: se toma una vez como máximo.
pay-unanswered = El pago no se tomó ahora mismo. Envíelo de nuevo: se toma una vez como máximo.
pay-refused = { $code ->
    [INSUFFICIENT_FUNDS] La cuenta tiene demasiado poco. No se tomó nada.
    [INVALID_SIGNATURE] La firma no es la de la cuenta. No se tomó nada.
    [EXPIRED_PAYMENT] El tiempo de la firma ha pasado. No se tomó nada: firme de nuevo.
    [DUPLICATE_NONCE] Este pago ya se usó. Ahora no se tomó nada.
   *[other] El pago no se pudo comprobar. No se tomó nada.
}
pay-paid-now = Pagado. Aquí llega la respuesta…
pay-reserved-now = Reservado. Aquí llega la respuesta, y el dinero se toma cuando esté completa…
pay-paid-elsewhere = Ya se pagó, en otra pestaña o ventana. No hay nada más que pagar.
pay-pending-elsewhere = Se envió un pago en otra pestaña o ventana, y se está confirmando. No pague otra vez.
pay-over = El tiempo para pagar aquí ha pasado. No se pagó nada: pregunte de nuevo y tendrá una oferta nueva.
pay-ask-again = Preguntar de nuevo
pay-with-phone = Pagar con un teléfono
pay-phone-about = Escanee esto con una aplicación de monedero, o con la cámara y ábralo en el navegador de una. Es la dirección de esta página, y quien la tiene puede pagar aquí.
pay-qr = Código QR con la dirección de esta página
pay-by-program = Pagar con un programa
pay-credit-left = Su crédito
pay-with-card = Pagar con tarjeta
pay-by-card = Pagar { $price } con tarjeta
pay-card-about = Usted paga en una página de nuestro proveedor de pagos y vuelve aquí. Este sitio nunca ve su tarjeta.
pay-card-after = Usted paga en una página de nuestro proveedor de pagos y vuelve aquí. Este sitio nunca ve su tarjeta. El importe se reserva en ella y se cobra cuando la respuesta está completa.
pay-card-begun = Usted empezó a pagar con tarjeta; hasta ahora no se ha pagado nada allí.
pay-card-on = Continuar con el pago con tarjeta
