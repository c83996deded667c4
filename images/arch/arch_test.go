package arch

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

func elfHead(m elf.Machine, data elf.Data) []byte {
	h := make([]byte, 64)
	copy(h, elf.ELFMAG)
	h[elf.EI_DATA] = byte(data)
	binary.LittleEndian.PutUint16(h[18:], uint16(m))
	return h
}

func kernelHead(off int, magic uint32) []byte {
	h := make([]byte, 64)
	copy(h, "MZ")
	binary.LittleEndian.PutUint32(h[off:], magic)
	return h
}

func TestCheckELF(t *testing.T) {
	cases := []struct {
		name string
		head []byte
		arch string
		want string // "" is accepted
	}{
		{"arm64 for arm64", elfHead(elf.EM_AARCH64, elf.ELFDATA2LSB), "arm64", ""},
		{"arm for arm", elfHead(elf.EM_ARM, elf.ELFDATA2LSB), "arm", ""},
		{"arm for arm64", elfHead(elf.EM_ARM, elf.ELFDATA2LSB), "arm64", "x.ko is for EM_ARM, the board needs arm64"},
		{"arm64 for arm", elfHead(elf.EM_AARCH64, elf.ELFDATA2LSB), "arm", "x.ko is for EM_AARCH64, the board needs arm"},
		{"x86 for arm64", elfHead(elf.EM_X86_64, elf.ELFDATA2LSB), "arm64", "x.ko is for EM_X86_64"},
		{"big-endian", elfHead(elf.EM_AARCH64, elf.ELFDATA2MSB), "arm64", "x.ko is big-endian"},
		{"text", []byte("#!/bin/sh\nexec true, and then some more\n"), "arm64", "x.ko is no ELF file"},
		{"short", []byte(elf.ELFMAG), "arm64", "x.ko is no ELF file"},
		{"empty", nil, "arm64", "x.ko is no ELF file"},
		{"unknown", elfHead(elf.EM_AARCH64, elf.ELFDATA2LSB), "mips", `architecture "mips" is not known`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { check(t, CheckELF("x.ko", c.head, c.arch), c.want) })
	}
}

func TestCheckKernel(t *testing.T) {
	image, zImage := kernelHead(arm64Offset, arm64Magic), kernelHead(armOffset, armMagic)
	cases := []struct {
		name string
		head []byte
		arch string
		want string
	}{
		{"Image for arm64", image, "arm64", ""},
		{"zImage for arm", zImage, "arm", ""},
		{"Image for arm", image, "arm", "vmlinuz is for arm64, the board needs arm"},
		{"zImage for arm64", zImage, "arm64", "vmlinuz is for arm, the board needs arm64"},
		{"other", make([]byte, 64), "arm64", "vmlinuz is no Arm kernel image"},
		{"short", image[:20], "arm64", "vmlinuz is no Arm kernel image"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { check(t, CheckKernel("vmlinuz", c.head, c.arch), c.want) })
	}
	if err := CheckKernel("vmlinuz", zImage, "arm64"); !errors.Is(err, ErrWrong) {
		t.Errorf("%v is not ErrWrong", err)
	}
}

func check(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want %q in it", err, want)
	}
}
