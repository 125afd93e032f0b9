"""A Redis of our own, and the scripts as the loader makes them: the files one after the other."""
import glob, os, re, signal, socket, struct, subprocess, time
HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = HERE + '/../../crates/redis/src/lua/names/'
QUEUES = HERE + '/../../crates/redis/src/lua/queues/'
QUEUE = ['layout', 'begin', 'general', 'clients', 'workers', 'time', 'operators', 'list', 'run']
HOT = ['layout', 'guard', 'ledger', 'rare', 'hot']
ADMIN = ['layout', 'guard', 'ledger', 'rare', 'named', 'rows', 'admin', 'run']
READ = ['layout', 'guard', 'ledger', 'rows', 'read']
def strip(text):
    lines = (re.sub(r'\s+--( .*)?$', '', line).strip() for line in text.split('\n'))
    return '\n'.join(line for line in lines if line and not line.startswith('--')) + '\n'
def script(files, folder=NAMES):
    return ''.join(strip(open(folder + f + '.lua').read()) for f in files)
class Conn:
    def __init__(s, port):
        s.s = socket.create_connection(('127.0.0.1', port)); s.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1); s.b = b''
    def send(s, *a):
        o = [b'*%d\r\n' % len(a)]
        for x in a:
            if isinstance(x, str): x = x.encode()
            elif isinstance(x, int): x = b'%d' % x
            o.append(b'$%d\r\n%s\r\n' % (len(x), x))
        s.s.sendall(b''.join(o))
    def line(s):
        while b'\r\n' not in s.b:
            d = s.s.recv(1 << 16)
            if not d: raise EOFError
            s.b += d
        l, s.b = s.b.split(b'\r\n', 1); return l
    def read(s):
        l = s.line(); t, r = l[:1], l[1:]
        if t == b'+': return r
        if t == b'-': return Exception(r.decode())
        if t == b':': return int(r)
        if t == b'$':
            n = int(r)
            if n < 0: return None
            while len(s.b) < n + 2: s.b += s.s.recv(1 << 16)
            v = s.b[:n]; s.b = s.b[n + 2:]; return v
        n = int(r)
        return None if n < 0 else [s.read() for _ in range(n)]
    def __call__(s, *a):
        s.send(*a); r = s.read()
        if isinstance(r, Exception): raise r
        return r
class Server:
    def __init__(s, port, binary='redis-server', args=()):
        s.port = port; s.dir = f'/tmp/lua-replay-{port}'; os.makedirs(s.dir, exist_ok=True)
        s.p = subprocess.Popen([binary, '--port', str(port), '--save', '', '--dir', s.dir, '--loglevel', 'warning', *args], stdout=open(s.dir + '/log', 'w'), stderr=subprocess.STDOUT)
        for _ in range(300):
            try: s.c = Conn(port); s.c('ping'); break
            except (OSError, EOFError): time.sleep(.1)
    def stop(s):
        try: s.c.send('shutdown', 'nosave')
        except Exception: pass
        try: s.p.wait(20)
        except Exception: os.kill(s.p.pid, signal.SIGKILL)
