package inspecttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority is a certificate authority made for one test, with a certificate
// for the server (127.0.0.1 and localhost) and one for a client. The files are
// PEM.
type Authority struct {
	CAFile                        string
	ServerCertFile, ServerKeyFile string
	ClientCertFile, ClientKeyFile string
}

// NewAuthority writes the certificates into a directory of the test's own.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	dir := t.TempDir()
	ca, caKey, err := selfSigned(filepath.Join(dir, "ca"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"server", "client"} {
		if err := issue(filepath.Join(dir, name), int64(i+2), ca, caKey); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	return &Authority{
		CAFile:         at("ca.crt"),
		ServerCertFile: at("server.crt"), ServerKeyFile: at("server.key"),
		ClientCertFile: at("client.crt"), ClientKeyFile: at("client.key"),
	}
}

// ClientConfig trusts this authority alone and shows the client's certificate.
func (a *Authority) ClientConfig() *tls.Config {
	pool := x509.NewCertPool()
	if pemBytes, err := os.ReadFile(a.CAFile); err == nil {
		pool.AppendCertsFromPEM(pemBytes)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, ServerName: "127.0.0.1"}
	if pair, err := tls.LoadX509KeyPair(a.ClientCertFile, a.ClientKeyFile); err == nil {
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

func selfSigned(path string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := certificate(1, "inspecttest authority")
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	return template, key, writePair(path, der, key)
}

func issue(path string, serial int64, ca *x509.Certificate, caKey *ecdsa.PrivateKey) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := certificate(serial, filepath.Base(path))
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	template.DNSNames = []string{"localhost"}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, &key.PublicKey, caKey)
	if err != nil {
		return err
	}
	return writePair(path, der, key)
}

func certificate(serial int64, name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(24 * time.Hour),
	}
}

func writePair(path string, der []byte, key *ecdsa.PrivateKey) error {
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	crt := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(path+".crt", crt, 0o600); err != nil {
		return fmt.Errorf("writing the certificate: %w", err)
	}
	return os.WriteFile(path+".key", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), 0o600)
}
