package report

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
)

func TestReaderSeesWholeReports(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "boot.json")
	w := NewWriter(path)
	if err := w.Update(func(r *Report) {}); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for last := 0; ; {
			r, err := Read(path)
			if err != nil || len(r.Steps) < last {
				t.Errorf("%d steps after %d: %v", len(r.Steps), last, err)
				return
			}
			last = len(r.Steps)
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for i := range 300 {
		if err := w.Update(func(r *Report) { r.Steps = append(r.Steps, Step{Name: "s", StartMS: int64(i)}) }); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("left behind: %v, %v", all, err)
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "boot.json")
	w := NewWriter(path)
	if err := w.Update(func(r *Report) {
		r.Board, r.Faults = "b", []string{"f"}
		r.Ports = []Port{{Label: "lan", Address: []string{"192.0.2.1/24"}}}
		r.Services = []Service{{Name: "forwarder", PID: 7, Ready: true}}
		r.Done = true
	}); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil || !reflect.DeepEqual(got, w.Get()) {
		t.Errorf("%+v, %v; want %+v", got, err, w.Get())
	}
}

func TestGetIsACopy(t *testing.T) {
	w := NewWriter(filepath.Join(t.TempDir(), "boot.json"))
	if err := w.Update(func(r *Report) { r.Steps = []Step{{Name: "a"}} }); err != nil {
		t.Fatal(err)
	}
	w.Get().Steps[0].Name = "changed"
	if w.Get().Steps[0].Name != "a" {
		t.Error("a caller changed the report")
	}
}

func TestErrorsAreSaid(t *testing.T) {
	w := NewWriter(filepath.Join(t.TempDir(), "no", "boot.json"))
	if err := w.Update(func(*Report) {}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	bad := filepath.Join(t.TempDir(), "boot.json")
	if err := os.WriteFile(bad, []byte(`{"steps": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var typ *json.UnmarshalTypeError
	if _, err := Read(bad); !errors.As(err, &typ) {
		t.Errorf("%v", err)
	}
}
