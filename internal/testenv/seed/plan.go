package seed

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/model"
)

var (
	services  = []string{"checkout", "billing", "search", "catalog", "orders", "payments", "mail", "maps", "media", "login", "ledger", "reports", "fraud", "stock", "prices", "partner", "export", "import", "chat", "push"}
	kinds     = []string{"api", "worker", "web", "batch", "gateway", "jobs", "stream", "admin", "mobile", "edge"}
	resources = []string{"requests", "logins", "uploads", "queries", "emails", "tokens", "webhooks", "refunds", "lookups", "downloads"}
	teams     = []string{"pay", "find", "ship", "core", "risk", "growth", "data", "infra", "support", "people"}
	stages    = []string{"prod", "prod", "prod", "staging", "dev"}
	tiers     = []string{"gold", "silver", "bronze"}
	givens    = []string{"Ada", "Bo", "Chen", "Dara", "Emil", "Fatima", "Goran", "Hana", "Ines", "Jun", "Kofi", "Lena", "Mei", "Nils", "Olu", "Priya", "Quinn", "Rosa", "Sven", "Tomoko"}
	families  = []string{"Adler", "Baker", "Castro", "Duarte", "Evans", "Fischer", "García", "Haddad", "Ito", "Jansen", "Kim", "Larsen", "Moreau", "Nowak", "Okafor", "Petrov", "Qureshi", "Rossi", "Singh", "Wang"}
)

// UserName is the name of user i.
func UserName(i int) string { return fmt.Sprintf("user-%04d", i) }

// AppName is the name of app i.
func AppName(i int) string {
	name := services[i%len(services)] + "-" + kinds[i/len(services)%len(kinds)]
	if round := i / (len(services) * len(kinds)); round > 0 {
		name = fmt.Sprintf("%s-%d", name, round+1)
	}
	return name
}

// BucketName is the name of bucket i of a world with so many apps. It begins with the name of its first app.
func BucketName(i, apps int) string {
	return fmt.Sprintf("%s-%s-%06d", AppName(i%apps), resources[i/apps%len(resources)], i)
}

// app is an app, and which user is what in it, by number.
type app struct {
	model.App
	roles map[int]model.AppRole
}

// bucket is one bucket as it stands after the changes so far.
type bucket struct {
	name     string
	apps     []int // numbers; none for all apps
	owners   []int
	d        model.Definition
	json     json.RawMessage // of d
	revision int64
	created  time.Time
	creator  string
	updated  time.Time
	updater  string
}

// plan makes up apps and buckets as they are created.
func (w *world) plan() {
	w.apps = make([]app, w.Apps)
	for i := range w.apps {
		a := &w.apps[i]
		a.Name, a.Description = AppName(i), "Service "+AppName(i)
		a.roles = map[int]model.AppRole{w.someUser(i + 1): model.AppViewer, w.someUser(i + 2): model.AppViewer}
		a.roles[w.someUser(i)] = model.AppOwner
		if i == 0 {
			a.roles[1] = model.AppViewer
		}
		for _, user := range slices.Sorted(maps.Keys(a.roles)) {
			a.Members = append(a.Members, model.Member{User: UserName(user), Role: a.roles[user]})
		}
	}
	w.buckets = make([]bucket, w.Buckets)
	for i := range w.buckets {
		w.planBucket(i)
	}
}

// someUser spreads numbers over the users but the first two, who have their own parts.
func (w *world) someUser(i int) int { return 2 + i%(w.Users-2) }

func (w *world) planBucket(i int) {
	b := &w.buckets[i]
	b.name = BucketName(i, w.Apps)
	b.owners = []int{w.someUser(i)}
	if i%10 == 0 {
		b.owners = append(b.owners, 0)
	}
	b.d = model.Definition{
		Description: "Holds " + resources[i/w.Apps%len(resources)] + " of " + AppName(i%w.Apps) + " to what its backend can take",
		Labels:      map[string]string{"team": teams[i%len(teams)], "stage": stages[i/3%len(stages)]},
		MaxPermits:  int64(10 + i%500*10), Rate: int64(5 + i%250*5), Period: time.Second,
	}
	if i%4 == 0 {
		b.d.Labels["tier"] = tiers[i/4%len(tiers)]
	}
	w.chooseApps(i, b)
	for _, owner := range b.owners {
		b.d.Owners = append(b.d.Owners, UserName(owner))
	}
	chooseKind(i, &b.d)
	b.d.SetDefaults()
	b.json = model.DefinitionJSON(&b.d)
}

func (w *world) chooseApps(i int, b *bucket) {
	switch {
	case i%500 == 499:
		b.d.Apps = []string{model.AllApps}
		return
	case i%3 == 0:
		b.apps = []int{i % w.Apps, (i + 1) % w.Apps}
	default:
		b.apps = []int{i % w.Apps}
	}
	for _, app := range b.apps {
		b.d.Apps = append(b.d.Apps, AppName(app))
	}
}

// chooseKind varies what changes how a bucket counts.
func chooseKind(i int, d *model.Definition) {
	switch i % 20 {
	case 3, 7:
		d.Algorithm, d.Rate, d.Period = model.FixedWindow, 0, time.Minute
	case 11:
		d.Algorithm, d.Rate, d.Period = model.SlidingWindow, 0, time.Hour
	case 15:
		d.Algorithm, d.Rate, d.Period = model.SlidingLog, 0, time.Minute
	case 19:
		d.Algorithm, d.Rate, d.Period = model.Concurrency, 0, 30*time.Second
	}
	switch i % 7 {
	case 2:
		d.Partition = model.PartitionApp
	case 4, 5:
		d.Partition = model.PartitionKey
	}
	switch i % 12 {
	case 5:
		d.Mode = model.ModeShadow
	case 10:
		d.Mode = model.ModeOff
	}
}
