"""Plays random histories of trace/ on a Redis, and compares answers, notifications and the stored state."""
from rig import *
import argparse, sys, state
from replay_parts import page
ap = argparse.ArgumentParser(); ap.add_argument('--port', type=int, default=7941); ap.add_argument('--from', dest='a', type=int, default=0); ap.add_argument('--to', type=int, default=20); ap.add_argument('--steps', type=int, default=100); ap.add_argument('--max', type=int, default=3); ap.add_argument('--binary', default='redis-server'); ap.add_argument('--all', default='255'); ap.add_argument('--general', action='store_true', help='everything by the script of the general requests')
A = ap.parse_args()
s = Server(A.port, A.binary); bad = 0; n = 0; hots = 0; calls = {}
def kinds(b):
    at, out = 0, []
    while at < len(b): out.append(b[at]); at += 3 + b[at + 1] + 256 * b[at + 2]
    return out
def take(b, at, form):
    v = struct.unpack_from('<' + form, b, at); return v, at + struct.calcsize('<' + form)
def told(b, at):
    (k,), at = take(b, at, 'H'); v, at = take(b, at, 'II' * k); (m,), at = take(b, at, 'H')
    return (v, b[at:at + m]), at + m
def parsed(b):
    'An answer as a list.'
    if isinstance(b, Exception): return 'ERR %s' % b
    (now, look), at = take(b, 0, 'dd'); out = [('start', now, look)]
    while at < len(b):
        c = b[at]; at += 1; v = ()
        if c == 1: v, at = take(b, at, 'dId'); w, at = told(b, at); v += w
        elif c == 2 or c == 6: v, at = take(b, at, 'II')
        elif c == 3:
            v, at = take(b, at, 'BIIIB')
            if v[4]: t = b[at:at + 16]; (m,), at = take(b, at + 16, 'H'); v += (t, b[at:at + m]); at += m
        elif c == 4: v, at = take(b, at, 'BB')
        elif c == 5: v, at = take(b, at, 'IIB')
        elif c == 8: v, at = take(b, at, 'B')
        elif c == 10: v, at = take(b, at, 'dH')
        elif c == 19: v, at = take(b, at, 'dHI')
        elif c == 13:
            (valid, k), at = take(b, at, 'dH'); v = (valid,)
            for _ in range(k):
                d = b[at]; at += 1
                if d == 1: f, at = take(b, at, 'd'); w, at = told(b, at); v += (('held',) + f + w,)
                elif d == 8: v += (('ended', b[at]),); at += 1
                else: v += (d,)
        elif c == 14 or c == 17: v, at = take(b, at, 'I')
        elif c in (18, 20): (m,), at = take(b, at, 'H'); v = (b[at:at + m],); at += m
        elif c == 21: out.append((21, b[at:])); return out
        elif c not in (7, 9, 11, 12, 15, 16): return 'unreadable %d %s' % (c, b.hex())
        out.append((c,) + v)
    return out
def without_place(a): return [x[:-1] if x[0] == 19 else x for x in a] if isinstance(a, list) else a
def place(dump, lease):
    line = sorted((int(x[8]), x[1], x[2]) for x in (e.split(' ') for e in dump.split(';')) if x[0] == 'T' and x[7] == 'w' and x[12] == '0')
    return next((i + 1 for i, x in enumerate(line) if x[2] == lease), None)
def whole(first, again):
    'The pages of an inspect, as trace writes a snapshot.'
    rows = set(); b = first; totals = None; pages = 0
    while True:
        t, cursor, r = page(b); rows |= set(r); pages += 1
        assert totals in (None, t), (totals, t)
        totals = t
        if cursor == '0': break
        b = again(cursor)
    holders = sum(' h ' in x[:36] for x in rows)
    return ('%s|%s|%s|%s|%s|%s|%s' % totals[:7] + '|%d|%d;' % (holders, totals[7]) + ';'.join(sorted(rows))).encode(), pages
