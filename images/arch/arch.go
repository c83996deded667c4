package arch

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrWrong is in every error about a part for another machine.
var ErrWrong = errors.New("wrong architecture")

// machines maps our names (those of GOARCH) to the ELF machine.
var machines = map[string]elf.Machine{
	"arm64": elf.EM_AARCH64,
	"arm":   elf.EM_ARM,
}

// elfHeadLen is how much of an ELF file CheckELF reads: up to e_machine.
const elfHeadLen = 20

// CheckELF refuses a program or module that is not an ELF file for arch (arm64
// or arm). name is for the error; head is the first bytes of the file, 20 at least.
func CheckELF(name string, head []byte, arch string) error {
	want, ok := machines[arch]
	if !ok {
		return fmt.Errorf("architecture %q is not known: use arm64 or arm", arch)
	}
	if len(head) < elfHeadLen || string(head[:4]) != elf.ELFMAG {
		return fmt.Errorf("%s is no ELF file: it is damaged, fetch or build it again", name)
	}
	// e_machine is 16 bits at offset 18 in both classes (System V ABI, chapter 4);
	// every machine we build for is little-endian.
	if elf.Data(head[elf.EI_DATA]) != elf.ELFDATA2LSB {
		return fmt.Errorf("%s is big-endian, the board needs %s: take the board's own package: %w", name, arch, ErrWrong)
	}
	if got := elf.Machine(binary.LittleEndian.Uint16(head[18:])); got != want {
		return fmt.Errorf("%s is for %s, the board needs %s: take the board's own package: %w", name, got, arch, ErrWrong)
	}
	return nil
}

// The kernels' own headers.
const (
	// Documentation/arch/arm64/booting.rst: "ARM\x64" at offset 56.
	arm64Offset, arm64Magic = 56, 0x644d5241
	// arch/arm/boot/compressed/head.S: zImage magic at offset 0x24.
	armOffset, armMagic = 0x24, 0x016f2818
)

// CheckKernel refuses a kernel (Image or zImage) that is not for arch. head is
// the first bytes of the file, 64 at least.
func CheckKernel(name string, head []byte, arch string) error {
	var got string
	switch {
	case len(head) < arm64Offset+4:
	case binary.LittleEndian.Uint32(head[arm64Offset:]) == arm64Magic:
		got = "arm64"
	case binary.LittleEndian.Uint32(head[armOffset:]) == armMagic:
		got = "arm"
	}
	switch got {
	case arch:
		return nil
	case "":
		return fmt.Errorf("%s is no Arm kernel image: it is damaged or for another machine, the board needs %s: %w", name, arch, ErrWrong)
	}
	return fmt.Errorf("%s is for %s, the board needs %s: take the board's own kernel package: %w", name, got, arch, ErrWrong)
}
