// SPDX-License-Identifier: Apache-2.0

//go:build !withc

package main

func startC() {}
