package supervise

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// maxProcesses bounds the processes and threads of one service, so that a fork
// bomb in a shell leaves room for everything else: the kernel's own limit is
// about 4000 on a machine of 512 MB.
const maxProcesses = 2048

// cgroup holds all processes of one service, however they fork and whatever
// session they make (Documentation/admin-guide/cgroup-v2.rst). Its folder stays
// when the service ends, for the next process of it.
type cgroup struct {
	dir  *os.File // to start a process in it
	kill *os.File // cgroup.kill
}

// openCgroup makes the cgroup of a service below root, which is a folder of a
// cgroup2 file system. The limit is there if the folder above hands the pids
// controller down.
func openCgroup(root, service string) (*cgroup, error) {
	path := filepath.Join(root, service)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("make a cgroup: %w", err)
	}
	// Without the controller there is no limit, which is no reason not to start.
	_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+pids"), 0)
	_ = os.WriteFile(filepath.Join(path, "pids.max"), []byte(strconv.Itoa(maxProcesses)), 0)
	dir, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open a cgroup: %w", err)
	}
	kill, err := os.OpenFile(filepath.Join(path, "cgroup.kill"), os.O_WRONLY, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a cgroup: %w", err), dir.Close())
	}
	return &cgroup{dir, kill}, nil
}

// killAll kills every process in it.
func (c *cgroup) killAll() { _, _ = c.kill.WriteString("1") }

func (c *cgroup) close() {
	c.dir.Close()
	c.kill.Close()
}
