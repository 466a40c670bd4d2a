// SPDX-License-Identifier: Apache-2.0

//go:build withc

package main

/*
#cgo CFLAGS: -O0 -fno-omit-frame-pointer
typedef unsigned long long number;
number called_back(number n);
static number c_inner(number n)
{
	for (int i = 0; i < 2000; i++)
		n ^= (n << 3) + i;
	return called_back(n) + 1;
}
static number c_outer(number n)
{
	return c_inner(n) + 1;
}
*/
import "C"

//export called_back
func called_back(n C.number) C.number { return C.number(inCallback(uint64(n))) }

//go:noinline
func inCallback(n uint64) uint64 {
	for i := uint64(0); i < 2000; i++ {
		n ^= n<<3 + i
	}
	return n
}

//go:noinline
func callsC() {
	for !stop {
		sum += uint64(C.c_outer(C.number(sum)))
	}
}

func startC() {
	calls["callsC"] = []string{"c_outer"}
	calls["c_outer"] = []string{"c_inner"}
	calls["c_inner"] = []string{"called_back"}
	calls["called_back"] = []string{"called_back", "inCallback"} // C's and ours
	calls["inCallback"] = []string{}
	go callsC()
}
