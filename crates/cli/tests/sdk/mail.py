"""Mail with real parts of other people: DNS (dnspython), DKIM (dkimpy), LMTP (smtplib), SMTP (aiosmtpd).

Started with a folder and a scenario. Says on its first line where DNS and SMTP are, reads one line with the
port of LMTP, and then plays the scenario against it."""

import base64
import email
import email.policy
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from email.utils import formatdate
from smtplib import LMTP, SMTPDataError, SMTPRecipientsRefused, SMTPResponseException, SMTPSenderRefused
from urllib.request import HTTPRedirectHandler, Request, build_opener, HTTPSHandler

import dkim
import dns.flags
import dns.message
import dns.rcode
import dns.rrset
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult

PATIENCE = 60
# RFC 6761 6.3, which not every machine knows.
resolve = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **named: resolve("127.0.0.1" if str(host).endswith(".localhost") else host, *more, **named)
HOST = "demo.localhost"
records = {}
lost = set()


def key(folder, name, kind):
    path = os.path.join(folder, name)
    command = ["openssl", "genpkey", "-out", path, "-algorithm"]
    command += ["ed25519"] if kind == "ed25519" else ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
    subprocess.run(command, check=True, capture_output=True)
    public = subprocess.run(["openssl", "pkey", "-in", path, "-pubout", "-outform", "DER"], check=True, capture_output=True).stdout
    # RFC 8463: the bare key of Ed25519, RFC 6376: all of that of RSA.
    public = public[-32:] if kind == "ed25519" else public
    return path, f"v=DKIM1; k={kind}; p={base64.b64encode(public).decode()}"


