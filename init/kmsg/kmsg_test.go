package kmsg

import "testing"

func TestCleanKeepsTextAndDropsControls(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n":                 "plain",
		"dos\r\n":                 "dos",
		"tab\tand \x1b[31mred":    "tab and  [31mred",
		"umlaut ä, broken \xff\n": "umlaut ä, broken  ",
		"c1 \u009b31m, bell \a, ": "c1  31m, bell  , ",
		"":                        "",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}
