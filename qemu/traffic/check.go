package traffic

import (
	"encoding/binary"
	"time"
)

// checker judges the frames of one load. It has no socket, so that tests can
// feed it.
type checker struct {
	load Load
	from End
	to   End
	r    Result
	// seen has a bit for every frame of every flow; next is one more than the
	// highest number seen.
	seen [][]uint64
	next []int
	last time.Time
}

func newChecker(l Load, from, to End) *checker {
	c := &checker{load: l, from: from, to: to, r: Result{Seed: l.Seed, Flows: l.Flows}}
	c.seen = make([][]uint64, l.Flows)
	each := (l.Frames + l.Flows - 1) / l.Flows
	for i := range c.seen {
		c.seen[i] = make([]uint64, (each+63)/64)
	}
	c.next = make([]int, l.Flows)
	return c
}

// add judges one frame; frames that are not of this load do not count.
func (c *checker) add(f []byte, now time.Time) {
	if len(f) < etherLen+v4Len+udpLen+tagLen {
		return
	}
	ip := f[etherLen:]
	v6 := binary.BigEndian.Uint16(f[12:]) == 0x86dd
	ipLen, ttl, total := v4Len, ip[8], int(binary.BigEndian.Uint16(ip[2:]))
	if v6 {
		if len(f) < etherLen+v6Len+udpLen+tagLen {
			return
		}
		ipLen, ttl, total = v6Len, ip[7], v6Len+int(binary.BigEndian.Uint16(ip[4:]))
	}
	udp := ip[ipLen:]
	if binary.BigEndian.Uint16(udp[2:]) != Port {
		return
	}
	body := udp[udpLen:]
	t := tag{binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:]), binary.BigEndian.Uint32(body[8:])}
	if t.run != c.load.run() {
		return
	}
	flow, seq := int(t.flow), int(t.seq)
	if flow >= c.load.Flows || seq >= len(c.seen[flow])*64 || c.load.v6(flow) != v6 {
		c.r.Corrupted++
		c.r.example("a frame says it is number %d of flow %d", seq, flow)
		return
	}
	if !c.last.IsZero() {
		c.r.LongestGap = max(c.r.LongestGap, now.Sub(c.last))
	}
	c.last = now
	word, bit := seq/64, uint64(1)<<(seq%64)
	if c.seen[flow][word]&bit != 0 {
		c.r.Duplicated++
		c.r.example("flow %d: frame %d came twice", flow, seq)
		return
	}
	c.seen[flow][word] |= bit
	c.r.Received++
	if c.next[flow] == 0 {
		c.r.FlowsSeen++
	}
	if seq+1 < c.next[flow] {
		c.r.Reordered++
		c.r.example("flow %d: frame %d came after frame %d", flow, seq, c.next[flow]-1)
	}
	c.next[flow] = max(c.next[flow], seq+1)
	c.judge(f, ip, udp, t, v6, ipLen, ttl, total)
}

// judge looks at what the router must have changed, and must not.
func (c *checker) judge(f, ip, udp []byte, t tag, v6 bool, ipLen int, ttl uint8, total int) {
	want := max(c.load.Sizes[int(t.flow)%len(c.load.Sizes)], etherLen+ipLen+udpLen+tagLen+patternMin) - etherLen
	// Below the least Ethernet frame the sender's driver pads.
	if total != want || len(ip) < total || (len(ip) > total && len(f) > 60) {
		c.r.Corrupted++
		c.r.example("flow %d: frame %d has %d bytes, of which IP claims %d; sent were %d", t.flow, t.seq, len(ip), total, want)
		return
	}
	udp = udp[:total-ipLen]
	if !t.matches(udp[udpLen+tagLen:]) {
		c.r.Corrupted++
		c.r.example("flow %d: frame %d has another payload than was sent", t.flow, t.seq)
	}
	if (!v6 && sum(0, ip[:v4Len]) != 0xffff) || sum(pseudo(ip, v6, len(udp)), udp) != 0xffff {
		c.r.BadChecksum++
		c.r.example("flow %d: frame %d has a bad checksum", t.flow, t.seq)
	}
	if ttl != c.load.TTL-1 {
		c.r.WrongTTL++
		c.r.example("flow %d: frame %d has TTL %d, sent was %d", t.flow, t.seq, ttl, c.load.TTL)
	}
	if string(f[:6]) != string(c.to.MAC) || string(f[6:12]) != string(c.to.GatewayMAC) {
		c.r.WrongMAC++
		c.r.example("flow %d: frame %d is to %x from %x", t.flow, t.seq, f[:6], f[6:12])
	}
}

// result closes the books after `sent` frames went out.
func (c *checker) result(sent int) *Result {
	c.r.Sent = sent
	c.r.Lost = sent - c.r.Received
	for flow, next := range c.next {
		if c.r.Lost > 0 && next < (sent+c.load.Flows-1-flow)/c.load.Flows {
			c.r.example("flow %d: the last that came is frame %d of %d", flow, next-1, (sent+c.load.Flows-1-flow)/c.load.Flows)
		}
	}
	return &c.r
}
