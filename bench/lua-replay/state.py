"""Decodes the whole stored state of a name, checks what must hold in it, and writes it as trace does."""
import struct
U = struct.unpack_from
NOBODY = bytes(16)
UNBOUNDED = 1 << 53
def bits(f): return [f >> i & 1 for i in range(8)]
def num(x): return '%d' % x
def slots_text(ranges): return ','.join(str(a) if a == b else f'{a}-{b}' for a, b in ranges)
def digest(ticket):
    n = int.from_bytes(ticket[12:], 'big'); m = (n * 69069 + int.from_bytes(ticket[9:12], 'big')) & 0xffffff
    return m * (m * m & 0xffffff)
class Record: pass
def record(id, t):
    r = Record(); r.id = id
    r.inbox, r.ends, r.wall, r.ttl, r.last, r.till, r.digest, r.members, r.listed, flags, about = U('<16sdddIddBdBH', t)
    at = 72; r.about = t[at:at + about].decode(); at += about; r.reasons = []
    if flags & 4: reasons, = U('<H', t, at); at += 2; r.reasons = [U('<IB', t, at + k) for k in range(0, reasons, 5)]; at += reasons
    r.waiting = None
    if flags & 1: r.waiting = U('<dddBB', t, at); at += 26
    if flags & 2: at += 8
    r.rows = []
    while at < len(t):
        number, f, size, permits, order, slot = U('<IBHIdI', t, at); more = t[at + 23:at + 23 + size]; at += 23 + size
        w, passed, elsewhere, foreign, _, ttl, about_, multi = bits(f)
        row = Record(); row.number = number; row.waits = w; row.passed = passed; row.elsewhere = elsewhere
        row.permits, row.order, row.slot = permits, order, slot
        row.series = id[:12]; row.ttl = r.ttl; row.about = r.about; row.slots = [(slot, slot + permits - 1)] if not w else []
        k = 0
        if elsewhere: row.lease = more; r.rows.append(row); continue
        if foreign: row.series = more[:12]; k = 12
        if ttl: row.ttl, = U('<d', more, k); k += 8
        if w: row.margin, row.priority = U('<db', more, k); k += 9
        if multi:
            n, = U('<H', more, k); row.slots = [U('<II', more, k + 2 + 8 * i) for i in range(n)]; k += 2 + 8 * n
        if about_: row.about = more[k:].decode()
        else: assert k == len(more), 'row'
        r.rows.append(row)
    assert at == len(t), 'rows'
    return r
