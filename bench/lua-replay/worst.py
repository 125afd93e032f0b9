"""The longest calls: how long the server is blocked, by its own slow log."""
from rig import *
from bench import Client, P
s = Server(7981); c = s.c
hot, admin = c('script', 'load', script(HOT)), c('script', 'load', script(ADMIN))
c('config', 'set', 'slowlog-log-slower-than', '0')
K = 'seinpaal:{w}'
def call(cl, *rs, now, sha=hot): return c('evalsha', sha, 2, K, K + ':o', P('<Bd', 64 + 16 + 1, 0.) + cl.inbox + b''.join(rs) + P('<d', float(now)))
def slowest(fn):
    c('slowlog', 'reset'); r = fn(); return max(e[2] for e in c('slowlog', 'get', '10') if e[3][0].lower() == b'evalsha') / 1000, r
def fresh(): c('flushall')
T = 1.7e15
subs = []
def listening(k):
    cl = Client(k); x = Conn(s.port); x('subscribe', 'seinpaal:inbox:' + cl.inbox.hex()); subs.append(x); return cl
fresh(); cs = [Client(k) for k in range(300)]
for q in cs: call(q, q.acq(limit=1000, ttl=30e6), now=T)
print('300 leases run out, a call: %.2f ms' % slowest(lambda: call(Client(999), now=T + 40e6))[0])
fresh(); cs = [Client(k) for k in range(3)]
for q in cs:
    for _ in range(64): call(q, q.acq(limit=1000, ttl=30e6), now=T)
print('3 leases of 64 run out, a call: %.2f ms' % slowest(lambda: call(Client(999), now=T + 40e6))[0])
fresh(); a = Client(1); call(a, a.acq(limit=200, permits=200, ttl=900e6), now=T); ws = [listening(100 + k) for k in range(200)]
for q in ws: call(q, q.acq(limit=200, wait=True), now=T + 1)
print('200 waiters are granted at once, a call: %.2f ms' % slowest(lambda: call(a, a.rel(1), now=T + 1000))[0])
fresh(); call(a, a.acq(limit=200, permits=200, ttl=900e6, n=1), now=T); ws = [Client(1000 + k) for k in range(300)]
for q in ws: call(q, q.acq(limit=200, wait=True), now=T + 1)
print('300 waiters that cannot be reached, a call: %.2f ms' % slowest(lambda: call(a, a.rel(1), now=T + 1000))[0])
fresh(); m = Client(5); print('64 merged acquires: %.2f ms' % slowest(lambda: call(m, *[m.acq(limit=64) for _ in range(64)], now=T))[0])
print('64 merged releases: %.2f ms' % slowest(lambda: call(m, *[m.rel(k + 1) for k in range(64)], now=T + 1))[0])
fresh(); cs = [Client(k) for k in range(64)]
for k, q in enumerate(cs): q.inbox = cs[0].inbox; call(q, q.acq(limit=1000), now=T)
print('renewal of 64 leases: %.2f ms' % slowest(lambda: call(cs[0], *[q.renew([1]) for q in cs], now=T + 1))[0])
fresh(); q = cs[0]; q.n = 0
for k in range(64): call(q, q.acq(limit=1000), now=T)
print('renewal of 64 tickets of a lease: %.2f ms' % slowest(lambda: call(q, q.op(6, q.home + P('<dd', 30e6, 1e6) + b''.join(q.series + (k + 1).to_bytes(4, 'big') for k in range(64))), now=T + 2))[0])
print('inspect, 64 records: %.2f ms' % slowest(lambda: call(Client(1), q.op(11, P('<H', 64) + b'0'), now=T + 3, sha=admin))[0])
s.stop()
