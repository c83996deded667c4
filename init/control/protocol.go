package control

// Path is the socket of init.
const Path = "/run/weir/init.sock"

// The verbs of a Request.
const (
	VerbReboot   = "reboot"
	VerbPowerOff = "poweroff"
	VerbRestart  = "restart"
)

// Request is one JSON value from the client, and Reply the one that answers it.
type Request struct {
	Verb string `json:"verb"`
	// Service is the name of the service to restart.
	Service string `json:"service,omitempty"`
	// Reason goes to the console and the log: who or what asked.
	Reason string `json:"reason,omitempty"`
}

// Reply tells that a request was accepted, not that it is done.
type Reply struct {
	Error string `json:"error,omitempty"`
}
