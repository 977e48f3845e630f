"""The program behind @helper. Each line of standard input is a message, each line written is a part of the answer."""

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
