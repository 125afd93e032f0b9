// Redsync, as bench/permits drives every peer: see ../src/peer.rs.
package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sys/unix"
)

// Neither a hold nor a wait takes as long.
const forever = time.Minute

// Nanoseconds of the clock that all drivers go by.
func now() int64 {
	var at unix.Timespec
	check(unix.ClockGettime(unix.CLOCK_MONOTONIC, &at))
	return at.Nano()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "redsync:", err)
		os.Exit(1)
	}
}

func client(url string) *redsync.Redsync {
	options, err := redis.ParseURL(url)
	check(err)
	return redsync.New(goredis.NewPool(redis.NewClient(options)))
}

func task(mutex *redsync.Mutex, plan map[string]int64, until int64, worker int) (pairs int64) {
	for plan["count"] > 0 && pairs < plan["count"] || plan["count"] == 0 && now() < until {
		asked := now()
		check(mutex.LockContext(context.Background()))
		granted := now()
		time.Sleep(time.Duration(plan["hold"]) * time.Millisecond)
		released := now()
		_, err := mutex.UnlockContext(context.Background())
		check(err)
		pairs++
		if plan["stamps"] > 0 {
			fmt.Println("held", worker, asked, granted, released)
		}
		time.Sleep(time.Duration(plan["pause"]) * time.Millisecond)
	}
	return pairs
}

func run(mutexes []*redsync.Mutex, plan map[string]int64) {
	pairs := make([]int64, len(mutexes))
	started := now()
	var group sync.WaitGroup
	for i := range mutexes {
		group.Go(func() { pairs[i] = task(mutexes[i], plan, started+plan["millis"]*1_000_000, i) })
	}
	group.Wait()
	var all int64
	for _, of := range pairs {
		all += of
	}
	fmt.Println("took", now()-started, all, slices.Min(pairs), slices.Max(pairs))
}

func main() {
	url, plan := os.Args[2], map[string]int64{}
	for _, word := range os.Args[3:] {
		key, value, _ := strings.Cut(word, "=")
		number, err := strconv.ParseInt(value, 10, 64)
		check(err)
		plan[key] = number
	}
	shared := client(url)
	var mutexes []*redsync.Mutex
	for i := range plan["tasks"] {
		of := shared
		if plan["clients"] > 0 {
			of = client(url)
		}
		name := fmt.Sprintf("bench-%d", i%plan["names"])
		mutexes = append(mutexes, of.NewMutex(name, redsync.WithExpiry(forever), redsync.WithTries(math.MaxInt32)))
	}
	for _, mutex := range mutexes[:plan["names"]] {
		check(mutex.Lock())
		_, err := mutex.Unlock()
		check(err)
	}
	fmt.Println("ready")
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		go run(mutexes, plan)
	}
}
