package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Source is one place that settings come from.
type Source struct {
	Name string                   // for people: "flag", "environment", the path of a file
	Get  func(name string) string // the value of a HEADGATE_… setting there, "" where it is not set
}

// ConfigFileVariable names the file that settings may stand in.
const ConfigFileVariable = "HEADGATE_CONFIG"

// configFileBytes bounds a file of settings, or of one; a real one has a few hundred.
const configFileBytes = 1 << 20

// Load overlays the defaults with settings from the sources, of which the first that has one counts. Each may also be
// given as NAME_FILE, the path of a file that holds the value, so that secrets need not stand beside the others. Every
// fault is collected before it returns; the Config then has the default there.
func Load(sources ...Source) (Config, error) {
	c := Defaults()
	var faults []error
	for _, s := range settings {
		value, _, err := lookup(sources, s.name)
		if err == nil && value != "" {
			err = s.set(&c, value)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s %w", s.name, err))
		}
	}
	return c, errors.Join(faults...)
}

// FromEnv is Load from environment variables alone.
func FromEnv(getenv func(string) string) (Config, error) {
	return Load(Source{Name: "environment", Get: getenv})
}

// lookup finds a setting in the first source that has it or its file, and tells which that is.
func lookup(sources []Source, name string) (value, from string, err error) {
	for _, source := range sources {
		value, file := source.Get(name), source.Get(name+"_FILE")
		switch {
		case value == "" && file == "":
			continue
		case file == "":
			return value, source.Name, nil
		case value != "":
			return "", source.Name, fmt.Errorf("and %s_FILE are both set; keep one", name)
		}
		value, err := readValue(file)
		if err != nil {
			return "", source.Name, fmt.Errorf("can't be read from %s_FILE: %w", name, err)
		}
		return value, source.Name + ", from " + file, nil
	}
	return "", "", nil
}

// readValue reads the file of one setting. An empty one is a fault: a secret that was never filled in must not count as a
// setting that nobody made, or a CA that is missing would let the connection go without TLS.
func readValue(path string) (string, error) {
	raw, err := readBounded(path)
	if err != nil {
		return "", err
	}
	value := strings.TrimRight(raw, "\r\n")
	if strings.TrimSpace(value) == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return value, nil
}

// readBounded refuses a file that is too large to be meant instead of reading a part of it.
func readBounded(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	raw, err := io.ReadAll(io.LimitReader(file, configFileBytes+1))
	if err == nil && len(raw) > configFileBytes {
		err = fmt.Errorf("%s is larger than %d MB", path, configFileBytes>>20)
	}
	return string(raw), err
}

// IsSetting tells whether a variable is a setting or the file of one.
func IsSetting(name string) bool {
	return slices.ContainsFunc(settings, func(s setting) bool { return s.name == name || s.name+"_FILE" == name })
}

// ReadConfigFile reads settings from a file with a line NAME=VALUE for each, the form that systemd and compose read too:
// empty lines and those that begin with # don't count, and a value may stand in quotes. Every fault names its line.
func ReadConfigFile(path string) (Source, error) {
	raw, err := readBounded(path)
	if err != nil {
		return Source{}, fmt.Errorf("%s can't be read: %w", ConfigFileVariable, err)
	}
	values, err := parseConfig(raw)
	if err != nil {
		return Source{}, fmt.Errorf("%s: %w", path, err)
	}
	return Source{Name: path, Get: func(name string) string { return values[name] }}, nil
}

// parseConfig returns the settings by name. An error names its line.
func parseConfig(text string) (map[string]string, error) {
	values, lines := map[string]string{}, map[string]int{}
	var faults []error
	for n, line := range strings.Split(text, "\n") {
		n, line = n+1, strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, err := parseLine(line)
		switch {
		case err == nil && lines[name] > 0:
			err = fmt.Errorf("%s stands in line %d already", name, lines[name])
		case err == nil && !IsSetting(name):
			err = fmt.Errorf("%s is no setting", name)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("line %d: %w", n, err))
			continue
		}
		values[name], lines[name] = value, n
	}
	return values, errors.Join(faults...)
}

// parseLine does not repeat the line in its errors: it may hold a secret.
func parseLine(line string) (name, value string, err error) {
	name, value, found := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !found || strings.ContainsAny(name, " \t") {
		return "", "", errors.New("must be NAME=VALUE")
	}
	switch {
	case strings.HasPrefix(value, `"`):
		if value, err = strconv.Unquote(value); err != nil {
			return name, "", fmt.Errorf("%s has quotes that don't close, or text behind them", name)
		}
	case strings.HasPrefix(value, "'"):
		if len(value) < 2 || strings.IndexByte(value[1:], '\'') != len(value)-2 {
			return name, "", fmt.Errorf("%s has quotes that don't close, or text behind them", name)
		}
		value = value[1 : len(value)-1]
	}
	return name, value, nil
}
