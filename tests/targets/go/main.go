// SPDX-License-Identifier: Apache-2.0

// Goroutines with known stacks: one computes, one allocates (the runtime's own stack), one asks the time (the vDSO, on that
// stack, too), one is woken by signals that stop it (preemption), one calls deep; and, built with cgo, one calls C, which calls back.
//
// The first line it prints is {"ready": 1, "pid": N, "calls": {function: [those it calls]}}; it ends with its input.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"
)

var calls = map[string][]string{
	"alpha": {"beta"}, "beta": {"gamma"}, "gamma": {},
	"fills": {"makes"}, "makes": {},
	"watches": {"asks"}, "asks": {},
	"dives": {"deeper"}, "deeper": {"deeper", "bottom"}, "bottom": {},
}

var (
	stop bool
	sum  uint64
	kept [64][]byte
	when time.Time
)

//go:noinline
func gamma(n uint64) uint64 {
	for i := uint64(0); i < 20000; i++ {
		n = n*6364136223846793005 + i
	}
	return n
}

//go:noinline
func beta(n uint64) uint64 { return gamma(n) + 1 }

//go:noinline
func alpha() {
	for !stop {
		sum += beta(sum)
	}
}

//go:noinline
func makes(i int) { kept[i%64] = make([]byte, 40000+i%100) }

//go:noinline
func fills() {
	for i := 0; !stop; i++ {
		makes(i)
	}
}

//go:noinline
func asks() { when = time.Now() }

//go:noinline
func watches() {
	for !stop {
		for i := 0; i < 1000; i++ {
			asks()
		}
		runtime.Gosched()
	}
}

//go:noinline
func bottom(n uint64) uint64 {
	for i := uint64(0); i < 2000; i++ {
		n ^= n<<3 + i
	}
	return n
}

//go:noinline
func deeper(levels int, n uint64) uint64 {
	if levels == 0 {
		return bottom(n)
	}
	return deeper(levels-1, n) + 1
}

//go:noinline
func dives() {
	for !stop {
		sum += deeper(100, sum)
	}
}

func main() {
	startC()
	go alpha()
	go fills()
	go watches()
	go dives()
	said, _ := json.Marshal(map[string]any{"ready": 1, "pid": os.Getpid(), "calls": calls})
	fmt.Println(string(said))
	os.Stdin.Read(make([]byte, 1))
	stop = true
	fmt.Println("{}")
}
