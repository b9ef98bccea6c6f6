package main

import "os"

// stopSignals end a command in good order.
var stopSignals = []os.Signal{os.Interrupt}