pages = generals = 0
try:
    hot, admin = s.c('script', 'load', script(HOT)), s.c('script', 'load', script(ADMIN))
    t = subprocess.Popen([HERE + '/trace/target/release/trace', str(A.a), str(A.to), str(A.steps), A.all], stdout=subprocess.PIPE, text=True)
    skip = False; ears = {}
    for line in t.stdout:
        if line.startswith('case'):
            for k in ears.values(): k.s.close()
            s.c('flushall')
            _, case, boxes = line.split(); boxes = boxes.split(','); skip = False; step = 0; on = {b: False for b in boxes}; ears = {}; trail = []
            continue
        if skip: continue
        step += 1
        left, note = line.rstrip('\n').split(' #', 1)
        now, inbox, seen, heard, together, batches, wakes = left.split(' ')
        for b, h in zip(boxes, heard):
            if (h == '1') != on[b]:
                if b not in ears: ears[b] = Conn(A.port)
                k = ears[b]; ch = b'seinpaal:inbox:' + b.encode()
                if h == '1': k('subscribe', ch)
                else:
                    k.send('unsubscribe', ch)
                    while k.read()[0] != b'unsubscribe': pass
                on[b] = h == '1'
        batches = [x.split('\x01') for x in batches.split('\x02')]
        keys, args, ops = [], [], []
        for at, requests, want, dump in batches:
            requests = bytes.fromhex(requests) if requests != '-' else b''
            ops += kinds(requests)
            key = 'seinpaal:{c%sn%s}' % (case, at); keys += [key, key + ':o']
            args.append(struct.pack('<Bd', 64 + 16 + 1 + (8 if together == '1' else 0), float(seen)) + (bytes.fromhex(inbox) if inbox != '-' else bytes(16)) + requests + struct.pack('<d', float(now)))
        is_hot = not A.general and all(o <= 6 for o in ops) and together == '0'
        hots += is_hot
        for o in ops: calls[o] = calls.get(o, 0) + 1
        trail.append((step, now, inbox, note))
        try: got = s.c('evalsha', hot if is_hot else admin, len(keys), *keys, *args)
        except Exception as e: got = e
        # The client repeats what the hot script leaves to the general one.
        is_general = lambda e: isinstance(e, Exception) and str(e).startswith('SEINPAALGENERAL')
        if is_general(got): got = s.c('evalsha', admin, len(keys), *keys, *args); generals += 1
        elif isinstance(got, list):
            for i, g in enumerate(got):
                if is_general(g): got[i] = s.c('evalsha', admin, 2, *keys[2 * i:2 * i + 2], args[i]); generals += 1
        got = got if isinstance(got, list) else [got]
        got = [parsed(x) for x in got]
        if ops == [11] and isinstance(got[0], list):
            again = lambda c: parsed(s.c('evalsha', admin, len(keys), *keys, args[0][:25] + struct.pack('<BHH', 11, 2 + len(c), 3) + c.encode() + args[0][-8:]))[1][1]
            w, p = whole(got[0][1][1], again); got[0][1] = (21, w); pages += p
        heardw = []
        for b in boxes:
            if on[b]:
                k = ears[b]; k.send('ping')
                while True:
                    r = k.read()
                    if r == [b'pong', b''] or r == b'PONG': break
                    m = r[2]; i = m.rindex(b'seinpaal:{'); heardw.append(b + ':' + m[i + 10:-1].decode() + ':' + m[:i].hex())
        expect = sorted(w for w in (wakes.split(',') if wakes != '-' else []) if on.get(w.split(':')[0]))
        n += 1; wrong = []
        wants = [without_place(parsed(bytes.fromhex(b[2]))) for b in batches if b[2]]
        for b, g in zip(batches, got):
            r = bytes.fromhex(b[1]) if b[1] != '-' else b''
            if len(kinds(r)) == 1 and r[0] == 3 and r[19] and g[-1][0] == 19:
                want = place(b[3].replace('\x03', ' '), r[3:15].hex() + '7fffffff')
                if g[-1][-1] != want: wrong.append(('place', want, g[-1][-1]))
        if [without_place(g) for g in got] != wants: wrong.append(('answer', wants, got))
        if sorted(heardw) != expect: wrong.append(('notifications', expect, sorted(heardw)))
        for at, _, _, dump in batches:
            key = 'seinpaal:{c%sn%s}' % (case, at)
            fields = s.c('hgetall', key); fields = dict(zip(fields[::2], fields[1::2]))
            order = s.c('zrange', key + ':o', 0, -1)
            try: have = state.decode(fields, order)
            except AssertionError as e: have = 'BROKEN %r' % (e,)
            dump = dump.replace('\x03', ' ')
            if have != dump:
                a, b = dump.split(';'), have.split(';')
                wrong.append(('state', [x for x in a if x not in b], [x for x in b if x not in a]))
            if fields and not dump: wrong.append(('left behind',))
            if fields:
                dl = struct.unpack_from('<d', fields[b'h'], 60)[0]
                if (s.c('pttl', key) > 0) != (dl > 0) or order and (s.c('pttl', key + ':o') > 0) != (dl > 0): wrong.append(('expiry', dl, s.c('pttl', key), s.c('pttl', key + ':o')))
        if wrong:
            bad += 1; skip = True
            print(f'case {case} step {step} now {now} inbox {inbox} heard {heard} hot {is_hot}')
            for x in trail[-3:]: print('   ', x[0], x[1], x[2], x[3][:1800])
            for x in wrong: print('  ', x)
            if bad >= A.max: break
    t.kill()
    print(n, 'steps compared,', hots, 'by the hot script,', bad, 'differences', pages, 'pages,', generals, 'named', dict(sorted(calls.items())))
finally: s.stop()
