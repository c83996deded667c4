package main

import (
	"net"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The load's destination port (weir/qemu/traffic.Port) and the lab's server
// (weir/qemu/lab): what is forbidden below.
const loadPort = 40000

var server = net.IPNet{IP: net.IPv4(192, 0, 2, 2), Mask: net.CIDRMask(32, 32)}

const nftTable = "weir-lab"

// nftOn drops the load in a forward chain, of both families.
func nftOn() error {
	c := &nftables.Conn{}
	t := c.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: nftTable})
	ch := c.AddChain(&nftables.Chain{Name: "forward", Table: t, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter})
	c.AddRule(&nftables.Rule{Table: t, Chain: ch, Exprs: []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_UDP}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(loadPort)},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}})
	return c.Flush()
}

func nftOff() error {
	c := &nftables.Conn{}
	c.DelTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: nftTable})
	return c.Flush()
}

// rule forbids the server by IPv4: the kernel answers "packet filtered".
func rule() *netlink.Rule {
	r := netlink.NewRule()
	r.Family = unix.AF_INET
	r.Dst = &server
	r.Priority = 100
	r.Type = unix.FR_ACT_PROHIBIT
	return r
}

func ruleOn() error  { return netlink.RuleAdd(rule()) }
func ruleOff() error { return netlink.RuleDel(rule()) }

func clsact(port string) (netlink.Qdisc, error) {
	l, err := netlink.LinkByName(port)
	if err != nil {
		return nil, err
	}
	return &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: l.Attrs().Index,
		Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT}}, nil
}

// tcOn drops everything that arrives on lan.
func tcOn() error {
	q, err := clsact("lan")
	if err != nil {
		return err
	}
	if err := netlink.QdiscAdd(q); err != nil {
		return err
	}
	return netlink.FilterAdd(&netlink.MatchAll{
		FilterAttrs: netlink.FilterAttrs{LinkIndex: q.Attrs().LinkIndex, Parent: netlink.HANDLE_MIN_INGRESS, Priority: 1, Protocol: unix.ETH_P_ALL},
		Actions:     []netlink.Action{&netlink.GenericAction{ActionAttrs: netlink.ActionAttrs{Action: netlink.TC_ACT_SHOT}}},
	})
}

func tcOff() error {
	q, err := clsact("lan")
	if err != nil {
		return err
	}
	return netlink.QdiscDel(q)
}

func tbf() (netlink.Qdisc, error) {
	l, err := netlink.LinkByName("wan")
	if err != nil {
		return nil, err
	}
	return &netlink.Tbf{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate: 12_500_000, Limit: 1 << 20, Buffer: 1 << 20}, nil
}

// shapeOn holds what leaves wan to 100 Mbit/s: nothing of the lab's is lost.
func shapeOn() error {
	q, err := tbf()
	if err != nil {
		return err
	}
	return netlink.QdiscReplace(q)
}

func shapeOff() error {
	q, err := tbf()
	if err != nil {
		return err
	}
	return netlink.QdiscDel(q)
}

// xfrm blocks what goes to the server by IPv4.
func xfrm() *netlink.XfrmPolicy {
	all := net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}
	return &netlink.XfrmPolicy{Dst: &server, Src: &all, Dir: netlink.XFRM_DIR_FWD, Action: netlink.XFRM_POLICY_BLOCK}
}

func xfrmOn() error  { return netlink.XfrmPolicyAdd(xfrm()) }
func xfrmOff() error { return netlink.XfrmPolicyDel(xfrm()) }
