"""What random histories do not reach: errors, memory, the restart guard, clients that do not listen yet, expiry of keys."""
from rig import *
from bench import Client, P, U
import replay_parts as R
s = Server(7971)
c = s.c
hot, admin, readsha = (c('script', 'load', script(x)) for x in (HOT, ADMIN, READ))
def key(n): return 'seinpaal:{%s}' % n
def run(sha, name, arg, extra_keys=(), extra=()):
    try: return c('evalsha', sha, 2 + len(extra_keys), key(name), key(name) + ':o', *extra_keys, arg, *extra)
    except Exception as e: return str(e)
def ok(what, x): print('ok ' if x else 'BAD', what); ok.bad += not x
ok.bad = 0
A, B = Client(1), Client(2)
# errors
c('set', key('str'), 'x'); ok('wrong type', 'WRONGTYPE' in run(hot, 'str', A.call(A.acq())) or 'CORRUPT' in run(hot, 'str', A.call(A.acq())))
print('   ', run(hot, 'str', A.call(A.acq())), '|', run(admin, 'str', A.call(A.acq())))
c('hset', key('foreign'), 'a', 'b'); ok('foreign hash', 'SEINPAALCORRUPT' in run(hot, 'foreign', A.call(A.acq())) and 'SEINPAALCORRUPT' in run(admin, 'foreign', A.call(A.acq())))
c('hset', key('old'), 'h', b'\x0c' + bytes(100)); ok('old format', 'SEINPAALFORMAT' in run(hot, 'old', A.call(A.acq())) and 'SEINPAALFORMAT' in run(admin, 'old', A.call(A.acq())))
c('hset', key('short'), 'h', b'\x1e' + bytes(10)); ok('short header', 'SEINPAALCORRUPT' in run(hot, 'short', A.call(A.acq())) and 'SEINPAALCORRUPT' in run(admin, 'short', A.call(A.acq())))
ok('bad request', 'SEINPAALARGUMENT' in run(hot, 'arg', A.call(A.op(77, A.home))) and 'SEINPAALARGUMENT' in run(hot, 'arg', A.call(A.acq(permits=0))) and 'SEINPAALARGUMENT' in run(hot, 'arg', A.call(A.acq())[:-5]) and c('exists', key('arg')) == 0)
A.n = 0; run(hot, 'dmg', A.call(A.acq())); c('hset', key('dmg'), A.home, b'\1' * 90); x = run(hot, 'dmg', A.call(A.rel(1))); print('   ', x); ok('damaged record', 'too short' in str(x) or 'SEINPAAL' in str(x) or x[16:17] == b'\x09')
x = run(admin, 'dmg', A.call(A.rel(1))); ok('damaged record, general', 'SEINPAALCORRUPT' in str(x))
# many names in a call; one of them damaged
keys = [k for n in ('b1', 'foreign', 'b3') for k in (key(n), key(n) + ':o')]
a = [Client(k + 50) for k in range(3)]
x = c('evalsha', hot, 6, *keys, *[q.call(q.acq()) for q in a]); ok('bundle', x[0][16] == 1 and isinstance(x[1], Exception) and x[2][16] == 1)
# 65 tickets
D = Client(9)
for _ in range(64): assert run(hot, 'many', D.call(D.acq(limit=1000)))[16] == 1
ok('65th ticket', 'at most 64' in str(run(hot, 'many', D.call(D.acq(limit=1000)))) and 'at most 64' in str(run(admin, 'many', D.call(D.acq(limit=1000)))))
# a young name goes with what it remembers
A.n = 0; run(hot, 'young', A.call(A.acq(ttl=30e6))); p1 = c('pttl', key('young')); run(hot, 'young', A.call(A.rel(1))); p2 = c('pttl', key('young')); p3 = c('pttl', key('young') + ':o'); ok('expiry of a young name %s %s %s' % (p1, p2, p3), p1 > 36 * 3600e3 and 29e3 < p2 <= 31.1e3 and abs(p2 - p3) < 5)
for k in range(40): q = Client(1); q.n = k + 1; run(hot, 'busy', q.call(q.acq(ttl=30e6))); run(hot, 'busy', q.call(q.rel(q.n)))
ok('a busy name keeps its expiry', c('pttl', key('busy')) > 36 * 3600e3)
# a client that does not listen yet
H, W, V = Client(20), Client(21, 0), Client(22, 0)
run(hot, 'grace', H.call(H.acq(limit=1))); run(hot, 'grace', W.call(W.acq(limit=1, wait=True)))
run(hot, 'grace', H.call(H.rel(1))); x = run(hot, 'grace', W.call(W.prove(1))); ok('granted within two seconds', x[16] == 13 and x[27] == 1)
H, W, V = Client(20), Client(21, 0), Client(22, 1)
run(hot, 'grace2', H.call(H.acq(limit=1))); run(hot, 'grace2', W.call(W.acq(limit=1, wait=True))); run(hot, 'grace2', V.call(V.acq(limit=1, wait=True)))
time.sleep(2.1); run(hot, 'grace2', H.call(H.rel(1))); x = run(hot, 'grace2', V.call(V.prove(1))); y = run(hot, 'grace2', W.call(W.prove(1))); ok('passed over afterwards', y[16] == 13 and y[27] == 2)
# a refusal with its holder
H = Client(30); run(hot, 'why', H.call(H.acq(limit=1, about=b'me'))); q = Client(31); x = run(hot, 'why', q.call(q.acq(limit=1, wants=2))); ok('refusal names a holder', x[16] == 3 and x[30] == 1 and x[31:47] == H.series + b'\0\0\0\1' and x.endswith(b'\2\0me'))
# reading
run(hot, 'why', q.call(q.acq(limit=1, wait=True)))
x = c('evalsha', readsha, 8, *[k for n in ('why', 'none', 'foreign', 'young') for k in (key(n), key(n) + ':o')], '10', ''); ok('read', x[0][:1] == b'\x15' and x[1] == b'unused' and x[2] == b'look' and x[3] == b'unused'); t, cur, rows = R.page(x[0][1:]); print('   ', t, rows)
# the restart guard
m = 'seinpaal:guard'
g = Client(40); x = run(hot, 'guarded', g.call(g.acq()), (m,), ('5000000',)); ok('guarded', x[16] == 3 and x[17] == 4)
x = run(admin, 'guarded', g.call(g.acq()), (m,), ('5000000',)); ok('guarded, general', x[16] == 3 and x[17] == 4)
for _ in range(12): time.sleep(.6); x = run(hot, 'guarded', g.call(g.acq(limit=100)), (m,), ("5000000",))
ok('the guard ends', x[16] == 1); print('   ', c('hgetall', m))
x = run(hot, 'guarded', g.call(g.rel(g.n)), (m,), ('5000000',)); ok('release with the guard', x[16] == 14)
c('set', 'seinpaal:guard2', 'x'); x = run(hot, 'guarded2', g.call(g.acq()), ('seinpaal:guard2',), ('5000000',)); ok('foreign marker: %s' % x, 'SEINPAALCORRUPT' in str(x))
# no memory
M = Client(60); assert run(hot, 'oom', M.call(M.acq()))[16] == 1
N = Client(61); assert run(hot, 'oom', N.call(N.acq()))[16] == 1
O = Client(62); run(hot, 'oom2', O.call(O.acq(limit=1))); Q = Client(63); sub = Conn(s.port); sub('subscribe', 'seinpaal:inbox:' + Q.inbox.hex()); run(hot, 'oom2', Q.call(Q.acq(limit=1, wait=True)))
c('config', 'set', 'maxmemory', '1')
x = run(hot, 'oom', M.call(M.acq())); y = run(admin, 'oom', M.call(M.acq())); z = run(hot, 'oomnew', M.call(M.acq())); ok('OOM refuses growth', all('SEINPAALOOM' in str(v) or str(v).startswith('OOM') for v in (x, y, z)) and c('exists', key('oomnew')) == 0); print('   ', x, y, z)
ok('OOM: a release works', run(hot, 'oom', M.call(M.rel(1)))[16] == 14)
ok('OOM: a renewal works', run(hot, 'oom', N.call(N.renew([1])))[16] == 10)
ok('OOM: a hand-over works', run(hot, 'oom2', O.call(O.rel(1)))[16] == 14 and run(hot, 'oom2', Q.call(Q.prove(1)))[27] == 1)
ok('OOM: release by an operator', run(admin, 'oom', P('<Bd', 65, 0.) + bytes(16) + N.rel(1))[16] == 14)
c('config', 'set', 'maxmemory', '0')
# cluster constants
x = run(hot, 'shard', P('<Bd', 67, 0.) + A.inbox + Client(70).acq()); ok('sharded: z is listed %r' % (c('zrange', key('shard') + ':o', 0, -1),), b'z' in c('zrange', key('shard') + ':o', 0, -1))
# memory and load
for n, x in (('hot', HOT), ('admin', ADMIN), ('read', READ)):
    c('script', 'flush', 'sync'); i0 = int(re.search(rb'used_memory_vm_eval:(\d+)', c('info', 'memory')).group(1)); t = time.perf_counter(); c('script', 'load', script(x)); t = time.perf_counter() - t
    print('   ', n, len(script(x)), 'bytes, load %.2f ms,' % (1000 * t), int(re.search(rb'used_memory_vm_eval:(\d+)', c('info', 'memory')).group(1)) - i0, 'bytes of Lua heap')
s.stop(); print('bad:', ok.bad)
