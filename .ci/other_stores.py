"""The cases of .ci/doctor on every store but a single Redis server. The rig of the tests starts the
servers.
"""

import contextlib
import os
import re
import sqlite3
import subprocess

from world import ROOT

HELD = 1 + 2 + 2 * 4 + 11 * 8  # where the head has the permits that are held: docs/internals/stores/redis.md
CONTRADICTION = f"""
    local head = redis.call('hget', KEYS[1], 'h')
    return redis.call('hset', KEYS[1], 'h', head:sub(1, {HELD}) .. '\\5' .. head:sub({HELD + 2}))"""
LRU = ("config", "set", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru")
HEAD = "the head counts 5 permits held"
JAR = "/usr/share/java/zookeeper.jar"


def say(port, *words):
    return subprocess.run(("redis-cli", "-p", f"{port}", *words), capture_output=True, text=True).stdout.strip()


@contextlib.contextmanager
def servers(*kinds):
    """The URL of each kind, while its servers run."""
    words = ("cargo", "run", "--quiet", "--locked", "-p", "seinpaal-rig", "--example", "servers", "--", *kinds)
    rig = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        lines = iter(rig.stdout.readline, "started\n")
        yield dict(line.split() for line in lines)
    finally:
        rig.stdin.close()
        rig.wait()


def ports(url):
    return [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", url)]


def plant(port):
    say(port, "EVAL", CONTRADICTION, "1", "seinpaal:{boards}")


def cases(program, folder):
    """What is wrong, where, which status is promised, and which words name it."""
    with servers("sentinel", "cluster", "quorum", "zookeeper") as urls:
        for kind, url in urls.items():
            for words in (("limit", "boards", "2"), ("acquire", "boards", "--ttl", "1h" if kind != "zookeeper" else "5s")):
                subprocess.run((program, "-s", url, *words), check=True, capture_output=True)
        yield from of_sentinel(urls["sentinel"])
        yield from of_cluster(urls["cluster"])
        yield from of_quorum(urls["quorum"])
        yield from of_zookeeper(urls["zookeeper"])
    yield from of_embedded(program, f"file://{folder}/embedded")


def of_sentinel(url):
    master = say(ports(url)[0], "sentinel", "get-master-addr-by-name", url.split("/")[-1].split("?")[0]).split()[-1]
    yield "Sentinel, without replicated", url, 1, ("1 replica follows it", "replicated=1", "min-replicas-to-write is 0")
    plant(master)
    yield "Sentinel, a ledger that contradicts itself", url, 1, ("name boards", HEAD)
    say(master, *LRU)
    yield "Sentinel, `allkeys-lru` at the master", url, 1, ("allkeys-lru", f":{master}")


def of_cluster(url):
    nodes = [line.split()[1] for line in say(ports(url)[0], "cluster", "nodes").splitlines() if "master" in line]
    nodes = [node.split("@")[0].split(":")[1] for node in nodes]
    yield "a cluster, without replicated", url, 1, ("replicated=N", f"masters          {len(nodes)}")
    (owner,) = [node for node in nodes if "{boards}" in say(node, "keys", "*")]
    plant(owner)
    yield "a cluster, a ledger that contradicts itself", url, 1, ("name boards", HEAD)
    for node in nodes:
        say(node, *LRU)
        yield "a cluster, `allkeys-lru` at one node", url, 1, (f":{node}/0: maxmemory-policy is allkeys-lru",)
        say(node, "config", "set", "maxmemory-policy", "noeviction")


def of_quorum(url):
    nodes = ports(url)
    yield "a quorum, nothing kept on disk", url, 1, ("3 of 3 answer", "appendonly", *(f":{node}" for node in nodes))
    plant(nodes[1])
    yield "a quorum, one node contradicts itself", url, 1, (f"name boards at redis://127.0.0.1:{nodes[1]}", HEAD)
    say(nodes[2], *LRU)
    yield "a quorum, `allkeys-lru` at one node", url, 1, (f":{nodes[2]}/0: maxmemory-policy is allkeys-lru",)
    say(nodes[0], "shutdown", "nosave")
    yield "a quorum, one node down", url, 1, ("2 of 3 answer", f"no answer from redis://127.0.0.1:{nodes[0]}")


def of_zookeeper(url):
    (port,) = ports(url)
    yield "ZooKeeper, one server", url, 0, ("version          ZooKeeper 3.", "standalone", "clock", "hint", "stands alone")
    yield "ZooKeeper, one of two does not answer", url + ",127.0.0.1:1", 1, ("no answer from 127.0.0.1:1",)
    shell = ("java", "-cp", JAR, "org.apache.zookeeper.ZooKeeperMain", "-server", f"127.0.0.1:{port}")
    for words in (("set", "/seinpaal/names/boards", "foreign"), ("create", "/closed", "x"), ("setAcl", "/closed", "world:anyone:r")):
        subprocess.run((*shell, *words), check=True, capture_output=True)
    yield "ZooKeeper, a name that is not ours", url, 1, ("name boards", "is not ours or is damaged")
    yield "ZooKeeper, a chroot that may only be read", url + "/closed", 77, ("create, read, write and delete",)


def of_embedded(program, url):
    yield "embedded", url, 0, ("file system", "all well")
    subprocess.run((program, "-s", url, "limit", "boards", "2"), check=True, capture_output=True)
    with sqlite3.connect(os.path.join(url.removeprefix("file://"), "seinpaal.db")) as database:
        (table,) = [name for (name,) in database.execute("select name from sqlite_schema where name = 'small'")]
        column = [row[1] for row in database.execute(f"pragma table_info({table})")][-1]
        database.execute(f"update {table} set {column} = zeroblob(40)")
    yield "embedded, a record that is damaged", url, 1, ("name boards",)
