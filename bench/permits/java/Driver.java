// Redisson's semaphores and its fair lock, as bench/permits drives every peer: see ../src/peer.rs.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public final class Driver {
    /** Seconds; neither a hold nor a wait takes as long. */
    private static final long FOREVER = 60;

    private interface Held {
        void release() throws Exception;
    }

    private interface Lock {
        Held acquire() throws Exception;
    }

    private static final Map<String, Long> plan = new HashMap<>();

    public static void main(String[] args) throws Exception {
        for (int i = 2; i < args.length; i++) {
            String[] word = args[i].split("=");
            plan.put(word[0], Long.parseLong(word[1]));
        }
        RedissonClient shared = client(args[1]);
        List<Lock> locks = new ArrayList<>();
        for (long i = 0; i < plan.get("tasks"); i++) {
            RedissonClient client = plan.get("clients") > 0 ? client(args[1]) : shared;
            locks.add(lock(client, args[0], "bench-" + i % plan.get("names")));
        }
        for (Lock lock : locks.subList(0, plan.get("names").intValue())) {
            lock.acquire().release();
        }
        say("ready");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        while (orders.readLine() != null) {
            spawn(() -> go(locks));
        }
        Runtime.getRuntime().halt(0);
    }

    private static RedissonClient client(String url) {
        Config config = new Config();
        config.useSingleServer().setAddress(url);
        return Redisson.create(config);
    }

    private static Lock lock(RedissonClient client, String kind, String name) {
        int limit = plan.get("limit").intValue();
        switch (kind) {
            case "redisson-semaphore": {
                RSemaphore semaphore = client.getSemaphore(name);
                semaphore.trySetPermits(limit);
                return () -> {
                    semaphore.acquire();
                    return semaphore::release;
                };
            }
            case "redisson-permits": {
                RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore(name);
                semaphore.trySetPermits(limit);
                return () -> {
                    String id = semaphore.acquire(FOREVER, TimeUnit.SECONDS);
                    return () -> semaphore.release(id);
                };
            }
            case "redisson-fair": {
                RLock lock = client.getFairLock(name);
                return () -> {
                    lock.lock(FOREVER, TimeUnit.SECONDS);
                    return lock::unlock;
                };
            }
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    private static void go(List<Lock> locks) throws Exception {
        long[] pairs = new long[locks.size()];
        List<Thread> threads = new ArrayList<>();
        long started = System.nanoTime();
        long until = started + plan.get("millis") * 1_000_000;
        for (int i = 0; i < pairs.length; i++) {
            int worker = i;
            threads.add(spawn(() -> pairs[worker] = task(locks.get(worker), until, worker)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        long took = System.nanoTime() - started;
        LongSummaryStatistics all = LongStream.of(pairs).summaryStatistics();
        say("took " + took + " " + all.getSum() + " " + all.getMin() + " " + all.getMax());
    }

    private static long task(Lock lock, long until, int worker) throws Exception {
        long count = plan.get("count");
        long pairs = 0;
        while (count > 0 ? pairs < count : System.nanoTime() < until) {
            long asked = System.nanoTime();
            Held held = lock.acquire();
            long granted = System.nanoTime();
            pause("hold");
            long released = System.nanoTime();
            held.release();
            pairs++;
            if (plan.get("stamps") > 0) {
                say("held " + worker + " " + asked + " " + granted + " " + released);
            }
            pause("pause");
        }
        return pairs;
    }

    private static void pause(String which) throws InterruptedException {
        if (plan.get(which) > 0) {
            Thread.sleep(plan.get(which));
        }
    }

    private interface Work {
        void run() throws Exception;
    }

    private static Thread spawn(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception broken) {
                broken.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static synchronized void say(String text) {
        System.out.println(text);
        System.out.flush();
    }
}
