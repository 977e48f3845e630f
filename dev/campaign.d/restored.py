"""A backup that is taken under load, and restored elsewhere."""

import subprocess
import sys
import time

from node import Node, call


def take(campaign):
    """A backup is taken under load, and restored into the folder of another daemon."""
    (node,) = campaign.nodes
    time.sleep(campaign.seconds / 3)
    load = campaign.load
    known, pushed = dict(load.tasks), list(load.pushed)
    file = campaign.place.folder / "site.backup"
    run(campaign, node, "backup", node.folder, "--out", file)
    time.sleep(3)
    run(campaign, node, "restore", file, campaign.place.folder / "restored")
    campaign.count += 1
    other = elsewhere(campaign, campaign.place.folder / "restored", 1)
    ask(campaign, other, known, pushed)
    other.kill()


def elsewhere(campaign, folder, number):
    """A daemon that serves what was restored, on ports of its own."""
    node = Node(campaign.place, number, campaign.program, campaign.service)
    top = (node.folder / "forecourt.toml").read_text()
    node.folder = folder
    node.write("forecourt.toml", top)
    node.start()
    node.wait()
    return node


def ask(campaign, node, known, pushed):
    """Everything that was acknowledged before the backup began must be there."""
    until = time.time() + 60
    for path, (agent, mark) in known.items():
        status = 0
        while time.time() < until:
            try:
                status, _, text = call(node.http, "GET", path, headers={"Accept": "application/json"})
            except OSError:
                continue
            if status not in (202, 503):
                break
            time.sleep(0.1)
        if status != 200 and not (status == 502 and agent == "work"):
            campaign.load.complain(f"restored: {mark} of {agent} at {path}: {status}")
    for name in pushed:
        path = f"/~shelf?user={name[4:12]}"
        text = call(node.http, "GET", path, headers={"Accept": "application/json"})[2].decode()
        if name not in text:
            campaign.load.complain(f"restored: {name} is missing")


def run(campaign, node, *words):
    ran = subprocess.run([str(word) for word in (campaign.program, *words)], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{words[0]}: {ran.stdout}{ran.stderr}")
