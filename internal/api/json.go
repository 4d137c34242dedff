package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// Bounds of a request body.
const (
	bodyBytes    = 1 << 20
	bodyDepth    = 16 // objects and lists inside each other; ours need three
	bodyTooLarge = "the body must be at most 1,048,576 bytes"
)

// jsonFormat reads and writes JSON for huma. It reads more strictly than encoding/json: valid UTF-8, one value, each
// name once, bounded depth.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false) // the answer is application/json with nosniff
		return encoder.Encode(v)
	},
	Unmarshal: func(data []byte, v any) error {
		// huma asks twice: for a tree to check against the schema, and then for the struct.
		if tree, ok := v.(*any); ok {
			var err error
			*tree, err = parseJSON(data)
			return err
		}
		if err := json.Unmarshal(data, v); err != nil {
			return errors.New("is not JSON of the right form")
		}
		return nil
	},
}

// parseJSON reads one JSON value into maps, lists, strings, bools, nil and int64. A number that is no int64 stays a
// json.Number, which no schema of ours takes. The errors are written for the user.
func parseJSON(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("must be valid UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	value, err := parseValue(decoder, 0)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("must end after one JSON value, but goes on at byte %d", decoder.InputOffset())
	}
	return value, nil
}

func parseValue(decoder *json.Decoder, depth int) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, fmt.Errorf("is not JSON at byte %d", decoder.InputOffset())
	}
	switch token := token.(type) {
	case json.Delim:
		if depth == bodyDepth {
			return nil, fmt.Errorf("must be nested at most %d levels deep", bodyDepth)
		}
		if token == '{' {
			return parseObject(decoder, depth+1)
		}
		return parseList(decoder, depth+1)
	case json.Number:
		if n, err := strconv.ParseInt(token.String(), 10, 64); err == nil {
			return n, nil
		}
	}
	return token, nil
}

func parseObject(decoder *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for decoder.More() {
		token, err := decoder.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil, fmt.Errorf("is not JSON at byte %d", decoder.InputOffset())
		}
		if _, twice := object[name]; twice {
			return nil, fmt.Errorf("must name each field once, but has %q twice", clip(name))
		}
		if object[name], err = parseValue(decoder, depth); err != nil {
			return nil, err
		}
	}
	return object, closing(decoder)
}

func parseList(decoder *json.Decoder, depth int) (any, error) {
	list := []any{}
	for decoder.More() {
		value, err := parseValue(decoder, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, closing(decoder)
}

func closing(decoder *json.Decoder) error {
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("is not JSON at byte %d", decoder.InputOffset())
	}
	return nil
}
