package frame

// Reason says why a frame was punted or dropped. The numbers are shared with
// the XDP program (drivers/xdp/bpf/weir.h), which counts by them; a test keeps
// the two lists equal. Append only.
type Reason uint8

const (
	ReasonNone Reason = iota

	// Punts: the kernel handles the frame.
	ReasonNotIP       // another EtherType: ARP, LLDP, PPPoE…
	ReasonTagged      // 802.1Q or 802.1ad tag
	ReasonMulticast   // to a group or broadcast MAC
	ReasonOtherHost   // unicast to a MAC that is not the port's
	ReasonBadHeader   // truncated, or version, lengths or checksum do not fit: the kernel drops and counts it
	ReasonOptions     // IPv4 options
	ReasonFragment    // IPv4 fragment (first ones too)
	ReasonExtHeader   // IPv6 extension header
	ReasonTTL         // TTL or hop limit 1 or 0: the kernel answers
	ReasonLocal       // for the router itself, or from one of its own addresses
	ReasonScope       // source or destination is not to be routed (loopback, multicast, zero, link-local v6…)
	ReasonNoRoute     // no route: the kernel answers
	ReasonKernelRoute // the route is of a kind only the kernel can carry (multipath, blackhole, tunnel…)
	ReasonUnresolved  // next hop's neighbour not resolved: the kernel asks for it
	ReasonTooBig      // above the out port's or route's MTU: the kernel fragments or answers
	ReasonSamePort    // would leave by the port it came in on: the kernel may send a redirect
	ReasonPortSlow    // this port and family is on the kernel path for now; `weir status` names why
	ReasonOutSlow     // the out port is on the kernel path for now
	ReasonLease       // the forwarder did not renew its lease: it is gone or stuck
	ReasonNoSocket    // no worker has a socket on the RX queue

	// Drops: Weir's own losses, always counted.
	ReasonTxFull    // the out port's TX ring was full
	ReasonTxError   // the kernel refused to transmit
	ReasonPuntError // the kernel refused a punted frame
	ReasonNoBuffer  // no free frame to hand the packet over to another worker
	ReasonRunt      // longer or shorter than a buffer can be; cannot be handed on

	NumReasons int = iota
)

var reasonNames = [...]string{
	"none",
	"not-ip", "tagged", "multicast", "other-host", "bad-header", "options", "fragment", "ext-header", "ttl",
	"local", "scope", "no-route", "kernel-route", "no-neighbour", "too-big", "same-port", "port-slow", "out-slow",
	"lease", "no-socket",
	"tx-full", "tx-error", "punt-error", "no-buffer", "runt",
}

// String is the name used by the CLI, in JSON and in metrics.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "unknown"
}
