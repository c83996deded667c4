package status

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestServeAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "s.sock")
	want := &Status{Version: "1", PID: 7, Ports: []Port{{Name: "lan", Punts: map[string]uint64{"ttl": 1 << 60}}}, Tiers: map[string]uint64{"worker": 3}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	go func() { done <- Serve(ctx, l, func() *Status { return want }) }()
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, served %+v", got, want)
	}
	// A peer that says nothing and goes does not end the server.
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := Read(path); err != nil {
		t.Errorf("after a rude peer: %v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := Read(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Read without a server: %v", err)
	}
}

// A socket file left by a killed forwarder does not keep the next one out.
func TestServeReplacesDeadSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	next, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	go func() { done <- Serve(ctx, next, func() *Status { return &Status{} }) }()
	if _, err := Read(path); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A living forwarder's socket, and a file that is no socket, are left alone.
func TestListenLeavesOthersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Listen(path); !errors.Is(err, ErrInUse) {
		t.Errorf("second Listen: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the living socket is gone: %v", err)
	}
	file := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(file); err == nil {
		t.Error("a file that is no socket was replaced")
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "x" {
		t.Errorf("the file is %q, %v", b, err)
	}
}
