"""Counts the server's instructions of queues, as bench.py does for names."""
from rig import *
from bench import measure, ABOUT, P, U
import hashlib, sys
KEY = 'seinpaal:{bench}:q'
def be(n): return int(n).to_bytes(8, 'big')
class Session:
    def __init__(s, k, listens=1):
        s.inbox = hashlib.md5(b'inbox%d' % k).digest(); s.number = 0; s.listens = listens; s.held = []
    def call(s, *rs, number=None, now=None):
        if number is None: s.number += 1; number = s.number
        return P('<Bddd', 64 + s.listens + (16 if now else 0), number, (now or time.time() * 1e6) + 10e6, 0.) + s.inbox + b''.join(rs) + (P('<d', now) if now else b'')
def op(c, body=b''): return P('<BH', c, len(body)) + body
def push(priority=0, most=5, how=0, due=0., window=0., group=b'', key=b'', about=ABOUT): return op(1, P('<bIBddHH', priority, most, how + 4 * (group != b'') + 8 * (key != b''), due, window, len(group), len(key)) + group + key + about)
def pop(n=1, ttl=30e6, wait=0, drains=0, about=ABOUT): return op(2, P('<BddB', n, ttl, ttl * .01 + 1e6, wait + 2 * drains) + about)
def ack(d): return op(3, d)
def release(d, delay=0.): return op(4, d + P('<d', delay))
def fail(d, delay=0., reason=b'no route'): return op(5, d + P('<d', delay) + reason)
def renew(ds, ttl=30e6): return op(6, P('<dd', ttl, ttl * .01 + 1e6) + b''.join(ds))
def leave(): return op(7)
def cancel(i, spares=0): return op(8, i + P('<B', spares))
def retry(i): return op(9, i)
def delete(i): return op(10, i)
def purge(what): return op(11, what)
def configure(what, value=b''): return op(12, what + (P('<I', value) if isinstance(value, int) else value))
def inspect(rows): return op(13, P('<H', rows))
def lists(rows, place): return op(14, P('<H', rows) + place)
def text(a): return a[0] if isinstance(a, list) else a
def popped(a, at=17):
    'The deliveries and the payloads of an answer that begins with a popped at this place.'
    b = text(a); code, valid, left, n = struct.unpack_from('<BddB', b, at); at += 18; out = []
    assert code == 3, a
    for i in range(n):
        d = b[at:at + 16]; _, _, _, _, g, w = struct.unpack_from('<IIbdHH', b, at + 16); at += 16 + 21 + g + w; out.append((d, a[1 + i]))
    return out
class Queue:
    def __init__(s, sv, key=KEY): s.r = sv.conn(); s.sha = s.r('SCRIPT', 'LOAD', script(QUEUE, QUEUES)); s.key = key
    def __call__(s, arg, *payloads, r=None): return (r or s.r)('EVALSHA', s.sha, 2, s.key, s.key + ':o', arg, *payloads)
PAYLOAD = b'x' * 100
def fill(Q, c, n, **k):
    ids = []
    for at in range(0, n, 64):
        m = min(64, n - at); a = Q(c.call(*[push(**k) for _ in range(m)]), *[PAYLOAD] * m); ids += [a[17 + 9 * i + 1:17 + 9 * i + 9] for i in range(m)]
    return ids
def hold(Q, c, n, r=None):
    out = []
    for at in range(0, n, 64): out += [d for d, _ in popped(Q(c.call(pop(min(64, n - at))), r=r))]
    return out
def push_setup(n, workers=0):
    def f(sv):
        Q = Queue(sv); c = Session(1); fill(Q, c, n)
        for k in range(workers): w = Session(1000 + k); w.held = hold(Q, w, 1)
        return Q, c
    return f
def pushed(st, i): Q, c = st; t = time.time(); a = Q(c.call(push()), PAYLOAD); assert a[17] == 1, (a, t, time.time(), struct.unpack_from('<d', a))
def pushed64(st, i): Q, c = st; a = Q(c.call(*[push()] * 64), *[PAYLOAD] * 64); assert a[17] == 1 and len(a) == 17 + 9 * 64, a
def work_setup(n, others=0, at_once=1, **k):
    def f(sv):
        Q = Queue(sv); c = Session(1); fill(Q, c, n, **k)
        for j in range(others): w = Session(1000 + j); hold(Q, w, 1)
        w = Session(2); w.held = hold(Q, w, at_once); return Q, w, at_once
    return f
def worked(st, i): Q, w, n = st; a = Q(w.call(*[ack(d) for d in w.held], pop(n))); w.held = [d for d, _ in popped(a, 17 + len(w.held))]; assert len(w.held) == n, a
def idle_setup(n):
    'A producer whose pushes call a worker, which pops and finishes at once, and waits again.'
    def f(sv):
        Q = Queue(sv); c = Session(1); ws = [Session(10 + k) for k in range(n)]; fill(Q, c, 1); hold(Q, Session(3), 1)
        by = {}
        for w in ws: s = sv.conn(); s('SUBSCRIBE', 'seinpaal:inbox:' + w.inbox.hex()); Q(w.call(pop(1, wait=1))); by[w.inbox] = (w, s)
        return Q, c, ws, by, sv.conn()
    return f
def idled(st, i, count=None):
    Q, c, ws, by, r = st
    Q(c.call(push()), PAYLOAD)
    m = r('ZRANGEBYLEX', KEY + ':o', '[k', '(l', 'LIMIT', 0, 1)[0]; w, _ = by[m[18:34]]
    a = Q(w.call(pop(1, wait=1))); [(d, _)] = popped(a); Q(w.call(ack(d), pop(1, wait=1)))
