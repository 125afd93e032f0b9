"""Plays random histories of trace's queues on a Redis, and compares answers, notifications and the stored state."""
from rig import *
import argparse, queue_state
ap = argparse.ArgumentParser(); ap.add_argument('--port', type=int, default=7951); ap.add_argument('--from', dest='a', type=int, default=0); ap.add_argument('--to', type=int, default=16); ap.add_argument('--steps', type=int, default=100); ap.add_argument('--max', type=int, default=3); ap.add_argument('--binary', default='redis-server'); ap.add_argument('--only', type=int)
U = struct.unpack_from
def be(b): return int.from_bytes(b, 'big')
def page(b, at, is_work, now, clock):
    'A page of jobs, as trace writes rows.'
    n, m = U('<HH', b, at); at += 4; cursor = b[at:at + m]; at += m; rows = []; work = ''
    for _ in range(n):
        id, sj, sa, sp = U('<8sHHH', b, at); at += 14; j = queue_state.job(id, b[at:at + sj]); at += sj; a = queue_state.attempt(b[at:at + sa]) if sa else None; at += sa; preview = b[at:at + sp]; at += sp
        work = '%d %s %s %d %d' % (a.fence, a.inbox.hex(), a.about, max(now - a.since, 0), max(a.ends - clock, 0)) if a else ''
        if is_work: assert a; rows.append('%d a %d 0 %s %s' % (j.number, j.attempts + 1, j.group, work))
        else: rows.append('%d %s %d %d %s %d %s %d %d %d %s %s %s' % (j.number, 'a' if a else j.state.decode(), j.attempts + (a is not None), j.most, j.group, j.priority, j.about, j.pushed, j.bytes, j.at, j.past, preview.hex(), work))
    return sorted(rows) if is_work or work else rows, cursor, at
def group_page(b, at):
    n, m = U('<HH', b, at); at += 4 + m; rows = []
    for _ in range(n): a, r, k = U('<IIH', b, at); at += 10; rows.append('%s %d %d' % (b[at:at + k].decode(), a, r)); at += k
    return rows, at
def readable(b):
    'Turns what people read into the form of trace; other answers stay packed.'
    if isinstance(b, Exception): return b'ERR ' + str(b).encode()
    if len(b) > 17 and b[17] == 16:
        paused, limit, group_limit, ready, delayed, active, dead, idle, oldest, due, clock, n = U('<BIIIIIIIdddH', b, 18); at = 18 + 55; reason = b[at:at + n].decode(); at += n
        work, _, at = page(b, at, True, U('<d', b)[0], clock); groups, at = group_page(b, at); assert at == len(b)
        return b[:18] + ('%d|%d|%s|%d|%d|%d|%d|%d|%d|%d\n%s\n%s' % (limit, group_limit, '=' + reason if paused else '-', ready, delayed, active, dead, idle, oldest, due, ';'.join(work), ';'.join(groups))).encode()
    if len(b) > 17 and b[17] == 17:
        rows, cursor, at = page(b, 26, False, *U('<d', b), *U('<d', b, 18)); assert at == len(b)
        return b[:18] + ';'.join(rows).encode()
    return b
def without_stale(dump):
    'A dump without the sessions that are over: in a crowd, another one may be forgotten first.'
    if not dump: return None
    parts = dump.split(';'); head = parts[0].split('|'); live = [p for p in parts[1:] if not (p.startswith('S ') and int(p.split(' ')[3]) < int(head[4]))]
    del head[15]; return head, live
