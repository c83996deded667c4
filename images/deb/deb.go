package deb

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
)

// ErrTruncated: the package ends before its own lengths say so.
var ErrTruncated = errors.New("truncated package")

// ErrFormat: the bytes are no Debian package.
var ErrFormat = errors.New("no Debian package")

// Package is an open package. Its readers are those of the file: use one at a time.
type Package struct {
	name    string
	f       *os.File
	members []member
}

// member is one file of the ar archive.
type member struct {
	name      string
	off, size int64
}

// Open reads the table of contents and checks that the file is as long as it says.
func Open(file string) (*Package, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	p := &Package{name: file, f: f}
	if err := p.readMembers(); err != nil {
		f.Close()
		return nil, fmt.Errorf("package %s: %w", file, err)
	}
	return p, nil
}

// Close closes the file.
func (p *Package) Close() error { return p.f.Close() }

const (
	arMagic   = "!<arch>\n"
	arHeadLen = 60 // ar(5): name 16, date 12, uid 6, gid 6, mode 8, size 10, end 2
)

func (p *Package) readMembers() error {
	fi, err := p.f.Stat()
	if err != nil {
		return err
	}
	end := fi.Size()
	head := make([]byte, arHeadLen)
	if _, err := p.f.ReadAt(head[:len(arMagic)], 0); err != nil || string(head[:len(arMagic)]) != arMagic {
		if end < int64(len(arMagic)) {
			return truncated("it has %d bytes", end)
		}
		return fmt.Errorf("%w: it does not begin with %q", ErrFormat, arMagic)
	}
	for off := int64(len(arMagic)); off < end; {
		if _, err := p.f.ReadAt(head, off); err != nil {
			return truncated("its table ends at byte %d", end)
		}
		if string(head[58:]) != "`\n" {
			return fmt.Errorf("%w: the member header at byte %d is broken", ErrFormat, off)
		}
		size, err := strconv.ParseInt(strings.TrimSpace(string(head[48:58])), 10, 64)
		if err != nil || size < 0 {
			return fmt.Errorf("%w: the member header at byte %d has no size", ErrFormat, off)
		}
		m := member{strings.TrimSuffix(strings.TrimSpace(string(head[:16])), "/"), off + arHeadLen, size}
		if size > end-m.off {
			return truncated("%s has %d of %d bytes", m.name, end-m.off, size)
		}
		p.members = append(p.members, m)
		off = m.off + size + size&1 // members start at even bytes
	}
	if len(p.members) == 0 || p.members[0].name != "debian-binary" {
		return fmt.Errorf("%w: debian-binary is not its first member", ErrFormat)
	}
	return nil
}

// truncated is ErrTruncated with where it was seen and the remedy.
func truncated(format string, args ...any) error {
	return fmt.Errorf("%w: %s: delete it and fetch it again", ErrTruncated, fmt.Sprintf(format, args...))
}

// Control is the fields of the control file, by name, without continuation lines.
func (p *Package) Control() (map[string]string, error) {
	fields := make(map[string]string)
	found := false
	err := p.walk("control.tar", func(h *tar.Header, r io.Reader) error {
		if path.Clean(h.Name) != "control" {
			return nil
		}
		found = true
		sc := bufio.NewScanner(r)
		for sc.Scan() {
			if k, v, ok := strings.Cut(sc.Text(), ":"); ok && !strings.HasPrefix(k, " ") {
				fields[k] = strings.TrimSpace(v)
			}
		}
		return sc.Err()
	})
	if err == nil && !found {
		err = fmt.Errorf("package %s: %w: it has no control file", p.name, ErrFormat)
	}
	return fields, err
}

// Walk calls fn for every entry of the data archive, in its order. The reader is
// valid until fn returns.
func (p *Package) Walk(fn func(*tar.Header, io.Reader) error) error {
	return p.walk("data.tar", fn)
}

func (p *Package) walk(prefix string, fn func(*tar.Header, io.Reader) error) error {
	for _, m := range p.members {
		if !strings.HasPrefix(m.name, prefix) {
			continue
		}
		if err := p.walkMember(m, fn); err != nil {
			return fmt.Errorf("package %s: %s: %w", p.name, m.name, err)
		}
		return nil
	}
	// Every package has both archives; one cut between two members has a table
	// that looks whole.
	return fmt.Errorf("package %s: %w", p.name, truncated("it ends before its %s", prefix))
}

func (p *Package) walkMember(m member, fn func(*tar.Header, io.Reader) error) error {
	r, done, err := decompress(path.Ext(m.name), bufio.NewReaderSize(io.NewSectionReader(p.f, m.off, m.size), 1<<20))
	if err != nil {
		return cutOff(err)
	}
	defer done()
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			// The tar's end is not the stream's: its check sum comes after.
			_, err := io.Copy(io.Discard, r)
			return cutOff(err)
		}
		if err != nil {
			return cutOff(err)
		}
		if err := fn(h, tr); err != nil {
			return cutOff(err)
		}
	}
}

// cutOff gives an unexpected end its name.
func cutOff(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return truncated("its data ends early")
	}
	return err
}
