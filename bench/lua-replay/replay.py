"""Plays random histories of trace/ on a Redis, and compares answers, notifications and the stored state."""
from rig import *
import argparse, sys, state
ap = argparse.ArgumentParser(); ap.add_argument('--port', type=int, default=7941); ap.add_argument('--from', dest='a', type=int, default=0); ap.add_argument('--to', type=int, default=20); ap.add_argument('--steps', type=int, default=100); ap.add_argument('--max', type=int, default=3); ap.add_argument('--binary', default='redis-server'); ap.add_argument('--all', default='255'); ap.add_argument('--general', action='store_true', help='everything by the script of the general requests')
A = ap.parse_args()
s = Server(A.port, A.binary); bad = 0; n = 0; hots = 0; calls = {}
def kinds(b):
    at, out = 0, []
    while at < len(b): out.append(b[at]); at += 3 + b[at + 1] + 256 * b[at + 2]
    return out
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
            args.append(struct.pack('<BBdd', 1, 1 + (8 if together == '1' else 0), float(now), float(seen)) + (bytes.fromhex(inbox) if inbox != '-' else bytes(16)) + requests)
        is_hot = not A.general and all(o <= 6 for o in ops)
        hots += is_hot
        for o in ops: calls[o] = calls.get(o, 0) + 1
        trail.append((step, now, inbox, note))
        try: got = s.c('evalsha', hot if is_hot else admin, len(keys), *keys, *args)
        except Exception as e: got = e
        got = got if isinstance(got, list) else [got]
        got = [x.hex() if isinstance(x, bytes) else 'ERR ' + str(x) for x in got]
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
        wants = [b[2] for b in batches if b[2]]
        if got != wants: wrong.append(('answer', wants, got))
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
                dl = struct.unpack_from('<d', fields[b'h'], 64)[0]
                if (s.c('pttl', key) > 0) != (dl > 0) or order and (s.c('pttl', key + ':o') > 0) != (dl > 0): wrong.append(('expiry', dl, s.c('pttl', key), s.c('pttl', key + ':o')))
        if wrong:
            bad += 1; skip = True
            print(f'case {case} step {step} now {now} inbox {inbox} heard {heard} hot {is_hot}')
            for x in trail[-3:]: print('   ', x[0], x[1], x[2], x[3][:1800])
            for x in wrong: print('  ', x)
            if bad >= A.max: break
    t.kill()
    print(n, 'steps compared,', hots, 'by the hot script,', bad, 'differences', dict(sorted(calls.items())))
finally: s.stop()