def renew_setup(n, others=0):
    def f(sv):
        Q = Queue(sv); c = Session(1); fill(Q, c, n + others)
        for j in range(others): hold(Q, Session(1000 + j), 1)
        w = Session(2); w.held = hold(Q, w, n); return Q, w
    return f
def renewed(st, i): Q, w = st; a = Q(w.call(renew(w.held))); assert a[17] == 4 and len(a) == 17 + 11, a
def released(st, i): Q, w, _ = st; a = Q(w.call(release(w.held[0]), pop(1))); w.held = [d for d, _ in popped(a, 18)]
def failed(st, i): Q, w, _ = st; a = Q(w.call(fail(w.held[0], 1e12), pop(1))); w.held = [d for d, _ in popped(a, 18)]
def cancelled(st, i): Q, w, _ = st; a = Q(w.call(push()), PAYLOAD); b = Q(w.call(cancel(a[18:26]))); assert b[17] == 10, b
def inspected(st, i): Q, w, _ = st; a = Q(w.call(inspect(0), number=0)); assert a[17] == 16
def inspected20(st, i): Q, w, _ = st; a = Q(w.call(inspect(20), number=0)); assert a[17] == 16
def listed20(st, i): Q, w, _ = st; a = Q(w.call(lists(20, b'g'), number=0)); assert a[17] == 17
def delayed(st, i): Q, c = st; a = Q(c.call(push(how=1, due=3600e6)), PAYLOAD); assert a[17] == 1
def grouped(st, i): Q, c = st; a = Q(c.call(push(group=b'g%d' % (i % 100))), PAYLOAD); assert a[17] == 1
def deduped(st, i): Q, c = st; a = Q(c.call(push(key=b'key%d' % i, window=3600e6)), PAYLOAD); assert a[17] == 1
def empty_setup(sv): return Queue(sv), Session(1), Session(2)
def alone(st, i): Q, c, w = st; Q(c.call(push()), PAYLOAD); [(d, _)] = popped(Q(w.call(pop()))); Q(w.call(ack(d)))
def due_setup(sv):
    Q = Queue(sv); c = Session(1); return Q, c, [1.7e15]
def fell_due(st, i):
    'A job that falls due, and is popped.'
    Q, c, t = st; t[0] += 1e6
    a = Q(c.call(push(how=1, due=.5e6), now=t[0]), PAYLOAD); Q.last = a
    [(d, _)] = popped(Q(c.call(pop(), now=t[0] + .6e6))); Q(c.call(ack(d), now=t[0] + .7e6))
def expired(st, i):
    'A lease that runs out, and the job is popped again.'
    Q, c, t = st; t[0] += 60e6
    Q(c.call(push(), now=t[0]), PAYLOAD); popped(Q(c.call(pop(ttl=1e6), now=t[0] + 1e6))); [(d, _)] = popped(Q(c.call(pop(ttl=1e6), now=t[0] + 30e6))); Q(c.call(ack(d), now=t[0] + 30.5e6))
ROWS = [('push', push_setup(100), pushed, 192, 1), ('push beside 10000', push_setup(10000), pushed, 192, 1), ('push beside 1000 workers', push_setup(1100, 1000), pushed, 192, 1), ('push 64 at a time', push_setup(100), pushed64, 10, 64),
    ('pop and acknowledge', work_setup(1200), worked, 192, 1), ('pop and ack beside 10000', work_setup(10000), worked, 192, 1), ('pop and ack beside 1000 workers', work_setup(2200, 1000), worked, 192, 1), ('pop and ack 64 at once', work_setup(6000, 0, 64), worked, 10, 64), ('pop and ack, 100 groups', work_setup(1200, group=b'g'), worked, 192, 1),
    ('push, pop, ack, empty queue', empty_setup, alone, 96, 1), ('push, called worker, ack', idle_setup(1), idled, 96, 1), ('push, called worker of 1000, ack', idle_setup(1000), idled, 96, 1),
    ('renew 1', renew_setup(1), renewed, 192, 1), ('renew 1 beside 1000', renew_setup(1, 1000), renewed, 192, 1), ('renew 60', renew_setup(60), renewed, 48, 1), ('renew 500', renew_setup(500), renewed, 16, 1),
    ('release and pop', work_setup(300), released, 96, 1), ('fail, delayed, and pop', work_setup(500), failed, 96, 1), ('push and cancel', work_setup(100), cancelled, 96, 1),
    ('push delayed', push_setup(100), delayed, 96, 1), ('push into groups', push_setup(100), grouped, 128, 1), ('push with a key', push_setup(100), deduped, 128, 1), ('push, fall due, pop, ack', due_setup, fell_due, 64, 1), ('push, pop, expire, pop, ack', due_setup, expired, 64, 1),
    ('inspect', work_setup(1000), inspected, 96, 1), ('inspect 20 rows', work_setup(1000, 100), inspected20, 48, 1), ('list 20 rows', work_setup(1000), listed20, 48, 1)]
if __name__ == '__main__':
    sel = sys.argv[1:]
    for name, f, g, n, per in ROWS:
        if sel and not any(x in name for x in sel): continue
        try: print('%-34s %8.1f' % (name, measure(f, g, n) / per / 1000), flush=True)
        except Exception as e: print(name, 'failed', repr(e)[:300], flush=True)
