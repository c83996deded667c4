package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"weir/init/report"
	"weir/netstack/status"
)

const statusHelp = `
Shows the ports with the tier that carries each and why it is no faster one, the
workers, frames by tier, what was left to the kernel or dropped and why, the boot
and the services. Works without the forwarder too, and says so.

  --json   one JSON document for programs:
           {"boot": ..., "forwarder": ..., "errors": [...]}
           boot is the report of process 1, forwarder the status of the packet
           path; null if it could not be had, with the reason in errors

Exit status 1 if neither could be had.`

// statusDocument is all that is known of a device.
type statusDocument struct {
	Boot      *report.Report `json:"boot"`
	Forwarder *status.Status `json:"forwarder"`
	Errors    []string       `json:"errors"`
}

func runStatus(e *env, c *command, args []string) int {
	fs := c.flags(e)
	asJSON := fs.Bool("json", false, "")
	if exit, ok := c.parse(e, fs, args, 0, 0); !ok {
		return exit
	}
	d := e.status()
	if *asJSON {
		enc := json.NewEncoder(e.out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(d); err != nil {
			return e.fail(c, err)
		}
	} else if d.Boot != nil || d.Forwarder != nil {
		fmt.Fprint(e.out, page(d))
	}
	if d.Boot == nil && d.Forwarder == nil {
		return e.fail(c, fmt.Errorf("no boot report and no forwarder, as on a machine that does not run Weir: %s",
			strings.Join(d.Errors, "; ")))
	}
	return exitOK
}

// status asks both sources; one that is missing does not hide the other.
func (e *env) status() statusDocument {
	d := statusDocument{Errors: []string{}}
	if r, err := report.Read(e.reportPath); err != nil {
		d.Errors = append(d.Errors, fmt.Sprintf("boot report: %v", err))
	} else {
		d.Boot = &r
	}
	if s, err := status.Read(e.socketPath); err != nil {
		d.Errors = append(d.Errors, fmt.Sprintf("forwarder: %v", err))
	} else {
		d.Forwarder = s
	}
	return d
}
