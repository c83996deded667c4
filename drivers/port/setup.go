package port

import (
	"context"
	"errors"
)

// Setup brings ports up in the network namespace of the thread that opened it.
type Setup struct{}

// Open readies the kernel's interfaces.
func Open() (*Setup, error) { return &Setup{}, nil }

// Close releases them.
func (s *Setup) Close() error { return nil }

// Apply makes the ports as spec says.
func (s *Setup) Apply(ctx context.Context, spec Spec) (Result, error) {
	return Result{}, errors.ErrUnsupported
}

// Watch applies spec now and whenever links change.
func (s *Setup) Watch(ctx context.Context, spec Spec, on func(Result, error)) error {
	return errors.ErrUnsupported
}
