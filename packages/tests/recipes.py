"""The blocks of the guide's pages, taken out and checked as what they say they are: recipes.py FOLDER PAGE..."""

import pathlib
import re
import sys

import yaml

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
folder, pages = pathlib.Path(sys.argv[1]), [pathlib.Path(page) for page in sys.argv[2:]]


def objects(text):
    """What Kubernetes and GitHub need to see at the top."""
    for document in yaml.safe_load_all(text):
        if "jobs" in document:
            steps = [step for job in document["jobs"].values() for step in job["steps"]]
            used = [step for step in steps if "packages/action" in step.get("uses", "")]
            known = yaml.safe_load(pathlib.Path("packages/action/action.yml").read_text())
            assert used and all(set(step["with"]) <= set(known["inputs"]) for step in used), document
        else:
            assert {"apiVersion", "kind", "metadata", "spec"} <= set(document), document
            yield from containers(document)


def containers(node):
    """The commands of all containers in it, and that each mounts only volumes that are there."""
    if isinstance(node, dict):
        volumes = {volume["name"] for volume in node.get("volumes", [])}
        for one in node.get("initContainers", []) + node.get("containers", []):
            assert {mount["name"] for mount in one.get("volumeMounts", [])} <= volumes, one
            if "command" in one:
                yield [str(word) for word in one["command"]]
    for below in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        yield from containers(below)


lines, crontab = [], []
for page in pages:
    for number, (kind, text) in enumerate(BLOCK.findall(page.read_text())):
        if kind == "yaml":
            lines += [words[1:] for words in objects(text) if words[0].endswith("/seinpaal")]
            if "apiVersion:" in text:
                (folder / f"block{number}.yaml").write_text(text)
        elif kind == "systemd":
            name = re.match(r"# /etc/systemd/system/(\S+)\n", text).group(1)
            (folder / name).write_text(text)
        elif kind == "cron":
            for line in text.splitlines():
                minute, hour, day, month, weekday, command = line.split(None, 5)
                fields = (minute, hour, day, month, weekday)
                assert all(re.fullmatch(r"[\d*/,-]+", field) for field in fields), line
                lines.append(command.split()[1:])
                crontab.append(command)
        elif kind == "sh" and page.name == "schedules.md":
            (folder / f"block{number}.sh").write_text(text)
(folder / "crontab").write_text("\n".join(crontab) + "\n")
(folder / "lines").write_text("\n".join(" ".join(words) for words in lines) + "\n")
