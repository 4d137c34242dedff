package app

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/headgate/headgate/internal/model"
)

// defsFormat names the form of the file. What can't be read as this form gets another name.
const defsFormat = "headgate/v1"

// defsBytes bounds a file: 100,000 buckets have about 60 MB.
const defsBytes = 256 << 20

// defsFile is the file of all definitions. Its fields stand in this order.
type defsFile struct {
	Format  string      `yaml:"format"`
	Apps    []appEntry  `yaml:"apps"`
	Buckets []defBucket `yaml:"buckets"`
}

type appEntry struct {
	Name        string        `yaml:"name"`
	Description string        `yaml:"description"`
	Members     []memberEntry `yaml:"members"`
}

type memberEntry struct {
	User string        `yaml:"user"`
	Role model.AppRole `yaml:"role"`
}

// defBucket is a bucket in the file. What is left out gets the API's default, as a pointer tells from 0.
type defBucket struct {
	Name           string              `yaml:"name"`
	Description    string              `yaml:"description"`
	Labels         map[string]string   `yaml:"labels"`
	Apps           []string            `yaml:"apps,flow"`
	Owners         []string            `yaml:"owners,flow"`
	Algorithm      model.Algorithm     `yaml:"algorithm"`
	MaxPermits     whole               `yaml:"max_permits"`
	Rate           *whole              `yaml:"rate,omitempty"`
	PeriodMS       *whole              `yaml:"period_ms"`
	Partition      model.Partition     `yaml:"partition"`
	Shards         *whole              `yaml:"shards"`
	Mode           model.Mode          `yaml:"mode"`
	MaxWaitMS      *whole              `yaml:"max_wait_ms"`
	OnRedisFailure model.FailurePolicy `yaml:"on_redis_failure"`
	AfterLoss      model.LossPolicy    `yaml:"after_loss"`
}

// whole is a number that is written as one: the YAML library would cut 2.5 to 2, and read 010 as 8.
type whole int64

var wholeNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// UnmarshalYAML implements yaml.Unmarshaler.
func (w *whole) UnmarshalYAML(n *yaml.Node) error {
	if n.Tag != "!!int" && n.Tag != "!!float" || !wholeNumber.MatchString(n.Value) {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: must be a whole number, in digits alone", n.Line)}}
	}
	number, _ := strconv.ParseInt(n.Value, 10, 64) // one that is too large becomes the largest, for the validation to judge
	*w = whole(number)
	return nil
}

func defBucketOf(b *model.Bucket) defBucket {
	f := b.Fields()
	e := defBucket{
		Name: b.Name, Description: f.Description, Labels: f.Labels, Apps: f.Apps, Owners: f.Owners, Algorithm: f.Algorithm,
		MaxPermits: whole(f.MaxPermits), PeriodMS: written(f.PeriodMS), Partition: f.Partition, Shards: written(int64(f.Shards)), Mode: f.Mode,
		MaxWaitMS: written(f.MaxWaitMS), OnRedisFailure: f.OnRedisFailure, AfterLoss: f.AfterLoss,
	}
	if f.Algorithm == model.TokenBucket {
		e.Rate = written(f.Rate)
	}
	return e
}

// definition fills in what was left out. What was written is kept as it is, for the validation to judge.
func (e *defBucket) definition() (model.Definition, error) {
	f := model.DefinitionFields{
		Description: e.Description, Labels: e.Labels, Apps: e.Apps, Owners: e.Owners, Algorithm: e.Algorithm, MaxPermits: int64(e.MaxPermits),
		Rate: e.Rate.or(0), PeriodMS: e.PeriodMS.or(e.Algorithm.DefaultPeriod().Milliseconds()), Partition: e.Partition,
		Shards: int(e.Shards.or(1)), Mode: e.Mode, MaxWaitMS: e.MaxWaitMS.or(model.DefaultMaxWait.Milliseconds()),
		OnRedisFailure: e.OnRedisFailure, AfterLoss: e.AfterLoss,
	}
	d := f.Definition()
	d.SetDefaults()
	if e.PeriodMS != nil { // an explicit 0 is no default
		d.Period = model.Millis(int64(*e.PeriodMS))
	}
	if e.Shards != nil {
		d.Shards = int(*e.Shards)
	}
	return d, d.Validate()
}

func written(n int64) *whole { return new(whole(n)) }

// or is the number, or otherwise where none was written.
func (w *whole) or(otherwise int64) int64 {
	if w == nil {
		return otherwise
	}
	return int64(*w)
}

// defs is a file that was read, with the line on which each of its parts stands.
type defs struct {
	wanted model.Wanted
	lines  map[string]int // by place, such as "buckets[3].owners"
}

// line finds the line of a place, or of the innermost part around it that has one.
func (d *defs) line(place string) int {
	for place != "" {
		if n := d.lines[place]; n > 0 {
			return n
		}
		place = place[:max(strings.LastIndexAny(place, ".["), 0)]
	}
	return 1
}

