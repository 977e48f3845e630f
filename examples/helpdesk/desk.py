"""The program behind @desk: lines of JSON in, lines of JSON out. It keeps what it was told in the conversation."""

import base64
import json
import sys

PRICES = {"Flickers": 18, "Stays dark": 25, "Broken shade": 32}
QUESTIONS = [
    {"id": "fault", "text": "What is wrong with the lamp?", "type": "single_select", "options": list(PRICES)},
]


def write(**line):
    print(json.dumps(line), flush=True)


write(hello={"protocol": 2, "concurrency": 8})
for line in sys.stdin:
    message = json.loads(line)
    turn = message["turn"]
    if "cancel" in message:
        write(turn=turn, end=True)
        continue
    words = " ".join(part["content"] for part in message["parts"] if part["kind"] == "text").lower()
    fault = (message.get("answers") or {}).get("fault")
    fault = fault if fault in PRICES else next((known for known in PRICES if known.lower()[:7] in words), None)
    if fault is None:
        write(turn=turn, question={"text": "I need to know one thing.", "questions": QUESTIONS})
        continue
    form = f"Repair of a lamp\nFault: {fault}\nPrice: {PRICES[fault]} EUR\n"
    data = base64.b64encode(form.encode()).decode()
    file = {"kind": "file", "mime": "text/plain", "name": "repair.txt", "bytes_ref": {"kind": "inline", "data": data}}
    write(turn=turn, text=f"The repair costs {PRICES[fault]} EUR. Print the form and send it with the lamp.")
    write(turn=turn, part=file)
    write(turn=turn, data={"fault": fault, "price": PRICES[fault], "currency": "EUR"})
    write(turn=turn, end=True)
