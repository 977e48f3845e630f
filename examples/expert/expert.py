"""The program behind @expert: each line of standard input is a question, each line written a part of the answer."""

import json
import sys

MINUTES = {"white": 15, "brown": 40, "basmati": 12, "wild": 50}

for line in sys.stdin:
    message = json.loads(line)

    def say(**fields):
        print(json.dumps({"turn": message["turn"], **fields}), flush=True)

    words = " ".join(part["content"] for part in message["parts"] if part["kind"] == "text").lower()
    kinds = [kind for kind in MINUTES if kind in words]
    if kinds:
        for kind in kinds:
            say(text=f"Cook {kind} rice for {MINUTES[kind]} minutes, then let it rest for five.\n")
        say(end=True)
    else:
        # A decline costs nothing.
        say(declined="I know white, brown, basmati and wild rice, and nothing else.")
