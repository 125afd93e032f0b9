"""redis-py's Lock and python-redis-lock, as bench/permits drives every peer: see src/peer.rs."""

import os
import sys
import threading
import time

import redis
import redis_lock

FOREVER = 60  # seconds; neither a hold nor a wait takes as long
KINDS = {
    "redis-py": lambda client, name: client.lock(name, timeout=FOREVER, thread_local=False),
    "python-redis-lock": lambda client, name: redis_lock.Lock(client, name, expire=FOREVER),
}


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def task(lock, plan, until, worker, counts):
    pairs = 0
    while pairs < plan["count"] if plan["count"] else time.monotonic_ns() < until:
        asked = time.monotonic_ns()
        lock.acquire()
        granted = time.monotonic_ns()
        if plan["hold"]:
            time.sleep(plan["hold"] / 1000)
        released = time.monotonic_ns()
        lock.release()
        pairs += 1
        if plan["stamps"]:
            say("held", worker, asked, granted, released)
        if plan["pause"]:
            time.sleep(plan["pause"] / 1000)
    counts.append(pairs)


def go(locks, plan):
    counts = []
    started = time.monotonic_ns()
    until = started + plan["millis"] * 1_000_000
    work = [(lock, plan, until, worker, counts) for worker, lock in enumerate(locks)]
    threads = [threading.Thread(target=task, args=args, daemon=True) for args in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say("took", time.monotonic_ns() - started, sum(counts), min(counts), max(counts))


def main(kind, url, *words):
    plan = {key: int(value) for key, value in (word.split("=") for word in words)}
    shared = redis.Redis.from_url(url)
    locks = []
    for i in range(plan["tasks"]):
        client = redis.Redis.from_url(url) if plan["clients"] else shared
        locks.append(KINDS[kind](client, f"bench-{i % plan['names']}"))
    for lock in locks[: plan["names"]]:
        with lock:
            pass
    say("ready")
    # In a daemon thread: a task that waits for ever must not keep the program from ending with its
    # input.
    for _ in sys.stdin:
        threading.Thread(target=go, args=(locks, plan), daemon=True).start()
    os._exit(0)


main(*sys.argv[1:])
