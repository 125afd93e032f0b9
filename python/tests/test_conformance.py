"""The cases of ``crates/conformance`` through both faces of Python, against each kind of store.

The list is Rust's. A test fails if a case of that list is neither told here nor left out with a
reason.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conformance import left_out
from conformance.faces import FACES
from conformance.stage import Stage
from conftest import LACKS, SERVERS, STORES, stores_that_promise, url_of

CRATE = Path(__file__).parents[2] / "crates" / "conformance" / "src"
LISTS = {"": (CRATE / "list.rs", left_out.PERMITS), "queues.": (CRATE / "queue/list.rs", left_out.QUEUES)}
#: Stores in which every lease ends by time, even if its client lives.
BY_TIME = {*STORES} - {"file"}
#: Stores that other programs share.
SHARED = {*STORES} - {"memory"}
DIES = "another program dies, and a store in memory has one program"
BY_LEASE = "a server learns of it by the end of the lease"
LEASED = "who lives holds there, so nothing runs down"

#: Cases that only some stores or faces promise: those, and the reason for which the others do not.
ONLY: dict[str, tuple[set[str], str]] = {
    "expiry::a_client_that_lives_holds_without_renewing": ({"file"}, "elsewhere leases are renewed"),
    "expiry::the_time_that_a_grant_is_valid_for_is_the_ttl_and_runs_down": (BY_TIME, LEASED),
    "expiry::what_a_dead_holder_held_is_free_at_once": ({"file"}, BY_LEASE),
    "expiry::what_a_dead_holder_held_is_free_after_its_ttl_however_long_nobody_looked": (SHARED, DIES),
    "expiry::a_dead_waiter_at_the_head_holds_up_nobody": (SHARED, DIES),
    "expiry::a_waiter_that_died_is_not_granted_later": (SHARED, DIES),
    "queues.leases::an_item_whose_worker_died_is_delivered_again_at_once": ({"file"}, BY_LEASE),
    "queues.leases::an_item_whose_worker_died_is_delivered_again_after_its_ttl_with_a_higher_fence": (
        SHARED,
        DIES,
    ),
    "queues.leases::what_was_lost_is_first_again": (SHARED, DIES),
    "queues.workers::a_worker_that_died_is_passed_over": (SHARED, DIES),
    "queues.workers::what_a_dead_worker_had_calls_another": (SHARED, DIES),
}

#: Cases that cancel, or need more requests than a program has threads: from asyncio only.
OF_TASKS = {
    "fairness::ten_thousand_waiters_at_one_name_are_served_in_order",
    "queues.workers::a_worker_that_leaves_is_not_called",
    "queues.line::the_next_in_line_looks_when_the_first_leaves",
}


def listed(path: Path) -> Iterator[tuple[str, set[str]]]:
    """The cases of a list of Rust, as ``topic::case``, each with the abilities that it needs."""
    topic = ""
    for line in path.read_text().split("macro_rules!")[1].splitlines():
        if opened := re.fullmatch(r" {12}(\w+) \{", line):
            topic = opened[1]
        elif case := re.fullmatch(r" {16}(\w+) \[([\w ]*)\];", line):
            yield f"{topic}::{case[1]}", {*case[2].split()}


def told(prefix: str, case: str) -> Callable[[Stage], None] | None:
    """The function of this package's tests that has the case."""
    topic, name = case.split("::")
    try:
        module = importlib.import_module(f"conformance.{prefix}{topic}")
    except ModuleNotFoundError:
        return None
    function: Callable[[Stage], None] | None = getattr(module, name, None)
    return function


def reasons(prefix: str) -> dict[str, str]:
    """The cases that are left out, with the reasons."""
    by_topic = LISTS[prefix][1]
    return {
        f"{topic}::{name}": why
        for topic, whys in by_topic.items()
        for why, names in whys.items()
        for name in names
    }


def plays() -> Iterator[tuple[str, str, str]]:
    """Each case that is told, with each store and face that promises it."""
    for prefix, (path, _) in LISTS.items():
        for case, needs in listed(path):
            if told(prefix, case) is None:
                continue
            if prefix == "queues.":
                needs.add("KeepsQueues")
            stores, _ = ONLY.get(prefix + case, (set(STORES), ""))
            only_tasks = prefix + case in OF_TASKS or case.startswith("cancel::")
            for store in stores_that_promise(needs, stores):
                for face in ["asyncio"] if only_tasks else FACES:
                    yield prefix + case, store, face


@pytest.mark.parametrize(("case", "kind", "face"), list(plays()))
def test_a_store_keeps_its_promise(
    case: str, kind: str, face: str, tmp_path: Path, name: str
) -> None:
    prefix = "queues." if case.startswith("queues.") else ""
    play = told(prefix, case.removeprefix(prefix))
    assert play is not None
    with Stage(kind, url_of(kind, tmp_path), name, FACES[face]()) as stage:
        play(stage)


@pytest.mark.parametrize("prefix", LISTS)
def test_every_case_is_told_or_left_out_with_a_reason(prefix: str) -> None:
    """Prints the cases that are left out, which `python/test -rP -k left_out` shows."""
    cases, out = [case for case, _ in listed(LISTS[prefix][0])], reasons(prefix)
    assert len(cases) >= 90, "the list is written in another way now"
    here = {case for case in cases if told(prefix, case) is not None}
    assert here | set(out) == set(cases)
    assert not here & set(out)
    print(f"{prefix}: {len(here)} of {len(cases)} are told")
    for why in sorted(set(out.values())):
        print(f"  {list(out.values()).count(why)} are left out: {why}")


def test_the_page_about_proofs_counts_them() -> None:
    cases = [prefix + case for prefix, (path, _) in LISTS.items() for case, _ in listed(path)]
    here = {case for case, _, _ in plays()}
    page = (CRATE.parents[2] / "docs/internals/tests/README.md").read_text()
    assert f"{len(here)} of those {len(cases)} cases" in page


def test_what_only_some_stores_or_faces_promise_is_told() -> None:
    named = {*ONLY, *OF_TASKS}
    assert named <= {case for case, _, _ in plays()}


def test_what_a_store_lacks_is_a_word_of_the_list() -> None:
    """A word that no case has any more would leave nothing out, and nobody would notice."""
    words = {"KeepsQueues"}.union(*(needs for path, _ in LISTS.values() for _, needs in listed(path)))
    assert set().union(*LACKS.values()) <= words
    assert {*SERVERS} == {"sentinel", "cluster", "quorum", "zookeeper"}
