package archive

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ProtonMail/go-crypto/openpgp"
)

// Keyring is the OpenPGP keys that may sign an archive.
type Keyring = openpgp.EntityList

// DefaultKeyring is where Debian's package debian-archive-keyring puts it;
// DEBIAN_KEYRING names another file.
const DefaultKeyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// ReadKeyring reads a keyring file, and the keys of newer releases that Debian
// keeps in files of their own beside it.
func ReadKeyring() (Keyring, error) {
	if file := os.Getenv("DEBIAN_KEYRING"); file != "" {
		return readKeys(file)
	}
	keys, err := readKeys(DefaultKeyring)
	if err != nil {
		return nil, err
	}
	single, err := filepath.Glob(filepath.Join(filepath.Dir(DefaultKeyring), "debian-archive-*-*.gpg"))
	if err != nil {
		return nil, err
	}
	for _, file := range single {
		more, err := readKeys(file)
		if err != nil {
			return nil, err
		}
		keys = append(keys, more...)
	}
	return keys, nil
}

func readKeys(file string) (Keyring, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("no keyring to check the archive with: install debian-archive-keyring, or set DEBIAN_KEYRING: %w", err)
	}
	defer f.Close()
	keys, err := openpgp.ReadKeyRing(f)
	if err != nil {
		return nil, fmt.Errorf("keyring %s: reinstall debian-archive-keyring, or set DEBIAN_KEYRING: %w", file, err)
	}
	return keys, nil
}
