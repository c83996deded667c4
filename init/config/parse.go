package config

import (
	"bytes"
	"fmt"
)

const (
	// MaxSize bounds a file: a thousand ports and routes are a tenth of it, and a
	// box with 256 MiB must survive a wrong one.
	MaxSize = 256 << 10
	// MaxPorts is what the packet path can number (frame.MaxPorts).
	MaxPorts = 64
)

// Parse reads the bytes of a weir.toml; name is what faults call the file. It
// returns a configuration or faults, never both: a file with a fault is not
// applied in part. A file that declares no port, such as an empty one, is
// faulty, since the box could not be reached.
func Parse(name string, data []byte) (*Config, Faults) {
	r := &reader{file: name}
	whole := spot{pos{1, 1}, ""}
	switch {
	case len(data) > MaxSize:
		r.fault(whole, fmt.Sprintf("has %d bytes, more than the %d a configuration may have", len(data), MaxSize),
			"check that it is the right file")
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")), bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		r.fault(whole, "starts with a byte order mark", "save it as plain UTF-8")
	}
	if len(r.faults) > 0 {
		return nil, r.faults
	}
	data = bytes.Clone(data)
	root := r.build(data[:len(data):len(data)])
	if root == nil {
		return nil, r.faults
	}
	c := r.whole(root)
	if len(r.faults) > 0 {
		r.faults.sort()
		return nil, r.faults
	}
	return c, nil
}
