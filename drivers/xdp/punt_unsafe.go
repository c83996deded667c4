package xdp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// testRunAttr is the test member of union bpf_attr (include/uapi/linux/bpf.h).
type testRunAttr struct {
	progFD, retval        uint32
	sizeIn, sizeOut       uint32
	dataIn, dataOut       uint64
	repeat, duration      uint32
	ctxSizeIn, ctxSizeOut uint32
	ctxIn, ctxOut         uint64
	flags, cpu            uint32
	batchSize, _          uint32
}

// xdpMD is struct xdp_md; data and data_end are offsets here.
type xdpMD struct {
	data, dataEnd, dataMeta              uint32
	ingressIfindex, rxQueueIndex, egress uint32
}

const (
	bpfProgTestRun    = 10
	testXDPLiveFrames = 1 << 1 // BPF_F_TEST_XDP_LIVE_FRAMES
)

// run is the system call. The kernel copies the frame, so data is free again
// on return.
func (c *Call) run(ifindex, queue int, data []byte) unix.Errno {
	c.ctx = xdpMD{dataEnd: uint32(len(data)), ingressIfindex: uint32(ifindex), rxQueueIndex: uint32(queue)}
	c.attr = testRunAttr{
		progFD: uint32(c.fd), sizeIn: uint32(len(data)), dataIn: uint64(uintptr(unsafe.Pointer(&data[0]))),
		repeat: 1, ctxSizeIn: uint32(unsafe.Sizeof(c.ctx)), ctxIn: uint64(uintptr(unsafe.Pointer(&c.ctx))),
		flags: testXDPLiveFrames, batchSize: 1,
	}
	_, _, e := unix.Syscall(unix.SYS_BPF, bpfProgTestRun, uintptr(unsafe.Pointer(&c.attr)), unsafe.Sizeof(c.attr))
	return e
}
