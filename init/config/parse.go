package config

import (
	"bytes"

	"github.com/pelletier/go-toml/v2"
)

// Parse reads the bytes of a weir.toml; name is what faults call the file. It
// returns a configuration or faults, never both: a file with a fault is not
// applied in part.
func Parse(name string, data []byte) (*Config, Faults) {
	var c Config
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&c); err != nil {
		return nil, Faults{{File: name, Line: 1, Column: 1, Problem: err.Error()}}
	}
	return &c, nil
}
