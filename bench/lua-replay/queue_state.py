"""Decodes the whole stored state of a queue, checks what must hold in it, and writes it as trace's queues does."""
import struct
U = struct.unpack_from
NOBODY = bytes(16)
def be(b): return int.from_bytes(b, 'big')
def eight(n): return int(n).to_bytes(8, 'big')
def past(t):
    if not t: return ''
    n, at, out = t[0], 1, []
    while at < len(t): attempt, when, kind, size = U('<IdBH', t, at); out.append('%d/%d/%d/%s' % (attempt, when, kind, t[at + 15:at + 15 + size].decode())); at += 15 + size
    assert at == len(t) and n == len(out) <= 8, 'past'
    return '+'.join(out)
class Row: pass
def job(id, t):
    j = Row(); j.id = id; j.number = be(id)
    j.state, j.priority, j.most, j.attempts, j.bytes, j.pushed, j.rank, j.at, g, k, a = U('<cbIIIdddHHH', t)
    at = 44; j.group = t[at:at + g].decode(); at += g; j.key = t[at:at + k].decode(); at += k; j.about = t[at:at + a].decode(); j.past = past(t[at + a:])
    return j
def attempt(t):
    a = Row(); fence, a.inbox, a.since, a.ttl, a.ends, a.wall, a.listed, g = U('<8s16sdddddH', t)
    a.fence = be(fence); a.group = t[66:66 + g].decode(); a.about = t[66 + g:].decode(); return a
def decode(fields, order):
    if not fields: assert not order; return ''
    h = fields[b'h']
    version, flags, limit, ready, open_, delayed, active, dead, sessions, clock, wall, bound, last, due, forget, memory, deadline = U('<BB7I8d', h)
    group_limit, n_groups, idle, called, wanted, keys, shift, watch_at, watch = U('<6Idd16s', h, 94) if flags & 4 else (2 ** 32 - 1, 0, 0, 0, 0, 0, 0, 0, NOBODY)
    assert version == 6 and bool(flags & 2) or len(h) == (150 if flags & 4 else 94), 'header'
    steady = wall + shift
    reopen = '=' + h[150:].decode() if flags & 2 else '-'
    paused = '=' + fields[b'r'].decode() if flags & 1 else '-'
    assert bool(flags & 1) == (b'r' in fields), 'reason'
    jobs = {f[1:]: job(f[1:], t) for f, t in fields.items() if f[:1] == b'i' and len(f) == 9}
    attempts = {f[1:]: attempt(t) for f, t in fields.items() if f[:1] == b'a' and len(f) == 9}
    groups = {f[1:].decode(): (U('<II', t), t[8:]) for f, t in fields.items() if f[:1] == b'g'}
    assert set(jobs) == {f[1:] for f in fields if f[:1] == b'p'}, 'payloads'
    assert set(attempts) <= set(jobs), 'attempts'
    members, out, counts = [b'z'], [], {}
    for id in sorted(jobs):
        j, a = jobs[id], attempts.get(id); payload = fields[b'p' + id]; assert len(payload) == j.bytes
        where = eight(j.rank + 10 ** 10) + id
        if a:
            state = 'a'; assert j.state == b'r' and a.group == j.group
            true = min(a.ends - clock, a.wall - wall) + steady
            assert 0 < a.listed <= max(true, 1) and due <= a.listed, ('bound', a.listed, true, due)
            members.append(b'e' + eight(a.listed) + id); s = 'a %d %s %s %d %d %d %d' % (a.fence, a.inbox.hex(), a.about, a.since, a.ttl, a.ends, a.wall)
        elif j.state == b'r':
            is_open = not j.group or groups[j.group][1] == where
            members += [b'a' + where] * is_open + [b'g' + j.group.encode() + b'\0' + where] * (j.group != ''); state = 'r'; counts['open'] = counts.get('open', 0) + is_open; s = 'r %d' % is_open
        elif j.state == b'd': members.append(b'd' + eight(j.at) + id); state = 'd'; assert due <= j.at + shift; s = 'd %d' % j.at
        else: assert j.state == b'x'; members.append(b'x' + id); state = 'x'; s = 'x %d' % j.at
        counts[state] = counts.get(state, 0) + 1
        if j.group and state in 'ra': counts.setdefault(j.group, {'r': 0, 'a': 0})[state] += 1
        out.append('J %d %d %s %d %d %s %s %d %d %d %s %s %s' % (j.number, j.priority, j.group, j.most, j.bytes, j.key, j.about, j.pushed, j.rank, j.attempts, j.past.replace(' ', '_'), payload.hex(), s))
    assert (ready, open_, delayed, active, dead) == tuple(counts.get(x, 0) for x in ('r', 'open', 'd', 'a', 'x')), 'counts'
    for g in sorted(groups, key=lambda g: g.encode()):
        (a, r), front = groups[g]; assert counts.pop(g) == {'r': r, 'a': a}, ('group', g)
        members.append(b'c' + g.encode()); out.append('G %s %d %d %d' % (g, a, r, be(front[8:]) if front else 0))
    assert n_groups == len(groups); assert not [x for x in counts if x not in ('r', 'open', 'd', 'a', 'x')], 'groups'
    for f in sorted(x for x in fields if x[:1] == b'l'):
        m = fields[f]; members.append(m)
        if m[:1] == b'l': _, drains, till, inbox, want = struct.unpack('>cBQ16sB', m); since = '-'
        else: _, since, drains, till, inbox, want = struct.unpack('>cQBQ16sB', m)
        assert inbox == f[1:] and memory >= till; out.append('P %s %d %d %d %s' % (inbox.hex(), want, drains == 0, till, since))
    n = 0
    for f in sorted(x for x in fields if x[:1] == b's'):
        number, till, listed, grace = U('<dddd', fields[f]); n += 1
        assert 0 < listed <= till and forget <= listed and memory >= till, ('session', listed, till, forget)
        members.append(b's' + eight(listed) + f[1:]); out.append('S %s %d %d %s' % (f[1:].hex(), number, till, fields[f][32:].hex()))
    assert n == sessions, 'sessions'; n = 0
    for f in sorted(x for x in fields if x[:1] == b'k'):
        till, = U('<d', fields[f]); n += 1; assert forget <= till <= memory
        members.append(b't' + eight(till) + f[1:]); out.append('K %s %d %d' % (f[1:].decode(), be(fields[f][8:]), till))
    assert n == keys, 'keys'
    assert sorted(members) == sorted(order), ('order', [m for m in sorted(members) if m not in order], [m for m in sorted(order) if m not in members])
    return ';'.join(['|'.join(map(str, ['%d' % limit, '%d' % group_limit, paused, '%d' % clock, '%d' % wall, '%d' % bound, '%d' % last, ready, open_, delayed, active, dead, idle, called, wanted, sessions, keys, watch.hex(), '%d' % (watch_at if watch != NOBODY else 0), reopen]))] + out)
