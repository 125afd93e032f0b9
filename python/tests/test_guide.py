"""The examples of docs/guide/python.md, each run as a program of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REDIS

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "python.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)


def test_the_guide_has_examples() -> None:
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs_as_it_stands(number: int, tmp_path: Path) -> None:
    code = EXAMPLES[number]
    # A Redis that has seen the page before remembers keys of its queue.
    here = {"redis://localhost": REDIS, '"file:"': f'"file://{tmp_path}"', '"mails"': f'"{tmp_path}"'}
    for there, ours in here.items():
        code = code.replace(there, ours)
    command = [sys.executable, "-W", "error", "-c", code]
    environment = dict(os.environ, SEINPAAL_STORE=REDIS)
    subprocess.run(command, check=True, timeout=120, env=environment)
