package archive

import (
	"errors"
	"fmt"
	"os"

	"github.com/ProtonMail/go-crypto/openpgp"
)

// Keyring is the OpenPGP keys that may sign an archive.
type Keyring = openpgp.EntityList

// DefaultKeyring is where Debian's package debian-archive-keyring puts it;
// DEBIAN_KEYRING names another file.
const DefaultKeyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// ReadKeyring reads the keys that may sign the archive.
func ReadKeyring() (Keyring, error) {
	if file := os.Getenv("DEBIAN_KEYRING"); file != "" {
		return readKeys(file)
	}
	return readKeys(DefaultKeyring)
}

func readKeys(file string) (Keyring, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("no keyring to check the archive with: install debian-archive-keyring, or set DEBIAN_KEYRING: %w", err)
	}
	defer f.Close()
	keys, err := openpgp.ReadKeyRing(f)
	if err == nil && len(keys) == 0 {
		err = errors.New("it holds no key")
	}
	if err != nil {
		return nil, fmt.Errorf("keyring %s: reinstall debian-archive-keyring, or set DEBIAN_KEYRING: %w", file, err)
	}
	return keys, nil
}