if __name__ == '__main__':
    A = ap.parse_args(); s = Server(A.port, A.binary); bad = n = 0; calls = {}; trail = []
    try:
        sha = s.c('script', 'load', script(QUEUE, QUEUES))
        t = subprocess.Popen([HERE + '/trace/target/release/queues', str(A.a), str(A.to), str(A.steps)], stdout=subprocess.PIPE, text=True)
        skip = False; ears = {}
        for line in t.stdout:
            if line.startswith('case'):
                for k in ears.values(): k.s.close()
                s.c('flushall')
                _, case, boxes = line.split(); boxes = boxes.split(','); skip = A.only is not None and int(case) % 8 != A.only; step = 0; on = {b: False for b in boxes}; ears = {}; trail = []
                key = 'seinpaal:{c%s}:q' % case; continue
            if skip: continue
            step += 1; n += 1
            now, inbox, number, not_after, seen, heard, requests, payloads, want, told, wakes, dump, note = line.rstrip('\n').split('\t')
            for b, h in zip(boxes, heard):
                if (h == '1') != on[b]:
                    if b not in ears: ears[b] = Conn(A.port)
                    k = ears[b]; ch = b'seinpaal:inbox:' + b.encode()
                    if h == '1': k('subscribe', ch)
                    else:
                        k.send('unsubscribe', ch)
                        while k.read()[0] != b'unsubscribe': pass
                    on[b] = h == '1'
            unhex = lambda x: b'' if x == '-' else bytes.fromhex(x)
            body = unhex(requests); at = 0
            while at < len(body): calls[body[at]] = calls.get(body[at], 0) + 1; at += 3 + U('<H', body, at + 1)[0]
            arg = struct.pack('<Bddd', 64 + 16 + 1, float(number), float(not_after), float(seen)) + bytes.fromhex(inbox) + body + struct.pack('<d', float(now))
            trail.append((step, now, inbox, number, not_after, note))
            try: got = s.c('evalsha', sha, 2, key, key + ':o', arg, *([bytes.fromhex(p[1:]) for p in payloads.split(',')] if payloads != '-' else []))
            except Exception as e: got = e
            texts = got[1:] if isinstance(got, list) else []; got = got[0] if isinstance(got, list) else got
            heardw = []
            for b in boxes:
                if on[b]:
                    k = ears[b]; k.send('ping')
                    while True:
                        r = k.read()
                        if r == [b'pong', b''] or r == b'PONG': break
                        assert r[2].endswith(key.encode()); heardw.append(b + ':' + r[2][:-len(key)].hex())
            wrong = []
            try: got = readable(got)
            except Exception as e: wrong.append(('unreadable', repr(e), got))
            if got != bytes.fromhex(want): wrong.append(('answer', bytes.fromhex(want), got))
            if ['=' + x.hex() for x in texts] != (told.split(',') if told != '-' else []): wrong.append(('payloads', told, texts))
            expect = sorted(w for w in (wakes.split(',') if wakes != '-' else []) if on.get(w.split(':')[0]))
            if sorted(heardw) != expect: wrong.append(('notifications', expect, sorted(heardw)))
            fields = s.c('hgetall', key); fields = dict(zip(fields[::2], fields[1::2])); members = s.c('zrange', key + ':o', 0, -1)
            try: have = queue_state.decode(fields, members)
            except Exception as e: have = 'BROKEN %r' % (e,)
            if have != dump and (len(boxes) < 5 or have.startswith('BROKEN') or without_stale(have) != without_stale(dump)):
                a, b = dump.split(';'), have.split(';'); names = 'limit group_limit paused clock wall bound last ready open delayed active dead idle called wanted sessions keys watch watch_at reopen'.split(); wrong += [('header', k, x, y) for k, x, y in zip(names, a[0].split('|'), b[0].split('|')) if x != y]; a, b = a[1:], b[1:]; wrong.append(('state', [x for x in a if x not in b], [x for x in b if x not in a]))
            if fields:
                dl = U('<d', fields[b'h'], 86)[0]; ttl, ttlo = s.c('pttl', key), s.c('pttl', key + ':o')
                if (ttl > 0) != (dl > 0) or (ttlo > 0) != (dl > 0): wrong.append(('expiry', dl, ttl, ttlo))
            if wrong:
                bad += 1; skip = True
                print(f'case {case} kind {int(case) % 8} step {step} now {now} inbox {inbox} heard {heard}')
                for x in trail[-4:]: print('   ', *x[:5], x[5][:1500])
                for x in wrong: print('  ', x)
                if bad >= A.max: break
        t.kill()
        print(n, 'steps compared,', bad, 'differences', dict(sorted(calls.items())))
    finally: s.stop()
