// Command idemctl joins asynq's queues with the ledger of what their handlers
// did, and says which tasks really took effect.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], systemStreams(), systemEnvironment())) }
