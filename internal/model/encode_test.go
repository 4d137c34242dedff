package model_test

import (
	"math"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
)

func TestHistoryShowsFieldsAsTheAPINamesThem(t *testing.T) {
	d := model.Definition{Owners: []string{"b", "a"}, Period: 90 * time.Second, MaxWait: 1500 * time.Millisecond}
	const definition = `{"description":"","labels":{},"apps":[],"owners":["a","b"],"algorithm":"","max_permits":0,"rate":0,"period_ms":90000,` +
		`"partition":"","shards":0,"mode":"","max_wait_ms":1500,"on_redis_failure":"","after_loss":""}`
	if got := string(model.DefinitionJSON(&d)); got != definition {
		t.Errorf("definition:\n%s\nwant:\n%s", got, definition)
	}
	a := model.App{Description: "x", Members: []model.Member{{User: "bob", Role: model.AppViewer}}}
	if got := string(model.AppJSON(&a)); got != `{"description":"x","members":[{"user":"bob","role":"viewer"}]}` {
		t.Errorf("app: %s", got)
	}
	if got := string(model.AppJSON(&model.App{})); got != `{"description":"","members":[]}` {
		t.Errorf("app without members: %s", got)
	}
	u := model.User{Name: "bob", DisplayName: "Bob", Role: model.RoleAdmin, PasswordHash: "secret"}
	if got := string(model.UserJSON(&u)); got != `{"name":"bob","display_name":"Bob","role":"admin","disabled":false}` {
		t.Errorf("user: %s", got)
	}
}

// A number of ms that no Duration holds must not wrap round into one that looks good.
func TestMillisDoesNotWrap(t *testing.T) {
	for _, ms := range []int64{math.MaxInt64, math.MinInt64, math.MaxInt64 / 1000, 1 << 62, 18446744073710} {
		got := model.Millis(ms)
		if (got < 0) != (ms < 0) || got.Abs() < 200*365*24*time.Hour && ms != got.Milliseconds() {
			t.Errorf("%d ms became %v", ms, got)
		}
	}
	if got := model.Millis(-1500); got != -1500*time.Millisecond {
		t.Errorf("-1500 ms became %v", got)
	}
}
