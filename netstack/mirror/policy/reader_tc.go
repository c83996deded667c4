package policy

import (
	"encoding/binary"
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
)

// Attributes and handles of include/uapi/linux/rtnetlink.h and pkt_sched.h.
const (
	tcaDumpInvisible = 10
	tcaIngressBlock  = 13
	tcaEgressBlock   = 14
	fqFlowMaxRate    = 7

	parentIngress = 0xfffffff2 // ffff:fff2, TC_H_MIN_INGRESS
	parentEgress  = 0xfffffff3

	sizeofTcmsg = 20 // u8 family, padding; s32 ifindex; u32 handle, parent, info
)

func tcmsg(ifIndex, parent uint32) []byte {
	b := make([]byte, sizeofTcmsg)
	binary.NativeEndian.PutUint32(b[4:], ifIndex)
	binary.NativeEndian.PutUint32(b[12:], parent)
	return b
}

func (r *Reader) readQdiscs(f *Facts) error {
	req := nl.AppendAttr(tcmsg(0, 0), tcaDumpInvisible, nil)
	return r.route.Dump(unix.RTM_GETQDISC, req, func() { f.Qdiscs = nil }, func(m nl.Message) error {
		if len(m.Data) < sizeofTcmsg {
			return nil
		}
		q := Qdisc{IfIndex: nl.U32(m.Data[4:]), Handle: nl.U32(m.Data[8:]), Parent: nl.U32(m.Data[12:])}
		var options []byte
		at := nl.Attributes(m.Data[sizeofTcmsg:])
		for typ, v, ok := at.Next(); ok; typ, v, ok = at.Next() {
			switch typ {
			case unix.TCA_KIND:
				q.Kind = nl.Text(v)
			case unix.TCA_OPTIONS:
				options = v
			case tcaIngressBlock, tcaEgressBlock:
				q.Shared = true
			}
		}
		if q.Kind == "fq" {
			rate, ok := nl.Find(options, fqFlowMaxRate)
			q.Paced = ok && nl.U32(rate) != ^uint32(0)
		}
		f.Qdiscs = append(f.Qdiscs, q)
		return nil
	})
}

// readFilters counts the filters of the interfaces that have a place for them.
func (r *Reader) readFilters(f *Facts, of []uint32) error {
	count := func(p Place, parent uint32) error {
		n := 0
		err := r.route.Dump(unix.RTM_GETTFILTER, tcmsg(p.IfIndex, parent), func() { n = 0 }, func(m nl.Message) error {
			if m.Type == unix.RTM_NEWTFILTER {
				n++
			}
			return nil
		})
		f.Filters[p] += n
		if errors.Is(err, unix.ENODEV) {
			return nil // the interface went, which says more
		}
		return err
	}
	f.Filters = make(map[Place]int)
	for i := range f.Qdiscs {
		q := &f.Qdiscs[i]
		if !slices.Contains(of, q.IfIndex) {
			continue
		}
		in, out := Place{q.IfIndex, false}, Place{q.IfIndex, true}
		var err error
		switch {
		case q.Kind == "clsact":
			err = errors.Join(count(in, parentIngress), count(out, parentEgress))
		case q.Kind == "ingress":
			err = count(in, parentIngress)
		case q.Handle != 0:
			err = count(out, q.Handle)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
