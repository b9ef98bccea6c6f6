package reconciletest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// Replica is a streaming replica of the shared server, seen through one of its
// databases.
type Replica struct {
	*Database
	primary *Database
}

// Replica starts a streaming replica of the whole server the database is on. It
// is stopped with the test.
func (db *Database) Replica() *Replica {
	db.t.Helper()
	c, err := startReplica(db.Port)
	if err != nil {
		db.t.Fatalf("starting a replica: %v", err)
	}
	db.t.Cleanup(c.proc.stop)
	return &Replica{Database: c.database(db.t, db.Name), primary: db}
}

// startReplica copies the data directory of the server on the port over the wire
// and starts a server that follows it.
func startReplica(port int) (*cluster, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	id, err := serverIdentity()
	if err != nil {
		return nil, err
	}
	dir, err := id.tempDir()
	if err != nil {
		return nil, err
	}
	backup := exec.Command(filepath.Join(bin, "pg_basebackup"), "-D", filepath.Join(dir, "data"),
		"-h", "127.0.0.1", "-p", strconv.Itoa(port), "-U", superuser, "-R", "-X", "stream", "-c", "fast", "--no-sync")
	if err := id.run(backup, dir); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return launch(bin, id, dir)
}

// Pause stops the replay: what the primary commits from now on stays unseen.
func (r *Replica) Pause() {
	r.t.Helper()
	r.Exec("SELECT pg_wal_replay_pause()")
	for r.Value("SELECT pg_get_wal_replay_pause_state()") != "paused" {
		time.Sleep(5 * time.Millisecond)
	}
}

// Resume lets the replay go on.
func (r *Replica) Resume() {
	r.t.Helper()
	r.Exec("SELECT pg_wal_replay_resume()")
}

// CatchUp waits until the replica has replayed what the primary has written.
func (r *Replica) CatchUp() {
	r.t.Helper()
	lsn := r.primary.Value("SELECT pg_switch_wal()")
	limit := time.Now().Add(startupLimit)
	for r.Value("SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn", lsn) != "true" {
		if time.Now().After(limit) {
			r.t.Fatal("the replica does not catch up with its primary")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
