"""Counts the server's instructions by callgrind: the difference of two lengths of a run, as the project's own bench does."""
from rig import *
import hashlib, sys, shutil
PORT = [10000 + os.getpid() % 20000]
P = struct.pack
def ctl(pid, *w, cwd=None): subprocess.run(['callgrind_control', *w, str(pid)], cwd=cwd, check=True, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
class Counted:
    def __init__(s):
        PORT[0] += 1; s.port = PORT[0]; s.dir = f'/tmp/lua-bench-{s.port}'; shutil.rmtree(s.dir, ignore_errors=True); os.makedirs(s.dir)
        s.p = subprocess.Popen(['valgrind', '--tool=callgrind', '--instr-atstart=no', '--callgrind-out-file=callgrind.out', '--toggle-collect=serverCron', '--collect-atstart=yes', 'redis-server', '--port', str(s.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--hz', '1', '--dynamic-hz', 'no'], cwd=s.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(1200):
            try: s.r = Conn(s.port); s.r('PING'); break
            except OSError: time.sleep(.05)
        ctl(s.p.pid, '-i', 'on', cwd=s.dir)
    def conn(s): return Conn(s.port)
    def count(s): ctl(s.p.pid, '-z', cwd=s.dir); s.t = time.time()
    def total(s):
        n = len(glob.glob(s.dir + '/callgrind.out.*')); ctl(s.p.pid, '-d', cwd=s.dir)
        while True:
            f = s.dir + '/callgrind.out.%d' % (n + 1)
            if os.path.exists(f):
                t = open(f).read()
                if 'totals:' in t: return int(re.search(r'summary: (\d+)', t).group(1))
            time.sleep(.01)
    def idle(s): s.count(); time.sleep(1.5); x = s.total(); return x / (time.time() - s.t)
    def close(s): s.p.terminate(); s.p.wait()
def measure(setup, step, n, warm=40):
    sv = Counted()
    try:
        st = setup(sv)
        for i in range(warm): step(st, i)
        idle = sv.idle(); out = []; at = warm
        for k in (n, 2 * n):
            sv.r('EVAL', "return collectgarbage('collect')", 0)
            sv.count(); t = time.time()
            for i in range(k): step(st, at); at += 1
            x = sv.total(); out.append(x - idle * (time.time() - t))
        return (out[1] - out[0]) / n
    finally: sv.close()
ABOUT = b'host=worker-17\npid=4711\ncmd=train --gpu 0 -x 1'[:46]
U = 2.0 ** 53
def digest(series, n):
    m = (n * 69069 + int.from_bytes(series[9:12], 'big')) & 0xffffff
    return m * (m * m & 0xffffff)
class Client:
    def __init__(s, k, listens=1):
        s.inbox = hashlib.md5(b'inbox%d' % k).digest(); s.series = hashlib.md5(b's%d' % k).digest()[:12]; s.home = s.series + bytes(4); s.n = 0; s.listens = listens
    def call(s, *rs): return P('<Bd', 64 + s.listens, 0.0) + s.inbox + b''.join(rs)
    def op(s, c, body): return P('<BH', c, len(body)) + body
    def acq(s, limit=4, wait=False, permits=1, ttl=900e6, kind=b's', rule=1, priority=0, n=None, about=ABOUT, wants=0):
        if n is None: s.n += 1; n = s.n
        return s.op(1, s.home + P('<I', n) + kind + P('<BBIIddddbd', rule, wants, permits, limit, ttl, ttl * .01 + 1e6, U, U if wait else -1.0, priority, 600e6) + about)
    def rel(s, n): return s.op(2, s.home + P('<I', n))
    def renew(s, ns, ttl=900e6, waits=0): return s.op(3, s.home + P('<BddId', waits, ttl, ttl * .01 + 1e6, len(ns), float(sum(digest(s.series, n) for n in ns) % (1 << 48))))
    def prove(s, n, ttl=900e6): return s.op(4, s.home + P('<Idd', n, ttl, ttl * .01 + 1e6))
KEY = 'seinpaal:{bench}'
class Scripts:
    def __init__(s, sv): s.r = sv.conn(); s.sha = s.r('SCRIPT', 'LOAD', script(HOT))
    def __call__(s, arg, key=KEY, r=None): return (r or s.r)('EVALSHA', s.sha, 2, key, key + ':o', arg)
def code(a): return a[16:17]
def listen(sv, c): r = sv.conn(); r('SUBSCRIBE', 'seinpaal:inbox:' + c.inbox.hex()); return r
def pair_setup(sv): return Scripts(sv), Client(1)
def pair(st, i):
    S, c = st; a = S(c.call(c.acq())); b = S(c.call(c.rel(c.n))); assert code(a) == b'\1' and code(b) == b'\x0e', (a, b)
def new(st, i):
    S, _ = st; c = Client(100000 + i, 0); k = 'seinpaal:{b%d}' % i; S(c.call(c.acq()), k); S(c.call(c.rel(c.n)), k)
def turns_setup(sv): return Scripts(sv), [Client(1), Client(2)]
def both(st, i):
    'two clients hold at once, a pair each'
    S, (a, b) = st
    if a.n == 0: S(a.call(a.acq()))
    x = S(b.call(b.acq())); S(a.call(a.rel(a.n))); y = S(a.call(a.acq())); S(b.call(b.rel(b.n))); assert code(x) == code(y) == b'\1'
def beside_setup(n):
    def f(sv):
        S = Scripts(sv)
        for k in range(n): o = Client(1000 + k); S(o.call(o.acq(limit=20000)))
        return S, Client(1)
    return f
def beside(st, i):
    S, c = st; S(c.call(c.acq(limit=20000))); S(c.call(c.rel(c.n)))
def grow_setup(sv): return Scripts(sv), [0]
def grow(st, i):
    S, k = st; k[0] += 1; o = Client(1000 + k[0]); a = S(o.call(o.acq(limit=20000))); assert code(a) == b'\1'
def hand_setup(sv):
    S = Scripts(sv); cs = [Client(1), Client(2)]; subs = [listen(sv, c) for c in cs]; rs = [sv.conn(), sv.conn()]
    S(cs[0].call(cs[0].acq(limit=1)), r=rs[0]); return S, cs, subs, rs
def hand(st, i):
    S, cs, subs, rs = st; a, b = i % 2, 1 - i % 2
    q = S(cs[b].call(cs[b].acq(limit=1, wait=True)), r=rs[b]); assert code(q) == b'\2', q
    x = S(cs[a].call(cs[a].rel(cs[a].n)), r=rs[a]); assert code(x) == b'\x0e', x
    subs[b].read(); p = S(cs[b].call(cs[b].prove(cs[b].n)), r=rs[b]); assert code(p) == b'\x0d', p
def renew_setup(n, beside=0, waiters=0):
    def f(sv):
        S = Scripts(sv); c = Client(1)
        for k in range(beside): o = Client(1000 + k); S(o.call(o.acq(limit=20000)))
        for k in range(n): a = S(c.call(c.acq(limit=20000))); assert code(a) == b'\1', a
        for k in range(waiters): o = Client(50000 + k); a = S(o.call(o.acq(limit=20000, wait=True, permits=20000))); assert code(a) == b'\2', a
        return S, c, list(range(1, n + 1))
    return f
def renew(st, i): S, c, ns = st; x = S(c.call(c.renew(ns))); assert code(x) == b'\x0a', x
def wrenew_setup(n):
    def f(sv):
        S = Scripts(sv); a = Client(1); S(a.call(a.acq(limit=1)))
        for k in range(n): o = Client(1000 + k); listen(sv, o) if n < 200 else 0; S(o.call(o.acq(limit=1, wait=True)))
        return S, Client(1000 + n // 2)
    return f
def wrenew(st, i): S, c = st; x = S(c.call(c.renew([1], waits=1))); assert code(x) == b'\x13', x
def crowd_setup(n):
    def f(sv):
        S = Scripts(sv); cs = [Client(k) for k in range(n)]; subs = [listen(sv, c) for c in cs]; rs = [sv.conn() for _ in cs]
        S(cs[0].call(cs[0].acq(limit=1)), r=rs[0])
        for k in range(1, n): S(cs[k].call(cs[k].acq(limit=1, wait=True)), r=rs[k])
        return S, cs, subs, rs, [0]
    return f
def crowd(st, i):
    S, cs, subs, rs, h = st; n = len(cs); a = h[0]; b = (a + 1) % n
    S(cs[a].call(cs[a].rel(cs[a].n)), r=rs[a]); subs[b].read()
    p = S(cs[b].call(cs[b].prove(cs[b].n)), r=rs[b]); assert code(p) == b'\x0d', p
    q = S(cs[a].call(cs[a].acq(limit=1, wait=True)), r=rs[a]); assert code(q) == b'\2', q
    h[0] = b
def merged_setup(n): return lambda sv: (Scripts(sv), Client(1), n)
def merged(st, i):
    S, c, n = st; first = c.n + 1
    S(c.call(*[c.acq(limit=n) for _ in range(n)])); S(c.call(*[c.rel(k) for k in range(first, first + n)]))
def try_setup(sv):
    S = Scripts(sv); o = Client(5); S(o.call(o.acq(limit=1))); return S, Client(1)
def tried(st, i): S, c = st; x = S(c.call(c.acq(limit=1))); assert code(x) == b'\3', x
ROWS = [('pair', pair_setup, pair, 256, 1), ('pair at a new name', pair_setup, new, 128, 1), ('two hold at once, a pair', turns_setup, both, 128, 2), ('growth to 10 000', grow_setup, grow, 3300, 1),
    ('pair beside 10', beside_setup(10), beside, 96, 1), ('pair beside 1000', beside_setup(1000), beside, 96, 1), ('pair beside 10000', beside_setup(10000), beside, 96, 1),
    ('try, refused', try_setup, tried, 128, 1), ('hand-over', hand_setup, hand, 96, 1), ('crowd 4', crowd_setup(4), crowd, 96, 1), ('crowd 16', crowd_setup(16), crowd, 96, 1), ('crowd 64', crowd_setup(64), crowd, 96, 1),
    ('renewal of 1', renew_setup(1), renew, 192, 1), ('renewal of 30', renew_setup(30), renew, 96, 1), ('renewal of 64', renew_setup(64), renew, 96, 1), ('renewal beside 1000', renew_setup(1, 1000), renew, 96, 1), ('renewal beside waiters', renew_setup(1, 0, 50), renew, 96, 1), ('waiter renews, of 50', wrenew_setup(50), wrenew, 96, 1), ('waiter renews, of 1000', wrenew_setup(1000), wrenew, 96, 1),
    ('merged pair of 16', merged_setup(16), merged, 24, 16)]
if __name__ == '__main__':
    sel = sys.argv[1:]
    for name, f, g, n, per in ROWS:
        if sel and name not in sel: continue
        try: print('%-26s %8.1f' % (name, measure(f, g, n, 3300 if 'growth' in name else 40) / per / 1000), flush=True)
        except Exception as e: print(name, 'failed', repr(e)[:300], flush=True)
