package supervise

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// OS starts real processes, each in a session of its own.
type OS struct {
	// Dir holds the notification sockets; only root may enter it.
	Dir string
	// Cgroup is a folder on a cgroup2 file system in which each service gets a
	// cgroup, so that what it started is found and bounded. Without it, or where
	// it cannot be made, only a service's process group is.
	Cgroup string
	// Output gets each line that a service without TTY prints. Calls for one
	// service come in order; those for different services are concurrent.
	Output func(service, line string)
	// Prepare readies the terminal fd of a service with TTY; may be nil. It must
	// not block.
	Prepare func(fd int, svc Service)
}

// maxLine cuts what a service prints into pieces that a log can take.
const maxLine = 4096

// drain is how long the output of a process that has ended may still come:
// what it started itself may hold the pipe open for ever.
const drain = time.Second

// Start starts a process.
func (o *OS) Start(svc Service) (Process, error) {
	p := &process{svc: svc, cmd: exec.Command(svc.Argv[0], svc.Argv[1:]...), ready: make(chan struct{}), done: make(chan struct{})}
	p.cmd.Dir = "/"
	p.cmd.Env = append(os.Environ(), svc.Env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := p.start(o); err != nil {
		p.release()
		return nil, fmt.Errorf("start %s: %w", svc.Name, err)
	}
	go p.wait()
	return p, nil
}

type process struct {
	svc   Service
	cmd   *exec.Cmd
	exit  Exit
	ready chan struct{}
	done  chan struct{}

	notify *notifier
	cgroup *cgroup
	output *os.File // our end of the pipe
	reader sync.WaitGroup
	after  []io.Closer // the child's ends, ours to close once it runs
}

func (p *process) start(o *OS) error {
	if p.svc.Notify {
		n, err := listen(filepath.Join(o.Dir, p.svc.Name), func() { close(p.ready) })
		if err != nil {
			return err
		}
		p.notify = n
		p.cmd.Env = append(p.cmd.Env, "NOTIFY_SOCKET="+n.path)
	}
	if err := p.stdio(o); err != nil {
		return err
	}
	if o.Cgroup != "" {
		if c, err := openCgroup(o.Cgroup, p.svc.Name); err == nil {
			p.cgroup = c
			p.cmd.SysProcAttr.UseCgroupFD, p.cmd.SysProcAttr.CgroupFD = true, int(c.dir.Fd())
		}
	}
	err := p.cmd.Start()
	for _, f := range p.after {
		f.Close()
	}
	p.after = nil
	if err != nil {
		return err
	}
	// Inherited from init otherwise, which is last to be killed. A process that
	// has ended already needs none.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", p.cmd.Process.Pid), []byte(strconv.Itoa(p.svc.OOM)), 0)
	return nil
}

func (p *process) stdio(o *OS) error {
	if p.svc.TTY != "" {
		// Nonblocking for the open alone: without carrier a serial line blocks it.
		fd, err := unix.Open(p.svc.TTY, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return &os.PathError{Op: "open", Path: p.svc.TTY, Err: err}
		}
		if o.Prepare != nil {
			o.Prepare(fd, p.svc)
		}
		if err := unix.SetNonblock(fd, false); err != nil {
			unix.Close(fd)
			return err
		}
		tty := os.NewFile(uintptr(fd), p.svc.TTY)
		p.after = append(p.after, tty)
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
		p.cmd.SysProcAttr.Setctty = true
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	// A file, not a writer: with a writer Wait would wait for the pipe's end,
	// which a grandchild can hold open.
	p.cmd.Stdout, p.cmd.Stderr = w, w
	p.after = append(p.after, w)
	p.output = r
	p.reader.Go(func() { eachLine(r, func(l string) { o.Output(p.svc.Name, l) }) })
	return nil
}

// wait waits for the end, clears away what the process started and left in its
// group (Setsid gave the group the number of the process), and collects the
// exit.
func (p *process) wait() {
	pid := p.cmd.Process.Pid
	// First only look: until it is reaped its number stays its own, and the group
	// that bears it cannot be someone else's.
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	_ = unix.Kill(-pid, unix.SIGKILL)
	if p.cgroup != nil {
		p.cgroup.killAll()
	}
	_ = p.cmd.Wait()
	p.exit = exitOf(p.cmd.ProcessState)
	if p.output != nil {
		_ = p.output.SetReadDeadline(time.Now().Add(drain))
	}
	p.release()
	close(p.done)
}

func exitOf(s *os.ProcessState) Exit {
	if s == nil {
		return Exit{Err: errors.New("its exit status was lost")}
	}
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Exit{Signal: ws.Signal()}
	}
	return Exit{Code: s.ExitCode()}
}

func (p *process) release() {
	for _, f := range p.after {
		f.Close()
	}
	p.after = nil
	p.reader.Wait()
	if p.output != nil {
		p.output.Close()
	}
	if p.notify != nil {
		p.notify.close()
	}
	if p.cgroup != nil {
		p.cgroup.close()
	}
}

func (p *process) PID() int                { return p.cmd.Process.Pid }
func (p *process) Ready() <-chan struct{}  { return p.ready }
func (p *process) Done() <-chan struct{}   { return p.done }
func (p *process) Exit() Exit              { return p.exit }
func (p *process) Signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill kills the process; wait does the same to its group.
func (p *process) Kill() { _ = p.cmd.Process.Kill() }

// eachLine calls f for each line of r, longer ones in pieces, until r ends.
func eachLine(r io.Reader, f func(string)) {
	b := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := b.ReadSlice('\n')
		if len(line) > 0 {
			if line[len(line)-1] == '\n' {
				line = line[:len(line)-1]
			}
			f(string(line))
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
