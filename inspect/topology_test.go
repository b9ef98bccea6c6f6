package inspect_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// enqueueOver has asynq's own client enqueue a task over the given connection.
func enqueueOver(t *testing.T, opt asynq.RedisConnOpt, queues ...string) {
	t.Helper()
	client := asynq.NewClient(opt)
	defer client.Close()
	for _, q := range queues {
		for _, o := range []asynq.Option{asynq.ProcessIn(time.Hour), asynq.Group("g"), asynq.MaxRetry(3)} {
			if _, err := client.Enqueue(asynq.NewTask("test:task", []byte(q)), asynq.Queue(q), o); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func mustList(t *testing.T, c *inspect.Client, want int) {
	t.Helper()
	for _, plain := range []bool{true, false} {
		if got := list(t, c, inspect.Listing{Plain: plain}); len(got) != want {
			t.Errorf("plain=%v: listed %d tasks, want %d", plain, len(got), want)
		}
	}
}

func TestOpenReachesUnixSocket(t *testing.T) {
	s := inspecttest.StartUnix(t)
	enqueueOver(t, s.AsynqOpt(), "a")
	mustList(t, open(t, s), 3)
	mustList(t, openWith(t, inspect.Options{URI: s.Addr}), 3)
}

func TestOpenReachesTLS(t *testing.T) {
	s, a := inspecttest.StartTLS(t)
	enqueueOver(t, s.AsynqOpt(), "a")
	for _, o := range []inspect.Options{
		{URI: "rediss://" + s.Addr, CAFile: a.CAFile},
		{URI: s.Addr, TLS: true, Insecure: true},
		{URI: s.Addr + "?insecure=1&tls=true"},
		{URI: "redis://" + s.Addr, CAFile: a.CAFile, TLSServer: "localhost"},
	} {
		mustList(t, openWith(t, o), 3)
	}
}

func TestOpenShowsItsCertificate(t *testing.T) {
	s, a := inspecttest.StartMutualTLS(t)
	mustList(t, openWith(t, inspect.Options{URI: s.Addr, CAFile: a.CAFile, CertFile: a.ClientCertFile, KeyFile: a.ClientKeyFile}), 0)
	_, err := inspect.Open(context.Background(), inspect.Options{URI: s.Addr, CAFile: a.CAFile})
	wantKind(t, err, inspect.KindTLS)
}

func TestOpenRefusesForeignCertificate(t *testing.T) {
	s, _ := inspecttest.StartTLS(t)
	other := inspecttest.NewAuthority(t)
	for _, o := range []inspect.Options{
		{URI: "rediss://" + s.Addr},
		{URI: "rediss://" + s.Addr, CAFile: other.CAFile},
		{URI: "rediss://" + s.Addr, CAFile: other.CAFile, TLSServer: "elsewhere"},
	} {
		_, err := inspect.Open(context.Background(), o)
		wantKind(t, err, inspect.KindTLS)
	}
}

func TestOpenFindsMasterBySentinel(t *testing.T) {
	s := inspecttest.StartSentinel(t)
	enqueueOver(t, s.AsynqOpt(), "a")
	c := openWith(t, s.Options())
	mustList(t, c, 3)
	facts, err := c.Redis(context.Background())
	if err != nil || facts.Mode != "sentinel" || facts.Role != "master" {
		t.Errorf("facts %+v, error %v; want the master by sentinel", facts, err)
	}
	// asynq's own form of the URI, whose password is the sentinel's.
	uri := "redis-sentinel://:sentinel%20secret@" + s.Addr + "?master=" + inspecttest.MasterName
	mustList(t, openWith(t, inspect.Options{URI: uri}), 3)
}

func TestOpenNamesWrongSentinelPassword(t *testing.T) {
	s := inspecttest.StartSentinel(t)
	o := s.Options()
	o.SentinelPassword = "wrong secret"
	_, err := inspect.Open(context.Background(), o)
	wantKind(t, err, inspect.KindDenied)
	o = s.Options()
	o.SentinelMaster = "othermaster"
	if _, err := inspect.Open(context.Background(), o); err == nil {
		t.Error("a master that the sentinel does not know was found")
	}
}

func TestRedisTellsReplicaFromMaster(t *testing.T) {
	s := inspecttest.StartSentinel(t)
	facts, err := open(t, s.Replica).Redis(context.Background())
	if err != nil || facts.Role != "replica" {
		t.Errorf("role %q, error %v; want replica", facts.Role, err)
	}
}

func TestListingSpansCluster(t *testing.T) {
	cluster := inspecttest.StartCluster(t)
	// One queue at least for each node, and one whose hash tag is its first part.
	queues := []string{"a", "b", "c", "d", "e", "q{a}b", "low"}
	enqueueOver(t, cluster.AsynqOpt(), queues...)
	c := openWith(t, cluster.Options())
	mustList(t, c, 3*len(queues))
	mustList(t, openWith(t, inspect.Options{URI: "redis-cluster://" + strings.Join(cluster.Addrs, ",")}), 3*len(queues))
	for _, q := range queues {
		got, err := c.Queue(context.Background(), q)
		if err != nil || got.Size() != 3 || got.Aggregating != 1 {
			t.Errorf("queue %q: %+v, error %v", q, got, err)
		}
	}
	facts, err := c.Redis(context.Background())
	if err != nil || facts.Mode != "cluster" || facts.MaxmemoryPolicy == "" {
		t.Errorf("facts %+v, error %v", facts, err)
	}
	t.Run("as one server", func(t *testing.T) {
		_, err := inspect.Open(context.Background(), inspect.Options{URI: cluster.Addrs[0]})
		wantKind(t, err, inspect.KindClusterMismatch)
	})
	t.Run("read by ID across queues", func(t *testing.T) { readsAcrossQueues(t, c) })
}

func readsAcrossQueues(t *testing.T, c *inspect.Client) {
	var refs []inspect.Ref
	for ref := range list(t, c, inspect.Listing{}) {
		refs = append(refs, ref)
	}
	tasks, err := c.Read(context.Background(), refs)
	if err != nil {
		t.Fatal(err)
	}
	for i, task := range tasks {
		if task.Ref != refs[i] || task.Defect != inspect.DefectNone {
			t.Errorf("read %+v for %+v", task, refs[i])
		}
	}
}

func TestOpenRefusesSingleServerAsCluster(t *testing.T) {
	s := inspecttest.Start(t)
	_, err := inspect.Open(context.Background(), inspect.Options{URI: s.Addr, Cluster: true})
	wantKind(t, err, inspect.KindClusterMismatch)
}
