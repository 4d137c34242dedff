package model

import (
	"fmt"
	"strings"
)

// RuleCode is the stable name of a sentence for people, so that a client can say it in another language.
type RuleCode string

// rule is one sentence that the server says: its code, the format that says it in English, and the names of what is put in.
type rule struct {
	code   RuleCode
	format string
	params []string
}

// rules are all sentences that an answer of the API names with a code. The console has a text for each in every language.
var rules = []rule{
	{"name", "must be 1..128 of A-Z a-z 0-9 . _ - and start with a letter or digit", nil},
	{"name_or_all", `must be 1..128 of A-Z a-z 0-9 . _ - and start with a letter or digit, or be "*"`, nil},
	{"user_name", "must be 1..64 of a-z 0-9 . _ - @ and start with a letter or digit", nil},
	{"token_name", "must be 1..64 of A-Z a-z 0-9 . _ - and start with a letter or digit", nil},
	{"most_of", "must be at most %d, not %d", []string{"most", "n"}},
	{"most", "must be at most %d", []string{"most"}},
	{"most_text", "must be at most %d, not %s", []string{"most", "n"}},
	{"one_to", "must be 1..%d, not %s", []string{"most", "n"}},
	{"label_key", "key %q must be 1..%d of A-Z a-z 0-9 . _ - and start with a letter or digit", []string{"key", "most"}},
	{"all_apps_alone", `must be "*" alone, or names without "*"`, nil},
	{"owners", "must be 1..%d users, not %d", []string{"most", "n"}},
	{"no_rate", "must be left out or 0 for %s, not %s: max_permits is the whole limit", []string{"algorithm", "n"}},
	{"shards_need_keys", "must be 1 unless partition is key or app_key: only keys can be spread", nil},
	{"fill_time", "fills the bucket in more than %d years; raise rate or lower max_permits or period_ms", []string{"years"}},
	{"utf8", "must be valid UTF-8", nil},
	{"length", "must be %d..%s characters, not %s", []string{"low", "high", "n"}},
	{"control", "must not contain control characters", nil},
	{"listed_twice", "%q is listed twice", []string{"name"}},
	{"one_of", "must be one of %s", []string{"choices"}},
	{"range", "must be %s..%s%s, not %s", []string{"low", "high", "of", "n"}},
	{"whole_ms", "must be whole milliseconds", nil},
	{"scopes", "must name at least one of %s", []string{"choices"}},
	{"token_life", "must be 1..365", nil},
	{"reserved", "is reserved for Headgate itself", nil},
	{"bytes", "must be 1..%d bytes", []string{"most"}},
	{"bytes_utf8", "must be 1..%d bytes of valid UTF-8", []string{"most"}},
	{"to_before_from", "must not be before from", nil},
	{"sort", "must be one of %s, %s, with or without a leading -", []string{"first", "second"}},
	{"overlay_app", "must name the app whose calls are covered", nil},
	{"overlay_no_app", "must be left out where everything is covered", nil},
	{"action_filter", "must be an action such as bucket.update, or the part before a dot, such as bucket", nil},
	{"kind_beside_target", "must be given beside target", nil},
	{"url", "must be a URL such as https://example.com/headgate", nil},
	{"url_user", "must hold no user name or password; the signature proves who sends", nil},
	{"url_fragment", "must hold no fragment (#…)", nil},
	{"url_spaces", "must hold no spaces or control characters", nil},
	{"url_port", "must have a port of 1..65535", nil},
	{"url_https", "must begin with https://; HEADGATE_WEBHOOK_ALLOW_PRIVATE=on allows http://", nil},
	{"url_host", "must name its host in ASCII (xn--… for other letters), an address as 93.184.215.14 or [2606:2800::1]", nil},
	{"url_private", "must not point to a private, loopback or link-local address; HEADGATE_WEBHOOK_ALLOW_PRIVATE=on allows it", nil},
	{"trial_no_app", "there is none to acquire as: the bucket lists no app", nil},
	{"trial_which_app", "say as which app to acquire", nil},
	{"trial_unlisted", "is not an app that the bucket lists", nil},
	{"trial_key", "must be 1..512 bytes: the bucket counts by key", nil},
	{"trial_no_key", "must be left out: the bucket does not count by key", nil},
	{"trial_one", "must be 1: a concurrency bucket has slots", nil},
	{"trial_permits", "must be 1..1000000000", nil},
	{"future", "must not lie in the future", nil},
	{"not_service", "is not a service account", nil},
	{"confirm_word", "must be the word %s", []string{"word"}},
	{"if_match", `must be one revision in quotes, e.g. "7"`, nil},
	{"not_kept", "is not one that the history keeps of this bucket", nil},
	{"is_deletion", "is that of a deletion; it has no definition", nil},
	{"is_present", "is the present one", nil},
	{"names_or_app", "must be 1..%d names with commas between, or app be given in its place", []string{"most"}},
	{"app_or_names", "must not be given together with buckets: a stream is of one app or of some buckets", nil},
	{"until_hours", "must not be given with range 90d, which is told in hours", nil},
	{"export_format", "must be jsonl or csv", nil},
	{"service_password", "can't be set: a service account has none", nil},
	{"cursor", "is not one that this list gave out", nil},
	{"unregistered", "is not registered", nil},
	{"unregistered_name", "%s is not registered", []string{"name"}},
	{"disabled_name", "%s is disabled", []string{"name"}},
	{"tokens_most", "can't be added: %d living tokens are the most; revoke one first", []string{"most"}},
	{"revision_range", "must be 0..9,007,199,254,740,990", nil},
	{"change_id", "must be the id of a change that there is", nil},
	{"unseen_app", "is not an app that you may see", nil},
	{"own_app", "must list at least one app that you own", nil},
	{"pw_different", "must have at least 5 different characters", nil},
	{"pw_repeated", "must not be one part repeated", nil},
	{"pw_sequence", "must not be a sequence such as 123456 or qwerty", nil},
	{"pw_name", "must have at least 8 characters beside the user's name", nil},
	{"pw_common", "must not be one of the most common passwords, nor one with a few characters around it; several words that do not belong together are good", nil},
	{"pw_present", "must not be the present one", nil},
	{"pw_none", "can't be right: this user has no password here; an admin can set one", nil},
	{"pw_wrong", "is not the current password", nil},
	{"required", "is required", nil},
	{"unknown_field", "is not a known field", nil},
	{"unknown_parameter", "is not a known parameter", nil},
	{"invalid", "is not valid", nil},
	{"whole_number", "must be a whole number", nil},
	{"whole_18", "must be a whole number of at most 18 digits, without fraction or exponent", nil},
	{"text", "must be a text", nil},
	{"boolean", "must be true or false", nil},
	{"list", "must be a list", nil},
	{"object", "must be an object", nil},
	{"at_least", "must be at least %v", []string{"least"}},
	{"at_least_characters", "must be at least %d characters", []string{"least"}},
	{"at_most_characters", "must be at most %d characters", []string{"most"}},
	{"time", "must be a time like 2006-01-02T15:04:05Z", nil},
	{"content_type", "must be declared as application/json", nil},
	{"needs_permission", "this needs the permission %s, which you do not hold here", []string{"permission"}},
	{"wrong_login", "the name or the password is wrong", nil},
	{"log_in", "log in first", nil},
	{"unknown_token", "the API token is not one of this installation", nil},
	{"local_off", "logging in with a password is switched off here; use the single sign-on", nil},
	{"no_verdict", "Redis gave no verdict; an application would have followed the bucket's failure policy, %s", []string{"policy"}},
	{"redis_down", "Redis does not answer now; definitions can still be read and changed", nil},
	{"no_if_match", `say in If-Match which revision the change is based on, e.g. If-Match: "7"`, nil},
	{"changed_now", "it was changed meanwhile and is at revision %d now", []string{"revision"}},
	{"bucket_there", "the bucket %s is there; only a deleted one can be restored", []string{"name"}},
	{"bucket_named_there", "a bucket named %s is there; only a deleted one can be restored", []string{"name"}},
	{"no_revision_kept", "the history that is kept has no such revision of this bucket", nil},
	{"no_revision_n", "the history that is kept has no revision %d of this bucket", []string{"revision"}},
	{"deletion_pruned", "the history that is kept does not reach back to the deletion", nil},
	{"no_webhooks", "this server delivers no webhooks", nil},
	{"no_syncer", "this server does not tell of Redis", nil},
	{"no_bucket", "there is no bucket %q that you may see", []string{"name"}},
	{"no_app", "there is no app %q that you may see", []string{"name"}},
	{"name_taken", "the name %s is taken", []string{"name"}},
	{"last_admin", "%s is the last admin who can log in; make another one first", []string{"name"}},
	{"password_changed", "the password was changed meanwhile; log in with the new one", nil},
	{"user_disabled", "the user is disabled", nil},
	{"not_linked", "nobody is linked to this identity", nil},
	{"service_login", "%s is a service account, which never logs in", []string{"name"}},
	{"identity_linked", "this identity is linked to a user already; unlink it there first", nil},
	{"cannot_login", "the user can't log in", nil},
	{"glass_there", "break-glass is in force for this already", nil},
	{"glass_many", "break-glass is in force %d times already; end one first", []string{"count"}},
	{"token_taken", "%s has a token of the name %s", []string{"user", "name"}},
	{"no_such", "there is no such %s", []string{"what"}},
	{"stale", "the %s was changed meanwhile: it is at revision %d, not %d", []string{"what", "now", "base"}},
	{"webhooks_many", "there are %d webhooks already; delete one first", []string{"count"}},
	{"app_listed", "the app %s is listed by %d %s; take it out there first", []string{"name", "count", "what"}},
	{"group_member", "%s is a member through a group of the single sign-on; take it out of that group", []string{"user"}},
	{"bulk_base", "must be the revision that the change is based on", nil},
	{"bulk_nothing", "must change something", nil},
	{"bulk_added_too", "is to be added as well", nil},
	{"bulk_set_too", "is to be set as well", nil},
	{"bulk_missing", "nothing was changed: %d of the buckets are not there, or you may not see them", []string{"n"}},
	{"bulk_forbidden", "nothing was changed: this needs the permission bucket.edit, which you do not hold for %d of the buckets", []string{"n"}},
	{"bulk_stale", "nothing was changed: %d of the buckets were changed meanwhile", []string{"n"}},
	{"bulk_invalid", "nothing was changed: %d of the buckets would break a rule", []string{"n"}},
	{"alert_keyed", "can't be near_limit here: each key has a limit of its own, so that the bucket as a whole is never near it; use limited_share", nil},
	{"alert_per_app", "can't be near_limit here: each app has a limit of its own, which takes over a minute to renew or counts slots; use limited_share, or partition shared", nil},
	{"alert_no_rule", "is not a rule of this bucket", nil},
	{"alert_twice", "stands twice", nil},
	{"alert_same", "is the same as rules[%d]", []string{"index"}},
	{"why_no_action", "is no action of the permission table", nil},
	{"why_bucket", "must be given: the action is of one bucket", nil},
	{"why_app", "must be given: the action is of one app", nil},
	{"why_no_bucket", "must be left out: the action is of no bucket", nil},
	{"why_no_app", "must be left out: the action is of no app", nil},
	{"lost_lease", "the webhook %s is not this server's to deliver to any more", []string{"name"}},
}

