package report

// Path is where PID 1 keeps the report.
const Path = "/run/weir/boot.json"

// Report is the whole document.
type Report struct {
	Version  string `json:"version"`
	Board    string `json:"board"`
	Kernel   string `json:"kernel"`
	Hostname string `json:"hostname"`
	// Config says which configuration is in force: "/etc/weir.toml" or
	// "board default", and Faults why not the former.
	Config   string    `json:"config"`
	Faults   []string  `json:"faults"`
	Steps    []Step    `json:"steps"`
	Ports    []Port    `json:"ports"`
	Services []Service `json:"services"`
	// Done is set when every step has run.
	Done bool `json:"done"`
}

// Step is one step of the boot.
type Step struct {
	Name string `json:"name"`
	// StartMS and TookMS are milliseconds of CLOCK_BOOTTIME: since the kernel
	// started, and how long the step took.
	StartMS int64    `json:"start_ms"`
	TookMS  int64    `json:"took_ms"`
	Errors  []string `json:"errors"` // what failed; the boot went on
}

// Port is one port as it came up.
type Port struct {
	Label   string   `json:"label"`
	Kernel  string   `json:"kernel_name"` // before the rename
	Driver  string   `json:"driver"`
	MAC     string   `json:"mac"`
	MTU     int      `json:"mtu"`
	Address []string `json:"address"`
	Carrier bool     `json:"carrier"`
	Errors  []string `json:"errors"`
}

// Service is one supervised program.
type Service struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"`
	Ready    bool   `json:"ready"`
	Restarts int    `json:"restarts"`
	LastExit string `json:"last_exit"` // how it ended last, in words
}
