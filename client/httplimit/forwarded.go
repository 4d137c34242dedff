package httplimit

import (
	"slices"
	"strings"
)

// appendForwardedFor appends the entries of one line of X-Forwarded-For from the right to the left, maxHops at most. An
// empty entry stays one, because a proxy may have appended it for a peer without an address; skipping it would believe
// the client's own.
func appendForwardedFor(entries []string, line string) []string {
	for range maxHops { // from the right, so that a long forgery costs nothing
		comma := strings.LastIndexByte(line, ',')
		entries = append(entries, strings.Trim(line[comma+1:], " \t"))
		if comma < 0 {
			break
		}
		line = line[:comma]
	}
	return entries
}

// appendForwarded appends the for parameters of the elements of one line of Forwarded (RFC 7239, section 4) from the right
// to the left, of the last maxHops at least; "" stands for an element that has none. A line that is not well-formed is not believed at all: a quote that the client left open would
// swallow what the proxy appended.
func appendForwarded(entries []string, line string) ([]string, bool) {
	entry, seen := "", false
	for {
		line = strings.TrimLeft(line, " \t")
		if line != "" && line[0] != ';' && line[0] != ',' {
			name, value, rest, ok := cutPair(line)
			if !ok {
				return nil, false
			}
			if strings.EqualFold(name, "for") {
				if seen { // each parameter at most once an element
					return nil, false
				}
				entry, seen = value, true
			}
			line = strings.TrimLeft(rest, " \t")
		}
		switch {
		case line == "":
			entries = append(entries, entry)
			slices.Reverse(entries)
			return entries, true
		case line[0] == ',':
			if len(entries) == 2*maxHops { // what stands so far left is never reached
				entries = append(entries[:0], entries[maxHops:]...)
			}
			entries = append(entries, entry)
			entry, seen = "", false
		case line[0] != ';':
			return nil, false
		}
		line = line[1:]
	}
}

// cutPair cuts a pair off the front of s. An address that should have been quoted, as many proxies write it, is taken as
// it is.
func cutPair(s string) (name, value, rest string, ok bool) {
	name, rest, ok = strings.Cut(s, "=")
	if !ok || name == "" || strings.ContainsAny(name, "\",; \t") {
		return "", "", "", false
	}
	if strings.HasPrefix(rest, `"`) {
		value, rest, ok = cutQuoted(rest[1:])
		return name, value, rest, ok
	}
	end := strings.IndexAny(rest, ",; \t")
	if end < 0 {
		end = len(rest)
	}
	value, rest = rest[:end], rest[end:]
	return name, value, rest, value != "" && !strings.Contains(value, `"`)
}

// cutQuoted cuts a quoted string (RFC 9110, section 5.6.4), of which the opening quote is gone, off the front of s.
func cutQuoted(s string) (value, rest string, ok bool) {
	if end := strings.IndexAny(s, `"\`); end >= 0 && s[end] == '"' {
		return s[:end], s[end+1:], true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}
