"""The examples of the guide's pages about Python, each run as a program of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REDIS

PAGES = Path(__file__).parents[2] / "docs" / "guide"
README = "../../README.md"


def examples(page: str) -> list[str]:
    """The blocks of a page, in their order."""
    return re.findall(r"^```python\n(.*?)^```", (PAGES / page).read_text(), re.DOTALL | re.MULTILINE)


def is_for_this_python(code: str) -> bool:
    """asyncio-advanced-semaphores cannot be installed before 3.12."""
    return sys.version_info >= (3, 12) or "asyncio_advanced_semaphores" not in code


def here(code: str, directory: Path) -> str:
    """The example with stores of this test.

    The queue has another name, too: a Redis that has seen the page before remembers its keys.
    """
    names = {"redis://localhost": REDIS, '"file:"': f'"file://{directory}"', '"mails"': f'"{directory}"'}
    names["/tmp/report.lock"] = f"{directory}/report.lock"
    for there, ours in names.items():
        code = code.replace(there, ours)
    return code


EXAMPLES = [
    pytest.param(code, id=f"{page} {number}")
    for page in ("python.md", "coming-from-python.md", README)
    for number, code in enumerate(examples(page))
    if is_for_this_python(code)
]


def test_the_pages_have_examples() -> None:
    assert len(examples("python.md")) == 8
    assert len(examples("coming-from-python.md")) == 12
    assert len(examples(README)) == 1


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs_as_it_stands(code: str, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", here(code, tmp_path)]
    environment = dict(os.environ, SEINPAAL_STORE=REDIS)
    subprocess.run(command, check=True, timeout=120, env=environment)
