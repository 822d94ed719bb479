// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sort"
	"time"
)

// shortestBatch is long against the clock's grain.
const shortestBatch = 200 * time.Microsecond

// median measures f in n batches and returns the median time of one call in ns. Fast
// calls are batched; a call that takes long counts as a batch of its own.
func median(n int, f func()) float64 {
	start := time.Now()
	f() // warms up, and sizes the batches
	once := time.Since(start)
	calls := 1
	if once < shortestBatch {
		calls = int(shortestBatch/max(once, 20*time.Nanosecond)) + 1
	}
	times := make([]float64, n)
	for i := range times {
		start = time.Now()
		for range calls {
			f()
		}
		times[i] = float64(time.Since(start).Nanoseconds()) / float64(calls)
	}
	return middle(times)
}

func middle(times []float64) float64 {
	sort.Float64s(times)
	return times[len(times)/2]
}
