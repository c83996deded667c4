package guard

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var scenarios = map[string]func(){
	"reap": reapScenario,
	// The n-th worker dies in the n-th way.
	"deaths": func() {
		left := processes()
		fmt.Printf("start %s, %d other processes, last: %s\n", os.Getenv(StartsEnv), len(left), os.Getenv(DeathEnv))
		switch os.Getenv(StartsEnv) {
		case "0":
			must(command("sleep", "").Start()) // must not outlive us
			go func() { var p *int; *p = 1 }()
			select {}
		case "1":
			m := map[int]int{}
			for range 4 {
				go func() {
					for i := 0; ; i++ {
						m[i%100] = i
					}
				}()
			}
			select {}
		case "2":
			unix.Kill(-1, unix.SIGKILL) // spares the caller
			unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
		os.Exit(ExitReboot)
	},
	// Process 1 itself panics at the first death, while a process is left.
	"panic": func() {
		fmt.Printf("start %s, %d other processes, last: %s\n", os.Getenv(StartsEnv), len(processes()), os.Getenv(DeathEnv))
		if os.Getenv(StartsEnv) == "0" {
			must(command("sleep", "").Start())
			os.Exit(3)
		}
		os.Exit(ExitReboot)
	},
	"hopeless": func() { os.Exit(3) },
	"signals": func() {
		signal.Ignore(unix.SIGUSR2)
		for s := unix.Signal(1); s < 32; s++ {
			switch s {
			case unix.SIGTERM, unix.SIGINT, unix.SIGUSR2, unix.SIGPWR:
			default:
				must(unix.Kill(1, s))
				time.Sleep(time.Millisecond) // for the log's sake: so that more than one is said
			}
		}
		c := make(chan os.Signal, 1)
		signal.Notify(c, unix.SIGUSR2)
		must(unix.Kill(1, unix.SIGUSR2))
		<-c
		fmt.Println("the worker was asked")
		os.Exit(ExitPowerOff)
	},
	"deaf": func() {
		signal.Ignore(unix.SIGTERM)
		must(command("sleep", "").Start())
		must(unix.Kill(1, unix.SIGTERM))
		time.Sleep(time.Hour)
	},
}

func command(name, arg string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{name, arg}
	cmd.Env = os.Environ()
	return cmd
}

const (
	commands = 100
	orphans  = 1000
)

// reapScenario is CASES B21: commands by os/exec while orphans end.
func reapScenario() {
	var wg sync.WaitGroup
	wg.Go(func() {
		for range orphans {
			orphan()
		}
	})
	var mu sync.Mutex
	wrong := 0
	limit := make(chan struct{}, 8)
	for i := range commands {
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			code := i % 50
			err := command("exit", strconv.Itoa(code)).Run()
			var ee *exec.ExitError
			if code == 0 && err == nil || errors.As(err, &ee) && ee.ExitCode() == code {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			wrong++
			fmt.Printf("command %d: want status %d: %v\n", i, code, err)
		})
	}
	wg.Wait()
	zombies := -1
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		zombies = 0
		for _, state := range processes() {
			if state == "Z" {
				zombies++
			}
		}
		if zombies == 0 {
			break
		}
	}
	fmt.Printf("commands %d wrong %d orphans %d zombies %d\n", commands, wrong, orphans, zombies)
	os.Exit(ExitPowerOff)
}

// orphan leaves a process without a parent that ends at once. Both forks run
// system calls only: nothing of the Go runtime lives in them.
func orphan() {
	syscall.ForkLock.Lock()
	pid := forkTwice()
	syscall.ForkLock.Unlock()
	if pid < 0 {
		must(errors.New("fork failed"))
	}
	_, err := syscall.Wait4(pid, nil, 0, nil)
	must(err)
}

//go:norace
//go:noinline
func forkTwice() int {
	pid, _, e := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e != 0 {
		return -1
	}
	if pid == 0 {
		syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		for {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	return int(pid)
}

// processes tells the state of each process of the namespace but process 1 and
// this one.
func processes() map[string]string {
	all := map[string]string{}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	must(err)
	for _, f := range files {
		pid := filepath.Base(filepath.Dir(f))
		b, err := os.ReadFile(f)
		if err != nil || pid == "1" || pid == strconv.Itoa(os.Getpid()) {
			continue
		}
		// proc(5): the state follows the name, which is in parentheses.
		if _, rest, ok := strings.Cut(string(b), ") "); ok {
			all[pid] = rest[:1]
		}
	}
	return all
}
