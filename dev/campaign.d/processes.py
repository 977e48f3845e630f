"""What a campaign starts: PostgreSQL, NATS, HAProxy, and sockets between a node and its store that can be cut."""

import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

# Where Debian's packages put the programs, a folder for each version.
POSTGRES = pathlib.Path("/usr/lib/postgresql")


def postgres(program):
    """A program of the newest PostgreSQL that is installed."""
    found = [path for path in POSTGRES.glob(f"*/bin/{program}") if path.parts[-3].isdigit()]
    if not found:
        sys.exit(f"please install: postgresql ({POSTGRES} has no {program})")
    return max(found, key=lambda path: int(path.parts[-3]))


def faketime():
    """The library for wrong clocks. The loader passes over one that is not there: then every clock would be right."""
    found = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    return str(found) if found else sys.exit("please install: faketime")


def free_port():
    """A port that nobody listens on, below those that connections get: a daemon that is killed finds its own again."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def wait_for_port(port, process, seconds=60):
    until = time.time() + seconds
    while time.time() < until:
        with socket.socket() as client:
            client.settimeout(1)
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process and process.poll() is not None:
            sys.exit(f"it ended with {process.returncode}: {' '.join(map(str, process.args))}")
        time.sleep(0.05)
    sys.exit(f"nobody listens on port {port}")


class Place:
    """A temporary folder, and the processes that end with it."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="forecourt-campaign-"))
        self.folder.chmod(0o755)
        self.processes, self.servers, self.mounts = [], {}, []

    def spawn(self, command, log, **more):
        out = open(self.folder / log, "ab")
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out, **more
        )
        self.processes.append(process)
        return process

    def serve(self, name, port, command, **more):
        """Starts a server that can be stopped and started again."""
        def start():
            self.servers[name] = self.spawn(command, f"{name}.log", **more), start
            wait_for_port(port, self.servers[name][0])
        start()

    def outage(self, name, seconds):
        """Takes a server away for a while, as a crash does."""
        process, start = self.servers[name]
        process.send_signal(signal.SIGQUIT)
        process.wait(20)
        time.sleep(seconds)
        start()

    def start_postgres(self):
        data, port = self.folder / "postgres", free_port()
        data.mkdir()
        more = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(data, user.pw_uid, user.pw_gid)
            more = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": "/"}
        subprocess.run(
            [postgres("initdb"), "-D", data, "-U", "forecourt", "-A", "trust", "--no-sync", "-E", "UTF8"],
            check=True, stdout=subprocess.DEVNULL, **more,
        )
        settings = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=200"]
        self.serve("database", port, [postgres("postgres"), "-D", data, "-p", port, *settings], **more)
        url = f"postgres://forecourt@127.0.0.1:{port}/postgres"
        for _ in range(100):
            made = subprocess.run(
                [postgres("psql"), "-qX", "-d", url, "-c", "CREATE DATABASE forecourt"], capture_output=True
            )
            if made.returncode == 0:
                return port
            time.sleep(0.1)
        sys.exit(f"no database: {made.stderr.decode()}")

    def start_nats(self):
        port = free_port()
        self.serve("bus", port, ["nats-server", "-a", "127.0.0.1", "-p", port])
        return f"nats://127.0.0.1:{port}"

    def start_balancer(self, nodes):
        port = free_port()
        lines = [
            "global", "  log stderr format raw local0", "defaults", "  mode http", "  timeout connect 2s",
            "  timeout client 60s", "  timeout server 60s", "  retries 3", "  option redispatch 1",
            "  retry-on conn-failure", f"frontend in\n  bind 127.0.0.1:{port}\n  default_backend nodes",
            "backend nodes", "  balance roundrobin", "  option httpchk",
            "  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost",
            "  default-server inter 300ms fall 1 rise 1",
        ]
        for node in nodes:
            lines.append(f"  server node{node.number} 127.0.0.1:{node.http} check port {node.admin}")
        file = self.folder / "haproxy.cfg"
        file.write_text("\n".join(lines) + "\n")
        wait_for_port(port, self.spawn(["haproxy", "-db", "-f", file], "haproxy.log"))
        return port

    def small_disk(self, name, mebibytes):
        """A disk of its own in memory, as big as this. Needs root."""
        folder = self.folder / name
        folder.mkdir()
        options = f"size={mebibytes}m,mode=0700"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "forecourt-campaign", folder], check=True)
        self.mounts.append(folder)
        return folder

    def end(self, keep):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGINT)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        for folder in self.mounts:
            subprocess.run(["umount", "-l", folder])
        if keep:
            print(f"the logs are in {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


class Cable:
    """A line to a server that can be slow, or hang: what is sent then neither arrives nor fails."""

    def __init__(self, port):
        self.to, self.delay = port, 0.0
        self.open = threading.Event()
        self.open.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            try:
                far = socket.create_connection(("127.0.0.1", self.to), 5)
            except OSError:
                near.close()
                continue
            for one, other in ((near, far), (far, near)):
                one.settimeout(None)
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    def carry(self, one, other):
        try:
            while data := one.recv(65536):
                if self.delay:
                    time.sleep(self.delay)
                self.open.wait()
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
