// Package testenv asks for what a test needs: a tool, a privilege, a kernel
// feature. What is missing skips the test at home, with the reason, and fails
// it when CI=true, so that a green CI run has run everything. Privileges are
// probed by doing the thing. Only tests import it.
package testenv
