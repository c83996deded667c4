package frame

import "testing"

// TestReasonNames: every reason has a name of its own, and there is no name
// without a reason.
func TestReasonNames(t *testing.T) {
	if len(reasonNames) != NumReasons {
		t.Fatalf("%d names for %d reasons", len(reasonNames), NumReasons)
	}
	seen := map[string]Reason{}
	for r := range Reason(NumReasons) {
		n := r.String()
		if n == "" || n == "unknown" {
			t.Errorf("reason %d has no name", r)
		}
		if other, twice := seen[n]; twice {
			t.Errorf("reasons %d and %d are both %q", other, r, n)
		}
		seen[n] = r
	}
	if got := Reason(NumReasons).String(); got != "unknown" {
		t.Errorf("a reason that does not exist is %q", got)
	}
}

// TestZeroFrame: what nobody decided is the kernel's.
func TestZeroFrame(t *testing.T) {
	if f := (Frame{}); f.Verdict != VerdictPunt || f.Reason != ReasonNone {
		t.Fatalf("a fresh frame is %+v", f)
	}
}
