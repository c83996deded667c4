// Package config is weir.toml: its Go shape, strict parsing, and validation that
// reports every fault of a file at once, each with line, key and remedy.
//
// Parse is pure: the same verdict on the device, in `weir config check` on a
// workstation and in tests. What the file cannot know (does the port exist,
// what MTU can its driver do) is judged where it is applied, by drivers/port.
package config
