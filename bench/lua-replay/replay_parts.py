"""Reads the answers of inspect and read."""
import struct, state
def take(b, at, form):
    v = struct.unpack_from('<' + form, b, at); return v, at + struct.calcsize('<' + form)
def page(b):
    (kind, flags, limit, stated, held, waiting, recent, guarded), at = take(b, 0, 'BBIIIIdd')
    t = []
    for _ in range(3): (k,), at = take(b, at, 'H'); t.append(b[at:at + k].decode()); at += k
    (k,), at = take(b, at, 'H'); rows = []
    for _ in range(k):
        ticket, c = b[at:at + 16].hex(), b[at + 16:at + 17]; at += 17
        if c == b'h': v, at = take(b, at, 'ddd')
        else: v, at = take(b, at, 'IdbdB')
        (n,), at = take(b, at, 'H'); p, at = take(b, at, 'II' * n); (n,), at = take(b, at, 'H'); about = b[at:at + n].decode(); at += n
        slots = state.slots_text(list(zip(p[::2], p[1::2])))
        rows.append('%s h %d %d %s %s' % (ticket, v[0], v[2], slots, about) if c == b'h' else '%s w %d %d %d %s %s' % (ticket, v[0], v[2], v[4], slots, about))
    return (chr(kind) if kind else '-', limit, stated if flags & 4 else '-', limit if flags & 2 else '-', t[1] if flags & 8 else '', '=' + t[0] if flags & 1 else '-', held, waiting), t[2], rows