def decode(fields, order, now=None):
    if not fields: return ''
    h = fields[b'h']
    version, kind, flags, uses, limit, held, waiting, top, clock, wall, fence, bound, due, deadline, remembered = U('<BBBBIIIIddddddd', h)
    shift, arrival = U('<dd', h, 76) if len(h) > 76 else (0, 0)
    steady = wall + shift
    queue = sorted(m for m in order if m[:1] == b'q')
    assert waiting == 0 or h[92:] == (queue[0] if queue else b''), ('front', h[92:].hex(), queue[:1])
    assert version == 30
    records = {k: record(k, v) for k, v in fields.items() if len(k) == 16}
    paused, pinned, stated, named = flags & 1, flags & 2, flags & 4, flags & 8
    names = fields[b'n'].decode() if named else ''
    why = '=' + fields.get(b'p', b'').decode() if paused else '-'
    state = limit if not pinned else U('<I', fields[b's'])[0] if stated else None
    out = ['|'.join([chr(kind) if kind else '-', str(state) if stated else '-', str(limit) if pinned else '-', names, why, num(clock), num(wall), num(fence), num(arrival if arrival >= clock else 0), num(bound), str(held), 'HOLDERS', str(waiting)])]
    if not stated and not pinned: assert limit == 1, 'limit'
    leases, tickets, memories, pointers, members = {}, {}, {}, {}, []
    for id, r in records.items():
        if r.members: leases[id] = ('L %s %s %d %d %d %d 0' % (id.hex(), r.inbox.hex(), r.ends, r.wall, r.members, r.digest))
        if r.waiting: leases[id[:12] + b'\x7f\xff\xff\xff'] = 'L %s7fffffff %s %d %d %d %d %d' % (id[:12].hex(), r.inbox.hex(), r.waiting[0], r.waiting[1], r.waiting[3], r.waiting[2], r.waiting[4])
        n = d = wn = wd = wp = 0
        for row in r.rows:
            t = row.series + row.number.to_bytes(4, 'big')
            if row.elsewhere: pointers[t] = row.lease; continue
            assert t not in tickets, 'twice'
            if row.waits: wn += 1; wd += digest(t); wp += row.passed
            else: n += 1; d += digest(t)
            lease = id if not row.waits else id[:12] + b'\x7f\xff\xff\xff'
            s = 'T %s %s %s %d %d %s ' % (t.hex(), lease.hex(), r.inbox.hex(), row.permits, row.ttl, row.about.replace(' ', '_'))
            if row.waits:
                s += 'w %d %d %d %s %d' % (row.order, row.priority, row.margin, slots_text(row.slots), row.passed)
                members.append(b'kq'[1 - row.passed:2 - row.passed] + int(row.order + 1000000000).to_bytes(8, 'big') + t)
            else: s += 'h %d %s' % (row.order, slots_text(row.slots))
            tickets[t] = (s, row, id)
        assert (n, d & (1 << 48) - 1) == (r.members, r.digest), ('lease', n, r.members, d & (1 << 48) - 1, r.digest)
        if r.waiting: assert (wn, wd & (1 << 48) - 1, wp) == (r.waiting[3], r.waiting[2], r.waiting[4]), 'waiting'
        else: assert wn == 0
        ends = []
        if r.members: ends += [r.ends - clock, r.wall - wall]
        if r.waiting: ends += [r.waiting[0] - clock, r.waiting[1] - wall]
        open_ = sum(1 for row in r.rows if not row.waits and row.series == id[:12])
        if r.till and not open_: ends.append(r.till - clock)
        if r.till:
            assert id[12:] == bytes(4), 'memory'
            memories[id[:12] + bytes(4)] = 'M %s %d %d %d %s' % (id.hex(), r.last, r.till, open_, ','.join('%d:%d' % x for x in r.reasons))
        else: assert not r.reasons and not r.last
        assert not r.till or remembered >= r.till, 'remembered'
        if not ends: # only remembered, and open: nothing ends by time
            assert r.till and open_, 'an empty record'
            if r.listed: members.append(b'e' + int(r.listed).to_bytes(8, 'big') + id); assert due <= r.listed
            continue
        true = min(ends) + steady
        assert r.listed <= max(true, 1) + .5, ('bound too late', r.listed, true)
        assert r.listed > 0 and due <= r.listed, ('due', due, r.listed)
        members.append(b'e' + int(r.listed).to_bytes(8, 'big') + id)
    for t, lease in pointers.items(): assert tickets[t][2] == lease, 'elsewhere'
    for t, (s, row, id) in tickets.items(): assert id == t[:12] + bytes(4) or pointers.get(t) == id, 'not noted'
    out[0] = out[0].replace('HOLDERS', str(sum(1 for s, row, id in tickets.values() if not row.waits)))
    ranges = [x for s, row, id in tickets.values() if not row.waits for x in row.slots]
    free = [tuple(int.from_bytes(m[i:i + 8], 'big') for i in (1, 9)) for m in order if m[:1] == b'f']
    members += [b'f' + a.to_bytes(8, 'big') + b.to_bytes(8, 'big') for a, b in free]
    at = 0
    for a, b in sorted(ranges + free):
        assert a == at, ('slots', sorted(ranges), free, top); at = b + 1
    assert at == top, ('top', at, top, ranges, free)
    assert sorted(members) == sorted(m for m in order if m != b'z'), ('order', [m.hex() for m in sorted(members)], [m.hex() for m in sorted(order)])
    out += [leases[k] for k in sorted(leases)] + [tickets[k][0] for k in sorted(tickets)] + [memories[k] for k in sorted(memories)]
    return ';'.join(out)
