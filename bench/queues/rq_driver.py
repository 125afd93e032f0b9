"""RQ, as bench/queues drives every peer: see src/peer.rs."""

import os
import sys
import threading
import time

from redis import Redis
from rq import Queue, SimpleWorker

NAME = "bench"
done, last, notes_latency = 0, 0, False


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def payload():
    return str(time.monotonic_ns()).ljust(64, "x")


def handle(payload):
    global done, last
    if notes_latency:
        say("late", time.monotonic_ns() - int(payload.rstrip("x")))
    done += 1
    last = time.monotonic_ns()


def push(url, items, batch, gap):
    queue = Queue(NAME, connection=Redis.from_url(url))
    handler = "rq_driver.handle"
    started = time.monotonic_ns()
    for pushed in range(0, items, batch):
        if batch == 1:
            queue.enqueue(handler, payload(), result_ttl=0)
        else:
            many = range(min(batch, items - pushed))
            prepare = Queue.prepare_data
            queue.enqueue_many([prepare(handler, (payload(),), result_ttl=0) for _ in many])
        if gap:
            time.sleep(gap / 1000)
    say("pushed", time.monotonic_ns() - started)


def tell():
    told = 0
    while True:
        time.sleep(0.02)
        if done != told:
            told = done
            say("done", told, last)


def end_with_stdin():
    sys.stdin.read()
    os._exit(0)


def work(url, concurrency, mode):
    """One item at a time is all that RQ's worker knows; without a fork for each, which is its
    quicker way.
    """
    global notes_latency
    notes_latency = mode == "latency"
    sys.modules["rq_driver"] = sys.modules["__main__"]
    worker = SimpleWorker([NAME], connection=Redis.from_url(url))
    threading.Thread(target=tell, daemon=True).start()
    say("ready")
    sys.stdin.readline()
    threading.Thread(target=end_with_stdin, daemon=True).start()
    worker.work(logging_level="ERROR")


if __name__ == "__main__":
    what, url, *rest = sys.argv[1:]
    if what == "push":
        push(url, *map(int, rest))
    else:
        work(url, int(rest[0]), rest[1])
