"""A crowd that proves nothing, three times what the daemon can take, and what is left for who proves who they are."""

import collections
import subprocess
import threading
import time
import uuid

from load import FORM, form
from node import call

# Answers in the making at once, as `replies_running_max` of a campaign of this name says.
PLACES = 40
# Of who is proven, at once: half of the places, which is what is kept for them. The crowd is three times all of them.
PROVEN, CROWD = PLACES // 2, PLACES * 3


def come(campaign):
    """Callers with a key ask alone, and then beside a crowd of strangers that is three times what the daemon takes."""
    (node,) = campaign.nodes
    created = [str(campaign.program), "keys", "api", "create", "campaign", str(node.folder)]
    key = subprocess.run(created, capture_output=True, text=True, check=True).stdout.strip()
    proven = Askers(node, PROVEN, {"Authorization": f"Bearer {key}"})
    alone = proven.rate(campaign.seconds / 2)
    crowd = Askers(node, CROWD, {})
    time.sleep(2)
    beside = proven.rate(campaign.seconds / 2)
    crowd.end()
    proven.end()
    campaign.count = CROWD
    campaign.note = f"proven: {alone:.1f}/s alone, {beside:.1f}/s in the crowd ({beside / alone:.0%}); " \
        f"refused {dict(proven.refused)}; the crowd: answered {crowd.answered}, refused {dict(crowd.refused)}"
    if beside < 0.9 * alone:
        campaign.load.complain(campaign.note)


class Askers:
    """So many callers who ask, wait for the answer, and ask again."""

    def __init__(self, node, count, headers):
        self.node, self.headers, self.stop = node, {**FORM, **headers}, threading.Event()
        self.answered, self.refused, self.lock = 0, collections.Counter(), threading.Lock()
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self):
        while not self.stop.is_set():
            mark = f"crowd-{uuid.uuid4()}"
            try:
                status, _, text = call(self.node.http, "POST", "/~work", form(mark), {**self.headers, "Accept": "text/markdown"})
            except OSError as error:
                status, text = type(error).__name__, b""
            is_answer = status == 200 and f"done {mark}".encode() in text
            with self.lock:
                self.answered += is_answer
                self.refused |= {} if is_answer else {status: self.refused[status] + 1}
            # Whoever is refused comes again soon, and not at once.
            time.sleep(0 if is_answer else 0.2)

    def rate(self, seconds):
        before, begun = self.answered, time.time()
        time.sleep(seconds)
        return (self.answered - before) / (time.time() - begun)

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(40)
