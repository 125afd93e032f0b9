// redis-semaphore and redlock, as bench/permits drives every peer: see src/peer.rs.
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { Semaphore } from 'redis-semaphore';
import Redlock from 'redlock';

const FOREVER = 60_000; // neither a hold nor a wait takes as long
const [kind, url, ...words] = process.argv.slice(2);
const plan = Object.fromEntries(words.map((word) => word.split('=')).map(([key, value]) => [key, Number(value)]));
const now = () => process.hrtime.bigint();
const say = (...words) => process.stdout.write(`${words.join(' ')}\n`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const { hostname, port } = new URL(url);
const client = () => new Redis({ host: hostname, port: Number(port) });

const kinds = {
  'redis-semaphore': (client, name) => {
    const semaphore = new Semaphore(client, name, plan.limit, { lockTimeout: FOREVER, acquireTimeout: 10 * FOREVER });
    return async () => {
      await semaphore.acquire();
      return () => semaphore.release();
    };
  },
  redlock: (client, name) => {
    const redlock = new Redlock([client], { retryCount: -1 });
    return async () => {
      const lock = await redlock.lock(name, FOREVER);
      return () => lock.unlock();
    };
  },
};

async function task(acquire, until, worker) {
  let pairs = 0;
  while (plan.count ? pairs < plan.count : now() < until) {
    const asked = now();
    const release = await acquire();
    const granted = now();
    if (plan.hold) await pause(plan.hold);
    const released = now();
    await release();
    pairs += 1;
    if (plan.stamps) say('held', worker, asked, granted, released);
    if (plan.pause) await pause(plan.pause);
  }
  return pairs;
}

async function go(acquires) {
  const started = now();
  const until = started + BigInt(plan.millis) * 1_000_000n;
  const pairs = await Promise.all(acquires.map((acquire, worker) => task(acquire, until, worker)));
  const all = pairs.reduce((sum, of) => sum + of, 0);
  say('took', now() - started, all, Math.min(...pairs), Math.max(...pairs));
}

const shared = client();
const acquires = Array.from({ length: plan.tasks }, (_, i) =>
  kinds[kind](plan.clients ? client() : shared, `bench-${i % plan.names}`),
);
for (const acquire of acquires.slice(0, plan.names)) await (await acquire())();
const orders = createInterface({ input: process.stdin });
orders.on('line', () => go(acquires));
orders.on('close', () => process.exit(0));
say('ready');
