package xsk

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"weir/drivers/umem"
	"weir/internal/testenv"
)

// failing lets the at-th control call fail with err, without doing it.
type failing struct {
	kernel
	at, n int
	err   error
	name  string // of the call that failed
	tried bool   // bind has been called: only its first try is counted
}

func (f *failing) fails(name string) bool {
	f.n++
	if f.n == f.at {
		f.name = name
	}
	return f.n == f.at
}

func (f *failing) socket() (int, error) {
	if f.fails("socket") {
		return -1, f.err
	}
	return f.kernel.socket()
}

func (f *failing) register(fd int, mem []byte, size, headroom int) error {
	if f.fails("register") {
		return f.err
	}
	return f.kernel.register(fd, mem, size, headroom)
}

func (f *failing) ringSize(fd, option, entries int) error {
	if f.fails("ring size") {
		return f.err
	}
	return f.kernel.ringSize(fd, option, entries)
}

func (f *failing) offsets(fd int) (unix.XDPMmapOffsets, error) {
	if f.fails("offsets") {
		return unix.XDPMmapOffsets{}, f.err
	}
	return f.kernel.offsets(fd)
}

func (f *failing) mmap(fd int, offset int64, length int) ([]byte, error) {
	if f.fails("mmap") {
		return nil, f.err
	}
	return f.kernel.mmap(fd, offset, length)
}

func (f *failing) sendBuffer(fd, bytes int) error {
	if f.fails("send buffer") {
		return f.err
	}
	return f.kernel.sendBuffer(fd, bytes)
}

func (f *failing) bind(fd int, a *unix.SockaddrXDP) error {
	if !f.tried && f.fails("bind") {
		return f.err
	}
	f.tried = true // the kernel frees the queue of the last attempt in its own time
	return f.kernel.bind(fd, a)
}

func (f *failing) zeroCopy(fd int) (bool, error) {
	if f.fails("mode") {
		return false, f.err
	}
	return f.kernel.zeroCopy(fd)
}

// failEach opens a socket again and again, with the first, the second, … call
// failing, until one attempt meets no failure. It closes that one and returns the
// calls that were made to fail.
func failEach(t *testing.T, k kernel, u *umem.UMEM, ifindex int, check func(call string)) (calls []string) {
	t.Helper()
	for at := 1; ; at++ {
		f := &failing{kernel: k, at: at, err: os.NewSyscallError("injected", unix.ENOMEM)}
		s, err := open(f, u, ifindex, 0, Options{RingSize: 64})
		if f.name == "" {
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			check("")
			return calls
		}
		if s != nil || !errors.Is(err, unix.ENOMEM) || !strings.Contains(err.Error(), "use fewer") {
			t.Errorf("%s fails: %v, %v", f.name, s, err)
		}
		calls = append(calls, f.name)
		check(f.name)
	}
}

const allSteps = "socket register ring size ring size ring size ring size offsets mmap mmap mmap mmap send buffer bind mode"

// Whatever step of Open fails, nothing stays open or mapped and the UMEM is as it
// was.
func TestFailureAtEachStep(t *testing.T) {
	u, err := umem.New(64, 2048)
	if err != nil {
		t.Fatal(err)
	}
	k := newFake(t)
	calls := failEach(t, k, u, 1, func(call string) {
		if k.live() != 0 || k.maps != 0 {
			t.Errorf("after a failure of %q: %d descriptors and %d mappings are left", call, k.live(), k.maps)
		}
		if _, ok := u.SharedFD(); ok {
			t.Errorf("after a failure of %q the UMEM has a socket", call)
		}
	})
	if got := strings.Join(calls, " "); got != allSteps {
		t.Errorf("steps: %s", got)
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
}

// kernelHas counts the process's descriptors and the mappings of sockets.
func kernelHas(t *testing.T) (fds, maps int) {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	m, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return len(d), strings.Count(string(m), "socket:")
}

// The same with the real kernel's descriptors and mappings; a queue that a failed
// attempt still held would refuse the next one.
func TestFailureAtEachStepLinux(t *testing.T) {
	testenv.Namespace(t)
	w := newWire(t, "f", 1)
	u, err := umem.New(64, 2048)
	if err != nil {
		t.Fatal(err)
	}
	fds, maps := kernelHas(t)
	calls := failEach(t, linux{}, u, w.near, func(call string) {
		if f, m := kernelHas(t); f != fds || m != maps {
			t.Errorf("after a failure of %q: %d descriptors and %d mappings, before %d and %d", call, f, m, fds, maps)
		}
	})
	if got := strings.Join(calls, " "); got != allSteps {
		t.Errorf("steps: %s", got)
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
}
