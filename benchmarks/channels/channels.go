// The same with Go's channels.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

func report(name string, messages uint64, work func()) {
	begin := time.Now()
	work()
	fmt.Printf("%s %.3f\n", name, float64(time.Since(begin).Nanoseconds())/float64(messages))
}

func check(sum, expected uint64) {
	if sum != expected {
		os.Exit(1)
	}
}

func manyToMany(name string, capacity int, pairs, messages uint64) {
	c := make(chan uint64, capacity)
	each := messages / pairs
	report(name, each*pairs, func() {
		var all sync.WaitGroup
		for p := uint64(0); p < pairs; p++ {
			all.Add(2)
			go func() {
				for k := uint64(0); k < each; k++ {
					c <- k
				}
				all.Done()
			}()
			go func() {
				sum := uint64(0)
				for k := uint64(0); k < each; k++ {
					sum += <-c
				}
				if pairs == 1 {
					check(sum, each*(each-1)/2)
				}
				all.Done()
			}()
		}
		all.Wait()
	})
}

func pingPong(messages uint64) {
	ping, pong := make(chan uint64), make(chan uint64)
	report("ping_pong", messages, func() {
		go func() {
			for value := range ping {
				pong <- value
			}
		}()
		for k := uint64(0); k < messages; k++ {
			ping <- k
			check(<-pong, k)
		}
		close(ping)
	})
}

func oneThread(messages uint64) {
	c := make(chan uint64, 64)
	report("one_thread", messages, func() {
		for k := uint64(0); k < messages; k++ {
			c <- k
			check(<-c, k)
		}
	})
}

func selectTwoReady(messages uint64) {
	a, b := make(chan uint64, 1), make(chan uint64, 1)
	a <- 1
	b <- 1
	report("select_two_ready", messages, func() {
		for k := uint64(0); k < messages; k++ {
			select {
			case <-a:
				a <- 1
			case <-b:
				b <- 1
			}
		}
	})
}

func selectOfSenders(messages uint64) {
	a, b := make(chan uint64), make(chan uint64)
	report("select_of_senders", messages, func() {
		for _, c := range []chan uint64{a, b} {
			go func(c chan uint64) {
				for k := uint64(0); k < messages/2; k++ {
					c <- 1
				}
			}(c)
		}
		sum := uint64(0)
		for k := uint64(0); k < messages; k++ {
			select {
			case value := <-a:
				sum += value
			case value := <-b:
				sum += value
			}
		}
		check(sum, messages)
	})
}

func main() {
	n := uint64(1000000)
	if len(os.Args) > 1 {
		n, _ = strconv.ParseUint(os.Args[1], 10, 64)
	}
	oneThread(n)
	selectTwoReady(n)
	manyToMany("cap64/1:1", 64, 1, n)
	manyToMany("cap64/4:4", 64, 4, n)
	manyToMany("cap1024/1:1", 1024, 1, n)
	manyToMany("cap1024/4:4", 1024, 4, n)
	manyToMany("rendezvous/1:1", 0, 1, n/10)
	manyToMany("rendezvous/4:4", 0, 4, n/10)
	pingPong(n / 10)
	selectOfSenders(n / 10)
}