// readDefs reads a file of definitions and checks all that can be checked without a database. The error names every
// fault with its line. Aliases are refused, since a few of them make a file as large as one likes.
func readDefs(r io.Reader) (*defs, error) {
	raw, err := io.ReadAll(io.LimitReader(r, defsBytes+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > defsBytes {
		return nil, fmt.Errorf("the file is larger than %d MB", defsBytes>>20)
	}
	root, err := oneDocument(raw)
	if err != nil {
		return nil, err
	}
	d := &defs{lines: map[string]int{}}
	if err := d.walk(root, ""); err != nil {
		return nil, err
	}
	var file defsFile
	decoder := yaml.NewDecoder(strings.NewReader(string(raw)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		return nil, yamlFault(err)
	}
	return d, d.fill(&file)
}

// oneDocument parses without following aliases.
func oneDocument(raw []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(raw)))
	var root, more yaml.Node
	if err := decoder.Decode(&root); errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	} else if err != nil {
		return nil, yamlFault(err)
	}
	if err := decoder.Decode(&more); err == nil {
		return nil, fmt.Errorf("line %d: a second document begins; there may be one", more.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlFault(err)
	}
	return &root, nil
}

// walk notes the line of each part.
func (d *defs) walk(n *yaml.Node, place string) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return fmt.Errorf("line %d: anchors (&) and aliases (*) are refused; write it out", n.Line)
	}
	d.lines[place] = n.Line
	for i, child := range n.Content {
		var err error
		switch {
		case n.Kind == yaml.DocumentNode:
			err = d.walk(child, "")
		case n.Kind == yaml.SequenceNode:
			err = d.walk(child, fmt.Sprintf("%s[%d]", place, i))
		case i%2 == 1:
			err = d.walk(child, strings.TrimPrefix(place+"."+n.Content[i-1].Value, "."))
		case child.Tag == "!!merge":
			err = fmt.Errorf("line %d: merging (<<) is refused; write it out", child.Line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// goTypes are names of ours in the errors of the YAML library.
var goTypes = regexp.MustCompile(` in type \S+| into \S+$`)

func yamlFault(err error) error {
	var many *yaml.TypeError
	if !errors.As(err, &many) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	faults := make([]error, len(many.Errors))
	for i, text := range many.Errors {
		text = strings.ReplaceAll(goTypes.ReplaceAllString(text, ""), "cannot unmarshal", "does not belong here:")
		faults[i] = errors.New(text)
	}
	return errors.Join(faults...)
}

// fill takes over what the file says; faults are gathered with their lines.
func (d *defs) fill(file *defsFile) error {
	var faults []model.FieldError
	if file.Format != defsFormat {
		faults = append(faults, model.Broken("format", "must be %s", defsFormat))
	}
	gather := func(place string, err error) {
		var e *model.Error
		if !errors.As(err, &e) {
			return
		}
		for _, f := range e.Fields {
			faults = append(faults, f.At(place+"."+f.Field))
		}
	}
	twice := map[string]bool{}
	once := func(kind, place, name string) {
		if twice[kind+name] {
			faults = append(faults, model.Broken(place+".name", "%q is named twice", name))
		}
		twice[kind+name] = true
	}
	for i, e := range file.Apps {
		place := fmt.Sprintf("apps[%d]", i)
		app := model.App{Name: e.Name, Description: e.Description}
		gather(place, app.Validate())
		once("app ", place, e.Name)
		wanted := model.WantedApp{Name: e.Name, Description: e.Description}
		for j, m := range e.Members {
			member := model.Member{User: m.User, Role: m.Role}
			gather(fmt.Sprintf("%s.members[%d]", place, j), member.Validate())
			if slices.ContainsFunc(wanted.Members, func(o model.Member) bool { return o.User == m.User }) {
				faults = append(faults, model.Broken(fmt.Sprintf("%s.members[%d].user", place, j), "%s is named twice", m.User))
			}
			wanted.Members = append(wanted.Members, member)
		}
		d.wanted.Apps = append(d.wanted.Apps, wanted)
	}
	for i := range file.Buckets {
		place := fmt.Sprintf("buckets[%d]", i)
		definition, err := file.Buckets[i].definition()
		gather(place, err)
		gather(place, model.ValidateBucketName(file.Buckets[i].Name))
		once("bucket ", place, file.Buckets[i].Name)
		d.wanted.Buckets = append(d.wanted.Buckets, model.WantedBucket{Name: file.Buckets[i].Name, Definition: definition})
	}
	return d.faults(faults)
}

// sortedLists are those whose entries may have another place in an error than in the file.
var sortedLists = regexp.MustCompile(`\.(apps|owners)\[\d+\]$`)

// faults makes one error of many, a line each, in the order of the file; nil of none.
func (d *defs) faults(found []model.FieldError) error {
	lineOf := func(f model.FieldError) int { return d.line(sortedLists.ReplaceAllString(f.Field, ".$1")) }
	slices.SortStableFunc(found, func(a, b model.FieldError) int { return lineOf(a) - lineOf(b) })
	faults := make([]error, len(found))
	for i, f := range found {
		faults[i] = fmt.Errorf("line %d: %s %s", lineOf(f), sortedLists.ReplaceAllString(f.Field, ".$1"), f.Message)
	}
	return errors.Join(faults...)
}
