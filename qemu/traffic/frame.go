package traffic

import (
	"encoding/binary"
)

const (
	etherLen = 14
	v4Len    = 20
	v6Len    = 40
	udpLen   = 8
	// tagLen is the payload's own head: run (4 bytes), flow (4), number within the
	// flow (4), big endian. The pattern follows.
	tagLen = 12
	// patternMin bytes of pattern are in every frame.
	patternMin = 4
)

// tag is what a payload says about itself.
type tag struct{ run, flow, seq uint32 }

// run is the number by which frames of this load are told from others.
func (l Load) run() uint32 { return uint32(mix(l.Seed)) | 1 }

// mix is splitmix64's finalizer.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fill writes the pattern of a tag.
func (t tag) fill(b []byte) {
	x := uint64(t.run)<<32 ^ uint64(t.flow)<<16 ^ uint64(t.seq)
	for i := range b {
		if i%8 == 0 {
			x = mix(x)
		}
		b[i] = byte(x >> (i % 8 * 8))
	}
}

// matches says whether b is the pattern of t.
func (t tag) matches(b []byte) bool {
	x := uint64(t.run)<<32 ^ uint64(t.flow)<<16 ^ uint64(t.seq)
	for i, v := range b {
		if i%8 == 0 {
			x = mix(x)
		}
		if v != byte(x>>(i%8*8)) {
			return false
		}
	}
	return true
}

// build writes frame number seq of a flow into buf and returns its length.
func (l Load) build(buf []byte, from, to End, flow, seq int) int {
	v6 := l.v6(flow)
	ipLen := v4Len
	if v6 {
		ipLen = v6Len
	}
	n := max(l.Sizes[flow%len(l.Sizes)], etherLen+ipLen+udpLen+tagLen+patternMin)
	f := buf[:n]
	copy(f, from.GatewayMAC)
	copy(f[6:], from.MAC)
	p := f[etherLen:]
	udp := p[ipLen:]
	if v6 {
		binary.BigEndian.PutUint16(f[12:], 0x86dd)
		binary.BigEndian.PutUint32(p, 6<<28|uint32(flow)&0xfffff) // the flow label is the flow
		binary.BigEndian.PutUint16(p[4:], uint16(len(udp)))
		p[6], p[7] = 17, l.TTL
		s, d := from.Addr[1].As16(), to.Addr[1].As16()
		copy(p[8:], s[:])
		copy(p[24:], d[:])
	} else {
		binary.BigEndian.PutUint16(f[12:], 0x0800)
		clear(p[:v4Len])
		p[0] = 0x45
		binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
		binary.BigEndian.PutUint16(p[4:], uint16(seq))
		p[6] = 0x40 // don't fragment
		p[8], p[9] = l.TTL, 17
		s, d := from.Addr[0].As4(), to.Addr[0].As4()
		copy(p[12:], s[:])
		copy(p[16:], d[:])
		binary.BigEndian.PutUint16(p[10:], ^sum(0, p[:v4Len]))
	}
	binary.BigEndian.PutUint16(udp, uint16(firstPort+flow))
	binary.BigEndian.PutUint16(udp[2:], Port)
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	binary.BigEndian.PutUint16(udp[6:], 0)
	t := tag{l.run(), uint32(flow), uint32(seq)}
	body := udp[udpLen:]
	binary.BigEndian.PutUint32(body, t.run)
	binary.BigEndian.PutUint32(body[4:], t.flow)
	binary.BigEndian.PutUint32(body[8:], t.seq)
	t.fill(body[tagLen:])
	c := ^sum(pseudo(p, v6, len(udp)), udp)
	if c == 0 {
		c = 0xffff // 0 means "none" (RFC 768)
	}
	binary.BigEndian.PutUint16(udp[6:], c)
	return n
}

// sum is the ones' complement sum of RFC 1071 over b, added to start. It is the
// lab's own and not netstack's: a tester must not share the tested code's faults.
func sum(start uint32, b []byte) uint16 {
	s := start
	for ; len(b) >= 2; b = b[2:] {
		s += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

// pseudo is the sum of the pseudo header of UDP (RFC 768, RFC 8200 8.1).
func pseudo(ip []byte, v6 bool, udpLen int) uint32 {
	addrs := ip[12:20]
	if v6 {
		addrs = ip[8:40]
	}
	return uint32(sum(0, addrs)) + 17 + uint32(udpLen)
}
