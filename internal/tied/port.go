package tied

import (
	"context"
	"net"
	"sync"
)

// named are the ports that FreePort has named, whose servers may not listen yet.
var named sync.Map

// FreePort names a loopback port that was free a moment ago, and none twice.
func FreePort() (int, error) {
	var listen net.ListenConfig
	for {
		l, err := listen.Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := l.Addr().(*net.TCPAddr).Port
		_ = l.Close() // nothing was done with it
		if _, again := named.LoadOrStore(port, true); !again {
			return port, nil
		}
	}
}
