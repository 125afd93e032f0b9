"""The world that .ci/pages, .ci/spoken, .ci/drive and .ci/prometheus look at: a Redis server,
`seinpaal serve` in front of it, and processes of `seinpaal`.
"""

import json
import os
import pathlib
import socket
import subprocess

from chromium import until

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def program(given, features="serve"):
    """The given program, or else the program that cargo builds with these features."""
    if given is None:
        subprocess.run(["cargo", "build", "--locked", "-p", "seinpaal-cli", "--features", features], cwd=ROOT, check=True)
        given = TARGET / "debug" / "seinpaal"
    return str(pathlib.Path(given).resolve())


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class World:
    def __init__(self, program, folder):
        self.program, self.folder, self.store, self.started = program, folder, f"unix://{folder}/redis.sock", []

    def start_store(self, *options):
        socket = f"{self.folder}/redis.sock"
        words = ("redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", self.folder, *options)
        self.redis = self.start(*words)
        answers = lambda: subprocess.run(["redis-cli", "-s", socket, "ping"], capture_output=True).stdout.startswith(b"PONG")
        until("Redis answers", answers)

    def serve(self, *options):
        log = open(f"{self.folder}/serve.log", "w")
        words = (self.program, "-s", self.store, "serve", "--allow-actions", "--listen", "127.0.0.1:0", *options)
        self.server = self.start(*words, stderr=log)
        said = lambda: pathlib.Path(f"{self.folder}/serve.log").read_text()
        until("it serves", lambda: "serving on" in said())
        self.address = said().split("serving on ")[1].split()[0]

    def start(self, *words, stderr=subprocess.DEVNULL, group=False):
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        process = subprocess.Popen(words, stderr=stderr, start_new_session=group, **quiet)
        self.started.append(process)
        return process

    def run(self, *words, wait=True):
        words = (self.program, "-s", self.store, *words)
        return subprocess.run(words, capture_output=True, check=True, text=True).stdout if wait else self.start(*words)

    def show(self, name):
        return json.loads(self.run("show", name, "--json"))

    def crowd(self, name, held, waiting, *flags):
        """Starts some `run`s that hold a permit, and then some that wait."""
        all = []
        for count, key in ((held, "holders"), (waiting, "waiters")):
            for at in range(count):
                all.append(self.run("run", name, *flags, "--label", f"job={at}", "sleep", "1000", wait=False))
            until(f"{name} has its {key}", lambda: len(self.show(name)[key]) == count)
        return all

    def end(self):
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
