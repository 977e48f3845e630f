"""The program behind @helper. Each line of standard input is a message, each line written is a part of the answer.

It needs nothing but Python. With the library `forecourt-agent` an agent is a function that yields, asks back and keeps
what it needs: `/manual/python` of a daemon that runs shows it.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)

    def say(**fields):
        print(json.dumps({"turn": message["turn"], **fields}), flush=True)

    text = " ".join(part["content"] for part in message["parts"] if part["kind"] == "text")
    say(text=f"You said {len(text.split())} words: ")
    say(text=text)
    say(end=True)
