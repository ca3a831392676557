package main

import "fmt"

func main() {
	x := []float64{1, 2, 3, 6}
	sum := 0.0
	for _, each := range x {
		sum += each
	}
	fmt.Println(sum / float64(len(x)))
}