class Names(threading.Thread):
    """A DNS server that knows TXT records and nothing else."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def run(self):
        while True:
            query, peer = self.socket.recvfrom(4096)
            query = dns.message.from_wire(query)
            name = query.question[0].name.to_text().lower()
            if any(name.endswith(suffix) for suffix in lost):
                continue
            answer = dns.message.make_response(query)
            answer.flags |= dns.flags.RA | dns.flags.AA
            text = records.get(name)
            if text is None:
                answer.set_rcode(dns.rcode.NXDOMAIN)
            else:
                pieces = " ".join(f'"{text[at:at + 200]}"' for at in range(0, len(text), 200))
                answer.answer.append(dns.rrset.from_text(name, 300, "IN", "TXT", pieces))
            self.socket.sendto(answer.to_wire(max_size=65535), peer)


class Inbox:
    def __init__(self):
        self.came = []
        self.refuse = None
        self.refused = 0

    def wait_refused(self):
        until = time.time() + PATIENCE
        while not self.refused:
            assert time.time() < until, "nothing was handed over"
            time.sleep(0.05)

    async def handle_DATA(self, server, session, envelope):
        if self.refuse:
            self.refused += 1
            return self.refuse
        self.came.append(bytes(envelope.content))
        return "250 OK"

    def wait(self, count=1, patience=PATIENCE):
        until = time.time() + patience
        while len(self.came) < count:
            assert time.time() < until, f"{len(self.came)} of {count} mails came"
            time.sleep(0.05)
        taken, self.came = self.came[:count], self.came[count:]
        return taken

    def one(self):
        raw = self.wait()[0]
        return raw, email.message_from_bytes(raw, policy=email.policy.default)


inbox = Inbox()
sequence = iter(range(10**9))


def compose(sender="ann@sender.example", to=f"parrot@{HOST}", text="What is for dinner?", subject="Dinner", **fields):
    message = EmailMessage()
    message["From"] = f"Ann Lee <{sender}>"
    message["To"] = to
    message["Subject"] = subject
    message["Date"] = formatdate()
    message["Message-ID"] = f"<{next(sequence)}.{time.time_ns()}@sender.example>"
    for name, value in fields.items():
        message[name.replace("_", "-")] = value
    message.set_content(text)
    return message


def signed(message, domain="sender.example", selector="ed", include=None, **more):
    raw = message if isinstance(message, bytes) else message.as_bytes(policy=email.policy.SMTP)
    kind = b"ed25519-sha256" if selector == "ed" else b"rsa-sha256"
    pem = open(keys[selector], "rb").read()
    if selector == "ed":
        pem = base64.b64encode(base64.b64decode(b"".join(pem.splitlines()[1:-1]))[-32:])
    include = include or [b"from", b"to", b"subject", b"date", b"message-id", b"in-reply-to", b"references"]
    present = [name for name in include if name.lower() in raw.lower()]
    return dkim.sign(raw, selector.encode(), domain.encode(), pem, include_headers=present, signature_algorithm=kind,
                     canonicalize=(b"relaxed", b"relaxed"), **more) + raw


def send(raw, to=f"parrot@{HOST}", sender="ann@sender.example"):
    """The reply for one recipient: (code, words)."""
    recipients = [to] if isinstance(to, str) else to
    try:
        with LMTP("127.0.0.1", lmtp, local_hostname="mx.test", timeout=PATIENCE) as client:
            refused = client.sendmail(sender, recipients, raw)
            return refused.get(recipients[0], (250, b""))
    except SMTPRecipientsRefused as error:
        return error.recipients[recipients[0]]
    except (SMTPDataError, SMTPSenderRefused) as error:
        return error.smtp_code, error.smtp_error


def text_records(name, timeout=5):
    name = name.decode() if isinstance(name, bytes) else name
    return records.get(name.lower().rstrip(".") + ".", "").encode()


def taken(raw, **more):
    code, words = send(raw, **more)
    assert code == 250, (code, words)


def refused(code, raw, word=None, **more):
    got, words = send(raw, **more)
    assert got == code, (got, words, code)
    assert word is None or word.encode() in words, words


def plain(message):
    return message.get_body(("plain",)).get_content()


def answers():
    question = compose(text="What is for dinner?\n\nOn Mon, 1 Jan 2024 at 10:00, Bob <bob@x.example> wrote:\n> soup?\n> yes\n\n-- \nAnn\n")
    taken(signed(question))
    raw, answer = inbox.one()
    assert "You said: What is for dinner? (0 before, @ann@sender.example, email-dmarc, address)" in plain(answer), plain(answer)
    assert "soup" not in plain(answer) and "Ann Lee" not in plain(answer)
    assert answer["In-Reply-To"] == question["Message-ID"] == answer["References"], answer.items()
    assert answer["Auto-Submitted"] == "auto-replied" and answer["X-Forecourt-Loop"] == HOST
    assert answer["Subject"] == "Re: Dinner" and answer["To"] == "ann@sender.example"
    assert answer["From"] == f"Parrot <parrot@{HOST}>", answer["From"]
    assert "<p>You said" in answer.get_body(("html",)).get_content()
    assert dkim.verify(raw, dnsfunc=text_records), "our signature holds for others"
    assert not dkim.verify(raw.replace(b"You said", b"You sold"), dnsfunc=text_records)
    # The same conversation, by the id of the answer.
    again = compose(text="And then?\n\n" + "\n".join("> " + line for line in plain(answer).splitlines()),
                    In_Reply_To=answer["Message-ID"], References=f'{question["Message-ID"]} {answer["Message-ID"]}')
    taken(signed(again))
    _, second = inbox.one()
    assert "You said: And then? (2 before" in plain(second), plain(second)
    assert second["References"].split() == [question["Message-ID"], answer["Message-ID"], again["Message-ID"]]
    # The id of the question alone can be guessed, and is nobody's way in.
    taken(signed(compose(text="Hi", In_Reply_To=question["Message-ID"], References=question["Message-ID"])))
    assert "(0 before" in plain(inbox.one()[1])
    # Nor does somebody else go on with it, though the answer was forwarded.
    other = compose(sender="eve@sender.example", text="Hi", In_Reply_To=answer["Message-ID"])
    taken(signed(other), sender="eve@sender.example")
    assert "(0 before, @eve@sender.example" in plain(inbox.one()[1])
    # RSA, and a domain without a DMARC policy.
    plainly = compose(sender="joe@plain.example", text="Hi")
    taken(signed(plainly, domain="plain.example", selector="rsa"))
    assert "email-dkim, address)" in plain(inbox.one()[1])
    # A subdomain speaks for its owner where a policy says so: for the domain, not for the mailbox.
    taken(signed(compose(text="Hi"), domain="mail.sender.example"))
    assert "email-dmarc, domain)" in plain(inbox.one()[1])
    # What stands behind a plus sorts somebody's mail: it is the same agent.
    tagged = f"parrot+dinner@{HOST}"
    taken(signed(compose(to=tagged, text="Hi")), to=tagged)
    _, told = inbox.one()
    assert told["From"] == f"Parrot <parrot@{HOST}>" and "You said: Hi" in plain(told), plain(told)
    # A mail server that hands over the same message again gets no second answer.
    taken(signed(again))
    html = compose()
    html.set_content("<p>Caf&eacute; <b>today</b>?</p><script>evil()</script><blockquote>old words</blockquote>", subtype="html")
    taken(signed(html))
    told = plain(inbox.one()[1])
    assert "Café today ?" in told.replace("  ", " ") or "Café today?" in told, told
    assert "evil" not in told and "old words" not in told, told
    latin = compose(text="Grüße aus Köln", subject="Frühstück")
    latin.set_content("Grüße aus Köln", charset="iso-8859-1")
    taken(signed(latin))
    _, told = inbox.one()
    assert "Grüße aus Köln" in plain(told) and told["Subject"] == "Re: Frühstück", plain(told)
    with_file = compose(text="See this")
    with_file.add_attachment(b"\x00\x01", maintype="image", subtype="png", filename="../../etc/passwd.png")
    taken(signed(with_file))
    assert "file image/png .._.._etc_passwd.png 2" in plain(inbox.one()[1])
    assert not inbox.came


def forged():
    raw = compose().as_bytes(policy=email.policy.SMTP)
    refused(550, raw, "5.7.22")
    refused(550, signed(compose(), domain="evil.example"), "5.7.22")
    refused(550, signed(compose(sender="a@plain.example"), domain="mail.plain.example"), "5.7.22")
    good = signed(compose())
    refused(550, good.replace(b"dinner", b"supper"), "5.7.22")
    refused(550, good.replace(b"From: Ann Lee <ann@", b"From: Ann Lee <bob@"), "5.7.22")
    # Somebody else's message, sent on to an agent that it was not for.
    refused(550, signed(compose(to="joe@else.example")), "recipients")
    refused(550, signed(compose(), include=[b"from", b"subject", b"date"]), "recipients")
    refused(550, signed(compose(), length=True), "5.7.22")
    # Two authors, of which one signed.
    refused(550, b"From: Eve <eve@evil.example>\r\n" + good, "twice")
    refused(550, b"Subject: Send money\r\n" + good, "twice")
    refused(550, good.replace(b"Ann Lee <ann@sender.example>", b"ann@sender.example, eve@evil.example"), "From")
    old = compose()
    del old["Date"]
    old["Date"] = formatdate(time.time() - 8 * 86400)
    refused(550, signed(old).replace(b" t=", b" y="), "5.7.22")
    lost.add("lost.example.")
    refused(451, signed(compose(sender="ann@lost.example"), domain="lost.example"), "DNS")
    refused(550, good, to=f"nobody@{HOST}", word="5.1.1")
    refused(550, good, to=f"nobody+parrot@{HOST}", word="5.1.1")
    refused(550, good, to=f"+parrot@{HOST}", word="5.1.1")
    refused(550, good, to="joe@else.example", word="5.7.1")
    refused(550, b"\r\n\r\nno head\r\n")
    # Whoever is refused by the agent is told at once, and by mail only who was proven.
    taken(signed(compose(to=f"vip@{HOST}")), to=f"vip@{HOST}")
    _, answer = inbox.one()
    assert "not for everybody" in plain(answer), plain(answer)
    time.sleep(0.5)
    assert not inbox.came, "nothing is ever sent to a forged address"


def loops():
    for name, value in [("Auto-Submitted", "auto-replied"), ("Precedence", "bulk"), ("List-Id", "<x.example>"),
                        ("X-Forecourt-Loop", "elsewhere.example"), ("X-Auto-Response-Suppress", "All")]:
        taken(signed(compose(**{name.replace("-", "_"): value})))
    taken(signed(compose()), sender="")
    taken(signed(compose(sender="mailer-daemon@sender.example")))
    # Our own answer, come back.
    taken(signed(compose(text="first")))
    raw, answer = inbox.one()
    taken(raw)
    taken(signed(compose(text="last", Auto_Submitted="no")))
    assert "last" in plain(inbox.one()[1])
    assert not inbox.came


def bounds():
    huge = signed(compose(text="x" * 1100 + "\n" + ("y" * 70 + "\n") * 16000))
    assert len(huge) > 1024 * 1024
    refused(552, huge)
    # Without a word about its size before.
    with socket.create_connection(("127.0.0.1", lmtp)) as line:
        file = line.makefile("rwb")

        def say(text):
            file.write(text)
            file.flush()
            while True:
                got = file.readline()
                if got[3:4] == b" " or not got:
                    return got
        assert file.readline().startswith(b"220 ")
        assert say(b"HELO x\r\n").startswith(b"500 5.5.1"), "RFC 2033 4.1"
        assert say(b"MAIL FROM:<a@b.example>\r\n").startswith(b"503")
        assert b"SIZE 1048576" in say(b"LHLO x\r\n")
        assert say(b"MAIL FROM:<ann@sender.example>\r\n").startswith(b"250")
        assert say(b"DATA\r\n").startswith(b"503")
        for _ in range(20):
            assert say(f"RCPT TO:<parrot@{HOST}>\r\n".encode()).startswith(b"250")
        assert say(f"RCPT TO:<parrot@{HOST}>\r\n".encode()).startswith(b"452 4.5.3")
        assert say(b"DATA\r\n").startswith(b"354")
        replies = [say(huge + b".\r\n")] + [file.readline() for _ in range(19)]
        assert all(reply.startswith(b"552 5.3.4") for reply in replies), replies
        # A message ends with CRLF, a dot and CRLF: not with what others take for it.
        assert say(b"MAIL FROM:<ann@sender.example>\r\n").startswith(b"250")
        assert say(f"RCPT TO:<parrot@{HOST}>\r\n".encode()).startswith(b"250")
        assert say(b"DATA\r\n").startswith(b"354")
        hidden = b"\n.\nMAIL FROM:<eve@evil.example>\n.\r\nx\r.\r\n\n.\r\r\n"
        got = say(b"Subject: x\r\n\r\n" + hidden + b"\r\n.\r\n")
        assert got.startswith(b"550"), got
        assert say(b"NOOP " + b"x" * 3000 + b"\r\n").startswith(b"500")
        assert not file.readline()
    for raw in [b"", b".", b"\x00" * 1000, b"From: x\r\n" * 5000, b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x" * 50,
                b"From: a@sender.example\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n" + b"--x\r\n\r\ny\r\n" * 400,
                b"From: =?utf-8?q?=00=0d=0aBcc:_x@y.example?= <a@sender.example>\r\nSubject: =?utf-8?b?DQpCY2M6IHg=?=\r\n\r\nhi\r\n"]:
        code, _ = send(raw)
        assert code in (550, 554), code
    # A subject that would be a header, signed and all.
    message = compose().as_bytes(policy=email.policy.SMTP).replace(b"Subject: Dinner", b"Subject: =?utf-8?b?RGlubmVyDQpCY2M6IGV2ZUBldmlsLmV4YW1wbGU=?=")
    taken(signed(message))
    raw, answer = inbox.one()
    assert answer["Bcc"] is None and answer["Subject"] == "Re: Dinner Bcc: eve@evil.example", answer.items()


def many():
    messages = [compose(sender=f"u{n}@sender.example", text=f"number {n}.") for n in range(200)]
    raws = [signed(message) for message in messages]

    def deliver(raw):
        for _ in range(50):
            try:
                code, words = send(raw)
            except (ConnectionError, SMTPResponseException, OSError):
                code, words = 451, b"no room"
            if code == 250:
                return
            assert code // 100 == 4, (code, words)
            time.sleep(0.2)
        raise AssertionError("never taken")

    with ThreadPoolExecutor(200) as pool:
        list(pool.map(deliver, raws))
    answers = inbox.wait(200)
    strange = [plain(email.message_from_bytes(raw, policy=email.policy.default)) for raw in answers if b"number " not in raw]
    assert not strange, (len(strange), set(strange))
    found = sorted(int(plain(email.message_from_bytes(raw, policy=email.policy.default)).split("number ")[1].split(".")[0]) for raw in answers)
    assert found == list(range(200)), "each is answered once"
    # One sender has a bound.
    codes = [send(signed(compose(sender="busy@sender.example", text=f"{n}")))[0] for n in range(62)]
    assert codes[:60] == [250] * 60 and codes[60:] == [451] * 2, codes
    inbox.wait(60)


def kept():
    """The submission server is away, and the daemon dies; see the caller."""
    inbox.refuse = "451 4.3.0 not now"
    taken(signed(compose(text="kept")))
    inbox.wait_refused()
    print("taken", flush=True)
    assert sys.stdin.readline().strip() == "again"
    inbox.refuse = None
    assert "You said: kept" in plain(inbox.one()[1])


def protected():
    taken(signed(compose(text="over TLS")))
    raw, answer = inbox.one()
    assert "over TLS" in plain(answer)
    assert controller.signed_in == [("robot", "secret", True)], controller.signed_in


def fetch(url, form=None):
    """A page of the daemon, as a browser would get it; redirects are not followed."""
    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None
    context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
    data = None if form is None else form.encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": "/".join(url.split("/")[:3])} if form is not None else {}
    try:
        return build_opener(Stay, HTTPSHandler(context=context)).open(Request(url, data, headers)).read().decode()
    except Exception as error:
        return error.read().decode() if hasattr(error, "read") else str(error)


def consent():
    taken(signed(compose(to=f"club@{HOST}", text="What is the secret?", Accept_Language="de")), to=f"club@{HOST}")
    raw, answer = inbox.one()
    told = plain(answer)
    url = next(word for word in told.split() if word.startswith("https://"))
    assert url.startswith(f"https://{HOST}") and "/consent/" in url, told
    # The person reads German.
    assert "Bitte stimmen Sie zu." in told, told
    assert dkim.verify(raw, dnsfunc=text_records)
    envelope = json.loads(base64.b64decode("".join(answer["X-Mentionable-Policy"].split())))
    assert envelope["v"] == "v0.1" and envelope["part"]["kind"] == "consent_required", envelope
    assert b"x-mentionable-policy" in raw.lower().split(b"dkim-signature:")[1].split(b"bh=")[0], "the envelope is signed"
    page = fetch(url)
    accept(url, page)
    # The answer comes by itself, into the thread.
    _, later = inbox.one()
    assert plain(later).strip() == "What is the secret?", plain(later)
    assert later["In-Reply-To"] == answer["In-Reply-To"] and later["Message-ID"] != answer["Message-ID"]


def accept(url, page):
    form = re.search(r'<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>', page, re.S)
    assert form, page
    inputs = dict(re.findall(r'<input[^>]*name="([^"]*)"[^>]*value="([^"]*)"', form.group(2)))
    buttons = re.findall(r'<button[^>]*name="([^"]*)"[^>]*value="([^"]*)"', form.group(2))
    if buttons:
        inputs.setdefault(*buttons[0])
    origin = "/".join(url.split("/")[:3])
    target = form.group(1) or url
    target = target if target.startswith("https://") else origin + target if target.startswith("/") else url
    fetch(target, "&".join(f"{name}={value}" for name, value in inputs.items()))


class Recorded(Controller):
    signed_in = []

    def __init__(self, *arguments, **more):
        self.tls = more.pop("tls", None)
        super().__init__(*arguments, **more)

    def factory(self):
        def authenticator(server, session, envelope, mechanism, data):
            self.signed_in.append((data.login.decode(), data.password.decode(), session.ssl is not None))
            return AuthResult(success=data.password == b"secret")
        if not self.tls:
            return SMTP(self.handler, hostname="mx.test")
        return SMTP(self.handler, hostname="mx.test", tls_context=self.tls, require_starttls=True,
                    auth_required=True, authenticator=authenticator)


if __name__ == "__main__":
    folder, scenario = sys.argv[1:3]
    keys = {}
    for selector, kind in [("ed", "ed25519"), ("rsa", "rsa")]:
        keys[selector], record = key(folder, f"{selector}.pem", kind)
        for domain in ["sender.example", "mail.sender.example", "plain.example", "mail.plain.example", "evil.example", "lost.example"]:
            records[f"{selector}._domainkey.{domain}."] = record
    _, records[f"agents._domainkey.{HOST}."] = key(folder, "dkim.pem", os.environ.get("DKIM", "ed25519"))
    records["_dmarc.sender.example."] = "v=DMARC1; p=reject"
    names = Names()
    names.start()
    context = None
    if scenario == "protected":
        with open(f"{folder}/smtp.cnf", "w") as file:
            file.write("[req]\ndistinguished_name=dn\nx509_extensions=ext\n[dn]\n"
                       "[ext]\nsubjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                        "-config", f"{folder}/smtp.cnf", "-keyout", f"{folder}/smtp.key", "-out", f"{folder}/smtp.crt"],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{folder}/smtp.crt", f"{folder}/smtp.key")
    controller = Recorded(inbox, hostname="127.0.0.1", port=0, tls=context)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        controller.port = free.getsockname()[1]
    controller.start()
    print(json.dumps({"dns": names.port, "smtp": controller.port}), flush=True)
    lmtp = int(sys.stdin.readline())
    globals()[scenario]()
    print("done", flush=True)
    os._exit(0)
