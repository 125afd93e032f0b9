// BullMQ, as bench/queues drives every peer: see src/peer.rs.
import { createInterface } from 'node:readline';
import { Queue, Worker } from 'bullmq';

const NAME = 'bench';
const [what, url, ...rest] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const connection = { host: hostname, port: Number(port) };
const now = () => process.hrtime.bigint();
const say = (...words) => process.stdout.write(`${words.join(' ')}\n`);
const payload = () => ({ p: now().toString().padEnd(64, 'x') });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function push(items, batch, gap) {
  const queue = new Queue(NAME, { connection, defaultJobOptions: { removeOnComplete: true } });
  await queue.waitUntilReady();
  const started = now();
  for (let pushed = 0; pushed < items; pushed += batch) {
    const jobs = Array.from({ length: Math.min(batch, items - pushed) }, () => ({ name: 'b', data: payload() }));
    if (batch === 1) await queue.add('b', jobs[0].data);
    else await queue.addBulk(jobs);
    if (gap > 0) await pause(gap);
  }
  say('pushed', now() - started);
  await queue.close();
}

async function work(concurrency, notesLatency) {
  let done = 0;
  let last = 0n;
  const handle = async (job) => {
    if (notesLatency) say('late', now() - BigInt(parseInt(job.data.p, 10)));
    done += 1;
    last = now();
  };
  const worker = new Worker(NAME, handle, { connection, concurrency, autorun: false });
  await worker.waitUntilReady();
  let told = 0;
  setInterval(() => {
    if (done !== told) say('done', (told = done), last);
  }, 20);
  const orders = createInterface({ input: process.stdin });
  orders.on('line', () => worker.run());
  orders.on('close', () => process.exit(0));
  say('ready');
}

const numbers = rest.map(Number);
if (what === 'push') await push(...numbers);
else await work(numbers[0], rest[1] === 'latency');
