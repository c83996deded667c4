package agent

import "time"

// Request asks the guest to run a program.
type Request struct {
	ID   uint64   `json:"id"`
	Argv []string `json:"argv"`
	Dir  string   `json:"dir"` // where it runs; "" is the agent's own folder
	Env  []string `json:"env"` // added to the agent's environment
	// Timeout after which the program is killed; 0 means one minute.
	Timeout time.Duration `json:"timeout"`
}

// Response says how it went. ID 0 is the greeting when the guest is ready.
type Response struct {
	ID     uint64 `json:"id"`
	Stdout []byte `json:"stdout"`
	Stderr []byte `json:"stderr"`
	// Exit is the exit status, or -1 when the program could not be started or was
	// killed; Error then says why.
	Exit  int    `json:"exit"`
	Error string `json:"error"`
}
