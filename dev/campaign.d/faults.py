"""The faults. Each is a function that does its work while the load runs, over what it is given."""

import itertools
import os
import pathlib
import signal
import subprocess
import time

from processes import faketime

HERE = pathlib.Path(__file__).parent
# Longer than a lease, so that the others take over.
SILENCE_SECONDS = 20


def wrong_clock(offset):
    """The environment of a node whose clock is off by this, such as `+1h`."""
    return {"LD_PRELOAD": faketime(), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def calm(campaign):
    """Nothing happens."""
    time.sleep(campaign.seconds)


def kill(campaign):
    """One node after the other is killed (`kill -9`), and started again at once."""
    until = time.time() + campaign.seconds
    for node in itertools.cycle(campaign.nodes):
        time.sleep(campaign.every)
        if time.time() > until:
            return
        node.kill()
        node.start()
        campaign.count += 1


def kill_seldom(campaign):
    """It is killed (`kill -9`) and started again, half as often: work must have time to end on a slow disk."""
    campaign.every *= 2
    kill(campaign)


def restart(campaign):
    """One node after the other is told to stop (SIGTERM), and started again."""
    until = time.time() + campaign.seconds
    for node in itertools.cycle(campaign.nodes):
        node.leave()
        node.start()
        node.wait()
        time.sleep(2)
        campaign.count += 1
        if time.time() > until:
            return


def pause(campaign):
    """One node after the other stands still for longer than its lease (SIGSTOP), and goes on."""
    for node in campaign.nodes:
        time.sleep(3)
        node.process.send_signal(signal.SIGSTOP)
        time.sleep(SILENCE_SECONDS)
        node.process.send_signal(signal.SIGCONT)
        campaign.count += 1


def database(campaign):
    """The database is killed, is away for a while and comes back."""
    time.sleep(3)
    campaign.place.outage("database", SILENCE_SECONDS)
    campaign.count += 1
    time.sleep(10)


def bus(campaign):
    """The bus is killed, is away for a while and comes back."""
    time.sleep(3)
    campaign.place.outage("bus", SILENCE_SECONDS)
    campaign.count += 1
    time.sleep(10)


def hang(campaign):
    """One node's line to the database hangs for longer than its lease; then that of all nodes."""
    for cut in ([campaign.nodes[0]], campaign.nodes):
        time.sleep(3)
        for node in cut:
            node.cable.open.clear()
        time.sleep(SILENCE_SECONDS)
        for node in cut:
            node.cable.open.set()
        campaign.count += 1
        time.sleep(10)


def slow(campaign):
    """Every word between the nodes and the database takes 50 ms longer."""
    for node in campaign.nodes:
        node.cable.delay = 0.05
    time.sleep(campaign.seconds)
    for node in campaign.nodes:
        node.cable.delay = 0.0
    campaign.count += 1


def skew(campaign):
    """Two of the nodes get a clock that is wrong, by an hour and by a day, ahead and behind."""
    for offsets in (("+1h", "-1h"), ("+1d", "-1d")):
        for node, offset in zip(campaign.nodes[1:], offsets):
            node.kill()
            node.environment |= wrong_clock(offset)
            node.start()
        campaign.count += 2
        time.sleep(campaign.seconds / 2)
    for node in campaign.nodes[1:]:
        node.kill()
        for name in wrong_clock(""):
            node.environment.pop(name)
        node.start()


def upgrade(campaign):
    """One node after the other of the release before is stopped, and started again as this one."""
    for node in campaign.nodes:
        time.sleep(4)
        node.leave()
        node.start(campaign.program)
        node.wait()
        campaign.count += 1
    time.sleep(4)


def clock(campaign):
    """The machine's clock is set while it runs and between runs: a day ahead, an hour back, right again."""
    (node,) = campaign.nodes
    for offset in ("+1d", "-1h", "+0"):
        time.sleep(4)
        (campaign.place.folder / "clock").write_text(offset)
        time.sleep(6)
        node.kill()
        node.start()
        campaign.count += 1
    time.sleep(4)


def clock_environment(place):
    """That of a daemon whose clock is set by the file `clock`."""
    (place.folder / "clock").write_text("+0")
    file = str(place.folder / "clock")
    more = {"FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    return {"LD_PRELOAD": faketime(), **more}


def slow_disk_environment(place):
    """That of a daemon whose disk takes its time."""
    library = place.folder / "slow_disk.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, HERE / "slow_disk.c", "-ldl"], check=True)
    return {"LD_PRELOAD": str(library)}


def full_disk(campaign):
    """The disk is filled to its last byte while it runs, for a while, and then again with a `kill -9` in it."""
    (node,) = campaign.nodes
    ballast = node.data / "ballast"
    for killed in (False, True):
        time.sleep(5)
        file = os.open(ballast, os.O_CREAT | os.O_WRONLY)
        try:
            while True:
                os.write(file, b"x" * 4096)
        except OSError:
            os.close(file)
        time.sleep(8)
        if killed:
            node.kill()
        ballast.unlink()
        if killed:
            node.start()
        campaign.count += 1
    time.sleep(5)