var ruleByFormat = func() map[string]rule {
	byFormat := make(map[string]rule, len(rules))
	for _, r := range rules {
		byFormat[r.format] = r
	}
	return byFormat
}()

// RuleCodes are all codes, in the order of the table.
func RuleCodes() []RuleCode {
	codes := make([]RuleCode, len(rules))
	for i, r := range rules {
		codes[i] = r.code
	}
	return codes
}

// HasRule tells whether a format has a code.
func HasRule(format string) bool {
	_, ok := ruleByFormat[format]
	return ok
}

// ruleOf finds the code of a format and names what is put into it. A format "%s" stands for the sentence that it is given.
func ruleOf(format string, args []any) (RuleCode, map[string]string) {
	if format == "%s" && len(args) == 1 {
		format, args = fmt.Sprint(args[0]), nil
	}
	r, ok := ruleByFormat[format]
	if !ok || len(r.params) != len(args) || len(args) == 0 {
		return r.code, nil
	}
	params := make(map[string]string, len(args))
	for i, name := range r.params {
		params[name] = fmt.Sprint(args[i])
	}
	return r.code, params
}

// BrokenAs finds the rule of a sentence that somebody else put together from one of our formats: the longest that fits.
func BrokenAs(field, message string) FieldError {
	f := Broken(field, "%s", message)
	if f.Code != "" {
		return f
	}
	best := -1
	for _, r := range rules {
		before, after, found := strings.Cut(r.format, "%")
		if !found || len(r.params) != 1 || before == "" || len(r.format) <= best {
			continue
		}
		after = after[1:] // the verb's letter
		value, begins := strings.CutPrefix(message, before)
		value, ends := strings.CutSuffix(value, after)
		if begins && ends {
			best, f.Code, f.Params = len(r.format), r.code, map[string]string{r.params[0]: value}
		}
	}
	return f
}
