package port_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"weir/drivers/port"
	"weir/drivers/port/porttest"
)

// labelled declares ports by their number: labels[i] for the link mac(i).
func labelled(labels ...string) (s port.Spec) {
	for i, l := range labels {
		if l != "" {
			s.Ports = append(s.Ports, port.Port{Label: l, Match: port.Match{MAC: mac(i)}})
		}
	}
	return s
}

func links(n int) *porttest.Kernel {
	k := porttest.New()
	for i := range n {
		k.Add(port.Link{Name: fmt.Sprintf("eth%d", i), MAC: mac(i), Oper: port.OperUp, Up: true, MTU: 1500}, port.Place{})
	}
	return k
}

// names are the links' names by MAC number, as they are now.
func names(k *porttest.Kernel, n int) []string {
	all := make([]string, n)
	ls, _ := k.Links()
	for _, l := range ls {
		for i := range n {
			if l.MAC == mac(i) {
				all[i] = l.Name
			}
		}
	}
	return all
}

func TestRename(t *testing.T) {
	for name, tt := range map[string]struct {
		labels, want []string
	}{
		"plain":            {[]string{"lan", "wan"}, []string{"lan", "wan"}},
		"as it is":         {[]string{"eth0", "eth1"}, []string{"eth0", "eth1"}},
		"swap":             {[]string{"eth1", "eth0"}, []string{"eth1", "eth0"}},
		"ring":             {[]string{"eth1", "eth2", "eth0"}, []string{"eth1", "eth2", "eth0"}},
		"chain":            {[]string{"eth1", "eth2", "lan"}, []string{"eth1", "eth2", "lan"}},
		"held by no port":  {[]string{"eth1", ""}, []string{"eth1", "spare0"}},
		"spare is a label": {[]string{"eth1", "", "spare0"}, []string{"eth1", "spare1", "spare0"}},
		"weir is a label":  {[]string{"eth1", "eth0", "weir0"}, []string{"eth1", "eth0", "weir0"}},
	} {
		for _, old := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, down for it: %t", name, old), func(t *testing.T) {
				n := len(tt.labels)
				k := links(n)
				k.RenameNeedsDown = old
				s := port.New(k)
				res := apply(t, s, labelled(tt.labels...))
				if got := names(k, n); !slices.Equal(got, tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				for _, p := range res.Ports {
					if p.Kernel == p.Label && name != "as it is" {
						t.Errorf("port %s: first name lost", p.Label)
					}
				}
				ls, _ := k.Links()
				for _, l := range ls {
					if !l.Up {
						t.Errorf("%s was left down", l.Name)
					}
				}
				if again := apply(t, s, labelled(tt.labels...)); len(again.Changes) > 0 {
					t.Errorf("second round: %q", again.Changes)
				}
			})
		}
	}
}

// Taken down for its name, a port gets everything back in the same round.
func TestRenameDownRestores(t *testing.T) {
	k := twoLinks()
	k.RenameNeedsDown = true
	s := port.New(k)
	apply(t, s, twoPorts())
	spec := twoPorts()
	spec.Ports[0].Label, spec.Ports[1].Label = "wan", "lan"
	for i := range spec.Routes {
		if p := &spec.Routes[i].Port; *p != "" {
			*p = map[string]string{"lan": "wan", "wan": "lan"}[*p]
		}
	}
	apply(t, s, spec)
	routes, _ := k.Routes()
	addrs, _ := k.Addresses()
	ours := slices.DeleteFunc(addrs, func(a port.Address) bool { return !a.Ours })
	if len(routes) != 6 || len(ours) != 7 {
		t.Errorf("%d routes, %d addresses: %v %v", len(routes), len(ours), routes, ours)
	}
	if again := apply(t, s, spec); len(again.Changes) > 0 {
		t.Errorf("second round: %q", again.Changes)
	}
}

func TestRenameFails(t *testing.T) {
	// The name is another link's second name.
	k := links(2)
	k.AltNames = map[string]bool{"lan": true}
	res, err := port.New(k).Apply(context.Background(), labelled("lan", "wan"))
	only(t, res, err, "lan", "cannot be renamed from eth0", "second name")
	if got := names(k, 2); !slices.Equal(got, []string{"eth0", "wan"}) {
		t.Errorf("names: %q", got)
	}

	// Who holds the name cannot be moved.
	k = links(3)
	k.Fail = map[string]error{"Rename eth2": unix.EPERM}
	res, err = port.New(k).Apply(context.Background(), labelled("eth2", "wan"))
	only(t, res, err, "eth2", "taken by another interface")
	if got := names(k, 3); !slices.Equal(got, []string{"eth0", "wan", "eth2"}) {
		t.Errorf("names: %q", got)
	}
}
