package policy

import (
	"encoding/binary"
	"reflect"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"weir/internal/testenv"
	"weir/netstack/mirror/nl"
)

func be(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }

func chainMessage() []byte {
	hook := nl.AppendAttr(nil, unix.NFTA_HOOK_HOOKNUM, be(0))
	hook = nl.AppendAttr(hook, unix.NFTA_HOOK_DEV, []byte("lan\x00"))
	devs := nl.AppendAttr(nil, deviceName, []byte("wan\x00"))
	hook = nl.AppendAttr(hook, hookDevs|unix.NLA_F_NESTED, nl.AppendAttr(devs, devicePrefix, []byte("eth")))
	b := nl.AppendAttr(nil, unix.NFTA_CHAIN_TABLE, []byte("t\x00"))
	b = nl.AppendAttr(b, unix.NFTA_CHAIN_NAME, []byte("c\x00"))
	b = nl.AppendAttr(b, unix.NFTA_CHAIN_HOOK|unix.NLA_F_NESTED, hook)
	b = nl.AppendAttr(b, unix.NFTA_CHAIN_POLICY, be(1))
	return nl.AppendAttr(b, unix.NFTA_CHAIN_USE, be(3))
}

func TestParseChain(t *testing.T) {
	c, base := parseChain(unix.NFPROTO_NETDEV, chainMessage())
	want := Chain{Family: unix.NFPROTO_NETDEV, Table: "t", Name: "c", Devices: []string{"lan", "wan", "eth*"}, Uses: 3, Accept: true}
	if !base || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, %v, want %+v", c, base, want)
	}
	// What is not told is not harmless.
	c, base = parseChain(unix.NFPROTO_IPV4, nl.AppendAttr(nil, unix.NFTA_CHAIN_HOOK, nil))
	if !base || c.Uses == 0 || c.Accept {
		t.Errorf("a chain without its use and policy passes for empty: %+v", c)
	}
	if _, base := parseChain(unix.NFPROTO_IPV4, nl.AppendAttr(nil, unix.NFTA_CHAIN_USE, be(1))); base {
		t.Error("a chain without a hook passes for a base chain")
	}
}

func FuzzNetfilter(f *testing.F) {
	f.Add(chainMessage())
	f.Add(nl.AppendAttr(nil, flowtableHook, nl.AppendAttr(nil, flowtableDevs, nl.AppendAttr(nil, deviceName, []byte("lan\x00")))))
	f.Fuzz(func(t *testing.T, b []byte) {
		parseChain(unix.NFPROTO_INET, b)
		parseFlowtable(b)
	})
}

// TestRead: in an empty namespace everything can be read, and Poll of what has
// not changed equals Read.
func TestRead(t *testing.T) {
	testenv.Namespace(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, err := NewReader()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := r.Read([]string{"lo"})
	for s, err := range f.Failed {
		t.Errorf("%s: %v", s, err)
	}
	if len(f.Links) == 0 || f.Links[0].Name != "lo" || len(f.Rules4) != 3 || len(f.Rules6) != 2 {
		t.Errorf("an empty namespace reads as %+v", f)
	}
	if mtu, ok := setting(f.Links[0].Conf6, conf6MTU); !ok || mtu != 65536 {
		t.Errorf("lo's IPv6 MTU is %d, %v", mtu, ok)
	}
	if got := r.Poll(f, []string{"lo"}); !reflect.DeepEqual(got, f) {
		t.Errorf("Poll reads %+v\nRead %+v", got, f)
	}
}
