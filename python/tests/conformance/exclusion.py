"""At most the limit."""

from __future__ import annotations

import threading

from .stage import SOON, Stage


def no_more_than_the_limit_hold(stage: Stage) -> None:
    client = stage.limited(2)
    a, b = client.take(), client.take()
    client.queue()
    assert client.holders == [a.ticket, b.ticket]


def a_permit_that_was_given_back_can_be_had_again(stage: Stage) -> None:
    one, other = stage.client(), stage.client()
    a = one.take()
    assert other.attempt() is None
    one.release(a)
    other.take()


def the_permits_of_a_request_are_had_all_or_none(stage: Stage) -> None:
    client = stage.limited(3)
    a = client.take(permits=2)
    b = client.queue(permits=2)
    assert client.look().permits_held == 2
    client.release(a)
    b.result(SOON)
    assert client.look().permits_held == 2


ODD = ["", "{", "}", "{}", "{a}b", " ", "/", "'\"", ":*?[x]", "\\", "%", "号", "🚦", "\u00a0"]


def names_do_not_share_permits_whatever_is_in_them(stage: Stage) -> None:
    client = stage.client()
    kept = [client.take(client.connection.semaphore(f"{stage.name}{odd}")) for odd in ODD]
    assert all(permit.is_held for permit in kept)


def the_longest_name_is_as_good_as_any(stage: Stage) -> None:
    client = stage.client()
    filled = stage.name + "é" * 300
    name = filled.encode()[:512].decode(errors="ignore")
    longest = client.connection.semaphore(name)
    kept = client.take(longest)
    assert client.attempt(longest) is None
    assert kept.is_held


def of_clients_that_race_for_one_permit_one_has_it(stage: Stage) -> None:
    clients = [stage.client() for _ in range(16)]
    locks = [client.semaphore() for client in clients]
    begun = [stage.face.begin(lock.try_acquire, lock.try_acquire_async) for lock in locks]
    permits = [one.result(SOON) for one in begun]
    assert sum(permit is not None for permit in permits) == 1


def clients_that_come_and_go_never_hold_more_than_the_limit(stage: Stage) -> None:
    first = stage.limited(3)
    inside, most, mutex = 0, 0, threading.Lock()

    def visits() -> None:
        nonlocal inside, most
        client = stage.client()
        for _ in range(12):
            permit = client.ask().result(SOON)
            with mutex:
                inside += 1
                most = max(most, inside)
            client.look()
            with mutex:
                inside -= 1
            client.release(permit)

    in_parallel(visits, 8)
    assert 1 <= most <= 3
    assert first.look().permits_held == 0


def in_parallel(work: object, many: int) -> None:
    """Runs a function on so many threads, and fails if one of them fails."""
    assert callable(work)
    failures: list[BaseException] = []

    def watched() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=watched) for _ in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
