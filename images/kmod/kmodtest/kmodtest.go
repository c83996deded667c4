package kmodtest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"

	"github.com/ulikunitz/xz"
)

// Module is an ELF file (64-bit for arm64, 32-bit for arm) whose one section of
// interest is .modinfo with these key=value strings.
func Module(goarch string, info ...string) []byte {
	var modinfo bytes.Buffer
	for _, kv := range info {
		modinfo.WriteString(kv)
		modinfo.WriteByte(0)
	}
	names := []byte("\x00.modinfo\x00.shstrtab\x00")
	var b bytes.Buffer
	le := binary.LittleEndian
	w := func(v any) {
		if err := binary.Write(&b, le, v); err != nil {
			panic(err)
		}
	}
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', 0, byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	n := uint32(modinfo.Len())
	switch goarch {
	case "arm":
		ident[elf.EI_CLASS] = byte(elf.ELFCLASS32)
		const head, sect = 52, 40
		w(elf.Header32{Ident: ident, Type: uint16(elf.ET_REL), Machine: uint16(elf.EM_ARM), Version: 1,
			Shoff: head, Ehsize: head, Shentsize: sect, Shnum: 3, Shstrndx: 2})
		data := uint32(head + 3*sect)
		w(elf.Section32{})
		w(elf.Section32{Name: 1, Type: uint32(elf.SHT_PROGBITS), Off: data, Size: n})
		w(elf.Section32{Name: 10, Type: uint32(elf.SHT_STRTAB), Off: data + n, Size: uint32(len(names))})
	default:
		machine := elf.EM_AARCH64
		if goarch != "arm64" {
			machine = elf.EM_X86_64
		}
		ident[elf.EI_CLASS] = byte(elf.ELFCLASS64)
		const head, sect = 64, 64
		w(elf.Header64{Ident: ident, Type: uint16(elf.ET_REL), Machine: uint16(machine), Version: 1,
			Shoff: head, Ehsize: head, Shentsize: sect, Shnum: 3, Shstrndx: 2})
		data := uint64(head + 3*sect)
		w(elf.Section64{})
		w(elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Off: data, Size: uint64(n)})
		w(elf.Section64{Name: 10, Type: uint32(elf.SHT_STRTAB), Off: data + uint64(n), Size: uint64(len(names))})
	}
	b.Write(modinfo.Bytes())
	b.Write(names)
	return b.Bytes()
}

// XZ is data compressed, as Debian's modules are.
func XZ(data []byte) []byte {
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err != nil {
		panic(err)
	}
	if _, err := w.Write(data); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Kernel is the header of a kernel image, and a few bytes behind it.
func Kernel(goarch string) []byte {
	b := make([]byte, 256)
	copy(b, "MZ")
	if goarch == "arm" {
		binary.LittleEndian.PutUint32(b[0x24:], 0x016f2818)
	} else {
		copy(b[56:], "ARM\x64")
	}
	return b
}
