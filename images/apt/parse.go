package apt

import "strings"

// parseList reads the one-line style: deb [ option=value … ] uri suite component…
// What is no such line is passed over, as apt's own reading is apt's business.
func parseList(text string) []Source {
	var out []Source
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "deb")
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
			continue // deb-src, or something else
		}
		var s Source
		rest = strings.TrimSpace(rest)
		if opts, after, ok := strings.Cut(rest, "]"); ok && strings.HasPrefix(opts, "[") {
			for _, o := range strings.Fields(opts[1:]) {
				if v, ok := strings.CutPrefix(o, "signed-by="); ok {
					s.SignedBy = v
				}
			}
			rest = after
		}
		f := strings.Fields(rest)
		if len(f) < 2 {
			continue
		}
		s.URI = strings.TrimSuffix(f[0], "/")
		s.Suites, s.Components = f[1:2], f[2:]
		out = append(out, s)
	}
	return out
}

// parseDeb822 reads stanzas of "Field: value", with continuation lines.
func parseDeb822(text string) []Source {
	var out []Source
	fields := make(map[string]string)
	last := ""
	flush := func() {
		out = append(out, fromFields(fields)...)
		clear(fields)
		last = ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "":
			flush()
		case line[0] == ' ' || line[0] == '\t':
			if last != "" {
				fields[last] += " " + strings.TrimSpace(line)
			}
		default:
			k, v, _ := strings.Cut(line, ":")
			last = strings.ToLower(strings.TrimSpace(k))
			fields[last] = strings.TrimSpace(v)
		}
	}
	flush()
	return out
}

func fromFields(f map[string]string) []Source {
	isDeb := false
	for _, t := range strings.Fields(f["types"]) {
		isDeb = isDeb || t == "deb"
	}
	switch strings.ToLower(f["enabled"]) {
	case "no", "false", "0", "off", "without", "disable":
		isDeb = false
	}
	if !isDeb {
		return nil
	}
	var out []Source
	for _, uri := range strings.Fields(f["uris"]) {
		out = append(out, Source{
			URI:        strings.TrimSuffix(uri, "/"),
			Suites:     strings.Fields(f["suites"]),
			Components: strings.Fields(f["components"]),
			SignedBy:   f["signed-by"],
		})
	}
	return out
}
