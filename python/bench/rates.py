"""The number of times a second that a mutex is held and given back, by libraries side by side.

    rates.py REDIS-URL DIRECTORY [SECONDS]

Clients that contend are threads or tasks of one process, which share its connections, and take
turns at one name. Each row is the median of three rounds; the rounds of all rows are interleaved,
so that a slow minute hits everybody. A ratio is to the row of seinpaal above it, in the same round.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import redis
from rivals import RIVALS, Hold, HoldAsync, Rival

ROUNDS = 3


@dataclass(frozen=True)
class Round:
    """The result of one row in one round."""

    rate: float
    #: CPU time of the server for each time that the mutex was held, in microseconds.
    server: float
    #: The longest wait of a client, in milliseconds.
    longest: float
    #: How often the client with the fewest holds held the mutex, per hundred holds of the client
    #: with the most.
    share: float


class Client:
    """A client's count of its holds of the mutex, and its longest wait."""

    def __init__(self, until: float) -> None:
        self._until = until
        self.times = 0
        self.longest = 0.0

    def on_thread(self, hold: Hold) -> None:
        while (began := time.perf_counter()) < self._until:
            hold()
            self._note(began)

    async def on_task(self, hold: HoldAsync) -> None:
        while (began := time.perf_counter()) < self._until:
            await hold()
            self._note(began)

    def _note(self, began: float) -> None:
        self.times += 1
        self.longest = max(self.longest, time.perf_counter() - began)


class Bench:
    """A Redis, a directory, and how long a round takes."""

    def __init__(self, url: str, directory: str, seconds: float) -> None:
        self._url = url
        self._directory = directory
        self._seconds = seconds
        self._server = redis.Redis.from_url(url)
        self._names = 0

    def play(self, rival: Rival, many: int) -> Round:
        """Plays one round: this many clients take turns at a new name."""
        self._names += 1
        name = f"bench-{os.getpid()}-{self._names}"
        if rival.on_threads is not None:
            make = rival.on_threads
            hold = make(self._url, self._directory, name)
            hold()  # Connections are made before the clock runs.
            run: Callable[[list[Client]], None] = lambda clients: _on_threads(hold, clients)
            return self._timed(many, run)
        return asyncio.run(self._play_async(rival, name, many))

    async def _play_async(self, rival: Rival, name: str, many: int) -> Round:
        assert rival.on_tasks is not None
        hold = rival.on_tasks(self._url, self._directory, name)
        await hold()
        before, began = self._server_time(), time.perf_counter()
        clients = [Client(began + self._seconds) for _ in range(many)]
        await asyncio.gather(*(client.on_task(hold) for client in clients))
        return self._round(clients, time.perf_counter() - began, self._server_time() - before)

    def _timed(self, many: int, run: Callable[[list[Client]], None]) -> Round:
        before, began = self._server_time(), time.perf_counter()
        clients = [Client(began + self._seconds) for _ in range(many)]
        run(clients)
        return self._round(clients, time.perf_counter() - began, self._server_time() - before)

    def _round(self, clients: list[Client], took: float, server: float) -> Round:
        times = [client.times for client in clients]
        longest = max(client.longest for client in clients)
        share = 100 * min(times) / max(times)
        return Round(sum(times) / took, server / sum(times) * 1e6, longest * 1e3, share)

    def _server_time(self) -> float:
        cpu = self._server.info("cpu")
        assert isinstance(cpu, dict)
        return float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])


def _on_threads(hold: Hold, clients: list[Client]) -> None:
    threads = [threading.Thread(target=client.on_thread, args=(hold,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def table(bench: Bench, many: int) -> Iterator[str]:
    """The lines of one table."""
    rounds: dict[str, list[Round]] = {rival.name: [] for rival in RIVALS}
    for _ in range(ROUNDS):
        for rival in RIVALS:
            rounds[rival.name].append(bench.play(rival, many))
    yield "| | a second | × seinpaal | server, µs | longest wait, ms | least share, % | |"
    yield "|---|---:|---:|---:|---:|---:|---|"
    ours = rounds[RIVALS[0].name]
    for rival in RIVALS:
        if rival.is_ours:
            ours = rounds[rival.name]
        yield row(rival, rounds[rival.name], ours)


def row(rival: Rival, rounds: list[Round], ours: list[Round]) -> str:
    """The median of a row's rounds; of waits the longest, of shares the least."""
    rate = statistics.median(one.rate for one in rounds)
    ratio = statistics.median(one.rate / us.rate for one, us in zip(rounds, ours, strict=True))
    times = "" if rival.is_ours else f"{ratio:.2f}"
    server = statistics.median(one.server for one in rounds)
    longest, share = max(one.longest for one in rounds), min(one.share for one in rounds)
    cost = f"{server:.0f}" if rival.is_remote else "–"
    return f"| {rival.name} | {rate:.0f} | {times} | {cost} | {longest:.1f} | {share:.0f} | {rival.keeps} |"


def main() -> None:
    url, directory = sys.argv[1:3]
    bench = Bench(url, directory, float(sys.argv[3]) if len(sys.argv) > 3 else 3.0)
    print(f"load when it began: {os.getloadavg()[0]:.1f}, on {os.cpu_count()} processors")
    for many, words in [(1, "One client, nobody else"), (8, "Eight clients at one name")]:
        print(f"\n{words}:\n", flush=True)
        for line in table(bench, many):
            print(line, flush=True)
    print(f"\nload when it ended: {os.getloadavg()[0]:.1f}")


main()
