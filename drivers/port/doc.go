// Package port brings ports up.
package port
