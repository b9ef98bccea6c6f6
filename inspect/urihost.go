package inspect

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// parseHosts reads the comma-separated hosts.
func (t *target) parseHosts(s string) error {
	port := defaultPort
	if t.mode == modeSentinel {
		port = defaultSentinelPort
	}
	hosts := strings.Split(s, ",")
	for i, h := range hosts {
		addr, err := hostPort(h, port)
		if err != nil {
			if len(hosts) > 1 {
				return fmt.Errorf("address %d of %d: %w", i+1, len(hosts), err)
			}
			return err
		}
		t.addrs = append(t.addrs, addr)
	}
	return nil
}

// hostPort completes host, host:port, :port, [ipv6], [ipv6]:port and ipv6.
func hostPort(s, port string) (string, error) {
	s = strings.TrimSpace(s)
	host := s
	if _, err := netip.ParseAddr(s); err != nil {
		bare := strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]")
		if i := strings.LastIndexByte(s, ':'); i >= 0 && !bare {
			host, port = s[:i], s[i+1:]
		}
		if strings.HasPrefix(host, "[") {
			host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
			if _, err := netip.ParseAddr(host); err != nil {
				return "", errors.New("the host in brackets is not an IPv6 address")
			}
		} else if strings.ContainsRune(host, ':') {
			return "", errors.New("the host has colons: write an IPv6 address in brackets")
		}
	}
	if host == "" {
		host = defaultHost
	}
	if _, err := netip.ParseAddr(host); err != nil && strings.ContainsFunc(host, notInHost) {
		return "", errors.New("the host holds a character that no host name has")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errors.New("the port is not a number from 1 to 65535")
	}
	return net.JoinHostPort(host, port), nil
}

func notInHost(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._", r)
}
