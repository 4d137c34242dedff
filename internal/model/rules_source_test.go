package model_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/model"
)

// sayers are the functions that say a sentence to a user, with the place of its format among the arguments.
var sayers = map[string]int{"add": 1, "Broken": 1, "Errorf": 1, "refused": 0, "invalidPassword": 1}

// cliOnly say nothing over the API: they are about how a server is started.
var cliOnly = map[string]bool{"../store/mysql.go": true, "../store/sqlite.go": true, "../store/store.go": true}

func TestEverySentenceThatTheAPISaysHasACode(t *testing.T) {
	found := 0
	for _, pkg := range []string{"model", "api", "store", "auth", "webhook"} {
		files, err := filepath.Glob("../" + pkg + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pkg, err)
		}
		p := readPackage(t, files)
		for name, file := range p.files {
			if cliOnly[name] {
				continue
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if format, ok := p.sentence(n, pkg); ok {
					found++
					if !model.HasRule(format) {
						t.Errorf("%s: %q has no code in rules.go", name, format)
					}
				}
				return true
			})
		}
	}
	if found < 100 {
		t.Errorf("only %d sentences were found", found)
	}
}

// pkg is one package's source with its constants that are texts.
type pkg struct {
	files  map[string]*ast.File
	consts map[string]ast.Expr
}

func readPackage(t *testing.T, paths []string) pkg {
	t.Helper()
	p := pkg{map[string]*ast.File{}, map[string]ast.Expr{}}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		p.files[filepath.ToSlash(path)] = file
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == len(spec.Values) {
				for i, name := range spec.Names {
					p.consts[name.Name] = spec.Values[i]
				}
			}
			return true
		})
	}
	return p
}

// sentence is the format of a call that says something. Formats that are no constants ("%s" and variables) are told apart
// at run time.
func (p pkg) sentence(n ast.Node, of string) (string, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	name := ""
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		name = fun.Sel.Name
	}
	at, ok := sayers[name]
	if name == "invalidField" {
		at, ok = 1, true
		if of == "store" {
			at = 2
		}
	}
	if !ok || len(call.Args) <= at {
		return "", false
	}
	text, ok := p.text(call.Args[at])
	return text, ok && text != "%s"
}

func (p pkg) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		if value, ok := p.consts[e.Name].(*ast.BasicLit); ok {
			return p.text(value)
		}
	case *ast.BinaryExpr:
		left, okLeft := p.text(e.X)
		right, okRight := p.text(e.Y)
		return left + right, okLeft && okRight
	}
	return "", false
}
